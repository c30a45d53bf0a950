"""`seed3d verify`: check assets again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from seed3d.errors import Seed3DError


@click.command()
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
