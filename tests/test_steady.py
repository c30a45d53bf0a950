"""Coming to rest after a fall. Oracles: a pendulum's closed form, and simcheck."""

from __future__ import annotations

import numpy as np
import pytest
from test_verify import Body, ball, box_body, edit, write

from seed3d.config import VerifyConfig
from seed3d.types import STEADY, Verdict
from seed3d.verify import summary, verify_folder
from seed3d.verify.steady import Units, fall


def heavy_sided_ball(folder):
    """A ball whose centre of mass lies half a radius to the side: a pendulum with no friction."""
    one = ball(0.1)
    folder = write(Body(one.visual, one.hulls, rolling=0.0), folder)
    name = folder.name
    edit(folder / f"{name}.urdf", r'<origin xyz="[^"]*"', '<origin xyz="0.05 0 0.1"')
    edit(folder / f"{name}.xml", r'<inertial pos="[^"]*"', '<inertial pos="0.05 0 0.1"')
    (folder / "report.json").unlink()
    return folder


def steady(verdict: Verdict) -> dict[str, object]:
    return {c.engine: c for c in verdict.checks if c.name == STEADY}


def test_a_heavy_sided_ball_rocks_on_and_the_verdict_says_so(tmp_path):
    folder = heavy_sided_ball(tmp_path / "rocker")
    verdict = verify_folder(folder)
    found = steady(verdict)
    assert all(c.passed and "moves at" in str(c.value) for c in found.values()), summary(verdict)
    assert verdict.unsteady.count("in pybullet") == verdict.unsteady.count("in mujoco") == 1
    assert verdict.unsteady in summary(verdict)
    strict = verify_folder(folder, VerifyConfig(steady=True))
    assert [c.passed for c in steady(strict).values()] == [False, False]


@pytest.mark.parametrize("size", [1.0, 0.02])
def test_a_box_of_any_size_comes_to_rest(tmp_path, size):
    folder = write(box_body(0.3 * size, 0.2 * size, 0.1 * size), tmp_path / "box")
    verdict = verify_folder(folder, VerifyConfig(steady=True))
    found = steady(verdict)
    assert len(found) == 2 and all(c.passed for c in found.values()), summary(verdict)
    assert not verdict.unsteady and "come to rest" not in summary(verdict)


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_simcheck_warns_of_the_same_things(tmp_path, suffix):
    simcheck = pytest.importorskip("simcheck")
    rocker = heavy_sided_ball(tmp_path / "rocker")
    calm = write(box_body(), tmp_path / "box")
    said = {}
    for folder in (rocker, calm):
        report = simcheck.check(str(folder / f"{folder.name}.{suffix}"))
        said[folder.name] = [f for f in report.warnings if f.check.startswith("engine")]
    assert said["rocker"] and not said["box"]


class _Pendulum:
    """x = cos(w t), exactly, up to a time after which it lies still."""

    def __init__(self, step_s: float, until_s: float, omega: float) -> None:
        self.step_s, self.until_s, self.omega, self.steps = step_s, until_s, omega, 0

    def advance(self, steps: int) -> None:
        self.steps += steps

    def motion(self) -> tuple[float, float]:
        time = self.steps * self.step_s
        return (abs(np.sin(self.omega * time)) if time < self.until_s else 0.0), 0.0

    def pose(self) -> np.ndarray:
        return np.eye(4)


def test_the_end_is_judged_over_a_quarter_of_a_second():
    whole = Units.of(1.0)
    swinging = _Pendulum(0.002, 9.0, 2 * np.pi)
    looked_at = np.arange(276, 301) / 100
    fastest = np.abs(np.sin(2 * np.pi * looked_at)).max()
    assert fall(swinging, 0.002, whole).speed == pytest.approx(fastest, rel=1e-9)
    assert swinging.steps == 1500
    still = _Pendulum(0.002, 1.0, 2 * np.pi)
    assert fall(still, 0.002, whole).speed == 0.0
    assert still.steps == pytest.approx(500 + 125, abs=5)  # what lies still isn't waited for
    lost = _Pendulum(0.002, 9.0, np.nan)
    assert fall(lost, 0.002, whole).speed == np.inf


def test_units_of_a_small_thing_keep_its_fall_alike():
    small = Units.of(0.0025)
    assert (small.length, small.time) == (0.25, 0.5)  # g = length / time^2 stays
    assert Units.of(0.01) == Units.of(3.0) == Units(1.0, 1.0)
