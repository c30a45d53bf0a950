"""A ball of 0.8 times the opening passes through, or lands inside, in both engines."""

from types import SimpleNamespace

import numpy as np
import pytest
from manifold3d import CrossSection, Manifold
from test_physics import box, chair, drop_bullet, drop_mujoco, mesh_of, table

from seed3d.config import PhysicsConfig
from seed3d.physics.hulls import decompose
from seed3d.types import Mesh

SEGMENTS = 32
SIDEWAYS = np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])
"""Turns x upwards, so that a ball that falls goes through the object from its front."""


def bowl() -> Manifold:
    """Half a hollow ball of radius 0.1, wall 8 mm, open at the top."""
    outer = Manifold.sphere(0.1, SEGMENTS) - Manifold.sphere(0.092, SEGMENTS)
    return outer.trim_by_plane([0, 0, -1], 0.0).translate([0, 0, 0.1])


def pipe() -> Manifold:
    ring = CrossSection.circle(0.05, SEGMENTS) - CrossSection.circle(0.042, SEGMENTS)
    return ring.extrude(0.3)


def shelf() -> Manifold:
    """Two compartments, open to the front (+x), back 1 cm."""
    room = box(0.3, 0.76, 0.36)
    body = box(0.3, 0.8, 0.8).translate([0, 0, 0.4])
    return body - room.translate([0.01, 0, 0.2]) - room.translate([0.01, 0, 0.6])


CASES = {
    # body, turn, start of the ball's centre along the turned z, ball's radius, place across,
    # end: None passes through, else the height at which it comes to rest
    "bowl": (bowl, np.eye(3), 0.25, 0.8 * 0.092, (0.0, 0.0), 0.008 + 0.8 * 0.092),
    "pipe": (pipe, np.eye(3), 0.4, 0.8 * 0.042, (0.0, 0.0), None),
    "shelf": (shelf, SIDEWAYS, 0.4, 0.8 * 0.18, (0.2, 0.0), -0.14 + 0.8 * 0.18),
    "table": (table, SIDEWAYS, 1.1, 0.8 * 0.32, (0.36, 0.0), None),
    "chair": (chair, SIDEWAYS, 0.5, 0.8 * 0.18, (0.2, 0.0), None),
}


@pytest.fixture(scope="module", params=sorted(CASES))
def case(request) -> SimpleNamespace:
    make, turn, start, radius, across, end = CASES[request.param]
    collision = decompose(mesh_of(make()), PhysicsConfig(), 0)
    # A centred ball: the object moves aside instead.
    hulls = []
    for hull in collision.hulls:
        points = hull.vertices @ turn.T
        middle = np.array([-across[0] if turn is SIDEWAYS else across[0], across[1], 0.0])
        hulls.append(Mesh(points - middle, hull.faces))
    return SimpleNamespace(
        collision=collision, hulls=tuple(hulls), start=start, radius=radius, end=end
    )


def test_cavities_stay_open(case) -> None:
    measures = case.collision.measures
    assert measures["cavity_filled_share"] <= 0.1
    assert measures["distance_share"] <= 0.05


@pytest.mark.parametrize("drop", [drop_mujoco, drop_bullet])
def test_ball_passes_or_lands_inside(case, drop) -> None:
    end = drop(case.hulls, case.radius, case.start, 1.2)
    if case.end is None:
        assert end < -0.5
    else:
        assert end == pytest.approx(case.end, abs=0.006)
