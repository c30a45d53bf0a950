"""A ball of 0.8 times the opening must drop through a hole and land inside a cavity."""

from __future__ import annotations

import numpy as np

from seed3d.verify.drop import timestep
from seed3d.verify.model import transformed
from seed3d.verify.text import fixed
from seed3d.verify.trials.openings import Opening, find_openings
from seed3d.verify.trials.run import Log, Placed, natural_s
from seed3d.verify.trials.scene import Ball, Item, Layout, Open, shift

SHARE = 0.8
"""Radius of the ball over the radius of the opening."""
BALL_DENSITY = 1000.0
"""[kg/m^3]."""
CLEARANCE_M = 1.5e-3
"""Least gap between ball and rim: engines pad hulls by about a millimetre."""

# Rotations that bring another axis of the object up: +z, +x, +y, each to +z.
_UP = {
    "z": np.eye(4),
    "x": np.array([[0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0]]),
    "y": np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]]),
}


def ball(item: Item, open_scene: Open, log: Log) -> None:
    """Drop a ball on each opening of the visible surface; the object itself is held."""
    if item.visual is None:
        log.skip("ball", "nothing is visible")
        return
    tried = 0
    for axis, turn in _UP.items():
        for opening in find_openings(transformed(item.visual, turn)):
            if axis != "z" and not opening.through:
                continue  # a cavity is one that holds something as the object stands
            tried += 1
            _drop(item, turn, axis, opening, open_scene, log)
    if not tried:
        log.skip("ball", "it has no opening")


def _drop(
    item: Item, turn: np.ndarray, axis: str, opening: Opening, open_scene: Open, log: Log
) -> None:
    name = f"ball through the hole along {axis}" if opening.through else "ball into the cavity"
    radius = SHARE * opening.radius_m
    if opening.radius_m - radius < CLEARANCE_M:
        log.skip(
            name, f"the opening of {2e3 * opening.radius_m:.3g} mm is near the contact padding"
        )
        return
    corners = [transformed(h, turn) for h in item.hulls]
    low = min(float(c.bounds[0, 2]) for c in corners)
    # Room for the ball below: the object hangs in the air, held, so that a leak shows.
    lift = 3.0 * radius
    pose = shift(0.0, 0.0, lift - low) @ turn
    start = np.array([*opening.center_m, opening.top_m + lift - low + 1.3 * radius])
    mass = BALL_DENSITY * 4.0 / 3.0 * np.pi * radius**3
    layout = Layout(
        (pose,), fixed=True, balls=(Ball(radius, mass, start),), timestep_s=timestep(radius)
    )
    scene = open_scene(layout)
    height = float(start[2])
    points = []
    for step in range(int(12.0 * natural_s(height) / scene.timestep_s)):
        scene.step()
        z = float(scene.state(("ball", 0)).com_m[2])
        points.append((step * scene.timestep_s, 1e3 * z))
        if opening.through and z < lift - 0.5 * radius:
            break
    end = scene.state(("ball", 0)).com_m
    log.trace(name.capitalize(), ("time [s]", "height of the ball [mm]"), points)
    log.places.append(Placed(name.capitalize(), log.engine, (pose,), ((end, radius),)))
    size = f"ball of {2e3 * radius:.3g} mm, opening of {2e3 * opening.radius_m:.3g} mm"
    if opening.through:
        passed = bool(end[2] < lift)
        value = "through" if passed else f"stuck {1e3 * (end[2] - lift):.3g} mm over the far side"
        log.check(name, passed, value, f"falls through: {size}")
        return
    _inside(end, radius, opening, lift - low, name, size, log)


def _inside(
    end: np.ndarray, radius: float, opening: Opening, rise: float, name: str, size: str, log: Log
) -> None:
    """The ball must rest near the visible floor of the cavity, not on an invisible lid."""
    depth = opening.top_m - opening.bottom_m
    above = float(end[2]) - radius - (opening.bottom_m + rise)  # ball over the visible floor
    aside = float(np.linalg.norm(end[:2] - opening.center_m))
    most = max(0.25 * depth, 3e-3)
    passed = -most <= above <= most + 0.25 * radius and aside <= 3.0 * opening.radius_m
    log.check(name, passed, fixed(1e3 * above, 2), f"<= {1e3 * most:.3g} mm over its floor: {size}")
