"""The drop test in MuJoCo, from the MJCF file; and MuJoCo's view of the URDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import VerifyConfig
from seed3d.errors import InputError
from seed3d.verify.drop import GRAVITY, DropResult, State, simulate, timestep
from seed3d.verify.model import MassProperties, combine
from seed3d.verify.read_mjcf import body_mass, geom_mesh

_FLOOR = "seed3d_verify_floor"


def drop_mujoco(path: Path, config: VerifyConfig, set_down: bool = False) -> DropResult:
    """Drop the first body of an MJCF file on a floor, or set it down there.

    The file's own contact parameters rule: the floor yields to them. Geoms that the file puts
    on the world body (a floor of its own) are left out. A body without a joint gets a free one.

    Raises:
        InputError: MuJoCo refuses the model, or the body is fixed to the world by a joint.
    """
    return simulate(_MujocoSim(path), config, set_down)


def loaded_from_urdf(path: Path) -> MassProperties:
    """Return what MuJoCo reads from a URDF, as one free body, in the root link's frame.

    MuJoCo welds a root link without a joint to the world and then drops its mass in silence;
    the free joint makes it look at the inertia.

    Raises:
        InputError: MuJoCo refuses the file.
    """
    spec = free_spec(path)
    spec.compiler.fusestatic = False
    model = compiled(spec, path)
    sim = _Bodies(model, path)
    if sim.mass is None:
        raise InputError(f"{path.name}: MuJoCo reads no mass from it")
    return sim.mass


def free_spec(path: Path) -> Any:
    """Return the mujoco.MjSpec of a file without the world's geoms, its first body free.

    Raises:
        InputError: MuJoCo refuses the file, or a joint holds the body.
    """
    import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise InputError(f"MuJoCo refuses {path.name}: {' '.join(str(error).split())}") from error
    for geom in list(spec.worldbody.geoms):
        spec.delete(geom)
    roots = list(spec.worldbody.bodies)
    if not roots:
        raise InputError(f"{path.name}: got no body to drop; wanted one")
    joints = list(roots[0].joints)
    if not joints:
        roots[0].add_freejoint()
    elif joints[0].type != mujoco.mjtJoint.mjJNT_FREE:
        raise InputError(f"{path.name}: its first body is held by a joint; wanted a free one")
    return spec


def compiled(spec: Any, path: Path) -> Any:
    """Return the mujoco.MjModel of a mujoco.MjSpec.

    Raises:
        InputError: MuJoCo refuses it.
    """
    import mujoco

    try:
        return spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise InputError(f"MuJoCo refuses {path.name}: {' '.join(str(error).split())}") from error


class _Bodies:
    """A compiled model, its first body's tree and their collision vertices."""

    def __init__(self, model: Any, path: Path) -> None:
        import mujoco

        self.model, self.data = model, mujoco.MjData(model)
        mujoco.mj_forward(model, self.data)
        self.root = 1
        self.members = np.flatnonzero(model.body_rootid == self.root)
        self.vertices: list[tuple[int, np.ndarray]] = []
        for geom in np.flatnonzero(np.isin(model.geom_bodyid, self.members)):
            if model.geom_contype[geom] or model.geom_conaffinity[geom]:
                points = geom_mesh(model, int(geom), path).vertices
                self.vertices.append((int(geom), points))
        self.mass = self._mass()

    def _mass(self) -> MassProperties | None:
        pose = np.eye(4)
        pose[:3, :3] = self.data.xmat[self.root].reshape(3, 3)
        pose[:3, 3] = self.data.xpos[self.root]
        back = np.linalg.inv(pose)
        heavy = [b for b in self.members if self.model.body_mass[b] > 0]
        return combine([body_mass(self.model, self.data, int(b)).moved(back) for b in heavy])

    def points(self) -> np.ndarray:
        """Collision vertices (N, 3) in the world [m]."""
        data = self.data
        parts = [
            v @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g] for g, v in self.vertices
        ]
        return np.concatenate(parts)


class _MujocoSim(_Bodies):
    engine = "mujoco"

    def __init__(self, path: Path) -> None:
        import mujoco

        spec = free_spec(path)
        floor = spec.worldbody.add_geom(
            name=_FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1]
        )
        floor.friction = [1e-5, 1e-5, 1e-5]  # the larger of two frictions holds in a contact
        floor.solmix, floor.condim = 0.0, 1  # the object's solver parameters alone
        floor.contype = floor.conaffinity = 0x7FFFFFFF  # whatever the object collides with
        spec.option.gravity = [0, 0, -GRAVITY]
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        own_step = float(spec.option.timestep)
        super().__init__(compiled(spec, path), path)
        if not self.vertices:
            raise InputError(f"{path.name}: got no geom that collides; wanted one")
        self.size_m = float(np.ptp(self.points(), axis=0).max())
        self.timestep_s = min(timestep(self.size_m), own_step)
        self.model.opt.timestep = self.timestep_s

    def lift(self, height_m: float) -> None:
        import mujoco

        address = int(self.model.jnt_qposadr[self.model.body_jntadr[self.root]])
        self.data.qpos[address + 2] += height_m - float(self.points()[:, 2].min())
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)

    def step(self) -> None:
        import mujoco

        mujoco.mj_step(self.model, self.data)
        # mj_step leaves poses and energy of the step's start behind; measure at its end.
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)
        mujoco.mj_subtreeVel(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)

    def state(self) -> State:
        data = self.data
        return State(
            lowest_m=float(self.points()[:, 2].min()),
            com_m=data.subtree_com[self.root].copy(),
            speed=float(np.linalg.norm(data.subtree_linvel[self.root])),
            spin=float(np.linalg.norm(data.cvel[self.members, :3], axis=1).max()),
            kinetic_j=float(data.energy[1]),
            up=data.xmat[self.root].reshape(3, 3)[:, 2].copy(),
        )
