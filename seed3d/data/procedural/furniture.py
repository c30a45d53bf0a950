"""Furniture to sit, lie and eat on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.looks import chance, cloth, metal, paint, pick, plastic, tint, uni, wood
from seed3d.data.procedural.shapes import Form, circle, rect, spline, sweep
from seed3d.data.procedural.solids import box, cylinder, prism
from seed3d.types import SurfaceMaterial

SEAT_KG_M3 = 70.0
"""Bulk density of upholstery: foam, springs and a light wooden frame."""


def legs(
    rng: np.random.Generator,
    x: float,
    y: float,
    height: float,
    look: SurfaceMaterial,
    material: str,
) -> list[Part]:
    """Four legs whose tops are at (+-x, +-y): square, turned, splayed or hairpin."""
    style = pick(
        rng, ["square", "round", "taper", "splay", "hairpin" if height < 0.8 else "square"]
    )
    r = uni(rng, 0.013, 0.03) * min(1.0, 0.6 + height)
    out = uni(rng, 0.02, 0.1) * height if style in ("splay", "hairpin") else 0.0
    items = []
    for sx in (-1, 1):
        for sy in (-1, 1):
            top, foot = (
                np.array([sx * x, sy * y, height]),
                np.array([sx * (x + out), sy * (y + out), 0.0]),
            )
            if style == "square":
                items.append(
                    Part(
                        box(2 * r, 2 * r, height, 0.002, 1).at(sx * x, sy * y, height / 2),
                        look,
                        material,
                    )
                )
            elif style == "hairpin":
                rod = spline(
                    [
                        top + [0.04 * -sx, 0, 0],
                        foot + [0, 0, 0.02],
                        foot,
                        foot + [0, 0, 0.02],
                        top + [0, 0.04 * -sy, 0],
                    ],
                    4,
                )
                items.append(Part(sweep(rod, 0.006, circle(1, 8)), look, material))
            else:
                small = r * (uni(rng, 0.5, 0.75) if style != "round" else 1.0)
                items.append(
                    Part(
                        sweep(
                            [foot, (foot + top) / 2, top],
                            np.array([small, (small + r) / 2, r]),
                            circle(1, 14),
                        ),
                        look,
                        material,
                    )
                )
    return items


def stuff(rng: np.random.Generator) -> tuple[SurfaceMaterial, str]:
    """Return looks and material of a frame: wood mostly, painted or metal."""
    kind = pick(rng, ["wood_hard", "wood_hard", "wood_soft", "mdf", "steel"])
    if kind == "steel":
        return (
            metal(rng, "steel")
            if chance(rng, 0.4)
            else paint(tint(rng, "dark", "neutral"), 0.4, 0.2)
        ), kind
    if kind == "mdf":
        return paint(tint(rng, "neutral", "pastel", "dark"), 0.5, name="painted wood"), kind
    return wood(rng), kind


def hollow_steel(items: list[Part]) -> tuple[Part, ...]:
    """Return the parts with solid steel ones turned to tubes of 1.5 mm wall, as frames are."""
    return tuple(
        replace(p, wall_m=0.0015) if p.material == "steel" and p.wall_m is None else p
        for p in items
    )


def cushion(x: float, y: float, z: float, puff: float = 0.35) -> Form:
    """Cushion of outer size x, y, z [m], centred, thicker in the middle."""
    form = box(x, y, z, puff * z, 3, cuts=3)
    v = form.vertices.copy()
    bulge = (1 - (2 * v[:, 0] / x) ** 2) * (1 - (2 * v[:, 1] / y) ** 2)
    v[:, 2] *= 1 + 0.2 * np.clip(bulge, 0, 1)
    return form.warp(v)


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
            for a, b in zip(loop[:-1], loop[1:], strict=True):
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


@category("table", 0.4, 2.0)
def table(rng: np.random.Generator) -> Recipe:
    """Dining, coffee or side table: four legs, pedestal, trestle."""
    z = pick(rng, [uni(rng, 0.7, 0.77), uni(rng, 0.35, 0.5), uni(rng, 0.5, 0.62)])
    y = uni(rng, 0.9, 1.8) if z > 0.65 else uni(rng, 0.45, 1.2)
    x = y * uni(rng, 0.45, 1.0)
    look, material = stuff(rng)
    material = "wood_hard" if material == "steel" else material
    top_look = (
        look
        if chance(rng, 0.7)
        else pick(
            rng,
            [
                wood(rng),
                paint((0.8, 0.85, 0.85), 0.08, name="glass"),
                paint(tint(rng, "neutral"), 0.4),
            ],
        )
    )
    t = uni(rng, 0.016, 0.04)
    is_glass = top_look.name == "glass"
    round_top = chance(rng, 0.3)
    outline = circle(x / 2, 56) if round_top else rect(x, y, uni(rng, 0.0, 0.08), 5)
    y = x if round_top else y
    items = [
        Part(
            prism(outline, t, 0.003).at(z=z - t),
            top_look,
            "glass" if is_glass else material,
            density_kg_m3=None,
        )
    ]
    under = z - t + 0.002
    base = pick(rng, ["legs", "legs", "legs", "pedestal", "panel"])
    if base == "pedestal":
        items.append(Part(cylinder(0.05, under, 0, 28), look, material))
        items.append(Part(cylinder(0.3 * x, 0.025, 0.008, 44), look, material))
    elif base == "panel":
        for s in (-1, 1):
            items.append(
                Part(
                    box(0.75 * x, 0.035, under, 0.003, 1).at(y=s * 0.38 * y, z=under / 2),
                    look,
                    material,
                )
            )
        items.append(Part(box(0.03, 0.76 * y, 0.12, 0.003, 1).at(z=0.5 * under), look, material))
    else:
        f = 0.32 if round_top else 0.44
        items += legs(rng, f * x, f * y if round_top else y / 2 - 0.06 * x, under, look, material)
        if chance(rng, 0.6) and not round_top:
            h = uni(rng, 0.05, 0.09)
            for s in (-1, 1):
                items.append(
                    Part(
                        box(0.02, y - 0.14 * x, h).at(x=s * 0.44 * x, z=under - h / 2),
                        look,
                        material,
                    )
                )
                items.append(
                    Part(
                        box(0.87 * x, 0.02, h).at(y=s * (y / 2 - 0.06 * x), z=under - h / 2),
                        look,
                        material,
                    )
                )
    return Recipe(hollow_steel(items), has_front=not round_top)


@category("sofa", 1.2, 2.6)
def sofa(rng: np.random.Generator) -> Recipe:
    """Sofa of two or three seats, open to +X."""
    return _sofa(rng, int(rng.integers(2, 4)))


@category("armchair", 0.65, 1.15)
def armchair(rng: np.random.Generator) -> Recipe:
    """Armchair open to +X."""
    return _sofa(rng, 1)


def _sofa(rng: np.random.Generator, seats: int) -> Recipe:
    look = cloth(rng) if chance(rng, 0.7) else paint(tint(rng, "leather"), 0.45, name="leather")
    seat_y, arm = uni(rng, 0.52, 0.68), uni(rng, 0.1, 0.2)
    x, z, high = uni(rng, 0.78, 0.92), uni(rng, 0.38, 0.45), uni(rng, 0.72, 0.92)
    leg, back = uni(rng, 0.04, 0.16), uni(rng, 0.14, 0.22)
    y = seats * seat_y + 2 * arm
    r = uni(rng, 0.02, 0.07)
    arm_z = uni(rng, 0.52, 0.66)
    frame, material = stuff(rng)
    soft = [
        box(x, y - 1.2 * arm, z - 0.12 - leg, r).at(z=leg + (z - 0.12 - leg) / 2),
        box(back, y - arm, high - leg, r, 3).at(x=-x / 2 + back / 2, z=(high + leg) / 2),
    ]
    for s in (-1, 1):
        if chance(rng, 0.3):
            soft.append(
                sweep(
                    [
                        (-x / 2 + 0.08, s * (y - arm) / 2, arm_z - arm / 2),
                        (x / 2 - 0.04, s * (y - arm) / 2, arm_z - arm / 2),
                    ],
                    arm / 2 * 1.1,
                    circle(1, 20),
                    round_ends=True,
                )
            )
            soft.append(
                box(x * 0.97, 0.8 * arm, arm_z - leg - arm / 2, r).at(
                    y=s * (y - arm) / 2, z=(arm_z - arm / 2 + leg) / 2
                )
            )
        else:
            soft.append(box(x, arm, arm_z - leg, r, 3).at(y=s * (y - arm) / 2, z=(arm_z + leg) / 2))
    deep = x - back
    for k in range(seats):
        at = (k - (seats - 1) / 2) * seat_y
        soft.append(cushion(deep, seat_y * 0.99, 0.15).at(x=back / 2 + 0.01, y=at, z=z - 0.06))
        pad = cushion(high - z, seat_y * 0.96, 0.14).turn("y", 90 - 12)
        soft.append(pad.at(x=-x / 2 + back + 0.05, y=at, z=z + (high - z) / 2 + 0.01))
    items = [Part(f, look, "foam", density_kg_m3=SEAT_KG_M3) for f in soft]
    if chance(rng, 0.4):
        pillow = cloth(rng, "bright", "pastel", "neutral")
        items.append(
            Part(
                cushion(0.38, 0.38, 0.13)
                .turn("y", 65)
                .at(x=-x / 2 + back + 0.2, y=(seats - 1) / 2 * seat_y - 0.02, z=z + 0.2),
                pillow,
                "foam",
            )
        )
    items += legs(rng, 0.42 * x, y / 2 - 0.06, leg + 0.01, frame, material)
    return Recipe(hollow_steel(items))


@category("bed", 1.7, 2.5)
def bed(rng: np.random.Generator) -> Recipe:
    """Bed: head board at -X, foot towards +X; mattress, blanket, pillows."""
    x, y = uni(rng, 1.9, 2.1), pick(rng, [0.9, 1.2, 1.4, 1.6, 1.8])
    frame, material = stuff(rng)
    z, high = uni(rng, 0.22, 0.36), uni(rng, 0.6, 1.15)
    padded = chance(rng, 0.35)
    head_look = cloth(rng) if padded else frame
    head = box(0.08 if padded else 0.035, y + 0.08, high, 0.03 if padded else 0.004, 3).at(
        x=-x / 2 - 0.02, z=high / 2
    )
    rail = prism([rect(x, y + 0.06), rect(x - 0.05, y + 0.01)[::-1]], 0.14).at(z=z - 0.1)
    base = box(x - 0.04, y, 0.03).at(z=z)
    thick = uni(rng, 0.16, 0.26)
    mattress = box(x - 0.05, y, thick, 0.05, 3).at(z=z + thick / 2)
    cover_x = (x - 0.05) * uni(rng, 0.62, 0.78)
    cover = box(cover_x, y + 0.06, thick * 0.95, 0.05, 3).at(
        x=(x - cover_x) / 2 - 0.0, z=z + thick * 0.62
    )
    items = [
        Part(head, head_look, "mdf" if padded else material, density_kg_m3=250 if padded else None),
        Part(rail, frame, material),
        Part(base, frame, "wood_soft", density_kg_m3=200),
        Part(mattress, cloth(rng, "neutral"), "foam", density_kg_m3=60),
        Part(
            cover,
            cloth(rng, "neutral", "pastel", "fabric", "bright"),
            "fabric",
            0.015,
            density_kg_m3=80,
        ),
    ]
    count = 1 if y < 1.3 else 2
    for k in range(count):
        at = (k - (count - 1) / 2) * 0.5 * y
        pillow = cushion(0.38, min(0.7, 0.85 * y / count), 0.13).turn("y", -14)
        items.append(
            Part(
                pillow.at(x=-x / 2 + 0.28, y=at, z=z + thick + 0.07),
                cloth(rng, "neutral", "pastel"),
                "foam",
            )
        )
    items += legs(rng, x / 2 - 0.05, y / 2 - 0.03, z - 0.05, frame, material)
    if chance(rng, 0.3):
        items.append(
            Part(
                box(0.035, y + 0.08, 0.55 * high, 0.004).at(x=x / 2 + 0.01, z=0.275 * high),
                frame,
                material,
            )
        )
    return Recipe(hollow_steel(items))


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
