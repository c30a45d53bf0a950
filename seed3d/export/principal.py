"""Inertia tensor to principal moments and axes, in one stable order."""

from __future__ import annotations

import numpy as np


def principal_axes(inertia: np.ndarray) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """Return principal moments and the rotation from the principal frame to the link frame.

    Of the 24 right-handed choices the one nearest to the link's axes is taken, so a diagonal
    tensor gives the identity.

    Args:
        inertia: (3, 3) symmetric [kg m^2], about the centre of mass.

    Returns:
        moments (3,) [kg m^2] along the principal x, y, z; unit quaternion (w, x, y, z), w >= 0:
        inertia = R diag(moments) R^T.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.transform import Rotation

    if np.array_equal(inertia, np.diag(np.diag(inertia))):
        return np.diag(inertia).copy(), (1.0, 0.0, 0.0, 0.0)
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2.0)
    row, column = linear_sum_assignment(-np.abs(axes))
    moments, axes = moments[column[row]], axes[:, column[row]]
    axes = axes * np.where(np.diag(axes) < 0, -1.0, 1.0)
    if np.linalg.det(axes) < 0:
        axes[:, int(np.argmin(np.abs(np.diag(axes))))] *= -1.0
    x, y, z, w = Rotation.from_matrix(axes).as_quat(canonical=True).tolist()
    return moments, (w, x, y, z)


def quaternion(rotation: np.ndarray) -> tuple[float, float, float, float]:
    """Return a rotation (3, 3) as a unit quaternion (w, x, y, z), w >= 0."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat(canonical=True).tolist()
    return w, x, y, z


def roll_pitch_yaw(rotation: np.ndarray) -> tuple[float, float, float]:
    """Return a rotation (3, 3) as URDF's fixed-axis angles [rad]: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = float(np.arcsin(np.clip(-rotation[2, 0], -1.0, 1.0)))
    if abs(rotation[2, 0]) > 1.0 - 1e-12:  # gimbal lock: roll and yaw turn about one axis
        return 0.0, pitch, float(np.arctan2(-rotation[0, 1], rotation[1, 1]))
    roll = float(np.arctan2(rotation[2, 1], rotation[2, 2]))
    return roll, pitch, float(np.arctan2(rotation[1, 0], rotation[0, 0]))
