"""Shoes, hats, bags."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, cloth, metal, paint, pick, plastic, tint, uni
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import circle, lathe, skin, spline, sweep
from seed3d.data.procedural.solids import box, prism
from seed3d.types import SurfaceMaterial


def _foot(length: float, wide: float, count: int, toe: float) -> np.ndarray:
    """Outline (count, 2) of a left sole, the heel at -X; `toe` from pointed (0) to round (1)."""
    t = np.linspace(-np.pi, np.pi, count, endpoint=False)
    c, s = np.cos(t), np.sin(t)
    x = length / 2 * np.sign(c) * np.abs(c) ** np.where(c < 0, 0.7, 0.75 + 0.25 * (1 - toe))
    f = x / length + 0.5
    half = wide / 2 * (0.81 + 0.19 * np.cos(2 * np.pi * np.clip((f - 0.68) / 1.25, -0.5, 0.5)))
    half *= np.where(
        s > 0, 1.0 - 0.08 * np.sin(np.pi * f), 1.0 - 0.2 * np.exp(-(((f - 0.42) / 0.16) ** 2))
    )
    bend = -0.06 * wide * np.sin(np.pi * f) + 0.02 * length * (f - 0.5) ** 2
    return np.column_stack([x, half * np.sign(s) * np.abs(s) ** 0.72 + bend])


@category("shoe", 0.13, 0.35)
def shoe(rng: np.random.Generator) -> Recipe:
    """Sneaker, boot or slip-on; the toe towards +X."""
    length = uni(rng, 0.16, 0.31)
    wide, sole = length * uni(rng, 0.34, 0.4), length * uni(rng, 0.06, 0.12)
    ankle = length * pick(rng, [uni(rng, 0.24, 0.32), uni(rng, 0.24, 0.32), uni(rng, 0.4, 0.75)])
    n, toe = 64, uni(rng, 0.5, 1.0)
    foot = _foot(length, wide, n, toe)
    f = foot[:, :1] / length + 0.5
    boot = ankle > 0.36 * length
    long = uni(rng, 0.3, 0.36) if boot else uni(rng, 0.42, 0.56)
    middle = -length / 2 + (0.03 + long / 2) * length
    c = (foot - foot.mean(0)) / np.ptp(foot, axis=0) * 2
    rim = np.column_stack([middle + c[:, 0] * long / 2 * length, c[:, 1] * 0.23 * wide])
    rim_f = (rim[:, :1] / length + 0.5) / (0.03 + long)
    tongue = 0.0 if boot else uni(rng, 0.02, 0.12) * length
    rim_z = (
        ankle * (1 - 0.25 * np.sin(np.pi * np.clip(rim_f, 0, 1)) * (not boot)) + tongue * rim_f**3
    )
    toe_h = length * uni(rng, 0.13, 0.18)
    wall_z = sole + (toe_h - sole) * 0.45
    front = np.clip((f - 0.35) / 0.65, 0, 1)
    levels = [np.column_stack([foot * 0.985, np.full(n, sole * 0.6)])]
    levels.append(np.column_stack([foot * [1.0, 1.02], np.full((n, 1), wall_z)]))
    mix = 0.62 - 0.3 * (1 - front)
    shoulder = foot * (1 - mix * 0.55) + rim * (mix * 0.55)
    instep = min(ankle, 0.3 * length)
    high = (toe_h * 1.02) * front + (0.62 * instep) * (1 - front)
    levels.append(np.column_stack([shoulder, high]))
    near = foot * 0.16 + rim * 0.84
    levels.append(np.column_stack([near, 0.25 * high + 0.75 * np.minimum(rim_z, instep)]))
    levels.append(np.column_stack([rim, rim_z]))
    outer = spline(np.stack(levels).reshape(5, -1), 5).reshape(-1, n, 3)
    inset = (rim - rim.mean(0)) * [0.95, 0.86] + rim.mean(0)
    inside = [np.column_stack([inset, rim_z + 0.001]), np.column_stack([inset, rim_z * 0.8])]
    inside.append(np.column_stack([inset * [1.0, 1.1], np.full(n, sole + 0.012)]))
    rings = np.vstack([outer, np.stack(inside)])
    v = np.concatenate([np.linspace(0.02, 0.9, len(outer)), [0.94, 0.97, 0.985]])
    color = tint(rng, "bright", "neutral", "dark", "leather")
    kind = pick(rng, ["plain", "pattern", "cloth"])
    upper = {
        "plain": lambda: paint(color, uni(rng, 0.4, 0.8)),
        "pattern": lambda: paint(color, 0.7, texture=pattern(rng, color)),
        "cloth": lambda: cloth(rng, "bright", "fabric", "dark"),
    }[kind]()
    base = prism(foot * uni(rng, 1.02, 1.06), sole, 0.15 * sole)
    p = base.vertices.copy()
    p[:, 2] *= 1 - 0.35 * np.clip(p[:, 0] / length, 0, 0.5)
    p[:, 2] += 0.18 * length * np.clip(p[:, 0] / length - 0.25, 0, 1) ** 2
    items = [
        Part(skin(rings, v), upper, "leather", density_kg_m3=300, crease_deg=50),
        Part(
            base.warp(p),
            paint(tint(rng, "neutral", "neutral", "dark", "bright"), 0.7),
            "rubber",
            density_kg_m3=450,
        ),
    ]
    if chance(rng, 0.7):
        items += _laces(rng, outer, rim, rim_z.ravel(), length)
    return Recipe(parts(items))


def _laces(
    rng: np.random.Generator, outer: np.ndarray, rim: np.ndarray, rim_z: np.ndarray, length: float
) -> list[Part]:
    """Bars across the vamp in front of the opening, lying on the upper's skin."""
    look = cloth(rng, "neutral", "bright")
    n = outer.shape[1]
    toe = n // 2  # the outline starts at the heel
    items = []
    for k, row in enumerate(range(len(outer) - 2, len(outer) - 10, -2)):
        span = 7 - k
        path = outer[row, toe - span : toe + span + 1] + [0.0, 0.0, 0.001]
        items.append(
            Part(sweep(path, 0.009 * length + 0.0008, circle(1.0, 8, 0.6)), look, "fabric")
        )
    return items


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
