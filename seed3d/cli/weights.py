"""`seed3d weights ...`: published weights, fetched on request."""

from __future__ import annotations

import sys

import click

from seed3d.errors import CheckpointError


@click.group()
def weights() -> None:
    """Published weights that are too large to ship: list, fetch, verify."""


@weights.command("list")
def list_command() -> None:
    """Print what can be fetched: size, licence, source, and whether it's in the cache."""
    from seed3d.weights import cache_dir, list_weights, missing

    click.echo(f"cache: {cache_dir()}")
    for one in list_weights():
        state = "fetched" if not missing(one) else "not fetched"
        click.echo(f"  {one.name}  {one.bytes / 1e9:.2f} GB  {one.licence}  {state}")
        click.echo(f"    {one.about}")
        click.echo(f"    {one.source} at {one.revision[:12]}")


@weights.command()
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
def fetch(name: str, yes: bool) -> None:
    """Download the weights NAME and what they need, after showing size and licence.

    Files are pinned to a revision and to their SHA-256. A broken download goes on with the same
    command.
    """
    from seed3d.weights import cache_dir, missing, with_needs
    from seed3d.weights import fetch as download

    try:
        wanted = [one for one in with_needs(name) if missing(one)]
        if not wanted:
            click.echo(f"{name}: already in {cache_dir()}")
            return
        for one in wanted:
            click.echo(f"{one.name}: {one.bytes / 1e9:.2f} GB, licence {one.licence}")
            click.echo(f"  {one.about}")
            click.echo(f"  from {one.source} at {one.revision}")
        total = sum(file.bytes for one in wanted for file in missing(one))
        click.echo(f"To fetch: {total / 1e9:.2f} GB into {cache_dir()}")
        if not yes:
            click.confirm("Fetch?", abort=True)
        for one in wanted:
            with _Bar() as bar:
                download(one, progress=bar)
            click.echo(f"{one.name}: done, SHA-256 verified")
    except CheckpointError as error:
        click.echo(str(error), err=True)
        sys.exit(1)


@weights.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Check the SHA-256 of fetched weights NAMES (default: all that are in the cache)."""
    from seed3d.weights import find_weights, list_weights, missing
    from seed3d.weights import verify as check

    try:
        chosen = [find_weights(name) for name in names] or [
            one for one in list_weights() if not missing(one)
        ]
    except CheckpointError as error:
        raise click.UsageError(str(error)) from error
    bad = 0
    for one in chosen:
        for file, state in check(one).items():
            click.echo(f"{one.name}/{file}: {state}")
            bad += state != "ok"
    if not chosen:
        click.echo("nothing fetched; see `seed3d weights list`")
    sys.exit(1 if bad else 0)


class _Bar:
    """Progress of the files of one download, on a terminal."""

    def __enter__(self) -> _Bar:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
        from rich.progress import TransferSpeedColumn as Speed

        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(), Speed(),
            console=Console(stderr=True), disable=not sys.stderr.isatty(),
        )  # fmt: skip
        self.rows: dict = {}
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def __call__(self, file: str, done: int, total: int) -> None:
        if file not in self.rows:
            self.rows[file] = self.bar.add_task(file, total=total)
        self.bar.update(self.rows[file], completed=done)
