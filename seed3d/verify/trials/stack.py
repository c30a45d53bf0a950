"""Three copies on top of each other."""

from __future__ import annotations

import numpy as np

from seed3d.types import Mesh
from seed3d.verify.drop import GRAVITY, timestep
from seed3d.verify.stability import support_margin
from seed3d.verify.text import percent, rounded
from seed3d.verify.trials.run import Log, Placed, link_pose, natural_s
from seed3d.verify.trials.scene import Item, Layout, Open, shift

COPIES = 3
STACKABLE_RAD = np.deg2rad(8.0)
"""Tip angle of the top copy on the one below, from which a stack must stand."""
HEIGHT_LIMIT = 0.03
"""Largest error of a copy's height in the stack, as a share of the size."""
LIMIT_SPEED = 1.5
"""Fastest a copy may get, over the speed of a fall from the top of the stack."""


def stands_on_itself(item: Item) -> float:
    """Return the tip angle [rad] of a copy on the flat top of another; negative: it falls off."""
    height = float(item.bounds[1, 2] - item.bounds[0, 2])
    mirror = np.array([1.0, 1.0, -1.0])
    top = support_margin([Mesh(h.vertices * mirror, h.faces) for h in item.hulls], item.mass.com_m)
    bottom = item.support
    if len(top.polygon_m) < 3 or len(bottom.polygon_m) < 3:
        return -1.0
    # The area where both faces meet carries the copy.
    shared = _intersection(top.polygon_m, bottom.polygon_m)
    if len(shared) < 3:
        return -1.0
    probe = Mesh(np.column_stack([shared, np.zeros(len(shared))]), np.zeros((0, 3), np.int64))
    margin = support_margin([probe], np.array([*item.mass.com_m[:2], bottom.com_height_m]))
    # All copies above must stand too: the highest common centre of mass decides.
    lever = bottom.com_height_m + 0.5 * height * (COPIES - 2)
    return float(np.arctan2(margin.margin_m, lever))


def _intersection(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection of two convex counter-clockwise polygons (Sutherland and Hodgman 1974)."""
    out = [p for p in a]
    for start, end in zip(b, np.roll(b, -1, axis=0), strict=True):
        edge, kept = end - start, []
        for p, q in zip(out, out[1:] + out[:1], strict=True):
            side_p = edge[0] * (p[1] - start[1]) - edge[1] * (p[0] - start[0])
            side_q = edge[0] * (q[1] - start[1]) - edge[1] * (q[0] - start[0])
            if side_p >= 0:
                kept.append(p)
            if (side_p >= 0) != (side_q >= 0):
                kept.append(p + (q - p) * side_p / (side_p - side_q))
        out = kept
        if not out:
            break
    return np.array(out).reshape(-1, 2)


def stack_of_three(item: Item, open_scene: Open, log: Log) -> None:
    """Stack three copies: where top and bottom are flat they must stand, else not explode."""
    height = float(item.bounds[1, 2] - item.bounds[0, 2])
    gap = max(2e-3, 0.01 * item.size_m)
    poses = tuple(shift(0.0, 0.0, i * (height + gap) + gap) @ item.upright() for i in range(COPIES))
    scene = open_scene(Layout(poses, timestep_s=timestep(item.size_m)))
    limit = LIMIT_SPEED * np.sqrt(2.0 * GRAVITY * COPIES * (height + gap))
    fastest, points = 0.0, []
    for step in range(int(15.0 * natural_s(item.size_m) / scene.timestep_s)):
        scene.step()
        states = [scene.state(("copy", i)) for i in range(COPIES)]
        if not all(s.finite for s in states):
            fastest = np.inf
            break
        fastest = max(fastest, *(float(np.linalg.norm(s.velocity)) for s in states))
        points.append((step * scene.timestep_s, 1e3 * float(states[-1].com_m[2])))
    ratio = fastest / limit
    wanted = "no copy faster than a fall from the top allows"
    log.check("stack stays calm", ratio <= 1.0, rounded(ratio, 3), wanted)
    if not np.isfinite(fastest):
        return
    log.trace("Top of the stack", ("time [s]", "height of its centre of mass [mm]"), points)
    places = tuple(link_pose(scene, item, i) for i in range(COPIES))
    log.places.append(Placed("Stack of three", log.engine, places))
    if stands_on_itself(item) < STACKABLE_RAD:
        log.skip("stack of three", "its top and bottom aren't flat enough to stack")
        return
    base = item.support.com_height_m
    off = [
        abs(float(scene.state(("copy", i)).com_m[2]) - (base + i * height)) for i in range(COPIES)
    ]
    worst = max(max(off) - 2e-3 * COPIES, 0.0) / item.size_m  # engines pad hulls by a millimetre
    wanted = f"every copy within {100 * HEIGHT_LIMIT:g} % of the size of its height"
    log.check("stack of three", worst <= HEIGHT_LIMIT, percent(worst), wanted)
    log.numbers["stack height [mm]"] = 1e3 * float(scene.state(("copy", COPIES - 1)).com_m[2])
