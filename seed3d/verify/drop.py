"""One drop test for every engine: how it runs and what is measured.

The object starts upright at rest, its lowest collision vertex a little above a flat floor at
z = 0 that takes friction and restitution from the object.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from seed3d.config import VerifyConfig
from seed3d.verify.model import MassProperties

GRAVITY = 9.81
"""[m/s^2]."""
MIN_DROP_M = 0.01
"""Least drop height [m]."""
TIMESTEPS_S = (2.5e-4, 2e-3)
"""Shortest and longest time step [s]; between them, 1/60 of the natural time sqrt(size / g)."""
SPEED_SHARE = 0.01
"""At rest: slower than this share of the natural speed sqrt(g size), at every point."""
FLOAT_SHARE, FLOAT_FLOOR_M = 0.005, 2e-3
"""Gap under the object at rest; PyBullet pads every hull of a URDF by 1 mm."""
CALM_ENERGY = 0.01
"""Kinetic energy over m g size below which a round object may still roll or rock at the end."""


@dataclass(frozen=True)
class State:
    """The object at one moment, world frame."""

    lowest_m: float
    """Height of the lowest collision vertex [m]."""
    com_m: np.ndarray
    """(3,) centre of mass [m]."""
    speed: float
    """Speed of the centre of mass [m/s]."""
    spin: float
    """Largest angular speed of a link [rad/s]."""
    kinetic_j: float
    """Kinetic energy of all links [J]."""
    up: np.ndarray
    """(3,) Z axis of the root link in the world."""


class Sim(Protocol):
    """An object above a floor in some engine."""

    engine: str
    timestep_s: float
    size_m: float
    """Longest side of the collision hulls' bounding box [m]."""
    mass: MassProperties | None
    """As the engine holds it, all links together, in the root link's frame."""

    def lift(self, height_m: float) -> None:
        """Put the lowest collision vertex at a height, everything at rest."""

    def step(self) -> None:
        """Advance by one time step."""

    def state(self) -> State:
        """Measure the object."""
        ...


@dataclass(frozen=True)
class DropResult:
    """What one engine did with an object."""

    engine: str
    size_m: float
    mass: MassProperties | None
    """As the engine holds it, in the root link's frame."""
    drop_m: float
    fall_error: float
    """Relative error of the fall before the first touch, against 1/2 g t^2."""
    settle_s: float | None
    """When the object came to rest [s]; None: not within the time limit."""
    calm: bool
    """Not at rest, but only rolling or rocking gently on the floor."""
    speed_ratio: float
    """Largest speed over the speed its whole potential energy allows."""
    energy_growth: float
    """Largest growth of kinetic plus potential energy over the initial energy."""
    lowest_m: float
    """Height of the lowest collision vertex at the end [m]; negative: below the floor."""
    com_m: np.ndarray
    """(3,) centre of mass at the end, world [m]."""
    tilt_deg: float
    """Angle of the up axis to the vertical at the end [deg]."""
    drift_m: float
    """Horizontal way of the centre of mass from start to end [m]."""


@dataclass(frozen=True)
class Rest:
    """How one engine left the object."""

    engine: str
    size_m: float
    tilt_deg: float
    com_m: np.ndarray
    """(3,) centre of mass, world [m]."""


def timestep(size_m: float) -> float:
    """Return the time step [s] for an object of a size [m]."""
    return float(np.clip(np.sqrt(size_m / GRAVITY) / 60.0, *TIMESTEPS_S))


def simulate(sim: Sim, config: VerifyConfig) -> DropResult:
    """Drop the object, let it settle, and measure."""
    size, dt = sim.size_m, sim.timestep_s
    height = max(config.drop_height * size, MIN_DROP_M)
    sim.lift(height)
    start = sim.state()
    mass = sim.mass.mass_kg if sim.mass else 0.0
    energy0 = max(_energy(start, mass), 1e-300)
    speed_bound = np.sqrt(2.0 * GRAVITY * max(float(start.com_m[2]), height))
    window: deque[State] = deque(maxlen=max(int(_rest_time(size) / dt), 2))
    fall_error = speed = growth = 0.0
    falling, settle, state, quiet = True, None, start, 0
    finite = bool(np.isfinite(start.com_m).all())
    for step in range(1, int(config.seconds / dt) + 1 if finite else 0):
        sim.step()
        state = sim.state()
        finite = bool(np.isfinite(state.com_m).all() and np.isfinite(state.kinetic_j))
        if not finite:
            break
        if falling and state.lowest_m > max(0.2 * height, 1.5 * FLOAT_FLOOR_M):
            # Semi-implicit Euler falls 1/2 g t (t + dt), exactly.
            exact = 0.5 * GRAVITY * (step * dt) * ((step + 1) * dt)
            fall_error = abs(float(start.com_m[2] - state.com_m[2]) - exact) / exact
        else:
            falling = False
        speed = max(speed, state.speed / speed_bound)
        growth = max(growth, _energy(state, mass) / energy0 - 1.0)
        window.append(state)
        quiet = quiet + 1 if not falling and _slow(state, size) else 0
        if quiet >= len(window) == window.maxlen:
            settle = (step - quiet) * dt
            break
    return DropResult(
        engine=sim.engine,
        size_m=size,
        mass=sim.mass,
        drop_m=height,
        fall_error=fall_error,
        settle_s=settle,
        calm=finite and settle is None and _calm(list(window), size, mass),
        speed_ratio=speed if finite else np.inf,
        energy_growth=growth if finite else np.inf,
        lowest_m=state.lowest_m,
        com_m=state.com_m,
        tilt_deg=float(np.rad2deg(np.arccos(np.clip(state.up @ start.up, -1.0, 1.0)))),
        drift_m=float(np.linalg.norm(state.com_m[:2] - start.com_m[:2])),
    )


def _energy(state: State, mass_kg: float) -> float:
    return state.kinetic_j + mass_kg * GRAVITY * float(state.com_m[2])


def _rest_time(size_m: float) -> float:
    """How long an object must be slow to be at rest: twice its natural time [s]."""
    return float(np.clip(2.0 * np.sqrt(size_m / GRAVITY), 0.1, 1.0))


def _slow(state: State, size_m: float) -> bool:
    limit = SPEED_SHARE * np.sqrt(GRAVITY * size_m)
    return state.speed + 0.5 * size_m * state.spin < limit


def _calm(window: list[State], size_m: float, mass_kg: float) -> bool:
    """True for a body that stays on the floor and either rolls level or rocks a little."""
    heights = np.array([s.com_m[2] for s in window])
    on_floor = max(abs(s.lowest_m) for s in window) <= max(FLOAT_FLOOR_M, 0.01 * size_m)
    level = float(np.ptp(heights)) <= 0.01 * size_m
    kinetic = max(s.kinetic_j for s in window)
    return bool(on_floor and (level or kinetic <= CALM_ENERGY * mass_kg * GRAVITY * size_m))
