"""Angle-based smooth shading."""

from __future__ import annotations

import numpy as np

SMOOTH_ANGLE_RAD = np.deg2rad(40.0)
"""Faces that meet at a smaller angle are shaded smoothly across their edge."""


def face_normals(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit normals (F, 3), zero for degenerate faces, and areas (F,)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    length = np.linalg.norm(cross, axis=1)
    return cross / np.maximum(length, np.finfo(float).tiny)[:, None], 0.5 * length


def smooth_normals(
    vertices: np.ndarray, faces: np.ndarray, angle_rad: float = SMOOTH_ANGLE_RAD
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split vertices at sharp edges and return smooth unit normals.

    Two corners at one position share a normal when a chain of faces around it joins them over
    edges whose dihedral angle is below `angle_rad`.

    Args:
        vertices: (V, 3), may repeat positions (UV seams, triangle soup).
        faces: (F, 3).
        angle_rad: Largest dihedral angle between face normals that is still smooth.

    Returns:
        source (W,): the old vertex of every new vertex; faces (F, 3) into the new ones;
        normals (W, 3), weighted by the corner angles (Thuermer and Wuethrich 1998).
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    position = merge_positions(vertices)[faces]  # (F, 3)
    normal, _ = face_normals(vertices, faces)
    first, second = _smooth_corner_pairs(position, normal, angle_rad)
    total = faces.size
    links = coo_matrix((np.ones(len(first), bool), (first, second)), shape=(total, total))
    count, group = connected_components(links, directed=False)
    weight = _corner_angles(vertices, faces).reshape(-1)
    weighted = np.repeat(normal, 3, axis=0) * weight[:, None]
    summed = np.stack([np.bincount(group, weighted[:, k], count) for k in range(3)], axis=1)
    # A new vertex is a pair of shading group and old vertex, so colours stay where they were.
    pairs, first_corner, inverse = np.unique(
        group.astype(np.int64) * len(vertices) + faces.reshape(-1),
        return_index=True,
        return_inverse=True,
    )
    normals = summed[pairs // len(vertices)]
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 1e-12, normals / np.maximum(length, 1e-12), [0.0, 0.0, 1.0])
    return faces.reshape(-1)[first_corner], inverse.reshape(-1, 3), normals


def merge_positions(vertices: np.ndarray) -> np.ndarray:
    """Return (V,) ints that are equal exactly where positions are equal."""
    clean = np.ascontiguousarray(vertices + 0.0)  # -0.0 becomes 0.0
    rows = clean.view(np.dtype((np.void, clean.dtype.itemsize * 3))).reshape(-1)
    return np.unique(rows, return_inverse=True)[1].reshape(-1)


def _smooth_corner_pairs(
    position: np.ndarray, normal: np.ndarray, angle_rad: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (index 3 f + k) that adjacent, smoothly joined faces share."""
    face = np.repeat(np.arange(len(position)), 3)
    start, end = np.arange(3 * len(position)), face * 3 + np.tile([1, 2, 0], len(position))
    at_start, at_end = position.reshape(-1)[start], position.reshape(-1)[end]
    swap = at_start > at_end
    low, high = np.where(swap, end, start), np.where(swap, start, end)
    flat = position.reshape(-1)
    order = np.lexsort((flat[high], flat[low]))
    low, high, face = low[order], high[order], face[order]
    same = (flat[low[1:]] == flat[low[:-1]]) & (flat[high[1:]] == flat[high[:-1]])
    cosine = np.einsum("ij,ij->i", normal[face[1:]], normal[face[:-1]])
    same &= cosine > np.cos(angle_rad)
    return (
        np.concatenate([low[1:][same], high[1:][same]]),
        np.concatenate([low[:-1][same], high[:-1][same]]),
    )


def _corner_angles(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the inner angles (F, 3) [rad]; 0 in degenerate faces."""
    p = vertices[faces]  # (F, 3, 3)
    out = p[:, [1, 2, 0]] - p
    back = p[:, [2, 0, 1]] - p
    cross = np.linalg.norm(np.cross(out, back), axis=2)
    return np.arctan2(cross, np.einsum("fki,fki->fk", out, back)) * (cross > 0)
