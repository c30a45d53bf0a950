"""Thin-walled things: mass properties from the surface. Oracles: closed forms, both engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh
from manifold3d import Manifold
from test_physics import mesh_of
from test_physics_exports import asset_of, bullet_mass

from seed3d.config import MeshConfig, PhysicsConfig
from seed3d.errors import ConfigError
from seed3d.export.mjcf import mjcf_files
from seed3d.export.obj import obj_files, texture_files
from seed3d.export.urdf import urdf_files
from seed3d.mesh.sheet import open_sheet
from seed3d.mesh.solid import make_solid
from seed3d.physics.body import rigid_body
from seed3d.physics.materials import material
from seed3d.physics.shell import placed
from seed3d.types import Estimate, Mesh
from seed3d.verify.drop_mujoco import loaded_from_urdf
from seed3d.verify.read_mjcf import read_mjcf

LIMIT = 5e-3
WALL = 0.002
STEEL = PhysicsConfig(material="steel", wall=WALL)
R, H = 0.3, 0.8


def grid(columns: int, rows: int, place) -> Mesh:
    """An open surface of quads, place(u, v) with u, v in [0, 1]."""
    u, v = np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, rows))
    index = np.arange(columns * rows).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = [np.stack(t, -1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))]
    return Mesh(place(u.ravel(), v.ravel()), np.concatenate(faces).astype(np.int64))


def tube() -> Mesh:
    def place(u, v):
        angle = 2 * np.pi * u
        return np.stack([R * np.cos(angle), R * np.sin(angle), H * v], axis=1)

    return grid(181, 9, place)


def sphere_truth(density: float):
    mass = 4 * np.pi * R**2 * WALL * density
    return mass, np.zeros(3), np.eye(3) * 2 / 3 * mass * R**2


def tube_truth(density: float):
    mass = 2 * np.pi * R * H * WALL * density
    across = mass * (6 * R**2 + H**2) / 12
    return mass, np.array([0, 0, H / 2]), np.diag([across, across, mass * R**2])


def box_truth(density: float, sides=(0.4, 0.3, 0.2)):
    """Six rectangles: each its own plate, moved to its place."""
    total, inertia = 0.0, np.zeros((3, 3))
    for axis in range(3):
        b, c = (sides[k] for k in range(3) if k != axis)
        mass = density * WALL * b * c
        square = np.array([0.0 if k == axis else sides[k] ** 2 / 12 for k in range(3)])
        square[axis] += (sides[axis] / 2) ** 2
        inertia += 2 * mass * (np.diag(np.full(3, square.sum())) - np.diag(square))
        total += 2 * mass
    return total, np.zeros(3), inertia


CASES = {
    "sphere": (lambda: mesh_of(Manifold.sphere(R, 128)), sphere_truth, "shell"),
    "box": (lambda: mesh_of(Manifold.cube([0.4, 0.3, 0.2], True)), box_truth, "shell"),
    "tube": (tube, tube_truth, "auto"),
}


@pytest.mark.parametrize("name", CASES)
def test_shells_come_back_from_files_and_engines(name: str, tmp_path: Path) -> None:
    make, truth, model = CASES[name]
    sheet = None
    if model == "auto":  # as simready does it: an open surface becomes a wall of one voxel
        source = make()
        body = make_solid(source, MeshConfig(resolution=48)).mesh
        sheet = open_sheet(source, body, MeshConfig(resolution=48))
        assert sheet is not None
    else:
        body = make()
    found = rigid_body(body, Estimate(None, "prior"), Estimate(None, "prior"),
                       replace(STEEL, mass_model=model), sheet)  # fmt: skip
    mass, com, inertia = truth(material("steel").density)
    asset = replace(asset_of(body), body=found.body)
    for path, content in {
        **obj_files(asset), **texture_files(asset), **urdf_files(asset), **mjcf_files(asset),
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    urdf = tmp_path / "body.urdf"
    read = {"mjcf": read_mjcf(tmp_path / "body.xml").mass, "mujoco": loaded_from_urdf(urdf)}
    numbers = {key: (m.mass_kg, m.com_m, m.inertia_kg_m2) for key, m in read.items()}
    numbers["pybullet"] = bullet_mass(urdf)
    numbers["asset"] = found.body.mass_kg, found.body.com_m, found.body.inertia_kg_m2
    for where, (m, middle, tensor) in numbers.items():
        assert m == pytest.approx(mass, rel=LIMIT), where
        assert np.linalg.norm(middle - com) <= LIMIT * H, where
        assert np.linalg.norm(tensor - inertia) <= LIMIT * np.linalg.norm(inertia), where
    said = found.estimates
    assert said["mass_model"].value == "shell"
    assert said["mass_model"].source == ("user" if model == "shell" else "mesh")
    assert said["wall_m"].value == WALL and said["wall_m"].source == "user"
    assert "surface" in said["mass_kg"].note and "surface" in said["inertia_kg_m2"].note


def test_sheets_are_told_from_solids() -> None:
    config = MeshConfig(resolution=48)

    def sheet(mesh: Mesh) -> Mesh | None:
        return open_sheet(mesh, make_solid(mesh, config).mesh, config)

    found = sheet(tube())
    assert found is not None
    assert found.to_trimesh().area == pytest.approx(2 * np.pi * R * H, rel=1e-3)
    closed = Mesh.from_trimesh(trimesh.creation.icosphere(3, R))
    assert sheet(closed) is None
    lidless = Mesh(closed.vertices, closed.faces[1:])  # a small hole: closed, and so a solid
    assert sheet(lidless) is None
    plate = Mesh.from_trimesh(trimesh.creation.box([1.0, 0.8, 0.01]))  # thin, but closed
    assert sheet(plate) is None


def test_solid_stays_the_default_and_can_be_forced() -> None:
    nothing = Estimate(None, "prior")
    ball = mesh_of(Manifold.sphere(R, 64))
    solid = rigid_body(ball, nothing, nothing, PhysicsConfig(material="steel", mass=10.0))
    assert solid.estimates["mass_model"].value == "solid" and "wall_m" not in solid.estimates
    assert solid.body.inertia_kg_m2[0, 0] == pytest.approx(0.4 * 10 * R**2, rel=1e-2)
    forced = replace(STEEL, mass_model="solid", mass=10.0)
    again = rigid_body(ball, nothing, nothing, forced, sheet=ball)
    np.testing.assert_allclose(again.body.inertia_kg_m2, solid.body.inertia_kg_m2)
    hollow = rigid_body(ball, nothing, nothing, replace(forced, mass_model="shell"))
    assert hollow.body.mass_kg == 10.0
    assert hollow.body.inertia_kg_m2[0, 0] == pytest.approx(2 / 3 * 10 * R**2, rel=1e-2)


def test_usual_wall_of_the_material_with_its_interval() -> None:
    nothing, config = Estimate(None, "prior"), PhysicsConfig(material="glass", mass_model="shell")
    found = rigid_body(mesh_of(Manifold.sphere(0.05, 64)), nothing, nothing, config).estimates
    wall = material("glass").wall
    assert found["wall_m"].value == wall
    mass = found["mass_kg"]
    assert (mass.low / mass.value, mass.high / mass.value) == pytest.approx((0.5, 2.0))


@pytest.mark.parametrize("wall", [0.0, -1.0, 0.2, float("nan")])
def test_walls_that_cannot_be_true(wall: float) -> None:
    nothing = Estimate(None, "prior")
    with pytest.raises(ConfigError, match=r"physics\.wall: got .* wanted more than 0"):
        rigid_body(mesh_of(Manifold.sphere(R, 32)), nothing, nothing,
                   PhysicsConfig(mass_model="shell", wall=wall))  # fmt: skip


def test_a_sheet_follows_its_solid() -> None:
    before = mesh_of(Manifold.cube([2.0, 1.0, 1.0], True))
    sheet = Mesh(before.vertices[:3] * 0.5, np.array([[0, 1, 2]]))
    offset = np.array([1.0, 2.0, 3.0])
    after = placed(sheet, before, before.moved(0.1, offset))
    np.testing.assert_allclose(after.vertices, sheet.vertices * 0.1 + offset)
    assert placed(None, before, before) is None


def test_both_faces_of_a_wall_count_once() -> None:
    nothing = Estimate(None, "prior")
    source = tube()
    body = make_solid(source, MeshConfig(resolution=64)).mesh
    one = rigid_body(body, nothing, nothing, STEEL, sheet=source).body
    both = rigid_body(body, nothing, nothing, STEEL, sheet=body, sides=2).body
    assert both.mass_kg == pytest.approx(one.mass_kg, rel=0.03)
    np.testing.assert_allclose(both.inertia_kg_m2, one.inertia_kg_m2, rtol=0.05, atol=1e-3)
