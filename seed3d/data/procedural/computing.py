"""Computers and what belongs to them: mouse, keyboard, laptop, monitor, gamepad."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.electronics import BULK_KG_M3, case
from seed3d.data.procedural.looks import chance, metal, paint, pick, plastic, uni
from seed3d.data.procedural.prints import screen
from seed3d.data.procedural.shapes import Form, circle, lathe, rect, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, ellipsoid, frustum, prism
from seed3d.types import SurfaceMaterial


@category("computer_mouse", 0.08, 0.2)
def computer_mouse(rng: np.random.Generator) -> Recipe:
    """Mouse, its buttons towards +X."""
    length = uni(rng, 0.09, 0.125)
    wide, high = length * uni(rng, 0.5, 0.62), length * uni(rng, 0.24, 0.36)
    body = ellipsoid(length / 2, wide / 2, high, 44, 22, uni(rng, 2.2, 2.9))
    v = body.vertices.copy()
    v[:, 2] = np.where(v[:, 2] < 0, v[:, 2] * 0.12, v[:, 2])
    t = v[:, 0] / length
    v[:, 2] *= 1 - uni(rng, 0.2, 0.5) * t
    v[:, 1] *= 1 - uni(rng, 0.1, 0.3) * np.exp(-((t / 0.2) ** 2))
    look, second = case(rng), plastic(rng, "dark", "neutral")
    zw = high * 0.83
    items = [Part(body.warp(v), look, "plastic_abs", density_kg_m3=650)]
    wheel = (
        cylinder(0.011, 0.006, 0.001, 24).turn("x", 90).at(x=0.24 * length, y=0.003, z=zw - 0.0085)
    )
    items.append(Part(wheel, second, "rubber"))
    groove = sweep(
        np.array(
            [
                (
                    x,
                    0,
                    high
                    * np.sqrt(max(1 - (2 * x / length) ** 2.4, 0))
                    * (1 - 0.35 * x / length)
                    * 0.965,
                )
                for x in np.linspace(0.02, 0.46, 10) * length
            ]
        ),
        0.0012,
        circle(1, 6),
    )
    items.append(Part(groove, second, "plastic_abs"))
    if chance(rng, 0.35):
        start = np.array([length * 0.48, 0, 0.3 * high])
        cable = spline(
            [
                start,
                start + np.array([0.03, 0.004, -0.1 * high]),
                start + np.array([0.06, 0.012, -0.25 * high + 0.001]),
            ],
            5,
        )
        items.append(Part(sweep(cable, 0.0017, circle(1, 8), round_ends=True), second, "rubber"))
    return Recipe(tuple(items))


@category("keyboard", 0.26, 0.48)
def keyboard(rng: np.random.Generator) -> Recipe:
    """Keyboard along Y; the typist sits at +X."""
    cols, rows = pick(rng, [(15, 5), (15, 6), (18, 6), (21, 6)])
    pitch = uni(rng, 0.0185, 0.0195)
    x, y, z = rows * pitch + 0.014, cols * pitch + 0.014, uni(rng, 0.008, 0.02)
    look, cap, accent = (
        case(rng),
        plastic(rng, "dark", "neutral"),
        plastic(rng, "bright", "neutral"),
    )
    tilt = uni(rng, 1.0, 5.0)
    items: list[tuple[Form, SurfaceMaterial, float | None]] = [
        (box(x, y, z, 0.003), look, BULK_KG_M3)
    ]
    key_h = uni(rng, 0.003, 0.008)
    for row in range(rows):
        col = 0.0
        while col < cols - 0.01:
            width = 1.0
            if row == 0 and 3.0 <= col < 4.0:
                width = 6.0
            elif col < 0.5 and row < 4:
                width = [1.0, 2.0, 1.75, 1.5][row]
            width = min(width, cols - col)
            size = (0.86 * pitch, (width - 0.14) * pitch)
            form = frustum(size, (0.8 * size[0], size[1] - 0.2 * pitch), key_h)
            at = (
                -(row - (rows - 1) / 2) * pitch,
                (col + width / 2) * pitch - cols * pitch / 2,
                z / 2 - 0.0005,
            )
            special = width > 1.2 or row == rows - 1 or col > 15
            items.append((form.at(*at), accent if special else cap, None))
            col += width
    return Recipe(
        tuple(Part(f.turn("y", tilt), m, "plastic_abs", density_kg_m3=d) for f, m, d in items)
    )


@category("laptop", 0.22, 0.46)
def laptop(rng: np.random.Generator) -> Recipe:
    """Open laptop, its screen facing +X."""
    y = uni(rng, 0.26, 0.38)
    x, z = y * uni(rng, 0.62, 0.72), uni(rng, 0.01, 0.02)
    look = pick(rng, [metal(rng, "aluminium"), plastic(rng, "dark", "neutral")])
    base = prism(rect(x, y, 0.01), z, 0.002)
    keys = plastic(rng, "dark")
    items = [Part(base, look, "aluminium" if look.metallic else "plastic_abs", density_kg_m3=1900)]
    pitch = 0.9 * y / 15
    for row in range(5):
        for col in range(14):
            key = box(0.82 * pitch, 0.84 * pitch, 0.003).at(
                x=-0.36 * x + (row + 0.5) * pitch, y=(col - 6.5) * pitch, z=z
            )
            if not (row == 4 and 4 <= col <= 8):
                items.append(Part(key, keys, "plastic_abs"))
    items.append(
        Part(
            box(0.8 * pitch, 5 * pitch, 0.003).at(x=-0.36 * x + 4.5 * pitch, y=-0.5 * pitch, z=z),
            keys,
            "plastic_abs",
        )
    )
    items.append(
        Part(
            box(0.27 * x, 0.36 * y, 0.001).at(x=0.32 * x, z=z),
            paint((0.3, 0.3, 0.32), 0.3),
            "glass",
        )
    )
    lean = uni(rng, 5, 35)
    lid = prism(rect(x, y, 0.01), 0.006, 0.002).turn("y", 90).at(z=x / 2)
    face = box(0.001, 0.94 * y, 0.88 * x).at(x=0.0063, z=0.52 * x)
    glow = paint((1, 1, 1), 0.1, texture=screen(rng), name="screen")
    hinge = (-x / 2 + 0.004, 0.0, z)
    items.append(
        Part(
            lid.turn("y", -lean).at(*hinge),
            look,
            "aluminium" if look.metallic else "plastic_abs",
            density_kg_m3=1800,
        )
    )
    items.append(Part(face.turn("y", -lean).at(*hinge), glow, "glass"))
    return Recipe(tuple(items))


@category("monitor", 0.4, 0.85)
def monitor(rng: np.random.Generator) -> Recipe:
    """Monitor or television on a stand, its screen facing +X."""
    y = uni(rng, 0.42, 0.75)
    h, deep = y * uni(rng, 0.55, 0.66), uni(rng, 0.02, 0.05)
    lift = uni(rng, 0.06, 0.16)
    look = case(rng) if chance(rng, 0.3) else plastic(rng, "dark")
    edge = uni(rng, 0.01, 0.035)
    panel = box(deep, y, h, 0.006).at(z=lift + h / 2)
    bump = box(deep, 0.5 * y, 0.5 * h, 0.015).at(x=-0.7 * deep, z=lift + 0.45 * h)
    face = box(0.002, y - edge, h - edge).at(x=deep / 2, z=lift + h / 2)
    neck = box(0.02, 0.06, lift + 0.3 * h, 0.006).at(x=-deep, z=(lift + 0.3 * h) / 2)
    foot = pick(
        rng,
        [
            prism(rect(0.18, 0.36 * y, 0.06), 0.012, 0.003),
            cylinder(0.13, 0.012, 0.003, 40),
            box(0.17, 0.3 * y, 0.01, 0.003).at(z=0.005),
        ],
    )
    glow = paint((1, 1, 1), 0.12, texture=screen(rng), name="screen")
    return Recipe(
        (
            Part(panel, look, "plastic_abs", density_kg_m3=420),
            Part(bump, look, "plastic_abs", 0.003),
            Part(face, glow, "glass"),
            Part(neck, look, "steel", 0.003),
            Part(foot.at(x=-0.6 * deep), look, "steel", 0.003),
        )
    )


@category("game_controller", 0.12, 0.18)
def game_controller(rng: np.random.Generator) -> Recipe:
    """Gamepad lying flat, its triggers towards +X."""
    look, dark = plastic(rng, "dark", "neutral", "bright"), plastic(rng, "dark")
    w = uni(rng, 0.07, 0.08)
    items = [
        Part(
            box(0.06, 1.55 * w, 0.034, 0.015, 4).at(z=0.035),
            look,
            "plastic_abs",
            0.0025,
            density_kg_m3=2500,
        )
    ]
    for s in (-1, 1):
        path = spline(
            [
                (0.012, s * 0.62 * w, 0.036),
                (-0.02, s * 0.78 * w, 0.034),
                (-0.058, s * 0.95 * w, 0.024),
            ],
            6,
        )
        items.append(
            Part(
                sweep(path, np.linspace(0.025, 0.016, len(path)), round_ends=True),
                look,
                "plastic_abs",
                0.0025,
                density_kg_m3=2000,
            )
        )
        stick = lathe(
            [
                (0, 0),
                (0.007, 0),
                (0.006, 0.009),
                (0.0095, 0.011),
                (0.0095, 0.014),
                (0.004, 0.0145),
                (0, 0.0135),
            ],
            28,
        )
        items.append(Part(stick.at(x=-0.012, y=s * 0.3 * w, z=0.05), dark, "rubber"))
        bumper = box(0.014, 0.034, 0.012, 0.005).at(x=0.029, y=s * 0.52 * w, z=0.04)
        items.append(Part(bumper, dark, "plastic_abs"))
    for k in range(4):
        a = k * np.pi / 2
        items.append(
            Part(
                cylinder(0.0048, 0.005, 0.001, 16).at(
                    0.01 + 0.011 * np.cos(a), -0.62 * w + 0.011 * np.sin(a), 0.05
                ),
                plastic(rng, "bright"),
                "plastic_abs",
            )
        )
    for a in ((0.03, 0.009), (0.009, 0.03)):
        items.append(
            Part(box(*a, 0.006, 0.001, 1).at(x=0.01, y=0.62 * w, z=0.053), dark, "plastic_abs")
        )
    return Recipe(tuple(items))
