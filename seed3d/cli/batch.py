"""`seed3d batch`: many photos and meshes to assets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from seed3d.cli.options import item_options, overrides, plain
from seed3d.config import Config, load_preset, to_dict, update
from seed3d.errors import CheckpointError, ConfigError, InputError, MissingDependencyError

if TYPE_CHECKING:
    from seed3d.batch import BatchResult, Item


@click.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option("-o", "--out", required=True,
              help="Folder or URL for the assets and results.")  # fmt: skip
@item_options
@click.option("--model", help="Geometry model; see `seed3d info`.  [default: seed3d-tiny]")
@click.option("--only", type=click.Choice(["photo", "mesh"]), help="Take only these.")
@click.option("--workers", type=int,
              help="Processes; 0 works in this one.  [default: by cores and memory]")  # fmt: skip
@click.option("--threads", type=int, default=1, show_default=True,
              help="Threads per worker; may change the last bits of results.")  # fmt: skip
@click.option("--time-limit", type=float, default=1800.0, show_default=True,
              help="Most clock time per item [s].")  # fmt: skip
@click.option("--memory-limit", type=float, help="Most memory per worker [GB].  [default: none]")
@click.option("--retries", type=int, default=2, show_default=True,
              help="Tries after the first of an item whose worker crashes.")  # fmt: skip
@click.option("--retry-failed", is_flag=True, help="Do failed items again.")
@click.option("--ray", metavar="local|auto|ADDRESS", help="Work on a Ray cluster.")
def batch(inputs: tuple[str, ...], out: str, dry_run: bool, quiet: bool, **flags: Any) -> None:
    """Make assets of all photos and meshes in INPUTS: folders, globs, manifests.

    A manifest is a .csv or .jsonl file with `path` and any option per row (height, mass,
    material, seed, preset, texture.size ...). Places may be fsspec URLs as s3://bucket/photos.

    Killed or stopped, the same command goes on; finished items aren't done again. See
    index.html, summary.csv and results.jsonl in the output. The exit code is 0 when every
    item is a verified asset, else 1.
    """
    from seed3d.batch import Limits, plan_items, run_batch
    from seed3d.batch.options import merged
    from seed3d.batch.progress import Overall

    try:
        base, options = load_preset(flags["preset"]), {}
        for some in overrides(flags):
            options = merged(options, some)
        items = plan_items(inputs, base, options, out, flags["only"])
        limits = Limits(flags["time_limit"], flags["memory_limit"], flags["retries"],
                        flags["threads"])  # fmt: skip
        if dry_run:
            _show_plan(items, update(base, options))
            return
        with Overall(len(items), quiet) as progress:
            result = run_batch(
                inputs, out, base, options, workers=flags["workers"], limits=limits,
                ray=flags["ray"], retry_failed=flags["retry_failed"], report=progress.add,
                items=items,
            )  # fmt: skip
    except (ConfigError, InputError, MissingDependencyError, CheckpointError) as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(
            f"{error}. Nothing that is finished is lost; mend it, and the same command goes on"
        ) from error
    except KeyboardInterrupt:
        click.echo("stopped; the same command goes on", err=True)
        sys.exit(130)
    _conclude(result, out, quiet)


def _conclude(result: BatchResult, out: str, quiet: bool) -> None:
    failed = result.failed
    if failed and not quiet:
        click.echo(_table(failed), err=True, nl=False)
    word = f"{len(result.rows) - len(failed)} of {len(result.rows)} verified"
    if failed:
        word += f", {len(failed)} not (--retry-failed tries them again)"
    memory = f", up to {result.peak_worker_bytes / 1e9:.2f} GB per worker" * bool(
        result.peak_worker_bytes
    )
    click.echo(f"{word}; {result.made} worked on in {result.seconds:.0f} s{memory}")
    click.echo(f"see {out.rstrip('/')}/index.html")
    sys.exit(1 if failed else 0)


def _table(rows: list[dict[str, Any]]) -> str:
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("input", "status", "cause", title="not verified")
    for row in rows:
        table.add_row(*(Text(str(row.get(key, ""))) for key in ("input", "status", "cause")))
    text = io.StringIO()
    Console(file=text, width=100).print(table)
    return text.getvalue()


def _show_plan(items: list[Item], config: Config) -> None:
    import yaml

    click.echo(yaml.safe_dump(plain(to_dict(config)), sort_keys=False), nl=False)
    for item in items:
        own = f"  {item.options}" if item.options else ""
        click.echo(f"# {item.name}  {item.kind}  {item.label}{own}")
