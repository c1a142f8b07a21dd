"""The sets of texts that the constants are made of and judged by; corpus and fieldsets have a README each."""

import json
from types import SimpleNamespace

import numpy as np
import zstandard

LABELS = ["hwu64", "xsid-dev", "sgd-dev", "dstc11-banking", "dstc11-development", "dstc11-finance"]
DESCRIBED = ["sgd-dev", "abcd", "bfcl-live", "xsid-dev"]
LONG_SKILLS = 1000


def lines(path):
    packed = path.with_name(path.name + ".zst")
    if path.exists():
        data = path.read_bytes()
    else:
        with open(packed, "rb") as file:
            data = zstandard.ZstdDecompressor().stream_reader(file).read()
    return [json.loads(line) for line in data.decode().split("\n") if line]


def skill_text(skill):
    """As `embedded_text` of the service makes it of names and plain descriptions."""
    name = skill["name"].replace("/", " ").replace("-", " ")
    return f"{name}: {' '.join(skill['description'].split())[:300]}"


class Sets:
    """Sets of messages, sets of documents, and worlds of messages with the skills that answer them."""

    def __init__(self, corpus, fieldsets, read):
        self.read = read
        skills = lines(corpus / "everyday-skills.jsonl")
        everyday = lines(corpus / "everyday-dev.jsonl")
        languages = lines(corpus / "languages.jsonl")
        coding = lines(corpus / "queries-dev.jsonl")
        long = lines(corpus / "skills.jsonl")
        fields = {name: (lines(fieldsets / name / "skills.jsonl"), lines(fieldsets / name / "messages.jsonl"))
                  for name in {*LABELS, *DESCRIBED}}
        messages = {name: [message["message"] for message in fields[name][1]] for name in LABELS}
        queries = [[message["query"] for message in part] for part in (everyday, languages, coding)]
        order = np.random.RandomState(0).permutation(len(long))
        self.messages = [read(part) for part in (queries[0], messages["hwu64"], messages["xsid-dev"], queries[1],
                                                 *(messages[name] for name in LABELS[2:]), queries[2])]
        some = [long[at] for at in order[:LONG_SKILLS]]
        self.documents = [read([skill_text(skill) for skill in part])
                          for part in (skills, some, *(fields[name][0] for name in DESCRIBED))]
        asked = [message for message in everyday if message["kind"] == "everyday"]
        others = [message["query"] for message in everyday if message["kind"] != "everyday"]
        few = {name for message in languages for name in message["relevant"]}
        thirty = [skill for skill in skills if skill["name"] in few]
        english = [message for message in languages if message["language"] == "en" and message["relevant"]]
        foreign = [message for message in languages if message["language"] not in ("en", "hi") and message["relevant"]]
        self.worlds = [self.world("everyday among 120", skills, asked, others), self.world("English among 30", thirty, english),
                       self.world("nine languages among 30", thirty, foreign)]
        for name in LABELS:
            of_it = [{"query": message["message"], **message} for message in fields[name][1]
                     if message["relevant"] and message["kind"] != "affirm"]
            self.worlds.append(self.world(name, fields[name][0], of_it))

    def world(self, name, skills, messages, negatives=None):
        return SimpleNamespace(name=name, names=[skill["name"] for skill in skills],
                               skills=self.read([skill_text(skill) for skill in skills]),
                               messages=self.read([message["query"] for message in messages]),
                               relevant=[message["relevant"] for message in messages],
                               negatives=self.read(negatives) if negatives else None)
