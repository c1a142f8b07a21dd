"""Sessions: the snapshot for the system prompt, and what helps with each message."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import NoReturn
from uuid import uuid4

from .. import models
from .._core import Call, Page, at, given, reader
from ..errors import KnowhowError, SessionEnded
from ..models import (
    Channel, Conversation, CurrentView, FeedbackKind, Logged, Message, OpenedSession, PreviousSummary, SnapshotView,
    ToolCallParam, Tools, TurnAnswer,
)  # fmt: skip
from .base import Group, Pages, Transport
from .memories import Memories, Soul
from .skills import Skills

DEADLINE_GRACE_S = 0.25
"""Time for the network, beside the `deadline_ms` of a turn."""


class Session(Group):
    """A conversation. Use it as a context manager, or call `open`.

    At the end of the block a session without a key is ended. A session with a key goes on: the next `open` resumes it.
    """

    id: str
    """Id of the session."""
    key: str
    """Key of the stream of messages."""
    max_turns: int
    """Number of rounds for one message, unless its turn says otherwise. A round is one call of the agent's model."""
    snapshot: SnapshotView
    """The frozen block for the system prompt; put its `text` there unchanged."""
    previous_summary: PreviousSummary | None
    """Summary of the previous conversation of this key."""
    info: OpenedSession
    """The session as it was when it was opened."""

    def __init__(self, transport: Transport, options: dict[str, object]) -> None:
        super().__init__(transport)
        self._options = options

    def __getattr__(self, name: str) -> NoReturn:
        if name in type(self).__annotations__:
            raise KnowhowError("the session is not open: use it as a context manager, or call open()")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        state = f"id={self.id!r}, key={self.key!r}" if "id" in vars(self) else "not open"
        return f"{type(self).__name__}({state})"

    def __enter__(self) -> Session:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if "key" not in self._options:
            try:
                self.end()
            except KnowhowError:
                if error is None:
                    raise

    def open(self, *, timeout: float | None = None) -> Session:
        """Opens the session, or resumes that of its key. After `SessionEnded`, opens the next one, with a new snapshot."""
        path, keyed = at("sessions"), "key" not in self._options
        call = Call("POST", path, reader(OpenedSession), json=self._options, keyed=keyed, deadline=timeout)
        return self._set(self._transport.send(call))

    def _set(self, info: OpenedSession) -> Session:
        self.info, self.id, self.key, self.max_turns = info, info.id, info.key, info.max_turns
        self.snapshot, self.previous_summary = info.snapshot, info.previous_summary
        return self

    @property
    def system_text(self) -> str:
        """The snapshot, and the summary of the previous conversation if it may be trusted. Never changes while the session runs."""
        before = self.previous_summary
        return f"{self.snapshot.text}\n\n{before.text}" if before and not before.tainted else self.snapshot.text

    @property
    def skills(self) -> Skills:
        """Skills, used and changed in this session: recall learns from uses, and changes carry its taint."""
        return Skills(self._bound())

    @property
    def memories(self) -> Memories:
        """Memories, saved in this session."""
        return Memories(self._bound())

    @property
    def soul(self) -> Soul:
        """The soul, changed in this session."""
        return Soul(self._bound())

    def _bound(self) -> Transport:
        return Transport(self._transport.options.changed(session=self.id), self._transport.http)

    def turn(
        self, message: str, *, turn_key: str | None = None, deadline_ms: int | None = None, timeout: float | None = None,
        tool_calls: int | None = None, tainted_by: Sequence[str] | None = None, context_reset: bool = False,
        max_turns: int | None = None,
    ) -> TurnAnswer:  # fmt: skip
        """Logs a message of the user and finds skills for it. Put `text` into the prompt unchanged, beside the message.

        `turn_key` is your channel's id of the message: the same key gets the same answer, byte for byte.
        `deadline_ms` limits the search; `degraded` names what was late. If no answer comes in `timeout` seconds, all attempts
        together (by default `deadline_ms` and a quarter of a second), `DeadlineExceeded` is raised: answer without Knowhow, and
        send the turn again later under its key.
        `tainted_by` names untrusted content that the agent has read since the last turn. `context_reset`: the prompt was
        compressed since, so that skills may be shown again.
        """
        body = given(
            message=message, turn_key=turn_key or uuid4().hex, deadline_ms=deadline_ms, tool_calls=tool_calls, max_turns=max_turns,
            tainted_by=tainted_by or None, context_reset=context_reset or None,
        )  # fmt: skip
        if timeout is None and deadline_ms is not None:
            timeout = deadline_ms / 1000 + DEADLINE_GRACE_S
        path = at("sessions", self.id, "turns")
        return self._transport.send(Call("POST", path, reader(TurnAnswer), json=body, repeatable=True, deadline=timeout))

    def get_turn(self, turn: int) -> TurnAnswer:
        """Reads the answer to a turn again, byte for byte."""
        return self._get(TurnAnswer, at("sessions", self.id, "turns", turn))

    def reply(
        self, message: str, *, tool_calls: int | Sequence[ToolCallParam] | None = None, rounds: int | None = None
    ) -> Logged:
        """Logs the agent's reply, with its tool calls (their number, or each with its outcome) and the rounds that it took."""
        body = given(message=message, tool_calls=tool_calls, rounds=rounds)
        return self._write(Logged, "POST", at("sessions", self.id, "reply"), body)

    def taint(self, source: str) -> models.Session:
        """Marks the session: it has read untrusted content, such as a web page."""
        return self._write(models.Session, "POST", at("sessions", self.id, "taint"), {"source": source})

    def feedback(self, kind: FeedbackKind, *, value: str | None = None, note: str | None = None) -> models.Session:
        """Records what the user thinks: `correction` with the right answer as `note`, `quality` with `value` good, fair or poor."""
        return self._write(models.Session, "POST", at("sessions", self.id, "feedback"), given(kind=kind, value=value, note=note))

    def end(self) -> models.Session | None:
        """Ends the session; its summary is made in the background. None: it had ended already."""
        try:
            return self._write(models.Session, "POST", at("sessions", self.id, "end"))
        except SessionEnded:
            return None

    def messages(self, *, page_size: int | None = None) -> Pages[Message]:
        """Iterates over the messages of both sides."""
        return self._pages(Page[Message], at("sessions", self.id, "messages"), page_size)


class Sessions(Group):
    """Sessions of the user, and snapshots."""

    def list(
        self, *, key: str | None = None, channel: Channel | None = None, open: bool | None = None, page_size: int | None = None
    ) -> Pages[models.Session]:
        """Iterates over the sessions, newest first."""
        return self._pages(Page[models.Session], at("sessions"), page_size, key=key, channel=channel, open=open)

    def get(self, session: str) -> Session:
        """Returns a session by its id, open or ended."""
        info = self._get(OpenedSession, at("sessions", session))
        return Session(self._transport, {"key": info.key})._set(info)

    def conversations(self, query: str | None = None, *, page_size: int | None = None) -> Pages[Conversation]:
        """Iterates over the summaries of earlier conversations, or searches them."""
        return self._pages(Page[Conversation], at("conversations"), page_size, q=query)

    def snapshot(self, *, tools: Tools | None = None) -> CurrentView:
        """Returns the snapshot that a new session would get, and the skills saved since."""
        return self._get(CurrentView, at("snapshot"), tools=tools)

    def refresh_snapshot(self) -> CurrentView:
        """Renders the snapshot now."""
        return self._write(CurrentView, "POST", at("snapshot", "refresh"))
