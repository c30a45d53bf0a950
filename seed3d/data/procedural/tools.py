"""Hand tools: they lie along Y as they rest on a table."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.shapes import Form, circle, lathe, rect, skin, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism
from seed3d.types import SurfaceMaterial


def grip(rng: np.random.Generator) -> tuple[SurfaceMaterial, str]:
    """Return looks and material of a handle: wood, plastic, rubber or steel."""
    kind = pick(rng, ["wood_hard", "plastic_abs", "rubber", "plastic_abs"])
    if kind == "wood_hard":
        return wood(rng), kind
    if kind == "rubber":
        return paint(tint(rng, "dark", "bright"), uni(rng, 0.6, 0.9), name="rubber"), kind
    return plastic(rng), kind


def along_y(profile: np.ndarray, sections: int = 24, aspect: float = 1.0) -> Form:
    """Turn a profile (N, 2) of (radius, y) about the Y axis; `aspect` scales z."""
    return lathe(profile, sections, aspect=1.0).turn("x", -90).scale(z=aspect)


@category("hammer", 0.22, 0.4)
def hammer(rng: np.random.Generator) -> Recipe:
    """Claw, ball or club hammer, or mallet; lies on its side, head at +Y across X."""
    length, r = uni(rng, 0.24, 0.35), uni(rng, 0.012, 0.016)
    style = pick(rng, ["claw", "claw", "club", "mallet", "ball"])
    look, material = grip(rng)
    y = length - 0.015
    shaft = spline(
        [
            (r, 0.0),
            (r * 1.15, 0.12 * length),
            (r * 0.85, 0.4 * length),
            (r * 0.75, 0.6 * length),
            (r * 0.8, y),
        ],
        5,
    )
    handle = along_y(np.vstack([[[0, 0]], shaft, [[0, y]]]), aspect=0.75)
    steel = metal(rng, "steel") if chance(rng, 0.7) else paint(tint(rng, "dark"), 0.4, 0.6)
    size = uni(rng, 0.9, 1.15)
    h = 0.012 * size
    items = [Part(handle, look, material)]
    if style == "mallet":
        soft = paint(tint(rng, "dark", "neutral", "bright"), 0.7, name="rubber")
        head = cylinder(0.03 * size, 0.1 * size, 0.004).turn("y", 90).at(x=-0.05 * size, y=y)
        return Recipe((*items, Part(head, soft, "rubber")))
    if style == "club":
        return Recipe(
            (
                *items,
                Part(box(0.1 * size, 0.045 * size, 0.042 * size, 0.004).at(y=y), steel, "steel"),
            )
        )
    eye = box(0.034 * size, 0.03 * size, 0.026 * size, 0.004).at(y=y)
    neck = cylinder(0.009 * size, 0.03 * size, 0, 24).turn("y", 90).at(x=0.014 * size, y=y)
    face = cylinder(0.0135 * size, 0.024 * size, 0.0025).turn("y", 90).at(x=0.036 * size, y=y)
    items += [Part(f, steel, "steel") for f in (eye, neck, face)]
    if style == "ball":
        items.append(
            Part(
                ellipsoid(0.017 * size, 0.014 * size, 0.014 * size).at(x=-0.028 * size, y=y),
                steel,
                "steel",
            )
        )
        return Recipe(tuple(items))
    path = spline(
        [
            (-0.012 * size, y, 0),
            (-0.035 * size, y - 0.002, 0),
            (-0.058 * size, y - 0.014, 0),
            (-0.074 * size, y - 0.034, 0),
        ],
        5,
    )
    for side in (-1, 1):
        prong = sweep(
            path + np.array([0, 0, 0.5 * side * h]),
            np.linspace(0.009, 0.002, len(path)) * size,
            rect(1.6, 1.0, 0.2, 2),
            up=(0, 0, 1),
        )
        prong = prong.warp(
            np.column_stack(
                [
                    prong.vertices[:, :2],
                    prong.vertices[:, 2]
                    + side
                    * h
                    * np.clip((-prong.vertices[:, 0] / size - 0.03) / 0.045, 0, 1)
                    * 0.45,
                ]
            )
        )
        items.append(Part(prong, steel, "steel"))
    return Recipe(tuple(items))


@category("screwdriver", 0.12, 0.32)
def screwdriver(rng: np.random.Generator) -> Recipe:
    """Screwdriver; the tip towards +Y."""
    grip_l, shaft_l, r = uni(rng, 0.08, 0.12), uni(rng, 0.06, 0.17), uni(rng, 0.012, 0.018)
    profile = spline(
        [
            (r * 0.75, 0),
            (r, 0.12 * grip_l),
            (r * 0.9, 0.5 * grip_l),
            (r, 0.72 * grip_l),
            (r * 0.62, 0.86 * grip_l),
            (r * 0.7, grip_l),
        ],
        5,
    )
    handle = along_y(np.vstack([[[0, 0]], profile, [[0, grip_l]]]), 48)
    v = handle.vertices.copy()
    angle, n = np.arctan2(v[:, 2], v[:, 0]), int(rng.integers(3, 7)) * 2
    flute = np.sin(np.clip(v[:, 1] / grip_l, 0, 1) * np.pi) ** 0.5
    v[:, [0, 2]] *= (1 - 0.06 * flute * (1 + np.cos(n * angle)))[:, None]
    color = plastic(rng, "bright", "dark")
    steel = metal(rng, "stainless")
    rs = uni(rng, 0.0025, 0.004)
    flat = chance(rng, 0.5)
    end = grip_l + shaft_l
    shaft = along_y(
        np.array(
            [
                (0, grip_l - 0.01),
                (rs, grip_l - 0.01),
                (rs, end - 0.01),
                (0 if not flat else rs, end - (0.0 if not flat else 0.01)),
                (0, end - (0.0 if not flat else 0.009)),
            ]
        ),
        16,
    )
    items = [Part(handle.warp(v), color, "plastic_abs", crease_deg=50), Part(shaft, steel, "steel")]
    if flat:
        items.append(
            Part(_wedge(2.6 * rs, 0.014, 1.8 * rs, 0.0008).at(y=end - 0.011), steel, "steel")
        )
    band = along_y(
        np.array(
            [
                (0, 0.86 * grip_l),
                (0.72 * r, 0.86 * grip_l),
                (0.72 * r, 0.92 * grip_l),
                (0, 0.92 * grip_l),
            ]
        ),
        24,
    )
    return Recipe((*items, Part(band, plastic(rng), "rubber")))


def _wedge(wide: float, length: float, thick: float, edge: float) -> Form:
    """Blade from y = 0 to `length`: `wide` along x, `thick` at the root and `edge` at the tip."""
    rings = np.array(
        [
            [
                (-wide / 2, y, -t / 2),
                (wide / 2, y, -t / 2),
                (wide / 2, y, t / 2),
                (-wide / 2, y, t / 2),
            ]
            for y, t in ((0, thick), (length, edge))
        ]
    )
    return skin(rings)


@category("wrench", 0.1, 0.34)
def wrench(rng: np.random.Generator) -> Recipe:
    """Combination, open-end or ring spanner lying flat along Y."""
    length = uni(rng, 0.12, 0.3)
    jaw = length * uni(rng, 0.1, 0.13)
    thick = length * uni(rng, 0.025, 0.04)
    steel = metal(rng, pick(rng, ["steel", "stainless"]))
    ends = pick(rng, [("open", "ring"), ("open", "open"), ("ring", "ring"), ("open", "ring")])
    shank = box(jaw * uni(rng, 0.55, 0.75), length - 1.2 * jaw, thick * 0.7, 0.3 * thick).at(
        z=thick / 2
    )
    items = [Part(shank, steel, "steel")]
    for end, side in zip(ends, (1, -1), strict=True):
        radius = jaw * (0.9 if side > 0 else uni(rng, 0.7, 0.9))
        if end == "ring":
            hole = circle(0.6 * radius, 24 if chance(rng, 0.5) else 6)[::-1]
            head = prism([circle(0.95 * radius, 40), hole], thick * 1.15, 0.0008)
        else:
            head = prism(_jaw(radius), thick, 0.0008).turn("z", pick(rng, [-15.0, 15.0, 0.0]))
            head = head if side > 0 else head.turn("z", 180)
        items.append(Part(head.at(y=side * (length / 2 - radius * 0.9)), steel, "steel"))
    return Recipe(tuple(items))


def _jaw(radius: float) -> np.ndarray:
    """Outline (N, 2) of an open jaw towards +Y."""
    a = np.radians(np.linspace(118, 422, 30))
    arc = radius * np.stack([np.cos(a), np.sin(a)], -1)
    g = 0.46 * radius
    slot = np.array(
        [
            (g, 0.9 * radius),
            (g, 0.0),
            (0.5 * g, -0.3 * radius),
            (-0.5 * g, -0.3 * radius),
            (-g, 0.0),
            (-g, 0.9 * radius),
        ]
    )
    return np.vstack([arc, slot])


@category("flashlight", 0.09, 0.26)
def flashlight(rng: np.random.Generator) -> Recipe:
    """Torch lying along Y, the lamp towards +Y, its switch up."""
    length, r = uni(rng, 0.1, 0.22), uni(rng, 0.011, 0.018)
    head = r * uni(rng, 1.2, 1.7)
    z0, z1 = 0.7 * length, 0.8 * length
    rings = [(0.0, 0.0), (r * 0.9, 0), (r, 0.01)]
    for k in range(8):
        y = 0.14 * length + k * 0.055 * length
        rings += [
            (r, y),
            (r * 0.95, y + 0.01 * length),
            (r * 0.95, y + 0.025 * length),
            (r, y + 0.035 * length),
        ]
    body = along_y(
        np.array(
            [
                *rings,
                (r, z0),
                (head, z1),
                (head, length),
                (head * 0.85, length),
                (head * 0.8, length - 0.004),
                (0, length - 0.004),
            ]
        ),
        40,
    )
    base = paint(tint(rng, "dark", "bright", "neutral"), 0.4, pick(rng, [0.0, 0.8]))
    lens = along_y(
        np.array(
            [
                (0, length - 0.006),
                (head * 0.8, length - 0.006),
                (head * 0.8, length - 0.002),
                (0, length - 0.002),
            ]
        ),
        32,
    )
    switch = box(0.012, 0.018, 0.006, 0.002).at(y=0.62 * length, z=r)
    material = "aluminium" if base.metallic else "plastic_abs"
    return Recipe(
        (
            Part(body, base, material, density_kg_m3=1500),
            Part(lens, paint((0.92, 0.93, 0.9), 0.1), "glass"),
            Part(switch, plastic(rng), "rubber"),
        )
    )
