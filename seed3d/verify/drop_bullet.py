"""The drop test in PyBullet, from the URDF file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import VerifyConfig
from seed3d.errors import InputError
from seed3d.verify.drop import GRAVITY, DropResult, State, simulate, timestep
from seed3d.verify.model import FileModel, MassProperties, combine
from seed3d.verify.read_urdf import read_urdf


def drop_bullet(path: Path, config: VerifyConfig, set_down: bool = False) -> DropResult:
    """Drop a URDF on a floor, or set it down there.

    The inertia comes from the file (PyBullet's default would take the bounding box's), and
    PyBullet's velocity damping, which no other engine has, is off.

    Raises:
        InputError: The file can't be read, PyBullet refuses it, or nothing in it collides.
    """
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        return simulate(_BulletSim(client, path, read_urdf(path, visual=False)), config, set_down)
    finally:
        pybullet.disconnect(client)


class _BulletSim:
    engine = "pybullet"

    def __init__(self, client: int, path: Path, model: FileModel) -> None:
        import pybullet

        self.client, self.bullet = client, pybullet
        if not model.hulls:
            raise InputError(f"{path.name}: got no collision geometry; wanted at least one hull")
        points = np.concatenate([h.mesh.vertices for h in model.hulls])
        self.size_m = float(np.ptp(points, axis=0).max())
        self.timestep_s = timestep(self.size_m)
        self._world(path)
        self.links = range(-1, pybullet.getNumJoints(self.body, physicsClientId=client))
        self._free_links()
        self._read_mass()
        self.vertices = self._link_vertices(model)

    def _world(self, path: Path) -> None:
        b, client = self.bullet, self.client
        b.setPhysicsEngineParameter(
            enableFileCaching=0, deterministicOverlappingPairs=1, physicsClientId=client
        )
        b.setGravity(0, 0, -GRAVITY, physicsClientId=client)
        b.setTimeStep(self.timestep_s, physicsClientId=client)
        shape = b.createCollisionShape(b.GEOM_PLANE, planeNormal=[0, 0, 1], physicsClientId=client)
        floor = b.createMultiBody(0, shape, physicsClientId=client)
        # Coefficients of a pair are products: 1 leaves the object's own.
        b.changeDynamics(floor, -1, lateralFriction=1, restitution=1, physicsClientId=client)
        try:
            self.body = b.loadURDF(
                str(path), flags=b.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client
            )
        except b.error as error:
            raise InputError(f"PyBullet refuses {path.name}: {error}") from error

    def _free_links(self) -> None:
        b = self.bullet
        for link in self.links:
            b.changeDynamics(
                self.body,
                link,
                linearDamping=0,
                angularDamping=0,
                activationState=b.ACTIVATION_STATE_DISABLE_SLEEPING,
                physicsClientId=self.client,
            )
            if link >= 0:  # every joint starts with a motor that holds it
                b.setJointMotorControl2(
                    self.body, link, b.VELOCITY_CONTROL, force=0, physicsClientId=self.client
                )

    def _read_mass(self) -> None:
        """Mass and inertia of each link as PyBullet holds them; the tensor in its own axes."""
        facts = [self._dynamics(link) for link in self.links]
        self.masses = np.array([f[0] for f in facts])
        self.moments = np.array([f[2] for f in facts])
        self.inertial = [_pose(f[3], f[4]) for f in facts]
        if len(facts) == 1:
            self.mass = self._link_mass(0).moved(self.inertial[0])
            return
        root = np.linalg.inv(self._root_pose())
        self.mass = combine([self._link_mass(i).moved(root @ p) for i, p in self._com_poses()])

    def _link_mass(self, index: int) -> MassProperties:
        return MassProperties(float(self.masses[index]), np.zeros(3), np.diag(self.moments[index]))

    def _dynamics(self, link: int) -> Any:
        return self.bullet.getDynamicsInfo(self.body, link, physicsClientId=self.client)

    def _com_poses(self) -> list[tuple[int, np.ndarray]]:
        """World from inertial frame (4, 4) of every link, by position in `links`."""
        b, client = self.bullet, self.client
        poses = [(0, _pose(*b.getBasePositionAndOrientation(self.body, physicsClientId=client)))]
        for index, link in enumerate(self.links[1:], start=1):
            state = b.getLinkState(
                self.body, link, computeForwardKinematics=1, physicsClientId=client
            )
            poses.append((index, _pose(state[0], state[1])))
        return poses

    def _root_pose(self) -> np.ndarray:
        return self._com_poses()[0][1] @ np.linalg.inv(self.inertial[0])

    def _link_vertices(self, model: FileModel) -> list[tuple[int, np.ndarray]]:
        """Collision vertices of each link in its inertial frame."""
        b, client = self.bullet, self.client
        names = [b.getBodyInfo(self.body, physicsClientId=client)[0].decode()]
        names += [
            b.getJointInfo(self.body, link, physicsClientId=client)[12].decode()
            for link in self.links[1:]
        ]
        found = []
        for index, name in enumerate(names):
            hulls = [h.mesh.vertices for h in model.hulls if h.link == name]
            if hulls:
                back = np.linalg.inv(model.link_pose[name] @ self.inertial[index])
                points = np.concatenate(hulls)
                found.append((index, points @ back[:3, :3].T + back[:3, 3]))
        return found

    def lift(self, height_m: float) -> None:
        b, client = self.bullet, self.client
        position, turn = b.getBasePositionAndOrientation(self.body, physicsClientId=client)
        rise = height_m - self.state().lowest_m
        moved = [position[0], position[1], position[2] + rise]
        b.resetBasePositionAndOrientation(self.body, moved, turn, physicsClientId=client)
        b.resetBaseVelocity(self.body, [0, 0, 0], [0, 0, 0], physicsClientId=client)

    def step(self) -> None:
        self.bullet.stepSimulation(physicsClientId=self.client)

    def state(self) -> State:
        poses = dict(self._com_poses())
        velocity, spin = self._velocities()
        total = max(float(self.masses.sum()), 1e-300)
        com = sum((m * poses[i][:3, 3] for i, m in enumerate(self.masses)), np.zeros(3)) / total
        local = np.stack([poses[i][:3, :3].T @ spin[i] for i in range(len(spin))])
        kinetic = 0.5 * float((self.masses * (velocity**2).sum(1)).sum())
        kinetic += 0.5 * float((self.moments * local**2).sum())
        lowest = min(float((v @ poses[i][2, :3]).min() + poses[i][2, 3]) for i, v in self.vertices)
        root = poses[0] @ np.linalg.inv(self.inertial[0])
        return State(
            lowest_m=lowest,
            com_m=com,
            speed=float(np.linalg.norm(self.masses @ velocity / total)),
            spin=float(np.linalg.norm(spin, axis=1).max()),
            kinetic_j=kinetic,
            up=root[:3, 2].copy(),
        )

    def _velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular velocity (L, 3) of every link's centre of mass, world axes."""
        b, client = self.bullet, self.client
        rows = [b.getBaseVelocity(self.body, physicsClientId=client)]
        for link in self.links[1:]:
            state = b.getLinkState(self.body, link, computeLinkVelocity=1, physicsClientId=client)
            rows.append((state[6], state[7]))
        return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


def _pose(position: Any, xyzw: Any) -> np.ndarray:
    """Pose (4, 4) of a position and PyBullet's quaternion (x, y, z, w)."""
    x, y, z, w = xyzw
    pose = np.eye(4)
    pose[0, :3] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    pose[1, :3] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    pose[2, :3] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
    pose[:3, 3] = position
    return pose
