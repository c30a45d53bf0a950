"""The scene tab: assets made on this page, dropped on a floor, settled, to download."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import gradio as gr

from seed3d.errors import InputError, Seed3DError
from seed3d.web import words
from seed3d.web.desk import Desk
from seed3d.web.pool import Cancelled
from seed3d.web.result import WORK

MOST = 30
"""Most objects in a scene made here; the command line has no limit."""
STANDING = "standing up"
HINT = (
    "<div class='seed-hint'><b>Your scene appears here.</b><br>Tick assets on the left and press "
    "the button: they fall on a floor, come to rest, and are checked in two physics engines.</div>"
)


def scene_tab(desk: Desk, tab: gr.Tab) -> None:
    """Lay the tab out and wire it; call inside `tab`."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=320):
            told = gr.HTML(words.note("First make an asset in one of the other tabs."))
            chosen = gr.CheckboxGroup([], label="Assets of this page", elem_id="scene-assets")
            count = gr.Slider(1, MOST, value=6, step=1, label="Objects in all",
                              elem_id="scene-count")  # fmt: skip
            how = gr.Radio([STANDING, "tumbled"], value=STANDING, label="They fall")
            go = gr.Button("Drop on a floor and settle", variant="primary", size="lg",
                           elem_id="scene-go")  # fmt: skip
        with gr.Column(scale=3, min_width=340):
            progress = gr.HTML(HINT, elem_id="scene-progress")
            cancel = gr.Button("Cancel", variant="stop", visible=False, elem_id="scene-cancel")
            with gr.Column(visible=False, elem_id="scene-result") as column:
                verdict = gr.HTML(elem_id="scene-verdict")
                picture = gr.Image(show_label=False, interactive=False, type="filepath",
                                   buttons=["fullscreen"], elem_id="scene-picture")  # fmt: skip
                load = gr.DownloadButton("Download scene (MJCF, URDF, USD, GLB)",
                                         variant="primary", elem_id="scene-load")  # fmt: skip
    hidden: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}

    def list_assets(request: gr.Request) -> Any:
        made = desk.assets(str(request.session_hash))
        names = [(f"{i}. {name}", token) for i, (token, name) in enumerate(made, 1)]
        text = "" if names else words.note("First make an asset in one of the other tabs.")
        return gr.update(choices=names, value=[token for _, token in names]), text

    tab.select(list_assets, None, [chosen, told], queue=False, **hidden)

    def make(tokens: list[str], count: float, how: str, request: gr.Request) -> Iterator[Any]:
        session = str(request.session_hash)
        token, folder = desk.new_job(session)
        over = {cancel: gr.update(visible=False)}
        yield {progress: words.progress(["start"], {}, "", 0.0, None),
               cancel: gr.update(visible=True), column: gr.update(visible=False)}  # fmt: skip
        try:
            sources = _sources(desk, tokens, count)
            facts: dict[str, Any] = {}
            for what, value in desk.follow(
                session, "make_scene", "scene", token, sources=sources, folder=str(folder),
                count=int(count), upright=how == STANDING,
            ):  # fmt: skip
                if what == "progress":
                    yield {progress: value}
                else:
                    facts = value
            yield {
                **over,
                progress: "",
                column: gr.update(visible=True),
                verdict: scene_words(facts),
                picture: facts["picture"],
                load: facts["zip"],
            }
        except Cancelled:
            desk.workspace.drop(token)
            yield {**over, progress: words.note("Stopped. Nothing was kept.")}
        except Seed3DError as error:
            desk.workspace.drop(token)
            yield {**over, progress: words.problem(str(error))}

    def stop(request: gr.Request) -> None:
        desk.cancel(str(request.session_hash))

    go.click(make, [chosen, count, how], [progress, cancel, column, verdict, picture, load],
             concurrency_id=WORK, trigger_mode="once", **hidden)  # fmt: skip
    cancel.click(stop, None, None, queue=False, **hidden)


def _sources(desk: Desk, tokens: list[str], count: float) -> list[str]:
    """Folders of the chosen assets."""
    if not tokens:
        raise InputError("no asset chosen; make one in another tab and tick it here")
    if not 1 <= count <= MOST:
        raise InputError(f"objects: got {count}; wanted 1 to {MOST}")
    return [str(desk.workspace.job(token)) for token in tokens]


def scene_words(facts: dict[str, Any]) -> str:
    """Return what became of a scene."""
    good = facts["passed"]
    head = "The scene is at rest and holds in both engines" if good else "The scene has problems"
    items = "".join(f"<li>{escape(text)}</li>" for text in facts["problems"][:8])
    return (
        f"<div class='seed-box {'good' if good else 'bad'}'><b>{head}</b><p>{facts['count']} "
        f"objects, settled in MuJoCo, deepest overlap {facts['penetration_mm']:.2f} mm.</p>"
        + (f"<ul>{items}</ul>" if items else "")
        + "</div>"
    )
