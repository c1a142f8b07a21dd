#!/usr/bin/env python3
"""An SMS agent on Knowhow: each telephone number is a user with one stream of messages, each message is one turn.

    . data/dev.env; python3 deploy/examples/sms_worker.py                # reads lines "number<TAB>text"
    . data/dev.env; python3 deploy/examples/sms_worker.py --script deploy/examples/sms.tsv

Besides the lines of script.py: !lose (the next answer is lost), !end NUMBER (somebody else ends the session) and
!compress NUMBER (the prompt has become too long). Ends with 1 where something is not as promised.
"""

import uuid
from dataclasses import dataclass, field

import model
from knowhow import Problem
from script import expect, lose_answer, run

BASE = "You are the assistant of a small office and answer by SMS."
PROMPT_CHARACTERS = 60_000


@dataclass
class Talk:
    """What the worker keeps of a session. It could be read again from Knowhow, except for the prompt's own state."""

    session: str
    system: str
    spoken: list = field(default_factory=list)  # what followed the system prompt: (turn, block, message, reply)
    turns: int = 0
    is_compressed: bool = False  # since the last turn


class SmsWorker:
    """Sessions by number, and a model."""

    def __init__(self, knowhow):
        self.knowhow, self.talks = knowhow, {}

    def receive(self, number, message):
        """One message, as the SMS provider hands it in; returns what is sent back."""
        # With a real provider: its id of the message, which stays the same when it delivers the message again.
        message_id = str(uuid.uuid4())
        talk = self.talks.get(number) or self.begin(number)
        try:
            turn = self.turn(number, talk, message_id, message)
        except Problem as problem:
            if problem.kind == "log-full":  # after 8 MiB: this conversation ends, the next begins
                self.knowhow.surely(number, "POST", f"/v1/sessions/{talk.session}/end")
            elif problem.kind != "session-ended":  # ended elsewhere, or silent for more than 6 hours
                raise
            ended, talk = talk, self.begin(number)
            expect(talk.session != ended.session, "a session that was ended is not given again")
            expect(not ended.turns or "Previous conversation" in talk.system, "the next session brings a summary")
            turn = self.turn(number, talk, message_id, message)
        prompt = self.prompt(talk, turn["text"], message)
        reply, report = model.answer(prompt, message, lambda name: self.knowhow.skill(number, name), turn["max_turns"])
        self.knowhow.reply(number, talk.session, reply, report)
        talk.spoken.append((turn["turn"], turn["text"], message, reply))
        if len(prompt) > PROMPT_CHARACTERS:
            self.compress(number)
        return reply

    def begin(self, number):
        """Opens the session of a number, or goes on with it after a restart; its snapshot is the system prompt."""
        opened = self.knowhow.open(number, channel="sms", tools="read")  # this agent has skill_view
        system = f"{BASE}\n\n{opened['snapshot']['text']}"  # frozen: the model's prompt cache keeps hitting
        before = opened.get("previous_summary")
        if before and not before["tainted"]:
            system += f"\n\n{before['text']}"
        # Whoever goes on with a session after a restart has lost what the turns before brought, so it may come again.
        talk = Talk(opened["id"], system, turns=opened["turns"], is_compressed=opened["turns"] > 0)
        self.talks[number] = talk
        return talk

    def turn(self, number, talk, message_id, message):
        """What helps with the message. `turn_key` makes it safe to ask again: one turn, one answer."""
        body = {"message": message, "turn_key": message_id, "context_reset": talk.is_compressed}
        turn = self.knowhow.surely(number, "POST", f"/v1/sessions/{talk.session}/turns", body)
        talk.turns, talk.is_compressed = talk.turns + 1, False
        expect(turn["turn"] == talk.turns, f"turn {talk.turns} is counted once, not as {turn['turn']}")
        expect(turn["max_turns"] == 10, "each message has the channel's budget of rounds")
        return turn

    def prompt(self, talk, block, message):
        """All that the model reads. The block of each turn stays where it came, so that the beginning never changes."""
        spoken = [f"<turn>\n{block}\nUser: {message}\nYou: {reply}" for _, block, message, reply in talk.spoken]
        return "\n".join([talk.system, *spoken, f"<turn>\n{block}\nUser: {message}\nYou:"])

    def compress(self, number):
        """Makes room: old turns shrink to a line; what Knowhow said at the last one is read again, byte for byte."""
        talk = self.talks[number]
        *old, (last, block, message, reply) = talk.spoken
        again = self.knowhow.surely(number, "GET", f"/v1/sessions/{talk.session}/turns/{last}")["text"]
        expect(again == block, f"turn {last} reads the same again")
        talk.spoken = [(n, "", asked, replied[:80]) for n, _, asked, replied in old] + [(last, again, message, reply)]
        talk.is_compressed = True  # the next turn says so, and may bring again what was cut

    def close(self):
        """The worker stops; sessions stay open, for they belong to the numbers and not to the process."""
        print(f"# {len(self.talks)} numbers were answered")


def end_elsewhere(worker, number):
    """Somebody else ends the session, and the worker is not told."""
    worker.knowhow.surely(number, "POST", f"/v1/sessions/{worker.talks[number].session}/end")


if __name__ == "__main__":
    run(__doc__, SmsWorker, {"lose": lose_answer, "end": end_elsewhere, "compress": SmsWorker.compress})
