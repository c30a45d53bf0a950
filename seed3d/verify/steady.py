"""Does an object come to rest as users let it fall: from 5 cm, at the engines' usual time step?

What rolls, rocks or topples for longer may be true to its shape: a ball, a cradle. It is stated,
since a scene can't count on where such a thing ends, and fails only where the user demands rest.
MuJoCo must also end the same at a quarter of the step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from seed3d.errors import InputError
from seed3d.types import AT_REST, STEADY, Check
from seed3d.verify.drop import GRAVITY
from seed3d.verify.model import FileModel

DROP_M = 0.05
"""Height of the fall [m]."""
TIMESTEP_S = 0.002
"""[s]."""
FINER = 4
"""The other step of MuJoCo is this many times shorter."""
SECONDS = 3.0
"""Time to come to rest [s]."""
LAST_S = 0.25
"""The end of it, which is judged [s]."""
EVERY_S = 0.01
"""How often it is looked at [s]."""
SPEED = 0.05
"""Speed of a link's centre of mass above which the object still moves [m/s]."""
APART_M, APART_DEG = 0.1, 30.0
"""How far apart the ends at the two steps may be [m], [deg]."""
LEAST_SIZE_M = 0.01
"""Below this size lengths shrink with the object, times and speeds with the root of its size."""
STILL = 1e-4
"""Share of SPEED [m/s], and that many rad/s, under which an object for LAST_S stays so."""


@dataclass(frozen=True)
class Units:
    """Lengths and times of the fall against those of an object of at least LEAST_SIZE_M."""

    length: float
    time: float

    @staticmethod
    def of(size_m: float) -> Units:
        """Return the units for an object's longest side [m]."""
        share = min(1.0, size_m / LEAST_SIZE_M)
        return Units(share, float(np.sqrt(share)))


class Falling(Protocol):
    """An object over a floor in some engine, its lowest point at the height of the fall."""

    def advance(self, steps: int) -> None:
        """Advance by some time steps."""

    def motion(self) -> tuple[float, float]:
        """Largest speed of a link's centre of mass [m/s] and largest angular speed [rad/s].

        Not finite where the motion is lost.
        """
        ...

    def pose(self) -> np.ndarray:
        """(4, 4) world from the root link."""
        ...


@dataclass(frozen=True)
class Ended:
    """How a fall ended."""

    speed: float
    """Largest over the last LAST_S [m/s]."""
    pose: np.ndarray
    """(4, 4) world from the root link."""


def fall(sim: Falling, step_s: float, units: Units) -> Ended:
    """Let an object fall for SECONDS; one that lies still for LAST_S earlier is taken as it is."""
    steps, looks = round(EVERY_S * units.time / step_s), round(SECONDS / EVERY_S)
    judged = round(LAST_S / EVERY_S)
    slow, quiet = STILL * SPEED * units.length / units.time, 0
    last: deque[float] = deque(maxlen=judged)
    while looks > 0 and quiet < judged:
        sim.advance(steps)
        looks -= 1
        speed, spin = sim.motion()
        if not np.isfinite(speed + spin):
            return Ended(np.inf, sim.pose())
        last.append(speed)
        quiet = quiet + 1 if speed < slow and spin < STILL / units.time else 0
    return Ended(max(last), sim.pose())


def steady_bullet(path: Path, model: FileModel, demanded: bool) -> Check:
    """Let a URDF fall in PyBullet.

    Raises:
        InputError: PyBullet refuses the file.
    """
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        units = Units.of(_size(model))
        step_s = TIMESTEP_S * units.time
        ended = fall(_Bullet(client, path, step_s, DROP_M * units.length), step_s, units)
    finally:
        pybullet.disconnect(client)
    return _check("pybullet", [_moves(ended, "", units)], demanded)


def steady_mujoco(paths: Sequence[Path], read: FileModel, demanded: bool) -> Check:
    """Let each of some files of one object fall in MuJoCo, at both steps.

    Raises:
        InputError: MuJoCo refuses a file.
    """
    units = Units.of(_size(read))
    said = []
    for path in paths:
        where = f" ({path.suffix[1:].upper()})" if len(paths) > 1 else ""
        model, ends = _on_floor(path), []
        for finer in (1, FINER):
            step_s = TIMESTEP_S * units.time / finer
            ends.append(fall(_Mujoco(model, step_s, DROP_M * units.length), step_s, units))
        said += [_moves(ends[0], where, units), _apart(ends[0], ends[1], where, units)]
    return _check("mujoco", said, demanded)


def _size(model: FileModel) -> float:
    if not model.hulls:
        raise InputError("got no collision geometry; wanted at least one hull")
    points = np.concatenate([h.mesh.vertices for h in model.hulls])
    return float(np.ptp(points, axis=0).max())


def _moves(ended: Ended, where: str, units: Units) -> str:
    if ended.speed <= SPEED * units.length / units.time:
        return ""
    return f"still moves at {ended.speed:.2g} m/s{where}"


def _apart(coarse: Ended, fine: Ended, where: str, units: Units) -> str:
    gap = float(np.linalg.norm(coarse.pose[:3, 3] - fine.pose[:3, 3]))
    turn = coarse.pose[:3, :3].T @ fine.pose[:3, :3]
    angle = float(np.rad2deg(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1.0, 1.0))))
    if gap <= APART_M * units.length and angle <= APART_DEG:
        return ""
    return f"ends {100 * gap:.3g} cm, {angle:.3g} deg apart at a {FINER} times finer step{where}"


def _check(engine: str, said: list[str], demanded: bool) -> Check:
    found = "; ".join(s for s in said if s)
    wanted = f"at rest {SECONDS:g} s after a fall from {100 * DROP_M:g} cm"
    if not demanded:
        wanted = f"stated only (verify.steady demands it): {wanted}"
    return Check(STEADY, not (found and demanded), found or AT_REST, wanted, engine)


class _Bullet:
    def __init__(self, client: int, path: Path, step_s: float, height_m: float) -> None:
        import pybullet as b

        self.bullet, self.client = b, client
        b.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=client)
        flags = b.URDF_USE_INERTIA_FROM_FILE
        try:
            self.body = b.loadURDF(str(path), flags=flags, physicsClientId=client)
        except b.error as error:
            raise InputError(f"PyBullet refuses {path.name}: {error}") from error
        self.links = range(b.getNumJoints(self.body, physicsClientId=client))
        b.setTimeStep(step_s, physicsClientId=client)
        b.setGravity(0, 0, -GRAVITY, physicsClientId=client)
        half = [50, 50, 0.5]  # a floor as users take it, with the engine's own friction
        shape = b.createCollisionShape(b.GEOM_BOX, halfExtents=half, physicsClientId=client)
        b.createMultiBody(0, shape, basePosition=[0, 0, -0.5], physicsClientId=client)
        for link in (-1, *self.links):
            b.changeDynamics(self.body, link, linearDamping=0, angularDamping=0,
                             maxJointVelocity=1e4, physicsClientId=client)  # fmt: skip
            if link >= 0:
                b.setJointMotorControl2(
                    self.body, link, b.VELOCITY_CONTROL, force=0, physicsClientId=client
                )
        low = min(
            b.getAABB(self.body, link, physicsClientId=client)[0][2] for link in (-1, *self.links)
        )
        place, turn = b.getBasePositionAndOrientation(self.body, physicsClientId=client)
        raised = [place[0], place[1], place[2] + height_m - low]
        b.resetBasePositionAndOrientation(self.body, raised, turn, physicsClientId=client)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.bullet.stepSimulation(physicsClientId=self.client)

    def motion(self) -> tuple[float, float]:
        b, client = self.bullet, self.client
        rows = [b.getBaseVelocity(self.body, physicsClientId=client)]
        for link in self.links:
            state = b.getLinkState(self.body, link, computeLinkVelocity=1, physicsClientId=client)
            rows.append(state[6:8])
        speed, spin = np.linalg.norm(rows, axis=2).max(axis=0)
        return float(speed), float(spin)

    def pose(self) -> np.ndarray:
        b, client = self.bullet, self.client
        place, turn = b.getBasePositionAndOrientation(self.body, physicsClientId=client)
        pose = np.eye(4)
        pose[:3, :3] = np.reshape(b.getMatrixFromQuaternion(turn), (3, 3))
        pose[:3, 3] = place
        return pose


def _on_floor(path: Path) -> Any:
    """A mujoco.MjModel of the file over a floor as users take it, its first body free."""
    import mujoco

    from seed3d.verify.drop_mujoco import compiled, free_spec

    spec = free_spec(path)
    spec.compiler.fusestatic = False
    if path.suffix.lower() == ".urdf":
        spec.compiler.discardvisual = True  # visuals would collide
    spec.option.gravity = [0, 0, -GRAVITY]
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    floor.contype = floor.conaffinity = 0x3FFFFFFF
    return compiled(spec, path)


class _Mujoco:
    def __init__(self, model: Any, step_s: float, height_m: float) -> None:
        import mujoco

        model.opt.timestep = step_s
        self.mujoco, self.model, self.data = mujoco, model, mujoco.MjData(model)
        self.members = np.flatnonzero(model.body_rootid == 1)
        mujoco.mj_forward(model, self.data)
        address = int(model.jnt_qposadr[model.body_jntadr[1]])
        self.data.qpos[address + 2] += height_m - self._lowest()
        mujoco.mj_forward(model, self.data)

    def _lowest(self) -> float:
        """Height of the lowest bounding box of a geom that collides [m]."""
        model, data = self.model, self.data
        own = np.isin(model.geom_bodyid, self.members)
        geoms = np.flatnonzero(own & ((model.geom_contype > 0) | (model.geom_conaffinity > 0)))
        turn = data.geom_xmat[geoms].reshape(-1, 3, 3)[:, 2]  # (G, 3) rows of the vertical
        middle = data.geom_xpos[geoms, 2] + (turn * model.geom_aabb[geoms, :3]).sum(1)
        return float((middle - (np.abs(turn) * model.geom_aabb[geoms, 3:]).sum(1)).min())

    def advance(self, steps: int) -> None:
        self.mujoco.mj_step(self.model, self.data, nstep=steps)

    def motion(self) -> tuple[float, float]:
        rows = np.zeros((len(self.members), 6))  # angular first
        kind = self.mujoco.mjtObj.mjOBJ_BODY
        for row, body in zip(rows, self.members, strict=True):
            self.mujoco.mj_objectVelocity(self.model, self.data, kind, int(body), row, 0)
        if self.data.warning[int(self.mujoco.mjtWarning.mjWARN_BADQACC)].number:
            return np.inf, np.inf
        spin, speed = np.linalg.norm(rows.reshape(-1, 2, 3), axis=2).max(axis=0)
        return float(speed), float(spin)

    def pose(self) -> np.ndarray:
        self.mujoco.mj_kinematics(self.model, self.data)  # a step leaves its start's behind
        pose = np.eye(4)
        pose[:3, :3] = self.data.xmat[1].reshape(3, 3)
        pose[:3, 3] = self.data.xpos[1]
        return pose
