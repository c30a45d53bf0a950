"""A triangle soup to clean, consistently wound parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seed3d.types import Mesh


@dataclass(frozen=True)
class Part:
    """Faces that hang together over edges that exactly two of them share."""

    mesh: Mesh
    """Consistently wound where `orientable`; vertices are those of the whole mesh, compacted."""
    closed: bool
    """Every edge has exactly two faces, in opposite directions."""
    orientable: bool


def clean(mesh: Mesh, tolerance: float) -> Mesh:
    """Merge vertices within `tolerance` and drop collapsed and repeated faces.

    Of faces with the same three vertices (either winding) one stays.
    """
    cell = np.round(mesh.vertices / tolerance).astype(np.int64)
    _, first, inverse = np.unique(cell, axis=0, return_index=True, return_inverse=True)
    return drop_bad_faces(Mesh(mesh.vertices[first], inverse.reshape(-1)[mesh.faces]))


def drop_bad_faces(mesh: Mesh) -> Mesh:
    """Drop faces that repeat a vertex or another face, and vertices without a face."""
    faces = mesh.faces
    faces = faces[
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    ]
    if len(faces) == 0:
        return Mesh(mesh.vertices[:0], faces)
    low, middle, high = np.sort(faces, axis=1).T
    order = np.lexsort((high, middle, low))
    ranked = np.stack([low, middle, high], axis=1)[order]
    new = np.concatenate([[True], (ranked[1:] != ranked[:-1]).any(axis=1)])
    keep = order[new]  # lexsort is stable: the first of equal faces
    return compact(Mesh(mesh.vertices, faces[np.sort(keep)]))


def compact(mesh: Mesh) -> Mesh:
    """Drop vertices that no face uses."""
    used, inverse = np.unique(mesh.faces, return_inverse=True)
    return Mesh(mesh.vertices[used], inverse.reshape(-1, 3).astype(np.int64))


def weld_cracks(mesh: Mesh, tolerance: float) -> Mesh:
    """Merge vertices of open edges (edges of one face) that are nearer than `tolerance`."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    edges = np.sort(mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    key, count = np.unique(edges[:, 0] * len(mesh.vertices) + edges[:, 1], return_counts=True)
    lone = key[count == 1]
    rim = np.unique(np.concatenate([lone // len(mesh.vertices), lone % len(mesh.vertices)]))
    pairs = cKDTree(mesh.vertices[rim]).query_pairs(tolerance, output_type="ndarray")
    first, second = rim[pairs].reshape(-1, 2).T
    size = len(mesh.vertices)
    links = coo_matrix((np.ones(len(first), bool), (first, second)), shape=(size, size))
    _, group = connected_components(links, directed=False)
    _, leader = np.unique(group, return_index=True)
    return drop_bad_faces(Mesh(mesh.vertices, leader[group][mesh.faces]))


def split_parts(mesh: Mesh) -> list[Part]:
    """Split into parts and wind each consistently, closed ones outwards.

    Faces are joined over edges with exactly two faces, so bodies that touch along an edge
    come apart. Winding is a two-colouring: face f is a node for each of its two windings,
    and an edge joins the windings that agree; a part whose windings meet is not orientable.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count = len(mesh.faces)
    first, second, agree = _face_pairs(mesh.faces)
    a, b = np.concatenate([first, first + count]), np.where(agree, second, second + count)
    b = np.concatenate([b, np.where(agree, second + count, second)])
    graph = coo_matrix((np.ones(len(a), bool), (a, b)), shape=(2 * count, 2 * count))
    _, winding = connected_components(graph, directed=False)
    graph = coo_matrix((np.ones(len(first), bool), (first, second)), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    _, lead = np.unique(part, return_index=True)
    flip = winding[:count] != winding[lead[part]]
    orientable = winding[lead] != winding[lead + count]
    faces = np.where(flip[:, None], mesh.faces[:, ::-1], mesh.faces)
    closed = _closed(faces, part, len(lead)) & orientable
    order = np.argsort(part, kind="stable")
    pieces = np.split(faces[order], np.cumsum(np.bincount(part))[:-1])
    return [
        _outwards(Part(compact(Mesh(mesh.vertices, piece)), bool(c), bool(o)))
        for piece, c, o in zip(pieces, closed, orientable, strict=True)
    ]


def signed_volume(mesh: Mesh) -> float:
    """Return the volume inside a closed mesh; negative when it is wound inside out."""
    p = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    return float(np.einsum("ij,ij->", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6.0)


def surface_area(mesh: Mesh) -> float:
    """Return the area of all faces."""
    p = mesh.vertices[mesh.faces]
    cross = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    return float(0.5 * np.linalg.norm(cross, axis=1).sum())


def _face_pairs(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two faces of every edge that has exactly two, and whether their windings agree."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((high, low))
    low, high, forward = low[order], high[order], (start < end)[order]
    new = np.concatenate([[True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
    begin = np.flatnonzero(new)
    pair = begin[np.diff(np.concatenate([begin, [len(low)]])) == 2]
    return order[pair] // 3, order[pair + 1] // 3, forward[pair] != forward[pair + 1]


def _closed(faces: np.ndarray, part: np.ndarray, count: int) -> np.ndarray:
    """Return (parts,) bool: every directed edge of the part occurs once, and so does its reverse."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    owner = np.repeat(part, 3)
    forward = np.lexsort((end, start, owner))
    backward = np.lexsort((start, end, owner))
    same = (start[forward] == end[backward]) & (end[forward] == start[backward])
    repeat = (start[forward][1:] == start[forward][:-1]) & (end[forward][1:] == end[forward][:-1])
    repeat &= owner[forward][1:] == owner[forward][:-1]
    bad = np.zeros(count, bool)
    bad[owner[forward][~same]] = True
    bad[owner[forward][1:][repeat]] = True
    return ~bad


def _outwards(part: Part) -> Part:
    if part.closed and signed_volume(part.mesh) < 0:
        return Part(Mesh(part.mesh.vertices, part.mesh.faces[:, ::-1].copy()), True, True)
    return part
