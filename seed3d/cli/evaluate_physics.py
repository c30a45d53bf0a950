"""`seed3d evaluate physics`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("physics")
@click.option("--furniture", type=click.Path(path_type=Path), show_default=True,
              default="/usr/share/sweethome3d/furniture", help="Folder of the .sh3f libraries.")  # fmt: skip
@click.option("--data", type=click.Path(path_type=Path), default="datasets", show_default=True,
              help="Folder with objects/, features/ and furniture/ (unpacked models).")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), default="out/physics", show_default=True,
              help="Assets and rows; the same folder again goes on where it stopped.")  # fmt: skip
@click.option("--kind", type=click.Choice(["all", "furniture", "procedural", "package"]),
              default="all")  # fmt: skip
@click.option("--key", "keys", multiple=True, help="Only these inputs.")
@click.option("--limit", type=int, help="Most inputs, as many of each kind.  [default: all]")
@click.option("--preset", default="default", show_default=True)
@click.option("--model", default="seed3d-tiny", show_default=True, help="For size and mass.")
@click.option("--time-limit", type=float, default=300.0, show_default=True,
              help="Processor seconds per asset.")  # fmt: skip
@click.option("--workers", type=int, default=2, show_default=True)
@click.option("--no-checkers", is_flag=True, help="Leave simcheck and simready-validate out.")
@click.option("--rows", "rows_file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="The --json of a run elsewhere: its inputs aren't judged again.")  # fmt: skip
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the table here.")
def physics(
    furniture: Path, data: Path, out: Path, kind: str, keys: tuple[str, ...], limit: int | None,
    preset: str, model: str, time_limit: float, workers: int, no_checkers: bool,
    rows_file: Path | None, json_file: Path | None,
) -> None:  # fmt: skip
    """Mesh to verified asset over furniture, procedural objects and package meshes."""
    import json

    from seed3d.evaluate.physics import Options, adopt, judge_all, summarise
    from seed3d.evaluate.physics_estimates import estimate_errors
    from seed3d.evaluate.physics_inputs import all_items, spread

    items = [i for i in all_items(furniture, data / "furniture", 0) if kind in ("all", i.kind)]
    available = len(items)
    items = [i for i in items if i.key in keys] if keys else spread(items, limit)
    options = Options(out, preset, time_limit, not no_checkers)
    if rows_file:
        click.echo(f"{adopt(rows_file, options)} rows of {rows_file} taken over", err=True)
    rows = []
    for row in judge_all(items, options, workers):
        rows.append(row)
        done = f"[{len(rows)}/{len(items)}]"
        bad = sum(r["state"] not in ("verified", "refused", "unsteady") for r in rows)
        click.echo(
            f"{done:11s}{row['key'][:32]:34s}{row['state']:10s}{row['seconds']:7.1f} s"
            f"{row.get('cpu_seconds', 0.0):7.1f} s cpu   {bad} bad",
            err=True,
        )
    total = {**summarise(rows), "available": available, "preset": preset}
    if (data / "features").is_dir():
        total |= estimate_errors(data / "features", data / "objects", model, limit)
    click.echo(json.dumps(total, indent=1))
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({**total, "items": rows}, indent=1) + "\n")
