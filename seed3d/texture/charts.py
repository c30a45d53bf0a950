"""Cut a mesh into charts that can be projected along an axis without overlap."""

from __future__ import annotations

import numpy as np

from seed3d.render.raycast import face_normals
from seed3d.types import Atlas, Mesh

AXES = np.concatenate([np.eye(3), -np.eye(3)])
"""The six directions a chart can face: +x, +y, +z, -x, -y, -z."""
STEEPEST = 0.3
"""Smallest cosine between a face and its chart's axis for a face that may change its chart."""


def box_charts(mesh: Mesh, rounds: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Label each face with a connected chart and the axis that the chart faces.

    Each face starts on the axis nearest to its normal and then joins the majority of its
    neighbours where its normal allows, so that charts get large and their borders short.

    Returns:
        chart (F,) int from 0, axis (F,) int, row of AXES.
    """
    pairs = face_neighbours(mesh)
    facing = face_normals(mesh) @ AXES.T.astype(np.float32)  # (F, 6)
    axis = facing.argmax(axis=1)
    allowed = facing > STEEPEST
    degenerate = ~allowed.any(axis=1)
    allowed[degenerate] = True  # a face without area follows its neighbours anywhere
    for _ in range(rounds):
        votes = np.zeros_like(facing)
        np.add.at(votes, (pairs[:, 0], axis[pairs[:, 1]]), 1.0)
        np.add.at(votes, (pairs[:, 1], axis[pairs[:, 0]]), 1.0)
        score = np.where(allowed, votes + 1.5 * facing, -np.inf)
        changed = score.argmax(axis=1)
        if np.array_equal(changed, axis):
            break
        axis = changed
    same = axis[pairs[:, 0]] == axis[pairs[:, 1]]
    return connected(pairs[same], len(axis)), axis


def face_neighbours(mesh: Mesh) -> np.ndarray:
    """Return the pairs (N, 2) of faces that share an edge; more than two faces may share one."""
    edges = np.sort(mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)  # (3F, 2)
    owner = np.repeat(np.arange(len(mesh.faces)), 3)
    order = np.lexsort((owner, edges[:, 1], edges[:, 0]))
    edges, owner = edges[order], owner[order]
    same = (edges[1:] == edges[:-1]).all(axis=1)
    return np.column_stack([owner[:-1][same], owner[1:][same]])


def shared_edges(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of faces (N, 2) with the two vertices (N,) that they share."""
    pairs = face_neighbours(mesh)
    a, b = mesh.faces[pairs[:, 0]], mesh.faces[pairs[:, 1]]
    shared = (a[:, :, None] == b[:, None, :]).any(axis=2)  # (N, 3) corners of a that b has
    good = shared.sum(axis=1) == 2
    pairs, a, shared = pairs[good], a[good], shared[good]
    both = a[shared].reshape(-1, 2)
    return pairs, both[:, 0], both[:, 1]


def uv_at_vertex(mesh: Mesh, atlas: Atlas, face: np.ndarray, vertex: np.ndarray) -> np.ndarray:
    """Return the UV (N, 2) of mesh vertices (N,) in faces (N,) that have them."""
    corner = (mesh.faces[face] == vertex[:, None]).argmax(axis=1)
    return atlas.uv[atlas.faces[face, corner]]


def connected(pairs: np.ndarray, count: int) -> np.ndarray:
    """Return the component (count,) of each node of a graph with edges pairs (N, 2)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), (count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def corner_uv(mesh: Mesh, axis: np.ndarray) -> np.ndarray:
    """Project each face along its axis: corners (F, 3, 2) in the mesh's unit, not mirrored."""
    across = np.array([[1, 2], [2, 0], [0, 1]])[axis % 3]  # (F, 2): axes of u and v
    corners = mesh.vertices[mesh.faces]  # (F, 3, 3)
    uv = np.take_along_axis(corners, np.repeat(across[:, None], 3, axis=1), axis=2)
    uv[axis >= 3, :, 0] *= -1.0  # seen from the other side
    return uv


def conflict_free(mesh: Mesh, chart: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Split charts that cover a place twice (a spiral, a stair with overhang).

    Args:
        mesh: Gives the neighbours.
        chart: (F,) int.
        uv: (F, 3, 2) projected corners.

    Returns:
        chart (F,) int from 0; no two faces of a chart overlap.
    """
    clash = overlapping_pairs(uv, chart)
    if not len(clash):
        return chart
    enemies: dict[int, set[int]] = {}
    for a, b in clash.tolist():
        enemies.setdefault(a, set()).add(b)
        enemies.setdefault(b, set()).add(a)
    pairs = face_neighbours(mesh)
    pairs = pairs[chart[pairs[:, 0]] == chart[pairs[:, 1]]]
    layer = _layers(pairs, enemies, np.isin(chart, chart[clash[:, 0]]))
    same = layer[pairs[:, 0]] == layer[pairs[:, 1]]
    return connected(pairs[same], len(chart))


def _layers(pairs: np.ndarray, enemies: dict[int, set[int]], concerned: np.ndarray) -> np.ndarray:
    """Number the faces breadth first so that enemies differ and neighbours mostly agree."""
    neighbours: list[list[int]] = [[] for _ in range(len(concerned))]
    for a, b in pairs[concerned[pairs[:, 0]]].tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    layer = np.where(concerned, -1, 0)
    for start in np.flatnonzero(concerned).tolist():
        if layer[start] >= 0:
            continue
        layer[start] = _free(0, start, enemies, layer)
        queue = [start]
        for face in queue:
            for other in neighbours[face]:
                if layer[other] < 0:
                    layer[other] = _free(int(layer[face]), other, enemies, layer)
                    queue.append(other)
    return layer


def _free(wish: int, face: int, enemies: dict[int, set[int]], layer: np.ndarray) -> int:
    taken = {int(layer[e]) for e in enemies.get(int(face), ())}
    if wish not in taken:
        return wish
    return next(k for k in range(len(taken) + 1) if k not in taken)


def overlapping_pairs(uv: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the pairs (N, 2) of triangles of one group that overlap in the plane.

    Triangles that share an edge or a corner do not overlap: each is shrunk by 1e-5 first.

    Args:
        uv: (F, 3, 2).
        group: (F,) int.
    """
    middle = uv.mean(axis=1, keepdims=True)
    small = middle + (uv - middle) * (1.0 - 1e-5)
    low, high = small.min(axis=1), small.max(axis=1)
    pairs = _box_pairs(low, high, group)
    keep = np.ones(len(pairs), bool)
    for first, second in ((0, 1), (1, 0)):
        a, b = small[pairs[:, first]], small[pairs[:, second]]
        for k in range(3):
            side = a[:, (k + 1) % 3] - a[:, k]
            normal = np.stack([-side[:, 1], side[:, 0]], axis=1)
            inner = np.einsum("nkc,nc->nk", a, normal)
            outer = np.einsum("nkc,nc->nk", b, normal)
            keep &= (outer.max(1) > inner.min(1)) & (outer.min(1) < inner.max(1))
    return pairs[keep]


def _box_pairs(low: np.ndarray, high: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Pairs of boxes of one group that overlap, by sweeping each group along u."""
    order = np.lexsort((low[:, 0], group))
    span = float(high[:, 0].max() - low[:, 0].min()) + 1.0
    start = low[order, 0] + group[order] * 2.0 * span  # groups lie apart on one line
    end = high[order, 0] + group[order] * 2.0 * span
    last = np.searchsorted(start, end)
    found = []
    block = 2_000_000
    count = np.maximum(last - np.arange(len(order)) - 1, 0)
    cuts = np.searchsorted(np.cumsum(count), np.arange(0, count.sum() + block, block), "right")
    for begin, stop in zip(cuts[:-1], [*cuts[1:-1], len(order)], strict=True):
        many = count[begin:stop]
        a = np.repeat(np.arange(begin, stop), many)
        b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(many) - many, many)
        a, b = order[a], order[b]
        meet = (low[a, 1] < high[b, 1]) & (low[b, 1] < high[a, 1])
        found.append(np.column_stack([a[meet], b[meet]]))
    return np.concatenate(found) if found else np.zeros((0, 2), np.int64)
