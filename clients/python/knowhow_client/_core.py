"""What both clients share: settings, requests, retries, and how answers are read. Nothing here does I/O."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any, Generic, NoReturn, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2
import msgspec

from ._version import __version__
from .errors import ConnectionFailed, DeadlineExceeded, KnowhowError, NeedsApproval, NotJSON, Problem, problem
from .models import Submission

T = TypeVar("T")
C = TypeVar("C")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
LONGEST_RETRY_AFTER_S = 60.0  # A longer one, as of a quota, is left to the caller.


class Page(msgspec.Struct, Generic[T], kw_only=True):
    """A page of a list."""

    items: list[T]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Options:
    """Settings of a client. `credential` is an API key or a token."""

    url: str
    credential: str = field(repr=False)
    user: str | None = None
    session: str | None = None
    reason: str | None = None
    timeout: float | None = 30.0
    max_retries: int = 4

    @classmethod
    def read(cls, url: str | None, api_key: str | None, token: str | None, **more: Any) -> Options:
        """Returns the settings; those that are not given come from the environment."""
        url = url or os.environ.get("KNOWHOW_URL")
        if not url:
            raise KnowhowError("the service's address is missing: pass url=... or set KNOWHOW_URL")
        if api_key and token:
            raise KnowhowError("pass either api_key=... or token=..., not both")
        credential = api_key or token or os.environ.get("KNOWHOW_API_KEY")
        if not credential:
            raise KnowhowError("the credential is missing: pass api_key=... or token=..., or set KNOWHOW_API_KEY")
        if not token:  # A token acts for its own user.
            more["user"] = more.get("user") or os.environ.get("KNOWHOW_USER")
        return cls(url.rstrip("/"), credential, **more)

    def __post_init__(self) -> None:
        for name in ("user", "session", "reason"):
            if not (getattr(self, name) or "").isascii():
                raise KnowhowError(f"{name} is sent as a header and must be ASCII")

    def headers(self) -> dict[str, str]:
        """Returns the headers of each request."""
        named = {"Knowhow-User": self.user, "Knowhow-Session": self.session, "Knowhow-Reason": self.reason}
        return {
            "Authorization": f"Bearer {self.credential}",
            "User-Agent": f"knowhow-client-python/{__version__}",
            **{name: value for name, value in named.items() if value},
        }

    def changed(self, **changes: Any) -> Options:
        """Returns a copy with other settings; None leaves a setting as it is."""
        return replace(self, **given(**changes))


def given(**members: Any) -> dict[str, Any]:
    """Returns the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def at(*segments: str | int) -> str:
    """Returns a path of the API; a `/` in a segment, as in a skill's name, is part of it."""
    if wrong := [segment for segment in segments if str(segment) in ("", ".", "..")]:
        raise KnowhowError(f"{wrong[0]!r} is no name")
    return "/v1/" + "/".join(quote(str(segment), safe="") for segment in segments)


def applied(change: C | Submission) -> C:
    """Returns the result of a change that took effect; raises `NeedsApproval` if the change waits for review."""
    if isinstance(change, Submission):
        raise NeedsApproval(change)
    return change


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request and how to read its answer."""

    method: str
    path: str
    read: Callable[[httpx2.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    files: Sequence[tuple[str, tuple[str, IO[bytes], str]]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    """Whether sending the request twice has the effect of one: a read, or a write with a key of its own."""
    keyed: bool = False
    """Whether the request gets an `Idempotency-Key`, which makes it repeatable."""
    deadline: float | None = None
    """Seconds for all attempts together, by default without limit."""


class Remaining(dict[str, float]):
    """Time limits of one attempt as the transport reads them: each phase has the time that is left of the deadline."""

    def __init__(self, ends: float, limit: float | None) -> None:
        super().__init__()
        self.ends, self.limit = ends, limit

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the seconds that a phase may take."""
        left = max(self.ends - time.monotonic(), 0.001)
        return left if self.limit is None else min(left, self.limit)


class Attempts(Generic[T]):
    """The attempts of one call: makes each request, and decides after each outcome. It neither sends nor sleeps."""

    def __init__(self, options: Options, call: Call[T]) -> None:
        self.options, self.call, self.failures = options, call, 0
        self.ends = None if call.deadline is None else time.monotonic() + call.deadline
        self.headers = {**options.headers(), **call.headers}
        if call.keyed:
            self.headers.setdefault("Idempotency-Key", uuid4().hex)
        if call.files:  # The same bytes again, or the service would refuse the key.
            self.headers["Content-Type"] = f"multipart/form-data; boundary={uuid4().hex}"
        elif call.json is not None:
            self.headers["Content-Type"] = "application/json"

    def request(self) -> dict[str, Any]:
        """Returns the arguments of httpx2's `build_request`."""
        call, limit = self.call, self.options.timeout
        for _, (_, file, _) in call.files:
            file.seek(0)
        timeouts: Mapping[str, Any] = httpx2.Timeout(limit).as_dict() if self.ends is None else Remaining(self.ends, limit)
        return {
            "method": call.method,
            "url": self.options.url + call.path,
            "params": {name: str(value).lower() if isinstance(value, bool) else value for name, value in call.params.items()} or None,
            "content": call.content if call.json is None else msgspec.json.encode(call.json),
            "files": call.files or None,
            "headers": self.headers,
            "extensions": {"timeout": timeouts},
        }

    def result(self, response: httpx2.Response) -> T:
        """Returns the answer of a success."""
        try:
            return self.call.read(response)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotJSON(f"{self.call.method} {self.call.path}: unexpected answer: {error}") from error

    def after_failure(self, error: httpx2.TransportError) -> float:
        """Returns the pause before the next attempt, or raises if there is none."""
        late = isinstance(error, httpx2.TimeoutException)
        kind = DeadlineExceeded if late else ConnectionFailed
        what = "no answer in time" if late else "the connection failed"
        failure = kind(f"{self.call.method} {self.options.url}{self.call.path}: {what} ({type(error).__name__}: {error})")
        unsent = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout))
        return self._pause(failure, error, may_repeat=unsent or self.call.repeatable or self.call.keyed)

    def give_up(self, error: httpx2.TransportError) -> NoReturn:
        """Raises the failure of an attempt that cannot be repeated, because a part of its answer was used already."""
        raise ConnectionFailed(f"{self.call.method} {self.options.url}{self.call.path}: the answer broke off") from error

    def after_response(self, response: httpx2.Response) -> float:
        """Returns the pause before the next attempt, or raises the problem of the response."""
        found = problem_of(response)
        safe = self.call.repeatable or self.call.keyed
        wanted = found.status == 429 or (found.status == 503 and (safe or found.retry_after is not None))
        wanted = wanted or (found.status in (502, 504) and safe)
        return self._pause(found, None, may_repeat=wanted)

    def _pause(self, failure: KnowhowError, cause: Exception | None, *, may_repeat: bool) -> float:
        self.failures += 1
        asked = failure.retry_after if isinstance(failure, Problem) else None
        grown = min(FIRST_PAUSE_S * 2 ** (self.failures - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
        pause = grown if asked is None else asked + random.uniform(0.0, 0.1)
        too_late = self.ends is not None and time.monotonic() + pause >= self.ends
        if not may_repeat or self.failures > self.options.max_retries or pause > LONGEST_RETRY_AFTER_S + 0.1 or too_late:
            raise failure from cause
        return pause


def problem_of(response: httpx2.Response) -> Problem:
    """Returns the error of a response, also of one that a proxy made."""
    try:
        members = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        members = None
    if not isinstance(members, dict):
        members = {"title": response.reason_phrase, "detail": response.text[:200]}
    seconds = response.headers.get("Retry-After", "")
    retry_after = float(seconds) if seconds.isdecimal() else None
    return problem(response.status_code, members, retry_after, response.headers.get("X-Request-Id"))


def reader(kind: type[T]) -> Callable[[httpx2.Response], T]:
    """Returns a function that reads an answer as a type."""
    return lambda response: msgspec.json.decode(response.content, type=kind)


def change_reader(kind: type[T]) -> Callable[[httpx2.Response], T | Submission]:
    """Returns a function that reads the answer to a change: 202 is a submission, which waits for review."""
    return lambda response: msgspec.json.decode(response.content, type=Submission if response.status_code == 202 else kind)


def read_text(response: httpx2.Response) -> str:
    """Reads an answer as text."""
    return response.content.decode("utf-8")


def read_bytes(response: httpx2.Response) -> bytes:
    """Reads an answer as bytes."""
    return response.content


def read_nothing(_: httpx2.Response) -> None:
    """Reads an answer without content."""


def read_deleted(response: httpx2.Response) -> Submission | None:
    """Reads the answer to a deletion: None if the item is gone, or the submission that waits."""
    return msgspec.json.decode(response.content, type=Submission) if response.status_code == 202 else None


def read_any(response: httpx2.Response) -> Any:
    """Reads an answer as JSON of any shape; None if it is empty."""
    return msgspec.json.decode(response.content) if response.content else None
