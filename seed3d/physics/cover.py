"""Parts of a solid that no hull covers: leaves, rods and tips that decimation or CoACD dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seed3d.mesh.manifold import from_manifold
from seed3d.types import Mesh

BARE = 0.04
"""A vertex this far outside every hull is bare (longest side of the object 2)."""
SPACING = 0.1
"""Longest edge of the surface that is looked at: a straight rod has vertices at its ends alone."""
MOST_PARTS = 24
"""Most parts that are added; the rest is smaller still."""


def uncovered_parts(hulls: Sequence[Mesh], solid: Any) -> list[np.ndarray]:
    """Return the corners (N, 3) of each connected bare part of a solid, farthest out first.

    Args:
        hulls: Convex, outward-wound; longest side of the object 2.
        solid: manifold3d solid that they stand for.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mesh = from_manifold(solid.refine_to_length(SPACING))
    out = outside(hulls, mesh.vertices)
    bare = out > BARE
    if not bare.any():
        return []
    ends = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ends = ends[bare[ends].all(axis=1)]
    count = len(mesh.vertices)
    graph = coo_array((np.ones(len(ends), bool), tuple(ends.T)), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    parts = []
    for name in np.unique(label[bare]):
        own = (label == name) & bare
        touched = mesh.faces[own[mesh.faces].any(axis=1)]
        points = mesh.vertices[np.unique(touched)]  # with the neighbours that hulls do cover
        parts.append((-float(out[own].max()), points))
    parts.sort(key=lambda part: (part[0], *part[1][0]))
    return [points for _, points in parts[:MOST_PARTS] if np.ptp(points, axis=0).max() > BARE]


def outside(hulls: Sequence[Mesh], points: np.ndarray) -> np.ndarray:
    """How far each point (N, 3) is outside the nearest hull, by its planes (N,); < 0 inside."""
    best = np.full(len(points), np.inf)
    for hull in hulls:
        corners = hull.vertices[hull.faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        keep = length[:, 0] > 1e-12 * length.max()
        normal = normal[keep] / length[keep]
        offset = np.einsum("fi,fi->f", normal, corners[keep, 0])
        low, high = hull.bounds
        gap = np.maximum(low - points, points - high).max(axis=1)
        near = np.flatnonzero(gap < best)  # the box's distance is a lower bound of the hull's
        best[near] = np.minimum(best[near], (points[near] @ normal.T - offset).max(axis=1))
    return best
