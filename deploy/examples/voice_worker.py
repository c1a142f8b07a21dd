#!/usr/bin/env python3
"""A voice agent on Knowhow: each call is a session, and no turn waits longer than a caller does.

    . data/dev.env; python3 deploy/examples/voice_worker.py              # reads lines "number<TAB>words"
    . data/dev.env; python3 deploy/examples/voice_worker.py --script deploy/examples/voice.tsv

Besides the lines of script.py: !lose (the next answer is lost), !hurry (the next turn has one millisecond), !end NUMBER
(somebody else ends the session) and !hangup NUMBER. Ends with 1 where something is not as promised.
"""

import time
import uuid
from dataclasses import dataclass, field

import model
from knowhow import NoAnswer, Problem
from script import expect, lose_answer, run

BASE = "You are the voice of a small office. Answer in one short sentence."
DEADLINE_MS = 150  # Knowhow answers by then, without what is late
LIMIT = 0.8  # seconds; then the agent speaks without Knowhow


@dataclass
class Call:
    """One telephone call."""

    session: str
    system: str
    max_turns: int  # rounds for one message, if its turn does not come in time
    turns: int
    spoken: list = field(default_factory=list)  # (block, words, reply)
    log: list = field(default_factory=list)  # what this session's log must be


class VoiceWorker:
    """Calls by number, and a model."""

    def __init__(self, knowhow):
        self.knowhow, self.calls = knowhow, {}
        self.deadline_ms, self.late = DEADLINE_MS, 0
        ready = knowhow.surely("", "GET", "/readyz")
        self.has_embeddings = ready["models"]["embeddings"] == "ready"

    def receive(self, number, words):
        """What the caller said, as the recognizer hands it in; returns what is spoken."""
        call = self.calls.get(number) or self.begin(number)
        body = {"message": words, "turn_key": str(uuid.uuid4()), "deadline_ms": self.deadline_ms,
                "context_reset": not call.spoken}  # a worker that was started anew has nothing left in its prompt
        try:
            turn = self.turn(number, call, body)
        except Problem as problem:
            if problem.kind not in ("session-ended", "log-full"):  # the call goes on in another session
                raise
            call = self.begin_again(number, call)
            turn = self.turn(number, call, body)
        block = turn["text"] if turn else ""
        prompt = "\n".join([call.system, *(f"<turn>\n{b}\nCaller: {w}\nYou: {r}" for b, w, r in call.spoken),
                            f"<turn>\n{block}\nCaller: {words}\nYou:"])
        if turn and turn.get("degraded") and not block:
            # The message was compared by its words alone and they fit nothing; one more sentence is worth the time.
            reply, report = "Tell me a little more about that.", {"rounds": 0}
        else:
            budget = turn["max_turns"] if turn else call.max_turns
            reply, report = model.answer(prompt, words, lambda name: self.knowhow.skill(number, name), budget)
        # Spoken by now. While the caller listens, there is time for what was not there in time.
        if turn is None:
            turn = self.knowhow.surely(number, "POST", f"/v1/sessions/{call.session}/turns", body)
            block = turn["text"]  # counts as shown, so it belongs into the prompt of the turns to come
        call.turns += 1
        expect(turn["turn"] == call.turns, "a turn is counted once, however often it is asked for")
        expect(turn["max_turns"] == 6, "each message has the channel's budget of rounds")
        self.knowhow.reply(number, call.session, reply, report)
        call.spoken.append((block, words, reply))
        call.log += [("user", words), ("agent", reply)]
        self.deadline_ms = DEADLINE_MS
        return reply

    def turn(self, number, call, body):
        """The turn's answer, or None where it is not there in time: silence is worse than speaking without it."""
        began = time.monotonic()
        try:
            turn = self.knowhow.ask(number, "POST", f"/v1/sessions/{call.session}/turns", body, LIMIT)
        except (Problem, NoAnswer) as failure:
            if not failure.passes:
                raise
            self.late += 1
            return None
        print(f"# turn {turn['turn']}: {1000 * (time.monotonic() - began):.0f} ms, without {turn.get('degraded', 'nothing')}")
        if self.has_embeddings and self.deadline_ms == 1:
            expect(turn.get("degraded") == ["embedding"], "an answer that had no time for the message's vector says so")
        return turn

    def begin(self, number):
        """Opens the session of a call. `inline_top`: the best skill comes with its body, which spares a tool call."""
        opened = self.knowhow.open(number, channel="voice", inline_top=True)
        system = f"{BASE}\n\n{opened['snapshot']['text']}"
        before = opened.get("previous_summary")
        if before and not before["tainted"]:
            system += f"\n\n{before['text']}"
        self.calls[number] = Call(opened["id"], system, opened["max_turns"], opened["turns"])
        return self.calls[number]

    def begin_again(self, number, call):
        """The next session of the same call: what was said goes along, and what was shown may be shown again."""
        self.knowhow.surely(number, "POST", f"/v1/sessions/{call.session}/end")
        following = self.begin(number)
        expect(not call.log or "Previous conversation" in following.system, "the next session brings a summary")
        following.spoken = [("", words, reply) for _, words, reply in call.spoken]
        return following

    def hang_up(self, number):
        """The end of a call; the summary is made in the background, for the next one."""
        call = self.calls.pop(number)
        ended = self.knowhow.surely(number, "POST", f"/v1/sessions/{call.session}/end")
        expect(ended["ended_at"], "a session that is ended says since when")
        log = self.knowhow.surely(number, "GET", f"/v1/sessions/{call.session}/messages")["items"]
        logged = [(message["speaker"], message["text"]) for message in log]
        expect(logged[-len(call.log):] == call.log, "the log has what was said, each once")

    def close(self):
        """The line is cut: all calls end."""
        for number in list(self.calls):
            self.hang_up(number)
        print(f"# {self.late} turns were spoken without Knowhow")


def hurry(worker, _number):
    """The next turn has no time."""
    worker.deadline_ms = 1


def end_elsewhere(worker, number):
    """Somebody else ends the session, and the worker is not told."""
    worker.knowhow.surely(number, "POST", f"/v1/sessions/{worker.calls[number].session}/end")


if __name__ == "__main__":
    run(__doc__, VoiceWorker,
        {"lose": lose_answer, "hurry": hurry, "end": end_elsewhere, "hangup": VoiceWorker.hang_up})
