"""One question with a picture to a vision-language model of the user's, over its HTTP endpoint.

The chat-completions protocol that local and hosted servers share, with an answer of a fixed JSON
schema. Whoever asks checks the answer: servers and models may ignore the schema.
"""

from __future__ import annotations

import base64
import io
import json
import os
import time
import urllib.error
import urllib.request
from typing import Any

import numpy as np

from seed3d.config import VlmConfig
from seed3d.errors import ConfigError

MAX_ANSWER_BYTES = 1 << 20
"""Longest answer that is read [byte]."""


class Refused(Exception):
    """The endpoint or its answer can't be used; the message says why."""


def ask(
    rgb: np.ndarray, prompt: str, schema: dict[str, Any], config: VlmConfig, max_tokens: int = 300
) -> dict[str, Any]:
    """Return the JSON object that the model answers; it has the schema's keys, no others.

    Args:
        rgb: (H, W, 3) float sRGB in [0, 1].
        prompt: What to do.
        schema: JSON schema of the answer, sent along; of it, only the names of the outermost
            properties are checked.
        config: The endpoint.
        max_tokens: Longest answer.

    Raises:
        ConfigError: The endpoint isn't an http(s) URL, or the named key isn't in the environment.
        Refused: No answer, or not such an object.
    """
    request = _request(_body(rgb, prompt, schema, config, max_tokens), config)
    return _parse(_post(request, config.timeout_s), set(schema["properties"]))


def _parse(content: str, keys: set[str]) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except ValueError as error:
        raise Refused(f"the answer isn't JSON ({error})") from error
    if not isinstance(answer, dict) or set(answer) != keys:
        got = sorted(answer) if isinstance(answer, dict) else type(answer).__name__
        raise Refused(f"the answer has {got}; wanted {sorted(keys)}")
    return answer


def _request(body: dict[str, Any], config: VlmConfig) -> urllib.request.Request:
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
    return urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), headers, method="POST"
    )


def _body(
    rgb: np.ndarray, prompt: str, schema: dict[str, Any], config: VlmConfig, max_tokens: int
) -> dict[str, Any]:
    picture = {"type": "image_url", "image_url": {"url": _data_url(rgb, config.image_size)}}
    return {
        "model": config.model,
        "temperature": 0,
        "max_tokens": max_tokens,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": prompt}, picture]},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "object", "strict": True, "schema": schema},
        },
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
                    raise Refused(f"no whole answer in {timeout_s:g} s")
                if len(data) > MAX_ANSWER_BYTES:
                    raise Refused(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
    except urllib.error.HTTPError as error:
        raise Refused(f"the server answered {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise Refused(f"no answer in {timeout_s:g} s") from error
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise Refused(f"no answer in {timeout_s:g} s") from error
        raise Refused(f"the server can't be asked ({reason})") from error
    return _content(data)


def _content(data: bytes) -> str:
    try:
        content = json.loads(data)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise Refused(
            f"the server's reply is no chat completion ({type(error).__name__})"
        ) from error
    if not isinstance(content, str):
        raise Refused(f"the reply's content is {type(content).__name__}; wanted text")
    return content
