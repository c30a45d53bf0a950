"""What to verify under a path: our asset folders, other people's folders, single files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seed3d.errors import InputError
from seed3d.verify.model import Format

SUFFIXES: dict[str, Format] = {
    ".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf",
    ".usda": "usd", ".usdc": "usd", ".usd": "usd", ".usdz": "usd",
    ".glb": "glb", ".gltf": "mesh", ".obj": "mesh", ".ply": "mesh", ".stl": "mesh",
}  # fmt: skip
"""File suffix to format."""
MAX_TARGETS = 10_000
MAX_DEPTH = 4
_BESIDE = {"urdf", "urdfs", "mjcf", "xml", "robots", "usd", "models", "model"}
"""Folders of description files that stand beside those of meshes."""


@dataclass(frozen=True)
class Target:
    """One object: the description files that claim to be it."""

    label: str
    folder: Path
    """What paths inside the files must not leave."""
    files: dict[Format, Path] = field(default_factory=dict)
    """None: whatever `find_files` finds in the folder, and its report."""
    places: tuple[dict[str, Any], ...] = ()
    """Where trials ended, to be drawn; see `seed3d.verify.trials.run.Placed`."""

    def to_text(self) -> str:
        """Return the target for another process."""
        files = {k: str(p.resolve()) for k, p in self.files.items()}
        return json.dumps([self.label, str(self.folder.resolve()), files, self.places])

    @staticmethod
    def from_text(text: str) -> Target:
        """Return the target of `to_text`."""
        label, folder, files, places = json.loads(text)
        paths = {k: Path(p) for k, p in files.items()}
        return Target(label, Path(folder), paths, tuple(places))


def as_target(where: Path | Target) -> Target:
    """Return a folder or file as one target.

    Raises:
        InputError: A file of a format that isn't verified.
    """
    if isinstance(where, Target):
        return where
    if not where.is_file():
        return Target(str(where), where)
    kind = format_of(where)
    if kind is None:
        raise InputError(f"{where}: not verified; wanted one of {', '.join(SUFFIXES)}, or a folder")
    parent = where.resolve().parent
    root = parent.parent if parent.name.lower() in _BESIDE else parent
    return Target(str(where), root, {kind: where})


def format_of(path: Path) -> Format | None:
    """Return the format of a description file by its name, an .xml by its first element too."""
    from seed3d.verify.folder import is_mjcf

    kind = SUFFIXES.get(path.suffix.lower())
    return None if kind == "mjcf" and not is_mjcf(path) else kind


def find_targets(path: Path) -> list[Target]:
    """Return every object under a path, in the order of their names.

    A folder with a report, or with at most one file of each format, is one object, with all
    that its sub-folders hold. A folder with several files of a format holds an object for each
    file stem. A folder without a description of its own is searched for folders with one; if it
    has only meshes, each of them is an object.

    Raises:
        InputError: No such path, or nothing in it to verify.
    """
    if path.is_file():
        return [as_target(path)]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder; wanted an asset to verify")
    found = _in_folder(path, 0)
    if not found:
        raise InputError(
            f"{path}: nothing to verify; wanted a .urdf, a MuJoCo .xml, a .usd* or a .glb"
        )
    if len(found) > MAX_TARGETS:
        raise InputError(f"{path}: got {len(found)} objects; wanted at most {MAX_TARGETS}")
    return found


def _in_folder(folder: Path, depth: int) -> list[Target]:
    if (folder / "report.json").is_file():
        return [Target(str(folder), folder)]
    own: list[tuple[Path, Format]] = [
        (p, k) for p in sorted(folder.iterdir()) if p.is_file() and (k := format_of(p))
    ]
    described: list[tuple[Path, Format]] = [(p, k) for p, k in own if k != "mesh"]
    if described:
        counts = [sum(k == kind for _, k in described) for kind in {k for _, k in described}]
        if max(counts) == 1:
            return [Target(str(folder), folder)]
        return _by_stem(described)
    deeper = []
    if depth < MAX_DEPTH:
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
                deeper += _in_folder(child, depth + 1)
    described_deeper = [t for t in deeper if "mesh" not in t.files]
    if described_deeper:
        return described_deeper
    return [as_target(p) for p, _ in own] + deeper


def _by_stem(files: list[tuple[Path, Format]]) -> list[Target]:
    groups: dict[str, dict[Format, Path]] = {}
    for path, kind in files:
        groups.setdefault(path.stem, {}).setdefault(kind, path)
    return [
        Target(str(path := next(iter(group.values()))), as_target(path).folder, group)
        for group in groups.values()
    ]
