"""What a scene is made of. World frame: Z up, metres; the ground is the plane z = 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seed3d.conventions import R_CAMERA_NODE, camera_rotation
from seed3d.errors import InputError
from seed3d.types import Mesh

GROUND = "ground"
"""Name of the ground in relations and reports."""
_GROUND_HALF_M = 100.0


@dataclass(frozen=True)
class Pose:
    """Where a link frame stands: p_world = R p_link + position."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m]."""
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Unit, wxyz."""

    def __post_init__(self) -> None:
        values = (*self.position, *self.quaternion)
        if len(values) != 7 or not all(math.isfinite(v) for v in values):
            raise InputError(f"pose: got {values}; wanted 3 + 4 finite numbers (wxyz)")
        length = math.sqrt(sum(v * v for v in self.quaternion))
        if abs(length - 1.0) > 1e-3:
            raise InputError(f"pose: got a quaternion of length {length:.4g}; wanted 1 (wxyz)")

    @staticmethod
    def upright(x: float, y: float, z: float, yaw_rad: float = 0.0) -> Pose:
        """Return a pose turned only around Z."""
        half = yaw_rad / 2.0
        return Pose((float(x), float(y), float(z)), (math.cos(half), 0.0, 0.0, math.sin(half)))

    @staticmethod
    def of(position: np.ndarray, quaternion: np.ndarray) -> Pose:
        """Round to a nanometre, so that files hold the pose exactly as it's used."""
        q = np.asarray(quaternion, np.float64)
        q = q / np.linalg.norm(q)
        q = q if q[0] >= 0 else -q
        x, y, z = (round(float(v), 9) + 0.0 for v in position)
        a, b, c, d = (round(float(v), 9) + 0.0 for v in q)
        return Pose((x, y, z), (a, b, c, d))

    @property
    def rotation(self) -> np.ndarray:
        """R_world_link (3, 3)."""
        w, x, y, z = np.array(self.quaternion) / np.linalg.norm(self.quaternion)
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )

    @property
    def yaw_rad(self) -> float:
        """Direction of the link's X axis seen from above."""
        forward = self.rotation[:, 0]
        return math.atan2(forward[1], forward[0])

    def apply(self, points: np.ndarray) -> np.ndarray:
        """Link points (N, 3) to world."""
        return points @ self.rotation.T + np.array(self.position)

    def matrix(self) -> np.ndarray:
        """T_world_link (4, 4)."""
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = self.rotation, self.position
        return out


@dataclass(frozen=True)
class Item:
    """One instance of an asset."""

    name: str
    asset: str
    """Key in the scene's assets."""
    pose: Pose = Pose()
    fixed: bool = False


@dataclass(frozen=True)
class Block:
    """A fixed box: wall, table top, shelf board. It takes the friction of what touches it."""

    name: str
    size_m: tuple[float, float, float]
    pose: Pose = Pose()
    """Of its centre."""
    color: tuple[float, float, float] = (0.78, 0.76, 0.73)
    """sRGB in [0, 1]."""

    def __post_init__(self) -> None:
        if len(self.size_m) != 3 or not all(math.isfinite(v) and v > 0 for v in self.size_m):
            raise InputError(f"block {self.name!r}: got size {self.size_m}; wanted 3 numbers > 0")

    def mesh(self) -> Mesh:
        """The box in the world, 12 triangles."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        faces = np.array(
            [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
             [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
        )  # fmt: skip
        return Mesh(self.pose.apply(signs * np.array(self.size_m) / 2.0), faces)


@dataclass(frozen=True)
class Ground:
    """The plane z = 0. It takes the friction and restitution of what touches it."""

    color: tuple[float, float, float] = (0.83, 0.82, 0.8)
    """sRGB in [0, 1]."""

    def mesh(self) -> Mesh:
        """Two large triangles."""
        h = _GROUND_HALF_M
        corners = np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]], float)
        return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))


@dataclass(frozen=True)
class View:
    """A camera that looks at a point, without roll; square picture."""

    position: tuple[float, float, float]
    target: tuple[float, float, float]
    fov_rad: float = 0.7

    def __post_init__(self) -> None:
        distance = math.dist(self.position, self.target)
        if not (distance > 1e-6 and 0.01 < self.fov_rad < 3.0):
            raise InputError(
                f"camera: got position {self.position}, target {self.target}, angle of view "
                f"{self.fov_rad} rad; wanted two different points and 0.01 to 3 rad"
            )

    @property
    def azimuth_rad(self) -> float:
        """Where the camera stands round its target, as `Camera.azimuth_rad`."""
        back = np.array(self.position) - np.array(self.target)
        return math.atan2(back[1], back[0])

    @property
    def elevation_rad(self) -> float:
        """How far above its target's horizon it stands."""
        back = np.array(self.position) - np.array(self.target)
        return math.atan2(float(back[2]), math.hypot(back[0], back[1]))

    @property
    def node_rotation(self) -> np.ndarray:
        """R_world_node (3, 3) of the camera's node in files: X right, Y up, looks along -Z."""
        return node_rotation(self.azimuth_rad, self.elevation_rad)


def node_rotation(azimuth_rad: float, elevation_rad: float) -> np.ndarray:
    """Return R_world_node (3, 3) of a camera or light that comes from a direction, without roll."""
    return camera_rotation(azimuth_rad, elevation_rad).T @ R_CAMERA_NODE


def relation_yaw(degrees: float | None) -> float:
    """Degrees or None (0) to radians."""
    return math.radians(degrees or 0.0)
