"""The right-hand side of a tab: progress, view, verdict, physics, downloads."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from seed3d.errors import Seed3DError
from seed3d.web import tasks, words
from seed3d.web.desk import Desk
from seed3d.web.inputs import materials, physics_options, shown_physics
from seed3d.web.pool import Cancelled

FORMATS = {"all": "Everything", "urdf": "URDF", "mjcf": "MJCF", "usd": "USD", "glb": "GLB"}
STATIC = Path(__file__).parent / "static"
WORK = "work"
"""Queue that bounds how many assets are made at once."""


class ResultPanel:
    """Components of one result and how they are filled."""

    def __init__(self, desk: Desk, key: str) -> None:
        """Lay the components out; call inside a column.

        Args:
            desk: Runs the jobs.
            key: Prefix of element ids.
        """
        self.desk = desk
        self.token = gr.State("")
        self.facts = gr.State({})
        self.progress = gr.HTML(words.hint(), elem_id=f"{key}-progress")
        self.cancel = gr.Button("Cancel", variant="stop", visible=False, elem_id=f"{key}-cancel")
        with gr.Column(visible=False, elem_id=f"{key}-result") as self.column:
            self.verdict = gr.HTML()
            self.model = gr.HTML(
                None,
                html_template=(STATIC / "viewer.html").read_text(encoding="utf-8"),
                js_on_load=(STATIC / "viewer.js").read_text(encoding="utf-8"),
                elem_id=f"{key}-model",
            )
            self.summary = gr.HTML(elem_id=f"{key}-facts")
            with gr.Row(elem_classes="seed-loads"):
                self.loads = {
                    form: gr.DownloadButton(label, size="sm", elem_id=f"{key}-load-{form}",
                                            variant="primary" if form == "all" else "secondary")
                    for form, label in FORMATS.items()
                }  # fmt: skip
            with gr.Tabs():
                with gr.Tab("Correct size or mass"):
                    with gr.Row():
                        self.length = gr.Number(label="Longest side [cm]", min_width=120,
                                                elem_id=f"{key}-length")  # fmt: skip
                        self.mass = gr.Number(label="Mass [kg]", min_width=120,
                                              elem_id=f"{key}-mass")  # fmt: skip
                        self.material = gr.Dropdown(materials(), label="Material", min_width=140,
                                                    allow_custom_value=False)  # fmt: skip
                    self.again = gr.Button("Recompute physics", elem_id=f"{key}-again")
                with gr.Tab("Drop test"):
                    self.clip = gr.Image(show_label=False, interactive=False, format="webp",
                                         type="filepath", height=340, elem_id=f"{key}-clip",
                                         buttons=["download", "fullscreen"])  # fmt: skip
                    self.clip_note = gr.HTML()
                with gr.Tab("Textures"):
                    self.maps = gr.Gallery(show_label=False, columns=3, height=240,
                                           object_fit="contain",
                                           buttons=["download", "fullscreen"])  # fmt: skip
                with gr.Tab("Checks"):
                    self.checks = gr.HTML()

    @property
    def outputs(self) -> list[Any]:
        """Every component that a job may change."""
        return [self.token, self.facts, self.progress, self.cancel, self.column, self.verdict,
                self.model, self.summary, *self.loads.values(), self.length, self.mass,
                self.material, self.clip, self.clip_note, self.maps, self.checks]  # fmt: skip

    def wire(self) -> None:
        """Connect the panel's own events; call once all components exist."""
        hidden: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        self.cancel.click(self._cancel, None, None, queue=False, **hidden)
        self.again.click(
            self._again,
            [self.token, self.facts, self.length, self.mass, self.material],
            self.outputs,
            concurrency_id=WORK,
            **hidden,
        )

    def run(self, session: str, task: str, kind: str, arguments: Any) -> Iterator[dict[Any, Any]]:
        """Make an asset and fill the panel, then film it; yield updates of the components.

        Args:
            session: Whose page it is.
            task: make_photo, make_mesh or change_physics.
            kind: What the forecast knows its times by.
            arguments: Called with the job's folder, returns the task's arguments; what it raises
                is told to the user as well.
        """
        began = time.monotonic()
        token, folder = self.desk.new_job(session)
        yield {self.progress: words.progress(["start"], {}, "", 0.0, None),
               self.cancel: gr.update(visible=True)}  # fmt: skip
        try:
            given = arguments(folder)
            facts: dict[str, Any] = {}
            for what, value in self.desk.follow(session, task, kind, token, **given):
                if what == "progress":
                    yield {self.progress: value}
                else:
                    facts = value
            self.desk.add_asset(session, token, facts["name"])
            yield self._filled(token, folder, facts, time.monotonic() - began)
            yield from self._film(session, token, folder, facts)
        except Cancelled:
            self.desk.workspace.drop(token)
            yield {self.progress: words.note("Stopped. Nothing was kept."),
                   self.cancel: gr.update(visible=False)}  # fmt: skip
        except Seed3DError as error:
            self.desk.workspace.drop(token)
            yield {self.progress: words.problem(str(error)), self.cancel: gr.update(visible=False)}

    def _filled(self, token: str, folder: Path, facts: dict[str, Any], seconds: float) -> Any:
        name, asset = facts["name"], folder / tasks.ASSET
        length, mass, material = shown_physics(facts)
        loads = {form: folder / tasks.ZIPS / f"{name}_{form}.zip" for form in FORMATS}
        maps = [(str(asset / "textures" / f"{key}.png"), label) for key, label in
                (("base_color", "Base colour"), ("metallic_roughness", "Roughness G, metallic B"),
                 ("normal", "Normal"))]  # fmt: skip
        return {
            self.token: token,
            self.facts: facts,
            self.progress: words.note("Filming the drop …"),
            self.column: gr.update(visible=True),
            self.verdict: words.verdict(facts, seconds),
            self.model: json.loads((folder / tasks.VIEW).read_text(encoding="utf-8")),
            self.summary: words.summary(facts),
            **{
                self.loads[form]: gr.update(value=str(path), visible=True)
                if path.is_file()
                else gr.update(value=None, visible=False)
                for form, path in loads.items()
            },
            self.length: length,
            self.mass: mass,
            self.material: material,
            self.clip: None,
            self.clip_note: "",
            self.maps: maps,
            self.checks: words.checks_table(facts),
        }

    def _film(
        self, session: str, token: str, folder: Path, facts: dict[str, Any]
    ) -> Iterator[dict[Any, Any]]:
        size = self.desk.settings.film_pixels
        fps = 20.0 if size > 200 else 12.0
        done: dict[Any, Any] = {self.progress: "", self.cancel: gr.update(visible=False)}
        try:
            path = self.desk.finish(
                session, "film", f"film {size}", token, folder=str(folder), fps=fps, size=size
            )
            text = (
                f"{facts['name']} dropped from about a third of its size, tilted by 20°, in MuJoCo "
                "with the files you download; pictures by our own renderer."
            )
            yield {**done, self.clip: path, self.clip_note: text}
        except Cancelled:
            yield {**done, self.clip_note: words.note("The film was stopped.")}
        except Seed3DError as error:
            yield {**done, self.clip_note: words.note(str(error))}

    def _again(
        self, token: str, facts: dict[str, Any], length: float, mass: float, material: str,
        request: gr.Request,
    ) -> Iterator[dict[Any, Any]]:  # fmt: skip
        def arguments(folder: Path) -> dict[str, Any]:
            source = self.desk.workspace.job(token)
            options = physics_options(facts, length, mass, material)
            return {"source": str(source), "folder": str(folder), "options": options}

        session = str(request.session_hash)
        yield from self.run(session, "change_physics", "physics", arguments)

    def _cancel(self, request: gr.Request) -> None:
        self.desk.cancel(str(request.session_hash))
