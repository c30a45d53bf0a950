"""One simulation of a scene for every engine: what runs and what is measured."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

REST_SPEED, REST_TIME_S = 0.01, 0.25
"""At rest: no point of any object faster than this [m/s] for this long."""
SAMPLE_S = 0.05
"""How often places and heights are measured while it runs [s of the simulation]."""


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


class _Track:
    """Largest ways and lowest heights over a run."""

    def __init__(self, sim: SceneSim) -> None:
        self.sim, self.start = sim, sim.poses()
        self.way = np.zeros(len(sim.names))
        self.lowest = sim.lowest()
        self.seconds = 0.0

    def look(self) -> None:
        """Measure now; what it takes is no time of the engine."""
        began = time.process_time()
        way = np.linalg.norm(self.sim.poses()[:, :3] - self.start[:, :3], axis=1)
        self.way = np.maximum(self.way, way)
        self.lowest = np.minimum(self.lowest, self.sim.lowest())
        self.seconds += time.process_time() - began

    def named_mm(self, metres: np.ndarray) -> dict[str, float]:
        """Item to millimetres."""
        return {n: round(1e3 * float(m), 4) for n, m in zip(self.sim.names, metres, strict=True)}


def simulate(sim: SceneSim, seconds: float, stop_at_rest: bool) -> dict[str, Any]:
    """Run and measure.

    Returns:
        Plain data, lengths in metres unless the key says mm. fastest_m_s is of the centres of
        mass, fastest_point_m_s of any hull vertex; moved_mm is the way from the first to the last
        pose, farthest_mm the largest on the way; lowest_mm the lowest hull vertex at the end,
        lowest_ever_mm in the whole run (sampled every `SAMPLE_S`); steps_per_s is per second of
        processor time, which a busy machine doesn't change.
    """
    track, first = _Track(sim), summarise(sim.contacts())
    start = track.start
    height = float(max(start[:, 2].max(initial=0.0), 0.0)) + 1.0
    bound = 1.5 * np.sqrt(2.0 * 9.81 * height)
    quiet = steps = 0
    fastest = fastest_point = settle_s = 0.0
    finite = True
    total, rest_steps = round(seconds / sim.timestep_s), int(REST_TIME_S / sim.timestep_s)
    every = max(round(SAMPLE_S / sim.timestep_s), 1)
    began = time.process_time()
    for steps in range(1, total + 1):
        sim.step()
        velocity = sim.velocities()
        speed = velocity[:, 0] + velocity[:, 1] * sim.radius
        top = float(speed.max(initial=0.0))
        finite = bool(np.isfinite(top))
        if not finite:
            break
        fastest = max(fastest, float(velocity[:, 0].max(initial=0.0)))
        fastest_point = max(fastest_point, top)
        if steps % every == 0:
            track.look()
        if top >= REST_SPEED:
            quiet, settle_s = 0, steps * sim.timestep_s
        else:
            quiet += 1
        if stop_at_rest and quiet >= rest_steps:
            break
    spent = time.process_time() - began - track.seconds
    track.look()
    end, last = sim.poses(), summarise(sim.contacts())
    return {
        "names": sim.names,
        "poses": end.tolist(),
        "at_rest": quiet >= rest_steps or not sim.names,
        "settle_s": round(settle_s, 4),
        "seconds": round(steps * sim.timestep_s, 6),
        "steps": steps,
        "steps_per_s": round(steps / spent, 1) if spent > 0 else 0.0,
        "fastest_m_s": fastest,
        "fastest_point_m_s": fastest_point,
        "exploded": bool(not finite or fastest > bound),
        "moved_mm": track.named_mm(np.linalg.norm(end[:, :3] - start[:, :3], axis=1)),
        "farthest_mm": track.named_mm(track.way),
        "lowest_mm": track.named_mm(sim.lowest()),
        "lowest_ever_mm": track.named_mm(track.lowest),
        "contacts_start": first,
        "contacts": last,
        "penetration_mm": max((c["depth_mm"] for c in last), default=0.0),
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
