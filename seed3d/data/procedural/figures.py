"""Toy animals and figures; they look towards +X."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, cloth, paint, pick, plastic, uni
from seed3d.data.procedural.prints import pattern
from seed3d.data.procedural.shapes import Form, circle, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, sphere
from seed3d.data.procedural.toys import toy_stuff
from seed3d.types import SurfaceMaterial


@category("toy_animal", 0.05, 0.4)
def toy_animal(rng: np.random.Generator) -> Recipe:
    """Four-legged toy looking towards +X: dog, horse, elephant, dinosaur, pig."""
    size = uni(rng, 0.04, 0.16)
    kind = pick(rng, ["dog", "horse", "elephant", "dino", "pig"])
    leg = size * {"horse": uni(rng, 0.7, 0.9), "pig": 0.3, "dino": 0.45}.get(
        kind, uni(rng, 0.45, 0.6)
    )
    lean, fat = size * uni(rng, 0.26, 0.34), {"pig": 1.25, "elephant": 1.4}.get(kind, 1.0)
    look, material, wall = toy_stuff(rng)
    belly = leg + 0.7 * lean * fat
    items = [
        Part(
            ellipsoid(0.62 * size, lean * fat, lean * fat, 32, 16).at(z=belly), look, material, wall
        )
    ]

    def limb(points: list[tuple[float, float, float]], radii: list[float]) -> None:
        path = spline(np.array(points), 5)
        width = np.interp(np.linspace(0, 1, len(path)), np.linspace(0, 1, len(radii)), radii)
        items.append(
            Part(sweep(path, width, circle(1.0, 14), round_ends=True), look, material, wall)
        )

    thick = lean * (0.42 if kind == "elephant" else uni(rng, 0.24, 0.36))
    for x in (-0.4 * size, 0.4 * size):
        for y in (-0.5 * lean, 0.5 * lean):
            limb(
                [(x, y, belly), (x, y, 0.5 * leg), (x, y, thick)],
                [thick * 1.2, thick, thick * 0.95],
            )
    head_r = lean * uni(rng, 0.7, 0.95)
    up = {"horse": 1.3, "dino": 1.6, "pig": 0.25}.get(kind, uni(rng, 0.5, 0.9)) * size * 0.6
    hx, hz = (0.75 if kind in ("horse", "dino") else 0.78) * size, belly + up
    limb(
        [(0.42 * size, 0, belly + 0.1 * lean), (0.62 * size, 0, belly + 0.6 * up), (hx, 0, hz)],
        [lean * 0.7, lean * 0.5, head_r * 0.6],
    )
    items.append(
        Part(
            ellipsoid(head_r * 1.15, head_r * 0.85, head_r * 0.85, 28, 14).at(x=hx, z=hz),
            look,
            material,
            wall,
        )
    )
    snout = 1.3 * head_r if kind in ("horse", "dog") else 0.8 * head_r
    if kind == "elephant":
        limb(
            [
                (hx + 0.8 * head_r, 0, hz),
                (hx + 1.5 * head_r, 0, hz - 0.9 * head_r),
                (hx + 1.6 * head_r, 0, hz - 2.1 * head_r),
            ],
            [0.35 * head_r, 0.28 * head_r, 0.2 * head_r],
        )
    else:
        items.append(
            Part(
                ellipsoid(snout, 0.5 * head_r, 0.45 * head_r, 24, 12).at(
                    x=hx + 0.7 * head_r, z=hz - 0.25 * head_r
                ),
                look,
                material,
                wall,
            )
        )
    second = toy_stuff(rng)[0] if chance(rng, 0.5) else look
    ear = {"elephant": (0.15, 0.75, 0.85)}.get(kind, (0.2, 0.25, 0.45))
    for s in (-1, 1):
        if kind != "dino":
            at = s * head_r * (1.1 if kind == "elephant" else 0.55)
            items.append(
                Part(
                    ellipsoid(ear[0] * head_r, ear[1] * head_r, ear[2] * head_r, 16, 8).at(
                        x=hx - 0.3 * head_r,
                        y=at,
                        z=hz + (0.1 if kind == "elephant" else 0.85) * head_r,
                    ),
                    second,
                    material,
                )
            )
        items.append(
            Part(
                sphere(0.13 * head_r, 12, 6).at(
                    x=hx + 0.75 * head_r, y=s * 0.58 * head_r, z=hz + 0.32 * head_r
                ),
                paint((0.05, 0.05, 0.06), 0.2),
                material,
            )
        )
    tail = size * (1.0 if kind == "dino" else 0.45)
    limb(
        [
            (-0.5 * size, 0, belly + 0.2 * lean),
            (-0.5 * size - 0.5 * tail, 0, belly),
            (-0.5 * size - tail, 0, belly - (0.2 if kind == "dino" else -0.3) * lean),
        ],
        [
            0.6 * lean if kind == "dino" else 0.14 * lean,
            0.3 * lean if kind == "dino" else 0.12 * lean,
            0.06 * lean,
        ],
    )
    return Recipe(tuple(items))


@category("plush", 0.12, 0.45)
def plush(rng: np.random.Generator) -> Recipe:
    """Sitting plush bear, rabbit or cat facing +X."""
    s = uni(rng, 0.05, 0.11)
    fur = cloth(rng, "wood_light", "wood_dark", "neutral", "pastel", "bright")
    pale = cloth(rng, "neutral", "pastel")
    head = s * uni(rng, 0.62, 0.85)
    hz = 1.55 * s + 0.55 * head
    forms = [
        (ellipsoid(0.72 * s, 0.75 * s, 0.95 * s, 36, 18).at(z=0.9 * s), fur),
        (ellipsoid(0.35 * s, 0.5 * s, 0.65 * s, 24, 12).at(x=0.45 * s, z=0.85 * s), pale),
        (ellipsoid(0.9 * head, head, 0.9 * head, 36, 18).at(x=0.12 * s, z=hz), fur),
        (
            ellipsoid(0.4 * head, 0.42 * head, 0.34 * head, 24, 12).at(
                x=0.12 * s + 0.75 * head, z=hz - 0.2 * head
            ),
            pale,
        ),
    ]
    kind = pick(rng, ["bear", "rabbit", "cat"])
    ear = {
        "bear": (0.2, 0.34, 0.34, 0.72, 0.75),
        "rabbit": (0.18, 0.22, 0.85, 0.4, 1.45),
        "cat": (0.14, 0.3, 0.42, 0.6, 0.85),
    }[kind]
    for side in (-1, 1):
        forms.append(
            (
                ellipsoid(ear[0] * head, ear[1] * head, ear[2] * head, 20, 10).at(
                    x=0.1 * s, y=side * ear[3] * head, z=hz + ear[4] * head
                ),
                fur,
            )
        )
        arm = spline(
            [
                (0.1 * s, side * 0.55 * s, 1.4 * s),
                (0.35 * s, side * 0.95 * s, 1.05 * s),
                (0.65 * s, side * 0.8 * s, 0.75 * s),
            ],
            5,
        )
        forms.append((sweep(arm, np.linspace(0.22, 0.24, len(arm)) * s, round_ends=True), fur))
        leg = spline(
            [
                (0.2 * s, side * 0.45 * s, 0.32 * s),
                (0.7 * s, side * 0.62 * s, 0.28 * s),
                (1.1 * s, side * 0.7 * s, 0.3 * s),
            ],
            5,
        )
        forms.append((sweep(leg, np.linspace(0.32, 0.26, len(leg)) * s, round_ends=True), fur))
        forms.append(
            (
                ellipsoid(0.12 * s, 0.27 * s, 0.3 * s, 20, 10).at(
                    x=1.32 * s, y=side * 0.7 * s, z=0.32 * s
                ),
                pale,
            )
        )
    black = paint((0.05, 0.05, 0.05), 0.25)
    items = [Part(f, look, "foam", density_kg_m3=60) for f, look in forms]
    for y, x, z, r in (
        (-0.34, 0.82, 0.16, 0.09),
        (0.34, 0.82, 0.16, 0.09),
        (0.0, 1.16, -0.12, 0.11),
    ):
        items.append(
            Part(
                sphere(r * head, 14, 8).at(x=0.12 * s + x * head, y=y * head, z=hz + z * head),
                black,
                "plastic_abs",
            )
        )
    return Recipe(tuple(items))


@category("toy_figure", 0.05, 0.35)
def toy_figure(rng: np.random.Generator) -> Recipe:
    """Standing figure or robot facing +X."""
    h = uni(rng, 0.06, 0.3)
    blocky = chance(rng, 0.5)
    looks = [plastic(rng, "bright", "dark", "neutral", "pastel") for _ in range(3)]
    skin = paint(
        pick(rng, [(0.95, 0.8, 0.25), (0.9, 0.72, 0.58), (0.55, 0.38, 0.28), (0.7, 0.72, 0.75)]),
        0.5,
    )
    head = h * uni(rng, 0.11, 0.17)
    leg_h, torso_h = 0.4 * h, 0.6 * h - 1.7 * head
    wide, deep = h * uni(rng, 0.13, 0.2), h * uni(rng, 0.09, 0.13)
    items: list[Part] = []

    def add(form: Form, look: SurfaceMaterial) -> None:
        items.append(Part(form, look, "plastic_abs", 0.002))

    front = paint(looks[0].base_color, 0.45, texture=pattern(rng, looks[0].base_color))
    torso = (
        box(deep * 1.2, 2 * wide, torso_h * 1.05, 0.2 * deep)
        if blocky
        else ellipsoid(0.7 * deep, wide, 0.6 * torso_h, 28, 14, 3.0)
    )
    add(torso.at(z=leg_h + torso_h / 2), front)
    z = leg_h + torso_h + 0.8 * head
    add(
        cylinder(0.8 * head, 1.5 * head, 0.3 * head).at(z=z - 0.75 * head)
        if blocky
        else ellipsoid(0.9 * head, 0.85 * head, head).at(z=z),
        skin,
    )
    hat = ellipsoid(0.98 * head, 0.95 * head, 0.6 * head).at(x=-0.12 * head, z=z + 0.5 * head)
    add(hat, looks[2])
    lift = uni(rng, -0.2, 0.7)
    for s in (-1, 1):
        y = s * wide * 0.5
        add(
            box(1.1 * deep, 0.85 * wide, leg_h, 0.15 * deep).at(y=y, z=leg_h / 2)
            if blocky
            else sweep(
                [(0, y, leg_h), (0, y, 0.5 * leg_h), (0, y, 0.3 * wide)],
                0.4 * wide,
                round_ends=True,
            ),
            looks[1],
        )
        add(
            box(1.7 * deep, 0.8 * wide, 0.16 * leg_h, 0.05 * leg_h).at(
                x=0.3 * deep, y=y, z=0.08 * leg_h
            ),
            looks[2],
        )
        shoulder = np.array([0.0, s * wide, leg_h + 0.9 * torso_h])
        arm = spline(
            [
                shoulder,
                shoulder + np.array([0.2 * deep, s * 0.45 * wide, -0.35 * torso_h]),
                shoulder
                + np.array([lift * torso_h * 0.6, s * 0.5 * wide, (-0.8 + 0.7 * lift) * torso_h]),
            ],
            5,
        )
        add(sweep(arm, 0.3 * wide, round_ends=True), looks[0])
        add(sphere(0.33 * wide, 16, 8).at(*(float(c) for c in arm[-1])), skin)
        add(
            sphere(0.12 * head, 10, 6).at(x=0.82 * head, y=s * 0.3 * head, z=z + 0.1 * head),
            paint((0.05, 0.05, 0.06), 0.3),
        )
    return Recipe(tuple(items))


@category("duck", 0.05, 0.2)
def duck(rng: np.random.Generator) -> Recipe:
    """Bath duck facing +X."""
    s = uni(rng, 0.025, 0.07)
    look = plastic(rng, "bright", "pastel") if chance(rng, 0.4) else paint((0.97, 0.8, 0.12), 0.35)
    beak = paint((0.95, 0.45, 0.08), 0.4)
    body = ellipsoid(1.15 * s, 0.85 * s, 0.72 * s, 36, 18)
    v = body.vertices.copy()
    rear = np.clip(-v[:, 0] / s - 0.4, 0, 1)
    v[:, 2] += 0.75 * rear**1.5 * s
    v[:, 1] *= 1 - 0.45 * rear
    items = [(body.warp(v).at(z=0.7 * s), look)]
    hz = 1.75 * s
    items.append((ellipsoid(0.58 * s, 0.55 * s, 0.55 * s, 32, 16).at(x=0.55 * s, z=hz), look))
    items.append(
        (ellipsoid(0.32 * s, 0.28 * s, 0.1 * s, 20, 10).at(x=1.2 * s, z=hz - 0.1 * s), beak)
    )
    for side in (-1, 1):
        items.append(
            (
                ellipsoid(0.55 * s, 0.14 * s, 0.34 * s, 24, 12)
                .turn("y", 20)
                .at(x=-0.1 * s, y=side * 0.8 * s, z=0.85 * s),
                look,
            )
        )
        items.append(
            (
                ellipsoid(0.09 * s, 0.09 * s, 0.11 * s, 12, 8).at(
                    x=0.98 * s, y=side * 0.3 * s, z=hz + 0.15 * s
                ),
                paint((0.05, 0.05, 0.05), 0.2),
            )
        )
    return Recipe(tuple(Part(f, m, "rubber", 0.002) for f, m in items))
