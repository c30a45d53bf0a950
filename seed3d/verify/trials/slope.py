"""Friction: the angle at which an object slips on a tilted table, and how far a push takes it."""

from __future__ import annotations

import numpy as np

from seed3d.verify.drop import GRAVITY
from seed3d.verify.stability import Support, support_margin
from seed3d.verify.text import fixed, percent
from seed3d.verify.trials.run import Log, Placed, at_rest, link_pose, natural_s, run_for, stands
from seed3d.verify.trials.scene import Item, Open, Scene

SWEEP = np.deg2rad(0.8)
"""Speed of the table near the expected angle [rad per natural time]."""
ANGLE_LIMIT_DEG, ANGLE_SHARE = 1.5, 0.06
"""Largest error of the slip angle [deg], or as a share of it, whichever is larger."""
SLIP = 0.05
"""Speed down the table that counts as slipping, over sqrt(g size): soft contacts creep slower."""
TIP_DEG = 3.0
"""Turn of the object on the table that counts as tipped [deg]."""
STOP_SHARE = 0.15
"""Largest error of the way a pushed object slides, as a share."""
STRICT = 5e-4
"""Vertices this close to the lowest one surely carry the object, as a share of the size."""
GRIP = 0.1
"""Speed of the contact point over the speed of the centre, below which a body rolls."""


def tip_angle(support: Support, com_m: np.ndarray, direction: np.ndarray) -> float:
    """Angle [rad] at which an upright object tips over when the table falls towards `direction`."""
    reach = float(((support.polygon_m - com_m[:2]) @ direction[:2]).max())
    return float(np.arctan2(reach, max(support.com_height_m, 1e-12)))


def best_direction(item: Item) -> tuple[np.ndarray, float, float]:
    """Return the axis direction (3,) in which it tips last as it lies, and that angle [rad].

    Of two angles the first counts only the lowest points as support, the second all within the
    usual band: on an uneven base the truth lies between.
    """
    strict = support_margin(list(item.hulls), item.mass.com_m, share=STRICT)
    axes = [np.array(d) for d in ((1.0, 0, 0), (-1.0, 0, 0), (0, 1.0, 0), (0, -1.0, 0))]
    least = [tip_angle(strict, item.mass.com_m, d) for d in axes]
    most = [tip_angle(item.support, item.mass.com_m, d) for d in axes]
    best = int(np.argmax(least))
    return axes[best], least[best], most[best]


def tilt_table(item: Item, open_scene: Open, log: Log) -> None:
    """Tilt the floor until the object slips or tips: at atan(friction), or at its tip angle."""
    scene, item = at_rest(item, open_scene)
    if not stands(item):
        log.skip("tilt table", "it rolls or rocks on a level floor")
        return
    direction, least, most = best_direction(item)
    slips = float(np.arctan(item.friction))
    found, how, points = _sweep(
        item, scene, direction, min(slips, least), max(min(slips, most), least)
    )
    low, high = (slips, slips) if how == "slipped" or slips < least else (least, min(most, slips))
    low, high = float(np.rad2deg(low)), float(np.rad2deg(high))
    limit = max(ANGLE_LIMIT_DEG, ANGLE_SHARE * high)
    sliding = how == "slipped" or slips < least
    cause = f"atan({item.friction:.3g})" if sliding else "its tip angle"
    span = f"{high:.1f}" if high - low < 0.1 else f"{low:.1f} to {high:.1f}"
    wanted = f"{span} deg +- {limit:.1f}: {cause}"
    angle = np.nan if found is None else float(np.rad2deg(found))
    passed = bool(low - limit <= angle <= high + limit)
    value = f"{how} at {angle:.2f} deg" if found is not None else how
    log.check("tilt table", passed, value, wanted)
    log.trace("Tilt table", ("angle [deg]", "way [% of size]"), points, high)
    if how == "slipped":
        log.numbers["slip angle [deg]"] = angle


def _sweep(
    item: Item, scene: Scene, direction: np.ndarray, first: float, latest: float
) -> tuple[float | None, str, list[tuple[float, float]]]:
    """Tilt slowly from 0.75 of the first expected angle to 10 deg past the latest.

    Returns the angle of slip or tip [rad], how it left, and the curve.
    """
    natural = natural_s(item.size_m)
    angle, last = 0.0, min(latest + np.deg2rad(10.0), np.deg2rad(89.0))
    quick = 0.75 * first
    start = scene.state(("copy", 0))
    points: list[tuple[float, float]] = []
    while angle < last:
        rate = quick / 3.0 if angle < quick else SWEEP
        angle += rate * scene.timestep_s / natural
        down = np.array([*(np.sin(angle) * direction[:2]), -np.cos(angle)])
        scene.gravity(GRAVITY * down)
        scene.step()
        state = scene.state(("copy", 0))
        if not state.finite:
            return None, "blew up", points
        way = float((state.com_m - start.com_m) @ direction) / item.size_m
        speed = float(state.velocity @ direction) / np.sqrt(GRAVITY * item.size_m)
        points.append((float(np.rad2deg(angle)), 100.0 * way))
        turn = (np.trace(state.rotation @ start.rotation.T) - 1.0) / 2.0
        if np.rad2deg(np.arccos(np.clip(turn, -1.0, 1.0))) > TIP_DEG:
            # As for slipping: the turn is rate t^3 / 6 in natural times, a fifth quicker for boxes.
            lag = 0.8 * (6.0 * np.deg2rad(TIP_DEG) * rate**2) ** (1 / 3)
            return max(angle - lag, 0.0), "tipped", points
        if speed > SLIP:
            # Past the angle of slip the speed is g rate t^2 / (2 cos): go back to where it began.
            lag = np.sqrt(2.0 * SLIP * np.cos(np.arctan(item.friction)) * rate)
            return max(angle - lag, 0.0), "slipped", points
    return None, f"neither slipped nor tipped up to {np.rad2deg(last):.0f} deg", points


def push(item: Item, open_scene: Open, log: Log) -> None:
    """Give an object at rest a speed: it slides v^2 / (2 friction g) and stops, or it rolls."""
    scene, lying = at_rest(item, open_scene)
    if not stands(lying):
        _roll(item, scene, log)
        return
    item = lying
    direction, tips, _ = best_direction(item)
    if np.arctan(item.friction) > tips - np.deg2rad(5.0):
        log.skip("push", "it would tip before it slides")
        return
    # Slides two thirds of its size: far against contact padding, soon over.
    expected = 0.66 * item.size_m
    speed = np.sqrt(2.0 * item.friction * GRAVITY * expected)
    start = scene.state(("copy", 0)).com_m
    scene.set_velocity(("copy", 0), speed * direction, np.zeros(3))
    points = []
    duration = 2.0 * speed / (item.friction * GRAVITY) + 2.0 * natural_s(item.size_m)
    for step in range(int(duration / scene.timestep_s)):
        scene.step()
        way = float((scene.state(("copy", 0)).com_m - start) @ direction)
        points.append((step * scene.timestep_s, 1e3 * way))
    state = scene.state(("copy", 0))
    off = float((state.com_m - start) @ direction) / expected - 1.0
    still = float(np.linalg.norm(state.velocity)) < 0.02 * speed
    wanted = (
        f"stops within {100 * STOP_SHARE:g} % of v^2 / (2 friction g) = {1e3 * expected:.3g} mm"
    )
    value = percent(off) if still else "still moving"
    log.check("push", still and abs(off) <= STOP_SHARE, value, wanted)
    log.trace("Way after a push", ("time [s]", "way [mm]"), points)
    if still:
        log.numbers["sliding way [mm]"] = 1e3 * expected * (1.0 + off)


def _roll(item: Item, scene: Scene, log: Log) -> None:
    """Push a round body: friction must turn sliding into rolling, and nothing may speed it up."""
    best, gained = np.inf, 0.0
    for direction in (np.array([1.0, 0, 0]), np.array([0, 1.0, 0])):
        speed = 0.5 * np.sqrt(GRAVITY * item.size_m)
        scene.set_velocity(("copy", 0), speed * direction, np.zeros(3))
        energy = scene.kinetic_j(("copy", 0))
        run_for(scene, min(6.0, 2.0 / item.friction) * natural_s(item.size_m))
        state = scene.state(("copy", 0))
        centre = float(np.linalg.norm(state.velocity[:2]))
        arm = np.array([0.0, 0.0, -state.com_m[2]])
        contact = state.velocity + np.cross(state.spin, arm)
        slide = float(np.linalg.norm(contact[:2])) / max(centre, 1e-3 * speed)
        best = min(best, slide)
        gained = max(gained, scene.kinetic_j(("copy", 0)) / energy - 1.0)
    wanted = f"contact point <= {100 * GRIP:g} % of the centre's speed, or at rest; no energy won"
    passed = best <= GRIP and gained <= 0.05
    log.check("roll", passed, fixed(100.0 * best, 2), wanted)
    log.places.append(Placed("After a push", log.engine, (link_pose(scene, item),)))
