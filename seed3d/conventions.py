"""Frames and units, written once. The only module that flips axes.

| frame | axes | unit |
|---|---|---|
| world, asset link | Z up, X forward (the front of an object faces +X), Y left; right-handed | metre |
| canonical | as world; bounding box centred at the origin, longest side = 2 * CANONICAL_HALF | unitless |
| camera | X right, Y down, Z into the scene (OpenCV) | as the scene |
| camera node, light node (files) | X right, Y up, -Z into the scene (OpenGL) | metre |
| crop | u right, v down, both in [-1, 1] over a square image; origin at its centre | unitless |
| image | origin at the top-left corner; pixel (row, column); centre of pixel i at i + 0.5 | pixel |
| UV | u right, v up, origin at the bottom-left corner of the texture (OBJ, USD, trimesh). glTF has v down | unitless |
| GLB file | Y up, Z forward (+Z is the front), X left | metre |

An asset's origin is the centre of the bottom face of its bounding box, so that placed at
z = 0 it stands on the ground. Angles are radians, mass is kilogram, quaternions are wxyz.
Transforms are named by direction: ``T_world_camera`` takes camera coordinates to world.
"""

from __future__ import annotations

import numpy as np

CANONICAL_HALF = 0.95
"""Half of the longest side of an object in the canonical frame (the cube is [-1, 1])."""

# Columns are the images of the source axes: p_target = R p_source.
R_GLTF_WORLD = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""World (Z up, X forward) to glTF (Y up, Z forward): x_g = y_w, y_g = z_w, z_g = x_w."""

R_WORLD_GLTF = R_GLTF_WORLD.T

R_CAMERA_NODE = np.diag([1.0, -1.0, -1.0])
"""Camera or light node of glTF, USD and MuJoCo (X right, Y up, looks along -Z) to camera frame."""


def up_axis_rotation(up: str) -> np.ndarray:
    """Return the (3, 3) rotation that takes a mesh whose up axis is `up` to the world frame.

    Args:
        up: ``"y"`` (glTF, most OBJ: Y up, front +Z) or ``"z"`` (already the world frame).

    Raises:
        ValueError: `up` is neither.
    """
    if up == "y":
        return R_WORLD_GLTF
    if up == "z":
        return np.eye(3)
    raise ValueError(f"up axis is {up!r}; wanted 'y' or 'z'")


def camera_rotation(azimuth_rad: float, elevation_rad: float) -> np.ndarray:
    """Return R_camera_world (3, 3) of a camera on a sphere that looks at the origin.

    Azimuth 0 looks at the front (the camera is on +X); it grows counter-clockwise seen from
    above (towards +Y). Elevation grows upwards. No roll.
    """
    ca, sa = np.cos(azimuth_rad), np.sin(azimuth_rad)
    ce, se = np.cos(elevation_rad), np.sin(elevation_rad)
    back = np.array([ce * ca, ce * sa, se])  # from the origin to the camera
    right = np.array([-sa, ca, 0.0])
    down = np.cross(-back, right)  # z_cam x x_cam = y_cam
    return np.stack([right, down, -back])


def pixel_centers(size: int) -> np.ndarray:
    """Return the crop coordinates (size,) in [-1, 1] of the pixel centres of a row or column."""
    return (np.arange(size) + 0.5) / size * 2.0 - 1.0


def srgb_to_linear(value: np.ndarray) -> np.ndarray:
    """SRGB in [0, 1] to linear light (IEC 61966-2-1)."""
    value = np.asarray(value)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(value: np.ndarray) -> np.ndarray:
    """Linear light in [0, 1] to sRGB (IEC 61966-2-1)."""
    value = np.clip(value, 0.0, None)
    return np.where(value <= 0.0031308, value * 12.92, 1.055 * value ** (1 / 2.4) - 0.055)
