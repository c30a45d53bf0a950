"""`seed3d info`: what is at hand."""

from __future__ import annotations

import click

from seed3d import __version__


@click.command()
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
