"""Measures of pictures and texture maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.render.raycast import face_normals
from seed3d.render.shade import bilinear
from seed3d.texture.charts import face_neighbours
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
QUANTUM = 0.5 / 255.0
"""Jump that rounding to 8 bits alone makes: added to both sides of the ratio."""


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
    mesh: Mesh, atlas: Atlas, image: np.ndarray, true: np.ndarray | None = None, fewest: int = 20
) -> float | None:
    """Mean colour jump over the edges where charts meet, relative to edges inside charts.

    Colours are looked up half a mean texel to either side of each edge's middle, measured on the
    surface, since charts may be stretched at their borders. Only smooth edges
    count, since colours may well change at a crease; jumps are weighted by the edge's length.

    Args:
        mesh: Any frame.
        atlas: Of the mesh.
        image: (T, T, 3) uint8 sRGB, the map.
        true: The true map (T, T, 3): edges where its colours jump (two materials meet) don't count.
        fewest: Edges of either kind below which there's no ratio.

    Returns:
        1 where seams can't be told from the rest; None with too few edges.
    """
    pairs, tail, head = _shared_edges(mesh)
    normal = face_normals(mesh)
    bend = np.einsum("nc,nc->n", normal[pairs[:, 0]], normal[pairs[:, 1]])
    smooth = bend > np.cos(SMOOTH_RAD)
    pairs, tail, head = pairs[smooth], tail[smooth], head[smooth]
    if not len(pairs):
        return None
    step = STEP_TEXELS * _texel_side(mesh, atlas, len(image))
    side = [_beside(mesh, atlas, pairs[:, k], tail, head, step) for k in (0, 1)]
    jump = _jump(image, *side)
    if true is not None:
        even = _jump(true, *side) < MATERIAL_JUMP
        pairs, tail, head, jump = pairs[even], tail[even], head[even], jump[even]
    seam = _is_seam(mesh, atlas, pairs, tail, head)
    if min(seam.sum(), (~seam).sum()) < fewest:
        return None
    length = np.linalg.norm(mesh.vertices[tail] - mesh.vertices[head], axis=1)
    across = float(np.average(jump[seam], weights=length[seam]))
    inside = float(np.average(jump[~seam], weights=length[~seam]))
    return (across + QUANTUM) / (inside + QUANTUM)


def _jump(image: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    table = np.arange(256, dtype=np.float32) / 255.0
    return np.abs(bilinear(image, first, table) - bilinear(image, second, table)).mean(axis=1)


def _shared_edges(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of faces (N, 2) with the two vertices (N,) that they share."""
    pairs = face_neighbours(mesh)
    a, b = mesh.faces[pairs[:, 0]], mesh.faces[pairs[:, 1]]
    shared = (a[:, :, None] == b[:, None, :]).any(axis=2)  # (N, 3) corners of a that b has
    good = shared.sum(axis=1) == 2
    pairs, a, shared = pairs[good], a[good], shared[good]
    both = a[shared].reshape(-1, 2)
    return pairs, both[:, 0], both[:, 1]


def _corner(mesh: Mesh, face: np.ndarray, vertex: np.ndarray) -> np.ndarray:
    return (mesh.faces[face] == vertex[:, None]).argmax(axis=1)


def _is_seam(
    mesh: Mesh, atlas: Atlas, pairs: np.ndarray, tail: np.ndarray, head: np.ndarray
) -> np.ndarray:
    same = np.ones(len(pairs), bool)
    for vertex in (tail, head):
        first, second = (
            atlas.faces[pairs[:, k], _corner(mesh, pairs[:, k], vertex)] for k in (0, 1)
        )
        same &= np.abs(atlas.uv[first] - atlas.uv[second]).max(axis=1) < 1e-6
    return ~same


def _texel_side(mesh: Mesh, atlas: Atlas, size: int) -> float:
    """Mean side of a texel on the surface [unit of the mesh]."""
    corners = mesh.vertices[mesh.faces]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = float(np.linalg.norm(sides, axis=1).sum()) / 2.0
    return (area / max(atlas.utilisation, 1e-6)) ** 0.5 / size


def _beside(
    mesh: Mesh, atlas: Atlas, face: np.ndarray, tail: np.ndarray, head: np.ndarray, step: float
) -> np.ndarray:
    """UV (N, 2) of the point `step` into each face from the middle of its edge."""
    uv = atlas.uv[atlas.faces[face]]  # (N, 3, 2)
    row = np.arange(len(face))
    ends = [uv[row, _corner(mesh, face, v)] for v in (tail, head)]
    middle = (ends[0] + ends[1]) / 2.0
    inward = uv.sum(axis=1) - ends[0] - ends[1] - middle
    a, b = mesh.vertices[tail], mesh.vertices[head]
    opposite = mesh.vertices[mesh.faces[face]].sum(axis=1) - a - b
    length = np.linalg.norm(b - a, axis=1)
    height = np.linalg.norm(np.cross(b - a, opposite - a), axis=1) / np.maximum(length, 1e-12)
    share = np.minimum(step / np.maximum(height, 1e-12), 1.0 / 3.0)
    return middle + inward * share[:, None]
