"""A proxy before the service that answers, breaks and stalls as a test says."""

from __future__ import annotations

import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Faults:
    """Serves on a free port. Each request takes the next word of `plan`; without one it is passed to the service.

    `lose`: the service gets the request, and its answer is dropped. `break`: the connection ends without an answer.
    `stall`: no answer for two seconds. `429`, `503`, `502`, `504`: this status, with `retry_after`. `html`: a page with 200.
    `cut`: half of the answer.
    """

    def __init__(self, target: str) -> None:
        self.plan: list[str] = []
        self.retry_after: str | None = "0"
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.connections = 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(urlsplit(target).netloc))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        """Stops the proxy."""
        self.server.shutdown()
        self.server.server_close()

    def keys(self) -> list[str | None]:
        """Returns the idempotency key of each request."""
        return [headers.get("idempotency-key") for _, _, headers, _ in self.seen]

    def _handler(self, target: str) -> type[BaseHTTPRequestHandler]:
        faults = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                """Counts the connections."""
                faults.connections += 1
                super().setup()

            def log_message(self, format: str, *args: object) -> None:
                """Logs nothing."""

            def handle_any(self) -> None:
                """Plays the next word of the plan."""
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Transfer-Encoding") == "chunked":
                    body = self.read_chunks()
                headers = {name.lower(): value for name, value in self.headers.items()}
                faults.seen.append((self.command, self.path, headers, body))
                word = faults.plan.pop(0) if faults.plan else "pass"
                if word == "break":
                    self.close_connection = True
                elif word == "stall":
                    time.sleep(2)
                    self.close_connection = True
                elif word == "html":
                    self.answer(200, {"Content-Type": "text/html"}, b"<html>login</html>")
                elif word.isdigit():
                    more = {"Retry-After": faults.retry_after} if faults.retry_after is not None else {}
                    self.answer(int(word), {"Content-Type": "text/plain", **more}, b"busy")
                else:
                    self.forward(headers, body, word)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def read_chunks(self) -> bytes:
                """Reads a body in chunks."""
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def forward(self, headers: dict[str, str], body: bytes, word: str) -> None:
                """Passes the request to the service."""
                connection = http.client.HTTPConnection(target)
                headers = {name: value for name, value in headers.items() if name not in ("host", "transfer-encoding")}
                connection.request(self.command, self.path, body or None, headers)
                response = connection.getresponse()
                content = response.read()
                connection.close()
                if word == "lose":
                    self.close_connection = True
                    return
                hop = ("transfer-encoding", "connection", "content-length")
                kept = {name: value for name, value in response.getheaders() if name.lower() not in hop}
                self.answer(response.status, kept, content, cut=word == "cut")

            def answer(self, status: int, headers: dict[str, str], content: bytes, cut: bool = False) -> None:
                """Sends an answer."""
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if cut else content)
                self.close_connection = self.close_connection or cut

        return Handler
