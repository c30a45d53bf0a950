"""Shoes: the toe points to +X."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, cloth, paint, pick, tint, uni
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import circle, skin, spline, sweep
from seed3d.data.procedural.solids import prism


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
