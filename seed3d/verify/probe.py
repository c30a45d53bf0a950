"""Do the collision hulls keep the object's cavities open, or fill them with invisible solid?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.types import Mesh
from seed3d.verify.model import convex_hull

LARGE_CAVITY = 0.1
"""Connected empty space of at least this share of the convex hull's volume counts as a cavity."""
MOST_FILLED = 0.5
"""A cavity with more than this share of it inside collision hulls is lost."""


@dataclass(frozen=True)
class Cavities:
    """The large empty spaces between a solid and its convex hull."""

    volume_m3: float
    """Volume of all large cavities together [m^3]; 0 for a convex object."""
    filled: float
    """Share of that volume inside the collision hulls, in [0, 1]; 0 where there is none."""


def find_cavities(visual: Mesh, hulls: list[Mesh]) -> Cavities | None:
    """Measure the cavities by exact boolean operations on the solids.

    A cavity is a connected part of (convex hull of the solid) minus the solid that is large
    against the hull: the inside of a cup, the room under a table.

    Args:
        visual: Closed outward-wound mesh [m].
        hulls: Collision hulls in the same frame [m].

    Returns:
        The cavities, or None where the visual mesh isn't a manifold solid.
    """
    # In units of the size: manifold's tolerance is absolute, a 1 cm object must not fall under it.
    origin, size = visual.bounds[0], float(visual.extents.max())
    solid = _manifold(_without_voids(visual), origin, size)
    if solid is None:
        return None
    outer = solid.hull()
    rooms = _rooms(outer - solid, LARGE_CAVITY * outer.volume())
    empty = sum(room.volume() for room in rooms)
    if not rooms:
        return Cavities(0.0, 0.0)
    bodies = [_manifold(convex_hull(h.vertices), origin, size) for h in hulls]
    filled = sum((_union([b for b in bodies if b]) ^ room).volume() for room in rooms)
    return Cavities(empty * size**3, min(filled / empty, 1.0))


def _rooms(space: Any, least: float) -> list[Any]:
    """Connected parts of a solid larger than `least`.

    `decompose` gives shells: the outline of a room, and apart from it, with negative volume, what
    floats inside; cut with the space, the outline is the room again.
    """
    rooms = [shell ^ space for shell in space.decompose() if shell.volume() > least]
    return [room for room in rooms if room.volume() > least]


def _without_voids(mesh: Mesh) -> Mesh:
    """Drop inner shells (wound inwards): no other object can get into a closed void."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(mesh.vertices)
    ends = mesh.faces[:, [0, 1, 1, 2]].reshape(-1, 2).T
    graph = coo_array((np.ones(ends.shape[1], bool), tuple(ends)), shape=(count, count))
    shells, label = connected_components(graph, directed=False)
    face_label = label[mesh.faces[:, 0]]
    a, b, c = (mesh.vertices[mesh.faces[:, i]] - mesh.bounds[0] for i in range(3))
    volume = np.bincount(face_label, np.einsum("ij,ij->i", a, np.cross(b, c)), shells)
    return Mesh(mesh.vertices, mesh.faces[volume[face_label] > 0])


def _union(bodies: list[Any]) -> Any:
    from manifold3d import Manifold, OpType

    return Manifold.batch_boolean(bodies, OpType.Add) if bodies else Manifold()


def _manifold(mesh: Mesh, origin: np.ndarray, size: float) -> Any:
    """Manifold solid of a mesh moved to the unit cube; None where the mesh isn't one."""
    from manifold3d import Error, Manifold
    from manifold3d import Mesh64 as ManifoldMesh

    vertices = np.ascontiguousarray((mesh.vertices - origin) / size, np.float64)
    body = Manifold(ManifoldMesh(vertices, np.ascontiguousarray(mesh.faces, np.uint64)))
    return None if body.status() != Error.NoError or not body.volume() > 0 else body
