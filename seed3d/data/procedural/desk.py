"""Things on desks: frames, staplers, tape, tissues, candles, tape measures."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, glass, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.prints import box_art, pattern
from seed3d.data.procedural.shapes import circle, fillet, lathe, rect, skin, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, prism, torus


@category("picture_frame", 0.12, 0.56)
def picture_frame(rng: np.random.Generator) -> Recipe:
    """Picture frame leaning on its strut; the picture faces +X."""
    h = uni(rng, 0.13, 0.45)
    y = h * pick(rng, [uni(rng, 0.7, 0.85), uni(rng, 1.1, 1.2)])
    border, deep, lean = uni(rng, 0.012, 0.04), uni(rng, 0.01, 0.02), uni(rng, 8, 18)
    look = wood(rng) if chance(rng, 0.6) else metal(rng, "brass")
    bar = prism([rect(y, h), rect(y - 2 * border, h - 2 * border)[::-1]], deep, 0.002)
    back = prism(rect(y - border, h - border), 0.004).at(z=0.002)
    ground = tint(rng, "neutral", "pastel", "glaze")
    picture = paint(ground, 0.25, texture=pattern(rng, ground), name="picture")
    length = 0.6 * h
    strut = (
        box(0.004, 0.06, length, 0.001, 1)
        .turn("y", 16)
        .at(
            x=-0.5 * length * np.sin(np.radians(lean + 16))
            - 0.01
            - 0.2 * h * np.sin(np.radians(lean)),
            z=0.5 * length * np.cos(np.radians(16)),
        )
    )
    up = [
        Part(f.turn("x", 90).turn("z", 90).at(z=h / 2).turn("y", -lean), m, s)
        for f, m, s in (
            (bar, look, "wood_hard" if look.base_color_texture is not None else "brass"),
            (back, picture, "cardboard"),
        )
    ]
    return Recipe((*up, Part(strut, paint(tint(rng, "dark"), 0.8), "mdf")))


@category("stapler", 0.1, 0.2)
def stapler(rng: np.random.Generator) -> Recipe:
    """Stapler lying along Y, its mouth towards +Y."""
    length = uni(rng, 0.11, 0.17)
    look, dark = plastic(rng), plastic(rng, "dark")
    x = uni(rng, 0.026, 0.036)
    base = box(x, length, 0.008, 0.003).at(z=0.004)
    side = (
        fillet(
            [(-0.46, 0.0), (0.42, 0.0), (0.46, 0.1), (0.2, 0.19), (-0.3, 0.2), (-0.48, 0.12)],
            0.06,
            4,
            closed=True,
        )
        * length
    )
    arm = prism(side, x * 0.9, 0.004).turn("x", 90).turn("z", 90).at(x=-0.45 * x)
    arm = arm.turn("x", uni(rng, 4, 11)).at(z=0.022 + 0.02 * length)
    rail = box(x * 0.6, 0.86 * length, 0.01, 0.001, 1).turn("x", 5).at(z=0.022)
    post = box(x * 0.85, 0.03, 0.035, 0.004).at(y=-0.4 * length, z=0.018)
    return Recipe(
        (
            Part(base, dark, "steel", 0.0015),
            Part(arm, look, "plastic_abs", 0.003),
            Part(rail, metal(rng), "steel", 0.001),
            Part(post, dark, "steel", 0.0015),
        )
    )


@category("tape_dispenser", 0.05, 0.2)
def tape_dispenser(rng: np.random.Generator) -> Recipe:
    """Desk tape dispenser, or a roll of tape lying flat."""
    tape = paint(tint(rng, "neutral", "wood_light", "bright"), 0.3)
    r = uni(rng, 0.028, 0.05)
    wide = uni(rng, 0.014, 0.05)
    roll = lathe([(0.55 * r, 0), (r, 0), (r, wide), (0.55 * r, wide)], 48, ring=True)
    core = lathe(
        [
            (0.5 * r, 0.0005),
            (0.56 * r, 0.0005),
            (0.56 * r, wide - 0.0005),
            (0.5 * r, wide - 0.0005),
        ],
        48,
        ring=True,
    )
    card = paint((0.8, 0.7, 0.52), 0.9)
    if chance(rng, 0.5):
        return Recipe(
            (Part(roll, tape, "plastic_pp"), Part(core, card, "cardboard")), has_front=False
        )
    wide = min(wide, 0.025)
    look = plastic(rng, "dark", "bright", "pastel")
    side = fillet(
        [
            (-0.07, 0),
            (0.075, 0),
            (0.08, 0.03),
            (0.03, 0.028),
            (-0.005, 0.03),
            (-0.045, 0.055),
            (-0.07, 0.03),
        ],
        0.012,
        4,
        closed=True,
    )
    body = prism(side, wide + 0.02, 0.003).turn("x", 90).at(y=(wide + 0.02) / 2)
    wheel = (
        lathe([(0.55 * r, 0), (r, 0), (r, wide), (0.55 * r, wide)], 40, ring=True)
        .turn("x", 90)
        .at(x=-0.02, y=wide / 2, z=0.035 + 0.5 * r)
    )
    hub = (
        cylinder(0.57 * r, wide + 0.014, 0.002, 32)
        .turn("x", 90)
        .at(x=-0.02, y=(wide + 0.014) / 2, z=0.035 + 0.5 * r)
    )
    blade = box(0.006, wide + 0.004, 0.006, 0.001, 1).at(x=0.078, z=0.034)
    return Recipe(
        (
            Part(body, look, "plastic_abs", density_kg_m3=1600),
            Part(wheel, tape, "plastic_pp"),
            Part(hub, look, "plastic_abs"),
            Part(blade, metal(rng), "steel"),
        )
    )


@category("tissue_box", 0.1, 0.28)
def tissue_box(rng: np.random.Generator) -> Recipe:
    """Box of tissues, one pulled up."""
    x, y, z = uni(rng, 0.1, 0.13), uni(rng, 0.11, 0.25), uni(rng, 0.05, 0.13)
    art = paint((1, 1, 1), 0.6, texture=box_art(rng), name="box art")
    slot = prism(circle(1.0, 32) * [0.028, 0.3 * y], 0.001).at(z=z - 0.0005)
    high = uni(rng, 0.03, 0.06)
    rings = []
    phase, n = uni(rng, 0, 6), 28
    a = np.arange(n) / n * 2 * np.pi
    for t in np.linspace(0, 1, 6):
        grow = 0.4 + 0.8 * t
        wave = 1 + 0.35 * t * np.sin(3 * a + phase) + 0.15 * t * np.sin(5 * a)
        rings.append(
            np.column_stack(
                [
                    0.03 * grow * np.cos(a) * wave,
                    0.06 * grow * np.sin(a) * wave,
                    z - 0.004 + high * t + 0.012 * t * np.cos(4 * a + phase),
                ]
            )
        )
    white = paint((0.97, 0.97, 0.96), 0.95, name="tissue")
    return Recipe(
        (
            Part(box(x, y, z, 0.001, 1, atlas=True).at(z=z / 2), art, "cardboard", 0.0005),
            Part(slot, paint((0.3, 0.3, 0.3), 0.8), "paper"),
            Part(skin(np.stack(rings)), white, "paper", 0.0001),
        )
    )


@category("candle", 0.05, 0.36)
def candle(rng: np.random.Generator) -> Recipe:
    """Pillar candle, or taper on a candlestick."""
    wax = paint(tint(rng, "neutral", "pastel", "bright"), 0.5, name="wax")
    wick = paint((0.15, 0.13, 0.12), 0.9)
    if chance(rng, 0.5):
        r, h = uni(rng, 0.025, 0.045), uni(rng, 0.05, 0.17)
        body = lathe(
            fillet(
                [(0, 0), (r, 0), (r, h), (0.7 * r, h - 0.004), (0, h - 0.006)],
                [0, 0.002, 0.004, 0, 0],
                4,
            )
        )
        items = [Part(body, wax, "plastic_pp")]
        top = h - 0.006
    else:
        foot, stick = uni(rng, 0.035, 0.06), uni(rng, 0.05, 0.15)
        look, material = pick(
            rng, [(metal(rng, "brass"), "brass"), (wood(rng), "wood_hard"), (glass(rng), "glass")]
        )
        knots = rng.uniform(0.008, 0.02, 3)
        turned = spline(
            [
                (foot, 0.004),
                (0.5 * foot, 0.015),
                (knots[0], 0.35 * stick),
                (knots[1], 0.6 * stick),
                (knots[2], 0.85 * stick),
                (0.018, stick),
            ],
            6,
        )
        items = [
            Part(lathe(np.vstack([[[0, 0], [foot, 0]], turned, [[0, stick]]]), 40), look, material)
        ]
        tall = uni(rng, 0.06, 0.18)
        items.append(
            Part(cylinder(0.0105, tall, 0.002, 28, 0.009).at(z=stick - 0.003), wax, "plastic_pp")
        )
        top = stick + tall - 0.005
    items.append(
        Part(
            sweep(
                [(0, 0, top - 0.002), (0.001, 0, top + 0.008), (0.003, 0, top + 0.013)],
                0.001,
                circle(1, 6),
            ),
            wick,
            "fabric",
        )
    )
    return Recipe(tuple(items), has_front=False)


@category("tape_measure", 0.05, 0.11)
def tape_measure(rng: np.random.Generator) -> Recipe:
    """Tape measure standing; the blade comes out towards +Y."""
    s = uni(rng, 0.055, 0.08)
    look, dark = plastic(rng, "bright"), plastic(rng, "dark")
    side = (
        fillet(
            [(-0.5, 0), (0.5, 0), (0.5, 0.6), (0.25, 0.95), (-0.3, 0.98), (-0.5, 0.7)],
            [0.06, 0.04, 0.2, 0.2, 0.25, 0.2],
            5,
            closed=True,
        )
        * s
    )
    deep = 0.5 * s
    body = prism(side, deep, 0.006).turn("x", 90).turn("z", 90).at(x=-deep / 2)
    disc = (
        cylinder(0.3 * s, 0.003, 0.001, 32)
        .turn("y", 90)
        .at(x=deep / 2 - 0.002, y=-0.05 * s, z=0.5 * s)
    )
    out = uni(rng, 0.008, 0.02)
    blade = box(0.3 * s, out, 0.001).at(y=0.5 * s + out / 2 - 0.001, z=0.08 * s)
    hook = box(0.26 * s, 0.0015, 0.012, 0.0005, 1).at(y=0.5 * s + out, z=0.08 * s - 0.003)
    band = torus(0.3 * s, 0.002, 32, 6).turn("y", 90).at(x=deep / 2, y=-0.05 * s, z=0.5 * s)
    return Recipe(
        (
            Part(body, look, "plastic_abs", density_kg_m3=1500),
            Part(disc, dark, "plastic_abs"),
            Part(blade, paint((0.95, 0.8, 0.1), 0.4), "steel"),
            Part(hook, metal(rng), "steel"),
            Part(band, dark, "rubber"),
        )
    )
