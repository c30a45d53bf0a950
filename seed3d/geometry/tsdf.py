"""Any triangle mesh to a truncated signed distance (TSDF) grid, open or closed."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.mesh.grid import scene, tensor
from seed3d.types import Mesh

TRUNCATION = 0.25
"""TSDF values are clipped to +-TRUNCATION [canonical units] and divided by it."""

SHELL_VOXELS = 0.7
"""Half thickness given to sheets that enclose nothing [voxel]."""


def grid_points(resolution: int) -> np.ndarray:
    """Centres of the voxels of the cube [-1, 1]^3, shape (R, R, R, 3), indexed [x, y, z]."""
    axis = ((np.arange(resolution) + 0.5) / resolution * 2.0 - 1.0).astype(np.float32)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)


def signed_distance_grid(mesh: Mesh, resolution: int) -> np.ndarray:
    """Signed distance of a canonical mesh on the voxel grid (R, R, R) float32; negative inside.

    The sign comes from a flood fill of the outside, so holes narrower than a voxel, flipped faces
    and self-intersections don't matter. Where the surface encloses nothing (a table top of one
    sheet, the wall of a cup) the sheet becomes a solid of SHELL_VOXELS to each side.
    """
    from scipy import ndimage

    h = 2.0 / resolution
    points = grid_points(resolution)
    unsigned = scene(mesh).compute_distance(tensor(points)).numpy()

    # Two 6-neighbours on both sides of a sheet can't both be further than h / 2 from it.
    open_space = unsigned > 0.55 * h
    labels: Any = ndimage.label(np.pad(open_space, 1, constant_values=True))
    labels = labels[0]
    outside = (labels == labels[0, 0, 0])[1:-1, 1:-1, 1:-1]
    inside = open_space & ~outside
    signed = np.where(inside, -unsigned, unsigned)
    if not inside.any():
        return (signed - SHELL_VOXELS * h).astype(np.float32)

    # Voxels within half a voxel of the surface take the sign of their neighbours' mean.
    known = open_space.astype(np.float32)
    weight = ndimage.uniform_filter(known, 3, mode="nearest")
    mean = ndimage.uniform_filter(signed * known, 3, mode="nearest") / np.maximum(weight, 1e-6)
    wall_inside = ~open_space & (mean < 0)
    signed = np.where(wall_inside, -unsigned, signed)

    # A shell only where the nearest surface has no enclosed voxel right behind it.
    to_core = np.asarray(ndimage.distance_transform_edt(~(inside | wall_inside)))
    fade = np.clip(to_core - unsigned / h - 1.5, 0.0, 1.0)
    return (signed - SHELL_VOXELS * h * fade).astype(np.float32)


def truncate(signed: np.ndarray) -> np.ndarray:
    """Clip to +-TRUNCATION and scale to [-1, 1]."""
    return np.clip(signed / TRUNCATION, -1.0, 1.0)


def canonical(mesh: Mesh) -> tuple[Mesh, float, np.ndarray]:
    """Centre the bounding box and scale the longest side to 2 * CANONICAL_HALF.

    Returns:
        The canonical mesh, and scale s and centre c with p_mesh = s * p_canonical + c.
    """
    from seed3d.conventions import CANONICAL_HALF

    low, high = mesh.bounds
    scale = float((high - low).max()) / (2.0 * CANONICAL_HALF)
    center = (low + high) / 2.0
    return mesh.moved(1.0 / scale, -center / scale), scale, center
