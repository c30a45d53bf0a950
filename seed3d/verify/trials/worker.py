"""All trials of one engine, in the worker's process; results are handed out as they come."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from seed3d.config import VerifyConfig
from seed3d.errors import InputError
from seed3d.types import Check
from seed3d.verify.drop import DropResult
from seed3d.verify.drop_checks import drop_checks
from seed3d.verify.folder import find_files
from seed3d.verify.model import FileModel
from seed3d.verify.target import Target
from seed3d.verify.trials.run import Log, run_trials
from seed3d.verify.trials.scene import Item, item_of

HIGH_DROP_M = 0.5
"""Height of the high drop [m]."""
Save = Callable[[dict[str, Any]], None]


def trials_pybullet(where: Path | Target, config: VerifyConfig, save: Save) -> dict[str, Any]:
    """Run every trial in PyBullet, on the URDF."""
    from seed3d.verify.drop_bullet import drop_bullet
    from seed3d.verify.read_urdf import read_urdf
    from seed3d.verify.trials.bullet import bullet_friction, bullet_scenes

    path = find_files(where)["urdf"]
    return _run(
        "pybullet", config, save, lambda: read_urdf(path), lambda: bullet_friction(path),
        lambda c: drop_bullet(path, c), lambda: bullet_scenes(path),
    )  # fmt: skip


def trials_mujoco(where: Path | Target, config: VerifyConfig, save: Save) -> dict[str, Any]:
    """Run every trial in MuJoCo, on the MJCF."""
    from seed3d.verify.drop_mujoco import drop_mujoco
    from seed3d.verify.read_mjcf import read_mjcf
    from seed3d.verify.trials.muj import MujocoScene, mujoco_friction

    path = find_files(where)["mjcf"]
    return _run(
        "mujoco", config, save, lambda: read_mjcf(path), lambda: mujoco_friction(path),
        lambda c: drop_mujoco(path, c),
        lambda: nullcontext(lambda layout: MujocoScene(path, layout)),
    )  # fmt: skip


def _run(
    engine: str, config: VerifyConfig, save: Save,
    read: Callable[[], FileModel], friction: Callable[[], float],
    drop: Callable[[VerifyConfig], DropResult], scenes: Callable[[], Any],
) -> dict[str, Any]:  # fmt: skip
    log = Log(engine)
    try:
        item = item_of(read(), friction())
        if item is None:
            log.skip("trials", "no mass or nothing that collides")
            return _plain(log, None)
        save(_plain(log, "drop from 0.5 m"))
        _high_drop(item, drop, config, log)
        with scenes() as open_scene:
            for name in run_trials(item, open_scene, log):
                save(_plain(log, name))
    except InputError as error:
        log.check("trials", False, str(error), "loads and runs")
    return _plain(log, None)


def _high_drop(
    item: Item, drop: Callable[[VerifyConfig], DropResult], config: VerifyConfig, log: Log
) -> None:
    """The drop of the quick verification, from HIGH_DROP_M."""
    share = HIGH_DROP_M / item.size_m
    result = drop(replace(config, drop_height=share, seconds=max(config.seconds, 6.0)))
    for check in drop_checks(result, None, item.support):
        if check.name in ("tilt", "drift"):
            continue
        # From high up an object may land on any side; that it comes to rest is demanded.
        log.checks.append(replace(check, name=f"drop from 0.5 m: {check.name}"))


def _plain(log: Log, at_work: str | None) -> dict[str, Any]:
    """Everything found so far, and the trial that runs now."""
    return {
        "checks": [vars(c) if isinstance(c, Check) else c for c in log.checks],
        "traces": [asdict(t) for t in log.traces],
        "places": [
            {
                "title": p.title,
                "engine": p.engine,
                "copies": [c.tolist() for c in p.copies],
                "balls": [[c.tolist(), r] for c, r in p.balls],
                "boxes": [[c.tolist(), h.tolist()] for c, h in p.boxes],
            }
            for p in log.places
        ],
        "numbers": log.numbers,
        "at_work": at_work,
        "drop": None,
        "support": None,
    }
