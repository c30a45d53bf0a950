"""What holding a scene measures: closed-form motions, a small heap for ten seconds."""

from __future__ import annotations

import math
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

import seed3d
from seed3d.scene import Scene
from seed3d.scene.parts import Pose
from seed3d.scene.sim import simulate

GRAVITY = 9.81
BENCHMARK = Path(__file__).parent.parent / "scripts" / "benchmark_scene.py"


@pytest.fixture(scope="module")
def solids(tmp_path_factory):
    """A box and a short cylinder."""
    folder = tmp_path_factory.mktemp("solids")
    trimesh.creation.box((0.1, 0.06, 0.04)).export(folder / "brick.stl")
    trimesh.creation.cylinder(0.033, 0.08, sections=24).export(folder / "can.stl")
    config = seed3d.load_preset("smoke")
    return [seed3d.simready(folder / f"{name}.stl", config) for name in ("brick", "can")]


class Motion:
    """A `SceneSim` of one point whose place and velocity are given functions of time."""

    def __init__(self, place, velocity, timestep_s=0.005):
        self.place, self.velocity, self.timestep_s, self.step_no = place, velocity, timestep_s, 0
        self.names, self.radius = ["point"], np.array([0.1])

    @property
    def time(self):
        return self.step_no * self.timestep_s

    def step(self):
        self.step_no += 1

    def poses(self):
        return np.array([[*self.place(self.time), 1.0, 0.0, 0.0, 0.0]])

    def velocities(self):
        return np.array([[np.linalg.norm(self.velocity(self.time)), 2.0]])

    def lowest(self):
        return np.array([self.place(self.time)[2]])

    def contacts(self):
        return []


def test_a_way_there_and_back_is_measured_at_its_farthest():
    turn = 2 * math.pi / 2.0  # one round in 2 s
    sim = Motion(
        lambda t: (0.02 * (1 - math.cos(turn * t)), 0.0, 0.3),
        lambda t: (0.02 * turn * math.sin(turn * t), 0.0, 0.0),
    )
    run = simulate(sim, 2.0, stop_at_rest=False)
    assert run["seconds"] == pytest.approx(2.0)
    assert run["moved_mm"]["point"] == pytest.approx(0.0, abs=1e-3)
    assert run["farthest_mm"]["point"] == pytest.approx(40.0, rel=1e-3)
    assert run["fastest_m_s"] == pytest.approx(0.02 * turn, rel=1e-4)
    assert run["fastest_point_m_s"] == pytest.approx(0.02 * turn + 2.0 * 0.1, rel=1e-4)
    assert not run["exploded"] and not run["at_rest"]


def test_a_fall_through_the_floor_and_back_is_seen():
    fall = GRAVITY / 2
    sim = Motion(
        lambda t: (0.0, 0.0, 0.1 - fall * t**2 if t < 0.4 else 0.1),
        lambda t: (0.0, 0.0, -GRAVITY * t if t < 0.4 else 0.0),
    )
    run = simulate(sim, 0.6, stop_at_rest=False)
    assert run["lowest_mm"]["point"] == pytest.approx(100.0)
    sampled = 0.1 - fall * 0.35**2  # the last sample before it is back
    assert run["lowest_ever_mm"]["point"] == pytest.approx(1e3 * sampled, rel=1e-6)
    assert not run["exploded"]
    fast = Motion(lambda t: (30.0 * t, 0.0, 0.0), lambda _: (30.0, 0.0, 0.0))
    assert simulate(fast, 0.1, stop_at_rest=False)["exploded"]
    lost = Motion(lambda t: (t, 0.0, 0.0), lambda t: (math.nan if t > 0.05 else 1.0, 0.0, 0.0))
    run = simulate(lost, 0.1, stop_at_rest=False)
    assert run["exploded"] and run["seconds"] == pytest.approx(0.055)


@pytest.mark.parametrize("engine", ["mujoco", "pybullet"])
def test_a_hold_tells_falling_from_standing(solids, engine):
    scene = Scene("air")
    scene.add(solids[0], position=(0, 0, 0.5))
    held = scene.check((engine,), 0.2)["engines"][engine]
    assert held["moved_mm"] == pytest.approx(1e3 * GRAVITY / 2 * 0.2**2, rel=0.03)
    assert held["fastest_m_s"] == pytest.approx(GRAVITY * 0.2, rel=0.02)
    assert held["unsupported"] == ["brick"] and held["fell_through"] == []
    assert not held["passed"] and len(held["problems"]) == 2
    scene.ground = None
    scene.move("brick", (0, 0, 0))
    held = scene.check((engine,), 0.2)["engines"][engine]
    assert held["lowest_mm"] == pytest.approx(-1e3 * GRAVITY / 2 * 0.2**2, rel=0.03)


def test_what_starts_below_the_ground_is_told(solids):
    scene = Scene("sunk")
    scene.add(solids[0], position=(0, 0, -0.03))
    held = scene.check(("mujoco",), 0.1)["engines"]["mujoco"]
    assert held["fell_through"] == ["brick"]
    assert held["lowest_mm"] == pytest.approx(-30.0, abs=0.5)
    assert any("fell through the ground: brick (-30.0 mm)" in p for p in held["problems"])


def test_small_heap_holds_for_ten_seconds_in_both_engines(solids, tmp_path):
    heap = runpy.run_path(str(BENCHMARK))["heap"]
    rows = heap(solids, 4, 1, 5.0, 10.0, tmp_path)
    assert rows["objects"] == 4 and rows["passed"], rows
    for engine in ("mujoco", "pybullet"):
        hold = rows[engine]["hold"]
        assert hold["seconds"] == pytest.approx(10.0, abs=1e-3)
        assert hold["fell_through"] == hold["unsupported"] == []
        assert not hold["exploded"]
        assert hold["fastest_m_s"] < 0.05
        assert hold["moved_mm"] < 2.0
        assert -1.0 < hold["lowest_mm"] < 1.0
        assert max(hold["penetration_start_mm"], hold["penetration_end_mm"]) < 1.0
        again = Scene.load(tmp_path / engine)
        assert len(again.items) == 4


@pytest.mark.parametrize("engine", ["mujoco", "pybullet"])
def test_a_slope_is_held_up_to_the_angle_of_friction_and_slid_down_beyond_it(solids, engine):
    brick = solids[0]
    limit = math.atan(brick.body.friction)
    for share, slides in ((0.9, False), (1.3, True)):
        angle = share * limit
        tilt = Pose((0.0, 0.0, 0.0), (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0))
        scene = Scene("slope")
        scene.ground = None
        scene.add_block("board", (2.0, 1.0, 0.1), (0.0, 0.0, 0.0))
        scene.blocks["board"] = replace(scene.blocks["board"], pose=tilt)
        start = tilt.apply(np.array([[-0.5, 0.0, 0.05001]]))[0]
        scene.add(brick, position=start, quaternion=tilt.quaternion)
        seconds = 0.6 if slides else 3.0
        held = scene.check((engine,), seconds)["engines"][engine]
        push = GRAVITY * (math.sin(angle) - brick.body.friction * math.cos(angle))
        wanted = 1e3 * push / 2 * seconds**2 if slides else 0.0
        assert held["moved_mm"] == pytest.approx(wanted, rel=0.05, abs=0.3)
        assert held["unsupported"] == []
