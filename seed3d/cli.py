"""The command line: thin over `seed3d.pipeline`.

Exit codes: 0 done and verified, 1 something failed (told per item), 2 wrong usage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from seed3d import __version__
from seed3d.config import Config, ConfigError, load_preset, to_dict, update
from seed3d.errors import Seed3DError

UNITS_M = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="seed3d")
def main() -> None:
    r"""One photo of an object to a 3D asset that a physics simulator can use at once.

    \b
    seed3d generate examples/mug.png -o out/              photo to asset
    seed3d generate mug.png -o out/ --height 0.095        with its true height [m]
    seed3d simready chair.glb -o out/                     your own mesh to asset
    seed3d verify out/mug                                 check an asset again
    seed3d info                                           versions, device, models

    Each asset is a folder with URDF, MJCF, USD and GLB, textures, hulls, a preview and
    report.json: what was measured, estimated and verified.
    """


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that generate and simready share."""
    for option in reversed(
        [
            click.option("-o", "--out", type=click.Path(path_type=Path), required=True,
                         help="Folder for the assets; each gets a folder of its own in it."),
            click.option("--height", type=float, help="True height of the object [m]."),
            click.option("--length", type=float, help="True longest side of the object [m]."),
            click.option("--mass", type=float, help="True mass of the object [kg]."),
            click.option("--material", help="Row of configs/materials.yaml, e.g. ceramic, steel."),
            click.option("--seed", type=int, help="Seed of every random choice.  [default: 0]"),
            click.option("--preset", default="default", show_default=True,
                         help="fast, default or quality; or the path of a YAML file."),
            click.option("--formats", help="Comma-separated: urdf,mjcf,usd,glb.  [default: all]"),
            click.option("--device", help="auto, cpu or cuda.  [default: auto]"),
            click.option("--set", "sets", multiple=True, metavar="KEY=VALUE",
                         help="Any other option, e.g. --set texture.size=2048. See --dry-run."),
            click.option("--dry-run", is_flag=True,
                         help="Print the resolved configuration and stop."),
            click.option("-q", "--quiet", is_flag=True, help="Only errors and the last line."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


@main.command()
@click.argument("images", nargs=-1, required=True, type=click.Path(path_type=Path))
@_options
@click.option("--model", help="Geometry model; see `seed3d info`.  [default: seed3d-tiny]")
def generate(images: tuple[Path, ...], out: Path, dry_run: bool, quiet: bool, **flags: Any) -> None:
    """Make a simulation-ready asset from each photo IMAGES.

    One object per photo, all of it visible. A transparent background is used as the mask; else
    the background is removed. Size, mass and material are estimated unless you give them.
    """
    from seed3d.pipeline import generate as run

    _run_all(images, out, flags, dry_run, quiet, run)


@main.command()
@click.argument("meshes", nargs=-1, required=True, type=click.Path(path_type=Path))
@_options
@click.option("--up", type=click.Choice(["y", "z"]),
              help="Up axis of the file.  [default: y for GLB and OBJ, z for STL and PLY]")  # fmt: skip
@click.option(
    "--units",
    type=click.Choice(["m", "cm", "mm", "inch"]),
    default="m",
    show_default=True,
    help="Unit of the file's coordinates.",
)
def simready(
    meshes: tuple[Path, ...],
    out: Path,
    dry_run: bool,
    quiet: bool,
    up: str | None,
    units: str,
    **flags: Any,
) -> None:
    """Make a simulation-ready asset from each mesh MESHES (GLB, glTF, OBJ, PLY, STL).

    Open or broken meshes are rebuilt as a watertight solid; the texture is kept.
    """
    from functools import partial

    from seed3d.pipeline import simready as run

    _run_all(meshes, out, flags, dry_run, quiet, partial(run, up=up, unit_m=UNITS_M[units]))


@main.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def verify(folders: tuple[Path, ...], as_json: bool) -> None:
    """Check asset FOLDERS again: files against each other, then a drop in PyBullet and MuJoCo."""
    import json

    from seed3d.config import VerifyConfig
    from seed3d.verify import summary, to_json, verify_folder

    verdicts: dict[str, Any] = {}
    failed = 0
    for folder in folders:
        try:
            verdict = verify_folder(folder, VerifyConfig())
        except Seed3DError as error:
            failed += 1
            verdicts[str(folder)] = {"passed": False, "error": str(error)}
            click.echo(f"{folder}: {error}", err=True)
            continue
        failed += not verdict.passed
        verdicts[str(folder)] = to_json(verdict)
        if not as_json:
            click.echo(f"{folder}\n{summary(verdict)}")
    if as_json:
        click.echo(json.dumps(verdicts, indent=1, sort_keys=True))
    sys.exit(1 if failed else 0)


@main.command()
def info() -> None:
    """Print versions, the device, and the models at hand with size, licence and measured score."""
    import platform

    import torch

    from seed3d.checkpoints import list_models
    from seed3d.config import presets
    from seed3d.report import versions

    click.echo(f"seed3d {__version__}, Python {platform.python_version()}, {platform.platform()}")
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none (CPU is used)"
    click.echo(f"GPU: {gpu}; CPU threads: {torch.get_num_threads()}")
    click.echo("Presets: " + ", ".join(presets()))
    click.echo("Packages: " + ", ".join(f"{k} {v}" for k, v in sorted(versions().items())))
    click.echo("Models:")
    for model in list_models():
        click.echo(f"  {model.name}  {model.bytes / 1e6:.1f} MB  {model.licence}  {model.score}")


@main.group()
def evaluate() -> None:
    """Measure the models on objects that they never saw."""


@evaluate.command("geometry")
@click.option("--data", type=click.Path(path_type=Path), default="datasets", show_default=True,
              help="Folder with objects/ and features/ of scripts/prepare_dataset.py.")  # fmt: skip
@click.option("--split", type=click.Choice(["val", "test"]), default="test", show_default=True)
@click.option("--kind", type=click.Choice(["all", "furniture", "procedural"]), default="all")
@click.option("--limit", type=int, help="Most objects, spread evenly.  [default: all]")
@click.option("--preset", default="default", show_default=True)
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="As in generate.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the table here.")
def evaluate_geometry_command(
    data: Path, split: Any, kind: str, limit: int | None, json_file: Path | None, **flags: Any
) -> None:
    """Photo to shape: IoU, Chamfer, F-score, silhouette and camera, next to baselines."""
    import json

    from rich.progress import track

    from seed3d.evaluate.geometry import evaluate_geometry, summarise

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
        json_file.write_text(json.dumps({**total, "items": rows}, indent=1) + "\n")


def resolve(flags: dict[str, Any]) -> Config:
    """Preset, then flags, then --set; strict.

    Raises:
        ConfigError: Unknown key or wrong value.
    """
    import yaml

    config = load_preset(flags["preset"])
    nested = {
        "seed": flags.get("seed"), "device": flags.get("device"),
        "geometry": {"model": flags.get("model")},
        "physics": {k: flags.get(k) for k in ("height", "length", "mass", "material")},
        "export": {"formats": flags.get("formats")},
    }  # fmt: skip
    config = update(config, _given(nested))
    for item in flags.get("sets", ()):
        key, equals, value = item.partition("=")
        if not equals:
            raise ConfigError(f"--set {item}: wanted KEY=VALUE, e.g. texture.size=2048")
        data: Any = yaml.safe_load(value)
        for part in reversed(key.split(".")):
            data = {part: data}
        config = update(config, data)
    return config


def _given(nested: dict[str, Any]) -> dict[str, Any]:
    """Without the flags that weren't given."""
    inner = {k: _given(v) if isinstance(v, dict) else v for k, v in nested.items()}
    return {k: v for k, v in inner.items() if v is not None and v != {}}


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

        click.echo(yaml.safe_dump(_plain(to_dict(config)), sort_keys=False), nl=False)
        return
    from seed3d.pipeline import save

    failed = 0
    for path, name in zip(paths, unique_names(p.stem for p in paths), strict=True):
        with Stages(path.name, quiet) as stages:
            try:
                asset = run(path, config, name, stages)
                verdict = save(asset, out / name, config, stages)
            except Seed3DError as error:
                failed += 1
                stages.failed(str(error))
                continue
            failed += not verdict.passed
            stages.finished(out / name, asset, verdict)
    if failed:
        click.echo(f"{failed} of {len(paths)} failed", err=True)
    sys.exit(1 if failed else 0)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return list(value) if isinstance(value, tuple) else value
