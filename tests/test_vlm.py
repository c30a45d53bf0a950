"""The optional vision-language estimate against a local fake server: good and every bad answer."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from PIL import Image

from seed3d.config import Config, VlmConfig
from seed3d.errors import ConfigError
from seed3d.physics.vlm import refine
from seed3d.types import Camera, Estimate, Mesh, Shape

GOOD = {
    "category": "mug",
    "material": "ceramic",
    "longest_side_m": 0.11,
    "longest_side_low_m": 0.08,
    "longest_side_high_m": 0.14,
}


class Server:
    """One fake endpoint; `reply` decides what the next request gets."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.paths: list[str] = []
        self.status, self.body, self.delay = 200, b"", 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(json.loads(data))
                outer.headers.append(dict(self.headers))
                outer.paths.append(self.path)
                time.sleep(outer.delay)
                self.send_response(outer.status)
                if outer.status in (301, 302, 307):
                    self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    def says(self, content: object) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        self.body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()


@pytest.fixture
def server():
    with Server() as fake:
        yield fake


def shape() -> Shape:
    mesh = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    return Shape(
        mesh=mesh,
        camera=Camera(0.0, 0.0, 4.0, 3.0),
        silhouette_iou=0.9,
        size_m=Estimate(0.5, "prior"),
        material=Estimate("plastic", "prior"),
        category=Estimate("unknown", "prior"),
        hull_density_kg_m3=Estimate(300.0, "estimate"),
    )


def photo(size: int = 1024) -> np.ndarray:
    return np.broadcast_to(np.linspace(0, 1, size)[None, :, None], (size, size, 3)).astype("f4")


def test_the_density_stays_only_where_the_model_agrees_on_what_it_is_of(server):
    server.says(GOOD)
    config = VlmConfig(url=server.url)
    told = refine(shape(), photo(), config)
    assert told.hull_density_kg_m3 is None
    agreed = replace(shape(), material=told.material, category=told.category)
    assert refine(agreed, photo(), config).hull_density_kg_m3 == shape().hull_density_kg_m3


def test_a_good_answer_becomes_estimates_with_their_source(server):
    server.says(GOOD)
    told = refine(shape(), photo(), VlmConfig(url=server.url + "/", model="eye-7b"))
    assert told.size_m == Estimate(0.11, "estimate", "vision-language model eye-7b", 0.08, 0.14)
    assert (told.material.value, told.category.value) == ("ceramic", "mug")
    assert told.fallbacks == ()
    (request,) = server.requests
    assert server.paths == ["/v1/chat/completions"] and request["model"] == "eye-7b"
    assert "Authorization" not in server.headers[0]
    schema = request["response_format"]["json_schema"]["schema"]
    assert set(schema["required"]) == set(GOOD) and not schema["additionalProperties"]
    url = request["messages"][0]["content"][1]["image_url"]["url"]
    image = Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1])))
    assert image.size == (512, 512)  # sent downsized
    ramp = np.asarray(image.convert("L"), float)[256]
    assert np.abs(ramp - np.linspace(0, 255, 512)).max() < 6


def test_the_key_comes_from_the_environment_and_is_not_kept(server, monkeypatch):
    server.says(GOOD)
    monkeypatch.setenv("MY_KEY", "s3cret")
    config = VlmConfig(url=server.url, key_env="MY_KEY")
    refine(shape(), photo(64), config)
    assert server.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(config)
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ConfigError, match="has no MY_KEY"):
        refine(shape(), photo(64), config)


BAD = [
    ("no json at all", "isn't JSON"),
    ([1, 2], "wanted ["),
    ({k: v for k, v in GOOD.items() if k != "material"}, "wanted ["),
    ({**GOOD, "extra": 1}, "extra"),
    ({**GOOD, "longest_side_m": "0.1"}, "three numbers"),
    ({**GOOD, "longest_side_m": True}, "three numbers"),
    ({**GOOD, "longest_side_m": 4000.0, "longest_side_high_m": 5000.0}, "plausible"),
    ({**GOOD, "longest_side_m": -0.1}, "plausible"),
    ({**GOOD, "longest_side_low_m": 0.2}, "plausible"),
    ({**GOOD, "longest_side_low_m": 0.001}, "factor 20"),
    (json.dumps(GOOD).replace("0.11", "NaN"), "plausible"),
    ({**GOOD, "material": "kryptonite"}, "'kryptonite'"),
    ({**GOOD, "category": "<script>"}, "'<script>'"),
    ({**GOOD, "material": None}, "None"),
]


@pytest.mark.parametrize(("answer", "words"), BAD)
def test_a_bad_answer_is_recorded_and_changes_nothing(server, answer, words):
    server.says(answer)
    before = shape()
    after = refine(before, photo(64), VlmConfig(url=server.url, model="eye"))
    assert (after.size_m, after.material, after.category) == (
        before.size_m, before.material, before.category)  # fmt: skip
    (note,) = after.fallbacks
    assert note.stage == "vlm" and words in note.what and "eye" in note.what


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"", "answered 500"),
        (429, b"{}", "answered 429"),
        (307, b"", "answered 307"),
        (200, b"", "no chat completion"),
        (200, b'{"choices": []}', "no chat completion"),
        (200, b'{"choices": [{"message": {"content": null}}]}', "wanted text"),
        (200, b"\xff\xfe\x00", "no chat completion"),
        (200, b" " * (2 << 20), "longer than"),
    ],
)
def test_a_failing_server_is_recorded(server, status, body, words):
    server.status, server.body = status, body
    after = refine(shape(), photo(64), VlmConfig(url=server.url))
    assert words in after.fallbacks[0].what and after.size_m.value == 0.5


def test_a_slow_server_is_left_at_the_time_limit(server):
    server.says(GOOD)
    server.delay = 5.0
    start = time.monotonic()
    after = refine(shape(), photo(64), VlmConfig(url=server.url, timeout_s=0.5))
    assert time.monotonic() - start < 3.0
    assert "no answer in 0.5 s" in after.fallbacks[0].what


def test_nobody_there_and_no_url():
    after = refine(shape(), photo(64), VlmConfig(url="http://127.0.0.1:9/v1", timeout_s=5))
    assert "can't be asked" in after.fallbacks[0].what
    with pytest.raises(ConfigError, match=r"http\(s\) URL"):
        refine(shape(), photo(64), VlmConfig(url="file:///etc/passwd"))


def test_it_is_off_by_default_and_the_flag_turns_it_on():
    from seed3d.cli.options import resolve

    assert Config().vlm.url == ""
    assert resolve({"preset": "default", "vlm": "http://x/v1"}).vlm.url == "http://x/v1"
