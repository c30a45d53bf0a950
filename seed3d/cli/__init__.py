"""The command line: thin over `seed3d.pipeline`.

Exit codes: 0 done and verified, 1 something failed (told per item), 2 wrong usage.
Each command lives in a module of its own, imported when it's called or listed.
"""

from __future__ import annotations

import click

from seed3d import __version__
from seed3d.cli.lazy import LazyGroup

COMMANDS = {
    "generate": "seed3d.cli.make:generate",
    "simready": "seed3d.cli.make:simready",
    "batch": "seed3d.cli.batch:batch",
    "scene": "seed3d.cli.scene:scene",
    "verify": "seed3d.cli.verify:verify",
    "app": "seed3d.cli.app:app",
    "data": "seed3d.cli.data:data",
    "evaluate": "seed3d.cli.evaluate:evaluate",
    "weights": "seed3d.cli.weights:weights",
    "info": "seed3d.cli.info:info",
}
"""Name to module:object, in the order of --help."""

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="seed3d")
def main() -> None:
    """One photo of an object to a 3D asset that a physics simulator can use at once.

    \b
    seed3d generate examples/mug.png -o out/              photo to asset
    seed3d generate mug.png -o out/ --height 0.095        with its true height [m]
    seed3d simready chair.glb -o out/                     your own mesh to asset
    seed3d batch photos/ -o out/                          all photos and meshes of a folder
    seed3d scene desk.yaml -o out/desk                    several assets in one world
    seed3d verify out/mug                                 check an asset again
    seed3d app                                            all of it in the browser
    seed3d info                                           versions, device, models

    Each asset is a folder with URDF, MJCF, USD and GLB, textures, hulls, a preview and
    report.json: what was measured, estimated and verified.
    """  # noqa: D301
