"""Mesh to manifold3d and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seed3d.types import Mesh


def to_manifold(mesh: Mesh) -> Any | None:
    """Return a manifold3d.Manifold, or None when `mesh` is not an oriented closed manifold."""
    import manifold3d

    if len(mesh.faces) == 0:
        return None
    data = manifold3d.Mesh64(
        np.ascontiguousarray(mesh.vertices, np.float64),
        np.ascontiguousarray(mesh.faces, np.uint64),
    )
    body = manifold3d.Manifold(data)
    if body.status() != manifold3d.Error.NoError or body.is_empty():
        return None
    return body


def from_manifold(body: Any) -> Mesh:
    """Return the mesh of a manifold3d.Manifold."""
    data = body.to_mesh64()
    vertices = np.array(data.vert_properties[:, :3], np.float64)
    return Mesh(vertices, np.array(data.tri_verts, np.int64))


def union(bodies: Sequence[Any]) -> Any:
    """Return the exact union of Manifolds, coplanar leftovers merged."""
    import manifold3d

    if len(bodies) == 1:
        return bodies[0]
    return manifold3d.Manifold.batch_boolean(list(bodies), manifold3d.OpType.Add).as_original()


def compose(bodies: Sequence[Any]) -> Any:
    """Return disjoint Manifolds as one."""
    import manifold3d

    return bodies[0] if len(bodies) == 1 else manifold3d.Manifold.compose(list(bodies))
