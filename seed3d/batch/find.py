"""Folders, globs, files and manifests to the places of items."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from seed3d.batch.manifest import SUFFIXES as MANIFESTS
from seed3d.batch.manifest import read_manifest
from seed3d.batch.places import filesystem, is_url, local_path
from seed3d.batch.sides import SUFFIXES_WITH_SIDES, remote_textures, side_files
from seed3d.errors import ConfigError, InputError

PHOTOS = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
MESHES = frozenset({".glb", ".gltf", ".obj", ".ply", ".stl"})
STATE = ".batch"
"""Folder of a batch's own files in its output."""


@dataclass(frozen=True)
class Found:
    """The place of one item."""

    source: str
    """Absolute local path, or URL."""
    label: str
    """Relative to what the user gave, forward slashes."""
    row: dict[str, Any] = field(default_factory=dict)
    """Its manifest row."""
    where: str = ""
    """Where that stands, for messages."""


def find(inputs: list[str], out: str) -> list[Found]:
    """Return every item under the inputs; see `plan_items`.

    Raises:
        InputError: An input isn't there or holds nothing.
        ConfigError: A manifest's column that isn't known.
    """
    found: list[Found] = []
    several = len(inputs) > 1
    for place in inputs:
        some = _url(place) if is_url(place) else _local(str(local_path(place)), out)
        if several and some and not some[0].where and _suffix(place) not in PHOTOS | MESHES:
            root = PurePosixPath(Path(place).resolve().as_posix()).name  # whose folder it is
            some = [Found(f.source, f"{root}/{f.label}") for f in some]
        found += some
    return found


def _local(place: str, out: str) -> list[Found]:
    path = Path(place)
    if path.is_dir():
        return _folder(path, out)
    if path.is_file() or not glob.has_magic(place):
        if path.suffix.lower() in MANIFESTS:
            return _rows(place, path.resolve().parent.as_posix())
        if not path.is_file():
            raise InputError(f"{place}: no such file or folder. Check the path")
        return [Found(str(path.resolve()), path.name)]
    base = _base(place)
    matches = sorted(Path(p) for p in glob.glob(place, recursive=True))  # noqa: PTH207, `place` may be absolute
    files = [p for p in matches if p.is_file() and p.suffix.lower() in PHOTOS | MESHES]
    if not files:
        raise InputError(f"{place}: no image or mesh matches. Check the pattern")
    return [Found(str(p.resolve()), p.relative_to(base).as_posix()) for p in files]


def _folder(folder: Path, out: str) -> list[Found]:
    """All images and meshes but hidden ones, those of this or another batch, and textures."""
    skip = local_path(out).resolve() if out and not is_url(out) else None
    if skip == folder.resolve():
        raise ConfigError(f"{out}: the output is the input folder. Choose another one with -o")
    files: list[Path] = []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inner.parts)
        if hidden or path.suffix.lower() not in PHOTOS | MESHES or not path.is_file():
            continue
        if skip is not None and path.resolve().is_relative_to(skip):
            continue
        if not any((folder / p / STATE).is_dir() for p in inner.parents[:-1]):
            files.append(path)
    models = [p for p in files if p.suffix.lower() in SUFFIXES_WITH_SIDES]
    textures = {side for model in models for side in side_files(model)}
    return [
        Found(str(p.resolve()), p.relative_to(folder).as_posix())
        for p in files
        if p not in textures
    ]


def _rows(place: str, base: str) -> list[Found]:
    found = []
    for where, row in read_manifest(place):
        path = row["path"].strip()
        if is_url(path):
            source, label = path, path.rsplit("/", 1)[-1]
        elif is_url(base):
            source, label = f"{base}/{path}", path
        else:
            absolute = path.startswith("file://") or Path(path).is_absolute()
            source = str((Path(base) / local_path(path)).resolve())
            label = local_path(path).name if absolute else PurePosixPath(path).as_posix()
        found.append(Found(source, label, row, where))
    return found


def _url(place: str) -> list[Found]:
    fs, path = filesystem(place)
    scheme = place.partition("://")[0]
    suffix = _suffix(place)
    if suffix in MANIFESTS:
        return _rows(place, place.rsplit("/", 1)[0])
    if suffix in PHOTOS | MESHES and not glob.has_magic(path):
        return [Found(place, path.rsplit("/", 1)[-1])]
    files = fs.glob(path) if glob.has_magic(path) else fs.find(path)
    base = str(_base(path)) if glob.has_magic(path) else path.rstrip("/")
    found = []
    textures = remote_textures(fs, files)
    for file in sorted(set(files) - textures):
        inner = PurePosixPath(file).relative_to(PurePosixPath(base))
        if not any(part.startswith(".") for part in inner.parts):
            found.append(Found(f"{scheme}://{file.lstrip('/')}", inner.as_posix()))
    found = [f for f in found if _suffix(f.label) in PHOTOS | MESHES]
    if not found:
        raise InputError(f"{place}: no image or mesh there. Check the URL")
    return found


def _base(pattern: str) -> Path:
    """The folder in front of the first wildcard."""
    parts = Path(pattern).parts
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first]) if first else Path()


def _suffix(place: str) -> str:
    return PurePosixPath(place).suffix.lower()
