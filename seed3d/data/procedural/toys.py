"""Toys: balls, blocks, vehicles, rings."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.prints import box_art, panels
from seed3d.data.procedural.shapes import Form, fillet
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, prism, torus
from seed3d.types import SurfaceMaterial


def toy_stuff(rng: np.random.Generator) -> tuple[SurfaceMaterial, str, float | None]:
    """Return looks, material and wall thickness [m] of a toy: hollow plastic or solid wood."""
    if chance(rng, 0.35):
        color = tint(rng, "wood_light", "bright", "pastel")
        return paint(color, uni(rng, 0.4, 0.7), name="painted wood"), "wood_hard", None
    return plastic(rng, "bright", "pastel", "neutral"), "plastic_abs", 0.002


@category("ball", 0.03, 0.26)
def ball(rng: np.random.Generator) -> Recipe:
    """Play ball: football, tennis, beach, basket, rugby."""
    r = uni(rng, 0.02, 0.12)
    form = ellipsoid(r, r, r, 48, 24)
    color = tint(rng, "bright", "neutral", "pastel")
    look = paint(color, uni(rng, 0.3, 0.9), texture=panels(rng, color), name="ball")
    return Recipe((Part(form, look, "rubber", min(0.004, 0.1 * r)),), has_front=False)


@category("toy_block", 0.025, 0.21)
def toy_block(rng: np.random.Generator) -> Recipe:
    """Letter cube, studded brick, or a small pile of wooden blocks."""
    kind = pick(rng, ["cube", "brick", "brick", "pile"])
    if kind == "cube":
        a = uni(rng, 0.03, 0.06)
        look = paint((1, 1, 1), 0.6, texture=box_art(rng), name="printed")
        return Recipe((Part(box(a, a, a, 0.06 * a, atlas=True), look, "wood_hard"),))
    if kind == "brick":
        p = pick(rng, [0.008, 0.016, 0.03])
        nx, ny, high = int(rng.integers(1, 4)), int(rng.integers(2, 6)), pick(rng, [0.4, 1.2])
        if p < 0.01:
            nx, ny = nx + 1, ny + 2
        look = plastic(rng, "bright")
        h = p * high
        items = [
            Part(box(nx * p, ny * p, h, 0.02 * p, 1).at(z=h / 2), look, "plastic_abs", 0.15 * p)
        ]
        for i in range(nx):
            for j in range(ny):
                stud = cylinder(0.3 * p, 0.2 * p, 0.02 * p, 20).at(
                    (i - (nx - 1) / 2) * p, (j - (ny - 1) / 2) * p, h
                )
                items.append(Part(stud, look, "plastic_abs"))
        return Recipe(tuple(items))
    a, z, items = uni(rng, 0.025, 0.045), 0.0, []
    for k in range(int(rng.integers(2, 5))):
        look = wood(rng, False) if chance(rng, 0.3) else paint(tint(rng, "bright", "pastel"), 0.6)
        w = a * uni(rng, 0.9, 1.6) * 0.93**k
        form = pick(
            rng,
            [
                box(a, w, a, 0.002, 1),
                cylinder(0.5 * a, a, 0.002).at(z=-a / 2),
                box(w, a, 0.6 * a, 0.002, 1).at(z=-0.2 * a),
            ],
        )
        items.append(Part(form.turn("z", uni(rng, -25, 25)).at(z=z + a / 2), look, "wood_hard"))
        z += float(np.ptp(form.vertices[:, 2]))
    return Recipe(tuple(items))


def wheel(radius: float, width: float) -> Form:
    """Wheel on the Y axis, centred."""
    return cylinder(radius, width, 0.18 * radius, 28).turn("x", 90).at(y=width / 2)


@category("toy_car", 0.05, 0.34)
def toy_car(rng: np.random.Generator) -> Recipe:
    """Toy car, van, pickup or bus driving towards +X."""
    length = uni(rng, 0.06, 0.28)
    wide, r = length * uni(rng, 0.38, 0.5), length * uni(rng, 0.09, 0.125)
    kind = pick(rng, ["car", "beetle", "van", "pickup", "racer"])
    x = length / 2
    base, hood, roof = 0.6 * r, r * uni(rng, 2.0, 2.4), r * uni(rng, 3.5, 4.4)
    side = {
        "car": [
            (-x, hood),
            (-0.75 * x, hood * 1.05),
            (-0.45 * x, roof),
            (0.15 * x, roof),
            (0.45 * x, hood * 1.05),
            (0.95 * x, hood * 0.9),
        ],
        "beetle": [
            (-x, 0.7 * hood),
            (-0.7 * x, 1.3 * hood),
            (-0.3 * x, roof),
            (0.2 * x, roof),
            (0.5 * x, 1.15 * hood),
            (0.9 * x, 0.9 * hood),
        ],
        "van": [
            (-x, roof * 1.05),
            (0.5 * x, roof * 1.05),
            (0.75 * x, hood * 1.1),
            (0.97 * x, hood),
        ],
        "pickup": [
            (-x, hood),
            (-0.2 * x, hood),
            (-0.18 * x, roof),
            (0.25 * x, roof),
            (0.45 * x, hood),
            (0.97 * x, hood * 0.95),
        ],
        "racer": [
            (-x, hood * 1.2),
            (-0.85 * x, hood * 1.2),
            (-0.6 * x, hood * 0.9),
            (-0.2 * x, hood * 1.35),
            (0.1 * x, hood),
            (0.95 * x, 0.6 * hood),
        ],
    }[kind]
    outline = fillet([(-x, base), *side, (x, base)][::-1], 0.05 * length, 4, closed=True)
    look, material, wall = toy_stuff(rng)
    body = prism(outline, wide, 0.05 * wide).turn("x", 90).at(y=wide / 2)
    tyre = paint(tint(rng, "dark"), 0.8, name="tyre")
    rim = pick(rng, [paint((0.75, 0.75, 0.76), 0.3, 0.8), plastic(rng)])
    items = [Part(body, look, material, wall)]
    for wx in (-0.58 * x, 0.6 * x):
        for s in (-1, 1):
            at = s * (wide / 2 - 0.2 * r)
            items.append(Part(wheel(r, 0.7 * r).at(x=wx, y=at, z=r), tyre, "rubber"))
            items.append(
                Part(
                    wheel(0.55 * r, 0.1 * r).at(x=wx, y=at + s * 0.34 * r, z=r), rim, "plastic_abs"
                )
            )
    pane = paint((0.25, 0.33, 0.4), 0.1, name="window")
    if kind != "racer":
        x0, x1 = {"van": (-0.75 * x, 0.45 * x), "pickup": (-0.1 * x, 0.2 * x)}.get(
            kind, (-0.4 * x, 0.12 * x)
        )
        for s in (-1, 1):
            items.append(
                Part(
                    box(x1 - x0, 0.03 * wide, 0.55 * (roof - hood), 0.01 * length).at(
                        x=(x0 + x1) / 2, y=s * wide / 2, z=(hood + roof) / 2
                    ),
                    pane,
                    "plastic_abs",
                )
            )
    for s in (-1, 1):
        items.append(
            Part(
                ellipsoid(0.03 * length, 0.09 * wide, 0.09 * wide, 16, 8).at(
                    x=0.96 * x, y=s * 0.32 * wide, z=0.72 * hood if kind != "racer" else 0.5 * hood
                ),
                paint((0.95, 0.93, 0.8), 0.2),
                "plastic_abs",
            )
        )
    return Recipe(parts(items))


@category("toy_train", 0.09, 0.3)
def toy_train(rng: np.random.Generator) -> Recipe:
    """Steam engine driving towards +X."""
    length = uni(rng, 0.1, 0.24)
    wide, r = length * uni(rng, 0.3, 0.4), length * uni(rng, 0.07, 0.1)
    looks = [toy_stuff(rng)[0] for _ in range(3)]
    z = 1.4 * r
    boiler_r = 0.4 * wide
    frame = box(length, wide * 0.8, 0.6 * r, 0.1 * r).at(z=z)
    boiler = (
        cylinder(boiler_r, 0.62 * length, 0.04 * wide)
        .turn("y", 90)
        .at(x=-0.14 * length, z=z + boiler_r)
    )
    cab_h = boiler_r * uni(rng, 2.5, 3.2)
    cab = box(0.3 * length, wide, cab_h, 0.004).at(x=-0.33 * length, z=z + cab_h / 2)
    roof = box(0.38 * length, wide * 1.12, 0.1 * cab_h, 0.003).at(x=-0.33 * length, z=z + cab_h)
    stack = cylinder(0.28 * boiler_r, boiler_r * 1.1, 0.002, 24, 0.42 * boiler_r).at(
        x=0.33 * length, z=z + 1.8 * boiler_r
    )
    dome = ellipsoid(0.4 * boiler_r, 0.4 * boiler_r, 0.5 * boiler_r, 20, 10).at(
        x=0.1 * length, z=z + 2 * boiler_r
    )
    items = [
        Part(f, looks[k], "wood_hard")
        for f, k in ((frame, 1), (boiler, 0), (cab, 2), (roof, 1), (stack, 1), (dome, 2))
    ]
    tyre = plastic(rng, "dark", "bright")
    for wx, size in ((-0.33, 1.25), (0.05, 1.0), (0.33, 1.0)):
        for s in (-1, 1):
            items.append(
                Part(
                    wheel(r * size, 0.4 * r).at(x=wx * length, y=s * wide * 0.42, z=r * size),
                    tyre,
                    "wood_hard",
                )
            )
    return Recipe(tuple(items))


@category("stacking_rings", 0.09, 0.26)
def stacking_rings(rng: np.random.Generator) -> Recipe:
    """Rings of falling size on a pole, or stacking cups."""
    count, r = int(rng.integers(3, 7)), uni(rng, 0.035, 0.065)
    tube = r * uni(rng, 0.28, 0.38)
    items = [Part(cylinder(r * 1.15, 0.012, 0.004), wood(rng), "wood_hard")]
    z = 0.012
    for k in range(count):
        big = r * (1 - 0.11 * k)
        items.append(
            Part(
                torus(big - tube, tube, 40, 14).at(z=z + tube),
                plastic(rng, "bright", "pastel"),
                "plastic_pp",
                0.002,
            )
        )
        z += 1.75 * tube
    items.append(Part(cylinder(0.25 * r, z, 0.002, 24), wood(rng), "wood_hard"))
    items.append(
        Part(
            ellipsoid(0.4 * r, 0.4 * r, 0.4 * r, 24, 12).at(z=z + 0.3 * r),
            plastic(rng, "bright"),
            "plastic_pp",
            0.002,
        )
    )
    return Recipe(tuple(items), has_front=False)
