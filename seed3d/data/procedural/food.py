"""Fruit and vegetables, bread. Bulk densities are handbook values.

Their material names the table row nearest in density, as the table has no fruit.
"""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import Color, paint, pick, to_bytes, uni
from seed3d.data.procedural.shapes import Form, circle, lathe, spline, sweep
from seed3d.data.procedural.solids import ellipsoid
from seed3d.types import SurfaceMaterial


def skin_look(
    rng: np.random.Generator, low: Color, high: Color, rough: float, dots: float
) -> SurfaceMaterial:
    """Return fruit skin: from `low` (v = 0) to `high` (v = 1), streaked and speckled."""
    size = 96
    v = np.linspace(1, 0, size)[:, None]
    share = np.clip(v + np.repeat(rng.normal(0, 0.12, (1, size)), size, 0), 0, 1)[..., None]
    image = np.array(low) * (1 - share) + np.array(high) * share
    image *= 1 + rng.normal(0, 0.025, (size, size, 1))
    image[rng.random((size, size)) < dots] *= 0.72
    return paint(low, rough, texture=to_bytes(image), name="skin")


def _stem(x: float, y: float, z: float, length: float, r: float) -> Part:
    path = spline(
        [(x, y, z), (x, y + 0.15 * length, z + 0.6 * length), (x, y + 0.4 * length, z + length)], 3
    )
    return Part(
        sweep(path, r, circle(1.0, 8)), paint((0.3, 0.2, 0.1), 0.8, name="stem"), "wood_soft"
    )


def _wobble(rng: np.random.Generator, form: Form, amount: float) -> Form:
    """Return the form with smooth random bumps, so that no two fruits are alike."""
    v = form.vertices.copy()
    d = v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-9)
    for _ in range(4):
        v += v * (amount * np.sin(d @ rng.normal(0, 2.2, 3) + uni(rng, 0, 6)))[:, None]
    return form.warp(v)


@category("apple", 0.05, 0.11)
def apple(rng: np.random.Generator) -> Recipe:
    """Apple with dimples and stem."""
    r = uni(rng, 0.032, 0.045)
    t = np.linspace(0, np.pi, 26)
    tall = uni(rng, 0.82, 1.05)
    dent = 1 - 0.28 * np.exp(-((t / 0.45) ** 2)) - 0.2 * np.exp(-(((np.pi - t) / 0.4) ** 2))
    radius = r * np.sin(t) * (1 + uni(rng, 0, 0.12) * np.cos(t))
    profile = np.stack([np.where(np.sin(t) < 1e-6, 0, radius), r * tall * np.cos(t) * dent], -1)[
        ::-1
    ]
    low = pick(rng, [(0.75, 0.1, 0.12), (0.55, 0.7, 0.2), (0.85, 0.65, 0.2), (0.6, 0.08, 0.1)])
    high = pick(rng, [(0.8, 0.2, 0.15), (0.65, 0.75, 0.3), (0.85, 0.75, 0.3)])
    form = _wobble(rng, lathe(profile, 40), 0.012)
    top = float(profile[-1, 1])
    body = Part(form, skin_look(rng, low, high, 0.3, 0.02), "plastic_pp", density_kg_m3=830)
    return Recipe(parts(body, _stem(0, 0, top - 0.003, 0.018, 0.0014)), has_front=False)


@category("citrus", 0.04, 0.17)
def citrus(rng: np.random.Generator) -> Recipe:
    """Orange, lemon, lime or grapefruit."""
    r = uni(rng, 0.025, 0.052)
    color = pick(
        rng, [(0.95, 0.55, 0.08), (0.96, 0.82, 0.18), (0.4, 0.62, 0.14), (0.95, 0.6, 0.35)]
    )
    pointed = color[1] > 0.6
    t = np.linspace(0, np.pi, 24)
    tip = 0.22 * np.exp(-((np.sin(t) / 0.3) ** 2)) if pointed else 0.0
    profile = np.stack(
        [
            np.where(np.sin(t) < 1e-6, 0, r * np.sin(t)),
            r * np.cos(t) * ((1.12 if pointed else 0.95) + tip),
        ],
        -1,
    )[::-1]
    form = _wobble(rng, lathe(profile, 40), 0.008)
    form = form.turn("x", 90) if pointed else form
    look = skin_look(rng, color, color, 0.45, 0.06)
    return Recipe((Part(form, look, "plastic_pp", density_kg_m3=950),), has_front=pointed)


@category("pear", 0.06, 0.15)
def pear(rng: np.random.Generator) -> Recipe:
    """Pear or avocado standing upright."""
    h = uni(rng, 0.07, 0.11)
    r = h * uni(rng, 0.32, 0.4)
    curve = spline(
        [
            (0.3 * r, 0),
            (r * 0.85, 0.12 * h),
            (r, 0.32 * h),
            (r * 0.72, 0.6 * h),
            (r * uni(rng, 0.4, 0.55), 0.85 * h),
            (r * 0.25, 0.97 * h),
        ],
        5,
    )
    form = _wobble(
        rng, lathe(np.vstack([[[0, 0.004]], curve, [[0, h]]]), 36).at(z=-h / 2), 0.012
    ).at(z=h / 2)
    low, high = pick(
        rng,
        [
            ((0.7, 0.72, 0.25), (0.62, 0.65, 0.2)),
            ((0.75, 0.55, 0.2), (0.6, 0.5, 0.2)),
            ((0.2, 0.27, 0.12), (0.16, 0.2, 0.1)),
            ((0.7, 0.3, 0.2), (0.7, 0.68, 0.25)),
        ],
    )
    body = Part(form, skin_look(rng, low, high, 0.45, 0.05), "plastic_pp", density_kg_m3=990)
    return Recipe((body, _stem(0, 0, h - 0.003, 0.02, 0.0018)), has_front=False)


@category("banana", 0.12, 0.25)
def banana(rng: np.random.Generator) -> Recipe:
    """Banana lying on its side along Y, its hollow towards +X."""
    bend, length, r = uni(rng, 0.7, 1.5), uni(rng, 0.15, 0.21), uni(rng, 0.015, 0.02)
    a = np.linspace(-bend / 2, bend / 2, 26)
    path = np.column_stack([-length / bend * np.cos(a), length / bend * np.sin(a), np.zeros(26)])
    t = np.linspace(0, 1, 26)
    width = r * np.interp(
        t, [0, 0.05, 0.16, 0.3, 0.6, 0.85, 0.95, 1], [0.32, 0.3, 0.7, 0.95, 1, 0.8, 0.42, 0.2]
    )
    edge = np.arange(15) / 15 * 2 * np.pi
    outline = (1 + 0.05 * np.cos(5 * edge))[:, None] * circle(1.0, 15)
    color = pick(rng, [(0.93, 0.8, 0.2), (0.9, 0.75, 0.15), (0.72, 0.75, 0.22)])
    form = sweep(path, width, outline, round_ends=True)
    image = np.ones((64, 64, 3)) * color * (1 + rng.normal(0, 0.02, (64, 64, 1)))
    image[rng.random((64, 64)) < uni(rng, 0, 0.04)] = (0.35, 0.22, 0.08)
    image[:5], image[-4:] = (0.3, 0.22, 0.1), (0.4, 0.35, 0.12)
    return Recipe(
        (Part(form, paint(color, 0.5, texture=to_bytes(image)), "plastic_pp", density_kg_m3=950),)
    )


@category("carrot", 0.11, 0.3)
def carrot(rng: np.random.Generator) -> Recipe:
    """Carrot, cucumber or aubergine lying along Y."""
    length = uni(rng, 0.13, 0.24)
    kind = pick(rng, ["carrot", "cucumber", "aubergine"])
    r = (
        length
        * {
            "carrot": uni(rng, 0.08, 0.12),
            "cucumber": uni(rng, 0.09, 0.12),
            "aubergine": uni(rng, 0.17, 0.22),
        }[kind]
    )
    shape = {
        "carrot": [0.75, 1, 0.85, 0.6, 0.3, 0.08],
        "cucumber": [0.6, 0.9, 1, 1, 0.9, 0.5],
        "aubergine": [0.5, 0.6, 0.75, 1, 0.95, 0.5],
    }[kind]
    bend = uni(rng, -0.12, 0.12) * length
    path = spline([(bend * (1 - (2 * k / 5 - 1) ** 2), k * length / 5, 0) for k in range(6)], 5)
    width = r * np.interp(np.linspace(0, 5, len(path)), np.arange(6), shape)
    color = {
        "carrot": (0.9, 0.45, 0.1),
        "cucumber": (0.16, 0.36, 0.12),
        "aubergine": (0.2, 0.08, 0.22),
    }[kind]
    body = Part(
        sweep(path, width, circle(1.0, 20), round_ends=True),
        skin_look(rng, color, color, 0.45, 0.03),
        "plastic_pp",
        density_kg_m3=970,
    )
    green = paint((0.25, 0.45, 0.15), 0.7)
    top = sweep(
        spline([(0, 0.004, 0), (0.002, -0.012, 0), (0.006, -0.028, 0.002)], 3),
        np.linspace(0.0075, 0.0045, 7),
        round_ends=True,
    )
    return Recipe((body, Part(top, green, "wood_soft")))


@category("bread", 0.1, 0.4)
def bread(rng: np.random.Generator) -> Recipe:
    """Loaf, roll or baguette with slashes, long along Y."""
    y = uni(rng, 0.06, 0.18)
    x = y * uni(rng, 0.3, 0.95)
    z = x * uni(rng, 0.55, 0.75)
    form = _wobble(rng, ellipsoid(x, y, z, 40, 18, uni(rng, 2.0, 2.8)), 0.02)
    v = form.vertices.copy()
    v[:, 2] = np.where(v[:, 2] < 0, v[:, 2] * 0.45, v[:, 2])
    crust = pick(rng, [(0.72, 0.45, 0.2), (0.6, 0.35, 0.15), (0.8, 0.58, 0.3)])
    items = [
        Part(
            form.warp(v),
            skin_look(rng, (0.85, 0.7, 0.45), crust, 0.8, 0.02),
            "fabric",
            density_kg_m3=uni(rng, 220, 380),
        )
    ]
    pale = paint((0.9, 0.78, 0.55), 0.9)
    for k in range(int(rng.integers(0, 5))):
        at = (k - 1.5) * 0.35 * y
        items.append(
            Part(
                ellipsoid(0.45 * x, 0.012 + 0.02 * y, 0.05 * z, 16, 8)
                .turn("z", 25)
                .at(y=at, z=0.93 * z * np.sqrt(1 - (at / y) ** 2)),
                pale,
                "fabric",
                density_kg_m3=300,
            )
        )
    return Recipe(tuple(items), has_front=True)
