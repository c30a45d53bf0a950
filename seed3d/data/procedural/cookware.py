"""Pans and pots."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, metal, paint, pick, tint, uni, wood
from seed3d.data.procedural.shapes import circle, fillet, lathe, spline, sweep, vessel
from seed3d.data.procedural.solids import cylinder, ellipsoid
from seed3d.types import SurfaceMaterial


def _metal_or_enamel(rng: np.random.Generator) -> tuple[SurfaceMaterial, str]:
    material = pick(rng, ["stainless", "aluminium", "steel"])
    if chance(rng, 0.5):
        return metal(rng, material), material
    return paint(
        tint(rng, "dark", "dark", "bright"), uni(rng, 0.2, 0.5), 0.2, name="coated"
    ), material


@category("pan", 0.22, 0.56)
def pan(rng: np.random.Generator) -> Recipe:
    """Frying pan or saucepan with a long handle towards +Y."""
    radius = uni(rng, 0.075, 0.15)
    height = radius * pick(rng, [uni(rng, 0.25, 0.4), uni(rng, 0.7, 1.1)])
    foot = radius * (uni(rng, 0.7, 0.88) if height < 0.5 * radius else 0.95)
    outer = fillet([(foot * 0.5, 0), (foot, 0), (radius, height)], 0.25 * height, 6)
    look, material = _metal_or_enamel(rng)
    wall = uni(rng, 0.0015, 0.003)
    reach = uni(rng, 0.14, 0.21)
    z = height * 0.8
    path = spline(
        [
            (0, radius - 0.008, z),
            (0, radius + 0.03, z + 0.01),
            (0, radius + 0.5 * reach, z + uni(rng, 0.01, 0.04)),
            (0, radius + reach, z + uni(rng, 0.015, 0.05)),
        ],
        6,
    )
    width = np.interp(np.linspace(0, 1, len(path)), [0, 0.2, 0.6, 1], [0.013, 0.009, 0.013, 0.011])
    bar = sweep(path, width, circle(1.0, 14, uni(rng, 0.45, 0.8)), round_ends=True)
    bar_look, bar_material = (
        (look, material)
        if chance(rng, 0.3)
        else pick(rng, [(paint(tint(rng, "dark"), 0.5), "plastic_abs"), (wood(rng), "wood_hard")])
    )
    return Recipe(
        (Part(vessel(outer, wall, wall), look, material), Part(bar, bar_look, bar_material))
    )


@category("pot", 0.15, 0.46)
def pot(rng: np.random.Generator) -> Recipe:
    """Cooking pot with two handles on +-Y, mostly with its lid on."""
    radius = uni(rng, 0.075, 0.15)
    height = radius * uni(rng, 0.7, 1.5)
    outer = fillet([(radius * 0.6, 0), (radius * 0.97, 0), (radius, height)], 0.12 * radius, 6)
    look, material = _metal_or_enamel(rng)
    wall = uni(rng, 0.001, 0.003)
    items = [Part(vessel(outer, wall, 2 * wall), look, material)]
    wide, reach, z = (
        radius * uni(rng, 0.3, 0.45),
        uni(rng, 0.025, 0.045),
        height * uni(rng, 0.75, 0.88),
    )
    y = float(np.sqrt(radius**2 - wide**2)) - 0.006
    loop = fillet(
        [(-wide, y), (-wide * 0.9, radius + reach), (wide * 0.9, radius + reach), (wide, y)],
        0.02,
        6,
    )
    grip = paint(tint(rng, "dark"), 0.5) if chance(rng, 0.4) else look
    grip_material = material if grip is look else "plastic_abs"
    bar = sweep(
        np.column_stack([loop, np.full(len(loop), z)]), uni(rng, 0.004, 0.007), circle(1.0, 10)
    )
    items += [Part(bar, grip, grip_material), Part(bar.scale(y=-1.0), grip, grip_material)]
    if chance(rng, 0.75):
        dome = uni(rng, 0.08, 0.25) * radius
        t = np.linspace(0, np.pi / 2, 8)
        top = np.stack([radius * np.cos(t), height + 0.004 + dome * np.sin(t)], -1)
        lid = lathe(
            np.vstack(
                [
                    [
                        [0, height - 0.003],
                        [radius * 1.01, height - 0.003],
                        [radius * 1.02, height + 0.003],
                    ],
                    top,
                ]
            )
        )
        is_glass = chance(rng, 0.3)
        lid_look = paint((0.75, 0.8, 0.8), 0.1) if is_glass else look
        items.append(
            Part(lid, lid_look, "glass" if is_glass else material, 0.004 if is_glass else 0.0012)
        )
        stem = cylinder(0.007, 0.02).at(z=height + dome)
        knob = ellipsoid(0.02, 0.02, 0.01, 24, 10, 2.6).at(z=height + dome + 0.024)
        items += [Part(stem, grip, grip_material), Part(knob, grip, grip_material)]
    return Recipe(parts(items))
