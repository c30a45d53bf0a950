"""Boxes, spheres, cylinders and capsules in place of hulls that are nearly one.

Engines collide them faster and more smoothly than hulls: a ball of sixty corners rocks where a
sphere rolls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from seed3d.types import Mesh, Primitive

VOLUME_TOLERANCE = 0.03
"""Largest relative difference of volume between a hull and the primitive in its place."""
THIN = 3.0
"""Across the shortest side the tolerance may be this many times larger, as a share."""
_SAMPLES = 600
_SECTIONS = 64


def primitive_mesh(primitive: Primitive) -> Mesh:
    """Return a primitive's triangles in the link frame, outward-wound [m]."""
    mesh = primitive_triangles(primitive.kind, primitive.size_m)
    return Mesh(mesh.vertices @ primitive.rotation.T + primitive.center_m, mesh.faces)


def primitive_triangles(kind: str, size: tuple[float, ...]) -> Mesh:
    """Return the triangles of a primitive in its own frame, of exactly its volume's polyhedron.

    Args:
        kind: box, sphere, cylinder or capsule.
        size: As `Primitive.size_m` [m].
    """
    from trimesh import creation

    if kind == "box":
        solid = creation.box(size)
    elif kind == "sphere":
        solid = creation.icosphere(3, size[0])
    elif kind == "cylinder":
        solid = creation.cylinder(size[0], size[1], sections=_SECTIONS)
    else:
        solid = creation.capsule(size[1], size[0])
        solid.vertices -= solid.bounds.mean(axis=0)
    return Mesh.from_trimesh(solid)


def volume_of(kind: str, size: tuple[float, ...]) -> float:
    """Return the exact volume of a primitive [m3]."""
    if kind == "box":
        return float(np.prod(size))
    ball = 4.0 / 3.0 * math.pi * size[0] ** 3
    if kind == "sphere":
        return ball
    rod = math.pi * size[0] ** 2 * size[1]
    return rod if kind == "cylinder" else rod + ball


def fit_primitive(points: np.ndarray, tolerance: float) -> Primitive | None:
    """Return the primitive nearest to the convex hull of points (N, 3), or None.

    Candidates: boxes along the directions of large faces, round bodies of the hull's volume along
    its principal axes. One is taken where no point of either surface is farther than `tolerance`
    from the other, and volumes differ by at most VOLUME_TOLERANCE.

    Args:
        points: Corners of a convex body [m].
        tolerance: Share of the body's longest side, and a third of the share of its shortest (a
            square leg isn't round); 0 takes none.
    """
    from scipy.spatial import ConvexHull, QhullError

    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if tolerance <= 0 or len(points) < 4 or not size > 0:
        return None
    try:
        hull = ConvexHull(points / size)
    except QhullError:
        return None  # flat: the hull builder gives it a thickness, and it stays a hull
    body = _Body(hull)
    thin = float(np.ptp(body.points @ body.axes.T, axis=0).min())
    limit = tolerance * min(1.0, THIN * thin)
    best: tuple[float, Primitive] | None = None
    for candidate in _candidates(body):
        off = _distance(candidate, body, limit)
        if off <= limit and (best is None or off < 0.9 * best[0]):
            best = off, candidate
    if best is None:
        return None
    fit = best[1]
    return Primitive(
        fit.kind, tuple(s * size for s in fit.size_m), fit.center_m * size, fit.rotation
    )


class _Body:
    """A convex body of unit size: its planes, volume, centre, axes and points on its surface."""

    def __init__(self, hull: Any) -> None:
        self.normals, self.offsets = hull.equations[:, :3], hull.equations[:, 3]
        corners = hull.points[hull.simplices]  # (F, 3, 3)
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self.areas = 0.5 * np.linalg.norm(cross, axis=1)
        self.volume = float(hull.volume)
        self.points = hull.points[hull.vertices]
        inside = self.points.mean(axis=0)
        heights = -(self.normals @ inside + self.offsets)  # of the pyramids over the faces
        weights = heights * self.areas / 3.0
        centroids = 0.75 * corners.mean(axis=1) + 0.25 * inside
        self.center = weights @ centroids / weights.sum()
        self.surface = np.vstack([self.points, _spread(corners, self.areas, _SAMPLES)])
        self.axes = np.linalg.svd(self.surface - self.center, full_matrices=False)[2]

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Signed distance (N,) by the planes: exact inside, a lower bound outside."""
        return (points @ self.normals.T + self.offsets).max(axis=1)

    def face_directions(self) -> list[np.ndarray]:
        """Directions of the largest faces, opposite and equal ones once, largest first."""
        found: list[np.ndarray] = []
        areas: list[float] = []
        for i in np.argsort(-self.areas, kind="stable")[:200]:
            normal = self.normals[i]
            same = [k for k, n in enumerate(found) if abs(n @ normal) > 0.9999]
            if same:
                areas[same[0]] += float(self.areas[i])
            else:
                found.append(normal)
                areas.append(float(self.areas[i]))
        return [found[k] for k in np.argsort(-np.array(areas), kind="stable")[:6]]


def _spread(corners: np.ndarray, areas: np.ndarray, count: int) -> np.ndarray:
    """Points (count, 3) on triangles by area, the same on every run."""
    rng = np.random.default_rng(0)
    face = np.searchsorted(np.cumsum(areas) / areas.sum(), rng.random(count)).clip(
        0, len(areas) - 1
    )
    u, v = rng.random((2, count))
    root = np.sqrt(u)
    weights = np.stack([1 - root, root * (1 - v), root * v], axis=1)
    return np.einsum("nk,nki->ni", weights, corners[face])


def _candidates(body: _Body) -> Iterator[Primitive]:
    directions = body.face_directions()
    frames = [_frame(a, b) for a in directions[:3] for b in directions if abs(a @ b) < 0.02]
    for rotation in frames[:6]:
        yield from _close(_box(body, rotation), body)
    radius = (3.0 * body.volume / (4.0 * math.pi)) ** (1.0 / 3.0)
    yield from _close(Primitive("sphere", (radius,), body.center, np.eye(3)), body)
    for axis in [*directions[:3], *body.axes]:
        yield from _close(_round(body, axis, "cylinder"), body)
        yield from _close(_round(body, axis, "capsule"), body)


def _close(candidate: Primitive | None, body: _Body) -> Iterator[Primitive]:
    if candidate is not None:
        volume = volume_of(candidate.kind, candidate.size_m)
        if abs(volume / body.volume - 1.0) <= VOLUME_TOLERANCE:
            yield candidate


def _frame(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Right-handed axes as columns, ordered and signed so that they are near the link's."""
    x = x / np.linalg.norm(x)
    y = y - (x @ y) * x
    axes = np.stack([x, y / np.linalg.norm(y), np.cross(x, y / np.linalg.norm(y))])
    order: list[int] = []
    for k in range(3):
        left = [i for i in range(3) if i not in order]
        order.append(max(left, key=lambda i: (round(abs(float(axes[i, k])), 9), -i)))
    axes = axes[order]
    axes *= np.where(axes[np.arange(3), np.arange(3)] < 0, -1.0, 1.0)[:, None]
    if np.linalg.det(axes) < 0:
        axes[2] = -axes[2]
    return np.where(np.abs(axes) < 1e-9, 0.0, axes).T


def _box(body: _Body, rotation: np.ndarray) -> Primitive:
    local = body.points @ rotation
    low, high = local.min(axis=0), local.max(axis=0)
    return Primitive("box", tuple((high - low).tolist()), rotation @ (low + high) / 2.0, rotation)


def _round(body: _Body, axis: np.ndarray, kind: Any) -> Primitive | None:
    """Cylinder or capsule along an axis: length from the extent, radius from the volume."""
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    rotation = _about(axis, x)
    along = body.points @ rotation[:, 2]
    length = float(np.ptp(along))
    if kind == "cylinder":
        radius = math.sqrt(body.volume / (math.pi * length))
    else:  # volume = pi r^2 length - 2/3 pi r^3, growing in r up to a ball
        radii = np.linspace(0.0, length / 2.0, 2001)
        volumes = math.pi * radii**2 * length - 2.0 / 3.0 * math.pi * radii**3
        if body.volume > volumes[-1] * 1.0001:
            return None
        radius = float(np.interp(body.volume, volumes, radii))
        length = length - 2.0 * radius
        if length < 0.05 * radius:
            return None  # a ball
    center = body.center + rotation[:, 2] * (
        0.5 * (along.max() + along.min()) - body.center @ rotation[:, 2]
    )
    return Primitive(kind, (radius, length), center, rotation)


def _about(axis: np.ndarray, hint: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) whose z is the axis, pointing to the link's positive side."""
    z = axis / np.linalg.norm(axis)
    z = z if z[int(np.argmax(np.abs(z)))] > 0 else -z
    z = np.where(np.abs(z) < 1e-9, 0.0, z)
    x = hint - (hint @ z) * z
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _distance(primitive: Primitive, body: _Body, enough: float) -> float:
    """Largest distance of either surface's points to the other (unit size); past `enough` of one."""
    local = (body.surface - primitive.center_m) @ primitive.rotation
    there = float(np.abs(_signed(local, primitive)).max())
    if there > enough:
        return there
    mesh = primitive_mesh(primitive)
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = 0.5 * np.linalg.norm(cross, axis=1)
    points = np.vstack([mesh.vertices, _spread(corners, areas, _SAMPLES)])
    return max(there, float(np.abs(body.outside(points)).max()))


def _signed(local: np.ndarray, primitive: Primitive) -> np.ndarray:
    """Signed distance (N,) of points in the primitive's frame to its surface."""
    kind, size = primitive.kind, primitive.size_m
    if kind == "sphere":
        return np.linalg.norm(local, axis=1) - size[0]
    if kind == "capsule":
        shifted = local.copy()
        shifted[:, 2] -= np.clip(local[:, 2], -size[1] / 2.0, size[1] / 2.0)
        return np.linalg.norm(shifted, axis=1) - size[0]
    if kind == "box":
        q = np.abs(local) - np.array(size) / 2.0
    else:
        across = np.linalg.norm(local[:, :2], axis=1) - size[0]
        q = np.stack([across, np.abs(local[:, 2]) - size[1] / 2.0], axis=1)
    return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
