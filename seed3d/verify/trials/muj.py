"""A trial's scene in MuJoCo, from an MJCF file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.verify.drop import GRAVITY
from seed3d.verify.drop_mujoco import compiled, free_spec
from seed3d.verify.trials.scene import BodyId, BodyState, Layout, quaternion

_ALL = 0x7FFFFFFF  # collides with whatever the object collides with
_YIELDING = (1e-5, 1e-5, 1e-5)  # the larger of two frictions holds in a contact


def mujoco_friction(path: Path) -> float:
    """Return the least sliding friction of the geoms that collide.

    Raises:
        InputError: MuJoCo refuses the file, or nothing in it collides.
    """
    model = compiled(free_spec(path), path)
    colliding = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    if not colliding.any():
        raise InputError(f"{path.name}: got no geom that collides; wanted one")
    return float(model.geom_friction[colliding, 0].min())


class MujocoScene:
    """See `seed3d.verify.trials.scene.Scene`. The file's own solver options rule."""

    engine = "mujoco"

    def __init__(self, path: Path, layout: Layout) -> None:
        import mujoco

        self.m, self.path = mujoco, path
        spec = free_spec(path)
        parts: dict[BodyId, Any] = {("copy", 0): next(iter(spec.worldbody.bodies))}
        sources = []  # attached bodies live in their own specification until compiled
        for other in list(spec.worldbody.bodies)[1:]:
            spec.delete(other)
        for i in range(1, len(layout.copies)):
            frame = spec.worldbody.add_frame()
            child = free_spec(path)
            sources.append(child)
            root = next(iter(child.worldbody.bodies))
            parts["copy", i] = frame.attach_body(root, f"seed3d_{i}_", "")
        if layout.fixed:
            for i, pose in enumerate(layout.copies):
                self._fix(spec, parts["copy", i], pose)
        for i, ball in enumerate(layout.balls):
            moment = 0.4 * ball.mass_kg * ball.radius_m**2 * np.ones(3)
            body = self._body(spec, ball.center_m, np.array([1.0, 0, 0, 0]), ball.mass_kg, moment)
            size = [ball.radius_m, 0, 0]
            self._geom(body, mujoco.mjtGeom.mjGEOM_SPHERE, size)
            parts["ball", i] = body
        for i, finger in enumerate(layout.fingers):
            squares = finger.half_m**2
            moment = finger.mass_kg / 3.0 * (squares.sum() - squares)
            turn = quaternion(finger.pose[:3, :3])
            body = self._body(spec, finger.pose[:3, 3], turn, finger.mass_kg, moment)
            body.gravcomp = 1.0
            self._geom(body, mujoco.mjtGeom.mjGEOM_BOX, finger.half_m.tolist())
            parts["finger", i] = body
        if layout.floor:
            floor = self._geom(spec.worldbody, mujoco.mjtGeom.mjGEOM_PLANE, [0, 0, 1])
            floor.condim = 1
        self.timestep_s = min(layout.timestep_s, float(spec.option.timestep))
        self.model = compiled(spec, path)
        self.model.opt.timestep = self.timestep_s
        self.bodies = {key: int(part.id) for key, part in parts.items()}
        self.data = mujoco.MjData(self.model)
        if not layout.fixed:
            for i, pose in enumerate(layout.copies):
                self._place(("copy", i), pose)
        self.gravity(np.array([0.0, 0.0, -GRAVITY]))
        mujoco.mj_forward(self.model, self.data)

    def _fix(self, spec: Any, body: Any, pose: np.ndarray) -> None:
        for joint in list(body.joints):
            spec.delete(joint)
        body.alt.type = self.m.mjtOrientation.mjORIENTATION_QUAT
        body.pos, body.quat = pose[:3, 3], quaternion(pose[:3, :3])

    def _body(
        self, spec: Any, position: np.ndarray, wxyz: np.ndarray, mass_kg: float, moment: np.ndarray
    ) -> Any:
        # Mass and inertia are stated: a file may forbid taking them from geoms.
        body = spec.worldbody.add_body(
            pos=position,
            quat=wxyz,
            mass=mass_kg,
            inertia=moment,
            explicitinertial=True,
            ipos=[0, 0, 0],
            iquat=[1, 0, 0, 0],
        )
        body.add_freejoint()
        return body

    def _geom(self, body: Any, kind: Any, size: list[float]) -> Any:
        geom = body.add_geom(type=kind, size=size)
        geom.friction, geom.solmix = _YIELDING, 0.0  # the object's solver parameters alone
        geom.contype = geom.conaffinity = _ALL
        geom.group, geom.mass = 3, 0.0
        return geom

    def _place(self, body: BodyId, pose: np.ndarray) -> None:
        address = int(self.model.jnt_qposadr[self.model.body_jntadr[self.bodies[body]]])
        self.data.qpos[address : address + 3] = pose[:3, 3]
        self.data.qpos[address + 3 : address + 7] = quaternion(pose[:3, :3])

    def gravity(self, vector: np.ndarray) -> None:
        """Set the gravity (3,) [m/s^2]."""
        self.model.opt.gravity[:] = vector

    def step(self) -> None:
        """Advance by one time step."""
        self.m.mj_step(self.model, self.data)
        self.data.xfrc_applied[:] = 0.0
        # mj_step leaves the poses of the step's start behind; measure at its end.
        self.m.mj_kinematics(self.model, self.data)
        self.m.mj_comPos(self.model, self.data)
        self.m.mj_comVel(self.model, self.data)

    def state(self, body: BodyId) -> BodyState:
        """Measure a body."""
        number, data = self.bodies[body], self.data
        six = np.zeros(6)
        # Rotation first, then translation, at the body's centre of mass, world axes.
        self.m.mj_objectVelocity(self.model, data, self.m.mjtObj.mjOBJ_BODY, number, six, 0)
        return BodyState(
            data.xipos[number].copy(),
            data.xmat[number].reshape(3, 3).copy(),
            six[3:].copy(),
            six[:3].copy(),
        )

    def kinetic_j(self, body: BodyId) -> float:
        """Return the kinetic energy of a body [J]."""
        number, state = self.bodies[body], self.state(body)
        local = self.data.ximat[number].reshape(3, 3).T @ state.spin
        turning = float((self.model.body_inertia[number] * local**2).sum())
        mass = float(self.model.body_mass[number])
        return 0.5 * (mass * float(state.velocity @ state.velocity) + turning)

    def set_velocity(self, body: BodyId, velocity: np.ndarray, spin: np.ndarray) -> None:
        """Set the velocity (3,) of the centre of mass and the spin (3,), world axes."""
        number = self.bodies[body]
        rotation = self.data.xmat[number].reshape(3, 3)
        arm = self.data.xipos[number] - self.data.xpos[number]
        address = int(self.model.jnt_dofadr[self.model.body_jntadr[number]])
        # A free joint's velocity: of the link's origin in the world, spin in the link's axes.
        self.data.qvel[address : address + 3] = velocity - np.cross(spin, arm)
        self.data.qvel[address + 3 : address + 6] = rotation.T @ spin
        self.m.mj_comVel(self.model, self.data)

    def push(self, body: BodyId, force: np.ndarray) -> None:
        """Apply a force (3,) [N] at the centre of mass during the next step."""
        self.data.xfrc_applied[self.bodies[body], :3] = force
