"""Baskets, trays, caddies."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, metal, paint, pick, plastic, tint, uni, weave, wood
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import Form, circle, rect, spline, sweep, vessel
from seed3d.data.procedural.solids import box, prism
from seed3d.types import SurfaceMaterial


@category("basket", 0.14, 0.55)
def basket(rng: np.random.Generator) -> Recipe:
    """Woven or slatted basket, often with a bail handle along Y."""
    radius, height = uni(rng, 0.08, 0.2), uni(rng, 0.08, 0.24)
    foot = radius * uni(rng, 0.65, 0.95)
    aspect, square = pick(rng, [1.0, uni(rng, 1.2, 1.5)]), pick(rng, [2.0, 2.0, 4.0, 6.0])
    rows = int(rng.integers(8, 15))
    z = np.linspace(0, height, rows * 2 + 1)
    r = foot + (radius - foot) * (z / height) ** uni(rng, 0.6, 1.2)
    form = vessel(np.column_stack([r, z]), 0.006, 0.006, 72, square, aspect)
    v = form.vertices.copy()
    angle, n = np.arctan2(v[:, 1], v[:, 0]), int(rng.integers(10, 19))
    row = np.round(v[:, 2] / height * rows)
    bump = (
        0.0028
        * np.cos(n * angle + np.pi * row)
        * ((v[:, 2] > 0.01) & (np.hypot(v[:, 0], v[:, 1]) > 0.6 * foot))
    )
    v[:, :2] *= (1 + bump / np.maximum(np.hypot(v[:, 0], v[:, 1]), 0.02))[:, None]
    color = tint(rng, "wood_light", "wood_dark", "neutral")
    image = weave(rng, color, 128)
    look = paint(color, 0.85, texture=image, name="wicker")
    plain = paint(color, 0.8, name="wicker")
    t = np.arange(72) / 72 * 2 * np.pi
    c, s = np.cos(t), np.sin(t)
    grow = (np.abs(c) ** square + np.abs(s) ** square) ** (-1 / square)
    rim = np.stack([radius * c * grow, radius * aspect * s * grow, np.full(72, height)], -1)
    items = [
        Part(form.warp(v), look, "wood_soft", crease_deg=60),
        Part(sweep(rim, 0.0065, circle(1.0, 8), closed=True), plain, "wood_soft"),
    ]
    if chance(rng, 0.5):
        y, top = radius * aspect, height + uni(rng, 0.7, 1.2) * radius
        bail = spline(
            [
                (0, -y, height - 0.03),
                (0, -y, height + 0.3 * (top - height)),
                (0, -0.55 * y, top - 0.1 * (top - height)),
                (0, 0, top),
                (0, 0.55 * y, top - 0.1 * (top - height)),
                (0, y, height + 0.3 * (top - height)),
                (0, y, height - 0.03),
            ],
            6,
        )
        items.append(
            Part(
                sweep(bail, uni(rng, 0.006, 0.01), circle(1.0, 10, 0.6), up=(1, 0, 0)),
                plain,
                "wood_soft",
            )
        )
    elif chance(rng, 0.6):
        y = radius * aspect
        for side in (-1, 1):
            ear = spline(
                [
                    (-0.04, side * y, height - 0.005),
                    (-0.03, side * (y + 0.012), height + 0.035),
                    (0.03, side * (y + 0.012), height + 0.035),
                    (0.04, side * y, height - 0.005),
                ],
                5,
            )
            items.append(Part(sweep(ear, 0.006, up=(0, 1, 0)), plain, "wood_soft"))
    return Recipe(parts(items))


def open_box(
    x: float, y: float, z: float, wall: float, floor: float | None = None, corner: float = 0.0
) -> list[Form]:
    """Floor and wall ring of an open box standing on z = 0, sizes outside [m]."""
    floor = wall if floor is None else floor
    outer = rect(x, y, corner) if corner > 0 else rect(x, y)
    inner = (
        rect(x - 2 * wall, y - 2 * wall, max(corner - wall, 0.25 * corner))
        if corner > 0
        else rect(x - 2 * wall, y - 2 * wall)
    )
    return [prism(outer, floor), prism([outer, inner[::-1]], z)]


def _wood_or_plastic(rng: np.random.Generator) -> tuple[SurfaceMaterial, str]:
    kind = pick(rng, ["wood_soft", "plastic_pp", "wood_hard", "plastic_abs"])
    return (wood(rng), kind) if kind.startswith("wood") else (plastic(rng), kind)


@category("tray", 0.2, 0.56)
def tray(rng: np.random.Generator) -> Recipe:
    """Serving tray with a low rim and two handles on +-Y."""
    x, y, z = uni(rng, 0.16, 0.36), uni(rng, 0.24, 0.5), uni(rng, 0.02, 0.055)
    wall, corner = uni(rng, 0.004, 0.01), uni(rng, 0.0, 0.06)
    look, material = _wood_or_plastic(rng)
    floor, rim = open_box(x, y, z, wall, 0.004, corner if corner > 0.012 else 0.0)
    ground = look
    if chance(rng, 0.4):
        color = tint(rng, "neutral", "pastel", "bright")
        ground = paint(color, 0.5, texture=pattern(rng, color))
    items = [Part(floor, ground, material), Part(rim, look, material)]
    if chance(rng, 0.75):
        wide, high = uni(rng, 0.04, 0.06), uni(rng, 0.03, 0.05)
        hold = metal(rng, pick(rng, ["brass", "steel"])) if chance(rng, 0.5) else look
        name = ("brass" if hold.base_color[2] < 0.5 else "steel") if hold is not look else material
        for side in (-1, 1):
            at = side * (y / 2 - wall / 2)
            bow = spline(
                [
                    (-wide, at, z - 0.004),
                    (-0.85 * wide, at, z + 0.7 * high),
                    (0, at, z + high),
                    (0.85 * wide, at, z + 0.7 * high),
                    (wide, at, z - 0.004),
                ],
                5,
            )
            items.append(Part(sweep(bow, min(0.5 * wall + 0.001, 0.006), up=(0, 1, 0)), hold, name))
    return Recipe(tuple(items))


@category("caddy", 0.18, 0.45)
def caddy(rng: np.random.Generator) -> Recipe:
    """Carrying caddy: open box with dividers and a central carrying handle along Y."""
    x, y, z = uni(rng, 0.14, 0.24), uni(rng, 0.2, 0.38), uni(rng, 0.08, 0.15)
    wall = uni(rng, 0.003, 0.009)
    look, material = _wood_or_plastic(rng)
    corner = 0.02 if material.startswith("plastic") else 0.0
    items = [Part(f, look, material) for f in open_box(x, y, z, wall, corner=corner)]
    high = z + uni(rng, 0.05, 0.12)
    if chance(rng, 0.5):  # end boards and a round bar
        for side in (-1, 1):
            outline = np.array(
                [
                    (-0.5 * x, 0),
                    (0.5 * x, 0),
                    (0.5 * x, z),
                    (0.03, high),
                    (-0.03, high),
                    (-0.5 * x, z),
                ]
            )
            board = prism(outline, wall).turn("x", 90).at(y=side * (y / 2 - wall / 2) + wall / 2)
            items.append(Part(board, look, material))
        bar = sweep([(0, -y / 2, high - 0.018), (0, y / 2, high - 0.018)], 0.011)
        items.append(Part(bar, look if chance(rng, 0.5) else wood(rng), "wood_hard"))
        items.append(Part(box(wall, y - wall, 0.7 * z).at(z=0.35 * z), look, material))
    else:  # a middle board with a hand hole
        outline = np.array(
            [
                (-0.5 * y, 0),
                (0.5 * y, 0),
                (0.5 * y, 0.9 * z),
                (0.07, high),
                (-0.07, high),
                (-0.5 * y, 0.9 * z),
            ]
        )
        hole = rect(0.09, 0.028, 0.012) + np.array([0, high - 0.03])
        board = prism([outline, hole[::-1]], wall).turn("x", 90).turn("z", 90).at(x=-wall / 2)
        items.append(Part(board, look, material))
    for k in range(int(rng.integers(0, 3))):
        at = (k + 1) * y / 3 - y / 2
        items.append(Part(box(x - wall, wall, 0.75 * z).at(y=at, z=0.375 * z), look, material))
    return Recipe(tuple(items))
