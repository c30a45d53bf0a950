"""Measures of pictures and texture maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.render.raycast import face_normals
from seed3d.render.shade import bilinear
from seed3d.texture.charts import shared_edges, uv_at_vertex
from seed3d.texture.texels import Texels, chart_texels
from seed3d.types import Atlas, Mesh

CAP_DB = 60.0
"""PSNR of equal pictures."""
BLACK, WHITE = 5, 250
"""Values [of 255] up to which a texel is black, and from which it is as white as the background."""
UNLIKE_TRUTH = 20
"""A texel is bad only where the true one is this far [of 255] from the same limit."""
SMOOTH_RAD = 0.6
"""Edges bent more than this are creases: colours may jump there."""
MATERIAL_JUMP = 0.03
"""Jump of the true colours [sRGB] from which an edge is one between two materials."""
STEP_TEXELS = 0.5
"""Distance from an edge at which the colour on either side is looked up [mean texel side]."""
APART_TEXELS = 4.0
"""Distance between two places on one edge where its colours are looked up [mean texel side]."""
LEVEL = 1.0 / 255.0
"""Least jump that counts [sRGB]: one 8-bit level. No screen shows less, and rounding alone makes
half of one."""
BEND_CLASSES_RAD = (0.05, 0.1, 0.2, 0.3, 0.45)
"""Bounds between classes of bend: seams are compared with edges inside of the same class."""
BESIDE_TEXELS = 2.0
"""Edges this near to one between two materials [mean texel side] don't count either: a photo shows
the materials' border over a pixel or two."""


def psnr(found: np.ndarray, true: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Peak signal-to-noise ratio [dB] of pictures (H, W, 3) in [0, 1].

    Args:
        found: Picture.
        true: Alike.
        weight: (H, W): share that each pixel counts; all alike where None.
    """
    error = ((found.astype(np.float64) - true) ** 2).mean(axis=-1)
    mean = float(np.average(error, weights=weight))
    return min(CAP_DB, -10.0 * np.log10(max(mean, 1e-12)))


def ssim(found: np.ndarray, true: np.ndarray) -> float:
    """Structural similarity (Wang et al. 2004) of pictures (H, W, 3) in [0, 1]."""
    from skimage.metrics import structural_similarity

    value: Any = structural_similarity(
        found, true, channel_axis=-1, data_range=1.0, gaussian_weights=True, sigma=1.5,
        use_sample_covariance=False,
    )  # fmt: skip
    return float(value)


def bad_texels(color: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Return (N,) bool: texels (N, 3) uint8 that are black or white where the truth is neither."""
    found, true = color.astype(np.int64), true.astype(np.int64)
    black = (found.max(axis=1) <= BLACK) & (true.max(axis=1) > BLACK + UNLIKE_TRUTH)
    white = (found.min(axis=1) >= WHITE) & (true.min(axis=1) < WHITE - UNLIKE_TRUTH)
    return black | white


def seam_jump_ratio(
    mesh: Mesh,
    atlas: Atlas,
    image: np.ndarray,
    true: np.ndarray | None = None,
    texels: Texels | None = None,
    fewest: int = 20,
) -> float | None:
    """Mean colour jump over the edges where charts meet, relative to edges inside charts.

    ratio = max(mean jump at seams, LEVEL) / max(mean jump inside, LEVEL), so that an object of
    one colour has the ratio 1. Colours are looked up along each edge, half a mean texel to either
    side, measured on the surface, since charts may be stretched at their borders: both
    kinds of edges so compare places that are equally far apart. Only smooth edges count, since
    colours may well change at a crease. Charts end where the surface bends, and light changes
    there, seam or not: seams of each class of bend are compared with edges inside of the same
    class, weighted by the seams' length. Jumps are weighted by the length of edge that they stand for.

    Args:
        mesh: Any frame.
        atlas: Of the mesh.
        image: (T, T, 3) uint8 sRGB, the map.
        true: The true map (T, T, 3): places where its colours jump (two materials meet), and those
            next to one, don't count.
        texels: Of `chart_texels`, T wide; found where None.
        fewest: Places of either kind below which there's no ratio.

    Returns:
        1 where seams can't be told from the rest; None with too few edges.
    """
    pairs, tail, head = shared_edges(mesh)
    normal = face_normals(mesh)
    bend = np.einsum("nc,nc->n", normal[pairs[:, 0]], normal[pairs[:, 1]])
    smooth = bend > np.cos(SMOOTH_RAD)
    pairs, tail, head, bend = pairs[smooth], tail[smooth], head[smooth], bend[smooth]
    if not len(pairs):
        return None
    seam = _is_seam(mesh, atlas, pairs, tail, head)
    texel = _texel_side(mesh, atlas, len(image))
    edge, share, length = _along(mesh, tail, head, APART_TEXELS * texel)
    pairs, tail, head, seam, bend = (x[edge] for x in (pairs, tail, head, seam, bend))
    side = [
        _beside(mesh, atlas, pairs[:, k], tail, head, share, STEP_TEXELS * texel) for k in (0, 1)
    ]
    jump = _jump(image, *side)
    if true is not None:
        texels = texels or chart_texels(mesh, atlas, len(image))
        place = mesh.vertices[tail] * (1.0 - share) + mesh.vertices[head] * share
        even = _jump(true, *side) < MATERIAL_JUMP
        even &= _borders_away(true, texels, place) > BESIDE_TEXELS * texel
        jump, bend, seam, length = jump[even], bend[even], seam[even], length[even]
    if min(seam.sum(), (~seam).sum()) < fewest:
        return None
    kind = np.digitize(np.arccos(np.minimum(bend, 1.0)), BEND_CLASSES_RAD)
    many = len(BEND_CLASSES_RAD) + 1
    total = [
        [np.bincount(kind[k], w[k], many) for w in (length, length * jump)] for k in (seam, ~seam)
    ]
    (across, across_jump), (inside, inside_jump) = total
    both = (across > 0) & (inside > 0)
    if not both.any():
        return None
    weight = across[both]
    found, expected = (
        float(np.average(j[both] / n[both], weights=weight))
        for j, n in ((across_jump, across), (inside_jump, inside))
    )
    return max(found, LEVEL) / max(expected, LEVEL)


def _borders_away(true: np.ndarray, texels: Texels, point: np.ndarray) -> np.ndarray:
    """Distance (N,) of points (N, 3) to the nearest place where the true map's colours jump."""
    from scipy.spatial import cKDTree

    number = np.full(texels.covered.shape, -1, np.int64)
    number[texels.covered] = np.arange(len(texels.face))
    found = []
    for a, b in (
        (np.s_[:, :-1], np.s_[:, 1:]),
        (np.s_[:-1], np.s_[1:]),
    ):
        gap = np.abs(true[a].astype(np.int16) - true[b]).mean(axis=-1) / 255.0
        found.append(number[a][texels.covered[a] & texels.covered[b] & (gap > MATERIAL_JUMP)])
    border = np.concatenate(found)
    if not len(border):
        return np.full(len(point), np.inf)
    return cKDTree(texels.position[border]).query(point)[0]


def _jump(image: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    table = np.arange(256, dtype=np.float32) / 255.0
    return np.abs(bilinear(image, first, table) - bilinear(image, second, table)).mean(axis=1)


def _is_seam(
    mesh: Mesh, atlas: Atlas, pairs: np.ndarray, tail: np.ndarray, head: np.ndarray
) -> np.ndarray:
    same = np.ones(len(pairs), bool)
    for vertex in (tail, head):
        first, second = (uv_at_vertex(mesh, atlas, pairs[:, k], vertex) for k in (0, 1))
        same &= np.abs(first - second).max(axis=1) < 1e-6
    return ~same


def _texel_side(mesh: Mesh, atlas: Atlas, size: int) -> float:
    """Mean side of a texel on the surface [unit of the mesh]."""
    corners = mesh.vertices[mesh.faces]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = float(np.linalg.norm(sides, axis=1).sum()) / 2.0
    return (area / max(atlas.utilisation, 1e-6)) ** 0.5 / size


def _along(
    mesh: Mesh, tail: np.ndarray, head: np.ndarray, apart: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places on edges (N,), about `apart` from each other, at least one on each.

    Returns:
        edge (S,), share (S, 1) of the way from tail to head, length (S,) that each stands for.
    """
    length = np.linalg.norm(mesh.vertices[tail] - mesh.vertices[head], axis=1)
    many = np.maximum(np.ceil(length / max(apart, 1e-12)), 1).astype(np.int64)
    edge = np.repeat(np.arange(len(many)), many)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(many) - many, many)
    return edge, ((step + 0.5) / many[edge])[:, None], length[edge] / many[edge]


def _beside(
    mesh: Mesh, atlas: Atlas, face: np.ndarray, tail: np.ndarray, head: np.ndarray,
    share: np.ndarray, step: float,
) -> np.ndarray:  # fmt: skip
    """UV (N, 2) of the point `step` into each face, square to its edge, from `share` (N, 1) of it.

    Less far where the face ends before: half-way across it.
    """
    uv = atlas.uv[atlas.faces[face]]  # (N, 3, 2)
    ends = [uv_at_vertex(mesh, atlas, face, v) for v in (tail, head)]
    a, b = mesh.vertices[tail], mesh.vertices[head]
    edge, corner = b - a, mesh.vertices[mesh.faces[face]].sum(axis=1) - a - b - a
    foot = (edge * corner).sum(axis=1, keepdims=True) / np.maximum(
        (edge * edge).sum(axis=1, keepdims=True), 1e-24
    )
    height = np.linalg.norm(corner - foot * edge, axis=1, keepdims=True)
    square = uv.sum(axis=1) - ends[0] - ends[1] - ends[0] - foot * (ends[1] - ends[0])
    # Up to the two other sides, as a share of the height; one of them may lean away.
    room = np.minimum(
        np.where(foot > 0, share / np.maximum(foot, 1e-12), np.inf),
        np.where(foot < 1, (1.0 - share) / np.maximum(1.0 - foot, 1e-12), np.inf),
    )
    deep = np.minimum(step / np.maximum(height, 1e-12), 0.5 * np.minimum(room, 1.0))
    return ends[0] * (1.0 - share) + ends[1] * share + square * deep
