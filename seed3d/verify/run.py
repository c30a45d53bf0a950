"""The whole verification of one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import VerifyConfig
from seed3d.errors import ConfigError, near_miss
from seed3d.types import Check, Verdict
from seed3d.verify.drop import Rest
from seed3d.verify.drop_checks import agreement_checks
from seed3d.verify.folder import find_files
from seed3d.verify.isolate import TIMEOUT_S, Launcher, Outcome, run_parts
from seed3d.verify.stability import Support
from seed3d.verify.target import Target, as_target
from seed3d.verify.text import rounded

AGREE_SHARE = 0.2
"""Largest difference of what a trial measures in two engines, as a share."""
ENGINES = {"pybullet": ("urdf",), "mujoco": ("mjcf", "urdf")}
"""Engine to the formats it reads; it runs where the folder has one of them."""
SDF = "mujoco_sdf"
"""Part that drops the MJCF with SDF collision, where there is one and MuJoCo is asked for."""


@dataclass(frozen=True)
class Report:
    """A verdict and what there is to show with it."""

    label: str
    verdict: Verdict
    traces: tuple[dict[str, Any], ...] = ()
    """Curves, see `seed3d.verify.trials.run.Trace`."""
    places: tuple[dict[str, Any], ...] = ()
    """Where trials ended, see `seed3d.verify.trials.run.Placed`."""
    images: dict[str, str] = field(default_factory=dict)
    """Title to PNG in base64."""
    files: dict[str, str] = field(default_factory=dict)
    """Format to the file that was verified."""


def verify_folder(
    folder: str | Path | Target,
    config: VerifyConfig | None = None,
    timeout_s: float = TIMEOUT_S,
    launcher: Launcher | None = None,
) -> Verdict:
    """Reopen every file of an asset, compare them, and drop the asset in every engine.

    Needs no report.json: the files of a foreign folder are compared with each other. File
    checks and engines run in processes of their own; a crash or a hang is a failed check.

    Args:
        folder: Folder with a .urdf, MuJoCo .xml, .usd* or .glb, one such file, or a target.
        config: Options; None takes the defaults.
        timeout_s: Time limit of each process [s].
        launcher: Opened beforehand, to save its time to start; it can't be used again.

    Returns:
        All checks, the same on every run.

    Raises:
        InputError: The folder doesn't exist or holds nothing to verify.
        ConfigError: An engine that isn't known.
    """
    return verify_target(folder, config, timeout_s=timeout_s, launcher=launcher).verdict


def verify_target(
    where: str | Path | Target,
    config: VerifyConfig | None = None,
    full: bool = False,
    pictures: bool = False,
    timeout_s: float = TIMEOUT_S,
    launcher: Launcher | None = None,
) -> Report:
    """As `verify_folder`, and more to show.

    Args:
        where: Folder, file or target.
        config: Options; None takes the defaults.
        full: Also drop from 0.5 m, tilt table, push, stack, ball, gripper and drift.
        pictures: Also render the object, its hulls and where the trials ended.
        timeout_s: Time limit of each process [s].
        launcher: As for `verify_folder`.

    Raises:
        InputError: Nothing to verify.
        ConfigError: An engine that isn't known.
    """
    target, config = as_target(Path(where) if isinstance(where, str) else where), (
        config or VerifyConfig())  # fmt: skip
    for name in config.engines:
        if name not in ENGINES:
            raise ConfigError(f"verify.engines: unknown engine {name!r}.{near_miss(name, ENGINES)}")
    files = find_files(target)
    engines = [e for e in ENGINES if e in config.engines and set(ENGINES[e]) & set(files)]
    tested = [e for e in engines if ENGINES[e][0] in files] if full else []
    more = [SDF] if "mjcf_sdf" in files and "mujoco" in config.engines else []
    quick = ["files", *engines, *more]
    outcomes = run_parts(quick, target, config, timeout_s, launcher=launcher)
    trials = run_parts([f"trials_{e}" for e in tested], target, config, timeout_s)
    places = tuple(p for o in trials for p in (o.result or {}).get("places", ()))
    shown = replace(target, places=places)
    drawn = run_parts(["pictures"], shown, config, timeout_s) if pictures else []
    checks: list[Check] = []
    rests: list[Rest] = []
    supports: list[Support] = []
    for outcome in outcomes:
        checks += _checks(outcome)
        rests += _rest(outcome.result)
        supports += _support(outcome.result)
    checks += [_absent(e) for e in config.engines if e not in engines]
    checks += agreement_checks(rests, supports[0] if supports else None)
    for outcome in (*trials, *drawn):
        checks += _checks(outcome)
    results = [o.result or {} for o in trials]
    checks += trial_agreement([r.get("numbers", {}) for r in results])
    images = dict(drawn[0].result["images"]) if drawn and drawn[0].result else {}
    return Report(
        label=target.label,
        verdict=Verdict(tuple(checks)),
        traces=tuple(t for r in results for t in r.get("traces", ())),
        places=places,
        images=images,
        files={k: str(p) for k, p in files.items()},
    )


def trial_agreement(numbers: Sequence[dict[str, float]]) -> list[Check]:
    """Compare what the trials measured in two engines."""
    if len(numbers) < 2:
        return []
    checks = []
    for key in sorted(set(numbers[0]) & set(numbers[1])):
        a, b = numbers[0][key], numbers[1][key]
        apart = abs(a - b) / max(abs(a), abs(b), 1e-12)
        value = f"{rounded(a, 3)} and {rounded(b, 3)}"
        wanted = f"<= {100 * AGREE_SHARE:g} % apart"
        checks.append(Check(f"engines agree: {key}", apart <= AGREE_SHARE, value, wanted, "all"))
    return checks


def _absent(engine: str) -> Check:
    """State that an engine didn't run, so that nobody takes a pass for its pass."""
    formats = " or ".join(ENGINES[engine])
    return Check("loads", True, f"not run: no {formats} in the folder", "stated only", engine)


def _checks(outcome: Outcome) -> list[Check]:
    found = [Check(**check) for check in (outcome.result or {}).get("checks", ())]
    if outcome.problem:
        engine = next((e for e in ENGINES if outcome.part.endswith(e)), "")
        at_work = (outcome.result or {}).get("at_work")
        value = f"{outcome.problem}, during {at_work!r}" if at_work else outcome.problem
        name = f"{outcome.part.replace('_', ' ')} run"
        found.append(Check(name, False, value, "runs to the end", engine))
    return found


def _rest(result: dict[str, Any] | None) -> list[Rest]:
    if not result or not result["rest"]:
        return []
    return [Rest(**{**result["rest"], "com_m": np.array(result["rest"]["com_m"])})]


def _support(result: dict[str, Any] | None) -> list[Support]:
    if not result or not result["support"]:
        return []
    return [Support(*result["support"], polygon_m=np.zeros((0, 2)))]
