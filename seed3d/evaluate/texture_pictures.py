"""Pictures of several surfaces on one mesh, and of the truth, from the same places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seed3d.conventions import linear_to_srgb
from seed3d.render.cameras import framed_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, GBuffer, gbuffer
from seed3d.render.shade import shade
from seed3d.types import Camera, Mesh, Surface

SUPERSAMPLE = 2
TURNS_DEG = ((60, 0), (120, 15), (180, 0), (240, 15), (300, 0), (150, -35))
"""Azimuth and elevation of the unseen views relative to the photo's camera."""


class Stage:
    """Surfaces that share one mesh, seen from one camera after the other."""

    def __init__(self, mesh: Mesh) -> None:
        self.caster = Caster(mesh)

    def pictures(
        self, surfaces: list[Surface], camera: Camera, lights: list[Lighting], size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Render.

        Args:
            surfaces: S surfaces; their meshes have the stage's vertices and faces.
            camera: Sees the square crop.
            lights: L lights.
            size: Side of the pictures [pixel].

        Returns:
            sRGB on white (S, L, size, size, 3) and coverage (size, size), float32.
        """
        buffer = gbuffer(surfaces[0], camera, size * SUPERSAMPLE, self.caster)
        images = [
            [_picture(s, camera, light, buffer, self.caster, size) for light in lights]
            for s in surfaces
        ]
        return np.array(images, np.float32), _mean(buffer.mask.astype(np.float32), size)


def unseen_cameras(photo: Camera, mesh: Mesh) -> list[Camera]:
    """Cameras around the object relative to the photo's, framed on the mesh as photos are."""
    cameras = []
    for azimuth, elevation in TURNS_DEG:
        up = np.clip(photo.elevation_rad + np.deg2rad(elevation), -0.6, 1.3)
        turn = photo.azimuth_rad + np.deg2rad(azimuth)
        cameras.append(framed_camera(mesh.vertices, turn, float(up), photo.distance))
    return cameras


def turned(lighting: Lighting, angle_rad: float) -> Lighting:
    """The lighting turned about the vertical."""
    lights = tuple(replace(x, azimuth_rad=x.azimuth_rad + angle_rad) for x in lighting.lights)
    return replace(lighting, lights=lights)


def _picture(
    surface: Surface, camera: Camera, light: Lighting, buffer: GBuffer, caster: Caster, size: int
) -> np.ndarray:
    color = np.ones((*buffer.mask.shape, 3), np.float32)
    if buffer.mask.any():
        color[buffer.mask] = shade(surface, camera, light, buffer, caster)
    # Linear mean of the object's own samples, then over white in sRGB, as photos are composited.
    coverage = _mean(buffer.mask.astype(np.float32), size)
    total = _mean(color * buffer.mask[..., None], size)
    linear = total / np.maximum(coverage, 1e-6)[..., None]
    inside = linear_to_srgb(np.clip(linear, 0.0, 1.0))
    return inside * coverage[..., None] + (1.0 - coverage[..., None])


def _mean(values: np.ndarray, size: int) -> np.ndarray:
    fine = values.reshape(size, SUPERSAMPLE, size, SUPERSAMPLE, *values.shape[2:])
    return fine.mean(axis=(1, 3))
