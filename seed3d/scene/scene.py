"""`seed3d.Scene`: the one object a user holds. Every method changes it or reads from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError, near_miss
from seed3d.names import asset_name
from seed3d.render.lighting import Lighting
from seed3d.scene.parts import GROUND, Block, Ground, Item, Pose, View
from seed3d.types import Asset

_RESERVED = {GROUND, "World", "physics", "cameras", "lights", "world"}


class Scene:
    """Assets in one world: Z up, metres, ground at z = 0.

    >>> scene = Scene("desk", seed=0)
    >>> scene.add("out/desk", fixed=True)
    'desk'
    >>> scene.add("out/mug", on="desk")
    'mug'
    >>> scene.settle()["at_rest"]
    True
    >>> scene.save("out/scene")
    """

    def __init__(self, name: str = "scene", seed: int = 0, ground: bool = True) -> None:
        """Make an empty scene.

        Args:
            name: For the files' root elements.
            seed: Of every random place; the same calls with the same seed give the same bytes.
            ground: Whether there is a floor at z = 0.
        """
        self.name, self.seed = asset_name(name), seed
        self.ground: Ground | None = Ground() if ground else None
        self.assets: dict[str, Asset] = {}
        self.items: dict[str, Item] = {}
        self.blocks: dict[str, Block] = {}
        self.cameras: dict[str, View] = {}
        self.lighting = Lighting.studio()
        self.settled: dict[str, Any] | None = None
        self.notes: list[str] = []
        self.told_layout: dict[str, Any] | None = None
        self._known: dict[str, str] = {}
        self._draws = 0

    # -- building

    def add(  # noqa: D417 `how` is described
        self,
        asset: Asset | str | Path,
        name: str | None = None,
        *,
        position: Sequence[float] | None = None,
        yaw_deg: float | None = None,
        quaternion: Sequence[float] | None = None,
        fixed: bool = False,
        scale: float = 1.0,
        on: str | None = None,
        inside: str | None = None,
        beside: str | None = None,
        against: str | None = None,
        **how: Any,
    ) -> str:
        """Add an instance of an asset; equal assets share their files.

        Args:
            asset: An asset, its folder, or the key of one that the scene has.
            name: Of the instance; the asset's name where None, numbered where taken.
            position: Of the link frame (centre of the bottom) [m]; the origin where None.
            yaw_deg: Turn around Z; 0 faces +X.
            quaternion: Full rotation (wxyz) instead of a yaw.
            fixed: Part of the surroundings: it never moves.
            scale: Factor on its size, at the same density.
            on: Name to place it on, as `place`. Likewise `inside`, `beside`, `against`.
            how: Further arguments of `place`.

        Returns:
            The instance's name.

        Raises:
            InputError: No such asset folder, name or a broken pose.
            StageError: No free place.
        """
        relations = {"on": on, "inside": inside, "beside": beside, "against": against}
        relations = {word: target for word, target in relations.items() if target is not None}
        if (relations or how) and (position is not None or quaternion is not None):
            raise InputError("add: got a position and a relation; wanted one of them")
        if how and not relations:
            raise InputError(f"add: got {', '.join(how)} without on, inside, beside or against")
        key = self._asset_key(asset, scale)
        chosen = self._new_name(name or self.assets[key].name, exact=name is not None)
        pose = _pose((0.0, 0.0, 0.0) if position is None else position, yaw_deg, quaternion)
        self.items[chosen] = Item(chosen, key, pose, fixed)
        try:
            if relations:
                self.place(chosen, yaw_deg=yaw_deg, **relations, **how)
        except Exception:
            del self.items[chosen]  # a failed call leaves the scene as it was
            raise
        self._changed()
        return chosen

    def add_block(
        self, name: str, size: Sequence[float], position: Sequence[float], yaw_deg: float = 0.0,
        color: Sequence[float] = (0.78, 0.76, 0.73),
    ) -> str:  # fmt: skip
        """Add a fixed box: a wall, a table top, a shelf board.

        Args:
            name: Unique.
            size: Along its own x, y, z [m].
            position: Of its centre [m].
            yaw_deg: Turn around Z.
            color: sRGB in [0, 1].
        """
        chosen = self._new_name(name, exact=True)
        pose = _pose(position, yaw_deg, None)
        self.blocks[chosen] = Block(chosen, _three(size, "size"), pose, _three(color, "color"))
        self._changed()
        return chosen

    def add_walls(
        self, width: float, depth: float, height: float = 2.5, thickness: float = 0.1
    ) -> list[str]:
        """Add four walls round the origin: wall_front (+X), wall_left, wall_back, wall_right.

        Args:
            width: Inner size along Y [m].
            depth: Inner size along X [m].
            height: [m].
            thickness: [m].
        """
        t, z = thickness, height / 2
        return [
            self.add_block("wall_front", (t, width + 2 * t, height), (depth / 2 + t / 2, 0, z)),
            self.add_block("wall_left", (depth, t, height), (0, width / 2 + t / 2, z)),
            self.add_block("wall_back", (t, width + 2 * t, height), (-depth / 2 - t / 2, 0, z)),
            self.add_block("wall_right", (depth, t, height), (0, -width / 2 - t / 2, z)),
        ]

    def add_camera(
        self, name: str, position: Sequence[float], target: Sequence[float], fov_deg: float = 40.0
    ) -> None:
        """Add a camera that looks at a point; square picture, no roll."""
        self.cameras[asset_name(name)] = View(
            _three(position, "position"), _three(target, "target"), math.radians(fov_deg)
        )
        self._changed()

    # -- relations

    def place(
        self,
        name: str,
        *,
        on: str | None = None,
        inside: str | None = None,
        beside: str | None = None,
        against: str | None = None,
        at: Sequence[float] | None = None,
        level: int | None = None,
        side: str | float = "left",
        gap: float | None = None,
        yaw_deg: float | None = None,
    ) -> Pose:
        """Move an instance to where a relation holds, by the collision hulls' real geometry.

        Args:
            name: The instance to move; it stays upright.
            on: Stand on this: the highest surface there that carries it, or tier `level`
                (0 is the lowest) of a shelf. "ground" is the floor.
            inside: Stand inside this container: mug, box, drawer, shelf compartment.
            beside: Stand next to this, `gap` (0.02) metres from it, at `side`.
            against: Stand with the back to the face of this that looks at the point `at`
                (the origin where None), `gap` (0.1 mm) metres off: a cupboard at a wall.
            at: For on and inside: offset (x, y) from the target's centre [m], world axes; a
                seeded random free spot where None (inside: the one nearest to the centre).
            level: Tier for `on` and `inside`.
            side: front, left, back, right in the target's own frame, or an angle [deg].
            gap: [m].
            yaw_deg: Turn around Z; random (on), the target's (beside), back to the wall
                (against) where None.

        Returns:
            The new pose.

        Raises:
            InputError: Unknown name or side, or not exactly one relation.
            StageError: No free place, with the reasons counted.
        """
        from seed3d.scene.place import SIDES, Placer

        given = {"on": on, "inside": inside, "beside": beside, "against": against}
        given = {word: target for word, target in given.items() if target is not None}
        if len(given) != 1:
            raise InputError(f"place {name!r}: got {given or 'no relation'}; wanted one of on, "
                             "inside, beside, against")  # fmt: skip
        ((word, target),) = given.items()
        item = self._item(name)
        self._target(str(target), name)
        if isinstance(side, str) and side not in SIDES:
            raise InputError(f"place {name!r}: unknown side {side!r}.{near_miss(side, SIDES)}")
        spot = None if at is None else (float(at[0]), float(at[1]))
        yaw = None if yaw_deg is None else math.radians(yaw_deg)
        placer = Placer(self, item.asset, name)
        if word in ("on", "inside"):
            pose = placer.on(str(target), spot, yaw, level, self._rng(), word == "inside")
        elif word == "beside":
            pose = placer.beside(str(target), side, 0.02 if gap is None else gap, yaw)
        else:
            pose = placer.against(str(target), spot or (0.0, 0.0), gap or 0.0, yaw)
        self.items[name] = replace(item, pose=pose)
        self._changed()
        return pose

    def drop(
        self,
        assets: Iterable[Asset | str | Path],
        count: int,
        *,
        into: str | None = None,
        center: Sequence[float] = (0.0, 0.0),
        radius: float | None = None,
        upright: bool = False,
    ) -> list[str]:
        """Hang random instances in the air, apart from each other; `settle` lets them fall.

        Args:
            assets: What to draw from, evenly.
            count: Instances in all.
            into: Over this item or block (a tray, a box, a table); else over the ground.
            center: Middle of the region on the ground (x, y) [m].
            radius: Of the region [m]; by the number and size of the objects where None.
            upright: Turn them only around Z.

        Returns:
            The instances' names.
        """
        from seed3d.scene.clutter import drop_poses

        keys = [self._asset_key(a, 1.0) for a in assets]
        if not keys or count < 0:
            raise InputError(f"drop: got {len(keys)} assets, count {count}; wanted >= 1 and >= 0")
        rng = self._rng()
        drawn = [keys[int(k)] for k in rng.integers(len(keys), size=count)]
        poses = drop_poses(self, drawn, into, (center[0], center[1]), radius, upright, rng)
        names = []
        for key, pose in zip(drawn, poses, strict=True):
            chosen = self._new_name(self.assets[key].name, exact=False)
            self.items[chosen] = Item(chosen, key, pose)
            names.append(chosen)
        self._changed()
        return names

    # -- editing

    def move(
        self, name: str, position: Sequence[float] | None = None, *,
        by: Sequence[float] | None = None, yaw_deg: float | None = None,
        quaternion: Sequence[float] | None = None,
    ) -> Pose:  # fmt: skip
        """Move an instance to a position or by a step [m], and turn it."""
        item = self._item(name)
        start = item.pose.position if position is None else _three(position, "position")
        step = (0.0, 0.0, 0.0) if by is None else _three(by, "by")
        moved = (start[0] + step[0], start[1] + step[1], start[2] + step[2])
        turn = item.pose.quaternion
        if yaw_deg is not None or quaternion is not None:
            turn = _pose(moved, yaw_deg, quaternion).quaternion
        self.items[name] = replace(item, pose=Pose.of(np.array(moved), np.array(turn)))
        self._changed()
        return self.items[name].pose

    def remove(self, name: str) -> None:
        """Take an instance or a block away; assets without instances go too."""
        if name in self.blocks:
            del self.blocks[name]
        else:
            self._item(name)
            del self.items[name]
        self._prune()
        self._changed()

    def replace(self, name: str, asset: Asset | str | Path, scale: float = 1.0) -> None:
        """Put another asset where an instance stands, same name and pose."""
        item = self._item(name)
        self.items[name] = replace(item, asset=self._asset_key(asset, scale))
        self._prune()
        self._changed()

    def fix(self, name: str, fixed: bool = True) -> None:
        """Make an instance part of the surroundings, or let it move again."""
        self.items[name] = replace(self._item(name), fixed=fixed)
        self._changed()

    # -- physics

    def settle(self, engine: str = "mujoco", seconds: float = 10.0) -> dict[str, Any]:
        """Let everything come to rest and keep the poses.

        Args:
            engine: mujoco or pybullet.
            seconds: Longest simulated time [s]; it stops when nothing moves.

        Returns:
            at_rest, settle_s, penetration_mm, moved_mm by name, steps_per_s ...; kept without
            the times in `self.settled`.

        Raises:
            StageError: The engine refused the scene, or it flew apart (poses stay as they were).
        """
        from seed3d.errors import StageError
        from seed3d.scene.engines import run_engine

        result = run_engine(self, engine, seconds, stop_at_rest=True)
        if result["exploded"]:
            raise StageError(
                f"{self.name}: got a speed of {result['fastest_m_s']:.1f} m/s while settling in "
                f"{engine}; objects overlap at the start. See scene.check()"
            )
        for name, row in zip(result["names"], result["poses"], strict=True):
            pose = Pose.of(np.array(row[:3]), np.array(row[3:]))
            self.items[name] = replace(self.items[name], pose=pose)
        self.settled = {
            "engine": engine,
            **{k: result[k] for k in ("at_rest", "settle_s", "seconds", "penetration_mm")},
        }
        if not result["at_rest"]:
            self.settled["note"] = f"something still moves after {seconds:g} s (rolling, rocking)"
        return result

    def check(
        self, engines: Sequence[str] = ("mujoco", "pybullet"), seconds: float = 1.0
    ) -> dict[str, Any]:
        """Measure overlaps [mm], support and motion while the scene is held for some seconds.

        Returns:
            passed, and per engine: passed, problems in words, penetration_start_mm,
            penetration_end_mm, moved_mm (the farthest way of any object in that time), lowest_mm,
            fastest_m_s, fell_through, unsupported, exploded, supports (name to what it touches).
        """
        from seed3d.scene.engines import check

        return check(self, tuple(engines), seconds)

    # -- files and pictures

    def save(
        self, folder: str | Path, formats: Sequence[str] = ("mjcf", "urdf", "usd", "glb"),
        overview_size: int = 768, checks: dict[str, Any] | None = None,
    ) -> Path:  # fmt: skip
        """Write scene.json, scene.xml, scene.usda, scene.glb, load_pybullet.py, overview.png,
        report.json and the assets' folders. An older scene there is replaced as a whole.

        Args:
            folder: New, empty, or an older scene's.
            formats: Of mjcf, urdf, usd, glb.
            overview_size: Side of the picture [pixel]; 0 writes none.
            checks: Result of `check`, for report.json.
        """  # noqa: D205
        from seed3d.scene.files import scene_files
        from seed3d.scene.write import write_scene

        return write_scene(scene_files(self, tuple(formats), overview_size, checks), Path(folder))

    @staticmethod
    def load(path: str | Path, config: Any = None) -> Scene:
        """Read a saved scene's folder, or a layout file (YAML, JSON; see `seed3d scene --help`).

        Args:
            path: Folder or file.
            config: Configuration for assets that a layout makes from images or meshes.

        Raises:
            InputError: Missing, broken, or an unknown key (with the near miss).
        """
        from seed3d.scene.layout import load_scene

        return load_scene(Path(path), config)

    def picture(self, size: int = 768, camera: str | None = None) -> np.ndarray:
        """Return a rendered picture (size, size, 3) uint8; of the whole scene without a camera."""
        from seed3d.scene.overview import overview

        if camera is not None and camera not in self.cameras:
            raise InputError(f"no camera {camera!r}.{near_miss(camera, self.cameras)}")
        return overview(self, size, self.cameras[camera] if camera else None)

    # -- pieces

    def _asset_key(self, asset: Asset | str | Path, scale: float) -> str:
        from seed3d.export.load import load
        from seed3d.scene.shapes import fingerprint, scaled

        if isinstance(asset, str) and asset in self.assets:
            asset = self.assets[asset]
        elif not isinstance(asset, Asset):
            if not Path(asset).is_dir():
                raise InputError(
                    f"{asset}: no such asset folder; wanted one that `seed3d generate` or "
                    f"`seed3d simready` wrote, or a key of {sorted(self.assets) or 'no assets'}"
                )
            asset = load(asset)
        asset = scaled(asset, scale)
        print_of = fingerprint(asset)
        if print_of not in self._known:
            taken = {key.lower() for key in self.assets}
            self._known[print_of] = key = _numbered(asset.name, taken)
            self.assets[key] = asset
        return self._known[print_of]

    def _new_name(self, text: str, exact: bool) -> str:
        name = asset_name(text)
        taken = {n.lower() for n in (*self.items, *self.blocks, *_RESERVED)}
        if exact and name.lower() in taken:
            raise InputError(f"the name {name!r} is taken; wanted another one")
        return _numbered(name, taken)

    def _item(self, name: str) -> Item:
        if name not in self.items:
            raise InputError(f"no object {name!r} in the scene.{near_miss(name, self.items)}")
        return self.items[name]

    def _target(self, target: str, name: str) -> None:
        known = [n for n in (*self.items, *self.blocks) if n != name]
        known += [GROUND] if self.ground is not None else []
        if target not in known:
            raise InputError(f"place {name!r}: no {target!r} to place it at."
                             f"{near_miss(target, known)}")  # fmt: skip

    def _rng(self) -> np.random.Generator:
        self._draws += 1
        return np.random.default_rng([self.seed, self._draws])

    def _prune(self) -> None:
        used = {item.asset for item in self.items.values()}
        self.assets = {key: a for key, a in self.assets.items() if key in used}
        self._known = {p: key for p, key in self._known.items() if key in used}

    def _changed(self) -> None:
        self.settled = None
        # In the order of scene.json, whose keys are sorted: a loaded scene gives the same bytes.
        self.assets = dict(sorted(self.assets.items()))
        self.blocks = dict(sorted(self.blocks.items()))
        self.cameras = dict(sorted(self.cameras.items()))


def _numbered(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate.lower() in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def _three(values: Sequence[float], what: str) -> tuple[float, float, float]:
    numbers = [float(v) for v in values]
    if len(numbers) != 3:
        raise InputError(f"{what}: got {list(values)}; wanted 3 numbers")
    return (numbers[0], numbers[1], numbers[2])


def _pose(
    position: Sequence[float], yaw_deg: float | None, quaternion: Sequence[float] | None
) -> Pose:
    where = _three(position, "position")
    if quaternion is None:
        pose = Pose.upright(*where, math.radians(yaw_deg or 0.0))
        return Pose.of(np.array(where), np.array(pose.quaternion))
    if yaw_deg is not None:
        raise InputError("got a yaw and a quaternion; wanted one of them")
    turn = [float(v) for v in quaternion]
    if len(turn) != 4:
        raise InputError(f"quaternion: got {turn}; wanted 4 numbers (wxyz)")
    Pose(where, (turn[0], turn[1], turn[2], turn[3]))  # checks the length
    return Pose.of(np.array(where), np.array(turn))


def asset_names(scene: Scene) -> Mapping[str, str]:
    """Key in the scene to the asset's own name (its files' stem)."""
    return {key: asset.name for key, asset in scene.assets.items()}
