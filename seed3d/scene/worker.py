"""One engine run in a process of its own: python -m seed3d.scene.worker.

Reads {"engine", "folder", "seconds", "stop_at_rest"} as JSON from its standard input and writes
the measurements as the last line of its standard output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from seed3d.errors import Seed3DError

MARK = "SEED3D-RESULT "


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Load the scene in an engine, simulate, measure."""
    from seed3d.scene.sim import SceneSim, simulate
    from seed3d.scene.sim_bullet import BulletScene
    from seed3d.scene.sim_mujoco import MujocoScene

    folder = Path(task["folder"])
    os.chdir(folder)  # MuJoCo leaves MUJOCO_LOG.TXT behind on a warning
    layout = json.loads((folder / "scene.json").read_text(encoding="utf-8"))
    began = time.perf_counter()
    kind = {"mujoco": MujocoScene, "pybullet": BulletScene}[task["engine"]]
    sim: SceneSim = kind(folder, layout)
    load_s = round(time.perf_counter() - began, 3)
    return {**simulate(sim, task["seconds"], task["stop_at_rest"]), "load_s": load_s}


def main() -> int:
    """Run one task; exit code 0 unless it crashed."""
    task = json.loads(sys.stdin.read())
    try:
        result = run(task)
    except Seed3DError as error:
        result = {"error": str(error)}
    sys.stdout.write(f"\n{MARK}{json.dumps(result, default=float)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
