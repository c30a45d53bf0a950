"""Verdicts as text, JSON and rounded numbers."""

from __future__ import annotations

import math
from typing import Any

from seed3d.types import Check, Verdict


def rounded(value: float, digits: int = 4) -> float | str:
    """Round to significant digits; a value that isn't finite becomes text, as JSON has none."""
    value = float(value)
    return float(f"{value:.{digits}g}") + 0.0 if math.isfinite(value) else str(value)


def percent(share: float) -> float | str:
    """Return a share as per cent, 3 digits; what is below 1e-4 % is noise of float32 files: 0."""
    return rounded(100.0 * share if not abs(share) < 1e-6 else 0.0, 3)


def fixed(value: float, decimals: int) -> float | str:
    """Round to decimals, so that numerical dust becomes 0; not finite becomes text."""
    return round(float(value), decimals) + 0.0 if math.isfinite(value) else str(value)


def summary(verdict: Verdict) -> str:
    """Return the verdict as plain text: one line a check, a count at the end."""
    rows = [_row(check) for check in verdict.checks]
    # An error's long text must not push every line's last column away.
    width = [max((len(r[i]) for r in rows if len(r[i]) <= 44), default=0) for i in range(4)]
    lines = ["  ".join([*(row[i].ljust(width[i]) for i in range(4)), row[4]]) for row in rows]
    failed = sum(not check.passed for check in verdict.checks)
    count = len(verdict.checks)
    word = "passed" if verdict.passed else "FAILED"
    note = f"note: doesn't come to rest after a fall: {verdict.unsteady}"
    ends = [_total(word, count, failed), *([note] if verdict.unsteady else [])]
    return "\n".join([*(line.rstrip() for line in lines), *ends])


def _row(check: Check) -> tuple[str, str, str, str, str]:
    mark = "ok" if check.passed else "FAIL"
    return mark, check.engine, check.name, value_text(check), f"wanted: {check.wanted}"


def value_text(check: Check) -> str:
    """Return a check's value as words."""
    return check.value if isinstance(check.value, str) else f"{check.value:g}"


def _total(word: str, count: int, failed: int) -> str:
    return f"{word}: {count - failed} of {count} checks" if count else f"{word}: no check ran"


def to_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as plain data for json.dumps, the same for the same verdict."""
    checks = [
        {
            "name": c.name,
            "engine": c.engine,
            "passed": bool(c.passed),
            "value": rounded(c.value) if isinstance(c.value, float) else c.value,
            "wanted": c.wanted,
        }
        for c in verdict.checks
    ]
    return {"passed": verdict.passed, "unsteady": verdict.unsteady, "checks": checks}
