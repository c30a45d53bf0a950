"""`seed3d evaluate geometry`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from seed3d.cli.options import resolve
from seed3d.report import made_by


@click.command("geometry")
@click.option("--data", type=click.Path(path_type=Path), default="datasets", show_default=True,
              help="Folder with objects/ and features/ of `seed3d data`.")  # fmt: skip
@click.option("--split", type=click.Choice(["val", "test"]), default="test", show_default=True)
@click.option("--kind", type=click.Choice(["all", "furniture", "procedural"]), default="all")
@click.option(
    "--limit", type=int, help="Most objects, half of each kind, spread evenly.  [default: all]"
)
@click.option("--preset", default="default", show_default=True)
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="As in generate.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the table here.")
def geometry(
    data: Path, split: Any, kind: str, limit: int | None, json_file: Path | None, **flags: Any
) -> None:
    """Photo to shape: IoU, Chamfer, F-score, silhouette and camera, next to baselines."""
    import json

    from rich.progress import track

    from seed3d.evaluate.geometry import evaluate_geometry, summarise, summarise_by

    config = resolve(flags).geometry
    rows = list(
        track(
            evaluate_geometry(data / "objects", data / "features", split, config, limit, kind),
            description="photos",
            disable=not sys.stderr.isatty(),
        )
    )
    total = summarise(rows)
    click.echo(json.dumps(total, indent=1))
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(
            json.dumps(
                {**total, **summarise_by(rows), "made_by": made_by(config.model), "items": rows},
                indent=1,
            )
            + "\n"
        )
