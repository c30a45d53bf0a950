"""Pictures with more rays only where neighbouring pixels differ (Whitted 1980)."""

from __future__ import annotations

import numpy as np

from seed3d.conventions import linear_to_srgb, pixel_centers
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, seen_through
from seed3d.render.shade import RenderedImage, shade_seen
from seed3d.types import Camera, Surface

CONTRAST = 0.04
"""sRGB difference of neighbours from which both get more rays: about the least that shows."""
SIDE = 2
"""Rays per axis of such a pixel."""


def render_adaptive(
    surface: Surface, camera: Camera, size: int, lighting: Lighting, caster: Caster
) -> RenderedImage:
    """As `seed3d.render.shade.render` with 2 x 2 rays a pixel, at about a third of the time.

    One ray a pixel first; then SIDE^2 for each pixel at an outline, and where the colour changes.

    Args:
        surface: Canonical frame, any mesh; both sides of a face are visible.
        camera: Sees the square crop.
        size: Side of the picture [pixel].
        lighting: Canonical frame.
        caster: Of surface.mesh.
    """
    center = pixel_centers(size).astype(np.float32)
    u, v = (axis.ravel() for axis in np.meshgrid(center, center))
    alpha, rgb = _samples(surface, camera, lighting, caster, u, v)
    again = np.flatnonzero(_differing(alpha.reshape(size, size), rgb.reshape(size, size, 3)))
    offset = pixel_centers(SIDE).astype(np.float32) / size  # a pixel is 2 / size wide
    down, right = (axis.ravel() for axis in np.meshgrid(offset, offset, indexing="ij"))
    fine_u, fine_v = u[again, None] + right, v[again, None] + down
    hit, color = _samples(surface, camera, lighting, caster, fine_u.ravel(), fine_v.ravel())
    hit, color = hit.reshape(-1, SIDE**2), color.reshape(-1, SIDE**2, 3)
    count = hit.sum(axis=1)
    alpha[again] = count / np.float32(SIDE**2)
    rgb[again] = (color * hit[..., None]).sum(axis=1) / np.maximum(count, 1.0)[:, None]
    rgb[alpha == 0] = 1.0
    srgb = linear_to_srgb(rgb).astype(np.float32)
    return RenderedImage(srgb.reshape(size, size, 3), alpha.reshape(size, size))


def _samples(
    surface: Surface,
    camera: Camera,
    lighting: Lighting,
    caster: Caster,
    u: np.ndarray,
    v: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Hit (N,) 0 or 1, and linear colour (N, 3), white for a miss, of rays through (u, v)."""
    found = seen_through(surface, camera, u, v, caster)
    alpha, rgb = np.zeros(len(u), np.float32), np.ones((len(u), 3), np.float32)
    alpha[found.pixel] = 1.0
    if len(found.pixel):
        rgb[found.pixel] = shade_seen(surface, camera, lighting, found, caster)
    return alpha, rgb


def _differing(alpha: np.ndarray, rgb: np.ndarray) -> np.ndarray:
    """(S, S) bool: pixels that differ from one of their 8 neighbours."""
    picture = np.concatenate([linear_to_srgb(rgb), alpha[..., None]], axis=2)
    out = np.zeros(alpha.shape, bool)
    for here, there in (
        (np.s_[:, 1:], np.s_[:, :-1]),
        (np.s_[1:], np.s_[:-1]),
        (np.s_[1:, 1:], np.s_[:-1, :-1]),
        (np.s_[1:, :-1], np.s_[:-1, 1:]),
    ):
        apart = (np.abs(picture[here] - picture[there]) > CONTRAST).any(axis=2)
        out[here] |= apart
        out[there] |= apart
    return out
