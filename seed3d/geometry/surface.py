"""SDF field to triangles, coarse to fine: full resolution only where the surface passes."""

from __future__ import annotations

import numpy as np

from seed3d.errors import StageError
from seed3d.types import Mesh


def extract(field: np.ndarray) -> Mesh:
    """Marching cubes of a signed field on voxel centres of the cube [-1, 1]^3.

    Args:
        field: (R, R, R) float32, indexed [x, y, z], negative inside.

    Returns:
        Closed mesh in canonical coordinates, outward winding.

    Raises:
        StageError: The field has no inside.
    """
    from skimage.measure import marching_cubes

    if not (field < 0).any():
        raise StageError(
            "the decoded field is empty: no point is inside; try another --seed, or a photo that "
            "shows the whole object"
        )
    resolution = len(field)
    padded = np.pad(field, 1, constant_values=max(float(np.abs(field).max()), 1e-3))
    vertices, faces, _, _ = marching_cubes(padded, 0.0, gradient_direction="descent")
    vertices = (vertices - 0.5) / resolution * 2.0 - 1.0  # the pad moves voxel centres by one
    return Mesh(vertices.astype(np.float64), faces.astype(np.int64))
