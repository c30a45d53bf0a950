"""Convex hulls of point sets that physics engines accept: few vertices, closed, never flat."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.errors import StageError
from seed3d.mesh.manifold import to_manifold
from seed3d.types import Mesh

MINIMUM_THICKNESS = 2e-3
"""Thinnest hull, as a share of its own longest side: thinner ones tunnel and break qhull."""


def solid_of(mesh: Mesh) -> Any:
    """Return a manifold3d.Manifold of a closed mesh.

    Raises:
        StageError: The mesh is not a closed, oriented manifold of positive volume.
    """
    if not np.isfinite(mesh.vertices).all():
        raise StageError("hulls: got NaN or infinite vertices; wanted finite metres")
    solid = to_manifold(mesh)
    if solid is None or not solid.volume() > 0:
        what = "not closed" if solid is None else f"of volume {solid.volume():.3g}"
        raise StageError(
            f"hulls: got a mesh of {len(mesh.faces)} faces, {what}; wanted a closed manifold wound "
            "counter-clockwise from outside. Repair it first (seed3d.mesh)"
        )
    return solid


def convex_hull(points: np.ndarray, max_vertices: int) -> tuple[Mesh, bool]:
    """Return the hull of points (N, 3) with at most `max_vertices`, and whether it was thickened.

    Fewer vertices are reached by keeping a subset (`_subset`), so the hull lies inside the true
    one and never grows; only a hull thinner than MINIMUM_THICKNESS grows, across.

    Raises:
        StageError: Fewer than 2 distinct points.
    """
    from scipy.spatial import ConvexHull, QhullError

    points = np.unique(np.asarray(points, np.float64), axis=0)
    center = points.mean(axis=0)
    # qhull's tolerances are absolute: unit size keeps them out of the way of 0.1 mm objects.
    size = float(np.ptp(points, axis=0).max()) if len(points) > 1 else 0.0
    if not size > 0:
        raise StageError(f"hulls: got {len(points)} distinct point(s); wanted a body")
    unit, thickened = _thicken((points - center) / size)
    try:
        hull = ConvexHull(unit[ConvexHull(unit).vertices])
        if len(hull.vertices) > max_vertices:
            hull = ConvexHull(_subset(hull.points, max_vertices))
    except QhullError as error:
        raise StageError(f"hulls: qhull refused {len(points)} points: {error}") from error
    return _oriented(hull, center, size), thickened


def _subset(points: np.ndarray, count: int) -> np.ndarray:
    """Choose `count` of the points (N, 3) whose hull misses the others least, greedily.

    Quickhull stopped early: start from the extremes along the axes, then always add the point
    that sticks out farthest.
    """
    from scipy.spatial import ConvexHull

    chosen = _extremes(points)
    while len(chosen) < count:
        equations = ConvexHull(points[chosen]).equations  # (F, 4), outward
        outside = (points @ equations[:, :3].T + equations[:, 3]).max(axis=1)  # (N,)
        outside[chosen] = 0.0
        farthest = int(outside.argmax())
        if outside[farthest] < 1e-9:
            break
        chosen.append(farthest)
    return points[chosen]


def _extremes(points: np.ndarray) -> list[int]:
    """Return indices of a starting polyhedron: extremes along x, y, z and the eight diagonals.

    These are 14 directions and span a volume, since thin sets were thickened before.
    """
    axes = np.vstack([np.eye(3), -np.eye(3)])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    directions = np.vstack([axes, corners])
    return list(dict.fromkeys(int(i) for i in (points @ directions.T).argmax(axis=0)))


def _thicken(points: np.ndarray) -> tuple[np.ndarray, bool]:
    """Give flat or needle-like point sets (unit size) MINIMUM_THICKNESS across."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    thickened = False
    for axis in axes[1:][::-1]:
        extent = float(np.ptp(points @ axis))
        if extent < MINIMUM_THICKNESS:
            shift = 0.5 * (MINIMUM_THICKNESS - extent) * axis
            points = np.vstack([points - shift, points + shift])
            thickened = True
    return points, thickened


def _oriented(hull: Any, center: np.ndarray, size: float) -> Mesh:
    """Return a hull as a mesh: own vertices in sorted order, outward triangles in sorted order."""
    order = np.sort(hull.vertices)
    order = order[np.lexsort(hull.points[order].T[::-1])]
    index = np.full(len(hull.points), -1)
    index[order] = np.arange(len(order))
    corners = hull.points[hull.simplices]  # (F, 3, 3)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("fi,fi->f", normal, hull.equations[:, :3]) < 0
    faces = index[hull.simplices]
    faces[inward] = faces[inward, ::-1]
    faces = np.stack([np.roll(f, -int(f.argmin())) for f in faces])  # smallest index first
    faces = faces[np.lexsort(faces.T[::-1])]
    return Mesh(hull.points[order] * size + center, faces.astype(np.int64))
