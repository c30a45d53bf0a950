"""`seed3d generate` and `seed3d simready`: photos and meshes to assets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from seed3d.cli.options import UNITS_M, making_options, plain, resolve
from seed3d.config import ConfigError, to_dict
from seed3d.errors import Seed3DError


@click.command()
@click.argument("images", nargs=-1, required=True, type=click.Path(path_type=Path))
@making_options
@click.option(
    "--model",
    help="Geometry model; see `seed3d info` and `seed3d weights list`.  [default: seed3d-tiny]",
)
@click.option("--vlm", metavar="URL",
              help="Ask a vision-language model (OpenAI-compatible) for size and material.")  # fmt: skip
def generate(images: tuple[Path, ...], out: Path, dry_run: bool, quiet: bool, **flags: Any) -> None:
    """Make a simulation-ready asset from each photo IMAGES.

    One object per photo, all of it visible. A transparent background is used as the mask; else
    the background is removed. Size, mass and material are estimated unless you give them.
    """
    from seed3d.pipeline import generate as run

    _run_all(images, out, flags, dry_run, quiet, run)


@click.command()
@click.argument("meshes", nargs=-1, required=True, type=click.Path(path_type=Path))
@making_options
@click.option("--up", type=click.Choice(["y", "z"]),
              help="Up axis of the file.  [default: y for GLB and OBJ, z for STL and PLY]")  # fmt: skip
@click.option(
    "--units",
    type=click.Choice(["m", "cm", "mm", "inch"]),
    help="Unit of the file's coordinates.  [default: m, but then objects under 1 cm or over 20 m "
    "are refused as a likely slip]",
)
def simready(
    meshes: tuple[Path, ...],
    out: Path,
    dry_run: bool,
    quiet: bool,
    up: str | None,
    units: str | None,
    **flags: Any,
) -> None:
    """Make a simulation-ready asset from each mesh MESHES (GLB, glTF, OBJ, PLY, STL).

    Open or broken meshes are rebuilt as a watertight solid; the texture is kept.
    """
    from functools import partial

    from seed3d.pipeline import simready as run

    make = partial(run, up=up, unit_m=UNITS_M.get(units or ""))
    _run_all(meshes, out, flags, dry_run, quiet, make)


def _run_all(
    paths: tuple[Path, ...],
    out: Path,
    flags: dict[str, Any],
    dry_run: bool,
    quiet: bool,
    run: Callable[..., Any],
) -> None:
    """Run every item; one that fails is told and the others go on."""
    from seed3d.names import unique_names
    from seed3d.progress import Stages

    try:
        config = resolve(flags)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    if dry_run:
        import yaml

        click.echo(yaml.safe_dump(plain(to_dict(config)), sort_keys=False), nl=False)
        return
    from seed3d.pipeline import save
    from seed3d.verify.isolate import Launcher

    failed = 0
    for path, name in zip(paths, unique_names(p.stem for p in paths), strict=True):
        with Launcher() as launcher, Stages(path.name, quiet) as stages:
            try:
                asset = run(path, config, name, stages)
                verdict = save(asset, out / name, config, stages, launcher)
            except Seed3DError as error:
                failed += 1
                stages.failed(str(error))
                continue
            failed += not verdict.passed
            stages.finished(out / name, asset, verdict)
    if failed:
        click.echo(f"{failed} of {len(paths)} failed", err=True)
    sys.exit(1 if failed else 0)
