"""What a trial needs of a physics engine: a described scene, and handles to its bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from seed3d.types import Mesh
from seed3d.verify.model import FileModel, MassProperties
from seed3d.verify.stability import Support, support_margin

Kind = Literal["copy", "ball", "finger"]
BodyId = tuple[Kind, int]
"""Which body of a layout: ("copy", 0) is the first copy of the object."""


@dataclass(frozen=True)
class Ball:
    """A solid ball; its contacts take the object's friction."""

    radius_m: float
    mass_kg: float
    center_m: np.ndarray
    """(3,) world [m]."""


@dataclass(frozen=True)
class Finger:
    """A box that gravity leaves alone; its contacts take the object's friction."""

    half_m: np.ndarray
    """(3,) half sides [m]."""
    mass_kg: float
    pose: np.ndarray
    """(4, 4) world from box."""


@dataclass(frozen=True)
class Layout:
    """A scene, described for any engine. Gravity is -GRAVITY along z at first."""

    copies: tuple[np.ndarray, ...]
    """World from root link, (4, 4), of every copy of the object."""
    fixed: bool = False
    """The copies don't move."""
    balls: tuple[Ball, ...] = ()
    fingers: tuple[Finger, ...] = ()
    floor: bool = True
    """A plane at z = 0 that takes the object's friction."""
    timestep_s: float = 1e-3


@dataclass(frozen=True)
class BodyState:
    """One body at one moment, world frame."""

    com_m: np.ndarray
    """(3,) centre of mass of the (root) link."""
    rotation: np.ndarray
    """(3, 3) world from (root) link."""
    velocity: np.ndarray
    """(3,) of the centre of mass [m/s]."""
    spin: np.ndarray
    """(3,) [rad/s]."""

    @property
    def finite(self) -> bool:
        """False once the simulation has blown up."""
        parts = (self.com_m, self.rotation, self.velocity, self.spin)
        return bool(all(np.isfinite(p).all() for p in parts))


class Scene(Protocol):
    """A layout in some engine."""

    engine: str
    timestep_s: float

    def gravity(self, vector: np.ndarray) -> None:
        """Set the gravity (3,) [m/s^2]."""

    def step(self) -> None:
        """Advance by one time step."""

    def state(self, body: BodyId) -> BodyState:
        """Measure a body."""
        ...

    def kinetic_j(self, body: BodyId) -> float:
        """Kinetic energy of a body [J]."""
        ...

    def set_velocity(self, body: BodyId, velocity: np.ndarray, spin: np.ndarray) -> None:
        """Set the velocity (3,) of the centre of mass and the spin (3,), world axes."""

    def push(self, body: BodyId, force: np.ndarray) -> None:
        """Apply a force (3,) [N] at the centre of mass during the next step."""


Open = Callable[[Layout], Scene]


@dataclass(frozen=True)
class Item:
    """The object under test, as one engine's file states it. Root link frame, metres."""

    hulls: tuple[Mesh, ...]
    visual: Mesh | None
    mass: MassProperties
    friction: float
    """Coulomb coefficient that the engine will use."""

    @property
    def bounds(self) -> np.ndarray:
        """(2, 3) of the collision hulls."""
        corners = np.concatenate([h.bounds for h in self.hulls])
        return np.stack([corners.min(axis=0), corners.max(axis=0)])

    @property
    def size_m(self) -> float:
        """Longest side of the collision hulls' bounding box."""
        return float(np.ptp(self.bounds, axis=0).max())

    @property
    def support(self) -> Support:
        """How it stands upright."""
        return support_margin(list(self.hulls), self.mass.com_m)

    def upright(self, height_m: float = 0.0) -> np.ndarray:
        """Pose (4, 4) upright, lowest collision vertex at a height."""
        return shift(0.0, 0.0, height_m - float(self.bounds[0, 2]))


def item_of(model: FileModel, friction: float) -> Item | None:
    """Return the object of a file, None where it can't move or touch anything."""
    if not model.hulls or model.mass is None or not model.mass.mass_kg > 0:
        return None
    return Item(tuple(h.mesh for h in model.hulls), model.visual, model.mass, friction)


def shift(x: float, y: float, z: float) -> np.ndarray:
    """Return the pose (4, 4) of a translation [m]."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """Return the unit quaternion (4,) wxyz of a rotation matrix (3, 3) (Shepperd 1978)."""
    r = rotation
    candidates = np.array(
        [
            [1 + r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], 1 + r[0, 0] - r[1, 1] - r[2, 2], r[1, 0] + r[0, 1], r[0, 2] + r[2, 0]],
            [r[0, 2] - r[2, 0], r[1, 0] + r[0, 1], 1 - r[0, 0] + r[1, 1] - r[2, 2], r[2, 1] + r[1, 2]],
            [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[2, 1] + r[1, 2], 1 - r[0, 0] - r[1, 1] + r[2, 2]],
        ]
    )  # fmt: skip
    best = candidates[int(np.argmax(np.diag(candidates)))]
    return best / np.linalg.norm(best)
