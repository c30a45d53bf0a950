"""What an operator can set, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from seed3d.errors import ConfigError


@dataclass(frozen=True)
class WebSettings:
    """Limits of one server."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: int = 7860
    """0 takes any free port."""
    jobs: int = 1
    """Assets made at the same time; each keeps up to two cores busy."""
    queue: int = 32
    """Most requests that may wait; more are refused at once."""
    upload_mb: float = 50.0
    """Largest upload [MB]."""
    max_megapixels: float = 64.0
    """Largest photo [million pixels], checked on its header."""
    keep_minutes: float = 60.0
    """Uploads and results are deleted when they're older than this."""
    job_minutes: float = 20.0
    """Longest time that one asset may take."""
    memory_gb: float = 12.0
    """Most memory of one job (Linux); 0 sets no limit."""
    preset: str = ""
    """Preset (or path of a YAML file) that replaces the choice of quality; empty: visitors choose."""
    film_pixels: int = 360
    """Side of the film of the drop."""

    def __post_init__(self) -> None:
        for name, low in (("jobs", 1), ("queue", 1), ("upload_mb", 0.01), ("max_megapixels", 0.01),
                          ("keep_minutes", 0.01), ("job_minutes", 0.01), ("memory_gb", 0)):  # fmt: skip
            if not getattr(self, name) >= low:
                raise ConfigError(f"app {name}: got {getattr(self, name)}; wanted at least {low}")
