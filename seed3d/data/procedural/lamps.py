"""Lamps and fans."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.appliances import shiny
from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, cloth, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.shapes import circle, lathe, spline, sweep
from seed3d.data.procedural.solids import cylinder, ellipsoid, torus


def _shade(rng: np.random.Generator, r: float, h: float, z: float) -> Part:
    top = r * pick(rng, [uni(rng, 0.35, 0.6), uni(rng, 0.8, 1.0)])
    look = cloth(rng, "neutral", "neutral", "pastel", "fabric") if chance(rng, 0.7) else shiny(rng)
    bow = uni(rng, -0.08, 0.12) * r
    side = spline([(r, z), ((r + top) / 2 + bow, z + 0.5 * h), (top, z + h)], 6)
    ring = np.vstack([side, side[::-1] - [0.0025, 0.0]])
    return Part(lathe(ring, 48, ring=True), look, "fabric", crease_deg=50)


def _lamp(rng: np.random.Generator, height: float, shade_r: float, slim: bool) -> Recipe:
    shade_h = shade_r * uni(rng, 0.9, 1.5)
    z = height - shade_h
    options = [
        (metal(rng, "brass"), "brass"),
        (plastic(rng, "dark", "neutral"), "steel"),
        (wood(rng), "wood_hard"),
        (paint(tint(rng, "glaze", "neutral", "bright"), 0.3), "ceramic"),
    ]
    look, material = pick(rng, options[:3] if slim else options)
    base_r = shade_r * uni(rng, 0.5, 0.8)
    items = [_shade(rng, shade_r, shade_h, z)]
    if slim:
        items.append(Part(cylinder(base_r, 0.02, 0.006, 40), look, "steel"))
        stem = pick(rng, ["pole", "tripod"])
        if stem == "tripod":
            items.pop()
            for k in range(3):
                a = k * 2 * np.pi / 3 + np.pi
                foot = np.array([np.cos(a), np.sin(a), 0.0]) * shade_r * 1.15
                items.append(
                    Part(
                        sweep(
                            [foot, (0.02 * np.cos(a), 0.02 * np.sin(a), z + 0.02)],
                            0.012,
                            round_ends=True,
                        ),
                        look,
                        material,
                    )
                )
        else:
            items.append(Part(cylinder(0.012, z + 0.3 * shade_h, 0, 20), look, "steel", 0.0015))
    else:
        knots = np.column_stack(
            [base_r * rng.uniform(0.2, 1.0, 4), z * np.array([0.05, 0.35, 0.65, 0.92])]
        )
        body = spline(np.vstack([[[base_r, 0]], knots, [[0.012, z + 0.02]]]), 6)
        body[:, 0] = np.maximum(body[:, 0], 0.01)
        body[:, 1] = np.clip(body[:, 1], 0, None)
        items.append(
            Part(
                lathe(np.vstack([[[0, 0]], body, [[0, z + 0.02]]]), 44),
                look,
                material,
                0.005,
                crease_deg=50,
            )
        )
        items.append(
            Part(
                cylinder(0.008, 0.35 * shade_h, 0, 16).at(z=z), metal(rng, "brass"), "brass", 0.001
            )
        )
    for k in range(3):  # spider that carries the shade
        a = k * 2 * np.pi / 3
        d = np.array([np.cos(a), np.sin(a), 0.0])
        items.append(
            Part(
                sweep(
                    [(0, 0, z + 0.3 * shade_h), d * shade_r * 0.62 + [0, 0, z + 0.3 * shade_h]],
                    0.0018,
                    circle(1, 6),
                ),
                look,
                "steel",
            )
        )
    bulb = ellipsoid(0.028, 0.028, 0.04, 20, 12).at(z=z + 0.4 * shade_h)
    items.append(Part(bulb, paint((0.97, 0.96, 0.9), 0.3), "glass", 0.001))
    return Recipe(tuple(items), has_front=False)


@category("table_lamp", 0.22, 0.7)
def table_lamp(rng: np.random.Generator) -> Recipe:
    """Table lamp with a shade, or a jointed desk lamp reaching towards +X."""
    if chance(rng, 0.65):
        return _lamp(rng, uni(rng, 0.28, 0.6), uni(rng, 0.09, 0.17), slim=False)
    look, h = shiny(rng), uni(rng, 0.3, 0.45)
    elbow = np.array([-uni(rng, 0.05, 0.15), 0, 0.6 * h])
    head = np.array([uni(rng, 0.08, 0.2), 0, h])
    r = uni(rng, 0.05, 0.08)
    cone = lathe(
        [
            (0, 0.09),
            (0.02, 0.088),
            (0.028, 0.06),
            (r, 0),
            (r - 0.002, 0),
            (0.026, 0.057),
            (0.018, 0.08),
            (0, 0.08),
        ],
        40,
    )
    cone = cone.turn("y", uni(rng, -40, -5)).at(x=head[0] + 0.01, z=head[2] - 0.06)
    return Recipe(
        (
            Part(cylinder(uni(rng, 0.07, 0.1), 0.022, 0.005, 40), look, "steel", 0.006),
            Part(sweep([(0, 0, 0.01), elbow], 0.008), look, "steel", 0.0012),
            Part(sweep([elbow, head], 0.008), look, "steel", 0.0012),
            Part(ellipsoid(0.014, 0.014, 0.014, 20, 10).at(*elbow.tolist()), look, "steel"),
            Part(cone, look, "aluminium"),
            Part(ellipsoid(0.016, 0.016, 0.016, 20, 10).at(*head.tolist()), look, "steel"),
        )
    )


@category("floor_lamp", 1.0, 1.95)
def floor_lamp(rng: np.random.Generator) -> Recipe:
    """Floor lamp on a pole or a tripod."""
    return _lamp(rng, uni(rng, 1.2, 1.8), uni(rng, 0.15, 0.26), slim=True)


@category("fan", 0.18, 0.5)
def fan(rng: np.random.Generator) -> Recipe:
    """Table fan, blowing towards +X."""
    r, deep = uni(rng, 0.08, 0.17), uni(rng, 0.05, 0.09)
    z, look, blade_look = r * uni(rng, 1.35, 1.8), shiny(rng), plastic(rng)
    items = []
    for k in range(5):
        big = r * (1 - 0.13 * abs(k - 2) ** 1.6 / 2)
        items.append(
            Part(
                torus(big, 0.0018, 44, 6).turn("y", 90).at(x=(k / 4 - 0.5) * deep, z=z),
                look,
                "steel",
            )
        )
    spokes = int(rng.integers(16, 26))
    for k in range(spokes):
        a = 2 * np.pi * k / spokes
        d = np.array([0, np.cos(a), np.sin(a)])
        path = spline(
            [
                d * 0.15 * r + [0.5 * deep, 0, z],
                d * 0.75 * r + [0.5 * deep, 0, z],
                d * r + [0, 0, z],
                d * 0.75 * r + [-0.5 * deep, 0, z],
                d * 0.15 * r + [-0.5 * deep, 0, z],
            ],
            3,
        )
        items.append(Part(sweep(path, 0.0014, circle(1, 5)), look, "steel"))
    for k in range(int(rng.integers(3, 6))):
        form = (
            ellipsoid(0.004, 0.2 * r, 0.4 * r, 20, 10)
            .at(z=0.45 * r)
            .turn("z", 28)
            .turn("x", 90.0 * k if k < 4 else 45)
        )
        items.append(Part(form.at(z=z), blade_look, "plastic_pp"))
    items.append(
        Part(
            cylinder(0.16 * r, 1.05 * deep, 0.004, 28).turn("y", 90).at(x=-0.5 * deep, z=z),
            look,
            "plastic_abs",
        )
    )
    items.append(
        Part(
            cylinder(0.3 * r, 0.06, 0.015, 32).turn("y", 90).at(x=-0.5 * deep - 0.058, z=z),
            look,
            "plastic_abs",
            density_kg_m3=2500,
        )
    )
    items.append(Part(cylinder(0.014, z, 0, 20).at(x=-0.5 * deep - 0.03), look, "steel", 0.002))
    items.append(
        Part(cylinder(0.75 * r, 0.02, 0.007, 40).at(x=-0.4 * deep), look, "plastic_abs", 0.006)
    )
    return Recipe(tuple(items))
