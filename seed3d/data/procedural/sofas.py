"""Upholstered furniture: sofas, armchairs, beds."""

from __future__ import annotations

import numpy as np

from seed3d.data.procedural.core import Part, Recipe, category
from seed3d.data.procedural.furniture import SEAT_KG_M3, cushion, hollow_steel, legs, stuff
from seed3d.data.procedural.looks import chance, cloth, paint, pick, tint, uni
from seed3d.data.procedural.shapes import circle, rect, sweep
from seed3d.data.procedural.solids import box, prism


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
