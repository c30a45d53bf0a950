"""SDF field to triangles, coarse to fine: full resolution only where the surface passes."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class MainBody:
    """The largest connected piece of a generated surface."""

    mesh: Mesh
    dropped: int
    """Other pieces that were left out."""
    dropped_share: float
    """Their volume over that of all pieces."""


def main_body(mesh: Mesh) -> MainBody:
    """Keep the piece with the largest volume: one photo shows one rigid body, crumbs are noise.

    Args:
        mesh: Closed, outward winding; pieces that lie inside others count as crumbs too.
    """
    import trimesh

    whole = mesh.to_trimesh()
    pieces = trimesh.graph.connected_components(whole.face_adjacency, min_len=1)
    if len(pieces) == 1:
        return MainBody(mesh, 0, 0.0)
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    volume = np.einsum("fc,fc->f", a, np.cross(b, c)) / 6.0
    volumes = np.array([volume[piece].sum() for piece in pieces])
    best = int(volumes.argmax())
    body = whole.submesh([np.sort(pieces[best])], append=True, repair=False)
    outside = volumes[np.arange(len(pieces)) != best]
    share = np.clip(outside, 0.0, None).sum() / max(np.clip(volumes, 0.0, None).sum(), 1e-12)
    return MainBody(Mesh.from_trimesh(body), len(pieces) - 1, float(share))
