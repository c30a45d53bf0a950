"""Hats, bags, spectacles."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, cloth, metal, paint, pick, plastic, tint, uni
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import circle, lathe, spline, sweep
from seed3d.data.procedural.solids import box, prism
from seed3d.types import SurfaceMaterial


@category("hat", 0.16, 0.44)
def hat(rng: np.random.Generator) -> Recipe:
    """Cap with a peak towards +X, or brimmed hat."""
    r = uni(rng, 0.08, 0.1)
    look = cloth(rng, "bright", "fabric", "dark", "neutral")
    band = cloth(rng, "dark", "bright")
    if chance(rng, 0.5):
        h, wall = uni(rng, 0.1, 0.14), 0.002
        t = np.linspace(0, np.pi / 2, 14)
        dome = np.stack([r * np.cos(t) ** 0.8, 0.02 + (h - 0.02) * np.sin(t)], -1)
        outer = np.vstack([[[r * 0.98, 0.0]], dome])
        outer[-1, 0] = 0.0
        inner = outer * [(r - wall) / r, (h - wall) / h]
        inner[0, 1] = 0.0
        crown = lathe(np.vstack([outer[::-1], inner]), 48).scale(x=1.12)
        a = np.linspace(-1.15, 1.15, 17)
        long = uni(rng, 0.055, 0.075)
        back = np.column_stack([1.12 * r * np.cos(a) * 0.985, r * np.sin(a) * 0.985])
        reach = np.column_stack(
            [
                1.12 * r * np.cos(a) * 0.985 + long * np.cos(a / 1.15 * np.pi / 2) ** 0.6,
                r * np.sin(a) * 1.0,
            ]
        )
        peak = prism(np.vstack([reach, back[1:-1][::-1]]), 0.003)
        v = peak.vertices.copy()
        v[:, 2] += 0.012 - 3.0 * v[:, 1] ** 2 - 0.12 * np.clip(v[:, 0] - r, 0, 1)
        button = lathe([(0, h - 0.002), (0.007, h - 0.001), (0.005, h + 0.004), (0, h + 0.005)], 20)
        return Recipe(
            (
                Part(crown, look, "fabric", crease_deg=60),
                Part(peak.warp(v), band, "fabric"),
                Part(button, band, "fabric"),
            )
        )
    h, brim = uni(rng, 0.09, 0.13), uni(rng, 0.04, 0.1)
    outer = spline(
        [
            (r + brim, uni(rng, 0.0, 0.02)),
            (r + 0.5 * brim, 0.001),
            (r * 1.05, 0.004),
            (r * 0.98, 0.03),
            (r * 0.88, 0.8 * h),
            (r * 0.7, 0.98 * h),
            (0.3 * r, uni(rng, 0.88, 1.0) * h),
            (0.0, 0.92 * h),
        ],
        5,
    )
    outer[-1, 0] = 0.0
    step = np.gradient(outer, axis=0)
    normal = np.stack([step[:, 1], -step[:, 0]], -1) / np.linalg.norm(step, axis=1, keepdims=True)
    inner = outer - 0.002 * normal
    inner[-1, 0] = 0.0
    crown = lathe(np.vstack([outer[::-1], inner]), 52).scale(x=1.12)
    ribbon = lathe(
        [(r * 0.9, 0.012), (r * 1.005, 0.012), (r * 0.985, 0.036), (r * 0.9, 0.036)], 48, ring=True
    ).scale(x=1.12)
    return Recipe((Part(crown, look, "fabric", crease_deg=60), Part(ribbon, band, "fabric")))


@category("bag", 0.2, 0.5)
def bag(rng: np.random.Generator) -> Recipe:
    """Backpack, handbag or paper bag, empty but in shape; its front pocket towards +X."""
    kind = pick(rng, ["backpack", "handbag", "paper"])
    h = uni(rng, 0.2, 0.42)
    y = h * uni(rng, 0.65, 0.85) if kind != "handbag" else h * uni(rng, 1.0, 1.2)
    x = y * uni(rng, 0.3, 0.5)
    look = {
        "backpack": lambda: cloth(rng, "bright", "fabric", "dark"),
        "handbag": lambda: paint(tint(rng, "leather", "bright", "dark"), 0.5),
        "paper": lambda: _paper(rng),
    }[kind]()
    material = {"backpack": "fabric", "handbag": "leather", "paper": "paper"}[kind]
    if kind == "handbag":
        h *= 0.62
    body = box(x, y, h, {"backpack": 0.4 * x, "handbag": 0.15 * x, "paper": 0.0}[kind], 4, cuts=3)
    v = body.vertices.copy()
    t = np.clip(v[:, 2] / h + 0.5, 0, 1)
    v[:, 0] *= 1 - (0.0 if kind == "paper" else uni(rng, 0.2, 0.5)) * t**1.5
    v[:, 1] *= 1 - (0.25 * t**3 if kind == "backpack" else 0.08 * t)
    items = [
        Part(
            body.warp(v).at(z=h / 2),
            look,
            material,
            {"paper": 0.0003, "handbag": 0.002}.get(kind, 0.0015),
        )
    ]
    dark = paint(tint(rng, "dark", "leather"), 0.7)
    if kind == "backpack":
        items.append(
            Part(
                box(0.4 * x, 0.72 * y, 0.42 * h, 0.15 * x, 3).at(x=0.52 * x, z=0.28 * h),
                look if chance(rng, 0.5) else cloth(rng, "bright", "dark"),
                material,
                0.0015,
            )
        )
        zip_path = spline(
            [
                (0.44 * x, -0.4 * y, 0.45 * h),
                (0.38 * x, -0.36 * y, 0.8 * h),
                (0.25 * x, 0, 0.93 * h),
                (0.38 * x, 0.36 * y, 0.8 * h),
                (0.44 * x, 0.4 * y, 0.45 * h),
            ],
            6,
        )
        items.append(Part(sweep(zip_path, 0.004, circle(1, 8)), dark, "fabric"))
        for s in (-1, 1):
            strap = spline(
                [
                    (-0.3 * x, s * 0.14 * y, 0.92 * h),
                    (-0.75 * x, s * 0.2 * y, 0.72 * h),
                    (-0.8 * x, s * 0.26 * y, 0.4 * h),
                    (-0.48 * x, s * 0.32 * y, 0.1 * h),
                ],
                6,
            )
            items.append(Part(sweep(strap, 0.03, circle(1, 10, 0.2), up=(1, 0, 0)), look, "fabric"))
        items.append(
            Part(
                sweep(
                    spline(
                        [
                            (-0.2 * x, -0.06 * y, 0.95 * h),
                            (-0.2 * x, -0.05 * y, 1.06 * h),
                            (-0.2 * x, 0.05 * y, 1.06 * h),
                            (-0.2 * x, 0.06 * y, 0.95 * h),
                        ],
                        5,
                    ),
                    0.006,
                    circle(1, 8),
                ),
                dark,
                "fabric",
            )
        )
        return Recipe(tuple(items))
    for s in (-1, 1) if kind == "paper" or chance(rng, 0.5) else (0,):
        at = s * (0.42 * x if kind == "paper" else 0.22 * x)
        top = h * (1.22 if kind == "paper" else uni(rng, 1.4, 1.8))
        grip = spline(
            [
                (at, -0.22 * y, 0.95 * h),
                (at, -0.2 * y, h + 0.6 * (top - h)),
                (at, 0, top),
                (at, 0.2 * y, h + 0.6 * (top - h)),
                (at, 0.22 * y, 0.95 * h),
            ],
            6,
        )
        items.append(
            Part(
                sweep(grip, 0.003 if kind == "paper" else 0.007, circle(1, 8), up=(1, 0, 0)),
                dark,
                material,
            )
        )
    if kind == "handbag":
        flap = (
            box(0.012, 0.86 * y, 0.45 * h, 0.005, cuts=1).turn("y", -8).at(x=0.42 * x, z=0.68 * h)
        )
        items += [
            Part(flap, look, "leather", 0.004),
            Part(
                box(0.012, 0.05, 0.025, 0.004).at(x=0.47 * x, z=0.5 * h),
                metal(rng, "brass"),
                "brass",
                0.001,
            ),
        ]
    return Recipe(tuple(items))


def _paper(rng: np.random.Generator) -> SurfaceMaterial:
    color = pick(rng, [(0.72, 0.55, 0.38), tint(rng, "neutral", "pastel", "bright")])
    return paint(color, 0.8, texture=pattern(rng, color), name="paper")


@category("sunglasses", 0.11, 0.19)
def sunglasses(rng: np.random.Generator) -> Recipe:
    """Spectacles with open temples, standing on their lower edge; the lenses face +X."""
    w, h = uni(rng, 0.125, 0.15), uni(rng, 0.034, 0.052)
    look = plastic(rng, "dark", "bright") if chance(rng, 0.7) else metal(rng, "brass")
    lens = paint(tint(rng, "dark") if chance(rng, 0.7) else (0.8, 0.85, 0.86), 0.05, name="lens")
    power, thick = uni(rng, 2.0, 4.0), uni(rng, 0.0016, 0.0032)
    a = np.arange(40) / 40 * 2 * np.pi
    c, s = np.cos(a), np.sin(a)
    grow = (np.abs(c) ** power + np.abs(s) ** power) ** (-1 / power)
    items = []
    for side in (-1, 1):
        flat = np.column_stack([0.19 * w * c * grow, h / 2 * s * grow])
        ring = np.column_stack([np.zeros(40), flat[:, 0] + side * 0.25 * w, flat[:, 1] + h / 2])
        ring[:, 0] = -((ring[:, 1] / w) ** 2) * 0.05
        items.append(
            Part(sweep(ring, thick, circle(1, 8), closed=True, up=(1, 0, 0)), look, "plastic_abs")
        )
        pane = (
            prism(flat, 0.002)
            .turn("x", 90)
            .turn("z", 90)
            .turn("z", side * 3.0)
            .at(x=-0.004, y=side * 0.25 * w, z=h / 2)
        )
        items.append(Part(pane, lens, "glass"))
        arm = spline(
            [
                (-0.006, side * 0.45 * w, 0.75 * h),
                (-0.05, side * 0.475 * w, 0.74 * h),
                (-0.1, side * 0.47 * w, 0.7 * h),
                (-0.135, side * 0.46 * w, 0.15 * h),
            ],
            6,
        )
        items.append(
            Part(sweep(arm, thick * 1.1, circle(1, 8, 1.4), round_ends=True), look, "plastic_abs")
        )
    bridge = spline([(0, -0.07 * w, 0.6 * h), (0.002, 0, 0.72 * h), (0, 0.07 * w, 0.6 * h)], 5)
    items.append(Part(sweep(bridge, thick * 1.2, circle(1, 8), up=(1, 0, 0)), look, "plastic_abs"))
    return Recipe(tuple(items))
