"""A parallel gripper squeezes the object and lifts it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seed3d.types import Mesh
from seed3d.verify.drop import GRAVITY, timestep
from seed3d.verify.text import percent
from seed3d.verify.trials.run import Log, Placed, at_rest, link_pose, natural_s
from seed3d.verify.trials.scene import Finger, Item, Layout, Open, Scene

HEIGHTS = (0.5, 0.65, 0.35, 0.8)
"""Where to grasp, as shares of the object's height; the first that works is taken."""
DIRECTIONS = 12
"""Horizontal closing directions that are tried over half a turn."""
FORCE = 3.0
"""Closing force over the least that friction needs, m g / (2 friction)."""
CONE = 0.6
"""Contact normals must lie within this share of the friction cone around the closing axis."""
HEAVY = 20.0
"""Mass of a finger over the object's: its speed is set, the object must not drag it."""
LIFT = 0.5
"""Height of the lift, as a share of the size."""
FOLLOWS = 0.75
"""Share of the lift that the object must follow; soft contacts creep a little."""


@dataclass(frozen=True)
class Grasp:
    """Where the fingers touch. Root link frame, metres."""

    closing: np.ndarray
    """(3,) unit, from the first finger to the second."""
    first: np.ndarray
    second: np.ndarray


def find_grasps(item: Item) -> list[Grasp]:
    """Return antipodal grasps through the vertical of the centre of mass, one a height.

    The contact points are those of a ray through the union of the hulls; both normals must lie
    well inside the friction cone around the ray, so that the squeeze itself can't slip.
    """
    low, high = item.bounds[:, 2]
    limit = np.cos(CONE * np.arctan(item.friction))
    found = []
    for share in HEIGHTS:
        best: tuple[float, Grasp] | None = None
        height = low + share * (high - low)
        for angle in np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
            closing = np.array([np.cos(angle), np.sin(angle), 0.0])
            origin = np.array([*item.mass.com_m[:2], height])
            span = _chord(item.hulls, origin, closing)
            if span is None or min(-closing @ span[2], closing @ span[3]) < limit:
                continue
            # Short chords first: they fit a real gripper.
            width = float(span[1] - span[0])
            if best is None or width < 0.98 * best[0]:
                grasp = Grasp(closing, origin + span[0] * closing, origin + span[1] * closing)
                best = (width, grasp)
        found += [best[1]] if best else []
    return found


def _chord(
    hulls: tuple[Mesh, ...], origin: np.ndarray, direction: np.ndarray
) -> tuple[float, float, np.ndarray, np.ndarray] | None:
    """First entry and last exit of a line through convex hulls, with the outward normals there."""
    entry, leave = (np.inf, np.zeros(3)), (-np.inf, np.zeros(3))
    for hull in hulls:
        a, b, c = (hull.vertices[hull.faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        length = np.linalg.norm(normal, axis=1)
        keep = length > 1e-12 * length.max()
        normal, a = normal[keep] / length[keep, None], a[keep]
        along, gap = normal @ direction, np.einsum("ij,ij->i", a - origin, normal)
        if (gap[np.abs(along) < 1e-9] < 0).any():
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            t = gap / along
        into, out = along < -1e-9, along > 1e-9
        near, far = t[into].max(), t[out].min()
        if near >= far:
            continue
        if near < entry[0]:
            entry = (float(near), normal[into][np.argmax(t[into])])
        if far > leave[0]:
            leave = (float(far), normal[out][np.argmin(t[out])])
    if not np.isfinite(entry[0]):
        return None
    return entry[0], leave[0], entry[1], leave[1]


def squeeze_and_lift(item: Item, open_scene: Open, log: Log) -> None:
    """Close two fingers with three times the force that friction needs, and lift."""
    name = "squeeze and lift"
    scene, lying = at_rest(item, open_scene)
    grasps = find_grasps(lying) if item.friction > 0 else []
    if not grasps:
        log.skip(name, "two flat fingers find no pair of faces across its centre of mass")
        return
    pose = link_pose(scene, item)
    best = _Attempt(-np.inf, [], None)
    for grasp in grasps:
        attempt = _attempt(item, lying, pose, grasp, open_scene)
        best = attempt if attempt.raised > best.raised else best
        if best.raised >= FOLLOWS:
            break
    force = FORCE * item.mass.mass_kg * GRAVITY / (2.0 * item.friction)
    wanted = f"follows >= {100 * FOLLOWS:g} % of the lift, squeezed with {force:.3g} N"
    log.check(name, FOLLOWS <= best.raised <= 1.1, percent(best.raised), wanted)
    log.trace("Squeeze and lift", ("time [s]", "height of the centre of mass [mm]"), best.points)
    if best.end is not None:
        log.numbers["lift followed [%]"] = 100.0 * best.raised
        log.places.append(replace(best.end, engine=log.engine))


@dataclass(frozen=True)
class _Attempt:
    """One grasp and what came of it."""

    raised: float
    """Way of the object over that of the fingers."""
    points: list[tuple[float, float]]
    end: Placed | None


def _attempt(item: Item, lying: Item, pose: np.ndarray, grasp: Grasp, open_scene: Open) -> _Attempt:
    mass, size = item.mass.mass_kg, item.size_m
    fingers = _fingers(grasp, pose[:3, 3], HEAVY * mass, lying)
    step = timestep(size) / 2.0
    scene = open_scene(Layout((pose,), fingers=fingers, timestep_s=step))
    force = FORCE * mass * GRAVITY / (2.0 * item.friction)
    _hold(scene, grasp, force, 0.0, 12.0 * natural_s(size), size)
    start = scene.state(("copy", 0)).com_m
    speed = 0.25 * np.sqrt(GRAVITY * size)
    way = LIFT * size
    points = _hold(scene, grasp, force, speed, way / speed, size)
    points += _hold(scene, grasp, force, 0.0, 4.0 * natural_s(size), size, points[-1][0])
    state = scene.state(("copy", 0))
    if not state.finite:
        return _Attempt(0.0, points, None)
    boxes = tuple(_box(scene, i, f) for i, f in enumerate(fingers))
    end = Placed("Squeeze and lift", "", (link_pose(scene, item),), (), boxes)
    return _Attempt(float(state.com_m[2] - start[2]) / way, points, end)


def _fingers(grasp: Grasp, rise: np.ndarray, mass: float, item: Item) -> tuple[Finger, Finger]:
    size = item.size_m
    height = float(item.bounds[1, 2] - item.bounds[0, 2])
    half = np.array([0.05 * size, 0.12 * size, 0.2 * height])
    floor = float(grasp.first[2]) + float(rise[2])
    half[2] = min(half[2], 0.9 * floor)  # clear of the floor
    side = np.cross([0.0, 0.0, 1.0], grasp.closing)
    pads = []
    for point, sign in ((grasp.first, -1.0), (grasp.second, 1.0)):
        pose = np.eye(4)
        pose[:3, :3] = np.stack([grasp.closing, side, [0.0, 0.0, 1.0]], axis=1)
        away = half[0] + max(2e-3, 0.01 * size)
        pose[:3, 3] = point + rise + sign * away * grasp.closing
        pads.append(Finger(half, mass, pose))
    return pads[0], pads[1]


def _hold(
    scene: Scene, grasp: Grasp, force: float, speed: float, seconds: float, size: float,
    since: float = 0.0,
) -> list[tuple[float, float]]:  # fmt: skip
    """Press both fingers for a time while they rise at a speed; returns time and height [mm]."""
    points = []
    fastest = 0.2 * np.sqrt(9.81 * size)
    for step in range(max(int(seconds / scene.timestep_s), 1)):
        for i, sign in ((0, 1.0), (1, -1.0)):
            inward = sign * grasp.closing
            closing = float(scene.state(("finger", i)).velocity @ inward)
            # Only the closing axis is free; a heavy finger needs a start to reach the object.
            closing = float(np.clip(closing, -fastest, fastest))
            velocity = closing * inward + np.array([0.0, 0.0, speed])
            scene.set_velocity(("finger", i), velocity, np.zeros(3))
            scene.push(("finger", i), force * inward)
        scene.step()
        height = float(scene.state(("copy", 0)).com_m[2])
        points.append((since + step * scene.timestep_s, 1e3 * height))
    return points


def _box(scene: Scene, index: int, finger: Finger) -> tuple[np.ndarray, np.ndarray]:
    state = scene.state(("finger", index))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = state.rotation, state.com_m
    return pose, finger.half_m
