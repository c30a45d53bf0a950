"""One part of the verification in a process of its own: python -m seed3d.verify.worker.

Arguments: part, target as JSON, configuration as JSON, file for the result. The engines write what
they like to stdout and stderr; the result goes to the file alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import VerifyConfig, from_dict
from seed3d.errors import InputError
from seed3d.processes import limit_cpu
from seed3d.types import Check
from seed3d.verify.drop import DropResult, Rest
from seed3d.verify.drop_checks import drop_checks, toppled
from seed3d.verify.folder import Expected, expected_from_report, find_files
from seed3d.verify.isolate import cpu_limit_s
from seed3d.verify.model import FileModel, MassProperties
from seed3d.verify.pictures import pictures
from seed3d.verify.stability import Support, support_margin
from seed3d.verify.target import Target
from seed3d.verify.text import percent
from seed3d.verify.trials.worker import trials_mujoco, trials_pybullet


def run_files(folder: Path | Target, config: VerifyConfig) -> dict[str, Any]:
    """Run the checks of `check_files`."""
    from seed3d.verify.files import check_files

    try:
        expected, checks = expected_from_report(folder), []
    except InputError as error:
        expected = Expected()
        checks = [Check("opens", False, str(error), "readable", "report")]
    return _result(checks + check_files(folder, expected))


def run_pybullet(folder: Path | Target, config: VerifyConfig) -> dict[str, Any]:
    """Drop the URDF in PyBullet."""
    from seed3d.verify.drop_bullet import drop_bullet
    from seed3d.verify.read_urdf import read_urdf
    from seed3d.verify.steady import steady_bullet

    path = find_files(folder)["urdf"]
    return _drop(
        "pybullet",
        lambda: read_urdf(path, visual=False),
        partial(drop_bullet, path, config),
        lambda model: steady_bullet(path, model, config.steady),
    )


def run_mujoco(folder: Path | Target, config: VerifyConfig) -> dict[str, Any]:
    """Drop the MJCF in MuJoCo, and let MuJoCo read the URDF where there is one."""
    from seed3d.verify.drop_mujoco import drop_mujoco
    from seed3d.verify.read_mjcf import read_mjcf
    from seed3d.verify.steady import steady_mujoco

    files = find_files(folder)
    paths = [files[f] for f in ("mjcf", "urdf") if f in files]
    checks = [_urdf_in_mujoco(files["urdf"])] if "urdf" in files else []
    if "mjcf" not in files:
        return _result(checks)
    path = files["mjcf"]
    result = _drop(
        "mujoco",
        lambda: read_mjcf(path),
        partial(drop_mujoco, path, config),
        lambda model: steady_mujoco(paths, model, config.steady),
    )
    result["checks"] = result["checks"] + _result(checks)["checks"]
    return result


def run_mujoco_sdf(folder: Path | Target, config: VerifyConfig) -> dict[str, Any]:
    """Drop the MJCF with SDF collision."""
    from seed3d.verify.drop_mujoco import drop_mujoco
    from seed3d.verify.read_mjcf import read_mjcf

    path = find_files(folder)["mjcf_sdf"]
    engine = "mujoco_sdf"
    return _drop(
        engine,
        lambda: read_mjcf(path),
        lambda set_down: replace(drop_mujoco(path, config, set_down), engine=engine),
    )


def _drop(
    engine: str,
    read: Callable[[], FileModel],
    drop: Callable[[bool], DropResult],
    steady: Callable[[FileModel], Check] | None = None,
) -> dict[str, Any]:
    """Run one engine: `drop` takes whether to set the object down instead."""
    try:
        model = read()
        result = drop(False)
        more = [steady(model)] if steady else []
    except InputError as error:
        return _result([Check("loads", False, str(error), "loads and runs", engine)])
    support = None
    if model.hulls and model.mass is not None:
        support = support_margin([h.mesh for h in model.hulls], model.mass.com_m)
    checks = [Check("loads", True, "yes", "loads and runs", engine)]
    checks += drop_checks(result, model.mass, support) + more
    rest = result.rest
    if toppled(result, support):
        # A bounce can topple what stands safely; whether it does stand is another question.
        rest = replace(drop(True).rest, toppled_deg=result.tilt_deg)
    return _result(checks, rest, support)


def _urdf_in_mujoco(path: Path) -> Check:
    from seed3d.verify.drop_mujoco import loaded_from_urdf
    from seed3d.verify.read_urdf import read_urdf

    wanted = "compiles, mass and inertia <= 0.1 % off the file"
    try:
        own, want = loaded_from_urdf(path), read_urdf(path, visual=False).mass
    except InputError as error:
        return Check("reads the URDF", False, str(error), wanted, "mujoco")
    off = _difference(own, want) if want is not None else np.inf
    return Check("reads the URDF", bool(off <= 1e-3), percent(off), wanted, "mujoco")


def _difference(own: MassProperties, want: MassProperties) -> float:
    mass = abs(own.mass_kg / want.mass_kg - 1.0) if want.mass_kg else np.inf
    scale = float(np.linalg.norm(want.inertia_kg_m2)) or np.nan
    inertia = float(np.linalg.norm(own.inertia_kg_m2 - want.inertia_kg_m2)) / scale
    return max(mass, inertia) if max(mass, inertia) > 1e-6 else 0.0


def _result(
    checks: list[Check], rest: Rest | None = None, support: Support | None = None
) -> dict[str, Any]:
    return {
        "checks": [vars(c) for c in checks],
        "rest": None if rest is None else {**vars(rest), "com_m": rest.com_m.tolist()},
        "support": None if support is None else [support.margin_m, support.com_height_m],
    }


PARTS = {"files": run_files, "pybullet": run_pybullet, "mujoco": run_mujoco,
         "mujoco_sdf": run_mujoco_sdf}  # fmt: skip
"""The quick verification, by part."""
TRIALS = {"trials_pybullet": trials_pybullet, "trials_mujoco": trials_mujoco}
"""What the full verification adds; they hand out what they have after every trial."""


def main(arguments: list[str]) -> int:
    """Run one part and write its result as JSON; exit code 0 unless it crashed."""
    part, target, config, output = arguments
    limit_cpu(cpu_limit_s(part))
    options = from_dict(VerifyConfig, json.loads(config))
    where = Target.from_text(target)

    def save(result: dict[str, Any]) -> None:
        # The reader may come at any time, also after a crash: it must find whole JSON.
        fresh = Path(output + ".new")
        fresh.write_text(json.dumps(result, default=float), encoding="utf-8")
        fresh.replace(output)

    if part == "pictures":
        save(pictures(where))
    elif part in TRIALS:
        save(TRIALS[part](where, options, save))
    else:
        save(PARTS[part](where, options))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
