"""`seed3d app`: the web page."""

from __future__ import annotations

import importlib.util
import signal
from typing import Any

import click

from seed3d.errors import ConfigError
from seed3d.web.settings import WebSettings

_DEFAULT = WebSettings()


@click.command()
@click.option("--host", default=_DEFAULT.host, show_default=True,
              help="Address to listen on; 0.0.0.0 lets other machines in.")  # fmt: skip
@click.option("--port", default=_DEFAULT.port, show_default=True, help="0 takes a free port.")
@click.option("--jobs", default=_DEFAULT.jobs, show_default=True,
              help="Assets made at the same time.")  # fmt: skip
@click.option("--queue", default=_DEFAULT.queue, show_default=True,
              help="Most requests that may wait.")  # fmt: skip
@click.option("--upload-mb", default=_DEFAULT.upload_mb, show_default=True,
              help="Largest upload [MB].")  # fmt: skip
@click.option("--max-megapixels", default=_DEFAULT.max_megapixels, show_default=True,
              help="Largest photo [million pixels].")  # fmt: skip
@click.option("--keep-minutes", default=_DEFAULT.keep_minutes, show_default=True,
              help="Uploads and results older than this are deleted.")  # fmt: skip
@click.option("--job-minutes", default=_DEFAULT.job_minutes, show_default=True,
              help="Longest time of one asset.")  # fmt: skip
@click.option("--memory-gb", default=_DEFAULT.memory_gb, show_default=True,
              help="Most memory of one job (Linux); 0: no limit.")  # fmt: skip
@click.option("--preset", default="", help="Fix the quality to this preset.")
@click.option("--open/--no-open", "opens", default=False, help="Open the page in the browser.")
def app(opens: bool, **values: Any) -> None:
    """Serve the web page: photo or mesh to asset in a browser, and as an API.

    It listens on this computer only unless you say otherwise. Uploads and results are kept in a
    private temporary folder and deleted.
    """
    try:
        settings = WebSettings(**values)
        if settings.preset:
            from seed3d.config import load_preset

            load_preset(settings.preset)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    if importlib.util.find_spec("gradio") is None:
        raise click.ClickException(
            "the web page needs gradio, which isn't installed. Run: pip install 'seed3d[web]'"
        )
    from seed3d.web.page import serve

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up, as on Ctrl-C
    page, desk, url = serve(settings)
    click.echo(f"Seed3D is ready: {url}")
    if opens:
        import webbrowser

        webbrowser.open(url)
    try:
        page.block_thread()
    finally:
        desk.close()
