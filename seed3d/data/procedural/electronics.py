"""Small electronics: remote, phone, speaker, clock, camera, headphones."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.prints import dial, screen
from seed3d.data.procedural.shapes import circle, lathe, rect, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism, torus
from seed3d.types import SurfaceMaterial

BULK_KG_M3 = 1100.0
"""Handheld electronics with a battery and a board: mass over outer volume, typical."""


def case(rng: np.random.Generator) -> SurfaceMaterial:
    """Return looks of a housing: mostly dark, white or grey plastic."""
    if chance(rng, 0.15):
        return metal(rng, "aluminium")
    return plastic(
        rng, *pick(rng, [("dark",), ("dark", "neutral"), ("neutral",), ("bright", "pastel")])
    )


@category("remote_control", 0.1, 0.26)
def remote_control(rng: np.random.Generator) -> Recipe:
    """Remote lying along Y, its buttons up, sender towards +Y."""
    y = uni(rng, 0.11, 0.23)
    x, z = y * uni(rng, 0.2, 0.34), uni(rng, 0.012, 0.025)
    look = case(rng)
    items = [
        Part(
            box(x, y, z, uni(rng, 0.2, 0.45) * z, 3), look, "plastic_abs", density_kg_m3=BULK_KG_M3
        )
    ]
    key = plastic(rng, "neutral") if sum(look.base_color) < 1.5 else plastic(rng, "dark")
    accent = plastic(rng, "bright")
    cols, rows = int(rng.integers(2, 5)), int(rng.integers(4, 10))
    pad = chance(rng, 0.6)
    top = 0.12 * y if pad else 0.42 * y
    for i in range(cols):
        for j in range(rows):
            at = (
                ((i + 0.5) / cols - 0.5) * x * 0.84,
                -0.45 * y + (j + 0.5) / rows * (top + 0.45 * y),
            )
            r = 0.32 * min(0.84 * x / cols, (top + 0.45 * y) / rows)
            form = (
                cylinder(r, 0.003, 0.0006, 14)
                if (j % 2)
                else box(2.1 * r, 1.6 * r, 0.003, 0.0008, 1).at(z=0.0015)
            )
            items.append(Part(form.at(*at, z / 2 - 0.0012), key, "rubber"))
    if pad:
        items.append(
            Part(
                torus(0.28 * x, 0.09 * x, 28, 8).scale(z=0.35).at(y=0.27 * y, z=z / 2),
                key,
                "plastic_abs",
            )
        )
        items.append(
            Part(
                cylinder(0.14 * x, 0.003, 0.0008, 20).at(y=0.27 * y, z=z / 2 - 0.001),
                accent,
                "plastic_abs",
            )
        )
    items.append(
        Part(
            cylinder(0.004, 0.003, 0.0005, 14).at(x=-0.3 * x, y=0.44 * y, z=z / 2 - 0.001),
            accent,
            "rubber",
        )
    )
    return Recipe(parts(items))


@category("phone", 0.12, 0.27)
def phone(rng: np.random.Generator) -> Recipe:
    """Phone or tablet: lying, or standing on a stand with its screen towards +X."""
    tall = pick(rng, [uni(rng, 0.135, 0.17), uni(rng, 0.135, 0.17), uni(rng, 0.19, 0.25)])
    wide, thick = (
        tall * (uni(rng, 0.46, 0.52) if tall < 0.18 else uni(rng, 0.62, 0.72)),
        uni(rng, 0.007, 0.011),
    )
    look = pick(rng, [metal(rng, "aluminium"), plastic(rng), plastic(rng, "dark")])
    outline = rect(wide, tall, 0.012, 6)
    body = prism(outline, thick, 0.0018)
    edge = uni(rng, 0.004, 0.012)
    face = prism(rect(wide - edge, tall - edge, 0.009, 6), 0.0012).at(z=thick - 0.0008)
    back = box(0.02, 0.02, 0.003, 0.001, 1).at(x=wide / 2 - 0.018, y=tall / 2 - 0.018, z=-0.001)
    glow = paint((1, 1, 1), 0.08, texture=screen(rng, 96, 192), name="screen")
    dark = paint((0.05, 0.05, 0.06), 0.2)
    forms = [
        (body, look, "aluminium" if look.metallic else "plastic_abs", 1700.0),
        (face, glow, "glass", None),
        (back, dark, "plastic_abs", None),
    ]
    if chance(rng, 0.5):  # lying, its long side along Y
        return Recipe(tuple(Part(f, m, s, density_kg_m3=d) for f, m, s, d in forms))
    lean = uni(rng, 10, 30)
    stood = [
        Part(
            f.turn("x", 90)
            .turn("z", 90)
            .turn("y", -lean)
            .at(z=tall / 2 * np.cos(np.radians(lean)) + 0.012),
            m,
            s,
            density_kg_m3=d,
        )
        for f, m, s, d in forms
    ]
    stand = plastic(rng, "dark", "neutral")
    foot = box(0.09, 0.06, 0.006, 0.002).at(z=0.003)
    prop = box(0.006, 0.04, 0.6 * tall, 0.002).turn("y", -lean).at(x=-0.013, z=0.3 * tall)
    lip = box(0.03, 0.05, 0.012, 0.003).at(
        x=0.018 + 0.4 * tall * np.sin(np.radians(lean)) * 0.3 + 0.01, z=0.009
    )
    return Recipe(parts(stood, [Part(f, stand, "plastic_abs") for f in (foot, prop, lip)]))


@category("speaker", 0.08, 0.45)
def speaker(rng: np.random.Generator) -> Recipe:
    """Loudspeaker box, or round smart speaker; drivers face +X."""
    look = wood(rng) if chance(rng, 0.4) else case(rng)
    cone = paint(tint(rng, "dark"), 0.7)
    if chance(rng, 0.3):
        r, h = uni(rng, 0.04, 0.07), uni(rng, 0.05, 0.2)
        fabric = paint(tint(rng, "fabric", "dark"), 0.95)
        body = cylinder(r, h, 0.012, 48, r * uni(rng, 0.85, 1.0))
        top = cylinder(0.75 * r, 0.004, 0.001, 40).at(z=h - 0.001)
        return Recipe(
            (
                Part(body, fabric, "plastic_abs", density_kg_m3=700),
                Part(top, case(rng), "plastic_abs"),
            ),
            has_front=False,
        )
    h = uni(rng, 0.14, 0.4)
    y, x = h * uni(rng, 0.55, 0.75), h * uni(rng, 0.5, 0.85)
    items = [Part(box(x, y, h, uni(rng, 0.002, 0.012)).at(z=h / 2), look, "mdf", 0.012)]
    ring = metal(rng, "aluminium") if chance(rng, 0.5) else cone
    for z, r in ((0.33 * h, 0.38 * y), (0.76 * h, uni(rng, 0.16, 0.26) * y)):
        bowl = lathe(
            [
                (0, -0.004),
                (0.35 * r, -0.001),
                (0.4 * r, -0.008),
                (0.85 * r, 0.001),
                (r, 0.006),
                (r * 1.12, 0.001),
                (r * 1.12, -0.012),
                (0, -0.012),
            ],
            40,
        )
        items.append(Part(bowl.turn("y", 90).at(x=x / 2 + 0.002, z=z), cone, "plastic_pp"))
        items.append(
            Part(
                torus(1.04 * r, 0.05 * r, 40, 8).turn("y", 90).at(x=x / 2 + 0.002, z=z),
                ring,
                "plastic_abs",
            )
        )
        items.append(
            Part(
                ellipsoid(0.3 * r, 0.3 * r, 0.15 * r, 20, 8).turn("y", 90).at(x=x / 2, z=z),
                ring,
                "plastic_abs",
            )
        )
    return Recipe(tuple(items))


@category("clock", 0.07, 0.36)
def clock(rng: np.random.Generator) -> Recipe:
    """Alarm, desk or wall clock, standing; its face towards +X."""
    r = uni(rng, 0.035, 0.15)
    deep = max(uni(rng, 0.2, 0.6) * r, 0.015) if r < 0.08 else uni(rng, 0.03, 0.045)
    look = pick(rng, [plastic(rng), metal(rng, pick(rng, ["brass", "steel"])), wood(rng)])
    face_look = paint((1, 1, 1), 0.4, texture=dial(rng), name="dial")
    material = "steel" if look.metallic else "plastic_abs"
    legs = 0.25 * r if r < 0.08 else 0.0
    z = r + legs
    if chance(rng, 0.25):
        body = box(deep, 2 * r, 2 * r, 0.15 * r).at(z=z)
        face = box(0.002, 1.8 * r, 1.8 * r).at(x=deep / 2, z=z)
        return Recipe((Part(body, look, material, 0.003), Part(face, face_look, "glass")))
    rim = (
        lathe(
            [
                (0, 0),
                (0.97 * r, 0),
                (r, 0.1 * deep),
                (r, 0.95 * deep),
                (0.96 * r, deep),
                (0.9 * r, 0.93 * deep),
                (0, 0.93 * deep),
            ],
            56,
        )
        .turn("y", 90)
        .at(x=-deep / 2, z=z)
    )
    disc = prism(circle(0.9 * r, 48), 0.002).turn("x", 90).turn("z", 90).at(x=0.43 * deep, z=z)
    items = [Part(rim, look, material, 0.002), Part(disc, face_look, "glass")]
    if legs:
        for s in (-1, 1):
            leg = sweep(
                [(0, s * 0.5 * r, z - 0.8 * r), (0, s * 0.75 * r, 0.0)], 0.07 * r, round_ends=True
            )
            items.append(Part(leg, look, material))
        if chance(rng, 0.5):
            for s in (-1, 1):
                bell = (
                    ellipsoid(0.38 * r, 0.38 * r, 0.25 * r, 24, 12)
                    .turn("x", -s * 35)
                    .at(y=s * 0.6 * r, z=z + 0.95 * r)
                )
                items.append(Part(bell, look, material, 0.001))
            items.append(
                Part(
                    torus(0.35 * r, 0.035 * r, 28, 8).turn("y", 90).at(z=z + 1.2 * r),
                    look,
                    material,
                )
            )
    return Recipe(tuple(items))


@category("camera", 0.08, 0.19)
def camera(rng: np.random.Generator) -> Recipe:
    """Photo camera, its lens towards +X."""
    y = uni(rng, 0.1, 0.145)
    h, x = y * uni(rng, 0.55, 0.72), y * uni(rng, 0.25, 0.4)
    look, dark = plastic(rng, "dark", "dark", "neutral", "leather"), plastic(rng, "dark")
    r = h * uni(rng, 0.3, 0.42)
    long = uni(rng, 0.02, 0.075)
    lens = lathe(
        [
            (0, 0),
            (r, 0),
            (r, 0.35 * long),
            (0.94 * r, 0.36 * long),
            (0.94 * r, 0.8 * long),
            (r, 0.82 * long),
            (r, long),
            (0.85 * r, long),
            (0.75 * r, 0.85 * long),
            (0.4 * r, 0.8 * long),
            (0, 0.83 * long),
        ],
        44,
    )
    z = 0.48 * h
    shift = uni(rng, -0.1, 0.1) * y
    strip = metal(rng, "aluminium") if chance(rng, 0.5) else look
    items = [
        (box(x, y, h, 0.006).at(z=h / 2), look),
        (lens.turn("y", 90).at(x=x / 2 - 0.001, y=shift, z=z), dark),
        (box(x * 1.02, y * 1.005, 0.22 * h, 0.005).at(z=0.9 * h), strip),
        (box(0.75 * x, 0.3 * y, 0.28 * h, 0.006).at(y=shift, z=h + 0.06 * h), strip),
        (cylinder(0.007, 0.008, 0.001, 20).at(y=-0.36 * y, z=h + 0.002), metal(rng)),
        (cylinder(0.011, 0.009, 0.001, 28).at(y=0.36 * y, z=h), dark),
        (box(0.35 * x, 0.22 * y, 0.8 * h, 0.008).at(x=0.55 * x, y=-0.38 * y, z=0.42 * h), dark),
    ]
    glass_look = paint((0.12, 0.12, 0.2), 0.05)
    items.append(
        (
            ellipsoid(0.5 * r, 0.5 * r, 0.1 * r, 24, 8)
            .turn("y", 90)
            .at(x=x / 2 + 0.82 * long, y=shift, z=z),
            glass_look,
        )
    )
    return Recipe(tuple(Part(f, m, "plastic_abs", density_kg_m3=1000) for f, m in items))


@category("headphones", 0.14, 0.27)
def headphones(rng: np.random.Generator) -> Recipe:
    """Over-ear headphones standing on their cups; the wearer looks towards +X."""
    w, h, r = uni(rng, 0.075, 0.095), uni(rng, 0.15, 0.2), uni(rng, 0.032, 0.045)
    look, pad = case(rng), paint(tint(rng, "leather", "dark"), 0.7)
    t = np.linspace(-0.05, np.pi + 0.05, 36)
    path = np.column_stack(
        [np.zeros(36), w * np.cos(t), r + (h - r) * np.abs(np.sin(t)) ** 0.8 * np.sign(np.sin(t))]
    )
    band = sweep(path, 0.012, circle(1.0, 12, 0.35), up=(1, 0, 0))
    cushion = sweep(
        path[11:25] + np.array([0, 0, -0.004]),
        0.014,
        circle(1.0, 12, 0.5),
        up=(1, 0, 0),
        round_ends=True,
    )
    items = [Part(band, look, "plastic_abs"), Part(cushion, pad, "leather")]
    for s in (-1, 1):
        cup = (
            cylinder(r, 0.024, 0.007, 40).turn("x", 90 * s).scale(x=0.85).at(y=s * (w + 0.004), z=r)
        )
        soft = (
            torus(0.68 * r, 0.33 * r, 40, 12)
            .scale(z=0.9)
            .turn("x", 90)
            .scale(x=0.85)
            .at(y=s * (w - 0.006), z=r)
        )
        items += [
            Part(cup.at(y=s * 0.018), look, "plastic_abs", 0.003),
            Part(soft, pad, "leather", density_kg_m3=150),
        ]
    return Recipe(tuple(items))
