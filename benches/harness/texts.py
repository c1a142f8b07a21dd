"""What skills and messages say: real ones where the corpus is at hand, else texts made here of a small vocabulary.

Texts made of few words flatter: they compress better, and catalogues of them are quicker to build and smaller. So whatever is
written down says which of the two a run was made with.
"""

import json
import random
import re
import shutil
import subprocess
from copy import copy

from tools.corpus import SAMPLE, find_corpus

CORPUS = find_corpus()
REAL = "real skills of the sample" if CORPUS == SAMPLE else "real skills of the corpus"
BUILT_IN = "built-in texts of few words"
SIZES = range(1000, 16_000)
VOCABULARY = 2000
# Characters: what a person says; some of the corpus paste whole files.
LONGEST_MESSAGE = 300
WORDS = ("agent answer archive budget calendar check customer deploy draft escalate export file follow format header "
         "import index invoice label ledger list mail meeting merge note order page parse plan queue read report "
         "request review rollback route rule schedule search send session sheet skill sort status summary table tag "
         "task template test ticket token trace update upload user validate version warn window write").split()
# What skills are about: a message that asks for one fits it, and not all of them alike.
TOPICS = ("aquarium bakery beehive bicycle bonsai bridge camera candle canoe carpet cello cheese chimney clay compost "
          "curtain falcon fence garden glacier greenhouse harbour hammock honey kayak kettle kiln lantern lighthouse "
          "locksmith marble mosaic mushroom orchard orchid origami parrot pottery pump quilt roof saddle sail sauna "
          "scooter sculpture seaweed skate stove surfboard telescope tent terrace tractor trombone tulip tunnel violin "
          "volcano waffle walnut windmill yoghurt zeppelin").split()


def choose_texts(say):
    """Real texts, or the built-in ones and why."""
    missing = None if (CORPUS / "skills.jsonl.zst").exists() else f"there are no skills at {CORPUS}"
    missing = missing or (None if shutil.which("zstd") else "zstd is missing (apt-get install -y zstd)")
    if missing:
        say(f"  {BUILT_IN}: {missing}; RECALL_CORPUS names another folder. The results are marked.")
        return BuiltIn()
    unpacked = subprocess.run(["zstd", "-dcq", str(CORPUS / "skills.jsonl.zst")], check=True, stdout=subprocess.PIPE).stdout
    messages = (CORPUS / "queries-dev.jsonl").read_text().splitlines()
    return Real([json.loads(line) for line in unpacked.splitlines()], [json.loads(line) for line in messages])


class Real:
    """Skills as their authors wrote them, those that messages ask for first."""

    kind = REAL

    def __init__(self, skills, messages):
        usable = [skill for skill in skills if is_usable(skill)]
        wishes = {}
        for message in messages:
            for skill in message["relevant"]:
                if len(message["query"]) <= LONGEST_MESSAGE:
                    wishes.setdefault(skill, message["query"])
        dice = random.Random(7)
        dice.shuffle(usable)
        self.skills = sorted(usable, key=lambda skill: skill["id"] not in wishes)
        self.wishes = wishes
        known = {word for skill in self.skills[:1000] for word in re.findall(r"[a-z]{3,14}", skill["description"])}
        self.words = sorted(known) if len(known) <= VOCABULARY else sorted(dice.sample(sorted(known), VOCABULARY))
        self.taken = 0

    def again(self):
        """The same, from the first one on."""
        same = copy(self)
        same.taken = 0
        return same

    def skill(self, size=None):
        """The next skill: its members as a save takes them, and a message that asks for it (`wish`, None where nobody does).
        A body longer than `size` bytes is cut behind a line."""
        skill = self.skills[self.taken % len(self.skills)]
        self.taken += 1
        named = [word for word in re.findall(r"[a-z0-9]+", skill["name"].lower()) if len(word) > 2][:3]
        members = {"description": skill["description"], "content": cut(skill["body"], size), "tags": sorted(set(named)),
                   "triggers": [" ".join(named)] if named else []}
        return {**members, "wish": self.wishes.get(skill["id"])}

    def body(self, size):
        """A body of about this many bytes."""
        longer = [skill["body"] for skill in self.skills if len(skill["body"].encode()) >= size]
        return cut(min(longer, key=lambda body: len(body.encode())), size)


class BuiltIn:
    """Skills of 65 words, each about topics of its own."""

    kind = BUILT_IN
    words = WORDS

    def __init__(self):
        self.dice = random.Random(7)

    def again(self):
        """The same, from the first one on."""
        return BuiltIn()

    def skill(self, size=None):
        """As that of the real ones."""
        tags = self.dice.sample(TOPICS, 3)
        about = f"{' '.join(self.dice.choices(WORDS, k=14))}. Use when {' '.join(tags)} are asked for."
        return {"description": about, "content": self.body(size or 3100, tags), "tags": tags, "triggers": [" ".join(tags)],
                "wish": f"please {' '.join(tags)} for the office"}

    def body(self, size, topics=("procedure",)):
        """Markdown of about this many bytes, in plain letters, that speaks of its topics."""
        lines, length = ["## Procedure", ""], 0
        while length < size:
            line = f"{len(lines) - 1}. " + " ".join([*self.dice.choices(WORDS, k=11), self.dice.choice(topics)])
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines) + "\n"


def is_usable(skill):
    """Whether the service takes it as it is: of ordinary size, and what pgbench and Lua carry without loss."""
    text = skill["description"] + skill["body"]
    plain = "\0" not in text and "\r" not in text
    one_line = "\n" not in skill["description"].strip() and 0 < len(skill["description"].strip()) <= 1000
    return plain and one_line and len(skill["body"].encode()) in SIZES and not skill["nonlatin"]


def cut(body, size):
    """A text without the lines beyond `size` bytes; its first line always, at least in part."""
    if size is None or len(body.encode()) <= size:
        return body
    short = body.encode()[:size].decode(errors="ignore")
    return short[:short.rindex("\n") + 1] if "\n" in short.rstrip("\n") else short
