"""Results and progress in words, as HTML; every text from outside is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

STAGES = {
    "load": "Read file", "image": "Find object", "geometry": "Build shape", "mesh": "Close surface",
    "unwrap": "Unwrap", "texture": "Paint", "pictures": "Draw", "hulls": "Collision hulls",
    "physics": "Mass, inertia", "preview": "Preview", "export": "Write files", "verify": "Test in engines",
    "pack": "Pack", "settle": "Let it settle", "clip": "Film the drop",
}  # fmt: skip
"""Stage to what the page calls it."""
SOURCES = {
    "user": "you said so", "mesh": "from the mesh", "estimate": "estimated",
    "prior": "usual value", "measured": "measured",
}  # fmt: skip
MASKS = {
    "alpha": "Mask from the picture's own transparency.",
    "model": "Mask found by the segmentation model.",
    "border": "Mask from the uniform background colour.",
}


def hint() -> str:
    """Return what stands where the result will be."""
    return (
        "<div class='seed-hint'><b>Your asset appears here.</b><br>Give a photo or a mesh on the "
        "left and press the button: you get a watertight, textured model in metres with collision "
        "hulls, mass and inertia, tested in two physics engines.</div>"
    )


def progress(
    stages: list[str], done: dict[str, float], now: str, elapsed_s: float, left_s: float | None
) -> str:
    """Return the list of stages with times, a bar, and the time left.

    Args:
        stages: All of this job, in order.
        done: Finished ones with their seconds.
        now: The running one; empty while waiting for a process.
        elapsed_s: Since the start.
        left_s: Estimated; None: unknown.
    """
    rows = []
    for stage in stages:
        name = escape(STAGES.get(stage, stage))
        if stage in done:
            rows.append(f"<li class='done'>✓ {name}<span>{done[stage]:.1f} s</span></li>")
        else:
            rows.append(f"<li class='now'>▸ {name}</li>" if stage == now else f"<li>{name}</li>")
    left = "" if left_s is None else f"about {duration(left_s)} left"
    share = elapsed_s / (elapsed_s + left_s) if left_s is not None else len(done) / len(stages)
    title = STAGES.get(now, "Starting")
    return (
        f"<div class='seed-run' role='status'><div class='seed-top'><span>{escape(title)} …</span>"
        f"<span>{left}</span></div><div class='seed-bar'><i style='width:{100 * share:.0f}%'></i>"
        f"</div><ul class='seed-steps'>{''.join(rows)}</ul></div>"
    )


def duration(seconds: float) -> str:
    """Return a rough duration: 5 s steps, minutes from 90 s."""
    if seconds >= 90:
        return f"{seconds / 60:.0f} min"
    return f"{max(5, 5 * round(seconds / 5))} s"


def problem(message: str, title: str = "That didn't work") -> str:
    """Return an error box."""
    return f"<div class='seed-box bad' role='alert'><b>{escape(title)}</b><p>{escape(message)}</p></div>"


def note(message: str) -> str:
    """Return a box for something worth knowing."""
    return f"<div class='seed-box note'>{escape(message)}</div>"


def verdict(facts: dict[str, Any], seconds: float) -> str:
    """Return the verdict: ready or not, what was tested, what failed, what to know."""
    checks = facts["verdict"]["checks"]
    failed = [c for c in checks if not c["passed"]]
    engines = sorted({c["engine"] for c in checks if c["engine"] in ("pybullet", "mujoco")})
    names = " and ".join({"pybullet": "PyBullet", "mujoco": "MuJoCo"}[e] for e in engines)
    if not failed and checks:
        text = (
            f"All {len(checks)} checks passed: every file was opened again and compared, and the "
            f"object was dropped in {names or 'no engine'}, where it fell, settled and stayed put."
        )
        head, kind = "Ready for simulation", "good"
    else:
        text = f"{len(failed)} of {len(checks)} checks failed; see the list of checks."
        head, kind = "Not ready for simulation", "bad"
    items = [f"{c['name']} {c['engine']}: got {c['value']}; wanted {c['wanted']}" for c in failed]
    moving = facts["verdict"]["unsteady"]
    items += [f"It doesn't come to rest after a fall: {moving}"] if moving else []
    notes = "".join(f"<li>{escape(t)}</li>" for t in [*items[:6], *facts["notes"][:6]])
    return (
        f"<div class='seed-box {kind}' id='verdict'><b>{head}</b> · {seconds:.0f} s<p>{text}</p>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + "</div>"
    )


def summary(facts: dict[str, Any]) -> str:
    """Return tiles: size, mass, material, category, friction, hulls, with their sources."""
    estimates = facts["estimates"]
    size = " × ".join(length(v) for v in facts["extents_m"])
    tiles = [
        ("Size", size, _source(estimates.get("size_m"), length)),
        ("Mass", mass(facts["mass_kg"]), _source(estimates.get("mass_kg"), mass)),
        ("Material", _value(estimates, "material"), _source(estimates.get("material"))),
        ("Kind of object", _value(estimates, "category"), _source(estimates.get("category"))),
        ("Friction", f"{facts['friction']:.2g}", "usual for the material"),
        (
            "Model",
            f"{facts['faces']} faces",
            f"{facts['hulls']} collision hull{'s' * (facts['hulls'] != 1)}",
        ),
    ]
    rows = (f"<div><small>{escape(a)}</small><b>{escape(b)}</b><em>{escape(c)}</em></div>"
            for a, b, c in tiles)  # fmt: skip
    return f"<div class='seed-facts'>{''.join(rows)}</div>"


def checks_table(facts: dict[str, Any]) -> str:
    """Return every check as a table."""
    rows = "".join(
        f"<tr><td class='{'' if c['passed'] else 'fail'}'>{'✓' if c['passed'] else 'FAILED'}</td>"
        f"<td>{escape(c['engine'])}</td><td>{escape(c['name'])}</td>"
        f"<td>{escape(str(c['value']))}</td><td>{escape(c['wanted'])}</td></tr>"
        for c in facts["verdict"]["checks"]
    )
    head = "<tr><th></th><th>Engine</th><th>Check</th><th>Measured</th><th>Wanted</th></tr>"
    return f"<div class='seed-scroll'><table class='seed-table'>{head}{rows}</table></div>"


def length(metres: float) -> str:
    """Return a length in a unit that fits."""
    if metres < 0.01:
        return f"{1000 * metres:.3g} mm"
    return f"{100 * metres:.3g} cm" if metres < 1 else f"{metres:.3g} m"


def mass(kilograms: float) -> str:
    """Return a mass in a unit that fits."""
    return f"{1000 * kilograms:.3g} g" if kilograms < 1 else f"{kilograms:.3g} kg"


def _value(estimates: dict[str, Any], key: str) -> str:
    value = estimates.get(key, {}).get("value")
    return "unknown" if value is None else str(value).replace("_", " ")


def _source(estimate: dict[str, Any] | None, unit: Any = None) -> str:
    if not estimate:
        return ""
    text = SOURCES.get(estimate["source"], str(estimate["source"]))
    if unit and estimate["low"] is not None and estimate["high"] is not None:
        text += f", likely {unit(estimate['low'])} to {unit(estimate['high'])}"
    return text
