"""What `seed3d evaluate physics` is run on: catalogue furniture, procedural objects, package meshes."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("pybullet_data", "robosuite", "metaworld", "gymnasium_robotics", "genesis")
"""Python packages that ship meshes; those that aren't installed are left out, and counted so."""
SUFFIXES = (".obj", ".stl", ".ply", ".glb", ".gltf")
Y_UP = ("duck", "duck_vhacd", "lego", "lego_vhacd", "samurai_monastry", "torus_textured")
"""Meshes with Y up; the others are in the frames of robots' and simulators' links, which have Z up."""
LEAST_BYTES = 200
RANDOM_URDFS = 40
"""Of pybullet_data's 1000 random bodies: every 25th, so that they don't outvote the rest."""


@dataclass(frozen=True)
class Item:
    """One mesh to make an asset of."""

    key: str
    kind: str
    """furniture, procedural or package."""
    name: str
    prepare: Callable[[Path], Path]
    """Folder to put files in -> path of the mesh file."""
    length_m: float | None = None
    """True longest side where it is known."""
    up: str | None = None


def all_items(furniture: Path, cache: Path, seed: int) -> list[Item]:
    """Return every input, in an order that mixes the kinds and never changes."""
    items = [*furniture_items(furniture, cache), *_procedural(seed), *_packages()]
    return sorted(items, key=lambda item: hashlib.sha256(item.key.encode()).digest())


def spread(items: list[Item], limit: int | None) -> list[Item]:
    """Return at most `limit` items, as many of each kind as there are; the order stays."""
    queues: dict[str, list[Item]] = {}
    for item in items:
        queues.setdefault(item.kind, []).append(item)
    rank = {i.key: (n, kind) for kind, queue in queues.items() for n, i in enumerate(queue)}
    chosen = {item.key for item in sorted(items, key=lambda i: rank[i.key])[:limit]}
    return [item for item in items if item.key in chosen]


def furniture_items(furniture: Path, cache: Path) -> list[Item]:
    """Return the catalogue's models with their true lengths; none where the folder isn't there."""
    from seed3d.data.furniture import catalogue, extract_model

    if not furniture.is_dir():
        return []
    return [
        Item(entry.key, "furniture", entry.name,
             lambda _folder, entry=entry: extract_model(entry, cache), max(entry.size_m))
        for entry in catalogue(furniture)
    ]  # fmt: skip


def _procedural(seed: int) -> list[Item]:
    from seed3d.data.procedural import CATEGORIES

    def write(folder: Path, category: str) -> Path:
        from seed3d.data.procedural import make

        mesh = make(category, seed).surface.mesh
        path = folder / f"{category}.ply"
        folder.mkdir(parents=True, exist_ok=True)
        mesh.to_trimesh().export(path)
        return path

    return [
        Item(f"procedural_{name}", "procedural", name,
             lambda folder, name=name: write(folder, name), up="z")
        for name in sorted(CATEGORIES)
    ]  # fmt: skip


def _packages() -> list[Item]:
    items = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for root in spec.submodule_search_locations or () if spec else ():
            paths = sorted(p for p in Path(root).rglob("*") if p.suffix.lower() in SUFFIXES)
            bodies = [p for p in paths if "random_urdfs" in p.parts]
            chosen = [p for p in paths if p not in set(bodies)] + bodies[:: 1000 // RANDOM_URDFS]
            for path in chosen:
                if path.stat().st_size >= LEAST_BYTES:
                    key = f"{package}_{path.relative_to(root).as_posix().replace('/', '_')}"
                    true = _length_m(path) if "random_urdfs" in path.parts else None
                    up = "y" if path.stem in Y_UP else "z"
                    items.append(
                        Item(key, "package", path.stem, lambda _f, path=path: path, true, up)
                    )
    return items


def _length_m(path: Path) -> float:
    """Longest side of a random body: its mesh is in a unit of its own, told by its URDF's scale."""
    import xml.etree.ElementTree as ET

    from seed3d.mesh.load import load_surface

    scale = ET.parse(path.with_suffix(".urdf")).find(".//visual/geometry/mesh")
    factor = float((scale.attrib["scale"] if scale is not None else "1").split()[0])
    return float(load_surface(path, path.suffix).mesh.extents.max()) * factor
