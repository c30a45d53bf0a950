"""What is served: a cup on its saucer, with a drink and a spoon or without."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, glass, metal, paint, pick, tint, uni
from seed3d.data.procedural.shapes import circle, lathe, radius_at, spline, sweep, vessel
from seed3d.data.procedural.solids import ellipsoid
from seed3d.data.procedural.tableware import ear, glazed
from seed3d.types import SurfaceMaterial

DRINKS = ((0.24, 0.12, 0.05), (0.45, 0.26, 0.12), (0.72, 0.5, 0.3), (0.55, 0.24, 0.06), (0.9, 0.87, 0.8))  # fmt: skip
"""Coffee, crema, milk coffee, tea, milk: sRGB."""


@category("tea_cup", 0.08, 0.22)
def tea_cup(rng: np.random.Generator) -> Recipe:
    """Espresso, coffee or tea cup on a saucer; its handle anywhere from the left to the front."""
    height, radius, wall = uni(rng, 0.042, 0.078), uni(rng, 0.028, 0.05), uni(rng, 0.002, 0.0035)
    foot = radius * uni(rng, 0.45, 0.8)
    material = pick(rng, ["porcelain", "porcelain", "ceramic"])
    look = glazed(rng, 0.35)
    inside = paint(tint(rng, "neutral"), look.roughness, name="glaze") if chance(rng, 0.5) else look
    saucer, lift, reach = _saucer(rng, radius)
    outer = _cup_side(rng, radius, foot, height)
    turn = uni(rng, -170.0, 90.0)
    handle = ear(rng, outer, uni(rng, 0.2, 0.35) * height, uni(rng, 0.75, 0.9) * height,
                 uni(rng, 0.014, 0.024), uni(rng, 0.003, 0.005))  # fmt: skip
    cup = vessel(outer, wall, 1.5 * wall)
    items = [
        Part(saucer, look if chance(rng, 0.8) else inside, material),
        Part(cup.at(z=lift), look, material, crease_deg=50),
        Part(handle.turn("z", turn).at(z=lift), look, material, crease_deg=60),
    ]
    if inside is not look:
        items.append(Part(_lining(outer, wall).at(z=lift), inside, material, wall_m=2e-4))
    if chance(rng, 0.65):
        items.append(_drink(rng, outer, wall, height, lift))
    if chance(rng, 0.5):
        items += _spoon(rng, radius, reach, lift)
    return Recipe(tuple(items))


def _saucer(rng: np.random.Generator, radius: float) -> tuple:
    """Saucer form, height of its well [m], radius of its rim [m]."""
    rim, wall = radius * uni(rng, 1.55, 2.1), uni(rng, 0.003, 0.0045)
    rise = uni(rng, 0.012, 0.024)
    foot = radius * uni(rng, 0.75, 1.0)
    outer = spline(
        [(foot, 0.0), (foot * 1.1, 0.15 * rise), (rim * 0.75, 0.5 * rise), (rim, rise)], 4
    )
    return vessel(outer, wall, 1.3 * wall, 56), 1.3 * wall, rim


def _cup_side(rng: np.random.Generator, radius: float, foot: float, height: float) -> np.ndarray:
    """Outer profile (N, 2) of (radius, z) from the foot to the rim [m]."""
    bulge = uni(rng, 0.35, 1.0)
    t = np.linspace(0.0, 1.0, 12)
    r = foot + (radius - foot) * (1 - (1 - t) ** (1 + 2.0 * bulge))
    flare = uni(rng, 0.0, 0.08) * radius * t**6
    return np.column_stack([r + flare, height * t])


def _lining(outer: np.ndarray, wall: float):
    """Thin glaze of another colour on the cup's inner wall."""
    inner = outer[2:] - np.array([1.02 * wall, 0.0])
    inner = np.vstack([inner, [outer[-1, 0] - 0.5 * wall, outer[-1, 1] + 0.3 * wall]])
    skin = inner - np.array([3e-4, 0.0])
    return lathe(np.vstack([inner, skin[::-1]]), 48, ring=True)


def _drink(
    rng: np.random.Generator, outer: np.ndarray, wall: float, height: float, lift: float
) -> Part:
    """The drink as a disc, its rim inside the cup's wall; without weight of its own."""
    level = uni(rng, 0.55, 0.88) * height
    r = radius_at(outer, level) - 0.6 * wall
    disc = lathe(np.array([(0.0, level - 0.003), (r, level - 0.003), (r, level), (0.0, level)]), 40)
    color = DRINKS[int(rng.integers(len(DRINKS)))]
    shade = np.clip(np.array(color) * uni(rng, 0.8, 1.15), 0, 1)
    look = paint((float(shade[0]), float(shade[1]), float(shade[2])), 0.08, name="drink")
    return Part(disc.at(z=lift), look, "ceramic", density_kg_m3=1000.0)


def _spoon(rng: np.random.Generator, radius: float, reach: float, lift: float) -> list[Part]:
    """A small spoon lying on the saucer beside the cup."""
    look: SurfaceMaterial = metal(rng) if chance(rng, 0.9) else glass(rng)
    length = reach * uni(rng, 1.2, 1.6)
    side = min(radius * uni(rng, 1.12, 1.3), reach * 0.86)
    half = 0.5 * length
    z = lift + 0.005
    bowl = ellipsoid(0.009, 0.014, 0.0035).at(y=half - 0.012, z=z)
    path = spline(
        [(0, half - 0.022, z + 0.001), (0, 0.1 * half, z + 0.006), (0, -half, z + 0.009)], 6
    )
    handle = sweep(path, 0.0026, circle(1.0, 10, 0.5), up=(0, 0, 1), round_ends=True)
    turn = uni(rng, 0.0, 360.0)
    return [
        Part(form.at(x=side).turn("z", turn), look, "stainless", crease_deg=60)
        for form in (bowl, handle)
    ]
