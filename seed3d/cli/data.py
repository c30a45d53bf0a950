"""`seed3d data ...`: training records from models, procedural objects and their photos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

RECORDS = Path("datasets/objects")
FEATURES = Path("datasets/features")
_records = click.option("--records", type=click.Path(path_type=Path), default=RECORDS,
                        show_default=True, help="Folder of the training records.")  # fmt: skip
_features = click.option("--features", type=click.Path(path_type=Path), default=FEATURES,
                         show_default=True, help="Folder of the photos' features.")  # fmt: skip


@click.group()
def data() -> None:
    """Make the training and evaluation data, step by step; every step resumes.

    \b
    seed3d data build --procedural 28              objects, TSDF grids, rendered photos
    seed3d data build --furniture /usr/share/sweethome3d/furniture --variants 4
    seed3d data features                           photos through the frozen image encoder
    seed3d data duplicates                         training twins of held-out objects, left out
    seed3d data stats                              what is there
    seed3d data pack set.zip                       everything in one small file

    The furniture libraries come with the Debian package sweethome3d-furniture (CC0, CC-BY).
    """  # noqa: D301


@data.command()
@_records
@click.option("--procedural", type=int, default=0, help="Objects per procedural category.")
@click.option("--only", multiple=True, help="Procedural category; repeat for several.")
@click.option("--first-seed", type=int, default=0, show_default=True)
@click.option("--training-only", is_flag=True, help="No object of another split.")
@click.option("--view-seed", type=int, default=0, show_default=True,
              help="Another one gives other photos of the same objects.")  # fmt: skip
@click.option("--procedural-views", type=int, default=2, show_default=True)
@click.option("--furniture", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="Folder of .sh3f furniture libraries.")  # fmt: skip
@click.option("--views", type=int, default=6, show_default=True, help="Photos per furniture model.")
@click.option("--variants", type=int, default=0, show_default=True,
              help="Stretched variants per furniture model of the training split.")  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path), default=Path("datasets/furniture"),
              show_default=True, help="Where models are unpacked to.")  # fmt: skip
@click.option("--workers", type=int, default=2, show_default=True)
def build(
    records: Path, procedural: int, only: tuple[str, ...], first_seed: int, training_only: bool,
    view_seed: int, procedural_views: int, furniture: Path | None, views: int, variants: int, cache: Path,
    workers: int,
) -> None:  # fmt: skip
    """Remesh, measure and photograph objects: one record each."""
    from rich.progress import track

    from seed3d.data.prepare import furniture_jobs, prepare, procedural_jobs
    from seed3d.errors import InputError

    try:
        jobs = procedural_jobs(
            procedural, first_seed, procedural_views, only, training_only, view_seed
        )
    except InputError as error:
        raise click.UsageError(str(error)) from error
    if furniture:
        jobs += furniture_jobs(
            furniture, cache, views, variants, training_only=training_only, view_seed=view_seed
        )
    if not jobs:
        raise click.UsageError("nothing to build; give --procedural N or --furniture FOLDER")

    def bar(results: Any) -> Any:
        return track(results, description="objects", total=len(jobs))

    counts = prepare(jobs, records, workers, bar)
    click.echo(", ".join(f"{n} {state}" for state, n in sorted(counts.items())))


@data.command()
@_records
@_features
def features(records: Path, features: Path) -> None:
    """Encode all photos and their mirror images with the frozen image encoder."""
    from rich.progress import track

    from seed3d.train.data import add_features, record_paths

    total = len(record_paths(records))
    for _ in track(add_features(records, features), description="photos", total=total):
        pass


@data.command()
@_features
@click.option("--held-out", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="Folder of the held-out photos' features, where it's another one.")  # fmt: skip
def duplicates(features: Path, held_out: Path | None) -> None:
    """List training objects that nearly equal a held-out one; training leaves them out."""
    from seed3d.data.duplicates import near_duplicates, write_duplicates

    rows = near_duplicates(features, held_out)
    path = write_duplicates(features, rows)
    click.echo(
        f"{len({r['train'] for r in rows})} training objects nearly equal one of "
        f"{len({r['held_out'] for r in rows})} held-out ones: {path}"
    )


@data.command()
@_records
def stats(records: Path) -> None:
    """Print counts by split, kind, licence and category, and failures by cause."""
    import json

    from seed3d.data.prepare import statistics

    click.echo(json.dumps(statistics(records), indent=1))


@data.command()
@click.argument("target", type=click.Path(path_type=Path))
@_records
@click.option("--views", type=int, default=2, show_default=True, help="Photos per object.")
def pack(target: Path, records: Path, views: int) -> None:
    """Write the records as one small file TARGET."""
    from rich.progress import track

    from seed3d.data.pack import pack as run

    size = run(records, target, views, lambda paths: track(paths, description="objects"))
    click.echo(f"{target}: {size / 2**20:.1f} MiB")


@data.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@_records
def unpack(source: Path, records: Path) -> None:
    """Write the records of a packed file SOURCE."""
    from seed3d.data.pack import unpack as run

    click.echo(f"{run(source, records)} records in {records}")
