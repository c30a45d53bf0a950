"""Closed triangle forms with UVs: lathe, sweep, loft, prism, rounded box, ellipsoid. Metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Points = np.ndarray | Sequence[Sequence[float] | np.ndarray]
"""Points (N, D), as an array or row by row."""


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product of rows (N, 3); several times faster than numpy's on small arrays."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    return out


@dataclass(frozen=True)
class Form:
    """One closed, outward-wound body."""

    vertices: np.ndarray
    """(V, 3) float [m]."""
    faces: np.ndarray
    """(F, 3) int, counter-clockwise from outside."""
    uv: np.ndarray
    """(F, 3, 2) float, v up."""

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Form:
        """Return the form moved by (x, y, z) [m]."""
        return Form(self.vertices + np.array([x, y, z]), self.faces, self.uv)

    def turn(self, axis: str, degrees: float) -> Form:
        """Return the form turned about a world axis through the origin, right-handed [deg]."""
        i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        out = self.vertices.copy()
        out[:, i] = c * self.vertices[:, i] - s * self.vertices[:, j]
        out[:, j] = s * self.vertices[:, i] + c * self.vertices[:, j]
        return Form(out, self.faces, self.uv)

    def scale(self, x: float = 1.0, y: float = 1.0, z: float = 1.0) -> Form:
        """Return the form scaled along the axes; a mirror keeps the winding outward."""
        out = Form(self.vertices * np.array([x, y, z]), self.faces, self.uv)
        return out.flip() if x * y * z < 0 else out

    def warp(self, vertices: np.ndarray) -> Form:
        """Return the same triangles over other vertices (V, 3)."""
        return Form(vertices, self.faces, self.uv)

    def flip(self) -> Form:
        """Return the form with every triangle wound the other way."""
        return Form(self.vertices, self.faces[:, ::-1], self.uv[:, ::-1])

    @property
    def volume(self) -> float:
        """Signed volume [m^3] by the divergence theorem; positive when wound outward."""
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, cross(b, c)) / 6.0)

    @property
    def area(self) -> float:
        """Area of the surface [m^2]."""
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        return float(np.linalg.norm(cross(b - a, c - a), axis=1).sum() / 2.0)


def _outward(form: Form) -> Form:
    return form.flip() if form.volume < 0 else form


def spline(points: Points, per_span: int = 6) -> np.ndarray:
    """Catmull-Rom curve through points (N, D): ((N - 1) * per_span + 1, D)."""
    p = np.asarray(points, float)
    p = np.vstack([2 * p[0] - p[1], p, 2 * p[-1] - p[-2]])
    t = (np.arange(per_span) / per_span)[None, :, None]
    a, b, c, d = (p[i : len(p) - 3 + i, None, :] for i in range(4))
    curve = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
    return np.vstack([curve.reshape(-1, p.shape[1]), p[-2]])


def fillet(
    points: Points,
    radius: float | Sequence[float],
    steps: int = 4,
    closed: bool = False,
) -> np.ndarray:
    """Round the corners of a polyline (N, 2) by arcs (quadratic Bezier) of about `radius` [m]."""
    p = np.asarray(points, float)
    radii = np.broadcast_to(np.asarray(radius, float), (len(p),))
    out: list[np.ndarray] = []
    t = np.linspace(0, 1, steps + 1)[:, None]
    for i in range(len(p)):
        if (not closed and i in (0, len(p) - 1)) or radii[i] <= 0:
            out.append(p[i : i + 1])
            continue
        before, after = p[i - 1] - p[i], p[(i + 1) % len(p)] - p[i]
        reach = min(radii[i], 0.49 * np.linalg.norm(before), 0.49 * np.linalg.norm(after))
        start = p[i] + before / np.linalg.norm(before) * reach
        end = p[i] + after / np.linalg.norm(after) * reach
        out.append((1 - t) ** 2 * start + 2 * t * (1 - t) * p[i] + t**2 * end)
    return np.vstack(out)


@lru_cache(maxsize=256)
def _skin_grid(
    count: int, around: int, ends: tuple[bool, bool] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Topology of a skin over `count` rings of `around` points and two pole points after them.

    `ends` tells which end rings are poles; None joins the last ring to the first.

    Returns:
        used vertices (V,), faces (F, 3) into them, u (F, 3), ring of each corner (F, 3).
    """
    first, last = 0, count if ends is None else count - 1
    if ends is not None:
        first, last = int(ends[0]), last - int(ends[1])
    i = np.arange(first, last)[:, None]
    j = np.arange(around)[None, :]
    i_next, j_next = (i + 1) % count, (j + 1) % around
    a, b = i * around + j, i * around + j_next
    c, d = i_next * around + j_next, i_next * around + j
    low, high = np.broadcast_to(i, a.shape), np.broadcast_to(i_next, a.shape)
    left, right = np.broadcast_to(j / around, a.shape), np.broadcast_to((j + 1) / around, a.shape)
    faces = [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    us = [np.stack(t, -1).reshape(-1, 3) for t in ((left, right, right), (left, right, left))]
    rows = [np.stack(t, -1).reshape(-1, 3) for t in ((low, low, high), (low, high, high))]
    base = np.arange(around)
    for end in (0, 1) if ends is not None else ():
        row = first if end == 0 else last
        pole = np.full(around, count * around + end)
        here, after = row * around + base, row * around + (base + 1) % around
        fan = [pole, after, here]
        fan_u = [(base + 0.5) / around, (base + 1) / around, base / around]
        fan_row = [np.full(around, 0 if end == 0 else count - 1), np.full(around, row)]
        order = (0, 1, 2) if end == 0 else (0, 2, 1)
        faces.append(np.stack([fan[k] for k in order], -1))
        us.append(np.stack([fan_u[k] for k in order], -1))
        rows.append(np.stack([fan_row[0], fan_row[1], fan_row[1]], -1))
    used, compact = np.unique(np.vstack(faces), return_inverse=True)
    return used, compact.reshape(-1, 3), np.vstack(us), np.vstack(rows)


def skin(rings: np.ndarray, v: np.ndarray | None = None, loop: bool = False) -> Form:
    """Join rings (N, M, 3) to a closed tube; the ends get fans, or join each other (`loop`).

    A ring whose points coincide becomes a pole. u runs 0 to 1 around a ring, v is given per ring
    (N,) or runs 0 to 1.
    """
    count, around = rings.shape[:2]
    v = np.linspace(0.01, 0.99, count) if v is None else np.asarray(v, float)
    tips = rings[[0, -1]]
    flat = (tips.max(axis=1) - tips.min(axis=1)).max(axis=1) < 1e-9
    ends = None if loop else (bool(flat[0]), bool(flat[1]))
    used, faces, u, row = _skin_grid(count, around, ends)
    points = np.concatenate([rings.reshape(-1, 3), tips.mean(axis=1)])[used]
    uv = np.empty((*faces.shape, 2))
    uv[..., 0], uv[..., 1] = u, v[row]
    return _outward(Form(points, faces, uv))


def lathe(
    profile: Points,
    sections: int = 48,
    v: np.ndarray | None = None,
    square: float = 2.0,
    aspect: float = 1.0,
    ring: bool = False,
) -> Form:
    """Turn a profile (N, 2) of (radius, z) about z: capped at the ends, or closed on itself (`ring`).

    u = 0.5 faces +X and grows towards +Y; v is height unless given. `square` > 2 turns the circle
    into a superellipse, `aspect` scales y.
    """
    p = np.asarray(profile, float)
    fresh = np.linalg.norm(np.diff(p, axis=0, prepend=np.inf), axis=1) > 1e-7
    p, v = p[fresh], None if v is None else np.asarray(v)[fresh]
    angle = np.arange(sections) / sections * 2 * np.pi - np.pi
    c, s = np.cos(angle), np.sin(angle)
    grow = (np.abs(c) ** square + np.abs(s) ** square) ** (-1 / square)
    unit = np.stack([c * grow, s * grow * aspect, np.zeros(sections)], -1)
    rings = p[:, None, :1] * unit[None] + np.array([0, 0, 1.0]) * p[:, None, 1:]
    if v is None:
        v = 0.01 + 0.98 * (p[:, 1] - p[:, 1].min()) / max(float(np.ptp(p[:, 1])), 1e-9)
    return skin(rings, v, loop=ring)


def shell(outer: np.ndarray, wall: float, base: float | None = None) -> np.ndarray:
    """Profile of a vessel: axis, `outer` (N, 2) from the foot up to the rim, and back inside.

    Args:
        outer: (radius, z) from the foot upwards; a point on the axis is added below.
        wall: Thickness of the wall [m].
        base: Least height of the inner floor over the foot [m]; `wall` if None.
    """
    base = wall if base is None else base
    p = np.vstack([[0.0, outer[0, 1]], outer]) if outer[0, 0] > 1e-9 else np.asarray(outer)
    step = np.gradient(p, axis=0)
    normal = np.stack([step[:, 1], -step[:, 0]], -1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    inner = p - normal * wall
    inner[:, 1] = np.maximum(inner[:, 1], p[0, 1] + base)
    inner[-1, 1] = p[-1, 1]
    floor = inner[inner[:, 0] > 1e-4]
    on_floor = floor[:, 1] <= p[0, 1] + base + 1e-9
    if on_floor.any():  # keep one point of the flat floor: the outermost
        last = int(np.flatnonzero(on_floor)[-1])
        floor = floor[last:]
    lip = (p[-1] + floor[-1]) / 2 + np.array([0.0, 0.4 * wall])
    centre = [[0.0, floor[0, 1]]]
    return np.vstack([p, lip, floor[::-1], centre])


def circle(radius: float = 1.0, count: int = 12, aspect: float = 1.0) -> np.ndarray:
    """Outline (count, 2), counter-clockwise; `aspect` scales the second axis."""
    a = np.arange(count) / count * 2 * np.pi
    return np.stack([radius * np.cos(a), radius * aspect * np.sin(a)], -1)


def rect(x: float, y: float, radius: float = 0.0, steps: int = 4) -> np.ndarray:
    """Outline of a rectangle of size x by y [m] with round corners, counter-clockwise."""
    corners = np.array([[x, -y], [x, y], [-x, y], [-x, -y]]) / 2
    return fillet(corners, radius, steps, closed=True) if radius > 0 else corners


def sweep(
    path: Points,
    radius: float | np.ndarray = 1.0,
    outline: np.ndarray | None = None,
    closed: bool = False,
    round_ends: bool = False,
    up: Sequence[float] = (0.0, 0.0, 1.0),
) -> Form:
    """Carry an outline (M, 2), or a circle, along a path (N, 3); `radius` scales it per point.

    Frames are carried by parallel transport; the outline's first axis starts perpendicular to
    `up`, its second as near `up` as the path allows.
    """
    p = np.asarray(path, float)
    scale = np.broadcast_to(np.asarray(radius, float), (len(p),)).copy()
    outline = circle(1.0, 12) if outline is None else outline
    tangent = np.roll(p, -1, 0) - np.roll(p, 1, 0) if closed else np.gradient(p, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-12)
    side = np.cross(np.asarray(up, float), tangent[0])
    if np.linalg.norm(side) < 1e-3:
        side = np.cross([1.0, 0.0, 0.0], tangent[0])
    sides = np.empty_like(p)
    for i, t in enumerate(tangent):
        side = side - t * (side @ t)
        side = side / np.linalg.norm(side)
        sides[i] = side
    lifts = cross(tangent, sides)
    if round_ends and not closed:
        angle = np.radians([80.0, 55.0, 28.0])
        bulge, shrink = np.sin(angle) * np.abs(outline).max(), np.cos(angle)
        head = p[0] - np.outer(scale[0] * bulge, tangent[0])
        tail = p[-1] + np.outer(scale[-1] * bulge[::-1], tangent[-1])
        p = np.vstack([head, p, tail])
        scale = np.concatenate([scale[0] * shrink, scale, scale[-1] * shrink[::-1]])
        sides, lifts = (np.pad(f, ((3, 3), (0, 0)), mode="edge") for f in (sides, lifts))
    rings = p[:, None] + scale[:, None, None] * (
        outline[None, :, :1] * sides[:, None] + outline[None, :, 1:] * lifts[:, None]
    )
    return skin(rings, loop=closed)


def vessel(
    outer: np.ndarray,
    wall: float,
    base: float | None = None,
    sections: int = 48,
    square: float = 2.0,
    aspect: float = 1.0,
) -> Form:
    """Open vessel with wall thickness; the inside takes the texture's top left corner. See `shell`."""
    profile = shell(outer, wall, base)
    count = len(outer) + int(outer[0, 0] > 1e-9)
    v = np.full(len(profile), 0.99)
    height = float(np.ptp(outer[:, 1]))
    v[:count] = 0.01 + 0.97 * (profile[:count, 1] - outer[:, 1].min()) / max(height, 1e-9)
    form = lathe(profile, sections, v, square, aspect)
    inside = form.uv[..., 1].min(axis=1) > 0.985
    form.uv[inside, :, 0] = 0.02  # one colour, so that no print of the top row runs down the inside
    return form


def radius_at(outer: np.ndarray, z: float) -> float:
    """Outer radius [m] of a profile (N, 2) of (radius, z), z rising, at height z."""
    return float(np.interp(z, outer[:, 1], outer[:, 0]))
