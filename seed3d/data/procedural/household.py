"""Books, bins, planters."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, metal, paint, pick, plastic, tint, uni
from seed3d.data.procedural.prints import box_art
from seed3d.data.procedural.shapes import circle, spline, sweep, vessel
from seed3d.data.procedural.solids import box


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
    items.append(Part(earth, paint((0.2, 0.13, 0.09), 0.95), "ceramic", density_kg_m3=900))
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
