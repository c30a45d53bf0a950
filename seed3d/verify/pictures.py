"""Pictures for the report: the object, its hulls, and where each trial ended; our own renderer."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.types import Mesh, Surface, SurfaceMaterial
from seed3d.verify.folder import find_files, read_all
from seed3d.verify.model import FileModel, transformed
from seed3d.verify.target import Target, as_target

SIZE = 320
"""Side of a picture [pixel]."""
_COPY = SurfaceMaterial((0.74, 0.76, 0.80), 0.0, 0.7, name="copy")
_BALL = SurfaceMaterial((0.90, 0.35, 0.15), 0.0, 0.4, name="ball")
_FINGER = SurfaceMaterial((0.25, 0.28, 0.33), 0.0, 0.5, name="finger")


def pictures(where: Path | Target) -> dict[str, Any]:
    """Return {"images": {title: PNG in base64}, "checks": []} of what can be read of a target."""
    target = as_target(where)
    files = find_files(target)
    models, _ = read_all(files)
    images = {}
    surface = _looks(files, list(models.values()))
    if surface is not None:
        images["Front"] = _png(surface, 0.6)
        images["Back"] = _png(surface, 0.6 + np.pi)
    solid = next((m for m in models.values() if m.hulls), None)
    if solid is not None:
        from seed3d.texture.preview import hull_surface

        hulls = [h.mesh for h in solid.hulls]
        images[f"Collision: {len(hulls)} hull{'s' * (len(hulls) != 1)}"] = _png(
            hull_surface(hulls), 0.6
        )
        body = solid.visual or hull_surface(hulls).mesh
        for place in target.places:
            images[f"{place['title']}, {place['engine']}"] = _png(_scene(body, place), 0.6)
    return {"images": images, "checks": []}


def _looks(files: dict[Any, Path], models: list[FileModel]) -> Surface | None:
    """The surface with its materials where a mesh file can be shown, else grey."""
    from seed3d.mesh.load import load_surface
    from seed3d.texture.surface import shaded_surface

    textured = [files[k] for k in ("glb", "mesh") if k in files]
    sources = [
        m.base / r
        for m in models
        for r in m.references
        if m.visual is not None and Path(r).suffix.lower() in (".obj", ".glb", ".stl", ".ply")
    ]
    # The first mesh that a description names is its visible one, in the link's own axes.
    for path, up in [*((p, None) for p in textured), *((p, "z") for p in sources[:1])]:
        try:
            return load_surface(path, up=up)
        except InputError:
            continue  # what can't be read is a failed check elsewhere; grey is shown instead
    visual = next((m.visual for m in models if m.visual is not None), None)
    return (
        None
        if visual is None
        else shaded_surface(visual, SurfaceMaterial((0.7, 0.7, 0.7), 0.0, 0.7))
    )


def _scene(body: Mesh, place: dict[str, Any]) -> Surface:
    """Copies, balls and fingers of a trial as one flat-coloured surface."""
    import trimesh

    parts = [(transformed(body, np.array(pose)), 0) for pose in place["copies"]]
    for center, radius in place["balls"]:
        mesh = trimesh.creation.icosphere(3, radius)
        mesh.apply_translation(center)
        parts.append((Mesh.from_trimesh(mesh), 1))
    for pose, half in place["boxes"]:
        mesh = trimesh.creation.box(2.0 * np.array(half))
        parts.append((transformed(Mesh.from_trimesh(mesh), np.array(pose)), 2))
    start = np.cumsum([0, *(len(m.vertices) for m, _ in parts)])
    mesh = Mesh(
        np.concatenate([m.vertices for m, _ in parts]),
        np.concatenate([m.faces + s for (m, _), s in zip(parts, start, strict=False)]),
    )
    owner = np.repeat([kind for _, kind in parts], [len(m.faces) for m, _ in parts])
    corner_uv = np.zeros((len(mesh.faces), 3, 2))
    return Surface(mesh, corner_uv, owner, (_COPY, _BALL, _FINGER))


def _png(surface: Surface, azimuth_rad: float) -> str:
    """Render over a shadow on the ground; PNG in base64."""
    from dataclasses import replace

    from PIL import Image

    from seed3d.texture.preview import picture

    mesh = surface.mesh
    used = mesh.vertices[np.unique(mesh.faces)]
    low, high = used.min(axis=0), used.max(axis=0)
    size = max(float((high - low).max()), 1e-30)
    placed = Mesh((mesh.vertices - (low + high) / 2.0) * (1.9 / size), mesh.faces)
    image = Image.fromarray(picture(replace(surface, mesh=placed), azimuth_rad, SIZE))
    buffer = io.BytesIO()
    image.quantize(128).save(buffer, "PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()
