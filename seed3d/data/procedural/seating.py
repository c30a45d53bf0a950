"""Chairs, stools, benches: the back rest is at -X."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.furniture import SEAT_KG_M3, cushion, hollow_steel, legs, stuff
from seed3d.data.procedural.looks import chance, cloth, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.shapes import circle, rect, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, prism
from seed3d.types import SurfaceMaterial


@category("chair", 0.65, 1.3)
def chair(rng: np.random.Generator) -> Recipe:
    """Chair: slat, ladder, panel or shell back; four legs, sled or star base; seat open to +X."""
    x, y, z = uni(rng, 0.38, 0.48), uni(rng, 0.38, 0.5), uni(rng, 0.42, 0.48)
    high, lean = z + uni(rng, 0.32, 0.58), uni(rng, 0.02, 0.1)
    look, material = stuff(rng)
    seat_look, seat_material = (look, material) if chance(rng, 0.5) else (cloth(rng), "foam")
    soft = seat_material == "foam"
    t = uni(rng, 0.05, 0.08) if soft else uni(rng, 0.018, 0.03)
    material_seat = "wood_soft" if material == "steel" and not soft else seat_material
    seat = (
        cushion(x, y, t)
        if soft
        else prism(rect(x, y, uni(rng, 0.01, 0.12), 6), t, 0.004).at(z=-t / 2)
    )
    items = [
        Part(
            seat.at(z=z - t / 2),
            seat_look,
            material_seat,
            density_kg_m3=SEAT_KG_M3 * 2 if soft else None,
        )
    ]
    under = z - t + 0.005
    base = pick(rng, ["legs", "legs", "legs", "star", "sled"])
    if base == "star":
        dark = plastic(rng, "dark", "neutral")
        for k in range(5):
            a = 2 * np.pi * k / 5
            arm = sweep(
                [(0, 0, 0.1), (0.28 * np.cos(a), 0.28 * np.sin(a), 0.07)], np.array([0.024, 0.016])
            )
            wheel = (
                cylinder(0.027, 0.04, 0.006, 20)
                .turn("x", 90)
                .turn("z", np.degrees(a))
                .at(0.29 * np.cos(a), 0.29 * np.sin(a), 0.027)
            )
            items += [Part(arm, dark, "plastic_pp"), Part(wheel, dark, "plastic_abs")]
        items.append(
            Part(
                cylinder(0.026, under - 0.08, 0.002, 24).at(z=0.08),
                metal(rng, "steel"),
                "steel",
                0.003,
            )
        )
    elif base == "sled":
        for s in (-1, 1):
            loop = np.array(
                [
                    (-0.4 * x, s * 0.45 * y, under),
                    (-0.42 * x, s * 0.45 * y, 0.012),
                    (0.45 * x, s * 0.45 * y, 0.012),
                    (0.4 * x, s * 0.45 * y, under),
                ]
            )
            for a, b in pairwise(loop):
                items.append(
                    Part(
                        sweep([a, b], 0.011, circle(1, 12), round_ends=True),
                        metal(rng, "steel"),
                        "steel",
                        0.002,
                    )
                )
    else:
        items += legs(rng, 0.42 * x, 0.42 * y, under, look, material)
    items += _chair_back(rng, x, y, z, high, lean, look, material, seat_look if soft else None)
    if chance(rng, 0.3):
        for s in (-1, 1):
            rail = spline(
                [
                    (-0.48 * x, s * 0.5 * y, z + 0.2),
                    (0.0, s * 0.53 * y, z + 0.21),
                    (0.36 * x, s * 0.52 * y, z + 0.2),
                    (0.4 * x, s * 0.48 * y, z - 0.01),
                ],
                5,
            )
            items.append(
                Part(sweep(rail, 0.015, circle(1, 10, 0.7), round_ends=True), look, material)
            )
    return Recipe(hollow_steel(items))


def _chair_back(
    rng: np.random.Generator,
    x: float,
    y: float,
    z: float,
    high: float,
    lean: float,
    look: SurfaceMaterial,
    material: str,
    soft: SurfaceMaterial | None,
) -> list[Part]:
    """Back rest at -X from the seat's height up to `high`, leaning back by `lean` [m]."""
    style = (
        pick(rng, ["slats", "ladder", "panel", "panel", "shell"])
        if soft is None
        else pick(rng, ["panel", "panel", "ladder"])
    )
    x0, rise = -0.46 * x, high - z

    def at(f: float, side: float, inward: float = 0.0) -> np.ndarray:
        return np.array([x0 - lean * max(f, 0.0) ** 1.3 + inward, side * 0.44 * y, z + f * rise])

    items = []
    if style == "shell":
        shell = box(0.014, 1.0 * y, rise * 0.95, 0.006, 2, cuts=7).at(z=rise * 0.5)
        v = shell.vertices.copy()
        v[:, 1] *= 1 - 0.25 * np.clip(v[:, 2] / rise, 0, 1) ** 2
        v[:, 0] += x0 + 1.1 * v[:, 1] ** 2 - lean * np.clip(v[:, 2] / rise, 0, 1) + 0.01
        return [Part(shell.warp(v).at(z=z - 0.03), look, material)]
    for s in (-1, 1):
        post = np.array([at(f, s) for f in (-0.08, 0.3, 0.65, 1.0)])
        items.append(Part(sweep(post, 0.014, circle(1, 12), round_ends=True), look, material))
    if style == "panel":
        low = uni(rng, 0.05, 0.45)
        tall = (0.97 - low) * rise
        pad = box(0.05 if soft else 0.016, 0.92 * y, tall, 0.015 if soft else 0.005, 3)
        angle = -float(np.degrees(np.arctan2(lean, rise)))
        pad = pad.turn("y", angle).at(
            x=x0 - lean * (0.5 * (low + 1)) ** 1.3, z=z + low * rise + tall / 2
        )
        items.append(
            Part(
                pad,
                soft or look,
                "foam" if soft else material,
                density_kg_m3=SEAT_KG_M3 * 2 if soft else None,
            )
        )
        return items
    rails = (1.0,) if style == "slats" else tuple(np.linspace(0.35, 1.0, int(rng.integers(2, 5))))
    for f in rails:
        bow = [at(f, -1), at(f, 0, -0.02), at(f, 1)]
        items.append(
            Part(
                sweep(
                    spline(bow, 5),
                    0.022,
                    circle(1, 10, 2.0) * [0.35, 0.6],
                    round_ends=True,
                    up=(0, 0, 1),
                ),
                look,
                material,
            )
        )
    if style == "slats":
        for k in np.linspace(-0.7, 0.7, int(rng.integers(3, 8))):
            items.append(
                Part(
                    sweep(
                        [at(-0.02, k), at(0.5, k, -0.008), at(0.98, k, -0.015)], 0.009, circle(1, 8)
                    ),
                    look,
                    material,
                )
            )
    return items


@category("stool", 0.35, 0.95)
def stool(rng: np.random.Generator) -> Recipe:
    """Stool or bar stool: round or square seat."""
    z, r = pick(rng, [uni(rng, 0.4, 0.5), uni(rng, 0.6, 0.8)]), uni(rng, 0.15, 0.2)
    look, material = stuff(rng)
    soft = chance(rng, 0.35)
    t = 0.06 if soft else 0.03
    top = (
        cylinder(r, t, 0.02 if soft else 0.006, 44)
        if chance(rng, 0.6)
        else prism(rect(2 * r, 2 * r, 0.04), t, 0.006)
    )
    items = [
        Part(
            top.at(z=z - t),
            cloth(rng) if soft else look,
            "foam" if soft else "wood_hard",
            density_kg_m3=SEAT_KG_M3 * 2 if soft else None,
        )
    ]
    items += legs(rng, 0.6 * r, 0.6 * r, z - t + 0.004, look, material)
    if chance(rng, 0.6):
        step, k = uni(rng, 0.25, 0.5) * z, 0.66 * r
        for a, b in (
            ((-k, -k), (k, -k)),
            ((k, -k), (k, k)),
            ((k, k), (-k, k)),
            ((-k, k), (-k, -k)),
        ):
            items.append(
                Part(sweep([(*a, step), (*b, step)], 0.009, circle(1, 10)), look, material)
            )
    return Recipe(hollow_steel(items), has_front=False)


@category("bench", 0.8, 1.9)
def bench(rng: np.random.Generator) -> Recipe:
    """Slatted or solid bench, with or without a back at -X."""
    y, x, z = uni(rng, 0.9, 1.6), uni(rng, 0.3, 0.45), uni(rng, 0.42, 0.48)
    look, material = wood(rng), "wood_hard"
    frame, frame_material = (
        (look, material) if chance(rng, 0.5) else (paint(tint(rng, "dark"), 0.4, 0.5), "steel")
    )
    count = int(rng.integers(1, 6))
    wide = x / count * (0.86 if count > 1 else 1.0)
    items = [
        Part(
            box(wide, y, 0.03, 0.004, 1).at(x=((k + 0.5) / count - 0.5) * x, z=z - 0.015),
            look,
            material,
        )
        for k in range(count)
    ]
    for s in (-1, 1):
        at = s * (y / 2 - 0.12)
        items.append(Part(box(x, 0.04, 0.04, 0.003, 1).at(y=at, z=z - 0.05), frame, frame_material))
        for sx in (-1, 1):
            items.append(
                Part(
                    box(0.045, 0.045, z - 0.04, 0.003, 1).at(
                        x=sx * 0.42 * x, y=at, z=(z - 0.04) / 2
                    ),
                    frame,
                    frame_material,
                )
            )
    if chance(rng, 0.5):
        for k in range(int(rng.integers(2, 4))):
            items.append(
                Part(
                    box(0.025, y, 0.08, 0.004, 1)
                    .turn("y", -10)
                    .at(x=-x / 2 - 0.03 - 0.02 * k, z=z + 0.13 + 0.12 * k),
                    look,
                    material,
                )
            )
        for s in (-1, 1):
            items.append(
                Part(
                    box(0.035, 0.04, 0.5, 0.003, 1)
                    .turn("y", -10)
                    .at(x=-x / 2 - 0.04, y=s * (y / 2 - 0.12), z=z + 0.19),
                    frame,
                    frame_material,
                )
            )
    return Recipe(hollow_steel(items))
