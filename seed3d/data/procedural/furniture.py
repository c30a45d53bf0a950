"""Tables, and what furniture is made of: legs, frames, cushions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, metal, paint, pick, tint, uni, wood
from seed3d.data.procedural.shapes import Form, circle, rect, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, prism
from seed3d.types import SurfaceMaterial

SEAT_KG_M3 = 70.0
"""Bulk density of upholstery: foam, springs and a light wooden frame."""


def legs(
    rng: np.random.Generator,
    x: float,
    y: float,
    height: float,
    look: SurfaceMaterial,
    material: str,
) -> list[Part]:
    """Four legs whose tops are at (+-x, +-y): square, turned, splayed or hairpin."""
    style = pick(
        rng, ["square", "round", "taper", "splay", "hairpin" if height < 0.8 else "square"]
    )
    r = uni(rng, 0.013, 0.03) * min(1.0, 0.6 + height)
    out = uni(rng, 0.02, 0.1) * height if style in ("splay", "hairpin") else 0.0
    items = []
    for sx in (-1, 1):
        for sy in (-1, 1):
            top, foot = (
                np.array([sx * x, sy * y, height]),
                np.array([sx * (x + out), sy * (y + out), 0.0]),
            )
            if style == "square":
                items.append(
                    Part(
                        box(2 * r, 2 * r, height, 0.002, 1).at(sx * x, sy * y, height / 2),
                        look,
                        material,
                    )
                )
            elif style == "hairpin":
                rod = spline(
                    [
                        top + np.array([0.04 * -sx, 0, 0]),
                        foot + np.array([0, 0, 0.02]),
                        foot,
                        foot + np.array([0, 0, 0.02]),
                        top + np.array([0, 0.04 * -sy, 0]),
                    ],
                    4,
                )
                items.append(Part(sweep(rod, 0.006, circle(1, 8)), look, material))
            else:
                small = r * (uni(rng, 0.5, 0.75) if style != "round" else 1.0)
                items.append(
                    Part(
                        sweep(
                            [foot, (foot + top) / 2, top],
                            np.array([small, (small + r) / 2, r]),
                            circle(1, 14),
                        ),
                        look,
                        material,
                    )
                )
    return items


def stuff(rng: np.random.Generator) -> tuple[SurfaceMaterial, str]:
    """Return looks and material of a frame: wood mostly, painted or metal."""
    kind = pick(rng, ["wood_hard", "wood_hard", "wood_soft", "mdf", "steel"])
    if kind == "steel":
        return (
            metal(rng, "steel")
            if chance(rng, 0.4)
            else paint(tint(rng, "dark", "neutral"), 0.4, 0.2)
        ), kind
    if kind == "mdf":
        return paint(tint(rng, "neutral", "pastel", "dark"), 0.5, name="painted wood"), kind
    return wood(rng), kind


def hollow_steel(items: list[Part]) -> tuple[Part, ...]:
    """Return the parts with solid steel ones turned to tubes of 1.5 mm wall, as frames are."""
    return tuple(
        replace(p, wall_m=0.0015) if p.material == "steel" and p.wall_m is None else p
        for p in items
    )


def cushion(x: float, y: float, z: float, puff: float = 0.35) -> Form:
    """Cushion of outer size x, y, z [m], centred, thicker in the middle."""
    form = box(x, y, z, puff * z, 3, cuts=3)
    v = form.vertices.copy()
    bulge = (1 - (2 * v[:, 0] / x) ** 2) * (1 - (2 * v[:, 1] / y) ** 2)
    v[:, 2] *= 1 + 0.2 * np.clip(bulge, 0, 1)
    return form.warp(v)


@category("table", 0.4, 2.0)
def table(rng: np.random.Generator) -> Recipe:
    """Dining, coffee or side table: four legs, pedestal, trestle."""
    z = pick(rng, [uni(rng, 0.7, 0.77), uni(rng, 0.35, 0.5), uni(rng, 0.5, 0.62)])
    y = uni(rng, 0.9, 1.8) if z > 0.65 else uni(rng, 0.45, 1.2)
    x = y * uni(rng, 0.45, 1.0)
    look, material = stuff(rng)
    material = "wood_hard" if material == "steel" else material
    top_look = (
        look
        if chance(rng, 0.7)
        else pick(
            rng,
            [
                wood(rng),
                paint((0.8, 0.85, 0.85), 0.08, name="glass"),
                paint(tint(rng, "neutral"), 0.4),
            ],
        )
    )
    t = uni(rng, 0.016, 0.04)
    is_glass = top_look.name == "glass"
    round_top = chance(rng, 0.3)
    outline = circle(x / 2, 56) if round_top else rect(x, y, uni(rng, 0.0, 0.08), 5)
    y = x if round_top else y
    items = [
        Part(
            prism(outline, t, 0.003).at(z=z - t),
            top_look,
            "glass" if is_glass else material,
            density_kg_m3=None,
        )
    ]
    under = z - t + 0.002
    base = pick(rng, ["legs", "legs", "legs", "pedestal", "panel"])
    if base == "pedestal":
        items.append(Part(cylinder(0.05, under, 0, 28), look, material))
        items.append(Part(cylinder(0.3 * x, 0.025, 0.008, 44), look, material))
    elif base == "panel":
        for s in (-1, 1):
            items.append(
                Part(
                    box(0.75 * x, 0.035, under, 0.003, 1).at(y=s * 0.38 * y, z=under / 2),
                    look,
                    material,
                )
            )
        items.append(Part(box(0.03, 0.76 * y, 0.12, 0.003, 1).at(z=0.5 * under), look, material))
    else:
        f = 0.32 if round_top else 0.44
        items += legs(rng, f * x, f * y if round_top else y / 2 - 0.06 * x, under, look, material)
        if chance(rng, 0.6) and not round_top:
            h = uni(rng, 0.05, 0.09)
            for s in (-1, 1):
                items.append(
                    Part(
                        box(0.02, y - 0.14 * x, h).at(x=s * 0.44 * x, z=under - h / 2),
                        look,
                        material,
                    )
                )
                items.append(
                    Part(
                        box(0.87 * x, 0.02, h).at(y=s * (y / 2 - 0.06 * x), z=under - h / 2),
                        look,
                        material,
                    )
                )
    return Recipe(hollow_steel(items), has_front=not round_top)
