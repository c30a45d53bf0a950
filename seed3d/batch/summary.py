"""results.jsonl, summary.csv and index.html: what came out, the same for every run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

RESULTS, SUMMARY, GALLERY = "results.jsonl", "summary.csv", "index.html"
_COLUMNS = ("name", "input", "kind", "status", "failure", "x_m", "y_m", "z_m", "mass_kg",
            "material", "category", "faces", "hulls", "cause")  # fmt: skip


def results_jsonl(rows: Sequence[dict[str, Any]]) -> bytes:
    """One JSON object per item, sorted keys."""
    lines = (json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def summary_csv(rows: Sequence[dict[str, Any]]) -> bytes:
    """The main facts as a table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        sizes = [f"{v:.4g}" for v in row.get("extents_m", ())] or ["", "", ""]
        flat = {**row, **dict(zip(("x_m", "y_m", "z_m"), sizes, strict=True))}
        if "mass_kg" in row:
            flat["mass_kg"] = f"{row['mass_kg']:.4g}"
        writer.writerow([flat.get(column, "") for column in _COLUMNS])
    return text.getvalue().encode("utf-8", "replace")


def gallery_html(rows: Sequence[dict[str, Any]], files: dict[str, list[str]]) -> bytes:
    """A page of previews with verdict, size, mass and links; opens without a server.

    Args:
        rows: As in results.jsonl.
        files: Item name to the files of its asset.
    """
    good = sum(row["status"] == "verified" for row in rows)
    cards = "\n".join(_card(row, files.get(row["name"], [])) for row in rows)
    return _PAGE.format(good=good, bad=len(rows) - good, cards=cards).encode("utf-8", "replace")


def _card(row: dict[str, Any], files: list[str]) -> str:
    name, status = row["name"], row["status"]
    lines = [f'<article class="{escape(status)}">']
    if "preview.png" in files:
        lines.append(
            f'<img loading="lazy" alt="{escape(name)}" src="{_href(name, "preview.png")}">'
        )
    lines.append(f"<h2>{escape(row['input'])}</h2><p><b>{escape(status)}</b>")
    if "extents_m" in row:
        size = " × ".join(f"{v:.3g}" for v in row["extents_m"])
        lines.append(f"{size} m, {row['mass_kg']:.3g} kg, {escape(str(row['material']))}, "
                     f"{row['hulls']} hulls")  # fmt: skip
    lines.append("</p>")
    if row.get("cause"):
        lines.append(f'<p class="cause">{escape(row["cause"])}</p>')
    if row.get("unsteady"):
        lines.append(f"<p>doesn't come to rest after a fall: {escape(row['unsteady'])}</p>")
    links = [(f, _LINKED[Path(f).suffix]) for f in files if Path(f).suffix in _LINKED]
    if files:
        links.append(("report.json", "report"))
    shown = " ".join(f'<a href="{_href(name, f)}">{escape(text)}</a>' for f, text in links)
    return "\n".join([*lines, f"<p>{shown}</p></article>"])


def _href(name: str, file: str) -> str:
    return escape(f"{quote(name)}/{quote(file)}")


_LINKED = {".urdf": "URDF", ".xml": "MJCF", ".usda": "USD", ".glb": "GLB"}
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Seed3D batch</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fafafa }}
main {{ display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)) }}
article {{ background: #fff; border: 1px solid #ddd; border-left: 5px solid #2a7; padding: .8rem;
  overflow-wrap: anywhere }}
article.failed {{ border-left-color: #c33 }} article.unverified {{ border-left-color: #d80 }}
h2 {{ font-size: 1rem; margin: .3rem 0 }} p {{ margin: .2rem 0 }} img {{ width: 100% }}
.cause {{ color: #a22 }} input {{ font: inherit; padding: .3rem; margin-bottom: 1rem; width: 19rem }}
</style>
<h1>{good} verified, {bad} not</h1>
<input id="find" placeholder="name, status or cause" aria-label="Show only">
<main>
{cards}
</main>
<script>
document.getElementById("find").oninput = (event) => {{
  const wanted = event.target.value.toLowerCase();
  for (const card of document.querySelectorAll("article"))
    card.hidden = !card.textContent.toLowerCase().includes(wanted);
}};
</script>
</html>
"""
