"""What the photo says about points of the surface: a colour and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.conventions import srgb_to_linear
from seed3d.render.raycast import Caster, gbuffer
from seed3d.types import Camera, Mesh, Subject, Surface, SurfaceMaterial

SOLID_COVERAGE = 0.95
"""Mask value from which a pixel shows the object only."""
CLEAR_PIXELS = (1.5, 5.0)
"""Distance to the silhouette [pixel of a 512 crop] where trust starts and is complete."""
WHOLE_PIXELS = (1.5, 3.0)
"""The same in the photo's own pixels: a look-up between pixels must not touch one of the rim."""
GRAZING = (0.12, 0.4)
"""Cosine of the viewing angle where trust starts and is complete."""
BEHIND = 0.05
"""A point this much farther than an edge next to it [canonical units] may show that edge."""


@dataclass(frozen=True)
class PhotoView:
    """The photo registered to the mesh through its camera."""

    camera: Camera
    linear: np.ndarray
    """(S, S, C) float32: linear light; further channels are looked up alike."""
    clear: np.ndarray
    """(S, S) float32 in [0, 1]: trust by distance to the silhouette."""
    depth: np.ndarray
    """(S, S) float32 of the mesh; inf outside."""
    nearest: np.ndarray
    """(S, S) float32: least depth around the pixel."""
    normal: np.ndarray
    """(S, S, 3) float32 of the mesh."""


def register(mesh: Mesh, caster: Caster, subject: Subject, camera: Camera) -> PhotoView:
    """Prepare the photo for look-ups.

    Args:
        mesh: Canonical frame.
        caster: Of the mesh.
        subject: Its crop is what the camera sees.
        camera: Of the photo.
    """
    from scipy.ndimage import distance_transform_edt, minimum_filter

    size = len(subject.rgb)
    scale = size / 512.0
    inside = np.pad(subject.mask >= SOLID_COVERAGE, 1)
    inner: Any = distance_transform_edt(inside)
    distance = inner[1:-1, 1:-1]
    clear = _ramp(distance / scale, CLEAR_PIXELS) * _ramp(distance, WHOLE_PIXELS)
    count = len(mesh.faces)
    plain = Surface(mesh, np.zeros((count, 3, 2)), np.zeros(count, np.int64), (SurfaceMaterial(),))
    buffer = gbuffer(plain, camera, size, caster)
    window = 2 * max(1, round(3 * scale)) + 1
    return PhotoView(
        camera,
        srgb_to_linear(subject.rgb).astype(np.float32),
        clear.astype(np.float32),
        buffer.depth,
        minimum_filter(buffer.depth, window),
        buffer.normal,
    )


def observe(
    view: PhotoView, position: np.ndarray, normal: np.ndarray, slack: float
) -> tuple[np.ndarray, np.ndarray]:
    """Look points up in the photo.

    A point is seen where the mesh's first surface along its ray lies at the point's depth and
    faces the same way; so a point that is not on the mesh (a mirrored one) is not seen.

    Args:
        view: The registered photo.
        position: (N, 3) canonical frame.
        normal: (N, 3) unit, outward.
        slack: Largest difference in depth [canonical units].

    Returns:
        colour (N, C) linear, trust (N,) in [0, 1]; float32.
    """
    size = len(view.depth)
    uv, depth = view.camera.project(position.astype(np.float64))
    pixel = (uv + 1.0) / 2.0 * size - 0.5
    column, row = (np.clip(np.rint(pixel[:, i]), 0, size - 1).astype(np.int64) for i in (0, 1))
    towards = view.camera.position - position
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    cosine = np.einsum("nc,nc->n", towards, normal)

    # Inside one pixel the depth of a tilted surface changes by its footprint times the slope.
    footprint = 2.0 * depth / (view.camera.focal * size)
    tolerance = slack + footprint / np.clip(cosine, 0.1, 1.0)
    trust = view.clear[row, column] * _ramp(cosine, GRAZING)
    trust *= np.abs(view.depth[row, column] - depth) < tolerance
    trust *= _ramp(np.einsum("nc,nc->n", view.normal[row, column], normal), (0.3, 0.7))
    trust *= np.where(depth - view.nearest[row, column] > BEHIND + tolerance, 0.1, 1.0)
    trust *= (np.abs(uv) <= 1.0).all(axis=1)
    return sample_image(view.linear, pixel), trust.astype(np.float32)


def sample_image(image: np.ndarray, pixel: np.ndarray) -> np.ndarray:
    """Interpolate image (H, W, C) at pixel (N, 2) = (column, row); (0, 0) is a pixel's centre."""
    limit = np.array([image.shape[1] - 1, image.shape[0] - 1])
    pixel = np.clip(pixel, 0.0, limit)
    low = np.floor(pixel).astype(np.int64)
    high = np.minimum(low + 1, limit)
    share = (pixel - low).astype(np.float32)
    fx, fy = share[:, :1], share[:, 1:]
    upper = image[low[:, 1], low[:, 0]] * (1 - fx) + image[low[:, 1], high[:, 0]] * fx
    lower = image[high[:, 1], low[:, 0]] * (1 - fx) + image[high[:, 1], high[:, 0]] * fx
    return upper * (1 - fy) + lower * fy


def _ramp(value: np.ndarray, ends: tuple[float, float]) -> np.ndarray:
    """Smooth step from 0 to 1 between the ends."""
    t = np.clip((value - ends[0]) / (ends[1] - ends[0]), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
