"""Colours for surface that no view shows: carried along the surface from what is seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.render.raycast import Caster

NEIGHBOURS = 8
"""Links per texel in the surface graph."""
BOARD = 0.3
"""Thickness [canonical units] up to which both sides of a part are taken to look alike."""
BOARD_LINK = 0.5
"""Weight of the link through a board; a link to a close texel on the surface is at most 1."""
ANCHOR = 1e-4
"""Pull towards the nearest seen colour, in shares of a texel's links: decides only on surface
that no link reaches."""
NORMAL_REACH = 0.12
"""Distance [canonical units] that counts as much as a quarter turn of the surface."""


def complete(
    caster: Caster, position: np.ndarray, normal: np.ndarray, color: np.ndarray, trust: np.ndarray
) -> np.ndarray:
    """Return a smooth colour for every texel that keeps what is seen.

    Solves the weighted Laplace equation over the graph of neighbouring texels: seen texels are
    held by their trust, the rest takes the weighted mean of its neighbours. A handle so colours
    the body only around its joints, not all that lies near it. The two sides of a board are
    neighbours too.

    Args:
        caster: Of the mesh.
        position: (N, 3) canonical frame.
        normal: (N, 3) unit.
        color: (N, C) linear; anything where trust is 0.
        trust: (N,) in [0, 1], at least one above 0.05.

    Returns:
        (N, C) float32 linear.
    """
    from scipy.sparse import diags
    from scipy.sparse.linalg import cg

    anchor = _nearest_seen(position, normal, color, trust)
    links = _surface_graph(position, normal) + _board_links(caster, position, normal)
    degree = np.asarray(links.sum(axis=1)).ravel() + 1e-6
    hold = 4.0 * degree * trust.astype(np.float64)
    pull = ANCHOR * degree
    system = diags(degree + hold + pull) - links
    scale = diags(1.0 / (degree + hold + pull))
    out = np.empty((len(position), color.shape[1]), np.float32)
    for channel in range(color.shape[1]):
        wish = hold * color[:, channel] + pull * anchor[:, channel]
        # The start is a colour already, so stopping early costs smoothness, not validity.
        solved, _ = cg(system, wish, anchor[:, channel], rtol=1e-3, maxiter=120, M=scale)
        out[:, channel] = solved
    return np.clip(out, 0.0, None)


def _surface_graph(position: np.ndarray, normal: np.ndarray) -> Any:
    """Symmetric link weights (N, N) sparse: close texels that face alike."""
    from scipy.sparse import coo_matrix
    from scipy.spatial import cKDTree

    count = min(NEIGHBOURS + 1, len(position))
    distance, index = cKDTree(position).query(position, k=count)
    distance, index = distance.reshape(-1, count)[:, 1:], index.reshape(-1, count)[:, 1:]
    near = float(np.median(distance)) if distance.size else 1.0
    alike = np.einsum("nc,nkc->nk", normal, normal[index])
    weight = np.exp(-((distance / (2.0 * near + 1e-9)) ** 2)) * np.clip(alike, 0.02, 1.0)
    row = np.repeat(np.arange(len(position)), count - 1)
    half = coo_matrix((weight.ravel(), (row, index.ravel())), (len(position),) * 2).tocsr()
    return half + half.T


def _board_links(caster: Caster, position: np.ndarray, normal: np.ndarray) -> Any:
    """Symmetric link weights (N, N) sparse between points on the two sides of thin parts."""
    from scipy.sparse import coo_matrix
    from scipy.spatial import cKDTree

    hits = caster.cast(position - 1e-3 * normal, -normal)
    thin = np.flatnonzero(hits.distance < BOARD)
    exit_ = position[thin] - normal[thin] * (hits.distance[thin, None] + 1e-3)
    thin_normal = caster.face_normals[hits.face[thin]]
    parallel = np.einsum("nc,nc->n", normal[thin], thin_normal) < -0.7
    thin, exit_ = thin[parallel], exit_[parallel]
    if not len(thin):
        return coo_matrix((len(position),) * 2).tocsr()
    _, other = cKDTree(position).query(exit_)
    weight = np.full(len(thin), BOARD_LINK / 2.0)
    half = coo_matrix((weight, (thin, other)), (len(position),) * 2).tocsr()
    return half + half.T


def _nearest_seen(
    position: np.ndarray, normal: np.ndarray, color: np.ndarray, trust: np.ndarray
) -> np.ndarray:
    """Mean colour (N, C) of the nearest seen surface.

    Near means close and parallel: both sides of a board count as one surface.
    """
    from scipy.spatial import cKDTree

    line = np.einsum("ni,nj->nij", normal, normal).reshape(-1, 9)  # n and -n alike
    place = np.column_stack([position, line * (NORMAL_REACH / 2**0.5)])  # (N, 12)
    source = np.flatnonzero(trust > 0.05)
    source = source[:: max(1, len(source) // 3_000)]
    many = min(8, len(source))
    distance, index = cKDTree(place[source]).query(place, k=many)
    distance, index = distance.reshape(-1, many), source[index.reshape(-1, many)]
    reach = distance[:, :1] + 0.05  # farther texels average over more of the surface
    weight = trust[index] * np.exp(-((distance / reach) ** 2))
    weight = (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)
    return np.einsum("nk,nkc->nc", weight, color[index])
