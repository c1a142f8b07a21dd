"""The client."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import httpx2

from .._core import Call, Options, given, read_any, reader
from ..models import Channel, Readiness, Tools
from .base import Transport
from .learning import Dreams, Learning, Submissions
from .memories import Memories, Soul
from .sessions import Session, Sessions
from .skills import Skills


class Knowhow:
    """A client of a Knowhow service, with one pool of connections. Create one per process and share it.

    An API key acts for any user of its tenant: name one here, or with `with_options`. A token acts for its own user.
    Absent arguments come from `KNOWHOW_URL`, `KNOWHOW_API_KEY` and `KNOWHOW_USER`.

    `timeout` is the limit in seconds of each phase of a request (connect, write, read); `max_retries` the number of further
    attempts after a broken connection, 429 or 503. Writes carry an idempotency key, so that a repeated one takes effect once.
    """

    def __init__(
        self, url: str | None = None, *, api_key: str | None = None, token: str | None = None, user: str | None = None,
        timeout: float | None = 30.0, max_retries: int = 4, http_client: httpx2.Client | None = None,
    ) -> None:  # fmt: skip
        options = Options.read(url, api_key, token, user=user, timeout=timeout, max_retries=max_retries)
        limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=60.0)
        self._bind(Transport(options, http_client or httpx2.Client(limits=limits)))

    def _bind(self, transport: Transport) -> None:
        self._transport = transport
        self.skills = Skills(transport)
        self.sessions = Sessions(transport)
        self.memories = Memories(transport)
        self.soul = Soul(transport)
        self.submissions = Submissions(transport)
        self.dreams = Dreams(transport)
        self.learning = Learning(transport)

    def with_options(
        self, *, user: str | None = None, session: str | None = None, reason: str | None = None, timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Knowhow:  # fmt: skip
        """Returns a client with other settings and the same connections.

        `session` is the id or key of the session that causes the changes; `reason` is an admin's reason for reading or
        deciding on a user's content.
        """
        copy = object.__new__(type(self))
        changes = given(user=user, session=session, reason=reason, timeout=timeout, max_retries=max_retries)
        copy._bind(Transport(self._transport.options.changed(**changes), self._transport.http))
        return copy

    def __repr__(self) -> str:
        options = self._transport.options
        return f"{type(self).__name__}(url={options.url!r}, user={options.user!r})"

    def __enter__(self) -> Knowhow:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, also those of copies."""
        self._transport.http.close()

    def session(
        self, *, key: str | None = None, channel: Channel | None = None, tools: Tools | None = None, max_turns: int | None = None,
        index_budget: int | None = None, inline_top: bool | None = None,
    ) -> Session:  # fmt: skip
        """Returns a session to open: `with kh.session(key=thread, channel="chat") as s: ...`

        `key` names the stream of messages, such as a telephone number or a thread. `tools` are the tools of Knowhow that the
        agent can call: `none` (turns then have the bodies of skills), `read` or `full`.
        """
        options = given(
            key=key, channel=channel, tools=tools, max_turns=max_turns, index_budget=index_budget, inline_top=inline_top
        )
        return Session(self._transport, options)

    def ready(self) -> Readiness:
        """Returns whether the service can answer, its version and the state of its models."""
        return self._transport.send(Call("GET", "/readyz", reader(Readiness)))

    def request(self, method: str, path: str, *, json: object = None, params: dict[str, Any] | None = None) -> Any:
        """Sends a request to an endpoint that this client has no method for, and returns its JSON."""
        is_read = method in ("GET", "HEAD")
        call = Call(method, path, read_any, json=json, params=params or {}, repeatable=is_read, keyed=not is_read)
        return self._transport.send(call)
