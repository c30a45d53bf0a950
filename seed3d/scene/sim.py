"""One simulation of a scene for every engine: what runs and what is measured."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

REST_SPEED, REST_TIME_S = 0.01, 0.25
"""At rest: no point of any object faster than this [m/s] for this long."""


class SceneSim(Protocol):
    """A scene in some engine."""

    names: list[str]
    """Of the dynamic items."""
    radius: np.ndarray
    """(N,) farthest hull vertex from each item's centre of mass [m]."""
    timestep_s: float

    def step(self) -> None:
        """Advance by one time step."""

    def poses(self) -> np.ndarray:
        """(N, 7): position and quaternion wxyz of every dynamic item's link frame."""
        ...

    def velocities(self) -> np.ndarray:
        """(N, 2): speed of the centre of mass [m/s] and angular speed [rad/s]."""
        ...

    def lowest(self) -> np.ndarray:
        """(N,) height of each item's lowest hull vertex [m]."""
        ...

    def contacts(self) -> list[tuple[str, str, float, float]]:
        """Touching pairs: names, penetration [m] and how upright the contact's normal is, 0..1."""
        ...


def simulate(sim: SceneSim, seconds: float, stop_at_rest: bool) -> dict[str, Any]:
    """Run and measure; plain data, lengths in metres unless the key says mm."""
    start, first = sim.poses(), summarise(sim.contacts())
    height = float(max(start[:, 2].max(initial=0.0), 0.0)) + 1.0
    bound = 1.5 * np.sqrt(2.0 * 9.81 * height)
    quiet = steps = 0
    fastest = settle_s = 0.0
    worst, finite = 0.0, True
    total, rest_steps = round(seconds / sim.timestep_s), int(REST_TIME_S / sim.timestep_s)
    began = time.perf_counter()
    for steps in range(1, total + 1):
        sim.step()
        velocity = sim.velocities()
        speed = velocity[:, 0] + velocity[:, 1] * sim.radius
        top = float(speed.max(initial=0.0))
        finite = bool(np.isfinite(top))
        if not finite:
            break
        fastest = max(fastest, float(velocity[:, 0].max(initial=0.0)))
        if top >= REST_SPEED:
            quiet, settle_s = 0, steps * sim.timestep_s
        else:
            quiet += 1
        if stop_at_rest and quiet >= rest_steps:
            break
    wall = time.perf_counter() - began
    end, last = sim.poses(), summarise(sim.contacts())
    worst = max((c["depth_mm"] for c in last), default=0.0)
    moved = np.linalg.norm(end[:, :3] - start[:, :3], axis=1)
    lowest = sim.lowest()
    return {
        "names": sim.names,
        "poses": end.tolist(),
        "at_rest": quiet >= rest_steps or not sim.names,
        "settle_s": round(settle_s, 4),
        "seconds": round(steps * sim.timestep_s, 6),
        "steps": steps,
        "steps_per_s": round(steps / wall, 1) if wall > 0 else 0.0,
        "fastest_m_s": fastest,
        "exploded": not finite or fastest > bound,
        "moved_mm": {n: round(1e3 * float(m), 4) for n, m in zip(sim.names, moved, strict=True)},
        "lowest_mm": {n: round(1e3 * float(m), 4) for n, m in zip(sim.names, lowest, strict=True)},
        "contacts_start": first,
        "contacts": last,
        "penetration_mm": worst,
    }


def summarise(contacts: list[tuple[str, str, float, float]]) -> list[dict[str, Any]]:
    """Deepest contact of each pair; `carries` where one stands on the other."""
    pairs: dict[tuple[str, str], list[float]] = {}
    for a, b, depth, upright in contacts:
        key = (a, b) if a < b else (b, a)
        old = pairs.get(key, [-np.inf, 0.0])
        pairs[key] = [max(old[0], depth), max(old[1], upright)]
    return [
        {"a": a, "b": b, "depth_mm": round(1e3 * depth, 4), "carries": upright > 0.3}
        for (a, b), (depth, upright) in sorted(pairs.items())
    ]
