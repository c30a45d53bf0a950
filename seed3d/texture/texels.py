"""Texels as points on the surface: where each lies, and how to write their values to a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.conventions import linear_to_srgb
from seed3d.errors import StageError
from seed3d.render.normals import corner_normals
from seed3d.render.raycast import Caster, face_normals
from seed3d.types import Atlas, Mesh

RIM = 1.5
"""Texels this far [texel] outside a chart are given the colour of the place they'd continue to."""
BLOCK = 1 << 20
"""Texels looked up at a time."""


@dataclass(frozen=True)
class Texels:
    """The N texels whose centre lies inside a chart, row by row from the top (v = 1)."""

    covered: np.ndarray
    """(T, T) bool."""
    face: np.ndarray
    """(N,) int."""
    position: np.ndarray
    """(N, 3) float32, frame of the mesh."""
    normal: np.ndarray
    """(N, 3) float32 unit, smooth inside creases."""
    flat_normal: np.ndarray
    """(N, 3) float32 unit normal of the face."""


def chart_texels(mesh: Mesh, atlas: Atlas, size: int) -> Texels:
    """Find the surface point under each texel's centre.

    Args:
        mesh: The atlas's mesh.
        atlas: Face i is face i of the mesh.
        size: Side of the map [texel].

    Raises:
        StageError: No texel lies inside a chart.
    """
    sheet = Mesh(np.column_stack([atlas.uv, np.zeros(len(atlas.uv))]), atlas.faces)
    face, bary = _under_centres(Caster(sheet), size)
    covered = face >= 0
    if not covered.any():
        raise StageError(f"texture: no chart covers a texel of {size} x {size}; raise texture.size")
    face, bary = face[covered], bary[covered]
    corners = mesh.vertices.astype(np.float32)[mesh.faces[face]]  # (N, 3, 3)
    flat = face_normals(mesh)[face]
    normal = np.einsum("nk,nkc->nc", bary, corner_normals(mesh).astype(np.float32)[face])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.where(length > 1e-6, normal / np.maximum(length, 1e-6), flat)
    position = np.einsum("nk,nkc->nc", bary, corners)
    return Texels(covered.reshape(size, size), face, position, normal, flat)


def with_rim(texels: Texels, mesh: Mesh, atlas: Atlas) -> tuple[Texels, np.ndarray]:
    """Add the texels just outside the charts, where their faces' planes go on.

    A look-up between texels at a chart's border touches them. With the colour of the place that
    they'd show if the face went on, both charts that meet at a seam agree on it.

    Args:
        texels: Of `chart_texels`.
        mesh: Theirs.
        atlas: Theirs.

    Returns:
        Texels, row by row as before; inner (M,) bool: those inside a chart.
    """
    from scipy.ndimage import distance_transform_edt

    size = len(texels.covered)
    found: Any = distance_transform_edt(~texels.covered, return_indices=True)
    away, nearest = found
    covered = away <= RIM
    number = np.full(texels.covered.shape, -1, np.int64)
    number[texels.covered] = np.arange(len(texels.face))
    row, column = np.nonzero(covered)
    base_row, base_column = nearest[0][covered], nearest[1][covered]
    source = number[base_row, base_column]
    step = np.column_stack([column - base_column, base_row - row]) / size  # v grows upwards
    inner = texels.covered[covered]
    position = texels.position[source]
    outside = np.flatnonzero(~inner)
    slope = _surface_slope(mesh, atlas, texels.face[source[outside]])
    position[outside] += np.einsum("ncd,nd->nc", slope, step[outside]).astype(np.float32)
    return Texels(
        covered, texels.face[source], position, texels.normal[source], texels.flat_normal[source]
    ), inner


def _surface_slope(mesh: Mesh, atlas: Atlas, face: np.ndarray) -> np.ndarray:
    """Change of the position by u and v (N, 3, 2) on faces; 0 where a face has no area in UV."""
    corners, uv = mesh.vertices[mesh.faces[face]], atlas.uv[atlas.faces[face]]
    sides = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)  # (N, 3, 2)
    (a, b), (c, d) = np.moveaxis(np.swapaxes(uv[:, 1:] - uv[:, :1], 1, 2), 0, -1)
    area = a * d - b * c
    flat = np.abs(area) < 1e-12
    inverse = np.array([[d, -b], [-c, a]]) / np.where(flat, 1.0, area)
    slope = np.einsum("nck,kdn->ncd", sides, inverse)
    slope[flat] = 0.0
    return slope


def _under_centres(sheet: Caster, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Face (T*T,) and weights (T*T, 3) under each texel's centre, in bands of rows for memory."""
    center = (np.arange(size) + 0.5) / size
    down = np.array([0.0, 0.0, -1.0])
    face, bary = np.empty(size * size, np.int64), np.empty((size * size, 3), np.float32)
    band = max(1, BLOCK // size)
    for row in range(0, size, band):
        u, v = np.meshgrid(center, center[::-1][row : row + band])
        above = np.column_stack([u.ravel(), v.ravel(), np.ones(u.size)])
        hits = sheet.cast(above, np.broadcast_to(down, above.shape))
        part = slice(row * size, row * size + u.size)
        face[part], bary[part] = hits.face, hits.bary
    return face, bary


def spread(values: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Return a map (T, T, C): values (N, C) of the covered texels, else the nearest one's.

    Charts so continue past their edge, and no texel of the map is left without a colour.
    """
    from scipy.ndimage import distance_transform_edt

    out = np.zeros((*covered.shape, values.shape[1]), values.dtype)
    out[covered] = values
    nearest: Any = distance_transform_edt(~covered, return_distances=False, return_indices=True)
    return out[nearest[0], nearest[1]]


def color_map(linear: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Return the sRGB map (T, T, 3) uint8 of linear texel colours (N, 3)."""
    srgb = np.clip(linear_to_srgb(linear), 0.0, 1.0)
    return spread((srgb * 255.0 + 0.5).astype(np.uint8), covered)


def packed_map(roughness: np.ndarray, metallic: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Return glTF's metallic-roughness map (T, T, 3) uint8 of texel values (N,) in [0, 1]."""
    packed = np.stack([np.ones_like(roughness), roughness, metallic], axis=1)
    return spread((np.clip(packed, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8), covered)


def flat_normal_map(size: int) -> np.ndarray:
    """Return the normal map (T, T, 3) uint8 of a surface without relief."""
    return np.broadcast_to(np.array([128, 128, 255], np.uint8), (size, size, 3)).copy()
