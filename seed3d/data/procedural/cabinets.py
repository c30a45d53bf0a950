"""Case furniture: shelves, cabinets, desks, nightstands. Fronts face +X."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.furniture import hollow_steel, legs, stuff
from seed3d.data.procedural.looks import chance, metal, paint, pick, tint, uni, wood
from seed3d.data.procedural.shapes import Form, circle, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid
from seed3d.types import SurfaceMaterial


def _board(rng: np.random.Generator) -> tuple[SurfaceMaterial, str]:
    look, material = stuff(rng)
    return look, "mdf" if material == "steel" else material


def _handle(
    rng: np.random.Generator,
    style: str,
    look: SurfaceMaterial,
    y: float,
    z: float,
    x: float,
    upright: bool,
) -> list[Part]:
    """A knob, bar or bow on a front at (x, y, z) [m]."""
    if style == "knob":
        forms = [
            ellipsoid(0.008, 0.016, 0.016, 20, 10).at(x + 0.016, y, z),
            cylinder(0.006, 0.014, 0, 12).turn("y", 90).at(x - 0.002, y, z),
        ]
    else:
        d = np.array([0.0, 0.0, 0.06]) if upright else np.array([0.0, 0.06, 0.0])
        c = np.array([x, y, z])
        path = [
            c - d - [0.003, 0, 0],
            c - d + [0.022, 0, 0],
            c + d + [0.022, 0, 0],
            c + d - [0.003, 0, 0],
        ]
        forms = [sweep([path[1], path[2]], 0.006, circle(1, 10), round_ends=True)]
        forms += [
            sweep([a, b], 0.005, circle(1, 8)) for a, b in ((path[0], path[1]), (path[3], path[2]))
        ]
    return [Part(f, look, "steel") for f in forms]


def carcass(x: float, y: float, z: float, t: float, back: bool = True) -> list[Form]:
    """Panels of a case open to +X, standing on z = 0: two sides, top, bottom, back."""
    forms = [box(x, t, z, 0.001, 1).at(y=s * (y - t) / 2, z=z / 2) for s in (-1, 1)]
    forms += [box(x, y - t, t, 0.001, 1).at(z=h) for h in (t / 2, z - t / 2)]
    if back:
        forms.append(box(0.006, y - t, z - t).at(x=-x / 2 + 0.004, z=z / 2))
    return forms


def _fronts(
    rng: np.random.Generator,
    x: float,
    y: float,
    z: float,
    layout: str,
    look: SurfaceMaterial,
    material: str,
) -> list[Part]:
    """Doors or drawers over the whole front of a case of size x, y, z standing on z = 0."""
    gap, t = 0.004, 0.018
    style, steel = pick(rng, ["knob", "bar", "bar"]), metal(rng, pick(rng, ["steel", "brass"]))
    items = []
    columns, rows = {
        "doors": (2 if y > 0.55 else 1, 1),
        "drawers": (2 if y > 1.0 else 1, int(rng.integers(2, 6)) if z > 0.4 else 2),
        "mixed": (2, 1),
    }[layout]
    top = 0.0
    if layout == "mixed":
        top = min(0.2, 0.25 * z)
        items += _fronts_grid(
            rng,
            x,
            y,
            top,
            z - top,
            1,
            2 if y > 0.8 else 1,
            style,
            steel,
            look,
            material,
            False,
            gap,
            t,
        )
    items += _fronts_grid(
        rng,
        x,
        y,
        z - top,
        0.0,
        rows,
        columns,
        style,
        steel,
        look,
        material,
        layout != "drawers",
        gap,
        t,
    )
    return items


def _fronts_grid(
    rng: np.random.Generator,
    x: float,
    y: float,
    z: float,
    low: float,
    rows: int,
    columns: int,
    style: str,
    steel: SurfaceMaterial,
    look: SurfaceMaterial,
    material: str,
    doors: bool,
    gap: float,
    t: float,
) -> list[Part]:
    items = []
    for i in range(rows):
        for j in range(columns):
            wide, high = y / columns - gap, z / rows - gap
            cy, cz = ((j + 0.5) / columns - 0.5) * y, low + (i + 0.5) / rows * z
            items.append(
                Part(box(t, wide, high, 0.002, 1).at(x / 2 + t / 2, cy, cz), look, material)
            )
            side = 0.0 if not doors else (0.5 * wide - 0.04) * (1 if j == 0 and columns > 1 else -1)
            items += _handle(rng, style, steel, cy + side, cz, x / 2 + t, doors)
    return items


def _case(
    rng: np.random.Generator, x: float, y: float, z: float, layout: str, leg: float
) -> Recipe:
    look, material = _board(rng)
    front = (
        look
        if chance(rng, 0.6)
        else pick(rng, [wood(rng), paint(tint(rng, "neutral", "pastel", "bright", "dark"), 0.45)])
    )
    items = [Part(f.at(z=leg), look, material) for f in carcass(x, y, z, 0.018)]
    items += [
        Part(p.form.at(z=leg), p.look, p.material)
        for p in _fronts(rng, x, y, z, layout, front, material)
    ]
    if leg > 0.03:
        items += legs(
            rng,
            0.42 * x,
            0.45 * y,
            leg + 0.004,
            look if chance(rng, 0.5) else metal(rng, "steel"),
            "wood_hard",
        )
    return Recipe(hollow_steel(items))


@category("cabinet", 0.55, 1.7)
def cabinet(rng: np.random.Generator) -> Recipe:
    """Sideboard, chest of drawers or cupboard."""
    y, z = uni(rng, 0.5, 1.5), uni(rng, 0.5, 1.15)
    return _case(
        rng,
        uni(rng, 0.32, 0.5),
        y,
        z,
        pick(rng, ["doors", "drawers", "mixed"]),
        pick(rng, [0.0, uni(rng, 0.06, 0.2)]),
    )


@category("wardrobe", 1.6, 2.4)
def wardrobe(rng: np.random.Generator) -> Recipe:
    """Tall wardrobe with doors."""
    return _case(
        rng,
        uni(rng, 0.5, 0.62),
        uni(rng, 0.8, 1.6),
        uni(rng, 1.7, 2.2),
        pick(rng, ["doors", "mixed"]),
        pick(rng, [0.0, 0.08]),
    )


@category("nightstand", 0.38, 0.85)
def nightstand(rng: np.random.Generator) -> Recipe:
    """Bedside table with drawers or a door."""
    return _case(
        rng,
        uni(rng, 0.3, 0.42),
        uni(rng, 0.36, 0.52),
        uni(rng, 0.3, 0.5),
        pick(rng, ["drawers", "drawers", "doors"]),
        pick(rng, [0.0, uni(rng, 0.08, 0.22)]),
    )


@category("shelf", 0.6, 2.2)
def shelf(rng: np.random.Generator) -> Recipe:
    """Bookcase, cube shelf, ladder or post shelf, sometimes with books."""
    x, y, z = uni(rng, 0.22, 0.4), uni(rng, 0.5, 1.2), uni(rng, 0.7, 2.0)
    look, material = _board(rng)
    rows = max(int(z / uni(rng, 0.28, 0.4)), 2)
    items: list[Part] = []
    t = uni(rng, 0.016, 0.03)
    open_style = chance(rng, 0.35)
    if open_style:
        post = metal(rng, "steel") if chance(rng, 0.5) else look
        for sx in (-1, 1):
            for sy in (-1, 1):
                items.append(
                    Part(
                        box(0.028, 0.028, z, 0.002, 1).at(
                            sx * (x / 2 - 0.014), sy * (y / 2 - 0.014), z / 2
                        ),
                        post,
                        "steel" if post is not look else material,
                    )
                )
        heights = np.linspace(0.08, z - t, rows + 1)
    else:
        items += [Part(f, look, material) for f in carcass(x, y, z, t, back=chance(rng, 0.7))]
        heights = np.linspace(t / 2, z - t / 2, rows + 1)
    for h in heights if open_style else heights[1:-1]:
        items.append(Part(box(x - 0.004, y - t / 2, t, 0.001, 1).at(z=h), look, material))
    if chance(rng, 0.4):
        for j in range(1, int(rng.integers(2, 4))):
            items.append(
                Part(
                    box(x - 0.01, t, z - t, 0.001, 1).at(y=(j / 3 - 0.5) * y * 1.0, z=z / 2),
                    look,
                    material,
                )
            )
    return Recipe(hollow_steel(items))


@category("desk", 0.9, 1.85)
def desk(rng: np.random.Generator) -> Recipe:
    """Desk with a drawer pedestal; the drawers face +X, where the chair stands."""
    x, y, z, t = (
        uni(rng, 0.55, 0.75),
        uni(rng, 1.0, 1.6),
        uni(rng, 0.72, 0.77),
        uni(rng, 0.02, 0.035),
    )
    look, material = _board(rng)
    front = look if chance(rng, 0.5) else paint(tint(rng, "neutral", "pastel", "dark"), 0.45)
    items = [Part(box(x, y, t, 0.003, 1).at(z=z - t / 2), look, material)]
    wide, side = uni(rng, 0.34, 0.45), pick(rng, [-1, 1])
    under = z - t + 0.001
    case_z = under - 0.06
    at = side * (y / 2 - wide / 2 - 0.02)
    case = [Part(f, look, material) for f in carcass(0.92 * x, wide, case_z, 0.016)]
    case += _fronts(rng, 0.92 * x, wide, case_z, "drawers", front, material)
    items += [Part(p.form.at(y=at, z=0.06), p.look, p.material) for p in case]
    items.append(
        Part(
            box(0.8 * x, 0.9 * wide, 0.065).at(y=at, z=0.0325),
            paint(tint(rng, "dark"), 0.6),
            material,
        )
    )
    end = -side * (y / 2 - 0.04)
    if chance(rng, 0.5):
        items.append(
            Part(box(0.92 * x, 0.025, under, 0.002, 1).at(y=end, z=under / 2), look, material)
        )
    else:
        for s in (-1, 1):
            items.append(
                Part(
                    box(0.045, 0.045, under, 0.002, 1).at(x=s * 0.42 * x, y=end, z=under / 2),
                    look,
                    material,
                )
            )
    if chance(rng, 0.6):
        items.append(
            Part(
                box(0.016, y - wide, 0.35).at(x=-0.4 * x, y=-side * wide / 2, z=under - 0.175),
                look,
                material,
            )
        )
    return Recipe(hollow_steel(items))
