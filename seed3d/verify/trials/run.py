"""The trials of one object in one engine, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from seed3d.types import Check
from seed3d.verify.drop import GRAVITY, timestep
from seed3d.verify.model import transformed
from seed3d.verify.trials.scene import Item, Layout, Open, Scene, shift

STANDS_RAD = np.deg2rad(5.0)
"""Objects that tip at a smaller angle roll or rock: a slope or a push says nothing about them."""
SLOW = 0.005
"""At rest: slower than this share of sqrt(g size), at every point."""
SETTLE_LIMIT = 60.0
"""Longest time to come to rest [natural time]."""
SKIPPED = "stated only"
"""What is wanted of a trial that says nothing about this object."""


@dataclass(frozen=True)
class Trace:
    """A curve for the report."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    engine: str = ""
    mark: float | None = None
    """Where on the x axis the expected value stands."""


@dataclass(frozen=True)
class Placed:
    """Where a trial ended, for a picture."""

    title: str
    engine: str
    copies: tuple[np.ndarray, ...]
    """World from root link, (4, 4)."""
    balls: tuple[tuple[np.ndarray, float], ...] = ()
    """Centre (3,) and radius [m]."""
    boxes: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    """Pose (4, 4) and half sides (3,) [m]."""


@dataclass
class Log:
    """What trials found; filled as they run, so that a crash loses only the one at work."""

    engine: str
    checks: list[Check] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    places: list[Placed] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    """Figures that the engines must agree on, by trial."""

    def check(self, name: str, passed: bool, value: float | str, wanted: str) -> None:
        """Add one check."""
        self.checks.append(Check(name, bool(passed), value, wanted, self.engine))

    def skip(self, name: str, why: str) -> None:
        """State that a trial says nothing about this object."""
        self.check(name, True, f"not measured: {why}", SKIPPED)

    def trace(self, title: str, labels: tuple[str, str], points: list[tuple[float, float]],
              mark: float | None = None) -> None:  # fmt: skip
        """Add a curve, thinned to at most 200 points."""
        if len(points) < 2:
            return
        keep = np.unique(np.linspace(0, len(points) - 1, 200).astype(int))
        x, y = (tuple(float(f"{points[i][k]:.5g}") for i in keep) for k in (0, 1))
        self.traces.append(Trace(title, *labels, x, y, self.engine, mark))


Trial = Callable[[Item, Open, Log], None]


def run_trials(item: Item, open_scene: Open, log: Log) -> Iterator[str]:
    """Run every trial in turn; yields each one's name before it starts."""
    for name, trial in trials().items():
        yield name
        trial(item, open_scene, log)


def trials() -> dict[str, Trial]:
    """Return the trials by name, in the order in which they run."""
    from seed3d.verify.trials import ball, drift, grip, slope, stack

    return {
        "rest drift": drift.rest_drift,
        "free spin": drift.free_spin,
        "tilt table": slope.tilt_table,
        "push": slope.push,
        "stack of three": stack.stack_of_three,
        "ball": ball.ball,
        "squeeze and lift": grip.squeeze_and_lift,
    }


def natural_s(size_m: float) -> float:
    """Return the natural time sqrt(size / g) [s]: how long an object takes to fall its size."""
    return float(np.sqrt(size_m / GRAVITY))


def at_rest(item: Item, open_scene: Open) -> tuple[Scene, Item]:
    """Let an upright copy settle as it likes; return the scene and the item turned as it lies."""
    layout = Layout((item.upright(1e-3 * item.size_m),), timestep_s=timestep(item.size_m))
    scene = open_scene(layout)
    natural, quiet = natural_s(item.size_m), 0.0
    slow = SLOW * np.sqrt(GRAVITY * item.size_m)
    for _ in range(int(SETTLE_LIMIT * natural / scene.timestep_s)):
        scene.step()
        state = scene.state(("copy", 0))
        speed = np.linalg.norm(state.velocity) + 0.5 * item.size_m * np.linalg.norm(state.spin)
        quiet = quiet + scene.timestep_s if speed < slow else 0.0
        if quiet > 4.0 * natural:
            break
    return scene, turned(item, scene.state(("copy", 0)).rotation)


def turned(item: Item, rotation: np.ndarray) -> Item:
    """Return the item in a frame of other axes, p_new = rotation (3, 3) p_old."""
    pose = np.eye(4)
    pose[:3, :3] = rotation
    hulls = tuple(transformed(h, pose) for h in item.hulls)
    visual = None if item.visual is None else transformed(item.visual, pose)
    return Item(hulls, visual, item.mass.moved(pose), item.friction)


def stands(item: Item) -> bool:
    """True where an item, as it lies, would have to be tilted by `STANDS_RAD` to move on."""
    return item.support.angle_rad >= STANDS_RAD


def run_for(scene: Scene, seconds: float) -> None:
    """Advance by a time."""
    for _ in range(max(int(seconds / scene.timestep_s), 1)):
        scene.step()


def link_pose(scene: Scene, item: Item, index: int = 0) -> np.ndarray:
    """Return world from root link (4, 4) of a copy, from its centre of mass.

    For an object of one link, whose centre of mass the file states.
    """
    state = scene.state(("copy", index))
    pose = shift(*(state.com_m - state.rotation @ item.mass.com_m))
    pose[:3, :3] = state.rotation
    return pose
