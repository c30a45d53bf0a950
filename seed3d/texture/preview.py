"""Pictures of an asset: one strip of panels, and a turntable."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from seed3d.conventions import CANONICAL_HALF, pixel_centers
from seed3d.render.adaptive import render_adaptive
from seed3d.render.cameras import orbit_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster
from seed3d.texture.photo import sample_image
from seed3d.texture.shadow import GroundShadow
from seed3d.texture.surface import asset_surface, shaded_surface
from seed3d.types import (
    Atlas,
    Camera,
    Mesh,
    PBRMaps,
    Pictures,
    Subject,
    Surface,
    SurfaceMaterial,
)  # fmt: skip

FRONT = (0.6, 0.35)
"""Azimuth and elevation of the three-quarter view [rad]."""
GREY = SurfaceMaterial((0.72, 0.72, 0.72), 0.0, 0.7)
SHADOW_STRENGTH = 0.55
THREADS = 2
"""Pictures drawn at a time; where many assets are made at once, processes take the other cores."""


def draw(
    begun: Pictures, mesh: Mesh, atlas: Atlas, maps: PBRMaps, camera: Camera | None,
    subject: Subject | None, stop: Callable[[], bool] = lambda: False,
) -> Pictures:  # fmt: skip
    """Draw everything that needs no hulls, and that isn't drawn yet.

    Args:
        begun: Of the same object.
        mesh: Any scale and place; Z up.
        atlas: Of the mesh.
        maps: Of the atlas.
        camera: The photo's, for the panel of the mesh; the front view where None.
        subject: The prepared photo, where there is one.
        stop: Asked before the panels and before every THREADS frames; True leaves the rest for
            later.
    """
    if stop() or begun.whole:
        return begun
    mesh, _, _ = canonical_pose(mesh)
    surface = asset_surface(mesh, atlas, maps)
    caster = Caster(surface.mesh)
    shadow = GroundShadow(caster)

    panels, frames, size = begun.panels, list(begun.frames), begun.size
    front, back = _view(mesh, *FRONT), _view(mesh, FRONT[0] + np.pi, FRONT[1])

    def panel(one: tuple[Surface, Camera, GroundShadow | None]) -> np.ndarray:
        what, view, below = one
        return _panel(what, view, size, caster, below)

    def frame(index: int) -> np.ndarray:
        view = _view(mesh, FRONT[0] + 2.0 * np.pi * index / begun.turn, FRONT[1])
        return _panel(surface, view, max(size // 2, 64), caster, shadow)

    with ThreadPoolExecutor(THREADS) as pool:
        if not panels:
            plain = shaded_surface(mesh, GREY)
            shape = (plain, camera, None) if camera else (plain, front, shadow)
            shown = shape, (surface, front, shadow), (surface, back, shadow)
            photo = () if subject is None else (_photo(subject.rgb, size),)
            panels = (*photo, *pool.map(panel, shown))
        while len(frames) < begun.turn and not stop():
            frames += pool.map(frame, range(begun.turn)[len(frames) :][:THREADS])
    return replace(begun, panels=panels, frames=tuple(frames))


def preview(pictures: Pictures, mesh: Mesh, hulls: Sequence[Mesh]) -> np.ndarray:
    """Return panels side by side: photo (where there is one), mesh, front, back, hulls.

    Args:
        pictures: Of the mesh, panels drawn.
        mesh: The asset's.
        hulls: In the mesh's frame.

    Returns:
        (S, P * S, 3) uint8 sRGB; P is 5 with a photo, else 4.
    """
    mesh, scale, offset = canonical_pose(mesh)
    shown = hull_surface([hull.moved(scale, offset) for hull in hulls])
    shadow = GroundShadow(Caster(mesh))
    view = _view(mesh, *FRONT)
    last = _panel(shown, view, pictures.size, Caster(shown.mesh), shadow)
    return np.concatenate([*pictures.panels, last], axis=1)


def picture(surface: Surface, azimuth_rad: float, size: int) -> np.ndarray:
    """Return one picture (size, size, 3) uint8 of a canonical surface over its ground shadow."""
    caster = Caster(surface.mesh)
    view = _view(surface.mesh, azimuth_rad, FRONT[1])
    return _panel(surface, view, size, caster, GroundShadow(caster))


def canonical_pose(mesh: Mesh) -> tuple[Mesh, float, np.ndarray]:
    """Return the mesh in the canonical frame, and scale s, offset o: p_canonical = s * p + o."""
    low, high = mesh.bounds
    scale = 2.0 * CANONICAL_HALF / float((high - low).max())
    offset = -scale * (low + high) / 2.0
    return mesh.moved(scale, offset), scale, offset


def hull_surface(hulls: list[Mesh]) -> Surface:
    """Return convex hulls as one flat-shaded surface, each of its own colour."""
    start = np.cumsum([0, *(len(hull.vertices) for hull in hulls)])
    mesh = Mesh(
        np.concatenate([hull.vertices for hull in hulls]),
        np.concatenate([hull.faces + s for hull, s in zip(hulls, start, strict=False)]),
    )
    owner = np.repeat(np.arange(len(hulls)), [len(hull.faces) for hull in hulls])
    colors = tuple(SurfaceMaterial(hull_color(i), 0.0, 0.7) for i in range(len(hulls)))
    return Surface(mesh, np.zeros((len(mesh.faces), 3, 2)), owner, colors)


def hull_color(index: int) -> tuple[float, float, float]:
    """Return the sRGB colour of hull `index`: hues a golden ratio apart, in three tones."""
    hue = (0.58 + index * 0.6180339887498949) % 1.0
    return colorsys.hsv_to_rgb(hue, (0.62, 0.42, 0.75)[index % 3], (0.9, 0.95, 0.7)[index % 3])


def _view(mesh: Mesh, azimuth_rad: float, elevation_rad: float) -> Camera:
    radius = float(np.linalg.norm(mesh.vertices, axis=1).max())
    return orbit_camera(azimuth_rad, elevation_rad, fill=0.88, radius=radius)


def _panel(
    surface: Surface, camera: Camera, size: int, caster: Caster, shadow: GroundShadow | None
) -> np.ndarray:
    lighting = Lighting.studio(camera.azimuth_rad)
    picture = render_adaptive(surface, camera, size, lighting, caster)
    ground = np.ones((size, size), np.float32)
    if shadow is not None:
        ground -= SHADOW_STRENGTH * shadow.seen_from(camera, size)
    alpha = picture.alpha[..., None]
    return _bytes(picture.rgb * alpha + ground[..., None] * (1.0 - alpha))


def _photo(rgb: np.ndarray, size: int) -> np.ndarray:
    """Scale the photo (S, S, 3) to the panel, averaging where it shrinks."""
    fine = max(1, -(-len(rgb) // size))  # samples per pixel and axis
    center = (pixel_centers(size * fine) + 1.0) / 2.0 * len(rgb) - 0.5
    column, row = np.meshgrid(center, center)
    pixel = np.column_stack([column.ravel(), row.ravel()])
    image = sample_image(rgb.astype(np.float32), pixel)
    return _bytes(image.reshape(size, fine, size, fine, 3).mean(axis=(1, 3)))


def _bytes(rgb: np.ndarray) -> np.ndarray:
    return (np.clip(rgb, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
