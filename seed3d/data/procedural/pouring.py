"""Teapots, jugs, vases and glasses."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import (
    chance,
    glass,
    metal,
    paint,
    pick,
    plastic,
    tint,
    uni,
)
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import (
    lathe,
    radius_at,
    spline,
    sweep,
    vessel,
)
from seed3d.data.procedural.solids import ellipsoid
from seed3d.data.procedural.tableware import ear, glazed


@category("drinking_glass", 0.07, 0.19)
def drinking_glass(rng: np.random.Generator) -> Recipe:
    """Tumbler, highball, beaker or paper cup."""
    height, radius = uni(rng, 0.08, 0.17), uni(rng, 0.03, 0.044)
    foot = radius * uni(rng, 0.6, 1.0)
    bend = uni(rng, -0.08, 0.08) * radius
    outer = spline([(foot, 0), ((foot + radius) / 2 + bend, 0.5 * height), (radius, height)], 5)
    outer = np.vstack([[outer[0, 0] - 0.002, 0.0], outer[0] + [0, 0.002], outer[1:]])
    material = pick(rng, ["glass", "glass", "glass", "plastic_pp", "paper", "stainless"])
    look = {
        "glass": lambda: glass(rng),
        "stainless": lambda: metal(rng),
        "plastic_pp": lambda: plastic(rng),
        "paper": lambda: paint((0.95, 0.94, 0.9), 0.7, texture=pattern(rng, (0.95, 0.94, 0.9))),
    }[material]()
    wall = {"glass": uni(rng, 0.0018, 0.003), "paper": 0.0008, "stainless": 0.001}.get(
        material, 0.0015
    )
    base = uni(rng, 0.005, 0.014) if material == "glass" else 0.002
    square = pick(rng, [2.0, 2.0, 2.0, 2.0, 3.0])
    return Recipe(
        (Part(vessel(outer, wall, base, square=square), look, material),), has_front=False
    )


@category("wine_glass", 0.11, 0.27)
def wine_glass(rng: np.random.Generator) -> Recipe:
    """Stemmed glass: wine, flute, coupe, goblet."""
    height, radius = uni(rng, 0.14, 0.25), uni(rng, 0.028, 0.05)
    share = uni(rng, 0.4, 0.62)
    kind = pick(rng, ["wine", "wine", "flute", "coupe"])
    if kind == "flute":
        radius, share = uni(rng, 0.024, 0.03), uni(rng, 0.6, 0.7)
    if kind == "coupe":
        height, radius, share = uni(rng, 0.12, 0.17), uni(rng, 0.042, 0.055), uni(rng, 0.3, 0.42)
    z0, stem = height * (1 - share), uni(rng, 0.003, 0.006)
    rim = radius * (1.0 if kind == "coupe" else uni(rng, 0.7, 0.95))
    foot = radius * uni(rng, 0.75, 1.0)
    cup = spline(
        [
            (stem, z0),
            (radius * 0.75, z0 + 0.18 * (height - z0)),
            (radius, z0 + 0.45 * (height - z0)),
            (rim, height),
        ],
        6,
    )
    wall = uni(rng, 0.0012, 0.002)
    inside = cup[cup[:, 0] > stem * 1.8] - [wall, 0.0]
    base = [
        (0, 0),
        (foot, 0),
        (foot, 0.002),
        (foot * 0.4, 0.005),
        (stem * 1.3, 0.014),
        (stem, 0.3 * z0),
        (stem, 0.8 * z0),
    ]
    profile = np.vstack(
        [base, cup, [[rim - wall / 2, height + wall / 3]], inside[::-1], [[0, inside[0, 1]]]]
    )
    return Recipe((Part(lathe(profile, 48), glass(rng), "glass"),), has_front=False)


@category("teapot", 0.15, 0.33)
def teapot(rng: np.random.Generator) -> Recipe:
    """Teapot or kettle: spout towards -Y, handle towards +Y or over the top."""
    radius, squat = uni(rng, 0.055, 0.085), uni(rng, 0.75, 1.15)
    height = 1.6 * radius * squat
    foot, lid_r = radius * uni(rng, 0.5, 0.95), radius * uni(rng, 0.38, 0.55)
    outer = spline(
        [
            (foot, 0),
            (radius, uni(rng, 0.3, 0.5) * height),
            (radius * 0.8, 0.8 * height),
            (lid_r, height),
        ],
        6,
    )
    kettle = chance(rng, 0.4)
    material = "stainless" if kettle else pick(rng, ["ceramic", "porcelain"])
    look = metal(rng) if kettle and chance(rng, 0.6) else glazed(rng, 0.4)
    wall = 0.001 if kettle else 0.004
    z = uni(rng, 0.3, 0.45) * height
    out = radius * uni(rng, 1.6, 1.85)
    r0 = radius_at(outer, z)
    path = spline(
        [
            (0, -(r0 - 0.006), z),
            (0, -(r0 + 0.35 * (out - r0)), z + 0.12 * height),
            (0, -0.9 * out, 0.75 * height),
            (0, -out, uni(rng, 0.92, 1.02) * height),
        ],
        5,
    )
    spout = sweep(path, np.linspace(0.3, 0.13, len(path)) * radius, up=(1, 0, 0))
    lid = lathe(
        [
            (0, height - 0.004),
            (lid_r * 0.98, height - 0.002),
            (lid_r * 1.02, height + 0.004),
            (lid_r * 0.6, height + 0.014),
            (0.004, height + 0.019),
            (0, height + 0.019),
        ]
    )
    knob = ellipsoid(0.2 * radius, 0.2 * radius, 0.17 * radius, 20, 10).at(
        z=height + 0.019 + 0.1 * radius
    )
    dark = paint(tint(rng, "dark"), 0.5) if kettle else look
    if kettle or chance(rng, 0.2):
        y = radius * 0.75
        top = height + uni(rng, 0.9, 1.3) * radius
        z1 = float(np.interp(-y, -outer[::-1, 0], outer[::-1, 1]))
        bail = spline(
            [
                (0, -y, z1 - 0.004),
                (0, -y * 1.1, z1 + 0.5 * (top - z1)),
                (0, -0.5 * y, top),
                (0, 0.5 * y, top),
                (0, y * 1.1, z1 + 0.5 * (top - z1)),
                (0, y, z1 - 0.004),
            ],
            6,
        )
        handle = sweep(bail, uni(rng, 0.005, 0.008), up=(1, 0, 0))
    else:
        handle = ear(
            rng, outer, 0.22 * height, 0.85 * height, uni(rng, 0.5, 0.7) * radius, 0.11 * radius
        )
    body = lathe(np.vstack([outer, [[0, height]]]))
    return Recipe(
        parts(
            Part(body, look, material, wall),
            Part(spout, look, material, wall),
            Part(lid, look, material, wall),
            Part(knob, dark, "plastic_abs" if kettle else material),
            Part(handle, dark, material, crease_deg=60),
        )
    )


@category("jug", 0.12, 0.33)
def jug(rng: np.random.Generator) -> Recipe:
    """Jug or pitcher: handle towards +Y, pouring lip towards -Y."""
    height, radius = uni(rng, 0.13, 0.27), uni(rng, 0.045, 0.075)
    neck, rim = radius * uni(rng, 0.6, 0.95), radius * uni(rng, 0.75, 1.05)
    foot = radius * uni(rng, 0.6, 0.95)
    outer = spline(
        [(foot, 0), (radius, uni(rng, 0.25, 0.4) * height), (neck, 0.78 * height), (rim, height)], 7
    )
    material = pick(rng, ["ceramic", "glass", "stainless", "plastic_pp", "porcelain"])
    look = {
        "glass": lambda: glass(rng),
        "stainless": lambda: metal(rng),
        "plastic_pp": lambda: plastic(rng),
    }.get(material, lambda: glazed(rng))()
    wall = 0.001 if material == "stainless" else uni(rng, 0.0025, 0.004)
    form = vessel(outer, wall, 1.4 * wall)
    v = form.vertices.copy()
    angle = np.arctan2(v[:, 0], -v[:, 1])  # 0 at -Y
    lip = np.clip((v[:, 2] / height - 0.72) / 0.28, 0, 1) ** 2 * np.exp(-((angle / 0.38) ** 2))
    v[:, 1] -= lip * uni(rng, 0.25, 0.45) * radius
    v[:, 2] += lip * uni(rng, 0.02, 0.08) * height
    handle = ear(
        rng,
        outer,
        uni(rng, 0.2, 0.35) * height,
        uni(rng, 0.8, 0.93) * height,
        uni(rng, 0.03, 0.05),
        uni(rng, 0.005, 0.008),
    )
    return Recipe(
        (
            Part(form.warp(v), look, material, crease_deg=50),
            Part(handle, look, material, crease_deg=60),
        )
    )


@category("vase", 0.09, 0.46)
def vase(rng: np.random.Generator) -> Recipe:
    """Turned vase of a random smooth profile, sometimes fluted."""
    height = uni(rng, 0.1, 0.4)
    radius = height * uni(rng, 0.16, 0.42)
    knots = np.column_stack(
        [radius * rng.uniform(0.35, 1.0, 5), height * np.array([0, 0.25, 0.5, 0.78, 1])]
    )
    knots[1 + int(rng.integers(2)), 0] = radius
    knots[0, 0] = max(knots[0, 0], 0.5 * radius)
    outer = spline(knots, 6)
    outer[:, 0] = np.maximum(outer[:, 0], 0.012)
    form = vessel(outer, uni(rng, 0.003, 0.006), 0.006, 72)
    if chance(rng, 0.3):
        v, n = form.vertices.copy(), int(rng.integers(6, 19))
        v[:, :2] *= (1 + 0.035 * np.cos(n * np.arctan2(v[:, 1], v[:, 0])))[:, None]
        form = form.warp(v)
    material = pick(rng, ["ceramic", "ceramic", "porcelain", "glass"])
    look = glass(rng) if material == "glass" else glazed(rng, 0.6)
    return Recipe((Part(form, look, material, crease_deg=50),), has_front=False)
