"""Settle and check a scene: the engines run in processes of their own on the exported files."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seed3d.errors import ConfigError, StageError, near_miss
from seed3d.processes import ProcessTimeout, run_limited
from seed3d.scene.worker import MARK

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

ENGINES = ("mujoco", "pybullet")
CPU_LIMIT_S = 600.0
"""Longest processor time of one run [s]."""
PENETRATION_MM, THROUGH_MM, HOLD_MM = 1.0, 5.0, 5.0
"""Limits of `check`: overlap of two bodies, depth below the ground, motion while holding, each at
its worst moment (of the overlap: at the start and at the end)."""


def run_engine(scene: Scene, engine: str, seconds: float, stop_at_rest: bool) -> dict[str, Any]:
    """Simulate a scene.

    Args:
        scene: Any.
        engine: One of `ENGINES`.
        seconds: Longest simulated time [s].
        stop_at_rest: Stop when nothing moves.

    Returns:
        What `seed3d.scene.sim.simulate` measured, plus load_s.

    Raises:
        ConfigError: Unknown engine.
        StageError: The engine refused the scene, crashed or ran out of time.
    """
    from seed3d.export.write import write_files
    from seed3d.scene.files import physics_files

    if engine not in ENGINES:
        raise ConfigError(f"unknown engine {engine!r}.{near_miss(engine, ENGINES)}")
    with tempfile.TemporaryDirectory(prefix="seed3d-scene-") as temporary:
        folder = write_files(physics_files(scene), Path(temporary) / "scene")
        task = {"engine": engine, "folder": str(folder), "seconds": seconds,
                "stop_at_rest": stop_at_rest}  # fmt: skip
        command = [sys.executable, "-m", "seed3d.scene.worker"]
        try:
            done = run_limited(command, json.dumps(task).encode(), CPU_LIMIT_S)
        except ProcessTimeout as error:
            raise StageError(
                f"{scene.name}: {engine} {error}. Simulate less time or fewer objects"
            ) from error
    lines = [x for x in done.stdout.decode(errors="replace").splitlines() if x.startswith(MARK)]
    if not lines:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise StageError(f"{scene.name}: {engine} stopped with code {done.returncode}: {said[0]}")
    result = json.loads(lines[-1][len(MARK) :])
    if "error" in result:
        raise StageError(f"{scene.name}: {result['error']}")
    return result


def check(scene: Scene, engines: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """Hold the scene in each engine and judge it; see `Scene.check`."""
    out: dict[str, Any] = {}
    for engine in engines:
        run = run_engine(scene, engine, seconds, stop_at_rest=False)
        deepest = max((c["depth_mm"] for c in run["contacts_start"]), default=0.0)
        through = _through(scene, run)
        supports = supporters(run["contacts"], run["names"])
        loose = [n for n in run["names"] if not supports[n]]
        moved = max(run["farthest_mm"].values(), default=0.0)
        problems = []
        if max(deepest, run["penetration_mm"]) > PENETRATION_MM:
            problems.append(
                f"overlap of {max(deepest, run['penetration_mm']):.2f} mm, wanted at most "
                f"{PENETRATION_MM:g}"
            )
        if run["exploded"]:
            problems.append(f"a speed of {run['fastest_m_s']:.1f} m/s: the scene explodes")
        if through:
            depths = [f"{name} ({run['lowest_ever_mm'][name]:.1f} mm)" for name in through]
            problems.append(f"fell through the ground: {', '.join(depths)}")
        if loose:
            problems.append(f"stands on nothing: {', '.join(loose)}")
        if moved > HOLD_MM:
            problems.append(f"moves by {moved:.1f} mm in {seconds:g} s, wanted at most {HOLD_MM:g}")
        out[engine] = {
            "passed": not problems,
            "problems": problems,
            "penetration_start_mm": max(deepest, 0.0),
            "penetration_end_mm": max(run["penetration_mm"], 0.0),
            "moved_mm": moved,
            "moved_most": max(run["farthest_mm"], key=run["farthest_mm"].__getitem__, default=""),
            "lowest_mm": min(run["lowest_ever_mm"].values(), default=0.0),
            "fell_through": through,
            "unsupported": loose,
            "exploded": run["exploded"],
            "at_rest": run["at_rest"],
            "fastest_m_s": round(run["fastest_m_s"], 6),
            "fastest_point_m_s": round(run["fastest_point_m_s"], 6),
            "seconds": run["seconds"],
            "supports": supports,
        }
    return {"passed": all(r["passed"] for r in out.values()), "engines": out}


def supporters(contacts: list[dict[str, Any]], names: list[str]) -> dict[str, list[str]]:
    """Return what each dynamic item touches: nothing means that it floats."""
    out: dict[str, list[str]] = {name: [] for name in names}
    for contact in contacts:
        for one, other in ((contact["a"], contact["b"]), (contact["b"], contact["a"])):
            if one in out:
                out[one].append(other)
    return {name: sorted(set(found)) for name, found in out.items()}


def _through(scene: Scene, run: dict[str, Any]) -> list[str]:
    if scene.ground is None:
        return []
    low = run["lowest_ever_mm"]
    return [name for name in run["names"] if low[name] < -THROUGH_MM]
