"""Closed forms of mass, centre of mass and inertia, through every exporter and both engines."""

from pathlib import Path

import numpy as np
import pytest
from manifold3d import CrossSection, Manifold
from test_physics import block, box, closed_form, combine, cup, mesh_of, ring, rotation

from seed3d.export.mjcf import mjcf_files
from seed3d.export.obj import obj_files, texture_files
from seed3d.export.urdf import urdf_files
from seed3d.export.usd import usd_files
from seed3d.physics.inertia import mass_properties, rotate_inertia
from seed3d.types import Asset, Atlas, Collision, Mesh, PBRMaps, RigidBody
from seed3d.verify.drop_mujoco import loaded_from_urdf
from seed3d.verify.read_mjcf import read_mjcf
from seed3d.verify.read_urdf import read_urdf
from seed3d.verify.read_usd import read_usd

DENSITY = 700.0
OFFSET = np.array([0.3, -0.2, 0.5])
LIMIT = 5e-3


def rod(radius: float, height: float, z: float, sign: int):
    mass = sign * np.pi * radius**2 * height
    side = mass * (3 * radius**2 + height**2) / 12
    return mass, np.array([0, 0, z]), np.diag([side, side, mass * radius**2 / 2])


def truth(name: str) -> tuple[Manifold, float, np.ndarray, np.ndarray]:
    """Return body, volume, centre of mass and inertia about it, at density 1."""
    if name == "l_prism":
        body = box(1, 1, 0.4) - box(0.8, 0.8, 1).translate([0.1, 0.1, 0])
        parts = [block(1, 1, 0.4, (0, 0, 0)), block(0.8, 0.8, 0.4, (0.1, 0.1, 0), -1)]
    elif name == "hollow_box":
        body = box(1, 0.8, 0.6) - box(0.9, 0.7, 0.5)
        parts = [block(1, 0.8, 0.6, (0, 0, 0)), block(0.9, 0.7, 0.5, (0, 0, 0), -1)]
    elif name == "cup":
        body = cup(0.04, 0.1, 0.004)
        parts = [rod(0.04, 0.1, 0.05, 1), rod(0.036, 0.096, 0.052, -1)]
    elif name in ("sphere", "torus"):  # fewer faces than the closed forms' own test: files are slow
        coarse = Manifold.sphere(0.4, 128) if name == "sphere" else ring(0.5, 0.15, 128, 64)
        return (coarse, *closed_form(name)[1:])
    else:
        return closed_form(name)
    return (body, *combine(parts))


def asset_of(mesh: Mesh) -> Asset:
    """An asset whose body comes from the solid, with a grey texture and its convex hull."""
    solid = mass_properties(mesh, DENSITY)
    faces = np.arange(3 * len(mesh.faces)).reshape(-1, 3)
    uv = np.tile([[0.0, 0], [1, 0], [0, 1]], (len(mesh.faces), 1))
    grey = np.full((4, 4, 3), 128, np.uint8)
    hull = mesh_of(Manifold.hull_points(mesh.vertices))
    return Asset(
        name="body",
        mesh=mesh,
        atlas=Atlas(mesh.faces.ravel().copy(), faces, uv, 0.5),
        maps=PBRMaps(grey, grey, grey),
        collision=Collision((hull,), 1.0),
        body=RigidBody(solid.mass, solid.com, solid.inertia, 0.5, 1e-3, 1e-3, 0.3),
    )


def bullet_mass(path: Path) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia as a PyBullet body holds them, in the link's frame."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        body = pybullet.loadURDF(
            str(path), flags=pybullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client
        )
        facts = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
        turn = np.array(pybullet.getMatrixFromQuaternion(facts[4])).reshape(3, 3)
        return facts[0], np.array(facts[3]), turn @ np.diag(facts[2]) @ turn.T
    finally:
        pybullet.disconnect(client)


NAMES = ["box", "sphere", "cylinder", "cone", "torus", "l_prism", "hollow_box", "cup"]


@pytest.mark.parametrize("name", NAMES)
def test_closed_forms_come_back_from_every_file_and_engine(name: str, tmp_path: Path) -> None:
    body, volume, com, tensor = truth(name)
    turn = rotation(NAMES.index(name))
    plain = mesh_of(body)
    asset = asset_of(Mesh(plain.vertices @ turn.T + OFFSET, plain.faces))
    files = {
        **obj_files(asset), **texture_files(asset), **urdf_files(asset), **mjcf_files(asset),
        **usd_files(asset),
    }  # fmt: skip
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    urdf = tmp_path / "body.urdf"
    found = {
        "urdf": read_urdf(urdf, visual=False).mass,
        "mjcf, compiled by MuJoCo": read_mjcf(tmp_path / "body.xml").mass,
        "usd": read_usd(tmp_path / "usd" / "body.usda").mass,
        "urdf, compiled by MuJoCo": loaded_from_urdf(urdf),
    }
    numbers = {key: (m.mass_kg, m.com_m, m.inertia_kg_m2) for key, m in found.items()}
    numbers["urdf, in PyBullet"] = bullet_mass(urdf)
    wanted = rotate_inertia(DENSITY * tensor, turn)
    size = float(np.linalg.norm(plain.extents))
    for where, (mass, middle, inertia) in numbers.items():
        assert mass == pytest.approx(DENSITY * volume, rel=LIMIT), where
        assert np.linalg.norm(middle - (turn @ com + OFFSET)) <= LIMIT * size, where
        off = np.linalg.norm(inertia - wanted) / np.linalg.norm(wanted)
        assert off <= LIMIT, f"{where}: {off:.2e}"


def test_contact_parameters_reach_both_engines(tmp_path: Path) -> None:
    """Friction, rolling and spinning friction, and (PyBullet) restitution, as the files say."""
    import mujoco
    import pybullet

    asset = asset_of(mesh_of(box(0.2, 0.3, 0.1)))
    for path, content in {
        **obj_files(asset), **texture_files(asset), **urdf_files(asset), **mjcf_files(asset),
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "body.xml"))
    geom = model.geom("body_hull_000")
    assert geom.friction == pytest.approx([0.5, 1e-3, 1e-3])
    assert geom.condim == 6
    client = pybullet.connect(pybullet.DIRECT)
    try:
        body = pybullet.loadURDF(str(tmp_path / "body.urdf"), physicsClientId=client)
        facts = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
        assert facts[1] == pytest.approx(0.5)  # lateral
        assert facts[5:8] == pytest.approx((0.3, 1e-3, 1e-3))  # restitution, rolling, spinning
    finally:
        pybullet.disconnect(client)


def test_thin_ring_of_cross_section_is_a_pipe() -> None:
    """A pipe's inertia about its axis: m (a^2 + b^2) / 2."""
    across = CrossSection.circle(0.05, 256) - CrossSection.circle(0.042, 256)
    got = mass_properties(mesh_of(across.extrude(0.3)), 1.0)
    assert got.inertia[2, 2] == pytest.approx(got.mass * (0.05**2 + 0.042**2) / 2, rel=1e-3)
