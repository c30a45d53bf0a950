"""Flat polygons to triangles, concave ones too."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float, float]


def triangulate(corners: Sequence[Point]) -> list[tuple[int, int, int]]:
    """Return triangles over the corners of one polygon, wound as it is.

    A convex polygon becomes a fan around its first corner, as every OBJ reader makes it. A
    concave one, for which a fan would cover ground outside of it, is triangulated exactly
    (manifold3d) in the plane that it fills best.
    """
    count = len(corners)
    fan = [(0, i, i + 1) for i in range(1, count - 1)]
    if count < 4:
        return fan
    normal = _newell(corners)
    axis = max(range(3), key=lambda k: abs(normal[k]))
    u, v = ((1, 2), (2, 0), (0, 1))[axis]
    if normal[axis] < 0:
        u, v = v, u
    flat = [(p[u], p[v]) for p in corners]
    if _convex(flat):
        return fan
    import manifold3d
    import numpy as np

    polygon = np.array(flat, np.float64)
    size = float(np.ptp(polygon, axis=0).max())
    if not np.isfinite(size) or size <= 0:
        return fan
    found = manifold3d.triangulate([(polygon - polygon.min(axis=0)) / size])
    triangles = [tuple(int(i) for i in t) for t in found]
    # Of a polygon that crosses itself no exact cover exists; the fan keeps its corners.
    return triangles if len(triangles) == count - 2 else fan  # type: ignore[return-value]


def _newell(corners: Sequence[Point]) -> list[float]:
    """Normal of a polygon, twice its area long (Newell; Sutherland et al. 1974)."""
    normal = [0.0, 0.0, 0.0]
    for i, p in enumerate(corners):
        q = corners[(i + 1) % len(corners)]
        normal[0] += (p[1] - q[1]) * (p[2] + q[2])
        normal[1] += (p[2] - q[2]) * (p[0] + q[0])
        normal[2] += (p[0] - q[0]) * (p[1] + q[1])
    return normal


def _convex(flat: Sequence[tuple[float, float]]) -> bool:
    """Whether a counter-clockwise polygon turns left, or goes straight, at every corner."""
    count = len(flat)
    turns = []
    for i in range(count):
        (ax, ay), (bx, by), (cx, cy) = flat[i - 2], flat[i - 1], flat[i]
        turns.append((bx - ax) * (cy - by) - (by - ay) * (cx - bx))
    return min(turns) >= -1e-9 * max(abs(t) for t in turns)
