"""One bar for the whole batch: done, rate, time left, failures; plain lines where there's no terminal."""

from __future__ import annotations

import time
from typing import Any

from seed3d.batch.plan import Item


class Overall:
    """Shows how far the batch is."""

    def __init__(self, total: int, quiet: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.total, self.quiet = total, quiet
        self.done = self.kept = self.failed = 0
        self.start = time.monotonic()
        self.console = Console(stderr=True, highlight=False)
        self.bar = Progress(
            BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"),
            console=self.console, disable=quiet or not self.console.is_terminal,
        )  # fmt: skip
        self.task = self.bar.add_task("starting", total=total)

    def __enter__(self) -> Overall:
        """Start the bar."""
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the bar."""
        self.bar.stop()

    def add(self, item: Item, outcome: dict[str, Any]) -> None:
        """Count an item; tell failures at once."""
        from rich.markup import escape

        result = outcome["result"]
        self.done += 1
        self.kept += outcome["kept"]
        good = result["status"] == "verified"
        self.failed += not good
        self.bar.update(self.task, completed=self.done, description=self.state())
        if self.quiet or (good and self.console.is_terminal):
            return
        what = "kept" if outcome["kept"] and good else result["status"]
        text = f"{item.label}: {what}" + (f", {result['cause']}" if result.get("cause") else "")
        style = "none" if good else "red"
        line = f"[{style}]{escape(text)}[/]"
        if not self.console.is_terminal:
            line = f"{self.done}/{self.total} {line}; {self.state()}"
        self.bar.console.print(line, soft_wrap=True)

    def state(self) -> str:
        """Rate, time left and failures in words."""
        made, seconds = self.done - self.kept, max(time.monotonic() - self.start, 1e-9)
        parts = [f"{self.failed} failed"]
        if self.kept:
            parts.append(f"{self.kept} kept")
        if made:
            left = (self.total - self.done) * seconds / made
            parts = [f"{60 * made / seconds:.3g} per minute", f"{_clock(left)} left", *parts]
        return ", ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
