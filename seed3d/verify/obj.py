"""What an OBJ file names: its material libraries and their textures."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

BASE_COLOR = ("map_kd",)
_TEXTURE_KEYS = (
    "map_kd",
    "map_ka",
    "map_ks",
    "map_ke",
    "map_bump",
    "bump",
    "norm",
    "map_pr",
    "map_pm",
)


def obj_references(base: Path, source: str) -> list[str]:
    """Return the .mtl files that an OBJ names, relative to `base` as `source` is."""
    return [_beside(source, name) for name in _statements(base / source, ".obj", ("mtllib",))]


def mtl_textures(base: Path, source: str, keys: tuple[str, ...] = _TEXTURE_KEYS) -> list[str]:
    """Return the images that the .mtl files of an OBJ name, relative to `base`.

    `keys` are the statements that count, in lower case.
    """
    found = []
    for library in obj_references(base, source):
        names = _statements(base / library, ".mtl", keys)
        found += [_beside(library, name) for name in names]
    return found


def _beside(source: str, name: str) -> str:
    """Path of a file named inside `source`; absolute paths stay as they are, to be found out."""
    return str(PurePosixPath(source).parent / name)


def _statements(path: Path, suffix: str, keys: tuple[str, ...]) -> list[str]:
    if path.suffix.lower() != suffix or not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, rest = line.strip().partition(" ")
        if key.lower() in keys and rest.strip():
            found.append(_without_options(rest.strip()))
    return list(dict.fromkeys(found))


def _without_options(text: str) -> str:
    """Drop options such as `-bm 1.0` before a texture's name; the name may hold spaces."""
    words = text.split(" ")
    while len(words) > 2 and words[0].startswith("-"):
        words = words[2:]
    return " ".join(words)
