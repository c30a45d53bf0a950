"""`seed3d verify`: check assets, ours and other people's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from seed3d.errors import Seed3DError


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--full/--quick", default=False, show_default="quick",
              help="full: also drop from 0.5 m, tilt table, push, stack, ball, gripper, drift.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.option("--html", "page", type=click.Path(path_type=Path),
              help="Write a page with pictures and plots; it needs no other file.")  # fmt: skip
def verify(paths: tuple[Path, ...], full: bool, as_json: bool, page: Path | None) -> None:
    """Check assets in PATHS: any URDF, MJCF, USD, GLB or mesh file, or folders of them.

    Every file is read again and checked on its own and against the others; what has physics is
    put to the test in PyBullet and MuJoCo. Exit code 0 when everything passes, else 1.
    """
    import json

    from seed3d.config import VerifyConfig
    from seed3d.verify import Report, find_targets, summary, to_json, verify_target

    verdicts: dict[str, Any] = {}
    reports: list[Report] = []
    failed = 0
    for path in paths:
        try:
            targets = find_targets(path)
        except Seed3DError as error:
            failed += 1
            verdicts[str(path)] = {"passed": False, "error": str(error)}
            click.echo(f"{path}: {error}", err=True)
            continue
        for target in targets:
            report = verify_target(target, VerifyConfig(), full, pictures=page is not None)
            failed += not report.verdict.passed
            verdicts[report.label] = to_json(report.verdict)
            reports.append(report)
            if not as_json:
                click.echo(f"{report.label}\n{summary(report.verdict)}")
    if as_json:
        click.echo(json.dumps(verdicts, indent=1, sort_keys=True))
    if page is not None:
        _write_page(page, reports)
    sys.exit(1 if failed else 0)


def _write_page(page: Path, reports: list[Any]) -> None:
    from seed3d.verify.html import html_report

    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(html_report(reports), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"--html {page}: can't be written ({error})") from error
