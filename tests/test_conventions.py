"""Frames: right-handed rotations, round trips, and where the front of an object ends up."""

import numpy as np
import pytest

from seed3d import conventions as c
from seed3d.types import Camera, Estimate, Mesh, RigidBody, Verdict


def test_gltf_axes():
    up, front, left = np.eye(3)[2], np.eye(3)[0], np.eye(3)[1]
    assert (c.R_GLTF_WORLD @ up).tolist() == [0, 1, 0]
    assert (c.R_GLTF_WORLD @ front).tolist() == [0, 0, 1]
    assert (c.R_GLTF_WORLD @ left).tolist() == [1, 0, 0]
    assert np.linalg.det(c.R_GLTF_WORLD) == pytest.approx(1)
    assert np.allclose(c.up_axis_rotation("y") @ c.R_GLTF_WORLD, np.eye(3))
    with pytest.raises(ValueError, match="up axis is 'x'"):
        c.up_axis_rotation("x")


@pytest.mark.parametrize("azimuth", [0.0, 0.7, -2.0, 3.1])
@pytest.mark.parametrize("elevation", [-0.3, 0.0, 1.0])
def test_camera_rotation_is_proper_and_looks_at_the_origin(azimuth, elevation):
    rotation = c.camera_rotation(azimuth, elevation)
    assert np.allclose(rotation @ rotation.T, np.eye(3))
    assert np.linalg.det(rotation) == pytest.approx(1)
    camera = Camera(azimuth, elevation, 3.0, 2.0)
    uv, depth = camera.project(np.zeros(3))
    assert np.allclose(uv, 0)
    assert depth == pytest.approx(3)
    assert np.allclose(camera.rotation @ camera.position + [0, 0, 3.0], 0)


def test_what_the_front_camera_sees():
    camera = Camera(0.0, 0.0, 4.0, 2.0)
    assert np.allclose(camera.position, [4, 0, 0])
    up, _ = camera.project(np.array([0.0, 0.0, 0.5]))
    assert up[1] < 0 == up[0]  # up is towards the top of the picture
    left, _ = camera.project(np.array([0.0, 0.5, 0.0]))
    assert left[0] > 0 == left[1]  # the object's left is right in the picture
    near, far = (camera.project(np.array([x, 0.0, 0.0]))[1] for x in (0.5, -0.5))
    assert near < far


def test_tensor_cameras_agree_with_the_dataclass():
    import torch

    from seed3d.geometry import cameras as cam

    camera = Camera(0.6, 0.4, 3.0, 2.5, 0.1, -0.2)
    points = np.random.default_rng(0).normal(size=(50, 3)) * 0.5
    ours = cam.project(cam.as_row(camera).double(), torch.from_numpy(points))[0].numpy()
    assert np.allclose(ours, camera.project(points)[0], atol=1e-6)
    assert cam.as_camera(cam.as_row(camera)[0]).distance == pytest.approx(3.0)


def test_srgb_round_trip_and_known_values():
    x = np.linspace(0, 1, 257)
    assert np.allclose(c.linear_to_srgb(c.srgb_to_linear(x)), x, atol=1e-6)
    assert c.srgb_to_linear(np.array(0.5)) == pytest.approx(0.21404, abs=1e-5)


def test_values_refuse_what_is_not_theirs():
    with pytest.raises(ValueError, match=r"mesh vertices: got \(4, 2\)"):
        Mesh(np.zeros((4, 2)), np.zeros((1, 3), int))
    with pytest.raises(ValueError, match="a face names vertex 3 of 3"):
        Mesh(np.zeros((3, 3)), np.array([[0, 1, 3]]))
    with pytest.raises(ValueError, match="mass_kg: got -1"):
        RigidBody(-1.0, np.zeros(3), np.eye(3), 0.5, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="wanted both > 0"):
        Camera(0, 0, 0, 1)
    assert not Verdict(()).passed  # no check is no pass
    assert Estimate(1.0, "user").low is None
