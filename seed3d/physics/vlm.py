"""Size and material of a photographed object, asked of a vision-language model of the user's.

Off unless the user names an endpoint. It speaks the chat-completions protocol that local and
hosted servers share; the answer must be JSON of a fixed schema and is checked strictly. Whatever
goes wrong is recorded, and the estimates stay as they were.
"""

from __future__ import annotations

import base64
import io
import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Any

import numpy as np

from seed3d.config import VlmConfig
from seed3d.errors import ConfigError
from seed3d.physics.materials import categories, materials
from seed3d.physics.size import SIZE_RANGE_M
from seed3d.types import Estimate, Fallback, Shape

MAX_ANSWER_BYTES = 1 << 20
"""Longest answer that is read [byte]."""
MAX_SPREAD = 20.0
"""Largest ratio of the upper to the lower end of the size's interval."""
_KEYS = ("category", "material", "longest_side_m", "longest_side_low_m", "longest_side_high_m")
_PROMPT = (
    "The picture shows one everyday object, cut out on white. Judge its true physical size and "
    "its main material. longest_side_m is the longest side of its bounding box in metres, with "
    "an 80 % interval from longest_side_low_m to longest_side_high_m. Answer with one JSON object "
    "of the given schema and nothing else."
)


class _Refused(Exception):
    """The endpoint or its answer can't be used; the message says why."""


def refine(shape: Shape, rgb: np.ndarray, config: VlmConfig) -> Shape:
    """Return the shape with the model's size, material and category, or with a fallback recorded.

    Args:
        shape: With estimates of its own.
        rgb: (S, S, 3) float sRGB in [0, 1], the object on white.
        config: The endpoint.

    Raises:
        ConfigError: The endpoint isn't an http(s) URL, or the named key isn't in the environment.
    """
    request = _request(rgb, config)
    try:
        told = parse_answer(_post(request, config.timeout_s), config.model)
    except _Refused as error:
        note = Fallback("vlm", f"{config.model}: {error}; kept the estimates without it")
        return replace(shape, fallbacks=(*shape.fallbacks, note))
    return replace(shape, **told)


def parse_answer(content: str, model: str) -> dict[str, Estimate]:
    """Return size_m, material and category of an answer's text.

    Raises:
        _Refused: Not the JSON that was asked for, or a value out of range.
    """
    try:
        answer = json.loads(content)
    except ValueError as error:
        raise _Refused(f"the answer isn't JSON ({error})") from error
    if not isinstance(answer, dict) or set(answer) != set(_KEYS):
        got = sorted(answer) if isinstance(answer, dict) else type(answer).__name__
        raise _Refused(f"the answer has {got}; wanted {sorted(_KEYS)}")
    sizes = [answer[k] for k in _KEYS[2:]]
    if not all(isinstance(s, int | float) and not isinstance(s, bool) for s in sizes):
        raise _Refused(f"the sizes are {sizes}; wanted three numbers of metres")
    value, low, high = (float(s) for s in sizes)
    least, most = SIZE_RANGE_M
    if not (least <= low <= value <= high <= most and high <= MAX_SPREAD * low):
        raise _Refused(
            f"the size {value:g} ({low:g} to {high:g}) m isn't plausible; wanted low <= value <= "
            f"high within {least:g} to {most:g} m and at most a factor {MAX_SPREAD:g} apart"
        )
    for key, known in (("material", materials()), ("category", categories())):
        if answer[key] not in known:
            raise _Refused(f"the {key} {answer[key]!r} isn't one of the {len(known)} it may be")
    note = f"vision-language model {model}"
    return {
        "size_m": Estimate(value, "estimate", note, low, high),
        "material": Estimate(answer["material"], "estimate", note),
        "category": Estimate(answer["category"], "estimate", note),
    }


def _request(rgb: np.ndarray, config: VlmConfig) -> urllib.request.Request:
    url = config.url.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"--vlm: got {config.url!r}; wanted an http(s) URL such as "
                          "http://localhost:8000/v1")  # fmt: skip
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if config.key_env:
        key = os.environ.get(config.key_env)
        if not key:
            raise ConfigError(
                f"vlm.key_env: the environment has no {config.key_env}; set it to the API key"
            )
        headers["Authorization"] = f"Bearer {key}"
    body = json.dumps(_body(rgb, config)).encode()
    return urllib.request.Request(f"{url}/chat/completions", body, headers, method="POST")


def _body(rgb: np.ndarray, config: VlmConfig) -> dict[str, Any]:
    picture = {"type": "image_url", "image_url": {"url": _data_url(rgb, config.image_size)}}
    return {
        "model": config.model,
        "temperature": 0,
        "max_tokens": 300,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": _PROMPT}, picture]},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "object", "strict": True, "schema": _schema()},
        },
    }


def _schema() -> dict[str, Any]:
    size = {"type": "number", "minimum": SIZE_RANGE_M[0], "maximum": SIZE_RANGE_M[1]}
    properties: dict[str, Any] = {
        "category": {"type": "string", "enum": sorted(categories())},
        "material": {"type": "string", "enum": sorted(materials())},
        **dict.fromkeys(_KEYS[2:], size),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(_KEYS),
        "additionalProperties": False,
    }


def _data_url(rgb: np.ndarray, size: int) -> str:
    from PIL import Image

    pixels = (np.clip(rgb, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
    image = Image.fromarray(pixels)
    image.thumbnail((size, size))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=88)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key and the picture go to the server that the user named, to no other."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _post(request: urllib.request.Request, timeout_s: float) -> str:
    """Return the text of the first choice; a slow server is left at the time limit."""
    end = time.monotonic() + timeout_s
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=timeout_s) as response:
            data = b""
            # One byte at a time could outlast any socket timeout: the whole has a limit too.
            while chunk := response.read1(65536):
                data += chunk
                if time.monotonic() > end:
                    raise _Refused(f"no whole answer in {timeout_s:g} s")
                if len(data) > MAX_ANSWER_BYTES:
                    raise _Refused(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
    except urllib.error.HTTPError as error:
        raise _Refused(f"the server answered {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise _Refused(f"no answer in {timeout_s:g} s") from error
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise _Refused(f"no answer in {timeout_s:g} s") from error
        raise _Refused(f"the server can't be asked ({reason})") from error
    return _content(data)


def _content(data: bytes) -> str:
    try:
        content = json.loads(data)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise _Refused(
            f"the server's reply is no chat completion ({type(error).__name__})"
        ) from error
    if not isinstance(content, str):
        raise _Refused(f"the reply's content is {type(content).__name__}; wanted text")
    return content
