"""Openings of a part: which are closed, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seed3d.mesh.parts import Part
from seed3d.types import Mesh

PLANE_TOLERANCE = 2e-3
"""How far a rim may be from the bounding box's face [share of the longest side]."""


@dataclass(frozen=True)
class Filled:
    """A part with openings closed."""

    mesh: Mesh
    small: int
    """Openings closed because they are small."""
    sides: tuple[str, ...]
    """Sides of the bounding box on which an opening was capped: "bottom", "back"."""


def fill_openings(part: Part, bounds: np.ndarray, small: float) -> Filled | None:
    """Close the openings of an orientable part, if that makes it closed.

    Closed are openings with a rim shorter than `small`, and flat ones that lie in the bottom
    (-Z) or the back (-X) of the whole model's bounding box `bounds` (2, 3): models often leave
    out faces that stand on the floor or against a wall. Any other opening is on purpose
    (cups, drawers, lampshades) and makes the result None.
    """
    if not part.orientable:
        return None
    loops = _rims(part.mesh.faces)
    if not loops:
        return None
    longest = float((bounds[1] - bounds[0]).max())
    vertices, faces = part.mesh.vertices, [part.mesh.faces]
    centres: list[np.ndarray] = []
    flat: dict[str, list[np.ndarray]] = {}
    for loop in loops:
        rim = vertices[loop]
        if np.linalg.norm(rim - np.roll(rim, 1, axis=0), axis=1).sum() <= small:
            hub = np.full(len(loop), len(vertices) + len(centres))
            faces.append(np.stack([np.roll(loop, -1), loop, hub], axis=1))
            centres.append(rim.mean(axis=0))
            continue
        side = next(
            (
                s
                for s, axis in (("bottom", 2), ("back", 0))
                if (rim[:, axis] - bounds[0, axis]).max() <= PLANE_TOLERANCE * longest
            ),
            None,
        )
        if side is None:
            return None
        flat.setdefault(side, []).append(loop)
    for side, rims in flat.items():
        cap = _cap(vertices, rims, {"bottom": (1, 0), "back": (2, 1)}[side])
        if cap is None:
            return None
        faces.append(cap)
    points = np.concatenate([vertices, np.reshape(centres, (-1, 3))])
    return Filled(Mesh(points, np.concatenate(faces)), len(centres), tuple(sorted(flat)))


def _rims(faces: np.ndarray) -> list[np.ndarray] | None:
    """Return the loops of boundary vertices, in the faces' direction; None if they cross."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    edges = set(zip(start.tolist(), end.tolist(), strict=True))
    boundary = [(a, b) for a, b in edges if (b, a) not in edges]
    following = dict(boundary)
    if len(following) != len(boundary):
        return None
    loops = []
    for first in sorted(following):
        if first not in following:
            continue
        loop = [first]
        while (step := following.pop(loop[-1], None)) is not None and step != first:
            loop.append(step)
        if step is None:
            return None
        loops.append(np.array(loop))
    return loops


def _cap(vertices: np.ndarray, rims: list[np.ndarray], axes: tuple[int, int]) -> np.ndarray | None:
    """Triangulate the area inside the rims, holes left open; None if it doesn't fit them."""
    import manifold3d

    # The cap runs along the rims the other way round; seen from outside its outer rim must
    # be counter-clockwise, which a part that is wound inside out shows mirrored.
    loops = [rim[::-1] for rim in rims]
    flat = [np.ascontiguousarray(vertices[loop][:, axes], np.float64) for loop in loops]
    if sum(_area(p) for p in flat) < 0:
        flat = [np.ascontiguousarray(p[:, ::-1]) for p in flat]
    triangles = np.asarray(manifold3d.triangulate(flat), np.int64)
    total = sum(len(loop) for loop in loops)
    if len(triangles) < total - 2 * len(loops):
        return None
    return np.concatenate(loops)[triangles]


def _area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return float(0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
