"""Objects to training records: TSDF grid, rendered photos, cameras and true attributes.

One compressed file per object; existing files are kept, so the same command resumes. An object
that fails is listed with its cause in failures.jsonl and never stops the rest.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.data.split import split_of
from seed3d.errors import Seed3DError
from seed3d.types import Surface

PHOTO_SIZE = 224
RESOLUTION = 64


@dataclass(frozen=True)
class Recipe:
    """An object to make: one catalogue model or one procedural sample."""

    key: str
    group: str
    views: int
    make: Any
    """() -> (Surface in the world frame [m], attributes dict)."""
    view_seed: int = 0
    """Another one gives other cameras and lights for the same object."""


def build_object(
    recipe: Recipe, folder: Path, record_of: Callable[[Recipe], dict[str, Any]] | None = None
) -> str:
    """Write ``folder/<key>.npz`` unless it's there. Returns "made", "kept" or the failure's cause.

    Args:
        recipe: The object.
        folder: Of the records.
        record_of: What to keep of an object; the shape model's record where None.
    """
    path = folder / f"{recipe.key}.npz"
    if path.exists():
        return "kept"
    try:
        record = (record_of or _record)(recipe)
    except Seed3DError as error:
        return f"{type(error).__name__}: {error}"
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
        np.savez_compressed(file, **record)
    Path(file.name).replace(path)
    return "made"


def _record(recipe: Recipe) -> dict[str, Any]:
    from seed3d.geometry.tsdf import signed_distance_grid, truncate

    surface, attributes = recipe.make()
    surface = canonical_surface(surface)
    signed = signed_distance_grid(surface.mesh, RESOLUTION)
    if (signed < 0).mean() < 2e-4:
        raise Seed3DError(f"{recipe.key}: nothing left of it at {RESOLUTION} voxels")
    seed = int.from_bytes(recipe.key.encode()[-8:], "big")
    seeds = [seed, recipe.view_seed] if recipe.view_seed else seed
    rgb, mask, cameras = photos(surface, attributes["has_front"], recipe.views, seeds)
    attributes = {**attributes, "group": recipe.group, "split": split_of(recipe.group)}
    return {
        "tsdf": np.round(truncate(signed) * 127).astype(np.int8),
        "rgb": rgb,
        "mask": mask,
        "cameras": cameras,
        "attributes": np.frombuffer(json.dumps(attributes, sort_keys=True).encode(), np.uint8),
    }


def canonical_surface(surface: Surface) -> Surface:
    """The surface with its mesh moved to the canonical frame."""
    from dataclasses import replace

    from seed3d.geometry.tsdf import canonical

    return replace(surface, mesh=canonical(surface.mesh)[0])


def photos(
    surface: Surface, has_front: bool, count: int, seed: int | list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Render photos of a canonical surface.

    Returns:
        rgb (count, S, S, 3) uint8 on white, mask (count, S, S) uint8, cameras (count, 6):
        azimuth, elevation, distance, focal, center_u, center_v.
    """
    from seed3d.data.views import random_camera
    from seed3d.render.raycast import Caster
    from seed3d.render.shade import Lighting, render

    rng = np.random.default_rng(seed)
    caster = Caster(surface.mesh)
    rgb, mask, cameras = [], [], []
    for _ in range(count):
        camera = random_camera(surface.mesh, has_front, rng)
        image = render(surface, camera, PHOTO_SIZE, Lighting.random(rng, camera), caster=caster)
        rgb.append(np.round(np.clip(image.over(), 0, 1) * 255).astype(np.uint8))
        mask.append(np.round(image.alpha * 255).astype(np.uint8))
        cameras.append([camera.azimuth_rad, camera.elevation_rad, camera.distance, camera.focal,
                        camera.center_u, camera.center_v])  # fmt: skip
    return np.stack(rgb), np.stack(mask), np.array(cameras, np.float32)


def furniture_recipe(
    entry: Any, cache: Path, views: int, variant: int = 0, view_seed: int = 0
) -> Recipe:
    """Recipe of one catalogue model; `cache` holds the unpacked OBJ files.

    Variants over 0 are stretched along the axes (`seed3d.data.variants`), same group.
    """
    from seed3d.data.variants import axis_factors, stretched

    factors = axis_factors(entry.key, variant)

    def make() -> tuple[Surface, dict[str, Any]]:
        from dataclasses import replace

        from seed3d.conventions import up_axis_rotation
        from seed3d.data.furniture import extract_model
        from seed3d.mesh.load import load_surface

        surface = load_surface(extract_model(entry, cache), ".obj", up="z")
        turn = up_axis_rotation("y") @ (np.eye(3) if entry.rotation is None else entry.rotation)
        normals = None if surface.normals is None else surface.normals @ turn.T
        mesh = replace(surface.mesh, vertices=surface.mesh.vertices @ turn.T)
        attributes = {
            "name": entry.name, "category": entry.category, "creator": entry.creator,
            "licence": entry.licence, "size_m": list(entry.size_m * factors), "has_front": True,
            "material": "", "mass_kg": None,
        }  # fmt: skip
        surface = replace(surface, mesh=mesh, normals=normals)
        return stretched(surface, factors) if variant else surface, attributes

    key = f"{entry.key}+{variant}" if variant else entry.key
    return Recipe(key, entry.group, views, make, view_seed)


def procedural_recipe(category: str, seed: int, views: int, view_seed: int = 0) -> Recipe:
    """Recipe of one procedural object; every seed is a group of its own."""

    def make() -> tuple[Surface, dict[str, Any]]:
        from seed3d.data.procedural import make as make_object

        item = make_object(category, seed)
        attributes = {
            "name": category, "category": category, "creator": "seed3d", "licence": "Apache-2.0",
            "size_m": [float(v) for v in item.surface.mesh.extents], "has_front": item.has_front,
            "material": item.material, "mass_kg": item.mass_kg,
        }  # fmt: skip
        return item.surface, attributes

    key = f"procedural_{category}_{seed:05d}"
    return Recipe(key, key, views, make, view_seed)
