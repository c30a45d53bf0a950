"""Live progress of one item: a line per stage with the time it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seed3d.types import Asset, Verdict

BAR = 20
"""Width of the bar within a stage [character]."""


class Stages:
    """Shows a spinner on the running stage and a line for each finished one.

    Called with a stage's name it returns the context the stage runs in (`pipeline.Progress`).
    """

    def __init__(self, title: str, quiet: bool = False) -> None:
        from rich.console import Console

        self.console = Console(stderr=True, highlight=False)
        self.quiet = quiet
        self.title = title
        self.start = time.perf_counter()
        self.status: Any = None

    def __enter__(self) -> Stages:
        """Print the item's title."""
        if not self.quiet:
            self.console.print(f"[bold]{_plain(self.title)}[/]")
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to clean up."""

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Show a stage while it runs."""
        start = time.perf_counter()
        if self.quiet:
            yield
            return
        with self.console.status(f"{stage} ...") as self.status:
            yield
        self.status = None
        self.console.print(f"  {stage:<10}{time.perf_counter() - start:7.1f} s")

    def part(self, what: str, done: float) -> None:
        """Show what a long stage is doing, with a bar of the share that's done."""
        if self.status is not None:
            full = round(done * BAR)
            self.status.update(f"[cyan]{'━' * full}[/][dim]{'━' * (BAR - full)}[/] {_plain(what)}")

    def failed(self, message: str) -> None:
        """Tell that the item failed and why."""
        self.console.print(f"[red]{_plain(self.title)}: {_plain(message)}[/]", soft_wrap=True)

    def finished(self, folder: Path, asset: Asset, verdict: Verdict) -> None:
        """Tell what came out in words."""
        seconds = time.perf_counter() - self.start
        bad = [check for check in verdict.checks if not check.passed]
        word = "[green]verified[/]" if verdict.passed else f"[red]{len(bad)} checks failed[/]"
        size = " x ".join(f"{v:.3g}" for v in asset.mesh.extents)
        material = asset.estimates["material"].value if "material" in asset.estimates else "?"
        self.console.print(
            f"{_plain(str(folder))}: {word}, {size} m, {asset.body.mass_kg:.3g} kg, {material}, "
            f"{len(asset.collision.hulls)} hulls, {seconds:.1f} s",
            soft_wrap=True,
        )
        for check in bad:
            where = f" in {check.engine}" if check.engine else ""
            line = f"  {check.name}{where}: got {check.value}; wanted {check.wanted}"
            self.console.print(f"[red]{_plain(line)}[/]", soft_wrap=True)
        if verdict.unsteady and not self.quiet:
            line = f"  note: it doesn't come to rest after a fall: {verdict.unsteady}"
            self.console.print(f"[yellow]{_plain(line)}[/]", soft_wrap=True)
        for fallback in asset.fallbacks:
            if not self.quiet:
                line = f"  note, {fallback.stage}: {fallback.what}"
                self.console.print(f"[yellow]{_plain(line)}[/]", soft_wrap=True)


def _plain(text: Any) -> str:
    from rich.markup import escape

    return escape(str(text))
