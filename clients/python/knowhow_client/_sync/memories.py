"""Memories, the soul, and recall of memories and skills together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .. import models
from .._core import Page, at, given, read_nothing
from ..models import (
    EntityNameParam, ListedMemory, ListedSoul, Memory, MemoryKind, MemoryVersion, RecalledItem, RecalledItems, RecalledKind,
)  # fmt: skip
from .base import Group, Pages


class Memories(Group):
    """Facts (`semantic`), events (`episodic`) and reflections of the user."""

    def save(
        self, content: str, *, kind: MemoryKind | None = None, importance: float | None = None, tags: Sequence[str] | None = None,
        core: bool | None = None, replaces: str | None = None, created_at: datetime | None = None,
        entities: Sequence[EntityNameParam] | None = None,
    ) -> Memory:  # fmt: skip
        """Saves a memory. Core memories are in every snapshot."""
        body = given(
            content=content, kind=kind, importance=importance, tags=tags, core=core, replaces=replaces, created_at=created_at,
            entities=entities,
        )  # fmt: skip
        return self._write(Memory, "POST", at("memories"), body)

    def list(
        self, *, kind: MemoryKind | None = None, tag: str | None = None, core: bool | None = None, tainted: bool | None = None,
        user: str | None = None, page_size: int | None = None,
    ) -> Pages[ListedMemory]:  # fmt: skip
        """Iterates over the memories, newest first; as an admin over those of `user`."""
        filters = given(kind=kind, tag=tag, core=core, tainted=tainted, user=user)
        return self._pages(Page[ListedMemory], at("memories"), page_size, **filters)

    def get(self, memory: str) -> Memory:
        """Reads a memory by its id."""
        return self._get(Memory, at("memories", memory))

    def update(
        self, memory: str, *, content: str | None = None, importance: float | None = None, tags: Sequence[str] | None = None,
        core: bool | None = None, entities: Sequence[EntityNameParam] | None = None, expected_version: int | None = None,
    ) -> Memory:  # fmt: skip
        """Corrects a memory. Absent members stay as they are."""
        body = given(
            content=content, importance=importance, tags=tags, core=core, entities=entities, expected_version=expected_version
        )
        return self._write(Memory, "PATCH", at("memories", memory), body)

    def delete(self, memory: str) -> None:
        """Deletes a memory."""
        self._do(read_nothing, "DELETE", at("memories", memory))

    def versions(self, memory: str, *, page_size: int | None = None) -> Pages[MemoryVersion]:
        """Iterates over the versions of a memory."""
        return self._pages(Page[MemoryVersion], at("memories", memory, "versions"), page_size)

    def approve(
        self, memory: str, *, user: str | None = None, comment: str | None = None, expected_version: int | None = None
    ) -> Memory:
        """Approves a tainted memory, as a reviewer; an admin names its `user`."""
        body = given(comment=comment, expected_version=expected_version)
        return self._decide(Memory, at("memories", memory, "approve"), user, body)

    def recall(
        self, query: str | None = None, *, session: str | None = None, kind: RecalledKind | None = None, limit: int | None = None
    ) -> Sequence[RecalledItem]:
        """Finds memories and skills together, for a question or for the last message of a session."""
        return (self._get(RecalledItems, at("recall"), q=query, session=session, kind=kind, limit=limit)).items


class Soul(Group):
    """The user's text about the agent's manner, which follows the base prompt."""

    def get(self) -> models.Soul:
        """Reads the soul."""
        return self._get(models.Soul, at("soul"))

    def put(self, text: str, *, expected_version: int | None = None) -> models.Soul:
        """Replaces the soul. The same text makes no version."""
        return self._write(models.Soul, "PUT", at("soul"), given(text=text, expected_version=expected_version))

    def versions(
        self, *, tainted: bool | None = None, user: str | None = None, page_size: int | None = None
    ) -> Pages[ListedSoul]:
        """Iterates over the versions, newest first; as an admin over those of `user`."""
        return self._pages(Page[ListedSoul], at("soul", "versions"), page_size, tainted=tainted, user=user)

    def approve(self, version: int, *, user: str | None = None, comment: str | None = None) -> models.Soul:
        """Approves a tainted version, as a reviewer; an admin names its `user`."""
        return self._decide(models.Soul, at("soul", "versions", version, "approve"), user, given(comment=comment))
