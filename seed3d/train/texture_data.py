"""Objects to training records of the texture models: photos with true materials, and surface samples.

One compressed file per object; existing files are kept, so the same command resumes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.conventions import linear_to_srgb
from seed3d.data.build import Recipe, canonical_surface
from seed3d.data.split import split_of
from seed3d.data.views import random_camera
from seed3d.errors import InputError
from seed3d.render.cameras import orbit_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, GBuffer, gbuffer
from seed3d.render.shade import sample_material, shade
from seed3d.types import Camera, Surface, SurfaceMaterial

PHOTO_SIZE = 112
"""Side of the stored photos [pixel]; each pixel is the mean of 2 x 2 rays."""
SEEN = 4000
"""Most points kept of the surface that the photo shows."""
QUERIES = 512
"""Most points kept of the surface that other views show and the photo doesn't."""
QUERY_SIZE = 96
HIDDEN = 0.02
"""A point this much behind the photo's depth [canonical units] is not seen."""


def texture_record(recipe: Recipe) -> dict[str, Any]:
    """Render an object's photos and sample its surface.

    Returns:
        Of V photos: ``rgb`` (V, S, S, 3) on white, ``mask`` (V, S, S), ``albedo`` (V, S, S, 3)
        sRGB, ``material`` (V, S, S, 2) roughness and metallic, all uint8. Of the first photo:
        ``seen_*`` and ``query_*`` with ``position`` (N, 3) float16 canonical, ``normal`` (N, 3)
        int8 / 127, ``color`` (N, 3) uint8 sRGB albedo. ``attributes``: JSON bytes.

    Raises:
        Seed3DError: The object can't be loaded.
        InputError: A photo shows nothing of it.
    """
    surface, attributes = recipe.make()
    surface = canonical_surface(surface)
    rng = np.random.default_rng([*recipe.key.encode()])
    caster = Caster(surface.mesh)
    photos: dict[str, list[np.ndarray]] = {}
    samples: dict[str, np.ndarray] = {}
    for view in range(recipe.views):
        camera = random_camera(surface.mesh, attributes["has_front"], rng)
        buffer = gbuffer(surface, camera, 2 * PHOTO_SIZE, caster)
        if buffer.mask.sum() < 200:
            raise InputError(f"{recipe.key}: a photo shows only {buffer.mask.sum()} pixels of it")
        if view == 0:
            samples = surface_samples(surface, camera, buffer, caster, rng)
        varied = _varied(surface, rng)
        shown = photo(varied, camera, buffer, Lighting.random(rng, camera), caster)
        for name, value in shown.items():
            photos.setdefault(name, []).append(value)
    kept = {k: attributes[k] for k in ("name", "category", "creator", "licence")}
    kept |= {"group": recipe.group, "split": split_of(recipe.group)}
    text = json.dumps(kept, sort_keys=True).encode()
    stacked = {name: np.stack(values) for name, values in photos.items()}
    return {**stacked, **samples, "attributes": np.frombuffer(text, np.uint8)}


def photo(
    surface: Surface, camera: Camera, buffer: GBuffer, lighting: Lighting, caster: Caster
) -> dict[str, np.ndarray]:
    """Shade one view (buffer of 2S x 2S rays) and average to S x S, with its true materials."""
    mask = buffer.mask
    base, metallic, roughness = sample_material(surface, buffer.face[mask], buffer.bary[mask])
    linear = shade(surface, camera, lighting, buffer, caster)
    values = np.zeros((*mask.shape, 8), np.float32)
    values[mask] = np.column_stack([linear, base, roughness, metallic])
    fine = values.reshape(len(mask) // 2, 2, len(mask) // 2, 2, 8).sum(axis=(1, 3))
    count = mask.reshape(len(mask) // 2, 2, len(mask) // 2, 2).sum(axis=(1, 3))
    mean = fine / np.maximum(count, 1)[..., None]
    alpha = (count / 4.0)[..., None]
    rgb = linear_to_srgb(mean[..., :3]) * alpha + (1.0 - alpha)
    return {
        "rgb": _bytes(rgb),
        "mask": _bytes(alpha[..., 0]),
        "albedo": _bytes(linear_to_srgb(mean[..., 3:6])),
        "material": _bytes(mean[..., 6:]),
    }


def surface_samples(
    surface: Surface, camera: Camera, buffer: GBuffer, caster: Caster, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Points that the photo shows, and points that it doesn't but views all around do."""
    seen = _points(surface, buffer, SEEN, rng)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    start = rng.uniform(0, 2 * np.pi)
    for turn, elevation in enumerate((0.2, 0.5, -0.3, 0.9, 0.1, 0.4)):
        other = orbit_camera(start + turn * np.pi / 3, elevation)
        view = gbuffer(surface, other, QUERY_SIZE, caster)
        found.append(_points(surface, view, QUERY_SIZE**2, rng))
    position, normal, color = (np.concatenate(parts) for parts in zip(*found, strict=True))
    hidden = np.flatnonzero(~sees(camera, buffer, position))
    if len(hidden) > QUERIES:
        hidden = rng.choice(hidden, QUERIES, replace=False)
    query = (position[hidden], normal[hidden], color[hidden])
    out: dict[str, np.ndarray] = {}
    for name, (p, n, c) in (("seen", seen), ("query", query)):
        out[f"{name}_position"] = p.astype(np.float16)
        out[f"{name}_normal"] = np.round(n * 127).astype(np.int8)
        out[f"{name}_color"] = _bytes(linear_to_srgb(c))
    return out


def sees(camera: Camera, buffer: GBuffer, position: np.ndarray) -> np.ndarray:
    """Whether points (N, 3) of the surface are the first in their pixel: (N,) bool."""
    size = len(buffer.mask)
    uv, depth = camera.project(position.astype(np.float64))
    pixel = np.clip(((uv + 1) / 2 * size).astype(np.int64), 0, size - 1)
    return depth < buffer.depth[pixel[:, 1], pixel[:, 0]] + HIDDEN


def read_records(folder: Path, split: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield key, attributes and the open record of every object of a split, in order of keys.

    Raises:
        InputError: The folder holds no record of the split.
    """
    count = 0
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as record:
            attributes = json.loads(record["attributes"].tobytes())
            if attributes["split"] == split:
                count += 1
                yield path.stem, attributes, record
    if not count:
        raise InputError(f"{folder}: no records of split {split!r}; run train_texture.py data")


def _points(
    surface: Surface, buffer: GBuffer, most: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, normal and linear albedo of at most `most` hit pixels."""
    row, column = np.nonzero(buffer.mask)
    if len(row) > most:
        keep = np.sort(rng.choice(len(row), most, replace=False))
        row, column = row[keep], column[keep]
    color = sample_material(surface, buffer.face[row, column], buffer.bary[row, column])[0]
    return buffer.position[row, column], buffer.normal[row, column], color


def _varied(surface: Surface, rng: np.random.Generator) -> Surface:
    """Change the materials of half the photos, so that looks don't follow from the category.

    The palettes of the objects are few; a gain and a tint on the colour, another roughness and
    now and then bare metal give combinations that they don't hold.
    """
    if rng.random() < 0.5:
        return surface
    materials = tuple(_varied_material(material, rng) for material in surface.materials)
    return replace(surface, materials=materials)


def _varied_material(material: SurfaceMaterial, rng: np.random.Generator) -> SurfaceMaterial:
    color = np.array(material.base_color)
    roughness, metallic = material.roughness, material.metallic
    if rng.random() < 0.6:
        gain = rng.uniform(0.45, 1.1) * (1.0 + rng.normal(0.0, 0.12, 3))
        color = np.clip(color * gain, 0.02, 0.98)
    if rng.random() < 0.5:
        roughness = float(rng.uniform(0.15, 0.95))
    if rng.random() < 0.08:
        metallic = 1.0 - metallic
    base = (float(color[0]), float(color[1]), float(color[2]))
    return replace(material, base_color=base, roughness=roughness, metallic=metallic)


def _bytes(value: np.ndarray) -> np.ndarray:
    return (np.clip(value, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
