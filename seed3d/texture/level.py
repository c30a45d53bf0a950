"""Seam levelling: charts that meet agree on the colour along the edges that they share.

Each chart is painted on texels of its own, so both sides of a border read the same surface at
slightly different places; where the surface is bent, narrow or completed they then differ. The
differences are spread into the charts by a smooth correction (Lempitsky and Ivanov, "Seamless
mosaicing of image-based texture maps", 2007), here on texels in place of vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.render.raycast import face_normals
from seed3d.texture.charts import connected, shared_edges, uv_at_vertex
from seed3d.texture.texels import Texels, spread
from seed3d.types import Atlas, Mesh

SMOOTH_RAD = 0.6
"""Seams bent more than this are creases of the shape: colours may jump there."""
REAL_JUMP = 0.15
"""Jump [sRGB] from which two sides that the photo shows both are two materials, left as they are."""
REACH_TEXELS = 8.0
"""Distance from a seam over which a correction fades."""
TIE = 8.0
"""Weight of one texel's length of seam against the smoothness between two texels."""
HELD = 8.0
"""Times that a texel which the photo shows resists a change more than a completed one."""
MOST_STEPS = 150


def level_seams(
    color: np.ndarray, trust: np.ndarray, texels: Texels, mesh: Mesh, atlas: Atlas
) -> np.ndarray:
    """Return colours (N, C) float32 that meet along smooth seams.

    The correction d minimises TIE |jump of color + d|^2 over the seams + |grad d|^2 +
    |d|^2 / REACH_TEXELS^2 (more where the photo shows the texel).

    Args:
        color: (N, C) sRGB of the texels.
        trust: (N,) in [0, 1]: how far the photo shows them.
        texels: With their rim, of `with_rim`.
        mesh: Theirs.
        atlas: Theirs.
    """
    from scipy.sparse import diags
    from scipy.sparse.linalg import cg

    jump, length = _seam_rows(texels, mesh, atlas)
    if not jump.shape[0]:
        return color.astype(np.float32)
    gap = np.abs(jump @ color).max(axis=1)
    shown = np.abs(jump) @ trust / 2.0  # both sides' weights are 1
    tie = TIE * length * ((gap < REAL_JUMP) | (shown < 0.75))
    near = _near(np.unique(jump.indices), texels.covered)
    jump, held = jump[:, near], trust[near].astype(np.float64)
    links = _links(near, texels, mesh, atlas)
    degree = np.asarray(links.sum(axis=1)).ravel()
    hold = (1.0 + HELD * held) / REACH_TEXELS**2
    pull: Any = jump.T @ diags(tie)
    system = (diags(degree + hold) - links + pull @ jump).tocsr()
    scale = diags(1.0 / system.diagonal())
    out = color.astype(np.float32)
    for channel in range(color.shape[1]):
        wish = -(pull @ (jump @ color[near, channel].astype(np.float64)))
        change, _ = cg(system, wish, rtol=1e-3, maxiter=MOST_STEPS, M=scale)
        out[near, channel] += change.astype(np.float32)
    return out


def _seam_rows(texels: Texels, mesh: Mesh, atlas: Atlas) -> tuple[Any, np.ndarray]:
    """Sparse (S, N): colour on one side of a seam minus that on the other, about once per texel.

    Also the length (S,) of seam [texel] that each row stands for.
    """
    size = len(texels.covered)
    pairs, tail, head = shared_edges(mesh)
    normal = face_normals(mesh)
    bend = np.einsum("nc,nc->n", normal[pairs[:, 0]], normal[pairs[:, 1]])
    ends = np.stack(
        [
            np.stack([uv_at_vertex(mesh, atlas, pairs[:, k], v) for v in (tail, head)])
            for k in (0, 1)
        ]
    )  # (2 sides, 2 ends, N, 2)
    apart = np.abs(ends[0] - ends[1]).max(axis=(0, 2)) > 1e-6
    ends = ends[:, :, apart & (bend > np.cos(SMOOTH_RAD))]
    texel = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=-1).mean(axis=0) * size
    many = np.maximum(np.ceil(texel), 1).astype(np.int64)
    edge = np.repeat(np.arange(len(many)), many)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(many) - many, many)
    share = ((step + 0.5) / many[edge])[:, None]
    uv = ends[:, 0, edge] * (1.0 - share) + ends[:, 1, edge] * share  # (2, S, 2)
    number = _texel_numbers(texels)
    rows = _look_up(uv[0], number, len(texels.face)) - _look_up(uv[1], number, len(texels.face))
    return rows.tocsr(), texel[edge] / many[edge]


def _texel_numbers(texels: Texels) -> np.ndarray:
    """(T, T) int: which texel's colour the finished map has at each place, as `spread` does it."""
    return spread(np.arange(len(texels.face))[:, None], texels.covered)[..., 0]


def _look_up(uv: np.ndarray, number: np.ndarray, count: int) -> Any:
    """Sparse (S, count): the bilinear look-up at uv (S, 2) in the map."""
    from scipy.sparse import coo_matrix

    size = len(number)
    x, y = uv[:, 0] * size - 0.5, (1.0 - uv[:, 1]) * size - 0.5
    left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = x - left, y - top
    row = np.arange(len(uv))
    parts = [
        (number[(top + dy) % size, (left + dx) % size], wx * wy)
        for dy, wy in ((0, 1.0 - fy), (1, fy))
        for dx, wx in ((0, 1.0 - fx), (1, fx))
    ]
    column = np.concatenate([p[0] for p in parts])
    weight = np.concatenate([p[1] for p in parts])
    return coo_matrix((weight, (np.tile(row, 4), column)), (len(uv), count)).tocsr()


def _near(seam: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Texels (M,) int that a correction can reach from those at seams (S,) int."""
    from scipy.ndimage import distance_transform_edt

    row, column = np.nonzero(covered)
    far = np.ones(covered.shape, bool)
    far[row[seam], column[seam]] = False
    away: Any = distance_transform_edt(far)
    return np.flatnonzero(away[covered] <= 4.0 * REACH_TEXELS)


def _links(near: np.ndarray, texels: Texels, mesh: Mesh, atlas: Atlas) -> Any:
    """Symmetric (M, M) sparse: 1 between texels `near` (M,) side by side in one chart."""
    from scipy.sparse import coo_matrix

    edges = np.concatenate([atlas.faces[:, [0, 1]], atlas.faces[:, [1, 2]]])
    chart = connected(edges, len(atlas.vertex))[atlas.faces[:, 0]][texels.face[near]]
    row, column = (place[near] for place in np.nonzero(texels.covered))
    number = np.full(texels.covered.shape, -1, np.int64)
    number[row, column] = np.arange(len(near))
    a = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    b = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    a, b = (x[(a >= 0) & (b >= 0)] for x in (a, b))
    same = chart[a] == chart[b]
    a, b = a[same], b[same]
    half = coo_matrix((np.ones(len(a)), (a, b)), (len(near),) * 2).tocsr()
    return half + half.T
