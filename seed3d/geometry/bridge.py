"""Loose pieces of a coarse field joined to its body where the field says they nearly touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.geometry.tsdf import TRUNCATION

LEAST_SHARE = 0.003
"""Pieces smaller than this share of the inside are crumbs, left alone."""
LONGEST = 8
"""Voxels outside of both that a bridge may cross."""
NEAR = 0.6
"""Mean TSDF on the way from which the field says that nothing is there."""
RADIUS = 1.3
"""Of a bridge [voxel]."""


def bridged(grid: np.ndarray) -> tuple[np.ndarray, int]:
    """Join the larger loose pieces to the largest one by the way of least distance.

    A leg that hangs by less than a voxel comes out of a coarse field in two; leaving its lower
    half out would change the object, a thin bridge doesn't.

    Args:
        grid: (R, R, R) TSDF, negative inside.

    Returns:
        The grid with bridges, and how many were built.
    """
    from scipy import ndimage

    found: Any = ndimage.label(grid < 0)  # by faces, as the surface extraction joins
    labels, count = found
    if count < 2:
        return grid, 0
    sizes = np.bincount(labels.ravel())[1:]
    order = np.argsort(-sizes, kind="stable") + 1
    joined = labels == order[0]
    loose = [k for k in order[1:] if sizes[k - 1] >= max(8, LEAST_SHARE * sizes.sum())]
    ways = np.zeros(grid.shape, bool)
    built = 0
    while loose:
        ways_to = [(_way(grid, joined, labels == k), k) for k in loose]
        reached = [(way, k) for way, k in ways_to if way is not None]
        if not reached:
            break
        way, k = min(reached, key=lambda pair: (len(pair[0]), int(pair[1])))
        ways[tuple(way.T)] = True
        joined |= (labels == k) | ways
        loose.remove(k)
        built += 1
    if not built:
        return grid, 0
    voxel = 2.0 / len(grid) / TRUNCATION
    tube = (np.asarray(ndimage.distance_transform_edt(~ways)) - RADIUS) * voxel
    return np.minimum(grid, tube.astype(grid.dtype)), built


def _way(grid: np.ndarray, start: np.ndarray, goal: np.ndarray) -> np.ndarray | None:
    """Voxels (N, 3) of the cheapest way between two masks, or None where it's too long."""
    from scipy import ndimage
    from skimage.graph import MCP_Geometric

    # Only the neighbourhood of the goal can be reached by a bridge of LONGEST voxels.
    inside = np.argwhere(goal)
    low = np.maximum(inside.min(axis=0) - LONGEST - 1, 0)
    window = tuple(slice(a, b + LONGEST + 2) for a, b in zip(low, inside.max(axis=0), strict=True))
    grid, start, goal = grid[window], start[window], goal[window]
    near = np.asarray(ndimage.distance_transform_edt(~goal)) <= LONGEST + 1
    sources = np.argwhere(start & near)
    if not len(sources):
        return None
    cost = np.where(near, 0.05 + np.maximum(grid, 0.0), -1.0)  # negative can't be entered
    search = MCP_Geometric(cost, fully_connected=True)
    totals, _ = search.find_costs(sources)
    ends = np.argwhere(goal)
    best = ends[int(np.argmin(totals[tuple(ends.T)]))]
    way = np.array(search.traceback(tuple(int(v) for v in best)))
    gap = grid[tuple(way.T)]
    gap = gap[gap >= 0]
    if len(gap) > LONGEST or (len(gap) and gap.mean() > NEAR):
        return None
    return way + low
