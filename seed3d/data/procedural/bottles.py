"""Bottles of all kinds, with labels."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, glass, metal, paint, pick, plastic, tint, uni
from seed3d.data.procedural.prints import wrap_label
from seed3d.data.procedural.shapes import Form, fillet, lathe, spline, sweep
from seed3d.data.procedural.solids import box, cylinder
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
