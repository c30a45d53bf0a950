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
SET_DOWN_M = 2e-3
"""Height from which an object is set down, not dropped: over PyBullet's padding of its hulls [m]."""
TIMESTEPS_S = (2.5e-4, 2e-3)
"""Shortest and longest time step [s]; between them, 1/60 of the natural time sqrt(size / g)."""
NATURAL_TIMES = 10.0
"""Natural times sqrt(size / g) that an object gets at least: 3.2 s for 1 m, 10 s for 10 m."""
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
    jitter: float
    """How far any point moved over the last of the time, as a share of the size (turns about the
    vertical apart); inf where the motion was lost."""
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

    @property
    def rest(self) -> Rest:
        """How it ended."""
        return Rest(self.engine, self.size_m, self.tilt_deg, self.com_m)


@dataclass(frozen=True)
class Rest:
    """How one engine left the object."""

    engine: str
    size_m: float
    tilt_deg: float
    com_m: np.ndarray
    """(3,) centre of mass, world [m]."""
    toppled_deg: float | None = None
    """Tilt after a drop that it didn't stand, where this tells how it rests when set down."""


def timestep(size_m: float) -> float:
    """Return the time step [s] for an object of a size [m]."""
    return float(np.clip(np.sqrt(size_m / GRAVITY) / 60.0, *TIMESTEPS_S))


def simulate(sim: Sim, config: VerifyConfig, set_down: bool = False) -> DropResult:
    """Drop the object, or set it down, let it settle, and measure."""
    height = SET_DOWN_M if set_down else max(config.drop_height * sim.size_m, MIN_DROP_M)
    sim.lift(height)
    record = _Record(sim, sim.state(), height)
    seconds = max(config.seconds, NATURAL_TIMES * np.sqrt(sim.size_m / GRAVITY))
    for step in range(1, int(seconds / sim.timestep_s) + 1):
        if not record.finite or record.at_rest:
            break
        sim.step()
        record.add(step, sim.state())
    return record.result()


class _Record:
    """What is measured at every step."""

    def __init__(self, sim: Sim, start: State, height_m: float) -> None:
        self.sim, self.start, self.last, self.height = sim, start, start, height_m
        self.mass = sim.mass.mass_kg if sim.mass else 0.0
        self.energy = max(self._energy(start), 1e-300)
        self.speed_bound = np.sqrt(2.0 * GRAVITY * max(float(start.com_m[2]), height_m))
        length = max(int(_rest_time(sim.size_m) / sim.timestep_s), 2)
        self.window: deque[State] = deque([start], maxlen=length)
        self.falling = True
        self.fall_error = self.speed = self.growth = 0.0
        self.steps = self.quiet = 0
        self.finite = bool(np.isfinite(start.com_m).all())

    @property
    def at_rest(self) -> bool:
        return self.quiet >= (self.window.maxlen or 0)

    def add(self, step: int, state: State) -> None:
        self.steps, self.last = step, state
        self.finite = bool(np.isfinite(state.com_m).all() and np.isfinite(state.kinetic_j))
        if not self.finite:
            self.speed = self.growth = np.inf
            return
        # Contact can't have begun yet: above PyBullet's padding, well before the floor.
        self.falling &= state.lowest_m > max(0.2 * self.height, 1.5 * FLOAT_FLOOR_M)
        if self.falling:
            # Semi-implicit Euler falls 1/2 g t (t + dt), exactly.
            exact = 0.5 * GRAVITY * self.sim.timestep_s**2 * step * (step + 1)
            fall = float(self.start.com_m[2] - state.com_m[2])
            self.fall_error = max(self.fall_error, abs(fall - exact) / exact)
        self.speed = max(self.speed, state.speed / self.speed_bound)
        self.growth = max(self.growth, self._energy(state) / self.energy - 1.0)
        self.window.append(state)
        slow = not self.falling and _slow(state, self.sim.size_m)
        self.quiet = self.quiet + 1 if slow else 0

    def _energy(self, state: State) -> float:
        return state.kinetic_j + self.mass * GRAVITY * float(state.com_m[2])

    def result(self) -> DropResult:
        start, last, size = self.start, self.last, self.sim.size_m
        settle = (self.steps - self.quiet) * self.sim.timestep_s if self.at_rest else None
        calm = self.finite and settle is None and _calm(list(self.window), size, self.mass)
        return DropResult(
            engine=self.sim.engine,
            size_m=size,
            mass=self.sim.mass,
            drop_m=self.height,
            fall_error=self.fall_error,
            settle_s=settle,
            calm=calm,
            jitter=_jitter(list(self.window), size) if self.finite else np.inf,
            speed_ratio=self.speed,
            energy_growth=self.growth,
            lowest_m=last.lowest_m,
            com_m=last.com_m,
            tilt_deg=float(np.rad2deg(np.arccos(np.clip(last.up @ start.up, -1.0, 1.0)))),
            drift_m=float(np.linalg.norm(last.com_m[:2] - start.com_m[:2])),
        )


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


def _jitter(window: list[State], size_m: float) -> float:
    """Spread of the centre of mass, and of the object's ends as it tilts, over the size."""
    moved = np.linalg.norm(np.ptp([s.com_m for s in window], axis=0))
    tilted = np.linalg.norm(np.ptp([s.up for s in window], axis=0))
    return float(moved / size_m + 0.5 * tilted)
