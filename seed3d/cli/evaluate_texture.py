"""`seed3d evaluate texture`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from seed3d.cli.options import resolve


@click.command("texture")
@click.option("--data", type=click.Path(path_type=Path), default="datasets", show_default=True,
              help="Folder with objects/ of `seed3d data`.")  # fmt: skip
@click.option("--furniture", type=click.Path(path_type=Path), show_default=True,
              default="/usr/share/sweethome3d/furniture", help="Furniture libraries (.sh3f).")  # fmt: skip
@click.option("--split", type=click.Choice(["val", "test"]), default="test", show_default=True)
@click.option("--kind", type=click.Choice(["all", "furniture", "procedural"]), default="all")
@click.option("--geometry", type=click.Choice(["true", "generated", "both"]), default="true",
              show_default=True, help="Which shape is painted.")  # fmt: skip
@click.option("--limit", type=int, help="Most objects, spread evenly.  [default: all]")
@click.option("--preset", default="default", show_default=True)
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="As in generate.")
@click.option("--json", "json_file", type=click.Path(path_type=Path),
              help="Write the table here; rows are kept beside it, so that a run resumes.")  # fmt: skip
def texture(
    data: Path, furniture: Path, split: Any, kind: str, geometry: str, limit: int | None,
    json_file: Path | None, **flags: Any,
) -> None:  # fmt: skip
    """Photo to texture: renders, albedo, materials, seams, next to baselines."""
    import json

    from rich.progress import track

    from seed3d.evaluate.texture import evaluate_texture, summarise_texture
    from seed3d.evaluate.texture_objects import held_out

    config = resolve(flags)
    objects = held_out(data / "objects", furniture, data / "furniture", split, limit, kind)
    geometries: Any = ("true", "generated") if geometry == "both" else (geometry,)
    rows_file = json_file.with_suffix(".rows.jsonl") if json_file else None
    rows = list(
        track(
            evaluate_texture(objects, config, geometries, rows_file),
            total=len(objects) * len(geometries),
            description="objects",
            disable=not sys.stderr.isatty(),
        )
    )
    tables = [summarise_texture([r for r in rows if r["geometry"] == g]) for g in geometries]
    total = {"split": split, "geometry": geometries[0], "texture_size": config.texture.size}
    total |= tables[0]
    if len(tables) > 1:
        total["generated_geometry"] = tables[1]
    click.echo(json.dumps(total, indent=1))
    if json_file and rows_file:
        json_file.write_text(json.dumps({**total, "items": rows}, indent=1) + "\n")
        rows_file.unlink()
