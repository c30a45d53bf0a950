"""The whole verification of one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import VerifyConfig
from seed3d.errors import ConfigError, near_miss
from seed3d.types import Check, Verdict
from seed3d.verify.drop import Rest
from seed3d.verify.drop_checks import agreement_checks
from seed3d.verify.folder import find_files
from seed3d.verify.isolate import TIMEOUT_S, Outcome, run_parts
from seed3d.verify.stability import Support

ENGINES = {"pybullet": ("urdf",), "mujoco": ("mjcf", "urdf")}
"""Engine to the formats it reads; it runs where the folder has one of them."""


def verify_folder(
    folder: str | Path, config: VerifyConfig | None = None, timeout_s: float = TIMEOUT_S
) -> Verdict:
    """Reopen every file of an asset, compare them, and drop the asset in every engine.

    Needs no report.json: the files of a foreign folder are compared with each other. File
    checks and engines run in processes of their own; a crash or a hang is a failed check.

    Args:
        folder: Folder with a .urdf, MuJoCo .xml, .usd* or .glb.
        config: Options; None takes the defaults.
        timeout_s: Time limit of each process [s].

    Returns:
        All checks, the same on every run.

    Raises:
        InputError: The folder doesn't exist or holds nothing to verify.
        ConfigError: An engine that isn't known.
    """
    folder, config = Path(folder), config or VerifyConfig()
    for name in config.engines:
        if name not in ENGINES:
            raise ConfigError(f"verify.engines: unknown engine {name!r}.{near_miss(name, ENGINES)}")
    files = find_files(folder)
    engines = [e for e in ENGINES if e in config.engines and set(ENGINES[e]) & set(files)]
    outcomes = run_parts(["files", *engines], folder, config, timeout_s)
    checks: list[Check] = []
    rests: list[Rest] = []
    supports: list[Support] = []
    for outcome in outcomes:
        checks += _checks(outcome)
        rests += _rest(outcome.result)
        supports += _support(outcome.result)
    checks += [_absent(e) for e in config.engines if e not in engines]
    return Verdict((*checks, *agreement_checks(rests, supports[0] if supports else None)))


def _absent(engine: str) -> Check:
    """State that an engine didn't run, so that nobody takes a pass for its pass."""
    formats = " or ".join(ENGINES[engine])
    return Check("loads", True, f"not run: no {formats} in the folder", "stated only", engine)


def _checks(outcome: Outcome) -> list[Check]:
    if outcome.result is None:
        engine = outcome.part if outcome.part in ENGINES else ""
        return [Check(f"{outcome.part} run", False, outcome.problem, "runs to the end", engine)]
    return [Check(**check) for check in outcome.result["checks"]]


def _rest(result: dict[str, Any] | None) -> list[Rest]:
    if not result or not result["drop"]:
        return []
    drop = result["drop"]
    return [Rest(drop["engine"], drop["size_m"], drop["tilt_deg"], np.array(drop["com_m"]))]


def _support(result: dict[str, Any] | None) -> list[Support]:
    if not result or not result["support"]:
        return []
    return [Support(*result["support"], polygon_m=np.zeros((0, 2)))]
