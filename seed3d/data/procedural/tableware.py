"""Crockery: mugs, bowls, plates."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import (
    chance,
    glass,
    metal,
    paint,
    pick,
    plastic,
    speckle,
    tint,
    uni,
)
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import (
    Form,
    circle,
    fillet,
    radius_at,
    spline,
    sweep,
    vessel,
)
from seed3d.types import SurfaceMaterial


def glazed(rng: np.random.Generator, printed: float = 0.5) -> SurfaceMaterial:
    """Return a ceramic glaze: plain, two-tone or, with share `printed`, decorated."""
    color = tint(rng, "neutral", "neutral", "glaze", "bright", "pastel")
    rough = pick(rng, [uni(rng, 0.08, 0.25), uni(rng, 0.35, 0.6)])
    if chance(rng, printed):
        decor = pattern(rng, color) if chance(rng, 0.7) else speckle(rng, color, tint(rng, "glaze"))
        return paint(color, rough, texture=decor, name="glaze")
    return paint(color, rough, name="glaze")


def ear(
    rng: np.random.Generator, outer: np.ndarray, low: float, high: float, reach: float, thick: float
) -> Form:
    """Ear handle towards +Y between heights low and high [m] of a turned body."""
    y0, y1 = radius_at(outer, low), radius_at(outer, high)
    sink = 0.35 * thick
    top = max(y0, y1) + reach
    style = pick(rng, ["round", "round", "square", "drop"])
    span = high - low
    if style == "square":
        corners = [(y1 - sink, high), (top, high), (top, low), (y0 - sink, low)]
        flat = fillet(corners, 0.45 * min(reach, span / 2), 6)
    elif style == "drop":
        flat = spline(
            [
                (y1 - sink, high),
                (y1 + 0.6 * reach, high + 0.02 * span),
                (top, high - 0.25 * span),
                (y0 + 0.75 * reach, low + 0.35 * span),
                (y0 - sink, low),
            ]
        )
    else:
        flat = spline(
            [
                (y1 - sink, high),
                (y1 + 0.55 * reach, high),
                (top, high - 0.28 * span),
                (top, low + 0.28 * span),
                (y0 + 0.55 * reach, low),
                (y0 - sink, low),
            ]
        )
    path = np.column_stack([np.zeros(len(flat)), flat])
    outline = circle(1.0, 12, uni(rng, 0.5, 1.0))
    return sweep(path, thick, outline, up=(0, 0, 1))


@category("mug", 0.08, 0.17)
def mug(rng: np.random.Generator) -> Recipe:
    """Mug, its handle towards +Y (right in the front view)."""
    height, radius, wall = uni(rng, 0.075, 0.125), uni(rng, 0.034, 0.047), uni(rng, 0.0025, 0.0045)
    foot = uni(rng, 0.65, 1.0)
    style = pick(rng, ["straight", "straight", "tapered", "barrel", "tulip", "enamel"])
    if style == "straight":
        side = [(radius * 0.98, 0.0), (radius, 0.5 * height), (radius, height)]
    elif style == "tapered":
        side = [(radius * foot, 0.0), (radius * (1 + foot) / 2, 0.5 * height), (radius, height)]
    elif style == "barrel":
        side = [(radius * 0.8, 0.0), (radius * 1.05, 0.45 * height), (radius * 0.88, height)]
    elif style == "tulip":
        side = [
            (radius * 0.55, 0.0),
            (radius * 0.85, 0.3 * height),
            (radius * 0.88, 0.7 * height),
            (radius, height),
        ]
    else:
        height *= 0.85
        side = [
            (radius, 0.0),
            (radius, 0.5 * height),
            (radius, 0.95 * height),
            (radius * 1.05, height),
        ]
        wall = 0.0015
    curve = spline(side, 5)
    bottom = fillet([(0.0, 0.0), (side[0][0], 0.0), tuple(curve[2])], uni(rng, 0.003, 0.012), 4)
    outer = np.vstack([bottom[1:-1], curve[2:]])
    material = "steel" if style == "enamel" else pick(rng, ["ceramic", "ceramic", "porcelain"])
    look = glazed(rng, 0.65)
    low, high = uni(rng, 0.15, 0.3) * height, uni(rng, 0.75, 0.92) * height
    handle = ear(rng, outer, low, high, uni(rng, 0.024, 0.038), uni(rng, 0.004, 0.0075))
    grip = (
        look
        if look.base_color_texture is None
        else paint(tint(rng, "neutral", "glaze"), look.roughness)
    )
    if look.base_color_texture is not None and chance(rng, 0.7):
        top = look.base_color_texture[1, 1] / 255.0
        grip = paint((float(top[0]), float(top[1]), float(top[2])), look.roughness, name="glaze")
    return Recipe(
        (
            Part(vessel(outer, wall, 1.5 * wall), look, material, crease_deg=50),
            Part(handle, grip, material, crease_deg=60),
        )
    )


@category("bowl", 0.09, 0.32)
def bowl(rng: np.random.Generator) -> Recipe:
    """Open bowl: hemispherical, conical, with or without foot."""
    radius, wall = uni(rng, 0.05, 0.15), uni(rng, 0.002, 0.005)
    height = radius * uni(rng, 0.5, 1.1)
    foot = radius * uni(rng, 0.3, 0.6)
    bulge = uni(rng, 0.4, 1.0)
    t = np.linspace(0, 1, 14)
    r = foot + (radius - foot) * (1 - (1 - t) ** (1 + 1.6 * bulge))
    z = height * t ** (1 + 0.5 * bulge)
    stand = uni(rng, 0.003, 0.01) if chance(rng, 0.5) else 0.0
    body = np.column_stack([r, z + stand])
    if stand:
        body = np.vstack([[foot * 0.96, 0.0], body])
    if chance(rng, 0.2):
        body = np.vstack([body, [radius * 1.12, body[-1, 1] + 0.001]])
    material = pick(
        rng, ["ceramic", "ceramic", "porcelain", "glass", "stainless", "wood_hard", "plastic_pp"]
    )
    look = {
        "glass": lambda: glass(rng),
        "stainless": lambda: metal(rng),
        "plastic_pp": lambda: plastic(rng),
        "wood_hard": lambda: paint(tint(rng, "wood_light", "wood_dark"), 0.5, name="wood"),
    }.get(material, lambda: glazed(rng, 0.6))()
    wall = 0.0012 if material == "stainless" else wall * (1.8 if material == "wood_hard" else 1)
    return Recipe((Part(vessel(body, wall, stand + 1.3 * wall), look, material),), has_front=False)


@category("plate", 0.14, 0.33)
def plate(rng: np.random.Generator) -> Recipe:
    """Plate or shallow dish with a rim."""
    radius, height, wall = uni(rng, 0.075, 0.155), uni(rng, 0.012, 0.035), uni(rng, 0.003, 0.0055)
    foot, well = radius * uni(rng, 0.5, 0.65), radius * uni(rng, 0.68, 0.85)
    if chance(rng, 0.3):
        outer = spline([(foot, 0), (well, 0.25 * height), (radius, height)], 5)
    else:
        outer = spline(
            [(foot, 0), (foot * 1.02, 0.12 * height), (well, 0.6 * height), (radius, height)], 4
        )
    square = pick(rng, [2.0, 2.0, 2.0, 2.0, 5.0])
    material = pick(rng, ["ceramic", "porcelain", "porcelain", "plastic_abs"])
    profile = vessel(outer, wall, 1.2 * wall, 56, square)
    form = _planar(profile)
    return Recipe((Part(form, glazed(rng, 0.6), material),), has_front=False)


def _planar(form: Form) -> Form:
    """Return a turned form whose v runs from the centre (0) to the rim (1), for rims and rings."""
    r = np.linalg.norm(form.vertices[:, :2], axis=1)
    v = 0.01 + 0.98 * r / r.max()
    uv = form.uv.copy()
    uv[..., 1] = v[form.faces]
    return Form(form.vertices, form.faces, uv)


@category("ramekin", 0.06, 0.16)
def ramekin(rng: np.random.Generator) -> Recipe:
    """Ribbed or smooth straight-walled baking dish."""
    radius, height, wall = uni(rng, 0.035, 0.07), uni(rng, 0.03, 0.06), uni(rng, 0.004, 0.006)
    outer = np.array(
        [
            (radius * 0.94, 0),
            (radius * 0.97, 0.003),
            (radius * 0.97, 0.78 * height),
            (radius, 0.8 * height),
            (radius, height),
        ]
    )
    sections = 96
    form = vessel(outer, wall, wall, sections)
    if chance(rng, 0.75):
        v, n = form.vertices.copy(), int(rng.integers(24, 33))
        r = np.linalg.norm(v[:, :2], axis=1)
        rib = (r > radius * 0.95) & (v[:, 2] > 0.002) & (v[:, 2] < 0.79 * height)
        angle = np.arctan2(v[:, 1], v[:, 0])
        v[rib, :2] *= (1 + 0.016 * np.cos(n * angle[rib]))[:, None]
        form = form.warp(v)
    look = paint(tint(rng, "neutral", "glaze", "bright"), uni(rng, 0.1, 0.4), name="glaze")
    return Recipe((Part(form, look, "ceramic", crease_deg=55),), has_front=False)
