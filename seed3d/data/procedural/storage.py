"""Books, baskets, trays, caddies, bins, planters, frames."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, metal, paint, pick, plastic, tint, uni, weave, wood
from seed3d.data.procedural.prints import box_art, pattern
from seed3d.data.procedural.shapes import Form, circle, rect, spline, sweep, vessel
from seed3d.data.procedural.solids import box, prism
from seed3d.types import SurfaceMaterial


@category("book", 0.1, 0.38)
def book(rng: np.random.Generator) -> Recipe:
    """Closed book: lying with its spine to -Y, or standing with its cover to +X."""
    tall, wide, thick = uni(rng, 0.12, 0.32), uni(rng, 0.65, 0.85), uni(rng, 0.008, 0.055)
    wide *= tall
    hard = chance(rng, 0.6)
    board, over = (0.0025, 0.003) if hard else (0.0005, 0.0)
    art = paint((1, 1, 1), uni(rng, 0.3, 0.7), texture=box_art(rng), name="cover")
    page = paint(
        tint(rng, "neutral")[:3] if chance(rng, 0.1) else (0.93, 0.91, 0.85), 0.9, name="pages"
    )
    pages = box(thick - 0.5 * board, wide - 2 * over, tall - 2 * over, 0.0004, 1)
    items = [Part(pages, page, "paper")]
    for side in (-1, 1):
        cover = box(max(board, 0.001), wide, tall, 0.0004, 1, atlas=True).at(
            x=side * (thick - board) / 2
        )
        items.append(Part(cover, art, "cardboard"))
    spine = box(thick, max(board, 0.001), tall, 0.0004, 1, atlas=True).at(y=-wide / 2)
    items.append(Part(spine, art, "cardboard"))
    if chance(rng, 0.65):  # lying: the cover up, the text upright for the viewer in front
        items = [Part(p.form.turn("y", -90), p.look, p.material) for p in items]
    return Recipe(tuple(items))


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
        hole = rect(0.09, 0.028, 0.012) + [0, high - 0.03]
        board = prism([outline, hole[::-1]], wall).turn("x", 90).turn("z", 90).at(x=-wall / 2)
        items.append(Part(board, look, material))
    for k in range(int(rng.integers(0, 3))):
        at = (k + 1) * y / 3 - y / 2
        items.append(Part(box(x - wall, wall, 0.75 * z).at(y=at, z=0.375 * z), look, material))
    return Recipe(tuple(items))


@category("trash_bin", 0.2, 0.72)
def trash_bin(rng: np.random.Generator) -> Recipe:
    """Waste bin: open, mesh-like tapered, or with a pedal and a lid."""
    height = uni(rng, 0.22, 0.6)
    radius = height * uni(rng, 0.28, 0.45)
    square = pick(rng, [2.0, 2.0, 5.0, 8.0])
    material = pick(rng, ["plastic_pp", "plastic_pp", "steel", "stainless"])
    look = (
        plastic(rng)
        if material == "plastic_pp"
        else (metal(rng, material) if chance(rng, 0.6) else plastic(rng, "dark", "neutral"))
    )
    wall = 0.002 if material == "plastic_pp" else 0.0007
    taper = uni(rng, 0.72, 1.0)
    outer = np.array(
        [
            (radius * taper, 0),
            (radius * (taper + 0.02), 0.02 * height),
            (radius * 0.99, 0.95 * height),
            (radius * 1.03, 0.955 * height),
            (radius * 1.03, height),
        ]
    )
    items = [Part(vessel(outer, wall, 0.003, 56, square), look, material)]
    if chance(rng, 0.45):
        from seed3d.data.procedural.shapes import lathe

        cover = plastic(rng, "dark", "neutral", "bright")
        dome = uni(rng, 0.02, 0.3) * radius
        t = np.linspace(0, np.pi / 2, 8)
        top = np.stack([radius * 1.04 * np.cos(t), height + 0.012 + dome * np.sin(t)], -1)
        lid = lathe(
            np.vstack([[[0, height - 0.002], [radius * 1.04, height - 0.002]], top]),
            56,
            square=square,
        )
        items.append(Part(lid, cover, "plastic_pp", 0.002))
        items.append(
            Part(
                box(0.06, 0.07, 0.012, 0.004).at(x=radius * taper + 0.01, z=0.018),
                cover,
                "plastic_pp",
            )
        )
        return Recipe(tuple(items))
    return Recipe(tuple(items), has_front=False)


@category("planter", 0.08, 0.5)
def planter(rng: np.random.Generator) -> Recipe:
    """Flower pot with rim, soil, and mostly a leafy plant."""
    radius = uni(rng, 0.04, 0.12)
    height = radius * uni(rng, 1.2, 2.0)
    square = pick(rng, [2.0, 2.0, 2.0, 6.0])
    foot = radius * uni(rng, 0.6, 0.9)
    outer = np.array(
        [(foot, 0), (radius * 0.94, 0.78 * height), (radius, 0.79 * height), (radius, height)]
    )
    if chance(rng, 0.4):
        outer = np.array([(foot, 0), (0.5 * (foot + radius), 0.5 * height), (radius, height)])
    look = (
        paint((0.72, 0.38, 0.24), 0.8)
        if chance(rng, 0.4)
        else paint(tint(rng, "neutral", "glaze", "pastel"), 0.5)
    )
    items = [Part(vessel(outer, 0.005, 0.006, 48, square), look, "ceramic")]
    from seed3d.data.procedural.shapes import lathe

    inner = radius * 0.9 - 0.004
    earth = lathe(
        [(0, 0.5 * height), (0.9 * inner, 0.5 * height), (inner, 0.88 * height), (0, 0.9 * height)],
        32,
        square=square,
    )
    items.append(Part(earth, paint((0.2, 0.13, 0.09), 0.95), "stone", density_kg_m3=900))
    if chance(rng, 0.75):
        green = paint((uni(rng, 0.12, 0.35), uni(rng, 0.38, 0.6), uni(rng, 0.12, 0.3)), 0.6)
        count, long = int(rng.integers(5, 16)), radius * uni(rng, 1.2, 2.6)
        for k in range(count):
            a, lean = k * 2.4 + uni(rng, -0.3, 0.3), uni(rng, 0.1, 0.9)
            reach, rise = long * lean, long * (1.15 - 0.7 * lean)
            d = np.array([np.cos(a), np.sin(a), 0.0])
            base = np.array([0, 0, 0.88 * height]) + d * 0.15 * radius
            path = spline(
                [
                    base,
                    base + d * 0.35 * reach + [0, 0, 0.65 * rise],
                    base + d * 0.8 * reach + [0, 0, rise],
                    base + d * reach + [0, 0, rise * 0.85],
                ],
                4,
            )
            width = (
                np.interp(np.linspace(0, 1, len(path)), [0, 0.5, 1], [0.3, 1.0, 0.08])
                * radius
                * 0.2
            )
            items.append(
                Part(sweep(path, width, circle(1.0, 8, 0.18)), green, "paper", density_kg_m3=800)
            )
    return Recipe(tuple(items), has_front=False)
