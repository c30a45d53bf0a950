"""Cans, cartons, boxes, jars, tins."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.bottles import ribbed_cap
from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, glass, metal, paint, pick, plastic, tint, uni
from seed3d.data.procedural.prints import box_art, wrap_label
from seed3d.data.procedural.shapes import fillet, lathe, rect
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism


@category("can", 0.04, 0.2)
def can(rng: np.random.Generator) -> Recipe:
    """Soda, soup or tuna can, or a spray can; empty."""
    kind = pick(rng, ["soda", "soup", "soup", "tuna", "spray"])
    radius, height = {
        "soda": (uni(rng, 0.026, 0.034), uni(rng, 0.11, 0.17)),
        "soup": (uni(rng, 0.033, 0.05), uni(rng, 0.08, 0.14)),
        "tuna": (uni(rng, 0.036, 0.05), uni(rng, 0.03, 0.05)),
        "spray": (uni(rng, 0.025, 0.033), uni(rng, 0.13, 0.19)),
    }[kind]
    r, h = radius, height
    if kind == "soda":
        profile = [
            (0, 0.008),
            (0.72 * r, 0.002),
            (0.78 * r, 0),
            (r, 0.012),
            (r, 0.02),
            (r, h - 0.02),
            (r, h - 0.014),
            (0.82 * r, h - 0.001),
            (0.82 * r, h),
            (0.76 * r, h),
            (0.74 * r, h - 0.004),
            (0, h - 0.004),
        ]
    elif kind == "spray":
        profile = [
            (0, 0),
            (r, 0),
            (r, 0.004),
            (r, 0.8 * h),
            (0.95 * r, 0.83 * h),
            (0.7 * r, 0.87 * h),
            (0.7 * r, 0.88 * h),
            (0, 0.88 * h),
        ]
    else:
        profile = [
            (0, 0.002),
            (0.93 * r, 0.002),
            (0.95 * r, 0),
            (r * 1.02, 0),
            (r * 1.02, 0.003),
            (r, 0.004),
            (r, h - 0.004),
            (r * 1.02, h - 0.003),
            (r * 1.02, h),
            (0.95 * r, h),
            (0.93 * r, h - 0.003),
            (0, h - 0.003),
        ]
        if kind == "soup" and chance(rng, 0.4):
            z = np.linspace(0.3, 0.7, 21)
            ribs = [
                (r * (1 - 0.012 * (1 - np.cos((t - 0.3) / 0.4 * 10 * np.pi))), t * h) for t in z
            ]
            profile[6:6] = ribs
    base = metal(rng, "aluminium")
    texture = wrap_label(rng, base.base_color, 0.05, {"soda": 0.87, "spray": 0.8}.get(kind, 0.95))
    look = paint(base.base_color, uni(rng, 0.25, 0.5), 0.3, texture, "printed can")
    material = "aluminium" if kind in ("soda", "spray") else "steel"
    items = [Part(lathe(profile), look, material, 0.00013 if kind == "soda" else 0.0002)]
    if kind == "soda":
        tab = cylinder(0.25 * r, 0.0015, 0, 20).scale(1.5).at(x=0.2 * r, z=h - 0.0045)
        items.append(Part(tab, base, material))
    if kind == "spray":
        items.append(
            Part(
                cylinder(0.66 * r, 0.12 * h, 0.004).at(z=0.875 * h),
                plastic(rng),
                "plastic_pp",
                0.001,
            )
        )
    return Recipe(tuple(items))


@category("carton", 0.1, 0.31)
def carton(rng: np.random.Generator) -> Recipe:
    """Milk or juice carton with gable top, empty; the gable's ridge runs along Y."""
    x, y = uni(rng, 0.055, 0.1), uni(rng, 0.055, 0.1)
    wall, gable, fin = uni(rng, 0.07, 0.19), uni(rng, 0.022, 0.035), uni(rng, 0.01, 0.018)
    art = paint((1, 1, 1), 0.45, texture=box_art(rng), name="carton")
    body = box(x, y, wall, 0.0015, 1, atlas=True).at(z=wall / 2)
    roof_outline = np.array([(-x / 2, 0), (x / 2, 0), (0.001, gable), (-0.001, gable)])
    roof = prism(roof_outline, y).turn("x", 90).at(y=y / 2, z=wall - 0.001)
    ridge = box(0.003, y, fin, 0.0005, 1).at(z=wall + gable + fin / 2 - 0.002)
    plain = paint(tint(rng, "neutral", "bright", "pastel"), 0.45, name="carton")
    items = [
        Part(body, art, "cardboard", 0.0006),
        Part(roof, plain, "cardboard", 0.0006),
        Part(ridge, plain, "cardboard"),
    ]
    if chance(rng, 0.55):
        angle = float(np.degrees(np.arctan2(gable, x / 2)))
        cap = ribbed_cap(rng, 0.013, 0.011).turn("y", angle).at(x=x / 4, z=wall + gable / 2 - 0.002)
        items.append(Part(cap, plastic(rng), "plastic_pp", 0.0015))
    return Recipe(tuple(items))


@category("food_box", 0.07, 0.38)
def food_box(rng: np.random.Generator) -> Recipe:
    """Cereal, cracker, tea or medicine box, empty; the printed face is the front."""
    height = uni(rng, 0.08, 0.33)
    y, x = height * uni(rng, 0.5, 1.1), height * uni(rng, 0.15, 0.45)
    form = box(x, y, height, 0.0012, 1, atlas=True)
    art = paint((1, 1, 1), uni(rng, 0.3, 0.7), texture=box_art(rng), name="box art")
    return Recipe((Part(form, art, "cardboard", 0.0006),))


@category("jar", 0.045, 0.24)
def jar(rng: np.random.Generator) -> Recipe:
    """Jar with a lid: jam, cream, spice, storage."""
    radius = uni(rng, 0.022, 0.055)
    height = radius * uni(rng, 1.3, 3.6)
    neck = radius * uni(rng, 0.75, 1.0)
    body = fillet(
        [
            (0, 0),
            (radius, 0),
            (radius, 0.82 * height),
            (neck, 0.9 * height),
            (neck, height),
            (0, height),
        ],
        [0, 0.1 * radius, 0.15 * radius, 0.02 * radius, 0, 0],
        5,
    )
    form = lathe(body, 56, square=pick(rng, [2.0, 2.0, 2.0, 5.0]))
    is_glass = chance(rng, 0.7)
    look = glass(rng) if is_glass else plastic(rng)
    label = chance(rng, 0.75)
    if label:
        look = paint(
            look.base_color,
            look.roughness,
            texture=wrap_label(rng, look.base_color, uni(rng, 0.1, 0.25), uni(rng, 0.6, 0.78)),
        )
    lid_h = height * uni(rng, 0.12, 0.2)
    lid = cylinder(neck * 1.06, lid_h, 0.002).at(z=height - 0.7 * lid_h)
    lid_look = pick(rng, [metal(rng, "brass"), plastic(rng), metal(rng, "steel")])
    lid_material = "steel" if lid_look.metallic else "plastic_pp"
    items = [
        Part(form, look, "glass" if is_glass else "plastic_pp", 0.003 if is_glass else 0.0015),
        Part(lid, lid_look, lid_material, 0.0003 if lid_look.metallic else 0.0015),
    ]
    if chance(rng, 0.2):
        items.append(
            Part(
                ellipsoid(0.25 * neck, 0.25 * neck, 0.22 * neck, 20, 10).at(
                    z=height + 0.3 * lid_h + 0.15 * neck
                ),
                lid_look,
                lid_material,
            )
        )
    return Recipe(tuple(items), has_front=label)


@category("tin", 0.05, 0.26)
def tin(rng: np.random.Generator) -> Recipe:
    """Sheet-metal box with a lid: biscuit, tea or mint tin."""
    x, y, z = uni(rng, 0.05, 0.16), uni(rng, 0.06, 0.2), uni(rng, 0.025, 0.14)
    corner = uni(rng, 0.006, 0.02)
    round_tin = chance(rng, 0.35)
    if round_tin:
        y = x
    steps = 12 if round_tin else 5
    outline = np.roll(rect(x, y, 0.49 * x if round_tin else corner, steps), steps + 1, axis=0)
    outline = np.vstack([[-x / 2, 0.0], outline])  # the label's seam faces -X
    lid_h = uni(rng, 0.01, 0.3 * z + 0.008)
    base = tint(rng, "bright", "neutral", "pastel", "dark", "glaze")
    look = paint(base, uni(rng, 0.25, 0.5), 0.35, wrap_label(rng, base, 0.1, 0.9), "tin")
    plain = paint(base, 0.35, 0.4)
    body = prism(outline, z, 0.001)
    grow = np.array([(x + 0.002) / x, (y + 0.002) / y])
    lid = prism(outline * grow, lid_h, 0.0015).at(z=z - lid_h + 0.002)
    return Recipe((Part(body, look, "steel", 0.00025), Part(lid, plain, "steel", 0.00025)))
