"""Distance to a triangle soup on a grid, and what of the grid is outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.types import Mesh

BARRIER = 0.5
"""Nodes this near to the surface stop the flood [spacing].

A step of one spacing that crosses the surface has an end within half a spacing of it, so the
flood along axes can't pass the surface, and not an opening narrower than a spacing either.
"""


@dataclass(frozen=True)
class DistanceGrid:
    """Nodes at origin + spacing * (i, j, k)."""

    origin: np.ndarray
    """(3,) position of node (0, 0, 0)."""
    spacing: float
    distance: np.ndarray
    """(X, Y, Z) float32 unsigned distance; infinite farther away than the band."""
    outside: np.ndarray
    """(X, Y, Z) bool: reached by the flood from the border."""

    @property
    def sealed(self) -> np.ndarray:
        """(X, Y, Z) bool: neither reached by the flood nor next to the surface."""
        return ~self.outside & (self.distance > BARRIER * self.spacing)

    def points(self, nodes: np.ndarray) -> np.ndarray:
        """Return the positions (N, 3) of node indices (N, 3)."""
        return self.origin + self.spacing * nodes


def scene(mesh: Mesh) -> Any:
    """Return an open3d RaycastingScene of the mesh (float32 inside)."""
    import open3d

    rays = open3d.t.geometry.RaycastingScene()
    rays.add_triangles(tensor(mesh.vertices), tensor(mesh.faces, np.uint32))
    return rays


def tensor(array: np.ndarray, dtype: Any = np.float32) -> Any:
    """Return an open3d Tensor; a scene takes float32 points and uint32 faces."""
    import open3d

    make: Any = open3d.core.Tensor  # its type stub misses NumPy arrays
    return make(np.ascontiguousarray(array, dtype))


def distance_grid(mesh: Mesh, spacing: float, band: float) -> DistanceGrid:
    """Measure unsigned distances up to `band` and flood the grid from its border.

    Coarse blocks are asked first and only those that may reach into the band are refined, so
    the number of distance queries grows with the surface, not with the volume.
    """
    low, high = mesh.bounds
    margin = band + 2 * spacing
    shape = np.ceil((high - low + 2 * margin) / spacing).astype(int) + 1
    origin = (low + high) / 2 - spacing * (shape - 1) / 2
    rays = scene(mesh)
    distance = np.full(shape, np.inf, np.float32)
    blocks = _lattice(-(-shape // 8)) * 8
    for size, child in ((8, 2), (2, 1), (1, 0)):
        blocks = blocks[(blocks < shape).all(axis=1)]
        centre = origin + spacing * (blocks + (size - 1) / 2)
        found = ask_distance(rays, centre)
        if size == 1:
            near = found <= band
            distance[tuple(blocks[near].T)] = found[near]
            break
        near = found <= band + spacing * (size - 1) / 2 * np.sqrt(3)
        blocks = blocks[near][:, None] + _lattice(np.full(3, size // child))[None] * child
        blocks = blocks.reshape(-1, 3)
    return DistanceGrid(origin, spacing, distance, _flood(distance > BARRIER * spacing))


def ask_distance(rays: Any, points: np.ndarray) -> np.ndarray:
    """Return the unsigned distances (N,) of points (N, 3) to the surface of a `scene`."""
    return rays.compute_distance(tensor(points)).numpy()


def _flood(free: np.ndarray) -> np.ndarray:
    from scipy import ndimage

    labels = np.empty(free.shape, np.int32)
    ndimage.label(free, output=labels)  # 6-connected
    return labels == labels[0, 0, 0]


def _lattice(shape: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
