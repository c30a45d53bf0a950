"""Relations to poses, from real geometry: support heights by ray casting, gaps between hulls."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seed3d.errors import StageError
from seed3d.render.raycast import Caster
from seed3d.scene.gaps import Gaps
from seed3d.scene.parts import GROUND, Block, Pose
from seed3d.scene.shapes import hull_mesh, item_mesh, merged
from seed3d.types import Mesh

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

CELLS = 20
"""Samples across the longer side of an object's footprint."""
CONTACT_M = 2e-3
"""Points of the underside this near to the support carry the object."""
TOUCH_M = 1e-4
"""Gap that is left between touching things, so that no engine starts with an overlap."""
SPOTS = 240
"""Most places that are tried."""
ENCLOSED = 0.6
"""Share of horizontal rays that must meet a container for a spot to be inside it."""
SIDES = {"front": 0.0, "left": math.pi / 2, "back": math.pi, "right": -math.pi / 2}
"""Direction of a side in the target's own frame [rad]."""


class Placer:
    """Finds a pose for one asset among the rest of a scene."""

    def __init__(self, scene: Scene, asset: str, label: str) -> None:
        """Prepare the geometry.

        Args:
            scene: Everything in it but `label` is an obstacle.
            asset: Key of the asset to place.
            label: Name of the item, for messages; left out of the obstacles.
        """
        self.scene, self.asset, self.label = scene, asset, label
        self.own = hull_mesh(scene.assets[asset])
        self.com = scene.assets[asset].body.com_m
        self.parts = {**scene_meshes(scene, label)}
        self.gaps = Gaps(scene, asset, label)
        self.world = Caster(merged(list(self.parts.values()))) if self.parts else None

    def on(
        self, target: str, at: tuple[float, float] | None, yaw: float | None, level: int | None,
        rng: np.random.Generator, inside: bool = False,
    ) -> Pose:  # fmt: skip
        """Return a pose on (or in) a target.

        Raises:
            StageError: No spot is large, high, stable and free enough; the message counts why.
        """
        caster = Caster(self.parts[target])
        why: Counter[str] = Counter()
        for x, y, turn in self._spots(target, at, yaw, rng, inside):
            pose = self._try(target, caster, x, y, turn, level, inside, why)
            if pose is not None:
                return pose
        word = "in" if inside else "on"
        size = self._posed(Pose.upright(0, 0, 0, yaw or 0.0)).extents
        causes = ", ".join(f"{n} {cause}" for cause, n in why.most_common())
        raise StageError(
            f"{self.label}: got no free spot {word} {target!r} for {size[0]:.3f} x {size[1]:.3f} x "
            f"{size[2]:.3f} m; {sum(why.values())} places tried: {causes}. Take a smaller object, "
            "another yaw, or clear the place"
        )

    def beside(self, target: str, side: str | float, gap: float, yaw: float | None) -> Pose:
        """Return a pose beside a target, `gap` metres away, on whatever is below there."""
        direction = SIDES[side] if isinstance(side, str) else math.radians(side)
        item = self.scene.items.get(target)
        holder = item or self.scene.blocks[target]
        angle = direction + holder.pose.yaw_rad
        turn = holder.pose.yaw_rad if yaw is None else yaw
        bounds = self.parts[target].bounds
        center, base = bounds.mean(axis=0), float(bounds[0, 2])
        heading = np.array([math.cos(angle), math.sin(angle)])
        if isinstance(holder, Block):  # a wall or a board: beside it on the floor
            base = float(bounds[0, 2])
        z = base
        for _ in range(3):  # the gap depends on the height, the height on the place
            pose = self._slide(target, center[:2], heading, z, turn, gap)
            below = self._rest(pose, base + float(self.parts[target].extents[2]) + 1e-3)
            if below is None:
                raise StageError(
                    f"{self.label}: got nothing to stand on beside {target!r} at "
                    f"({pose.position[0]:.2f}, {pose.position[1]:.2f}); choose another side"
                )
            if abs(below - z) < 1e-4:
                break
            z = below
        return self._free(replace(pose, position=(*pose.position[:2], z)))

    def against(self, target: str, at: tuple[float, float], gap: float, yaw: float | None) -> Pose:
        """Return a pose with the object's back to a target's surface, `gap` metres off it.

        The surface is the one that a horizontal ray from `at` towards the target's nearest
        point meets.
        """
        mesh = self.parts[target]
        low, high = mesh.bounds
        height = float(np.clip(0.5 * self.own.extents[2], low[2] + 1e-3, high[2] - 1e-3))
        start = np.array([*at, height])
        caster = Caster(mesh)
        nearest = caster.closest(start[None])[0][0].astype(np.float64)
        away = start[:2] - nearest[:2]
        if np.linalg.norm(away) < 1e-6:
            raise StageError(f"{self.label}: got the point {at} on {target!r}; give one before it")
        ray = np.array([*(nearest[:2] - start[:2]), 0.0])
        hit = caster.cast(start[None], ray[None])
        normal = caster.face_normals[hit.face[0]][:2] if hit.face[0] >= 0 else away
        normal = normal if normal @ away > 0 else -normal
        if np.linalg.norm(normal) < 0.3:
            normal = away
        normal = normal / np.linalg.norm(normal)
        turn = math.atan2(normal[1], normal[0]) if yaw is None else yaw
        z = 0.0
        for _ in range(3):
            pose = self._slide(target, nearest[:2], normal, z, turn, max(gap, TOUCH_M))
            below = self._rest(pose, float(high[2]) + float(self.own.extents[2]))
            z = 0.0 if below is None else below
        return self._free(replace(pose, position=(*pose.position[:2], z)))

    # -- pieces

    def _posed(self, pose: Pose) -> Mesh:
        return replace(self.own, vertices=pose.apply(self.own.vertices))

    def _spots(
        self, target: str, at: tuple[float, float] | None, yaw: float | None,
        rng: np.random.Generator, inside: bool,
    ) -> Iterator[tuple[float, float, float]]:  # fmt: skip
        """Places (x, y, yaw): the given one, else random ones; containers from the centre."""
        turns = [yaw] if yaw is not None else [k * math.pi / 4 for k in range(8)]
        if target == GROUND:
            others = [m.bounds for n, m in self.parts.items() if n != GROUND]
            low = np.min([b[0] for b in others], axis=0) - 0.3 if others else -np.ones(3)
            high = np.max([b[1] for b in others], axis=0) + 0.3 if others else np.ones(3)
            center = np.zeros(2)
        else:
            low, high = self.parts[target].bounds
            center = (low[:2] + high[:2]) / 2
        if at is not None:
            x, y = (float(at[0]), float(at[1])) if target == GROUND else center + np.array(at)
            yield from ((x, y, turn) for turn in turns)
            return
        if not inside:
            for _ in range(SPOTS):
                x, y = rng.uniform(low[:2], high[:2])
                yield x, y, turns[int(rng.integers(len(turns)))] if yaw is None else yaw
            return
        steps = int(math.sqrt(SPOTS / 2))
        grid = np.stack(
            np.meshgrid(*(np.linspace(low[k], high[k], steps + 2)[1:-1] for k in (0, 1))), -1
        ).reshape(-1, 2)
        order = np.argsort(np.linalg.norm(grid - center, axis=1), kind="stable")
        for x, y in grid[order]:
            for turn in turns if yaw is not None else turns[:4:2]:
                yield x, y, turn

    def _try(
        self, target: str, caster: Caster, x: float, y: float, turn: float, level: int | None,
        inside: bool, why: Counter[str],
    ) -> Pose | None:  # fmt: skip
        body = self._posed(Pose.upright(0.0, 0.0, 0.0, turn))
        offset = -(body.bounds[0] + body.bounds[1])[:2] / 2  # footprint centred on the spot
        height = float(body.extents[2])
        heights = upward_hits(caster, x, y)
        if not heights:
            why["beside it"] += 1
            return None
        chosen = heights if level is None else heights[level : level + 1]
        for z in chosen if inside else reversed(chosen):
            start = Pose.upright(x + offset[0], y + offset[1], z, turn)
            if inside and not self._enclosed(caster, x, y, z + min(0.25 * height, 0.02)):
                why["not enclosed"] += 1
                continue
            rest = self._settled(caster, start, z, height)
            if rest is None:
                why["unstable"] += 1
                continue
            pose = replace(start, position=(*start.position[:2], rest))
            touching = self.gaps.to_each(pose, 0.02)
            blocked = [n for n, gap in touching.items() if gap < -2e-4 and n != target]
            if blocked:
                why[f"taken by {blocked[0]}"] += 1
                continue
            if touching.get(target, 1.0) < -2e-3:
                why["too tight"] += 1
                continue
            return self._free(pose)
        return None

    def _settled(self, caster: Caster, start: Pose, z: float, height: float) -> float | None:
        """Height at which the object first touches the support below; None where it would tip."""
        body = self._posed(start)
        points, bottoms = underside(body)
        # From just over the level, so that a board above it doesn't count.
        top = z + max(0.35 * height, 5e-3)
        origins = np.column_stack([points, np.full(len(points), top)])
        hits = caster.cast(origins, np.tile([0.0, 0.0, -1.0], (len(points), 1)))
        support = np.where(np.isfinite(hits.distance), top - hits.distance, -np.inf)
        rise = support + start.position[2] - bottoms
        if not np.isfinite(rise).any():
            return None
        rest = float(rise.max())
        carried = points[rise >= rest - CONTACT_M]
        com = start.apply(self.com[None])[0, :2]
        return rest if _over(carried, com) else None

    def _enclosed(self, caster: Caster, x: float, y: float, z: float) -> bool:
        angle = np.arange(16) * (2 * np.pi / 16)
        rays = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(16)])
        hits = caster.cast(np.tile([x, y, z], (16, 1)), rays)
        return float(np.isfinite(hits.distance).mean()) >= ENCLOSED

    def _rest(self, pose: Pose, top: float) -> float | None:
        """Height at which the object rests on anything that is below `top` at its place."""
        if self.world is None:
            return None
        body = self._posed(replace(pose, position=(*pose.position[:2], 0.0)))
        points, bottoms = underside(body)
        origins = np.column_stack([points, np.full(len(points), top)])
        hits = self.world.cast(origins, np.tile([0.0, 0.0, -1.0], (len(points), 1)))
        rise = top - hits.distance - bottoms
        rise = rise[np.isfinite(rise)]
        return float(rise.max()) if len(rise) else None

    def _slide(
        self, target: str, start: np.ndarray, heading: np.ndarray, z: float, turn: float, gap: float
    ) -> Pose:
        """Move along `heading` until the gap to the target is as wanted (bisection)."""
        body = self._posed(Pose.upright(0, 0, 0, turn))
        offset = -(body.bounds[0] + body.bounds[1])[:2] / 2

        def at(way: float) -> Pose:
            x, y = start + way * heading + offset
            return Pose.upright(x, y, z + 1e-3, turn)

        reach = float(np.linalg.norm(self.parts[target].extents[:2]) + np.linalg.norm(body.extents))
        near, far = 0.0, min(reach + gap, 1e3)
        for _ in range(40):
            middle = (near + far) / 2
            distance = self.gaps.to_each(at(middle)).get(target, math.inf)
            near, far = (middle, far) if distance < gap else (near, middle)
        pose = at(far)
        return replace(pose, position=(*pose.position[:2], z))

    def _free(self, pose: Pose) -> Pose:
        """Lift by what still overlaps (sampling error, at most some mm); then it must be free."""
        for _ in range(12):
            gap = self.gaps.least(pose, 0.02)
            if gap >= TOUCH_M / 2:
                return Pose.of(np.array(pose.position), np.array(pose.quaternion))
            x, y, z = pose.position
            pose = replace(pose, position=(x, y, z + max(TOUCH_M - gap, TOUCH_M)))
        overlaps = {n: g for n, g in self.gaps.to_each(pose, 0.02).items() if g < 0}
        raise StageError(
            f"{self.label}: got an overlap with {', '.join(overlaps) or 'its support'} of "
            f"{-1e3 * min(overlaps.values(), default=0.0):.1f} mm where it should stand; wanted a "
            "free place. Choose another side, a larger gap or another spot"
        )


def scene_meshes(scene: Scene, without: str = "") -> dict[str, Mesh]:
    """Collision meshes in the world by name, the ground included."""
    meshes = {
        item.name: item_mesh(item, scene.assets[item.asset])
        for item in scene.items.values()
        if item.name != without
    }
    meshes.update({block.name: block.mesh() for block in scene.blocks.values()})
    if scene.ground is not None:
        meshes[GROUND] = scene.ground.mesh()
    return meshes


def upward_hits(caster: Caster, x: float, y: float) -> list[float]:
    """Heights of upward-facing surfaces with free space above, at one place, ascending [m]."""
    low, high = (float(v) for v in caster.mesh.bounds[:, 2])
    heights: list[float] = []
    start, end = high + 1e-2, low - 1e-2
    while start > end and len(heights) < 16:
        hit = caster.cast(np.array([[x, y, start]]), np.array([[0.0, 0.0, -1.0]]))
        if hit.face[0] < 0:
            break
        z = start - float(hit.distance[0])
        if caster.face_normals[hit.face[0], 2] > 0.5 and not any(
            abs(z - h) < 2e-3 for h in heights
        ):
            heights.append(z)
        start = z - 1e-4
    return sorted(h for h in heights if not caster.occluded(
        np.array([[x, y, h + 5e-4]]), np.array([[0.0, 0.0, 1.0]]), 4e-3)[0])  # fmt: skip


def underside(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Return points (N, 2) under a mesh and the height of its lowest surface there (N,)."""
    low, high = mesh.bounds
    step = float((high - low)[:2].max()) / CELLS
    grids = [np.arange(low[k] + step / 2, high[k], step) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*grids), -1).reshape(-1, 2)
    # The lowest corners too: a peg between samples carries as well.
    feet = mesh.vertices[mesh.vertices[:, 2] <= low[2] + 1e-3, :2]
    center = (low + high)[:2] / 2
    grid = np.concatenate([grid, center + (feet - center) * 0.999])
    origins = np.column_stack([grid, np.full(len(grid), low[2] - 1.0)])
    hits = Caster(mesh).cast(origins, np.tile([0.0, 0.0, 1.0], (len(grid), 1)))
    hit = np.isfinite(hits.distance)
    return grid[hit], (low[2] - 1.0 + hits.distance[hit]).astype(np.float64)


def _over(points: np.ndarray, com: np.ndarray) -> bool:
    """Whether a centre of mass stands over the support polygon of points (N, 2)."""
    from seed3d.verify.stability import support_margin

    flat = Mesh(np.column_stack([points, np.zeros(len(points))]), np.zeros((0, 3), np.int64))
    margin = support_margin([flat], np.array([*com, 1.0])).margin_m
    return len(points) >= 3 and margin > 0
