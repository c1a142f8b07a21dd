"""The Messages API of Anthropic as the SDK's own program calls it, with scripted answers."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ClaudeApi:
    """Serves on a free port: plays `answers` (texts, or names and inputs of tools) and stores what the model was sent."""

    def __init__(self) -> None:
        self.answers: list[str | tuple[str, dict[str, Any]]] = []
        self.read: list[dict[str, Any]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def prompts(self) -> list[list[tuple[str, str]]]:
        """Returns the messages of each request: who, and all texts."""
        return [[(message["role"], _texts(message["content"])) for message in body["messages"]] for body in self.read]

    def systems(self) -> list[str]:
        """Returns the system prompt of each request."""
        return [_texts(body["system"]) for body in self.read]

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        answer: str | tuple[str, dict[str, Any]] = "A summary."
        if body.get("tools") and "summary of the conversation" not in _texts(body["messages"][-1]["content"]):
            self.read.append(body)
            answer = self.answers.pop(0)
        uses = not isinstance(answer, str)
        block = {"type": "tool_use", "id": f"toolu_{len(self.read)}", "name": answer[0], "input": answer[1]} if uses else {"type": "text", "text": answer}
        usage = {"input_tokens": 10, "output_tokens": 5}
        return {
            "id": f"msg_{len(self.read)}", "type": "message", "role": "assistant", "model": body["model"], "content": [block],
            "stop_reason": "tool_use" if uses else "end_turn", "stop_sequence": None, "usage": usage,
        }  # fmt: skip

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Logs nothing."""

            def do_GET(self) -> None:
                """Has no other resource."""
                self.send(404, b"{}", "application/json")

            do_HEAD = do_GET

            def do_POST(self) -> None:
                """Answers a message."""
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                    self.send(200, b'{"input_tokens": 10}', "application/json")
                elif body.get("stream"):
                    self.send(200, _events(api._answer(body)), "text/event-stream")
                else:
                    self.send(200, json.dumps(api._answer(body)).encode(), "application/json")

            def send(self, status: int, content: bytes, kind: str) -> None:
                """Sends an answer."""
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler


def _texts(content: Any) -> str:
    """Returns all texts of a message."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or part.get("content") or part.get("name")) for part in content)


def _events(message: dict[str, Any]) -> bytes:
    """Returns a message as a stream of events."""
    (block,) = message["content"]
    empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
    delta = {"type": "text_delta", "text": block.get("text")}
    if block["type"] == "tool_use":
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
