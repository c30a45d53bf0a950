"""A soft contact shadow on the ground, computed once per mesh and looked up per view."""

from __future__ import annotations

import numpy as np

from seed3d.conventions import pixel_centers
from seed3d.render.raycast import Caster, pixel_rays
from seed3d.types import Camera

REACH = 2.2
"""Half side of the shadow's map [canonical units]."""
CELLS = 72
RAYS = 40
FAINT = 0.06
"""Hidden share that counts as none."""
GOLDEN_ANGLE = np.pi * (3.0 - 5.0**0.5)


class GroundShadow:
    """Share of the sky that the object hides from each point of the ground below it."""

    def __init__(self, caster: Caster) -> None:
        """Sample the sky from a grid on the ground through the mesh's lowest point."""
        from scipy.ndimage import gaussian_filter

        self.height = float(caster.mesh.bounds[0, 2])
        cell = pixel_centers(CELLS) * REACH
        x, y = np.meshgrid(cell, cell)
        ground = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, self.height - 2e-3)])
        # Cosine-weighted spiral over the upper half sphere.
        k = (np.arange(RAYS) + 0.5) / RAYS
        sine, angle = np.sqrt(k), np.arange(RAYS) * GOLDEN_ANGLE
        sky = np.column_stack([sine * np.cos(angle), sine * np.sin(angle), np.sqrt(1.0 - k)])
        rays = np.broadcast_to(sky, (len(ground), RAYS, 3)).reshape(-1, 3)
        hidden = caster.occluded(np.repeat(ground, RAYS, axis=0), rays)
        share = hidden.reshape(CELLS, CELLS, RAYS).mean(axis=2)
        # Far from the object the hidden share is small and noisy: it fades to none.
        fade = np.clip(1.6 * (1.0 - np.hypot(x, y) / REACH), 0.0, 1.0)
        share = gaussian_filter(share, 1.0) * fade
        self.map = np.maximum(share - FAINT, 0.0).astype(np.float32) / (1.0 - FAINT)

    def seen_from(self, camera: Camera, size: int) -> np.ndarray:
        """Return the hidden share (size, size) in [0, 1] where the ground is seen, else 0."""
        from scipy.ndimage import map_coordinates

        center = pixel_centers(size)
        ray = pixel_rays(camera, *np.meshgrid(center, center))
        below = ray[..., 2] < -1e-3
        drop = (self.height - camera.position[2]) / np.where(below, ray[..., 2], -1.0)
        point = camera.position[:2] + ray[..., :2] * drop[..., None]
        cell = (point / REACH + 1.0) / 2.0 * CELLS - 0.5
        shade = map_coordinates(self.map, [cell[..., 1], cell[..., 0]], order=1, cval=0.0)
        return np.where(below & (drop > 0), shade, 0.0).astype(np.float32)
