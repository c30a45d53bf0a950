"""A flat base is levelled in the hulls; what is round below stays round."""

from __future__ import annotations

import manifold3d as m3
import numpy as np
import pytest

from seed3d.config import PhysicsConfig
from seed3d.data.procedural import make
from seed3d.mesh.manifold import from_manifold
from seed3d.physics.base import UNEVEN, flat_base
from seed3d.physics.hulls import decompose
from seed3d.types import Mesh


def unit(solid):
    """The solid at a longest side of 2, standing on z = 0."""
    low = np.array(solid.bounding_box()[:3])
    size = float(max(np.array(solid.bounding_box()[3:]) - low))
    return solid.translate(tuple(-low)).scale((2 / size,) * 3)


def tall(height=4.0, sides=96):
    return m3.Manifold.cylinder(height, 0.5, 0.5, sides)


@pytest.mark.parametrize(
    "name, solid, flat",
    [
        ("box", m3.Manifold.cube((2, 1, 1)), True),
        ("standing cylinder", tall(), True),
        ("cone on its base", m3.Manifold.cylinder(2, 1, 0, 96), True),
        ("tilted a little", tall().rotate((0.05, 0, 0)), True),
        ("ball", m3.Manifold.sphere(1, 96), False),
        ("coarse ball", m3.Manifold.sphere(1, 24), False),
        ("lying cylinder", tall().rotate((0, 90, 0)), False),
        ("cone on its tip", m3.Manifold.cylinder(2, 0, 1, 96), False),
        ("box on an edge", m3.Manifold.cube((1, 1, 1)).rotate((45, 0, 0)), False),
    ],
)
def test_flat_bases_are_told_from_round_ones(name, solid, flat):
    assert (flat_base(unit(solid)) is not None) == flat, name


def test_tables_and_rings_stand_on_their_feet():
    for category in ("table", "chair", "mug", "plate"):
        mesh = make(category, 0).surface.mesh
        solid = m3.Manifold(m3.Mesh(mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32)))
        if not solid.is_empty():
            assert flat_base(unit(solid)) is not None, category
    assert flat_base(
        unit(m3.Manifold.revolve(m3.CrossSection.circle(0.2, 48).translate((1, 0)), 96))
    )


def uneven_bottle():
    """A slender cylinder of 0.3 m whose base is uneven by under half a millimetre."""
    mesh = from_manifold(unit(tall(3.0)))
    rng = np.random.default_rng(0)
    vertices = mesh.vertices.copy()
    low = vertices[:, 2] < 1e-6
    vertices[low, 2] += rng.uniform(0, 0.6 * UNEVEN, low.sum())
    return Mesh(vertices * 0.15, mesh.faces)


def test_an_uneven_base_becomes_one_plane_and_nothing_else_moves():
    mesh = uneven_bottle()
    found = decompose(mesh, PhysicsConfig(primitive_tolerance=0.0), seed=0)
    assert len(found.hulls) == 1
    z = found.hulls[0].vertices[:, 2]
    floor, reach = float(mesh.vertices[:, 2].min()), UNEVEN * 0.15
    assert (z == z.min()).sum() >= 16 and z.min() == pytest.approx(floor, abs=1e-9)
    assert not ((z > z.min()) & (z < floor + reach)).any()
    above = found.hulls[0].vertices[z > z.min()]
    gap = np.linalg.norm(above[:, None] - mesh.vertices[None], axis=2).min(axis=1)
    assert gap.max() < 1e-9


def test_what_is_arched_by_a_share_of_its_height_is_not_levelled():
    # A ruler, 11 mm high at 1 m, hollow below by a fifth of that: its cavity must stay.
    ruler = m3.Manifold.cube((2, 0.2, 0.022)) - m3.Manifold.cube((2, 0.16, 0.0044)).translate(
        (0, 0.02, 0)
    )
    base = flat_base(ruler)
    assert base is not None and base.uneven == pytest.approx(0.05 * 0.022)
    points = from_manifold(ruler.hull()).vertices + 0.0
    points = np.concatenate([points, from_manifold(ruler).vertices])
    assert np.array_equal(base.levelled(points), points)


def test_a_slender_thing_stands_straight_only_on_a_level_base(tmp_path):
    import mujoco

    def tilt_after_drop(mesh, name):
        path = tmp_path / f"{name}.stl"  # MuJoCo keeps meshes by name
        mesh.to_trimesh().export(path)
        model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="0.002"/>
            <asset><mesh name="m" file="{path}"/></asset>
            <worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 0.5"><freejoint/>
            <geom type="mesh" mesh="m" mass="1"/></body></worldbody></mujoco>""")
        data = mujoco.MjData(model)
        for _ in range(1500):
            mujoco.mj_step(model, data)
        return np.degrees(np.arccos(np.clip(data.xmat[1][8], -1, 1)))

    # One point of the rim sticks out by half a millimetre.
    mesh = from_manifold(unit(tall(4.0)))
    vertices = mesh.vertices.copy()
    vertices[(vertices[:, 2] < 1e-6) & (vertices[:, 0] < vertices[:, 0].max() - 1e-4), 2] += 0.0033
    mesh = Mesh(vertices * 0.15, mesh.faces)
    level = decompose(mesh, PhysicsConfig(primitive_tolerance=0.0), seed=0).hulls[0]
    assert tilt_after_drop(level, "level") < 0.02
    assert tilt_after_drop(mesh, "uneven") > 0.2
