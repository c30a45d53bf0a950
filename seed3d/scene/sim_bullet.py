"""A scene in PyBullet, from the URDF files and scene.json, as load_pybullet.py loads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.scene.parts import Pose
from seed3d.scene.sim_mujoco import MujocoScene, corner_points
from seed3d.scene.urdf import LOADER_TEXT

TIMESTEP_S = 1.0 / 480.0


class BulletScene:
    """Implements `seed3d.scene.sim.SceneSim`."""

    def __init__(self, folder: Path, layout: dict[str, Any]) -> None:
        """Run the loader script's own `load`.

        Raises:
            InputError: PyBullet refuses a file.
        """
        import pybullet

        self._b = pybullet
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setPhysicsEngineParameter(
            enableFileCaching=0, deterministicOverlappingPairs=1, numSolverIterations=100,
            physicsClientId=self.client,
        )  # fmt: skip
        self.timestep_s = TIMESTEP_S
        pybullet.setTimeStep(TIMESTEP_S, physicsClientId=self.client)
        module: dict[str, Any] = {"__name__": "loader", "__file__": str(folder / "loader.py")}
        exec(compile(LOADER_TEXT, "load_pybullet.py", "exec"), module)  # the script users get
        try:
            bodies = module["load"](self.client, visual=False)
        except pybullet.error as error:
            raise InputError(f"PyBullet refuses the scene: {error}") from error
        self.exact = MujocoScene(folder, layout)
        self.name_of = {body: name for name, body in bodies.items()}
        self.names = [o["name"] for o in layout["objects"] if not o["fixed"]]
        self.bodies = [bodies[n] for n in self.names]
        self.inertial = []
        self.points, radius = [], []
        for name, body in zip(self.names, self.bodies, strict=True):
            info = pybullet.getDynamicsInfo(body, -1, physicsClientId=self.client)
            x, y, z, w = info[4]
            self.inertial.append(Pose(tuple(info[3]), (w, x, y, z)))
            key = next(o["asset"] for o in layout["objects"] if o["name"] == name)
            points = corner_points(folder, key)
            self.points.append(points)
            radius.append(float(np.linalg.norm(points - np.array(info[3]), axis=1).max()))
        self.radius = np.array(radius)

    def step(self) -> None:
        """Advance by one time step."""
        self._b.stepSimulation(physicsClientId=self.client)

    def poses(self) -> np.ndarray:
        """(N, 7) position and wxyz of the link frames."""
        return np.array([self._link(i) for i in range(len(self.bodies))]).reshape(-1, 7)

    def _link(self, index: int) -> np.ndarray:
        position, (x, y, z, w) = self._b.getBasePositionAndOrientation(
            self.bodies[index], physicsClientId=self.client
        )
        inertial = self.inertial[index]
        world = Pose(tuple(position), (w, x, y, z))
        rotation = world.rotation @ inertial.rotation.T
        origin = np.array(position) - rotation @ np.array(inertial.position)
        return np.concatenate([origin, _quaternion(rotation)])

    def velocities(self) -> np.ndarray:
        """(N, 2) linear and angular speed of the centres of mass."""
        rows = [self._b.getBaseVelocity(b, physicsClientId=self.client) for b in self.bodies]
        return np.linalg.norm(np.array(rows).reshape(-1, 2, 3), axis=2)

    def lowest(self) -> np.ndarray:
        """(N,) lowest hull vertex [m]."""
        out = []
        for points, row in zip(self.points, self.poses(), strict=True):
            pose = Pose(tuple(row[:3].tolist()), tuple(row[3:].tolist()))
            out.append(float((points @ pose.rotation[2]).min() + row[2]))
        return np.array(out)

    def contacts(self) -> list[tuple[str, str, float, float]]:
        """Touching pairs at the present poses.

        PyBullet pads hulls by 1 mm, and its own depths count from the padding. So depths are
        those of the exact bodies in MuJoCo's geometry; pairs that touch only in PyBullet get 0.
        """
        b, client = self._b, self.client
        b.performCollisionDetection(physicsClientId=client)
        found = []
        for point in b.getContactPoints(physicsClientId=client) or ():
            if point[8] < 1e-3:
                one, two = self.name_of[point[1]], self.name_of[point[2]]
                found.append((one, two, 0.0, abs(float(point[7][2]))))
        self.exact.put(self.poses())
        return found + self.exact.contacts()


def _quaternion(rotation: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat(canonical=True)
    return np.array([w, x, y, z])
