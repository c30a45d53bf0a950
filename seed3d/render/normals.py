"""Shading normals that keep sharp edges sharp."""

from __future__ import annotations

import numpy as np

from seed3d.types import Mesh

CREASE_RAD = 0.6
"""Faces that meet at a sharper angle than this are shaded apart."""


def corner_normals(mesh: Mesh, crease_rad: float = CREASE_RAD) -> np.ndarray:
    """Return unit normals (F, 3, 3) of the face corners.

    Each is the area-weighted mean of the faces around the vertex whose normal is within
    `crease_rad` of the corner's own face; 0 where that face has no area.
    """
    corners = mesh.vertices[mesh.faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # (F, 3)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    unit = area / np.where(length > 0, length, 1.0)

    vertex = mesh.faces.ravel()  # (3F,): corner -> vertex
    order = np.argsort(vertex, kind="stable")
    valence = np.bincount(vertex, minlength=len(mesh.vertices))
    first = np.cumsum(valence) - valence
    many = valence[vertex]
    mine = np.repeat(np.arange(len(vertex)), many)
    step = np.arange(len(mine)) - np.repeat(np.cumsum(many) - many, many)
    other = order[first[vertex[mine]] + step]
    near = np.einsum("nc,nc->n", unit[mine // 3], unit[other // 3]) > np.cos(crease_rad)
    total = np.stack(
        [
            np.bincount(mine[near], area[other[near] // 3, c], minlength=len(vertex))
            for c in range(3)
        ],
        axis=1,
    )
    size = np.linalg.norm(total, axis=1, keepdims=True)
    return (total / np.where(size > 0, size, 1.0)).reshape(-1, 3, 3)
