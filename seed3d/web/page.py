"""The page: a tab for photos, one for meshes, and the hidden functions of the API."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from seed3d.config import data_dir
from seed3d.errors import Seed3DError
from seed3d.web import words
from seed3d.web.api import add_api
from seed3d.web.desk import Desk
from seed3d.web.inputs import (
    AUTO,
    MESH_SUFFIXES,
    QUALITIES,
    file_of,
    materials,
    options,
    photo_input,
    preset_of,
)
from seed3d.web.result import STATIC, WORK, ResultPanel
from seed3d.web.scene_tab import scene_tab
from seed3d.web.settings import WebSettings

UNITS_M = {"metres": 1.0, "centimetres": 0.01, "millimetres": 0.001, "inches": 0.0254}
UP_AXES = {"by the format": None, "y": "y", "z": "z"}
_HEAD = (
    "<div class='seed-head'><h1>Seed3D</h1><p>One photo of an object → a 3D asset that a physics "
    "simulator can use at once. Runs on this computer; nothing leaves it.</p></div>"
)


def build(desk: Desk) -> gr.Blocks:
    """Return the page, wired to a desk."""
    settings = desk.settings
    with gr.Blocks(title="Seed3D", analytics_enabled=False) as page:
        gr.HTML(_HEAD)
        with gr.Tabs():
            with gr.Tab("From a photo"):
                _photo_tab(desk)
            with gr.Tab("From a 3D model"):
                _mesh_tab(desk)
            with gr.Tab("Scene") as tab:
                scene_tab(desk, tab)
        add_api(desk)
        page.unload(_forget(desk))
    page.queue(max_size=settings.queue, default_concurrency_limit=settings.jobs)
    return page


def _forget(desk: Desk) -> Any:
    def forget(request: gr.Request) -> None:
        desk.forget(str(request.session_hash))

    return forget


def _photo_tab(desk: Desk) -> None:
    settings = desk.settings
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=320):
            photo = photo_input(
                label="Photo of one object",
                sources=["upload", "clipboard", "webcam"],
                height=210,
                elem_id="photo",
            )
            examples = sorted(p for p in data_dir("examples").glob("*.*")
                              if p.suffix in (".png", ".jpg"))  # fmt: skip
            if examples:
                gr.Examples([[str(p)] for p in examples], photo, label="Or try one of these",
                            cache_examples=False, elem_id="examples")  # fmt: skip
            mask = gr.HTML(
                None,
                html_template=(STATIC / "mask_editor.html").read_text(encoding="utf-8"),
                js_on_load=(STATIC / "mask_editor.js").read_text(encoding="utf-8"),
                elem_id="mask",
            )
            told = gr.HTML(elem_id="photo-told")
            go = gr.Button("Make 3D asset", variant="primary", size="lg", elem_id="photo-go")
            quality = _quality(settings)
            with gr.Row():
                height = gr.Number(label="True height [cm]", info="0 estimates it",
                                   value=None, min_width=120)  # fmt: skip
                material = gr.Dropdown([AUTO, *materials()], value=AUTO, label="Material",
                                       info="or say what it's made of", min_width=140)  # fmt: skip
            with gr.Accordion("More options", open=False):
                source = gr.Radio(["auto", "alpha", "model"], value="auto", label="Mask from",
                                  info="alpha: the picture's transparency; model: segmentation")  # fmt: skip
                rest = _more(with_candidates=True)
        with gr.Column(scale=3, min_width=340):
            panel = ResultPanel(desk, "photo")
    hidden: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}

    def preview(picture: Any, wanted: str, request: gr.Request) -> Iterator[Any]:
        if not picture:
            yield None, ""
            return
        yield gr.skip(), words.note("Looking for the object …")
        yield _mask(desk, picture, wanted, str(request.session_hash))

    for event in (photo.change, source.change):
        event(preview, [photo, source], [mask, told], concurrency_id="mask", concurrency_limit=1,
              trigger_mode="always_last", **hidden)  # fmt: skip

    def make(
        request: gr.Request,
        picture: Any,
        view: Any,
        quality: str,
        height: Any,
        material: str,
        source: str,
        *rest: Any,
    ) -> Iterator[Any]:
        def arguments(folder: Path) -> dict[str, Any]:
            path, name = file_of(picture)
            chosen = options(settings, height, rest[0], material, rest[1], source, *rest[2:])
            strokes = view.get("strokes", []) if isinstance(view, dict) else []
            return {"photo": path, "name": Path(name).stem, "folder": str(folder),
                    "preset": preset_of(quality, settings), "options": chosen, "strokes": strokes}  # fmt: skip

        preset = settings.preset or QUALITIES.get(quality, "")
        session = str(request.session_hash)
        yield from panel.run(session, "make_photo", f"photo {preset}", arguments)

    go.click(make, [photo, mask, quality, height, material, source, *rest],
             panel.outputs, concurrency_id=WORK, concurrency_limit=settings.jobs,
             trigger_mode="once", **hidden)  # fmt: skip
    panel.wire()


def _mesh_tab(desk: Desk) -> None:
    settings = desk.settings
    with gr.Row(equal_height=False):
        with gr.Column(scale=2, min_width=320):
            mesh = gr.File(label="Your 3D model: GLB, glTF, OBJ, PLY or STL", height=150,
                           file_types=MESH_SUFFIXES, elem_id="mesh")  # fmt: skip
            with gr.Row():
                unit = gr.Dropdown(list(UNITS_M), value="metres", label="The file's unit",
                                   min_width=120)  # fmt: skip
                up = gr.Dropdown(list(UP_AXES), value="by the format", label="Up axis",
                                 min_width=120)  # fmt: skip
            go = gr.Button("Make it simulation-ready", variant="primary", size="lg",
                           elem_id="mesh-go")  # fmt: skip
            quality = _quality(settings)
            with gr.Row():
                height = gr.Number(label="True height [cm]", info="0 keeps the file's size",
                                   value=None, min_width=120)  # fmt: skip
                material = gr.Dropdown([AUTO, *materials()], value=AUTO, label="Material",
                                       info="or say what it's made of", min_width=140)  # fmt: skip
            with gr.Accordion("More options", open=False):
                rest = _more(with_candidates=False)
        with gr.Column(scale=3, min_width=340):
            panel = ResultPanel(desk, "mesh")

    def make(
        request: gr.Request,
        file: Any,
        unit: str,
        up: str,
        quality: str,
        height: Any,
        material: str,
        *rest: Any,
    ) -> Iterator[Any]:
        def arguments(folder: Path) -> dict[str, Any]:
            path, name = file_of(file)
            chosen = options(settings, height, rest[0], material, rest[1], "auto", rest[2], None,
                             *rest[3:])  # fmt: skip
            return {"mesh": path, "name": Path(name).stem, "folder": str(folder),
                    "preset": preset_of(quality, settings), "options": chosen,
                    "up": UP_AXES.get(up), "unit_m": UNITS_M.get(unit, 1.0)}  # fmt: skip

        preset = settings.preset or QUALITIES.get(quality, "")
        session = str(request.session_hash)
        yield from panel.run(session, "make_mesh", f"mesh {preset}", arguments)

    go.click(make, [mesh, unit, up, quality, height, material, *rest],
             panel.outputs, concurrency_id=WORK, trigger_mode="once",
             api_visibility="private", show_progress="hidden")  # fmt: skip
    panel.wire()


def _mask(desk: Desk, picture: Any, wanted: str, session: str) -> tuple[Any, str]:
    """Value of the mask editor, and what to tell."""
    try:
        path, name = file_of(picture)
        view = desk.finish(
            session, "find_mask", "mask", photo=path, name=name, mask=wanted,
            max_pixels=int(desk.settings.max_megapixels * 1e6),
        )  # fmt: skip
    except Seed3DError as error:
        return None, words.problem(str(error), "This picture can't be used as it is")
    text = f"{words.MASKS.get(view['source'], '')} The bright part becomes 3D; paint to correct it."
    value = {"image": view["image"], "mask": view["mask"], "note": text, "strokes": []}
    return value, "".join(words.note(n) for n in view["notes"])


def _quality(settings: WebSettings) -> gr.Radio:
    info = "Draft about half the time, Best about three times as long"
    return gr.Radio(list(QUALITIES), value="Standard", label="Quality", info=info,
                    visible=not settings.preset)  # fmt: skip


def _more(with_candidates: bool) -> list[Any]:
    """Folded options, in the order of `inputs.options` from mass on, without the mask."""
    with gr.Row():
        mass = gr.Number(label="Mass [kg]", info="0 estimates it", value=None, min_width=100)
        seed = gr.Number(label="Seed", info="other shapes", value=0, precision=0, min_width=100)
    formats = gr.CheckboxGroup(["urdf", "mjcf", "usd", "glb"], value=["urdf", "mjcf", "usd", "glb"],
                               label="Formats")  # fmt: skip
    with gr.Row():
        candidates = [
            gr.Number(label="Candidates", info="0: by quality", value=None, min_width=100)
        ]
        if not with_candidates:
            candidates[0].visible = False
        faces = gr.Number(label="Faces", info="0: by quality", value=None, min_width=100)
        texture = gr.Number(label="Texture", info="side; 0: by quality", value=None, min_width=100)
    with gr.Row():
        threshold = gr.Number(label="Hull detail", info="0.01 fine, 1 coarse", value=None,
                              min_width=100)  # fmt: skip
        hulls = gr.Number(label="Most hulls", info="0: by quality", value=None, min_width=100)
    chosen = candidates if with_candidates else []
    return [mass, seed, formats, *chosen, faces, texture, threshold, hulls]


def serve(settings: WebSettings) -> tuple[gr.Blocks, Desk, str]:
    """Start the server in the background.

    Args:
        settings: Limits, host and port.

    Returns:
        The page, its desk, and the local address. The caller closes page and desk.
    """
    desk = Desk(settings)
    os.environ["GRADIO_TEMP_DIR"] = str(desk.workspace.cache)
    os.environ["GRADIO_EXAMPLES_CACHE"] = str(desk.workspace.cache)
    page = build(desk)
    _, url, _ = page.launch(
        server_name=settings.host,
        server_port=settings.port or None,
        prevent_thread_lock=True,
        quiet=True,
        share=False,
        show_error=False,
        ssr_mode=False,
        max_file_size=int(settings.upload_mb * 1e6),
        allowed_paths=[],
        footer_links=["api"],
        theme=gr.themes.Soft(
            primary_hue="indigo",
            font=["system-ui", "sans-serif"],
            font_mono=["ui-monospace", "monospace"],
        ),
        css_paths=STATIC / "style.css",
    )
    return page, desk, url
