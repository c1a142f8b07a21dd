"""One kept HTTP/1.1 connection over asyncio: as little as load needs, so that the client takes little of the machine."""

import asyncio
import json

# Longer than anything the service promises to answer within.
PATIENCE_S = 15


class NoAnswer(Exception):
    """The connection broke, was refused, or nothing came within the patience."""


class Client:
    """Sends one request at a time; opens its connection again where it has to."""

    def __init__(self, port, token):
        self.port, self.head = port, f"\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        self.reader = self.writer = None

    async def ask(self, method, path, body=None, key=None, patience=PATIENCE_S):
        """Status, headers and body."""
        try:
            return await asyncio.wait_for(self.exchange(method, path, body, key), patience)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            self.close()
            raise NoAnswer(str(error)) from error

    async def exchange(self, method, path, body, key):
        """One request and its answer."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        request = f"{method} {path} HTTP/1.1{self.head}"
        request += f"Idempotency-Key: {key}\r\n" if key else ""
        sent = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            request += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
        self.writer.write(request.encode() + b"\r\n" + sent)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        answer = await self.reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split(" ", 2)[1]), headers, answer

    def close(self):
        """Leaves the connection."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None
