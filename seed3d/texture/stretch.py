"""How evenly an atlas spreads the texture over the surface."""

from __future__ import annotations

import numpy as np

from seed3d.types import Atlas, Mesh


def atlas_stretch(mesh: Mesh, atlas: Atlas) -> float:
    """Return the L2 stretch of an atlas: 1 where every chart keeps lengths, at one common scale.

    Root mean square over the surface of the singular values of the map from UV to space, times
    the square root of the areas' ratio (Sander et al., "Texture Mapping Progressive Meshes",
    2001, eq. 3). Faces without area in UV are left out.

    Args:
        mesh: Any unit.
        atlas: Of the mesh.
    """
    corners, uv = mesh.vertices[mesh.faces], atlas.uv[atlas.faces]
    sides = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)  # (F, 3, 2)
    flat = np.swapaxes(uv[:, 1:] - uv[:, :1], 1, 2)  # (F, 2, 2)
    area = np.linalg.norm(np.cross(sides[..., 0], sides[..., 1]), axis=1) / 2.0
    uv_area = np.abs(np.linalg.det(flat)) / 2.0
    good = (uv_area > 1e-14) & (area > 0)
    slope = sides[good] @ np.linalg.inv(flat[good])  # d position / d uv
    squares = (slope**2).sum(axis=(1, 2)) / 2.0  # mean of the squared singular values
    mean = np.average(squares, weights=area[good])
    return float(np.sqrt(mean * uv_area[good].sum() / area[good].sum()))
