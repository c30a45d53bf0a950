"""Household appliances."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, metal, paint, plastic, uni
from seed3d.data.procedural.shapes import circle, fillet, lathe, rect, skin, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, prism
from seed3d.types import SurfaceMaterial


def shiny(rng: np.random.Generator) -> SurfaceMaterial:
    """Return an appliance's housing: coloured plastic or brushed steel."""
    return metal(rng) if chance(rng, 0.35) else plastic(rng, "neutral", "bright", "dark", "pastel")


@category("toaster", 0.22, 0.4)
def toaster(rng: np.random.Generator) -> Recipe:
    """Toaster with slots on top; lever and dial face +X."""
    x, y, z = uni(rng, 0.26, 0.34), uni(rng, 0.15, 0.19), uni(rng, 0.17, 0.21)
    look, dark = shiny(rng), plastic(rng, "dark")
    slots = [rect(0.15, 0.026, 0.006) + np.array([0.0, s * 0.22 * y]) for s in (-1, 1)]
    outline = rect(x, y, uni(rng, 0.02, 0.06), 6)
    shell = prism(outline, z - 0.05, 0.0).at(z=0.012)
    top = prism([outline, *[s[::-1] for s in slots]], 0.05, 0.006).at(z=z - 0.05)
    items = [
        Part(shell, look, "stainless", 0.0006),
        Part(top, look, "stainless", 0.0006),
        Part(box(x * 0.96, y * 0.94, 0.02, 0.005).at(z=0.01), dark, "plastic_abs"),
        Part(
            box(0.02, 0.04, 0.014, 0.005).at(x=x / 2 + 0.01, z=uni(rng, 0.55, 0.72) * z),
            dark,
            "plastic_abs",
        ),
        Part(box(0.003, 0.008, 0.6 * z).at(x=x / 2, z=0.48 * z), dark, "plastic_abs"),
        Part(
            cylinder(0.014, 0.014, 0.003, 24)
            .turn("y", 90)
            .at(x=x / 2 - 0.002, y=0.3 * y, z=0.3 * z),
            dark,
            "plastic_abs",
        ),
    ]
    return Recipe(tuple(items))


@category("coffee_maker", 0.26, 0.43)
def coffee_maker(rng: np.random.Generator) -> Recipe:
    """Drip coffee maker: tank at -X, jug in front."""
    h, y = uni(rng, 0.28, 0.38), uni(rng, 0.16, 0.21)
    x = y * uni(rng, 1.1, 1.35)
    look, dark = shiny(rng), plastic(rng, "dark")
    tank = box(0.4 * x, y, h, 0.015, 3).at(x=-0.3 * x, z=h / 2)
    head = box(x, y, 0.26 * h, 0.015, 3).at(z=0.87 * h)
    foot = box(x, y, 0.09 * h, 0.012, 3).at(z=0.045 * h)
    r = min(0.29 * x, 0.43 * y)
    jug = lathe(
        [
            (0, 0),
            (0.8 * r, 0),
            (r, 0.12 * h),
            (0.95 * r, 0.3 * h),
            (0.6 * r, 0.44 * h),
            (0.65 * r, 0.5 * h),
            (0, 0.5 * h),
        ],
        44,
    ).at(x=0.18 * x, z=0.09 * h)
    handle = sweep(
        spline(
            [
                (0.18 * x + 0.6 * r, 0, 0.52 * h),
                (0.18 * x + 1.5 * r, 0, 0.5 * h),
                (0.18 * x + 1.55 * r, 0, 0.28 * h),
                (0.18 * x + 0.9 * r, 0, 0.2 * h),
            ],
            6,
        ),
        0.009,
        circle(1, 10, 0.7),
        up=(0, 1, 0),
    )
    button = (
        cylinder(0.009, 0.006, 0.001, 20).turn("y", 90).at(x=x / 2 - 0.002, y=0.3 * y, z=0.86 * h)
    )
    return Recipe(
        (
            Part(tank, look, "plastic_abs", 0.003),
            Part(head, look, "plastic_abs", 0.003),
            Part(foot, dark, "plastic_abs", 0.004),
            Part(jug, paint((0.16, 0.12, 0.1), 0.06, name="glass"), "glass", 0.003),
            Part(handle, dark, "plastic_abs"),
            Part(button, plastic(rng, "bright"), "plastic_abs"),
        )
    )


@category("iron", 0.2, 0.32)
def iron(rng: np.random.Generator) -> Recipe:
    """Clothes iron on its sole, the point towards +X."""
    length = uni(rng, 0.22, 0.29)
    wide, look, dark = (
        length * uni(rng, 0.38, 0.46),
        plastic(rng, "bright", "pastel", "neutral"),
        plastic(rng, "dark", "neutral"),
    )
    half = spline([(0.5, 0.0), (0.38, 0.2), (0.1, 0.42), (-0.25, 0.5), (-0.5, 0.46)], 5)
    half[0] = (0.5, 0.02)
    outline = np.vstack([half, half[::-1] * [1, -1]]) * [length, wide]
    sole = prism(outline, 0.012, 0.002)
    rings = [
        np.column_stack([outline * s + [o, 0], np.full(len(outline), z)])
        for s, o, z in ((0.98, 0, 0.01), (0.95, 0, 0.035), (0.78, -0.02, 0.06), (0.5, -0.03, 0.075))
    ]
    body = skin(np.stack(rings))
    top = uni(rng, 0.11, 0.14)
    grip = spline(
        [
            (0.22 * length, 0, 0.05),
            (0.2 * length, 0, 0.085),
            (0.1 * length, 0, top),
            (-0.2 * length, 0, top * 1.02),
            (-0.38 * length, 0, top * 0.92),
            (-0.42 * length, 0, 0.05),
        ],
        6,
    )
    handle = sweep(grip, 0.017, circle(1, 14, 0.85), up=(0, 1, 0))
    dial = cylinder(0.02, 0.012, 0.002, 28).at(x=-0.1 * length, z=0.072)
    return Recipe(
        (
            Part(sole, metal(rng), "aluminium"),
            Part(body, look, "plastic_abs", 0.004, crease_deg=50),
            Part(handle, dark, "plastic_abs", 0.003),
            Part(dial, dark, "plastic_abs"),
        )
    )


@category("power_drill", 0.17, 0.34)
def power_drill(rng: np.random.Generator) -> Recipe:
    """Cordless drill standing on its battery, the chuck towards +X."""
    s = uni(rng, 0.85, 1.2)
    look, dark, grey = plastic(rng, "bright"), plastic(rng, "dark"), metal(rng, "steel")

    z = 0.19 * s
    motor = lathe(
        np.array(
            fillet(
                [
                    (0, -0.07),
                    (0.029, -0.07),
                    (0.031, 0.0),
                    (0.03, 0.05),
                    (0.022, 0.075),
                    (0, 0.075),
                ],
                [0, 0.012, 0, 0.01, 0, 0],
                4,
            )
        )
        * s,
        36,
    ).turn("y", 90)
    chuck = lathe(
        np.array([(0, 0.07), (0.02, 0.07), (0.021, 0.1), (0.013, 0.122), (0, 0.122)]) * s, 30
    ).turn("y", 90)
    bit = lathe(np.array([(0, 0.12), (0.003, 0.12), (0.003, 0.17), (0, 0.175)]) * s, 12).turn(
        "y", 90
    )
    path = spline(
        np.array([(-0.025, 0, 0), (-0.035, 0, -0.05), (-0.042, 0, -0.1), (-0.04, 0, -0.15)]) * s, 5
    )
    handle = sweep(path, 0.023 * s, circle(1, 16, 0.75), up=(0, 1, 0))
    trigger = box(0.014 * s, 0.016 * s, 0.03 * s, 0.005).at(x=-0.002 * s, z=-0.045 * s)
    battery = box(0.115 * s, 0.068 * s, 0.042 * s, 0.008).at(x=-0.03 * s, z=-0.168 * s)
    forms = (
        (motor, look, 2400),
        (chuck, grey, 5000),
        (handle, look, 800),
        (trigger, dark, None),
        (battery, dark, 1800),
    )
    items = [
        Part(f.at(z=z), m, "plastic_abs" if m is not grey else "steel", density_kg_m3=d)
        for f, m, d in forms
    ]
    if chance(rng, 0.6):
        items.append(Part(bit.at(z=z), grey, "steel"))
    return Recipe(tuple(items))


@category("hair_dryer", 0.16, 0.34)
def hair_dryer(rng: np.random.Generator) -> Recipe:
    """Hair dryer lying on its side, the nozzle towards +Y, its handle towards +X."""
    look, dark, s = plastic(rng), plastic(rng, "dark"), uni(rng, 0.85, 1.15)
    barrel = lathe(
        np.array(
            fillet(
                [
                    (0, -0.09),
                    (0.03, -0.09),
                    (0.042, -0.05),
                    (0.038, 0.02),
                    (0.027, 0.08),
                    (0, 0.08),
                ],
                [0, 0.01, 0.02, 0.02, 0, 0],
                5,
            )
        )
        * s,
        40,
    ).turn("x", -90)
    nozzle = lathe(np.array([(0, 0.075), (0.026, 0.075), (0.022, 0.13), (0, 0.13)]) * s, 36).turn(
        "x", -90
    )
    path = spline(
        np.array([(0.02, -0.02, 0), (0.07, -0.025, 0), (0.12, -0.04, 0), (0.15, -0.055, 0)]) * s, 5
    )
    handle = sweep(
        path, np.linspace(0.021, 0.017, len(path)) * s, circle(1, 16, 0.85), round_ends=True
    )
    button = box(0.03 * s, 0.012 * s, 0.006, 0.002).at(x=0.08 * s, y=-0.028 * s, z=0.0175 * s)
    return Recipe(
        (
            Part(barrel, look, "plastic_abs", density_kg_m3=480),
            Part(nozzle, dark, "plastic_abs", 0.002),
            Part(handle, look, "plastic_abs", 0.003),
            Part(button, dark, "plastic_abs"),
        )
    )
