"""What must hold after a drop, in one engine and between the engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seed3d.types import Check
from seed3d.verify.drop import FLOAT_FLOOR_M, FLOAT_SHARE, DropResult, Rest
from seed3d.verify.model import MassProperties
from seed3d.verify.stability import Support
from seed3d.verify.text import fixed, percent, rounded

SPEED_MARGIN = 1.1
"""Largest speed, over the speed of the object's whole potential energy turned into motion."""
ENERGY_LIMIT = 0.02
"""Largest growth of kinetic plus potential energy, as a share of the initial energy."""
FALL_LIMIT = 0.01
"""Largest error of the fall before the first touch, as a share of 1/2 g t^2."""
SINK_SHARE, SINK_FLOOR_M = 0.005, 1e-3
"""Penetration at rest, as a share of the size, and its floor [m]."""
JITTER_SHARE = 0.002
"""Movement, as a share of the size, up to which an object that keeps trembling counts as resting:
engines' contacts never calm down on some hulls."""
STABLE_RAD = np.deg2rad(5.0)
"""An object that would have to be tilted this far to tip must stay upright: after the drop, or,
where the bounce topples it, when it's set down."""
UPRIGHT_DEG = 10.0
"""Tilt up to which an object counts as upright [deg]."""


def drop_checks(
    result: DropResult, expected: MassProperties | None, support: Support | None
) -> list[Check]:
    """Return the checks of one drop.

    Args:
        result: The measurement.
        expected: Mass properties that the file states, in the root link's frame.
        support: Static stability; an object that isn't safely stable may roll on.
    """
    facts = [*_motion_facts(result), _settle_fact(result, support), *_rest_facts(result)]
    checks = [Check(n, bool(passed), value, w, result.engine) for n, passed, value, w in facts]
    return (_loaded_checks(result, expected) if expected is not None else []) + checks


def toppled(result: DropResult, support: Support | None) -> bool:
    """True where an object that stands safely didn't end the drop upright."""
    return _stable(support) and result.tilt_deg > UPRIGHT_DEG


def _stable(support: Support | None) -> bool:
    return support is not None and support.angle_rad >= STABLE_RAD


_Fact = tuple[str, bool, float | str, str]


def _motion_facts(result: DropResult) -> list[_Fact]:
    fall, speed, growth = result.fall_error, result.speed_ratio, result.energy_growth
    allowed = f"<= {SPEED_MARGIN:g} of what its height allows"
    return [
        ("free fall", fall <= FALL_LIMIT, percent(fall), "<= 1 % off 1/2 g t^2"),
        ("speed", speed <= SPEED_MARGIN, rounded(speed, 3), allowed),
        ("energy growth", growth <= ENERGY_LIMIT, percent(growth), f"<= {100 * ENERGY_LIMIT:g} %"),
    ]


def _settle_fact(result: DropResult, support: Support | None) -> _Fact:
    wanted = "at rest in the time given"
    if result.settle_s is not None:
        return "settles", True, f"after {result.settle_s:.3g} s", wanted
    if result.calm and result.jitter <= JITTER_SHARE:
        return "settles", True, f"trembles by {percent(result.jitter)} % of its size", wanted
    if _stable(support):
        return "settles", False, "still moving", wanted
    value = "rolls or rocks gently" if result.calm else "still moving"
    return "settles", result.calm, value, wanted + ", or rolling or rocking gently"


def _rest_facts(result: DropResult) -> list[_Fact]:
    lowest, tilt, drift = result.lowest_m, result.tilt_deg, result.drift_m
    sink = max(SINK_SHARE * result.size_m, SINK_FLOOR_M)
    gap = max(FLOAT_SHARE * result.size_m, FLOAT_FLOOR_M)
    floor = f"-{1e3 * sink:.3g} to {1e3 * gap:.3g} mm over the floor"
    return [
        ("rest height", -sink <= lowest <= gap, fixed(1e3 * lowest, 3), floor),
        ("tilt", bool(np.isfinite(tilt)), fixed(tilt, 2), "stated only [deg]"),
        ("drift", bool(np.isfinite(drift)), fixed(drift, 5), "stated only [m]"),
    ]


def _degrees(value: float) -> str:
    return f"{value:.2f} deg"


def _loaded_checks(result: DropResult, expected: MassProperties) -> list[Check]:
    """Mass and principal moments as the engine holds them, against the file."""
    if result.mass is None:
        return [Check("mass loaded", False, "none", "the file's mass", result.engine)]
    mass = abs(result.mass.mass_kg / expected.mass_kg - 1.0) if expected.mass_kg else np.inf
    own = np.linalg.eigvalsh(result.mass.inertia_kg_m2)
    want = np.linalg.eigvalsh(expected.inertia_kg_m2)
    moments = float(np.abs(own - want).max() / np.abs(want).max()) if np.any(want) else np.inf
    zeroed = not np.any(own)
    value = "zeroed by the engine" if zeroed else percent(moments)
    wanted = "<= 0.1 % off the file"
    return [
        Check("mass loaded", mass <= 1e-3, percent(mass), wanted, result.engine),
        Check("inertia loaded", moments <= 1e-3, value, wanted, result.engine),
    ]


def _tilt(rest: Rest) -> str:
    if rest.toppled_deg is None:
        return f"{rest.engine} {_degrees(rest.tilt_deg)}"
    fallen = f"{_degrees(rest.toppled_deg)} after the drop"
    return f"{rest.engine} {_degrees(rest.tilt_deg)} when set down ({fallen})"


def agreement_checks(results: Sequence[Rest], support: Support | None) -> list[Check]:
    """Return the checks that need every engine: does the object rest the same way in all?"""
    if len(results) < 2:
        return []
    tilts = ", ".join(_tilt(r) for r in results)
    upright = [r.tilt_deg <= UPRIGHT_DEG for r in results]
    stable = _stable(support)
    angle = float(np.rad2deg(support.angle_rad)) if support else 0.0
    wanted = (
        f"tilt <= {UPRIGHT_DEG:g} deg in all: it tips only beyond {angle:.3g} deg"
        if stable
        else "stated only: it isn't stable enough upright to demand it"
    )
    checks = [Check("stays upright", all(upright) or not stable, tilts, wanted, "all")]
    if all(upright):
        heights = [float(r.com_m[2]) for r in results]
        limit = max(0.01 * results[0].size_m, FLOAT_FLOOR_M)
        apart = max(heights) - min(heights)
        wanted = f"centres of mass at rest within {1e3 * limit:.3g} mm"
        checks.append(Check("same rest", apart <= limit, fixed(1e3 * apart, 3), wanted, "all"))
    return checks
