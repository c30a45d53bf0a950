"""A picture of a scene by the package's own renderer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seed3d.render.cameras import orbit_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster
from seed3d.render.shade import render
from seed3d.scene.parts import View
from seed3d.texture.surface import asset_surface, shaded_surface
from seed3d.types import Camera, Mesh, Surface, SurfaceMaterial

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

BACKGROUND = (0.93, 0.94, 0.95)
DIRECTION = (0.7, 0.55)
"""Azimuth and elevation of the overview [rad]."""


def overview(scene: Scene, size: int, view: View | None = None) -> np.ndarray:
    """Return a picture (size, size, 3) uint8 sRGB.

    Args:
        scene: Any; walls between the camera and the objects are left out of the overview.
        size: Side [pixel].
        view: A camera; None frames all objects from above their front.
    """
    low, high = scene_bounds(scene)
    target = (low + high) / 2
    if view is None:
        camera = orbit_camera(*DIRECTION, fill=0.92, radius=float(np.linalg.norm(high - low)) / 2)
    else:
        camera, target = view_camera(view), np.array(view.target)
    surface = scene_surface(scene, target, camera if view is None else None)
    turned = _turned(scene.lighting, camera.azimuth_rad if view is None else 0.0)
    picture = render(surface, camera, size, turned, 2, Caster(surface.mesh))
    return (np.clip(picture.over(BACKGROUND), 0, 1) * 255 + 0.5).astype(np.uint8)


def view_camera(view: View) -> Camera:
    """Return the camera of a view, around its target."""
    distance = math.dist(view.position, view.target)
    focal = 1.0 / math.tan(view.fov_rad / 2)
    return Camera(view.azimuth_rad, view.elevation_rad, distance, focal)


def scene_bounds(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corner of what a picture should show [m]."""
    points = [i.pose.apply(scene.assets[i.asset].mesh.vertices) for i in scene.items.values()]
    if not points:
        points = [b.mesh().vertices for b in scene.blocks.values()]
    if not points:
        return -np.ones(3), np.ones(3)
    every = np.concatenate(points)
    return every.min(axis=0), every.max(axis=0)


def scene_surface(scene: Scene, origin: np.ndarray, camera: Camera | None) -> Surface:
    """Return everything as one surface around `origin`.

    Args:
        scene: Any.
        origin: (3,) world point that becomes 0 [m].
        camera: Blocks that stand between it and the objects are left out; None keeps all.
    """
    parts = []
    cache: dict[str, Surface] = {}
    for item in scene.items.values():
        if item.asset not in cache:
            asset = scene.assets[item.asset]
            cache[item.asset] = asset_surface(asset.mesh, asset.atlas, asset.maps)
        own = cache[item.asset]
        mesh = replace(own.mesh, vertices=item.pose.apply(own.mesh.vertices))
        normals = None if own.normals is None else own.normals @ item.pose.rotation.T
        parts.append(replace(own, mesh=mesh, normals=normals))
    for block in scene.blocks.values():
        if camera is None or not _hides(block.mesh(), origin, camera):
            parts.append(shaded_surface(block.mesh(), SurfaceMaterial(block.color, 0.0, 0.85)))
    if scene.ground is not None:
        look = SurfaceMaterial(scene.ground.color, 0.0, 0.9)
        parts.append(shaded_surface(scene.ground.mesh(), look))
    return _joined(parts, origin)


def _hides(mesh: Mesh, origin: np.ndarray, camera: Camera) -> bool:
    """A tall block on the camera's side of the middle, as the near walls of a room."""
    center = mesh.bounds.mean(axis=0) - origin
    towards = camera.position[:2] / max(float(np.linalg.norm(camera.position[:2])), 1e-9)
    thin = float(mesh.extents[:2].min()) < 0.3 * float(mesh.extents[2])
    return thin and float(center[:2] @ towards) > 0.25 * float(mesh.extents[:2].max())


def _joined(parts: list[Surface], origin: np.ndarray) -> Surface:
    start = np.cumsum([0, *(len(p.mesh.vertices) for p in parts)])
    first = np.cumsum([0, *(len(p.materials) for p in parts)])
    mesh = Mesh(
        np.concatenate([p.mesh.vertices for p in parts]) - origin,
        np.concatenate([p.mesh.faces + s for p, s in zip(parts, start, strict=False)]),
    )
    normals = [p.normals for p in parts if p.normals is not None]
    return Surface(
        mesh,
        np.concatenate([p.corner_uv for p in parts]),
        np.concatenate([p.face_material + s for p, s in zip(parts, first, strict=False)]),
        tuple(m for p in parts for m in p.materials),
        normals=np.concatenate(normals),
    )


def _turned(lighting: Lighting, azimuth_rad: float) -> Lighting:
    lights = tuple(
        replace(light, azimuth_rad=light.azimuth_rad + azimuth_rad) for light in lighting.lights
    )
    return replace(lighting, lights=lights)
