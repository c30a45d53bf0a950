"""Coarse-to-fine decode against the same marching cubes on the full grid, and closed forms."""

import numpy as np
import pytest
import torch

from seed3d.errors import StageError
from seed3d.geometry.autoencoder import sample_grid
from seed3d.geometry.decode import decode_dense, decode_surface, level_sides
from seed3d.geometry.tsdf import grid_points

VOXEL = 2.0 / 256


def sphere(p):
    return p.norm(dim=-1) - 0.7


def box(half):
    half = torch.tensor(half)

    def field(p):
        q = p.abs() - half
        return q.clamp(min=0).norm(dim=-1) + q.amax(-1).clamp(max=0)

    return field


def cup(p):
    """A wall of 0.04 with a floor: thin, curved and sharp at once."""
    radius, z = p[:, :2].norm(dim=-1), p[:, 2]
    outer = torch.maximum(radius - 0.6, z.abs() - 0.8)
    return torch.maximum(outer, -torch.maximum(radius - 0.56, -(z + 0.74)))


def turned(field):
    turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))[0]
    return lambda p: field(p @ turn)


def sampled(field):
    """What a field of 64^3 values says of `field`: straight inside voxels, kinks between them."""
    values = (field(torch.from_numpy(grid_points(64)).reshape(-1, 3)) / 0.25).clamp(-1, 1)
    return lambda p: sample_grid(values.view(1, 64, 64, 64), p[None])[0]


def farthest(a, b):
    """Largest distance of a mesh's vertices to another mesh's surface."""
    from seed3d.mesh.grid import scene, tensor

    some = a.vertices[:: max(1, len(a.vertices) // 3000)]
    return float(scene(b).compute_distance(tensor(some)).numpy().max())


def test_same_mesh_with_25_times_fewer_evaluations():
    field = turned(cup)
    sparse, dense = decode_surface(field, 256), decode_dense(field, 256)
    assert dense.evaluations == sparse.dense_evaluations == 257**3
    assert sparse.evaluations * 25 <= dense.evaluations
    assert sparse.mesh.to_trimesh().is_watertight
    assert farthest(sparse.mesh, dense.mesh) < VOXEL
    assert farthest(dense.mesh, sparse.mesh) < VOXEL


@pytest.mark.parametrize(
    "field",
    [sphere, box((0.95, 0.95, 0.95)), sampled(cup)],
    ids=["sphere", "full box", "cup sampled at 64^3"],
)
def test_a_large_surface_stays_within_the_budget_and_on_the_field(field):
    sparse = decode_surface(field, 256)
    assert sparse.evaluations * 25 <= sparse.dense_evaluations
    value = field(torch.from_numpy(sparse.mesh.vertices).float())
    assert float(value.abs().max()) < 0.1 * VOXEL


def test_sphere_has_its_volume_and_faces_outwards():
    mesh = decode_surface(sphere, 128).mesh.to_trimesh()
    assert mesh.volume == pytest.approx(4 / 3 * np.pi * 0.7**3, rel=2e-3)
    assert np.abs(np.linalg.norm(mesh.vertices, axis=1) - 0.7).max() < 0.1 * 2 / 128


def test_a_plate_thinner_than_a_cell_of_the_first_level_is_found():
    plate = box((0.9, 0.7, 0.006))
    mesh = decode_surface(lambda p: plate(p - torch.tensor([0, 0, 0.03])), 256).mesh
    assert np.allclose(mesh.extents, [1.8, 1.4, 0.012], atol=VOXEL)


def test_truncated_and_scaled_fields_give_the_same_mesh():
    """Learned fields saturate and have a unit of their own."""
    base = turned(box((0.5, 0.3, 0.4)))
    plain = decode_surface(base, 128)
    scaled = decode_surface(lambda p: (base(p) * 8).clamp(-1, 1), 128)
    assert farthest(plain.mesh, scaled.mesh) < 0.2 * 2 / 128
    assert scaled.evaluations < 129**3 / 5


def test_the_crossing_is_float32_where_coarse_levels_are_not():
    asked = []

    def rough(p):
        asked.append(len(p))
        return sphere(p).half()

    mixed = decode_surface(sphere, 128, rough=rough)
    pure = decode_surface(sphere, 128)
    assert asked[0] == 33**3 and len(asked) == 1
    assert farthest(mixed.mesh, pure.mesh) < 1e-4


def test_object_that_leaves_the_cube_is_closed_at_its_side():
    mesh = decode_surface(box((2.0, 0.3, 0.3)), 64).mesh.to_trimesh()
    assert mesh.is_watertight and mesh.extents[0] == pytest.approx(2.0, abs=0.1)


def test_other_cubes_than_the_unit_one():
    mesh = decode_surface(sphere, 64, bound=1.6).mesh
    assert np.allclose(mesh.bounds, [[-0.7] * 3, [0.7] * 3], atol=0.02)


def test_refusals():
    with pytest.raises(StageError, match="no point is inside"):
        decode_surface(lambda p: p.norm(dim=-1) + 1, 64)
    with pytest.raises(ValueError, match="power of two"):
        level_sides(250, 32)
    assert level_sides(192, 32) == [24, 48, 96, 192]
