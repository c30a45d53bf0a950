"""Reports as one HTML page that needs nothing else: verdicts, numbers, pictures, plots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from seed3d import __version__
from seed3d.types import Check
from seed3d.verify.run import Report
from seed3d.verify.text import value_text

_COLORS = {"pybullet": "#c2410c", "mujoco": "#1d4ed8"}
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:0;color:#1b1f24;background:#f6f7f9}
main{max-width:1080px;margin:0 auto;padding:24px}
h1{font-size:24px}h2{font-size:19px;margin:0 0 4px}h3{font-size:15px;margin:20px 0 6px}
section{background:#fff;border:1px solid #dfe3e8;border-radius:8px;padding:18px;margin:18px 0}
.ok{color:#166534}.bad{color:#b91c1c}.mark{font-weight:700}
.row{display:flex;flex-wrap:wrap;gap:12px}figure{margin:0}figcaption{font-size:13px;color:#555}
img{width:210px;height:210px;border:1px solid #e5e7eb;border-radius:6px}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:3px 10px 3px 0;
border-bottom:1px solid #eef0f2;vertical-align:top;font-size:13.5px}
tr.fail td{background:#fef2f2}code{font-size:13px}svg{background:#fff}.skip{color:#777}
details>summary{cursor:pointer;font-weight:600;margin:14px 0 6px}
"""


def html_report(reports: Sequence[Report]) -> str:
    """Return the page for any number of reports; everything in it is escaped."""
    failed = sum(not r.verdict.passed for r in reports)
    word = "all passed" if not failed else f"{failed} failed"
    body = "".join(_section(r, i) for i, r in enumerate(reports))
    overview = _overview(reports) if len(reports) > 1 else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Verification: {word}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>Verification of {len(reports)} object{'s' * (len(reports) != 1)}: "
        f'<span class="{"bad" if failed else "ok"}">{word}</span></h1>{overview}{body}'
        f"<p>Seed3D {escape(__version__)}</p></main></body></html>\n"
    )


def _overview(reports: Sequence[Report]) -> str:
    rows = "".join(
        f'<tr class="{"" if r.verdict.passed else "fail"}"><td><a href="#r{i}">'
        f"{escape(r.label)}</a></td><td>{_word(r)}</td></tr>"
        for i, r in enumerate(reports)
    )
    return f"<section><table><tr><th>Object</th><th>Verdict</th></tr>{rows}</table></section>"


def _word(report: Report) -> str:
    checks = report.verdict.checks
    bad = [c.name for c in checks if not c.passed]
    names = ", ".join(dict.fromkeys(bad))
    return "passed" if not bad and checks else f"FAILED: {escape(names) or 'no check ran'}"


def _section(report: Report, index: int) -> str:
    checks = report.verdict.checks
    failed = [c for c in checks if not c.passed]
    word, kind = ("passed", "ok") if report.verdict.passed else ("FAILED", "bad")
    count = f"{len(checks) - len(failed)} of {len(checks)} checks"
    files = ", ".join(f"{k}: <code>{escape(p)}</code>" for k, p in report.files.items())
    figures = "".join(
        f'<figure><img alt="{escape(t)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(t)}</figcaption></figure>"
        for t, data in report.images.items()
    )
    plots = "".join(_plot(traces) for traces in _grouped(report.traces).values())
    parts = [
        f"<h2>{escape(report.label)}</h2>",
        f'<p><span class="mark {kind}">{word}</span> {count}<br>{files}</p>',
        f"<p>It doesn't come to rest after a fall: {escape(report.verdict.unsteady)}</p>"
        if report.verdict.unsteady
        else "",
        f'<div class="row">{figures}</div>' if figures else "",
        f"<h3>What failed</h3>{_table(failed)}" if failed else "",
        f'<h3>Measured</h3><div class="row">{plots}</div>' if plots else "",
        f"<details{'' if failed else ' open'}><summary>All checks</summary>{_table(checks)}</details>",
    ]
    return f'<section id="r{index}">{"".join(parts)}</section>'


def _table(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr class="{"" if c.passed else "fail"}"><td class="mark {"ok" if c.passed else "bad"}">'
        f"{'ok' if c.passed else 'FAIL'}</td><td>{escape(c.engine)}</td><td>{escape(c.name)}</td>"
        f'<td class="{"skip" if c.wanted.startswith("stated only") else ""}">'
        f"{escape(value_text(c))}</td><td>{escape(c.wanted)}</td></tr>"
        for c in checks
    )
    head = "<tr><th></th><th>Where</th><th>Check</th><th>Value</th><th>Wanted</th></tr>"
    return f"<table>{head}{rows}</table>"


def _grouped(traces: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for trace in traces:
        groups.setdefault(trace["title"], []).append(trace)
    return groups


def _plot(traces: list[dict[str, Any]]) -> str:
    """One SVG with a curve per engine."""
    width, height, left, right, top, bottom = 340, 200, 52, 10, 24, 36
    x = np.concatenate([t["x"] for t in traces]).astype(float)
    y = np.concatenate([t["y"] for t in traces]).astype(float)
    x0, x1 = float(x.min()), float(x.max())
    y0, y1 = float(y.min()), float(y.max())
    x1, y1 = (x1 if x1 > x0 else x0 + 1.0), (y1 if y1 > y0 else y0 + 1.0)

    def at(px: Any, py: Any) -> tuple[np.ndarray, np.ndarray]:
        across = left + (np.asarray(px, float) - x0) / (x1 - x0) * (width - left - right)
        down = height - bottom - (np.asarray(py, float) - y0) / (y1 - y0) * (height - top - bottom)
        return across, down

    parts = [
        f'<text x="{left}" y="15" font-size="12" font-weight="600">{escape(traces[0]["title"])}</text>',
        f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" stroke="#999"/>',
    ]
    mark = traces[0]["mark"]
    if mark is not None and x0 <= mark <= x1:
        px = float(at(mark, y0)[0])
        parts.append(
            f'<path d="M{px:.1f} {top}V{height - bottom}" stroke="#16a34a" stroke-dasharray="4 3"/>'
        )
    for index, trace in enumerate(traces):
        px, py = at(trace["x"], trace["y"])
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py, strict=True))
        color = _COLORS.get(trace["engine"], "#444")
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.6"/>')
        parts.append(
            f'<text x="{width - right - 4}" y="{top + 11 + 13 * index}" font-size="11" '
            f'text-anchor="end" fill="{color}">{escape(trace["engine"])}</text>'
        )
    for value, anchor in ((x0, "start"), (x1, "end")):
        px = float(at(value, y0)[0])
        parts.append(
            f'<text x="{px:.0f}" y="{height - bottom + 13}" font-size="10" '
            f'text-anchor="{anchor}">{value:.3g}</text>'
        )
    for value in (y0, y1):
        py = float(at(x0, value)[1])
        parts.append(
            f'<text x="{left - 4}" y="{py + 4:.0f}" font-size="10" text-anchor="end">{value:.3g}</text>'
        )
    label = f"{escape(traces[0]['x_label'])}; {escape(traces[0]['y_label'])}"
    parts.append(f'<text x="{left}" y="{height - 6}" font-size="11" fill="#555">{label}</text>')
    title = escape(traces[0]["title"])
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{title}">{"".join(parts)}</svg>'
    )
