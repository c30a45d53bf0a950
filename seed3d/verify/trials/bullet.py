"""A trial's scene in PyBullet, from a URDF file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.verify.drop import GRAVITY
from seed3d.verify.drop_bullet import _pose
from seed3d.verify.trials.scene import BodyId, BodyState, Layout, Open, quaternion


@contextmanager
def bullet_scenes(path: Path) -> Iterator[Open]:
    """Yield what opens scenes of a URDF; the client ends with the context."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        yield lambda layout: BulletScene(client, path, layout)
    finally:
        pybullet.disconnect(client)


def bullet_friction(path: Path) -> float:
    """Return the lateral friction that PyBullet gives the URDF's root link.

    Raises:
        InputError: PyBullet refuses the file.
    """
    with bullet_scenes(path) as open_scene:
        scene = open_scene(Layout((np.eye(4),), floor=False))
        assert isinstance(scene, BulletScene)
        return scene.friction


class BulletScene:
    """See `seed3d.verify.trials.scene.Scene`. A new one replaces the client's last one."""

    engine = "pybullet"

    def __init__(self, client: int, path: Path, layout: Layout) -> None:
        import pybullet

        self.b, self.client, self.path = pybullet, client, path
        self.timestep_s = layout.timestep_s
        self.b.resetSimulation(physicsClientId=client)
        self.b.setPhysicsEngineParameter(
            enableFileCaching=0, deterministicOverlappingPairs=1, physicsClientId=client
        )
        self.b.setTimeStep(layout.timestep_s, physicsClientId=client)
        self.bodies: dict[BodyId, int] = {}
        self.weightless: list[tuple[BodyId, float]] = []
        if layout.floor:
            self._floor()
        for i, pose in enumerate(layout.copies):
            self.bodies["copy", i] = self._copy(pose, layout.fixed)
        for i, ball in enumerate(layout.balls):
            shape = self._shape(self.b.GEOM_SPHERE, radius=ball.radius_m)
            self.bodies["ball", i] = self._body(shape, ball.mass_kg, _moved(ball.center_m))
        for i, finger in enumerate(layout.fingers):
            shape = self._shape(self.b.GEOM_BOX, halfExtents=finger.half_m.tolist())
            self.bodies["finger", i] = self._body(shape, finger.mass_kg, finger.pose)
            self.weightless.append((("finger", i), finger.mass_kg))
        self.gravity(np.array([0.0, 0.0, -GRAVITY]))

    def _shape(self, kind: int, **options: Any) -> int:
        return self.b.createCollisionShape(kind, physicsClientId=self.client, **options)

    def _floor(self) -> None:
        floor = self.b.createMultiBody(
            0, self._shape(self.b.GEOM_PLANE, planeNormal=[0, 0, 1]), physicsClientId=self.client
        )
        # Coefficients of a pair are products: 1 leaves the object's own.
        self.b.changeDynamics(
            floor, -1, lateralFriction=1, restitution=1, physicsClientId=self.client
        )

    def _copy(self, pose: np.ndarray, fixed: bool) -> int:
        try:
            body = self.b.loadURDF(
                str(self.path), flags=self.b.URDF_USE_INERTIA_FROM_FILE, useFixedBase=fixed,
                physicsClientId=self.client,
            )  # fmt: skip
        except self.b.error as error:
            raise InputError(f"PyBullet refuses {self.path.name}: {error}") from error
        facts = self.b.getDynamicsInfo(body, -1, physicsClientId=self.client)
        self.inertial = _pose(facts[3], facts[4])
        self.friction = float(facts[1])
        self._place(body, pose @ self.inertial)
        links = range(self.b.getNumJoints(body, physicsClientId=self.client))
        for link in (-1, *links):
            self._undamp(body, link)
            if link >= 0:  # every joint starts with a motor that holds it
                self.b.setJointMotorControl2(
                    body, link, self.b.VELOCITY_CONTROL, force=0, physicsClientId=self.client
                )
        return body

    def _body(self, shape: int, mass_kg: float, pose: np.ndarray) -> int:
        body = self.b.createMultiBody(mass_kg, shape, physicsClientId=self.client)
        self._place(body, pose)
        self._undamp(body, -1, lateralFriction=1, rollingFriction=0, spinningFriction=0)
        return body

    def _undamp(self, body: int, link: int, **more: float) -> None:
        self.b.changeDynamics(
            body, link, linearDamping=0, angularDamping=0,
            activationState=self.b.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self.client, **more,
        )  # fmt: skip

    def _place(self, body: int, pose: np.ndarray) -> None:
        w, x, y, z = quaternion(pose[:3, :3])
        self.b.resetBasePositionAndOrientation(
            body, pose[:3, 3].tolist(), [x, y, z, w], physicsClientId=self.client
        )

    def gravity(self, vector: np.ndarray) -> None:
        """Set the gravity (3,) [m/s^2]."""
        self.g = np.asarray(vector, np.float64)
        self.b.setGravity(*self.g.tolist(), physicsClientId=self.client)

    def step(self) -> None:
        """Advance by one time step."""
        for body, mass in self.weightless:
            self.push(body, -mass * self.g)
        self.b.stepSimulation(physicsClientId=self.client)

    def state(self, body: BodyId) -> BodyState:
        """Measure a body."""
        number = self.bodies[body]
        place = self.b.getBasePositionAndOrientation(number, physicsClientId=self.client)
        velocity, spin = self.b.getBaseVelocity(number, physicsClientId=self.client)
        pose = _pose(*place)
        if body[0] == "copy":
            pose[:3, :3] = pose[:3, :3] @ self.inertial[:3, :3].T
        return BodyState(pose[:3, 3], pose[:3, :3], np.array(velocity), np.array(spin))

    def kinetic_j(self, body: BodyId) -> float:
        """Return the kinetic energy of a body [J]."""
        facts = self.b.getDynamicsInfo(self.bodies[body], -1, physicsClientId=self.client)
        state = self.state(body)
        axes = state.rotation @ (self.inertial[:3, :3] if body[0] == "copy" else np.eye(3))
        local = axes.T @ state.spin
        turning = float((np.array(facts[2]) * local**2).sum())
        return 0.5 * (facts[0] * float(state.velocity @ state.velocity) + turning)

    def set_velocity(self, body: BodyId, velocity: np.ndarray, spin: np.ndarray) -> None:
        """Set the velocity (3,) of the centre of mass and the spin (3,), world axes."""
        self.b.resetBaseVelocity(
            self.bodies[body], velocity.tolist(), spin.tolist(), physicsClientId=self.client
        )

    def push(self, body: BodyId, force: np.ndarray) -> None:
        """Apply a force (3,) [N] at the centre of mass during the next step."""
        number = self.bodies[body]
        place, _ = self.b.getBasePositionAndOrientation(number, physicsClientId=self.client)
        self.b.applyExternalForce(
            number, -1, force.tolist(), place, self.b.WORLD_FRAME, physicsClientId=self.client
        )


def _moved(center: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = center
    return pose
