"""Stands in for a language model: the same prompt gives the same answer, and it needs no network."""

import re
import time

STEP = re.compile(r"^\s*\d+\. (.*)$", re.M)


def answer(prompt, message, skill_view, max_turns):
    """The agent's loop: rounds of one call of the model each, at most `max_turns`. Returns the reply and what to report with it."""
    loaded, calls = None, []
    for rounds in range(1, max_turns + 1):
        wanted, reply = think(prompt, message, loaded)
        if wanted is None or rounds == max_turns:  # the last round answers, with what there is
            return reply, {"rounds": rounds, "tool_calls": calls}
        began = time.monotonic()
        loaded = (wanted, skill_view(wanted))
        calls.append({"name": "skill_view", "ok": True, "ms": round(1000 * (time.monotonic() - began))})


def think(prompt, message, loaded):
    """One round: the skill that the model wants to load, if any, and its reply. `prompt` is all that a model would read."""
    if loaded:
        return None, f"I read {loaded[0]}: {first_step(loaded[1])}"
    turn = prompt[prompt.rindex("<turn>"):]
    named = re.findall(r'^<skill name="([^"]+)" version="\d+" mark="\w+">$', turn, re.M)
    if named:  # instructions: the message names the skill, so they are followed
        return None, f"As {named[0]} says: {first_step(turn)}"
    inline = re.search(r'^<reference name="([^"]+)" .*?mark="(\w+)">$(.*)^</reference mark="\2">$', turn, re.M | re.S)
    if inline:  # reference that came along: no time is lost on a tool
        return None, f"I think {inline[1]} helps: {first_step(inline[3])}"
    listed = re.search(r"^Relevant skills for this message: (.*)$", turn, re.M)
    if listed:  # reference by name: the agent loads what it finds useful
        return re.match(r"[^ ,]+", listed[1])[0], f"Noted: {message}"
    return None, f"Noted: {message}"


def first_step(text):
    """The first line of a numbered list."""
    step = STEP.search(text)
    return step[1][:120] if step else "I shall do that."
