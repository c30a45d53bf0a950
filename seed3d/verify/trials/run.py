"""The trials of one object in one engine, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from seed3d.types import Check
from seed3d.verify.drop import GRAVITY, timestep
from seed3d.verify.trials.scene import Item, Layout, Open, Scene, shift

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


def at_rest(item: Item, open_scene: Open) -> Scene:
    """Open a scene of one upright copy and let it settle for six natural times."""
    layout = Layout((item.upright(1e-3 * item.size_m),), timestep_s=timestep(item.size_m))
    scene = open_scene(layout)
    run_for(scene, 6.0 * natural_s(item.size_m))
    return scene


def run_for(scene: Scene, seconds: float) -> None:
    """Advance by a time."""
    for _ in range(max(int(seconds / scene.timestep_s), 1)):
        scene.step()


def tilt_deg(scene: Scene, body: tuple[str, int] = ("copy", 0)) -> float:
    """Return the angle of a body's Z axis to the vertical [deg]."""
    up = scene.state(body).rotation[2, 2]  # type: ignore[arg-type]
    return float(np.rad2deg(np.arccos(np.clip(up, -1.0, 1.0))))


def link_pose(scene: Scene, item: Item, index: int = 0) -> np.ndarray:
    """Return world from root link (4, 4) of a copy, from its centre of mass.

    For an object of one link, whose centre of mass the file states.
    """
    state = scene.state(("copy", index))
    pose = shift(*(state.com_m - state.rotation @ item.mass.com_m))
    pose[:3, :3] = state.rotation
    return pose
