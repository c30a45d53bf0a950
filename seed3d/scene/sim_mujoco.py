"""A scene in MuJoCo, from scene.xml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.scene.mjcf import asset_folder


def corner_points(folder: Path, key: str) -> np.ndarray:
    """Corners (N, 3) of an asset's collision bodies, link frame [m]."""
    path = folder / asset_folder(key) / "points.json"
    return np.array(json.loads(path.read_text(encoding="utf-8")), np.float64)


class MujocoScene:
    """Implements `seed3d.scene.sim.SceneSim`."""

    def __init__(self, folder: Path, layout: dict[str, Any]) -> None:
        """Load scene.xml.

        Raises:
            InputError: MuJoCo refuses it.
        """
        import mujoco

        self._mj = mujoco
        try:
            self.model = mujoco.MjModel.from_xml_path(str(folder / "scene.xml"))
        except (ValueError, mujoco.FatalError) as error:
            raise InputError(f"MuJoCo refuses scene.xml: {' '.join(str(error).split())}") from error
        # Else a scene that blows up is silently put back to its start.
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.timestep_s = float(self.model.opt.timestep)
        self.names = [o["name"] for o in layout["objects"] if not o["fixed"]]
        self.bodies = np.array([self.model.body(n).id for n in self.names], int)
        joints = self.model.body_jntadr[self.bodies]
        self.qpos = self.model.jnt_qposadr[joints][:, None] + np.arange(7)
        self.qvel = self.model.jnt_dofadr[joints][:, None] + np.arange(6)
        keys = {o["name"]: o["asset"] for o in layout["objects"]}
        self.points = [corner_points(folder, keys[n]) for n in self.names]
        com = self.model.body_ipos[self.bodies]
        self.radius = np.array(
            [np.linalg.norm(p - c, axis=1).max() for p, c in zip(self.points, com, strict=True)]
        )
        self.owner = [self._owner(g) for g in range(self.model.ngeom)]

    def _owner(self, geom: int) -> str:
        body = int(self.model.geom_bodyid[geom])
        return self.model.geom(geom).name if body == 0 else self.model.body(body).name

    def put(self, poses: np.ndarray) -> None:
        """Set the poses (N, 7) of the dynamic items."""
        self.data.qpos[self.qpos] = poses

    def step(self) -> None:
        """Advance by one time step."""
        self._mj.mj_step(self.model, self.data)

    def poses(self) -> np.ndarray:
        """(N, 7) position and wxyz."""
        return self.data.qpos[self.qpos].reshape(-1, 7).copy()

    def velocities(self) -> np.ndarray:
        """(N, 2) linear (of the link frame's origin) and angular speed."""
        v = self.data.qvel[self.qvel].reshape(-1, 6)
        return np.stack([np.linalg.norm(v[:, :3], axis=1), np.linalg.norm(v[:, 3:], axis=1)], 1)

    def lowest(self) -> np.ndarray:
        """(N,) lowest hull vertex [m]."""
        self._mj.mj_kinematics(self.model, self.data)
        rows = self.data.xmat[self.bodies].reshape(-1, 3, 3)[:, 2]
        z = self.data.xpos[self.bodies, 2]
        return np.array(
            [(p @ r).min() + h for p, r, h in zip(self.points, rows, z, strict=True)], float
        )

    def contacts(self) -> list[tuple[str, str, float, float]]:
        """Touching pairs of different owners at the present poses."""
        self._mj.mj_forward(self.model, self.data)
        found = []
        for index in range(self.data.ncon):
            contact = self.data.contact[index]
            a, b = self.owner[contact.geom1], self.owner[contact.geom2]
            found.append((a, b, -float(contact.dist), abs(float(contact.frame[2]))))
        return found
