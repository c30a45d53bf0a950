"""Things on kitchen counters: boards, knives, mills, flasks, dispensers."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category, parts
from seed3d.data.procedural.looks import chance, glass, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.prints import pattern, wrap_label
from seed3d.data.procedural.shapes import circle, fillet, lathe, rect, spline, sweep, vessel
from seed3d.data.procedural.solids import cylinder, ellipsoid, prism


@category("pepper_mill", 0.07, 0.32)
def pepper_mill(rng: np.random.Generator) -> Recipe:
    """Turned pepper mill, or a salt shaker."""
    h = uni(rng, 0.08, 0.28)
    r = h * uni(rng, 0.13, 0.2) if h > 0.13 else h * uni(rng, 0.2, 0.28)
    knots = r * rng.uniform(0.55, 1.0, 4)
    body = spline(
        [
            (r, 0),
            (r * 0.98, 0.08 * h),
            (knots[0], 0.3 * h),
            (knots[1], 0.5 * h),
            (knots[2], 0.68 * h),
            (r * 0.8, 0.72 * h),
        ],
        5,
    )
    head = spline(
        [(0.82 * r, 0.73 * h), (0.95 * r, 0.82 * h), (0.6 * r, 0.92 * h), (0.2 * r, 0.95 * h)], 5
    )
    kind = pick(rng, ["wood_hard", "plastic_abs", "stainless"])
    look = {
        "wood_hard": lambda: wood(rng),
        "plastic_abs": lambda: plastic(rng),
        "stainless": lambda: metal(rng),
    }[kind]()
    top = look if chance(rng, 0.6) else metal(rng)
    knob = ellipsoid(0.25 * r, 0.25 * r, 0.2 * r, 20, 10).at(z=0.96 * h)
    wall = None if kind == "wood_hard" else 0.002
    return Recipe(
        (
            Part(lathe(np.vstack([[[0, 0]], body, [[0, 0.73 * h]]]), 40), look, kind, wall),
            Part(lathe(np.vstack([[[0, 0.72 * h]], head, [[0, 0.96 * h]]]), 40), top, kind, wall),
            Part(knob, metal(rng), "stainless"),
        ),
        has_front=False,
    )


@category("cutting_board", 0.18, 0.52)
def cutting_board(rng: np.random.Generator) -> Recipe:
    """Cutting board lying along Y, with a hand hole or a paddle handle at +Y."""
    y, z = uni(rng, 0.22, 0.42), uni(rng, 0.008, 0.03)
    x, corner = y * uni(rng, 0.55, 0.75), uni(rng, 0.005, 0.04)
    look, material = (wood(rng), "wood_hard") if chance(rng, 0.7) else (plastic(rng), "plastic_pp")
    if chance(rng, 0.5):
        loops = [
            rect(x, y, corner, 5),
            (rect(0.3 * x, 0.03, 0.014, 4) + np.array([0, 0.4 * y]))[::-1],
        ]
        return Recipe((Part(prism(loops, z, 0.002), look, material),))
    w = uni(rng, 0.03, 0.05)
    reach = 0.5 * y + uni(rng, 0.08, 0.12)
    outline = fillet(
        [
            (-x / 2, -y / 2),
            (x / 2, -y / 2),
            (x / 2, 0.42 * y),
            (w / 2, 0.5 * y),
            (w * 0.55, reach),
            (-w * 0.55, reach),
            (-w / 2, 0.5 * y),
            (-x / 2, 0.42 * y),
        ],
        [corner, corner, 0.04, 0.02, 0.02, 0.02, 0.02, 0.04],
        5,
        closed=True,
    )
    hole = (circle(0.007, 16) + np.array([0, reach - 0.022]))[::-1]
    return Recipe((Part(prism([outline, hole], z, 0.002), look, material),))


@category("knife", 0.16, 0.38)
def knife(rng: np.random.Generator) -> Recipe:
    """Kitchen or table knife lying flat along Y, its tip towards +Y, the edge towards +X."""
    blade, deep, grip_l = uni(rng, 0.09, 0.21), uni(rng, 0.018, 0.048), uni(rng, 0.09, 0.13)
    belly = uni(rng, 0.2, 0.6)
    outline = np.vstack(
        [
            [(-0.5 * deep, 0), (0.5 * deep, 0)],
            spline(
                [
                    (0.5 * deep, 0.02),
                    (0.48 * deep, (0.3 + 0.4 * belly) * blade),
                    (-0.3 * deep, blade),
                ],
                6,
            ),
            [(-0.5 * deep, uni(rng, 0.6, 0.95) * blade)],
        ]
    )
    steel = prism(outline, 0.0018).at(z=0.008)
    look, material = (
        (wood(rng), "wood_hard")
        if chance(rng, 0.4)
        else (plastic(rng, "dark", "bright"), "plastic_abs")
    )
    path = spline(
        [
            (-0.15 * deep, 0.004, 0.009),
            (-0.12 * deep, -0.3 * grip_l, 0.009),
            (-0.15 * deep, -0.7 * grip_l, 0.009),
            (0.05 * deep, -grip_l, 0.009),
        ],
        5,
    )
    width = np.interp(
        np.linspace(0, 1, len(path)), [0, 0.3, 0.7, 1], [0.011, 0.0135, 0.0115, 0.014]
    )
    items = [
        Part(steel, metal(rng), "stainless"),
        Part(sweep(path, width, circle(1, 16, 0.62), round_ends=True), look, material),
    ]
    for k in range(3 if chance(rng, 0.5) else 0):
        items.append(
            Part(
                cylinder(0.003, 0.0185, 0.0004, 16).at(
                    x=-0.13 * deep, y=-(0.2 + 0.28 * k) * grip_l
                ),
                metal(rng),
                "stainless",
            )
        )
    return Recipe(parts(items))


@category("soap_dispenser", 0.12, 0.25)
def soap_dispenser(rng: np.random.Generator) -> Recipe:
    """Counter-top pump dispenser; the spout towards +X."""
    r, h = uni(rng, 0.03, 0.042), uni(rng, 0.1, 0.15)
    side = spline([(r * uni(rng, 0.75, 1.0), 0), (r, 0.4 * h), (r * 0.85, 0.85 * h), (0.016, h)], 6)
    kind = pick(rng, ["ceramic", "glass", "plastic_abs", "stainless"])
    color = tint(rng, "neutral", "pastel", "glaze", "bright")
    look = {
        "ceramic": lambda: paint(color, 0.2),
        "glass": lambda: glass(rng),
        "plastic_abs": lambda: paint(color, 0.4, texture=wrap_label(rng, color, 0.2, 0.7)),
        "stainless": lambda: metal(rng),
    }[kind]()
    pump = metal(rng) if chance(rng, 0.5) else plastic(rng)
    material = "stainless" if pump.metallic else "plastic_pp"
    path = fillet([(-0.008, h + 0.05), (0.05, h + 0.052), (0.06, h + 0.036)], 0.012, 5)
    neck = [
        cylinder(0.018, 0.016, 0.002).at(z=h - 0.003),
        cylinder(0.0055, 0.04, 0, 16).at(z=h + 0.01),
        cylinder(0.012, 0.012, 0.003).at(z=h + 0.043),
    ]
    tube = sweep(np.insert(path, 1, 0.0, axis=1), 0.0055, up=(0, 1, 0), round_ends=True)
    wall = 0.003 if kind in ("ceramic", "glass") else 0.0012
    return Recipe(
        parts(
            Part(
                lathe(np.vstack([[[0, 0]], side, [[0, h]]]), square=pick(rng, [2.0, 2.0, 4.0])),
                look,
                kind,
                wall,
            ),
            [Part(f, pump, material, 0.0012) for f in (*neck, tube)],
        )
    )


@category("thermos", 0.14, 0.36)
def thermos(rng: np.random.Generator) -> Recipe:
    """Insulated flask or travel mug with lid, sometimes with a handle towards +Y."""
    h, r = uni(rng, 0.16, 0.31), uni(rng, 0.03, 0.045)
    neck, cap_h = r * uni(rng, 0.7, 1.02), h * uni(rng, 0.14, 0.24)
    side = fillet(
        [(0, 0), (r * 0.97, 0), (r, 0.7 * (h - cap_h)), (neck, h - cap_h), (0, h - cap_h)],
        [0, 0.004, 0.03, 0.004, 0],
        5,
    )
    color = tint(rng, "bright", "dark", "neutral", "pastel")
    look = pick(
        rng, [metal(rng), paint(color, 0.5), paint(color, 0.5, texture=pattern(rng, color))]
    )
    cap = cylinder(neck * uni(rng, 0.9, 1.05), cap_h, 0.005, 44, neck * uni(rng, 0.75, 0.98)).at(
        z=h - cap_h - 0.002
    )
    top = plastic(rng, "dark", "neutral", "bright")
    items = [Part(lathe(side), look, "stainless", 0.0014), Part(cap, top, "plastic_pp", 0.003)]
    front = look.base_color_texture is not None
    if chance(rng, 0.35):
        front = True
        path = spline(
            [
                (0, r - 0.004, 0.62 * h),
                (0, r + 0.03, 0.6 * h),
                (0, r + 0.032, 0.3 * h),
                (0, r - 0.004, 0.22 * h),
            ],
            6,
        )
        items.append(Part(sweep(path, 0.008, circle(1, 12, 0.6)), top, "plastic_pp"))
    elif chance(rng, 0.4):
        front = True
        loop = spline(
            [
                (0, -0.8 * neck, h - 0.4 * cap_h),
                (0, -0.6 * neck, h + 0.022),
                (0, 0.6 * neck, h + 0.022),
                (0, 0.8 * neck, h - 0.4 * cap_h),
            ],
            6,
        )
        items.append(Part(sweep(loop, 0.005, circle(1, 10), up=(1, 0, 0)), top, "plastic_pp"))
    return Recipe(tuple(items), has_front=front)


@category("watering_can", 0.2, 0.56)
def watering_can(rng: np.random.Generator) -> Recipe:
    """Watering can: spout towards -Y, handle towards +Y."""
    r = uni(rng, 0.06, 0.1)
    h = r * uni(rng, 1.5, 2.3)
    look = pick(rng, [metal(rng, "steel"), plastic(rng, "bright", "pastel", "neutral")])
    material, wall = ("steel", 0.0007) if look.metallic else ("plastic_pp", 0.002)
    outer = spline([(r, 0), (r * uni(rng, 0.95, 1.1), 0.5 * h), (r * uni(rng, 0.6, 0.95), h)], 6)
    reach = r * uni(rng, 2.2, 2.9)
    path = spline(
        [(0, -0.9 * r, 0.22 * h), (0, -0.5 * (r + reach), 0.5 * h), (0, -reach, 1.05 * h)], 7
    )
    spout = sweep(path, np.linspace(0.022, 0.01, len(path)) * r / 0.08, up=(1, 0, 0))
    rose = (
        lathe([(0, 0), (0.009, 0), (0.028, 0.03), (0.026, 0.036), (0, 0.039)], 32)
        .scale(*(r / 0.08,) * 3)
        .turn("x", 40)
        .at(y=-reach + 0.004, z=1.05 * h - 0.006)
    )
    back = spline(
        [
            (0, 0.5 * r, 1.0 * h),
            (0, 0.9 * r, 1.35 * h),
            (0, 1.75 * r, 1.0 * h),
            (0, 1.6 * r, 0.45 * h),
            (0, 0.98 * r, 0.3 * h),
        ],
        6,
    )
    handle = sweep(back, 0.008, circle(1, 12, 0.8), up=(0, 0, 1))
    items = [
        Part(vessel(outer, wall, 0.002), look, material),
        Part(spout, look, material, wall),
        Part(handle, look, material, wall),
    ]
    if chance(rng, 0.75):
        items.append(Part(rose, look, material, wall))
    return Recipe(tuple(items))
