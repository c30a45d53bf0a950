"""Bottles, cans, cartons, boxes, jars."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, glass, metal, paint, pick, plastic, tint, uni
from seed3d.data.procedural.prints import box_art, wrap_label
from seed3d.data.procedural.shapes import Form, fillet, lathe, rect, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism
from seed3d.types import SurfaceMaterial


def labelled(
    rng: np.random.Generator, low: float, high: float, rough: float | None = None
) -> SurfaceMaterial:
    """Return a body colour with a printed band for v in [low, high]."""
    base = tint(rng, "bright", "neutral", "pastel", "dark")
    rough = uni(rng, 0.2, 0.5) if rough is None else rough
    return paint(base, rough, texture=wrap_label(rng, base, low, high), name="label")


def ribbed_cap(rng: np.random.Generator, radius: float, height: float) -> Form:
    """Screw cap on z = 0."""
    cap = cylinder(radius, height, 0.12 * radius, 72, radius * uni(rng, 0.9, 1.0))
    v = cap.vertices.copy()
    side = (v[:, 2] > 0.05 * height) & (v[:, 2] < 0.9 * height)
    v[side, :2] *= (1 + 0.02 * np.cos(36 * np.arctan2(v[side, 1], v[side, 0])))[:, None]
    return cap.warp(v)


@category("bottle", 0.14, 0.37)
def bottle(rng: np.random.Generator) -> Recipe:
    """Round bottle with shoulder, neck and cap: water, beer, wine, sauce."""
    kind = pick(rng, ["pet", "beer", "wine", "sauce", "syrup"])
    height = {
        "pet": uni(rng, 0.18, 0.32),
        "beer": uni(rng, 0.19, 0.25),
        "wine": uni(rng, 0.28, 0.33),
    }.get(kind, uni(rng, 0.15, 0.25))
    radius = height * {"pet": uni(rng, 0.13, 0.17), "beer": 0.135, "wine": 0.125}.get(
        kind, uni(rng, 0.13, 0.2)
    )
    neck = radius * {"pet": uni(rng, 0.38, 0.5), "sauce": uni(rng, 0.35, 0.6)}.get(
        kind, uni(rng, 0.34, 0.42)
    )
    shoulder = height * {"wine": uni(rng, 0.55, 0.64), "beer": uni(rng, 0.5, 0.6)}.get(
        kind, uni(rng, 0.6, 0.75)
    )
    top = height * uni(rng, 0.78, 0.86) if kind != "pet" else height * 0.88
    body = fillet([(0, 0), (radius, 0), (radius, shoulder)], 0.15 * radius, 4)
    if kind == "pet" and chance(rng, 0.6):
        z = np.linspace(0.06, 0.98, 28)[:, None] * shoulder
        waves = 1 - 0.025 * (1 + np.cos(z / shoulder * 2 * np.pi * int(rng.integers(4, 8))))
        body = np.vstack([body[:-1], np.hstack([radius * waves, z])])
    curve = spline(
        [
            (body[-1, 0], shoulder),
            (radius * 0.9, shoulder + 0.35 * (top - shoulder)),
            (neck * 1.1, top - 0.1 * (top - shoulder)),
            (neck, top),
        ],
        5,
    )
    lip = [
        (neck, height * 0.985),
        (neck * 1.12, height * 0.985),
        (neck * 1.12, height),
        (0, height),
    ]
    form = lathe(np.vstack([body, curve[1:], lip]))
    is_glass = kind != "pet" and chance(rng, 0.75)
    look = glass(rng) if is_glass else plastic(rng, "neutral", "pastel", "bright")
    low, high = 0.12, shoulder / height * uni(rng, 0.75, 0.93)
    label = chance(rng, 0.85)
    if label:
        look = paint(
            look.base_color, look.roughness, texture=wrap_label(rng, look.base_color, low, high)
        )
    cap_h = height * uni(rng, 0.05, 0.08)
    cap = ribbed_cap(rng, neck * 1.2, cap_h).at(z=height - 0.7 * cap_h)
    cap_look = metal(rng, "aluminium") if is_glass and chance(rng, 0.5) else plastic(rng)
    wall = uni(rng, 0.0025, 0.004) if is_glass else 0.0005
    return Recipe(
        (
            Part(form, look, "glass" if is_glass else "plastic_pp", wall),
            Part(cap, cap_look, "plastic_pp", 0.0015),
        ),
        has_front=label,
    )


@category("squeeze_bottle", 0.12, 0.26)
def squeeze_bottle(rng: np.random.Generator) -> Recipe:
    """Ketchup, mustard or glue bottle: oval body, waist, nozzle cap."""
    height, radius = uni(rng, 0.12, 0.19), uni(rng, 0.024, 0.036)
    waist = uni(rng, 0.82, 1.02)
    body = spline(
        [
            (radius * 0.92, 0),
            (radius, 0.12 * height),
            (radius * waist, 0.5 * height),
            (radius * 0.97, 0.78 * height),
            (radius * 0.55, 0.95 * height),
            (radius * 0.5, height),
        ],
        5,
    )
    form = lathe(
        np.vstack([[[0, 0]], body, [[0, height]]]),
        aspect=uni(rng, 1.15, 1.7),
        square=uni(rng, 2.0, 2.8),
    )
    look = labelled(rng, uni(rng, 0.08, 0.2), uni(rng, 0.66, 0.78))
    cap = ribbed_cap(rng, radius * uni(rng, 0.62, 0.85), 0.12 * height).at(z=0.98 * height)
    tip = uni(rng, 0.12, 0.28) * height
    nozzle = cylinder(0.28 * radius, tip, 0.001, 24, 0.1 * radius).at(z=1.09 * height)
    if chance(rng, 0.4):
        nozzle = cylinder(radius * 0.5, 0.08 * height, 0.004, 32, 0.42 * radius).at(z=1.09 * height)
    color = plastic(rng, "bright", "neutral")
    return Recipe(
        (
            Part(form, look, "plastic_pp", 0.0009),
            Part(cap, color, "plastic_pp", 0.0015),
            Part(nozzle, color, "plastic_pp", 0.0012),
        )
    )


@category("shampoo_bottle", 0.12, 0.28)
def shampoo_bottle(rng: np.random.Generator) -> Recipe:
    """Boxy or oval cosmetics bottle with flip cap or pump; the wide side is the front."""
    height, wide = uni(rng, 0.12, 0.2), uni(rng, 0.05, 0.085)
    deep = wide * uni(rng, 0.45, 1.0)
    shape = fillet(
        [(0, 0), (0.5, 0), (0.5 * uni(rng, 0.85, 1.0), height), (0, height)], [0, 0.06, 0.12, 0], 5
    )
    profile = np.column_stack([shape[:, 0] * deep, shape[:, 1]])
    form = lathe(profile, 64, aspect=wide / deep, square=uni(rng, 2.2, 6.0))
    look = labelled(rng, uni(rng, 0.1, 0.2), uni(rng, 0.7, 0.9))
    cap_look = plastic(rng, "neutral", "dark", "bright")
    if chance(rng, 0.5):
        r = 0.32 * min(deep, wide)
        collar = cylinder(r, 0.018, 0.002).at(z=height - 0.001)
        stem = cylinder(0.005, 0.04).at(z=height + 0.01)
        path = fillet(
            [(0, height + 0.045), (0.03, height + 0.047), (0.045, height + 0.038)], 0.01, 5
        )
        spout = sweep(np.insert(path, 1, 0.0, axis=1), 0.006, up=(0, 1, 0), round_ends=True)
        knob = cylinder(0.012, 0.012, 0.003).at(z=height + 0.04)
        cap = [Part(f, cap_look, "plastic_pp") for f in (stem, spout, knob)]
        cap.append(Part(collar, cap_look, "plastic_pp", 0.0015))
    else:
        top = lathe(
            fillet([(0, 0), (0.36, 0), (0.34, 0.03), (0, 0.03)], [0, 0, 0.006, 0], 4) * [deep, 1.0],
            48,
            aspect=wide / deep * uni(rng, 0.6, 1.0),
            square=3.0,
        )
        cap = [Part(top.at(z=height - 0.001), cap_look, "plastic_pp", 0.0015)]
    return Recipe(parts(Part(form, look, "plastic_pp", 0.001), cap))


@category("spray_bottle", 0.2, 0.33)
def spray_bottle(rng: np.random.Generator) -> Recipe:
    """Cleaner bottle with trigger head; the nozzle points to +X."""
    height, radius = uni(rng, 0.16, 0.21), uni(rng, 0.034, 0.046)
    body = spline(
        [
            (radius * 0.95, 0.0),
            (radius, 0.1 * height),
            (radius * uni(rng, 0.85, 1), 0.55 * height),
            (radius * 0.75, 0.75 * height),
            (radius * 0.36, 0.9 * height),
            (0.014, height),
        ],
        5,
    )
    form = lathe(
        np.vstack([[[0, 0]], body, [[0, height]]]), aspect=uni(rng, 1.0, 1.5), square=uni(rng, 2, 3)
    )
    look = labelled(rng, 0.1, uni(rng, 0.55, 0.68))
    main, second = plastic(rng, "bright", "neutral"), plastic(rng, "bright", "dark")
    collar = ribbed_cap(rng, 0.017, 0.022).at(z=height - 0.008)
    neck = box(0.024, 0.02, 0.03, 0.004).at(x=0.002, z=height + 0.024)
    head = box(0.085, 0.026, 0.024, 0.007).at(x=0.014, z=height + 0.044)
    tilt = box(0.03, 0.022, 0.022, 0.006).turn("y", 30).at(x=-0.024, z=height + 0.034)
    nozzle = cylinder(0.009, 0.014, 0.001, 24).turn("y", 90).at(x=0.052, z=height + 0.045)
    path = spline(
        [
            (0.03, 0, height + 0.036),
            (0.034, 0, height + 0.012),
            (0.028, 0, height - 0.012),
            (0.034, 0, height - 0.03),
        ],
        4,
    )
    trigger = sweep(path, np.linspace(0.006, 0.004, len(path)), up=(0, 1, 0), round_ends=True)
    return Recipe(
        (
            Part(form, look, "plastic_pp", 0.001),
            Part(collar, second, "plastic_pp", 0.002),
            Part(neck, main, "plastic_pp", 0.002),
            Part(head, main, "plastic_pp", 0.002),
            Part(tilt, main, "plastic_pp", 0.002),
            Part(nozzle, second, "plastic_pp"),
            Part(trigger, second, "plastic_pp"),
        )
    )


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
