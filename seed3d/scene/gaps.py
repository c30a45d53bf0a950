"""Exact distances between convex hulls, by MuJoCo's collision functions (no time is stepped)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.export.principal import quaternion
from seed3d.scene.parts import GROUND, Pose
from seed3d.types import Primitive

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

FAR_M = 10.0
"""Distances are cut here [m]."""


def _geom(primitive: Primitive) -> dict[str, Any]:
    """Arguments of MuJoCo's add_geom."""
    import mujoco

    kinds = {"box": "BOX", "sphere": "SPHERE", "cylinder": "CYLINDER", "capsule": "CAPSULE"}
    size = primitive.size_m
    if primitive.kind == "box":
        own = [length / 2.0 for length in size]
    else:
        own = [size[0], *(length / 2.0 for length in size[1:])]
    return {
        "type": getattr(mujoco.mjtGeom, f"mjGEOM_{kinds[primitive.kind]}"),
        "size": [*own, 0.0, 0.0][:3],
        "pos": primitive.center_m,
        "quat": quaternion(primitive.rotation),
    }


class Gaps:
    """Signed distances between one movable asset and the rest of a scene."""

    def __init__(self, scene: Scene, asset: str, without: str = "") -> None:
        """Build the model.

        Args:
            scene: Its items and blocks stand where they are.
            asset: Key of the asset that moves.
            without: Name of an item to leave out: the one being moved.
        """
        import mujoco

        self._mujoco = mujoco
        spec = mujoco.MjSpec()
        used = {asset, *(i.asset for i in scene.items.values() if i.name != without)}
        for key in sorted(used):
            collision = scene.assets[key].collision
            for n, hull in enumerate(collision.hulls):
                if collision.primitive(n) is not None:
                    continue
                spec.add_mesh(
                    name=f"{key}/{n}",
                    uservert=hull.vertices.ravel().tolist(),
                    userface=hull.faces.ravel().tolist(),
                )
        owners: list[str] = []

        def add(body: Any, key: str, owner: str) -> None:
            collision = scene.assets[key].collision
            for n in range(len(collision.hulls)):
                primitive = collision.primitive(n)
                if primitive is None:
                    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"{key}/{n}")
                else:
                    body.add_geom(**_geom(primitive))
                owners.append(owner)

        mover = spec.worldbody.add_body(name="mover", mocap=True)
        bodies = []
        for item in scene.items.values():
            if item.name != without:
                body = spec.worldbody.add_body(pos=item.pose.position, quat=item.pose.quaternion)
                bodies.append((body, item.asset, item.name))
        # Geoms are numbered by body: the world's first, then the mover's, then the items'.
        for block in scene.blocks.values():
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, size=[s / 2 for s in block.size_m],
                pos=block.pose.position, quat=block.pose.quaternion,
            )  # fmt: skip
            owners.append(block.name)
        if scene.ground is not None:
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
            owners.append(GROUND)
        fixed = len(owners)
        add(mover, asset, "")
        self._movers = range(fixed, len(owners))
        for body, key, owner in bodies:
            add(body, key, owner)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._owners = np.array(owners, dtype=object)
        mujoco.mj_kinematics(self._model, self._data)
        self._radius = np.where(self._model.geom_rbound > 0, self._model.geom_rbound, np.inf)

    def to_each(self, pose: Pose, limit_m: float = FAR_M) -> dict[str, float]:
        """Return the signed distance [m] to everything nearer than `limit_m`; negative overlaps."""
        mujoco, model, data = self._mujoco, self._model, self._data
        data.mocap_pos[0], data.mocap_quat[0] = pose.position, pose.quaternion
        mujoco.mj_kinematics(model, data)
        found: dict[str, float] = {}
        for geom in range(len(self._owners)):
            owner = str(self._owners[geom])
            if geom in self._movers:
                continue
            apart = np.linalg.norm(
                data.geom_xpos[self._movers] - data.geom_xpos[geom], axis=1
            ) - (self._radius[self._movers] + self._radius[geom])  # fmt: skip
            for k, mine in enumerate(self._movers):
                if apart[k] > min(limit_m, found.get(owner, FAR_M)):
                    continue
                gap = mujoco.mj_geomDistance(model, data, mine, geom, limit_m, None)
                if gap < min(limit_m, found.get(owner, np.inf)):
                    found[owner] = float(gap)
        return found

    def least(self, pose: Pose, limit_m: float = FAR_M) -> float:
        """Return the smallest of `to_each`, `limit_m` where nothing is near."""
        return min(self.to_each(pose, limit_m).values(), default=limit_m)
