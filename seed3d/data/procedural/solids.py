"""Ready closed solids on top of `shapes`: rounded box, prism, ellipsoid, torus. Metres."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from seed3d.data.procedural.shapes import Form, _outward, lathe

_SIDES = (  # axis of the normal, its sign, then u and v as (axis, sign), seen from outside
    (0, 1, (1, 1), (2, 1)),
    (1, 1, (0, -1), (2, 1)),
    (0, -1, (1, -1), (2, 1)),
    (1, -1, (0, 1), (2, 1)),
    (2, 1, (1, 1), (0, -1)),
    (2, -1, (1, 1), (0, 1)),
)
"""Front +X, right +Y, back -X, left -Y, top, bottom."""
_UV_AXIS = np.array([(side[2][0], side[3][0]) for side in _SIDES])


@lru_cache(maxsize=8)
def _lattice(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Quads of a cube's surface of `count` points a side: lattice (V, 3), faces, side, uv."""
    grid = np.arange(count - 1)
    a, b = (g.ravel() for g in np.meshgrid(grid, grid, indexing="ij"))
    codes, sides, uvs = [], [], []
    for side, (axis, sign, (ua, us), (va, vs)) in enumerate(_SIDES):
        corner = []
        for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
            ijk = np.zeros((len(a), 3), int)
            ijk[:, axis] = count - 1 if sign > 0 else 0
            ijk[:, ua] = (a + da) if us > 0 else count - 1 - (a + da)
            ijk[:, va] = (b + db) if vs > 0 else count - 1 - (b + db)
            corner.append((ijk @ [count * count, count, 1], np.stack([a + da, b + db], -1)))
        for tri in ((0, 1, 2), (0, 2, 3)):
            codes.append(np.stack([corner[k][0] for k in tri], -1))
            uvs.append(np.stack([corner[k][1] for k in tri], 1))
            sides.append(np.full(len(a), side))
    used, faces = np.unique(np.vstack(codes), return_inverse=True)
    ijk = np.stack([used // count**2, used // count % count, used % count], -1)
    return ijk, faces.reshape(-1, 3), np.concatenate(sides), np.vstack(uvs)


def box(
    x: float,
    y: float,
    z: float,
    radius: float = 0.0,
    steps: int = 2,
    atlas: bool = False,
    cuts: int = 0,
) -> Form:
    """Box of size x, y, z [m], centred, its edges rounded by `radius` [m].

    UV: every side fills the unit square, or with `atlas` its cell of a 3 x 2 grid (top row front,
    right, back; bottom row left, top, bottom). `cuts` adds points along each edge, for warps.
    """
    half = np.array([x, y, z]) / 2
    radius = min(radius, 0.98 * half.min())
    if radius > 0:
        arc = np.tan(np.linspace(0, np.pi / 4, steps + 1))
        start = [-h + radius * (1 - arc[::-1]) for h in half]
        middle = [np.linspace(s[-1], -s[-1], cuts + 2)[1:-1] for s in start]
        axes = [np.concatenate([s, m, -s[::-1]]) for s, m in zip(start, middle, strict=True)]
    else:
        axes = [np.linspace(-h, h, cuts + 2) for h in half]
    ijk, faces, side, uv_index = _lattice(len(axes[0]))
    p = np.stack([axes[k][ijk[:, k]] for k in range(3)], -1)
    if radius > 0:
        core = np.clip(p, radius - half, half - radius)
        off = p - core
        p = core + radius * off / np.linalg.norm(off, axis=1, keepdims=True)
    # u and v by position along the side; the axes are symmetric, so one lookup serves both signs
    fraction = np.stack([(a + h) / (2 * h) for a, h in zip(axes, half, strict=True)])
    u_axis, v_axis = _UV_AXIS[side, 0, None], _UV_AXIS[side, 1, None]
    uv = np.stack([fraction[u_axis, uv_index[..., 0]], fraction[v_axis, uv_index[..., 1]]], -1)
    if atlas:
        cell = np.stack([side % 3, 1 - side // 3], -1)[:, None, :]
        uv = (0.004 + 0.992 * uv + cell) / np.array([3.0, 2.0])
    return Form(p, faces, uv)


def _inset(outline: np.ndarray, distance: float) -> np.ndarray:
    """Move a counter-clockwise outline (N, 2) inwards by `distance` [m], mitred, limited."""
    edge = np.roll(outline, -1, 0) - outline
    edge /= np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-12)
    normal = np.stack([-edge[:, 1], edge[:, 0]], -1)
    mitre = normal + np.roll(normal, 1, 0)
    scale = 2 / np.maximum((mitre**2).sum(1), 0.8)
    return outline + distance * mitre * scale[:, None]


def prism(outline: np.ndarray | Sequence[np.ndarray], height: float, bevel: float = 0.0) -> Form:
    """Extrude an outline (N, 2), with optional holes after it, along z from 0 to `height` [m].

    The outer outline is counter-clockwise, holes are clockwise. Caps get planar UVs over the
    bounding box, walls v up and u along the outline from its first point.
    """
    import manifold3d

    loops = [outline] if isinstance(outline, np.ndarray) else list(outline)
    low = np.min(loops[0], axis=0)
    span = np.maximum(np.ptp(loops[0], axis=0), 1e-9)
    levels = [(0.0, bevel), (bevel, 0.0), (height - bevel, 0.0), (height, bevel)]
    levels = levels if bevel > 0 else [(0.0, 0.0), (height, 0.0)]
    vertices, faces, uvs, start = [], [], [], 0
    caps = [[], []]
    for loop in loops:
        n = len(loop)
        # u follows the length of the outline, so that prints are not stretched over long sides
        along = np.linalg.norm(np.roll(loop, -1, 0) - loop, axis=1).cumsum()
        u1 = along / along[-1]
        u0 = np.concatenate([[0.0], u1[:-1]])
        for z, inset in levels:
            flat = _inset(loop, inset) if inset else loop
            vertices.append(np.column_stack([flat, np.full(n, z)]))
        j = np.arange(n)
        for k in range(len(levels) - 1):
            a, b = start + k * n + j, start + k * n + (j + 1) % n
            faces += [np.stack([a, b, b + n], -1), np.stack([a, b + n, a + n], -1)]
            v0, v1 = (np.full(n, levels[k + d][0] / height) for d in (0, 1))
            lower, right = np.stack([u0, v0], -1), np.stack([u1, v0], -1)
            upper, left = np.stack([u1, v1], -1), np.stack([u0, v1], -1)
            uvs += [np.stack([lower, right, upper], 1), np.stack([lower, upper, left], 1)]
        caps[0].append(start + j)
        caps[1].append(start + (len(levels) - 1) * n + j)
        start += n * len(levels)
    points = np.vstack(vertices)
    for index, flip in ((0, True), (1, False)):
        ids = np.concatenate(caps[index])
        rings = [points[c, :2] for c in caps[index]]
        tri = ids[np.asarray(manifold3d.triangulate(rings))]
        tri = tri[:, ::-1] if flip else tri
        faces.append(tri)
        uvs.append((points[tri][..., :2] - low) / span)
    return _outward(Form(points, np.vstack(faces), np.vstack(uvs)))


def ellipsoid(
    x: float, y: float, z: float, sections: int = 32, rows: int = 16, power: float = 2.0
) -> Form:
    """Ellipsoid of radii x, y, z [m], centred; `power` > 2 makes it boxier (superellipsoid)."""
    t = np.linspace(-np.pi / 2, np.pi / 2, rows + 1)
    c, s = np.cos(t), np.sin(t)
    grow = (np.abs(c) ** power + np.abs(s) ** power) ** (-1 / power)
    profile = np.stack([np.where(c < 1e-9, 0.0, c * grow), s * grow], -1)
    return lathe(profile, sections, square=power).scale(x, y, z)


def sphere(radius: float, sections: int = 16, rows: int = 8) -> Form:
    """Sphere of a radius [m], centred."""
    return ellipsoid(radius, radius, radius, sections, rows)


def torus(major: float, minor: float, sections: int = 40, minor_sections: int = 12) -> Form:
    """Ring about z, centred: radii of the ring and of its tube [m]."""
    a = np.arange(minor_sections) / minor_sections * 2 * np.pi
    profile = np.stack([major + minor * np.cos(a), minor * np.sin(a)], -1)
    return lathe(profile, sections, ring=True)


def cylinder(
    radius: float, height: float, bevel: float = 0.0, sections: int = 32, top: float | None = None
) -> Form:
    """Cylinder or cone from z = 0 to `height` [m]; `top` is the upper radius, `bevel` the edge."""
    top = radius if top is None else top
    b = min(bevel, 0.49 * height, 0.9 * min(radius, top) if min(radius, top) > 0 else 0.0)
    profile = [(0, 0), (radius - b, 0), (radius, b), (top, height - b), (top - b, height)]
    if b <= 0:
        profile = [(0, 0), (radius, 0), (top, height)]
    return lathe([*profile, (0, height)] if top > 1e-9 else profile, sections)


def frustum(
    bottom: tuple[float, float], top: tuple[float, float], height: float, radius: float = 0.0
) -> Form:
    """Tapered box on z = 0: (x, y) sizes below and above [m], edges rounded by `radius`."""
    form = box(max(bottom[0], top[0]), max(bottom[1], top[1]), height, radius)
    v = form.vertices.copy()
    t = (v[:, 2] / height + 0.5)[:, None]
    size = (1 - t) * np.array(bottom) + t * np.array(top)
    v[:, :2] *= size / np.maximum(bottom, top)
    return form.warp(v).at(z=height / 2)
