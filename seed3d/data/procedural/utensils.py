"""Scissors, cooking tools and brushes: they lie along Y."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, metal, paint, plastic, tint, uni, wood
from seed3d.data.procedural.shapes import circle, fillet, lathe, rect, skin, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism, torus
from seed3d.data.procedural.tools import along_y, grip


@category("scissors", 0.11, 0.27)
def scissors(rng: np.random.Generator) -> Recipe:
    """Scissors lying flat, slightly open, tips towards +Y."""
    blade, size = uni(rng, 0.07, 0.13), uni(rng, 0.85, 1.2)
    color, steel = plastic(rng, "bright", "dark"), metal(rng)
    spread = uni(rng, 2.0, 16.0)
    items = []
    for side in (-1.0, 1.0):
        z = 0.0018 * side + 0.006
        w = 0.016 * size
        outline = np.array(
            [
                (-0.5 * w, -0.02),
                (0.5 * w, -0.02),
                (0.55 * w, 0.25 * blade),
                (0.1 * w, blade),
                (-0.35 * w, 0.6 * blade),
            ]
        )
        knife = prism(outline, 0.002).at(z=z - 0.001)
        ring = torus(0.021 * size, 0.0045 * size, 32, 10).scale(1.0, uni(rng, 1.2, 1.7), 1.0)
        ring = ring.at(x=0.012 * size, y=-0.075 * size, z=0.006)
        neck = sweep(
            spline(
                [(0, 0.0, z), (0.002, -0.02 * size, z), (0.004 * size, -0.048 * size, 0.006)], 5
            ),
            np.linspace(0.006, 0.0055, 11) * size,
            circle(1.0, 10, 0.7),
            round_ends=True,
        )
        for form, look, material in (
            (knife, steel, "stainless"),
            (ring, color, "plastic_abs"),
            (neck, color, "plastic_abs"),
        ):
            form = form if side > 0 else form.scale(x=-1.0)
            items.append(Part(form.turn("z", -side * spread * -0.5), look, material))
    items.append(Part(cylinder(0.004, 0.009, 0.001, 20).at(z=0.0015), steel, "steel"))
    return Recipe(tuple(items))


@category("spoon", 0.1, 0.38)
def spoon(rng: np.random.Generator) -> Recipe:
    """Tea, table or wooden cooking spoon, or ladle; its bowl towards +Y, opening up."""
    length = uni(rng, 0.12, 0.33)
    wooden = length > 0.22 and chance(rng, 0.6)
    look, material = (wood(rng), "wood_hard") if wooden else (metal(rng), "stainless")
    wide, long = length * uni(rng, 0.1, 0.13), length * uni(rng, 0.13, 0.17)
    deep, wall = wide * uni(rng, 0.35, 0.55), 0.005 if wooden else 0.0016
    t = np.linspace(0, np.pi / 2, 10)
    outer = np.stack([np.sin(t), 1 - np.cos(t)], -1)
    inner = np.stack([np.sin(t) * (1 - wall / wide), 1 - np.cos(t) * (1 - wall / deep)], -1)
    profile = np.vstack([outer, inner[::-1]])
    profile[0, 0] = profile[-1, 0] = 0.0
    bowl = lathe(profile, 36).scale(wide / 2 * 2, long, deep).at(y=length - 2 * long, z=0.0)
    z = deep
    start = length - 3 * long + 0.01 + wall
    path = spline(
        [
            (0, start, z - 0.4 * wall),
            (0, start - 0.1 * length, z + 0.02 * length),
            (0, 0.35 * (start), z + 0.005 * length),
            (0, -long, 0.3 * z + 0.004),
        ],
        6,
    )
    w = np.interp(np.linspace(0, 1, len(path)), [0, 0.15, 0.8, 1], [1.1, 0.75, 1.0, 1.5])
    radius = 0.006 if wooden else 0.005 * length / 0.2
    handle = sweep(
        path, radius * w, circle(1.0, 14, 0.95 if wooden else 0.32), up=(0, 0, 1), round_ends=True
    )
    return Recipe((Part(bowl, look, material, crease_deg=60), Part(handle, look, material)))


@category("spatula", 0.24, 0.4)
def spatula(rng: np.random.Generator) -> Recipe:
    """Turner or dough scraper: blade towards +Y, round grip."""
    length, wide = uni(rng, 0.26, 0.36), uni(rng, 0.05, 0.1)
    blade_l = uni(rng, 0.07, 0.11)
    look, material = grip(rng)
    soft = chance(rng, 0.5)
    blade_look = plastic(rng, "bright", "dark") if soft else metal(rng)
    outline = fillet(
        [(-0.4 * wide, 0), (0.4 * wide, 0), (0.5 * wide, blade_l), (-0.5 * wide, blade_l)],
        0.012,
        4,
        closed=True,
    )
    loops = [outline]
    if chance(rng, 0.6):
        for k in (-1, 0, 1):
            loops.append(
                (
                    rect(0.005, 0.6 * blade_l, 0.002, 2)
                    + np.array([k * 0.22 * wide, 0.52 * blade_l])
                )[::-1]
            )
    blade = prism(loops, 0.0035 if soft else 0.0015).turn("x", uni(rng, 0, 6))
    path = spline([(0, 0.012, 0.002), (0, -0.04, 0.012), (0, -0.09, 0.026), (0, -0.12, 0.028)], 5)
    neck = sweep(path, 0.004, round_ends=True)
    grip_l = length - blade_l - 0.11
    bar = along_y(
        np.vstack(
            [
                [[0, 0]],
                spline(
                    [(0.006, 0), (0.011, 0.3 * grip_l), (0.009, 0.7 * grip_l), (0.011, grip_l)], 4
                ),
                [[0, grip_l + 0.002]],
            ]
        ),
        24,
        0.7,
    )
    return Recipe(
        (
            Part(blade, blade_look, "plastic_pp" if soft else "stainless"),
            Part(neck, metal(rng), "stainless"),
            Part(bar.scale(y=-1.0).at(y=-0.11, z=0.028), look, material),
        )
    )


@category("brush", 0.13, 0.36)
def brush(rng: np.random.Generator) -> Recipe:
    """Paint, dish or hair brush; bristles towards +Y or down."""
    length = uni(rng, 0.16, 0.26)
    look, material = grip(rng)
    hair = paint(tint(rng, "neutral", "wood_light", "dark"), 0.9, name="bristles")
    if chance(rng, 0.5):  # paint brush
        wide, thick = uni(rng, 0.025, 0.07), uni(rng, 0.01, 0.018)
        band = box(wide, 0.03, thick, 0.003).at(y=0.0)
        tuft = skin(
            np.array(
                [
                    [(x * wide * s, y, z * thick * s2) for x, z in rect(0.94, 0.9, 0.2, 2)]
                    for y, s, s2 in ((0.01, 1, 1), (0.05, 1.05, 0.9), (0.065, 0.95, 0.3))
                ]
            )
        )
        flat = spline(
            [
                (0.45 * wide, -0.012),
                (0.4 * wide, -0.03),
                (0.011, -0.06),
                (0.009, -0.1),
                (0.012, -length + 0.06),
            ],
            5,
        )
        bar = along_y(np.vstack([[[0, -0.012]], flat, [[0, -length + 0.055]]]), 28, 0.5)
        return Recipe(
            (
                Part(band, metal(rng), "steel", 0.0008),
                Part(tuft, hair, "plastic_pp", density_kg_m3=500),
                Part(bar, look, material),
            )
        )
    head_l, wide = length * uni(rng, 0.28, 0.4), uni(rng, 0.028, 0.06)
    base = ellipsoid(wide / 2, head_l / 2, 0.009, 28, 10, 3.0).at(z=0.03)
    bar = sweep(
        spline(
            [
                (0, -0.42 * head_l, 0.03),
                (0, -0.6 * head_l, 0.032),
                (0, -0.4 * length, 0.034),
                (0, -length + head_l / 2, 0.03),
            ],
            5,
        ),
        np.interp(np.linspace(0, 1, 16), [0, 0.3, 0.7, 1], [0.012, 0.008, 0.012, 0.009]),
        circle(1.0, 14, 0.7),
        round_ends=True,
    )
    items = [Part(base, look, material), Part(bar, look, material)]
    nx, ny = int(rng.integers(3, 6)), int(rng.integers(6, 11))
    for i in range(nx):
        for j in range(ny):
            x, y = ((i + 0.5) / nx - 0.5) * wide * 0.9, ((j + 0.5) / ny - 0.5) * head_l * 0.92
            if (x / (0.5 * wide)) ** 2 + (y / (0.5 * head_l)) ** 2 < 0.85:
                pin = cylinder(0.0022, 0.028, 0, 7, 0.0032).turn("x", 180).at(x=x, y=y, z=0.028)
                items.append(Part(pin, hair, "plastic_pp"))
    return Recipe(parts(items))
