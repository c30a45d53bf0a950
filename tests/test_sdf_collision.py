"""MJCF with SDF collision. Oracles: closed forms of mass, a ball that must reach the cup's floor."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_physics import cup, mesh_of
from test_physics_exports import asset_of

from seed3d.config import PhysicsConfig, VerifyConfig
from seed3d.export import asset_files, write_files
from seed3d.physics.hulls import decompose
from seed3d.types import Asset, Mesh
from seed3d.verify import verify_folder
from seed3d.verify.folder import find_files
from seed3d.verify.read_mjcf import read_mjcf
from seed3d.verify.sanity import check_hulls

RADIUS, HEIGHT, WALL, BALL = 0.04, 0.1, 0.006, 0.02


def cup_asset() -> Asset:
    """Its own convex hull is its only hull: with that, nothing could fall into it."""
    plain = mesh_of(cup(RADIUS, HEIGHT, WALL))
    low, high = plain.bounds
    middle = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    return asset_of(Mesh(plain.vertices - middle, plain.faces))


def ball_at(path: Path) -> np.ndarray:
    """Where a ball dropped into the standing cup comes to rest (3,) [m]."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(path))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1])
    ball = spec.worldbody.add_body(name="ball", pos=[0.004, 0.0, HEIGHT + 2 * BALL])
    ball.add_freejoint()
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[BALL, 0, 0])
    ball.mass, ball.inertia, ball.explicitinertial = 0.03, [0.4 * 0.03 * BALL**2] * 3, True
    spec.option.timestep = 1e-3
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    return data.body("ball").xpos.copy()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(
        asset_files(cup_asset(), ("mjcf", "mjcf_sdf")), tmp_path_factory.mktemp("sdf") / "body"
    )


def test_a_ball_reaches_the_floor_of_the_cup_that_its_hull_closes(folder: Path) -> None:
    x, y, _ = ball_at(folder / "body.xml")
    assert np.hypot(x, y) > RADIUS  # it rolled off the lid
    x, y, z = ball_at(folder / "body_sdf.xml")
    assert np.hypot(x, y) < RADIUS - WALL - BALL + 2e-3
    assert z == pytest.approx(WALL + BALL, abs=2e-3)


def test_mass_is_that_of_the_other_files(folder: Path) -> None:
    field, hulls = read_mjcf(folder / "body_sdf.xml"), read_mjcf(folder / "body.xml")
    assert [h.primitive for h in field.hulls] == ["sdf"]
    assert field.mass is not None and hulls.mass is not None
    assert field.mass.mass_kg == pytest.approx(hulls.mass.mass_kg)
    np.testing.assert_allclose(field.mass.inertia_kg_m2, hulls.mass.inertia_kg_m2, rtol=1e-6)


def test_verification_drops_it_too(tmp_path: Path) -> None:
    asset = cup_asset()
    collision = decompose(asset.mesh, PhysicsConfig(), 0)
    asset = dataclasses.replace(asset, collision=collision)
    made = write_files(asset_files(asset, ("urdf", "mjcf", "mjcf_sdf")), tmp_path / "body")
    verdict = verify_folder(made, VerifyConfig())
    own = [c for c in verdict.checks if c.engine in ("mujoco_sdf", "mjcf_sdf")]
    assert {"settles", "mass agrees", "opens"} <= {c.name for c in own}
    assert [c for c in verdict.checks if not c.passed] == []


def test_a_renamed_folder_keeps_its_sdf_file(folder: Path, tmp_path: Path) -> None:
    renamed = Path(shutil.copytree(folder, tmp_path / "another name"))
    found = {kind: path.name for kind, path in find_files(renamed).items()}
    assert found == {"mjcf": "body.xml", "mjcf_sdf": "body_sdf.xml"}


def test_hulls_beside_a_field_are_still_checked(folder: Path) -> None:
    field, hulls = read_mjcf(folder / "body_sdf.xml"), read_mjcf(folder / "body.xml")
    hollow = dataclasses.replace(hulls.hulls[0], mesh=field.hulls[0].mesh)  # no convex hull
    both = dataclasses.replace(field, hulls=(*field.hulls, hollow))
    failed = {c.name for c in check_hulls(both) if not c.passed}
    assert failed == {"hulls convex"}
    assert all(c.passed for c in check_hulls(field))


def test_it_is_written_only_on_demand() -> None:
    assert not any("_sdf" in path for path in asset_files(cup_asset()))
