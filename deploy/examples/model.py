"""Stands in for a language model: the same prompt gives the same answer, and it needs no network."""

import re

STEP = re.compile(r"^\s*\d+\. (.*)$", re.M)


def answer(prompt, message, skill_view):
    """The agent's reply and how many tools it called. `prompt` is all that a model would read."""
    turn = prompt[prompt.rindex("<turn>"):]
    named = re.findall(r'^<skill name="([^"]+)" version="\d+" mark="\w+">$', turn, re.M)
    if named:  # instructions: the message names the skill, so they are followed
        return f"As {named[0]} says: {first_step(turn)}", 0
    inline = re.search(r'^<reference name="([^"]+)" .*?mark="(\w+)">$(.*)^</reference mark="\2">$', turn, re.M | re.S)
    if inline:  # reference that came along: no time is lost on a tool
        return f"I think {inline[1]} helps: {first_step(inline[3])}", 0
    listed = re.search(r"^Relevant skills for this message: (.*)$", turn, re.M)
    if listed:  # reference by name: the agent loads what it finds useful
        name = re.match(r"[^ ,]+", listed[1])[0]
        return f"I read {name}: {first_step(skill_view(name))}", 1
    return f"Noted: {message}", 0


def first_step(text):
    """The first line of a numbered list."""
    step = STEP.search(text)
    return step[1][:120] if step else "I shall do that."
