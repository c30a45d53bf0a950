"""Files that a model names: they belong to its fingerprint and are no photos of their own."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from seed3d.mesh.folder import IMAGE_SUFFIXES, MAX_ASSET_BYTES

SUFFIXES_WITH_SIDES = frozenset({".obj", ".gltf"})
_SIDE_SUFFIXES = IMAGE_SUFFIXES | {".mtl", ".bin"}
_MAX_TEXT = 64 * 1024 * 1024


def side_files(model: Path) -> list[Path]:
    """Return the files under a model's folder whose names it or its material files mention.

    A mention is a file name anywhere in the text: this finds rather too much than too little,
    and needs no parser.
    """
    if model.suffix.lower() not in SUFFIXES_WITH_SIDES or not model.is_file():
        return []
    near = [p for p in sorted(model.parent.rglob("*")) if p.suffix.lower() in _SIDE_SUFFIXES]
    names = _mentioned({p: p.name for p in near if p.is_file()}, model)
    return [p for p in near if p in names]


def _mentioned(files: dict[Path, str], model: Path) -> set[Path]:
    text = _text(model)
    found = {p for p, name in files.items() if name.casefold() in text}
    for path in sorted(found):
        if path.suffix.lower() == ".mtl":
            library = _text(path)
            found |= {p for p, name in files.items() if name.casefold() in library}
    return found


def _text(path: Path) -> str:
    if path.stat().st_size > max(_MAX_TEXT, MAX_ASSET_BYTES):
        return ""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    return unquote("\n".join(x for x in lines if x[:2] not in ("v ", "vn", "vt", "f "))).casefold()


def remote_textures(fs: Any, files: list[str]) -> set[str]:
    """Of the files of a URL, the images that material files and glTFs among them mention."""
    texts = [f for f in files if PurePosixPath(f).suffix.lower() in (".mtl", ".gltf")]
    said = "\n".join(fs.cat_file(f).decode("utf-8", "replace") for f in texts)
    said = f"{said}\n{unquote(said)}".casefold()
    paths = [PurePosixPath(f) for f in files]
    return {
        str(p) for p in paths if p.suffix.lower() in IMAGE_SUFFIXES and p.name.casefold() in said
    }


def download_sides(fs: Any, path: str, model: Path) -> None:
    """Download what a model names beside it, two rounds: material libraries name textures."""
    base = path.rsplit("/", 1)[0]
    remote = {}
    for found in fs.find(base):
        inner = PurePosixPath(found).relative_to(PurePosixPath(base))
        if inner.suffix.lower() in _SIDE_SUFFIXES:
            remote[model.parent / inner] = found
    for target in sorted(_wanted(remote, [model])):
        _get(fs, remote[target], target)
    libraries = [p for p in sorted(remote) if p.suffix.lower() == ".mtl" and p.is_file()]
    for target in sorted(_wanted(remote, libraries)):
        _get(fs, remote[target], target)


def _wanted(remote: dict[Path, str], texts: list[Path]) -> set[Path]:
    mentions = "\n".join(_text(p) for p in texts)
    return {p for p in remote if p.name.casefold() in mentions and not p.exists()}


def _get(fs: Any, source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fs.get_file(source, str(target))
