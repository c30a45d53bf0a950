"""Merging of convex parts; parts that none covers. Oracles: volumes of boxes, a cup's cavity."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from manifold3d import Manifold
from test_physics import cup, mesh_of

from seed3d.config import PhysicsConfig
from seed3d.physics.cover import uncovered_parts
from seed3d.physics.fill import Openings
from seed3d.physics.hulls import decompose
from seed3d.physics.merge import merge_parts
from seed3d.types import Mesh


def corners(size, at=(0.0, 0.0, 0.0)) -> np.ndarray:
    grid = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return grid * np.array(size) / 2 + np.array(at)


def volume(parts) -> float:
    return sum(Manifold.hull_points(p).volume() for p in parts)


def test_halves_of_a_box_become_the_box_for_free() -> None:
    parts = [corners((1, 1, 1), (x, 0, 0)) for x in (-1.0, 0.0, 1.0)]
    (joined,) = merge_parts(parts, 1e-9, 1e-6)
    assert volume([joined]) == pytest.approx(3.0)
    assert len(joined) == 8


def test_an_l_merges_only_within_budget_and_deviation() -> None:
    parts = [corners((2, 1, 1)), corners((1, 1, 1), (-0.5, 1.0, 0))]
    added = 0.5  # the triangular prism in the inner corner
    assert len(merge_parts(parts, added - 1e-3, 1.0)) == 2
    assert len(merge_parts(parts, added + 1e-3, 0.1)) == 2  # its face is 0.35 from the corner
    (joined,) = merge_parts(parts, added + 1e-3, 1.0)
    assert volume([joined]) == pytest.approx(3.0 + added)


def test_the_budget_is_for_all_merges_and_the_cheapest_come_first() -> None:
    row = [corners((1, 1, 1), (i, 0, 0)) for i in range(3)]
    step = [corners((1, 1, 1.2), (3, 0, 0.1))]
    left = merge_parts([*step, *row], 0.05, 1.0)
    assert sorted(round(volume([p]), 6) for p in left) == [1.2, 3.0]


def test_parts_apart_or_flat_stay() -> None:
    apart = [corners((1, 1, 1)), corners((1, 1, 1), (1.1, 0, 0))]
    assert len(merge_parts(apart, 10.0, 10.0)) == 2
    flat = [corners((1, 1, 1)), corners((1, 1, 0), (1.0, 0, 0))]
    kept = merge_parts(flat, 10.0, 10.0)
    assert all(np.array_equal(a, b) for a, b in zip(kept, flat, strict=True))


def test_volume_left_of_a_cup() -> None:
    solid = cup(0.9, 1.9, 0.1)
    empty = np.pi * 0.8**2 * 1.8
    outline = np.asarray(solid.to_mesh().vert_properties)[:, :3]
    assert Openings(solid).volume_left([outline], 0.1) == 0.0  # one hull fills it all
    crumb = corners((0.1, 0.1, 0.05), (0, 0, 0.05))
    assert Openings(solid).volume_left([crumb], 0.1) == pytest.approx(0.1 * empty, rel=1e-2)


def test_what_floats_in_a_cup_leaves_less_of_it_to_fill() -> None:
    empty = np.pi * 0.8**2 * 1.8
    ball = Manifold.sphere(0.6, 64).translate((0, 0, 1.2))
    openings = Openings(cup(0.9, 1.9, 0.1) + ball)
    assert openings.room == pytest.approx(empty - ball.volume(), rel=1e-2)
    shell = np.asarray(ball.to_mesh().vert_properties)[:, :3]
    crumb = corners((0.1, 0.1, 0.05), (0, 0, 0.05))
    left = openings.volume_left([crumb, shell], 0.1)
    assert left == pytest.approx(0.1 * (empty - ball.volume()), rel=1e-2)


def lumpy_cup() -> Mesh:
    """A cup whose walls have lumps of 3 % of its size, as generated meshes do."""
    body = cup(0.04, 0.09, 0.006, 48).refine_to_length(0.006)
    mesh = mesh_of(body)
    rng = np.random.default_rng(0)
    waves, phase = rng.normal(size=(24, 3)) * 160.0, rng.uniform(0, 2 * np.pi, 24)
    field = np.sin(mesh.vertices @ waves.T + phase).mean(axis=1) * np.sqrt(24.0)
    away = mesh.vertices * [1, 1, 0]
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-3)
    return Mesh(mesh.vertices + 0.0012 * field[:, None] * away, mesh.faces)


def test_a_lumpy_cup_keeps_its_cavity_with_few_hulls() -> None:
    mesh = lumpy_cup()
    assert mesh.to_trimesh().is_volume
    found = decompose(mesh, PhysicsConfig(), 0)
    assert len(found.hulls) <= 40
    assert found.measures["cavity_filled_share"] <= 0.1
    assert found.measures["distance_share"] <= 0.05


def test_the_bare_middle_of_a_straight_rod_is_found() -> None:
    """A rod has vertices at its ends alone, where hulls may cover them."""
    rod = Manifold.cube([0.06, 0.06, 2.0], True)
    ends = [Mesh.from_trimesh(trimesh.creation.box((0.1, 0.1, 0.3))) for _ in range(2)]
    hulls = [
        end.moved(1.0, np.array([0.0, 0.0, z])) for end, z in zip(ends, (-0.9, 0.9), strict=True)
    ]
    (part,) = uncovered_parts(hulls, rod)
    assert part[:, 2].min() < -0.65 and part[:, 2].max() > 0.65
    assert uncovered_parts([mesh_of(rod)], rod) == []
