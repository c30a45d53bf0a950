"""Surfaces that touch in a point or a line, kept apart by a hair."""

from __future__ import annotations

import numpy as np

from seed3d.types import Mesh

STEP = 4e-6
"""How far a touching vertex is moved into the body [share of the longest side]."""

ROUNDS = 8


def keep_apart(mesh: Mesh, nearest: float) -> Mesh:
    """Move vertices at the same place, that no edge joins, into the body until they're apart.

    Readers of every format join vertices by position. Where two sheets of a closed surface touch,
    that makes edges with four faces, and the mesh no longer counts as closed.

    Args:
        mesh: Closed, counter-clockwise from outside.
        nearest: Vertices nearer than this count as at the same place [unit of the mesh].
    """
    vertices = mesh.vertices.copy()
    step = STEP * float(mesh.extents.max())
    for round_ in range(1, ROUNDS + 1):
        touching = _touching(vertices, mesh.faces, nearest)
        if len(touching) == 0:
            break
        vertices[touching] -= round_ * step * _normals(vertices, mesh.faces)[touching]
    return Mesh(vertices, mesh.faces)


def _touching(vertices: np.ndarray, faces: np.ndarray, nearest: float) -> np.ndarray:
    """Vertices (K,) that have another, not joined to them by an edge, within `nearest`."""
    from scipy.spatial import cKDTree

    pairs = np.sort(cKDTree(vertices).query_pairs(nearest, output_type="ndarray"), axis=1)
    if len(pairs) == 0:
        return np.zeros(0, np.int64)
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    count = len(vertices)
    joined = np.isin(pairs @ [count, 1], edges @ [count, 1])
    return np.unique(pairs[~joined])


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit vertex normals (V, 3), weighted by area; 0 where faces cancel out."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    face = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(total, faces[:, corner], face)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
