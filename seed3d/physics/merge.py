"""Fewer hulls for the same cavities: neighbours become one hull where that fills little open space.

CoACD's own merging stops at its threshold, pair by pair, and knows nothing of the whole; walls with
lumps then stay in slices. Here the volume that merging may add is a budget for the whole object.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

APART = 0.02
"""Boxes of parts farther apart than this don't touch (longest side of the object 2)."""
_SAMPLES = 256


@dataclass(frozen=True)
class _Hull:
    points: np.ndarray
    """(N, 3) its vertices."""
    triangles: np.ndarray
    """(F, 3, 3)."""
    equations: np.ndarray
    """(F, 4) outward planes."""
    volume: float


def merge_parts(parts: Sequence[np.ndarray], budget: float, deviation: float) -> list[np.ndarray]:
    """Merge convex parts pair by pair, the pair that adds least volume first.

    Args:
        parts: Corners (N, 3) of each part; longest side of the object 2.
        budget: Largest volume that all merges may add together.
        deviation: Largest distance of a merged hull's surface to the two it replaces.

    Returns:
        Corners of the remaining parts, unmerged ones as they were.
    """
    from scipy.spatial import QhullError

    try:
        hulls: list[_Hull | None] = [_hull(points) for points in parts]
    except QhullError:  # a flat part: nothing here can be measured, so nothing is merged
        return list(parts)
    points = list(parts)
    queue: list[tuple[float, int, int]] = []
    for j in range(len(hulls)):
        _push(queue, hulls, j, deviation, budget)
    while queue:
        added, i, j = heapq.heappop(queue)
        if hulls[i] is None or hulls[j] is None:
            continue
        if added > budget:
            break
        budget -= added
        joined = np.concatenate([hulls[i].points, hulls[j].points])  # type: ignore[union-attr]
        hulls[i] = hulls[j] = None
        hulls.append(_hull(joined))
        points.append(hulls[-1].points)  # type: ignore[union-attr]
        _push(queue, hulls, len(hulls) - 1, deviation, budget)
    return [p for p, hull in zip(points, hulls, strict=True) if hull is not None]


def _push(
    queue: list[tuple[float, int, int]],
    hulls: list[_Hull | None],
    new: int,
    deviation: float,
    budget: float,
) -> None:
    """Queue every allowed merge of hull `new` with an earlier one."""
    own = hulls[new]
    for i, other in enumerate(hulls[:new]):
        if own is None or other is None or not _near(own, other):
            continue
        joined = _hull(np.concatenate([other.points, own.points]))
        added = max(joined.volume - own.volume - other.volume, 0.0)
        if added <= budget and _bridge(joined, own, other) <= deviation:
            heapq.heappush(queue, (added, i, new))


def _near(a: _Hull, b: _Hull) -> bool:
    gap = np.maximum(
        a.points.min(axis=0) - b.points.max(axis=0), b.points.min(axis=0) - a.points.max(axis=0)
    )
    return bool(gap.max() < APART)


def _bridge(joined: _Hull, a: _Hull, b: _Hull) -> float:
    """Farthest that the joined hull's surface is outside both, by their planes."""
    surface = _spread(joined.triangles)
    return float(np.minimum(_outside(surface, a), _outside(surface, b)).max())


def _outside(points: np.ndarray, hull: _Hull) -> np.ndarray:
    return (points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)


def _spread(triangles: np.ndarray) -> np.ndarray:
    """Points (N, 3) over triangles (F, 3, 3) by area, the same on every run."""
    edges = triangles[:, 1:] - triangles[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    rng = np.random.default_rng(0)
    face = rng.choice(len(area), _SAMPLES, p=area / area.sum())
    u, v = rng.random((2, _SAMPLES))
    root = np.sqrt(u)
    weights = np.stack([1 - root, root * (1 - v), root * v], axis=1)
    return np.einsum("nk,nki->ni", weights, triangles[face])


def _hull(points: np.ndarray) -> Any:
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    return _Hull(points[hull.vertices], points[hull.simplices], hull.equations, float(hull.volume))
