#!/usr/bin/env python3
"""Compares openapi/openapi.json with that of the last release (the last tag v*): what clients rely on must still be there.

Clients break where an operation, an answer or a member of an answer is gone, where a request must bring more than before, or
where a type or a list of allowed words has changed. Before 1.0.0 a minor version may break them and says so in CHANGELOG.md.
Without a tag there is nothing to compare with.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = "openapi/openapi.json"
METHODS = {"get", "put", "post", "patch", "delete"}


def git(*arguments):
    """What git prints, or None where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


class Comparison:
    """The breaks between two documents, each in a sentence."""

    def __init__(self, old, new):
        self.old, self.new, self.breaks, self.seen = old, new, [], set()

    def run(self):
        for path, item in self.old["paths"].items():
            for method in METHODS & item.keys():
                now = self.new["paths"].get(path, {}).get(method)
                place = f"{method.upper()} {path}"
                if now is None:
                    self.breaks.append(f"{place} is gone")
                else:
                    self.operation(place, item[method], now)
        return self.breaks

    def operation(self, place, old, new):
        self.parameters(place, old.get("parameters", []), new.get("parameters", []))
        self.bodies(f"the body of {place}", old.get("requestBody"), new.get("requestBody"), asked=True)
        if new.get("requestBody", {}).get("required") and not old.get("requestBody", {}).get("required"):
            self.breaks.append(f"{place} now needs a body")
        for status, answer in old["responses"].items():
            if status.startswith("2") and status not in new["responses"]:
                self.breaks.append(f"{place} no longer answers {status}")
            elif status in new["responses"]:
                self.bodies(f"{status} of {place}", answer, new["responses"][status], asked=False)

    def parameters(self, place, old, new):
        before = {(p["in"], p["name"]): p for p in old}
        after = {(p["in"], p["name"]): p for p in new}
        for key, parameter in before.items():
            if key not in after:
                self.breaks.append(f"{place} no longer takes the {key[0]} parameter '{key[1]}'")
            else:
                self.schemas(f"'{key[1]}' of {place}", parameter["schema"], after[key]["schema"], asked=True)
        for key, parameter in after.items():
            if parameter.get("required") and not before.get(key, {}).get("required"):
                self.breaks.append(f"{place} now needs the {key[0]} parameter '{key[1]}'")

    def bodies(self, place, old, new, asked):
        for media_type, content in ((old or {}).get("content") or {}).items():
            now = ((new or {}).get("content") or {}).get(media_type)
            if now is None:
                self.breaks.append(f"{place} is no longer {media_type}")
            else:
                self.schemas(place, content.get("schema", {}), now.get("schema", {}), asked)

    def resolve(self, document, schema):
        """The schema itself; a reference stands for what it names."""
        while "$ref" in schema:
            node = document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                node = node[part]
            schema = node
        return schema

    def schemas(self, place, old, new, asked):
        pair = (json.dumps(old, sort_keys=True), json.dumps(new, sort_keys=True), asked)
        if pair in self.seen:  # schemas refer to each other, and each pair is told once
            return
        self.seen.add(pair)
        old, new = self.resolve(self.old, old), self.resolve(self.new, new)
        self.types(place, old, new, asked)
        self.words(place, old.get("enum"), new.get("enum"), asked)
        self.members(place, old, new, asked)
        if "items" in old:
            self.schemas(f"an item of {place}", old["items"], new.get("items", {}), asked)
        for kind in ("allOf", "oneOf", "anyOf"):
            for number, part in enumerate(old.get(kind, [])):
                parts = new.get(kind, [])
                if number < len(parts):
                    self.schemas(place, part, parts[number], asked)
                elif asked:
                    self.breaks.append(f"{place} has fewer forms than before")

    def types(self, place, old, new, asked):
        before, after = kinds(old), kinds(new)
        # A request may take more kinds than before, an answer may have fewer.
        if before and after and not (before <= after if asked else after <= before):
            self.breaks.append(f"{place} was {sorted(before)} and is {sorted(after)}")

    def words(self, place, old, new, asked):
        if asked and new is not None and (old is None or set(map(str, old)) - set(map(str, new))):
            self.breaks.append(f"{place} takes fewer words: {new}, before {old}")

    def members(self, place, old, new, asked):
        before, after = old.get("properties", {}), new.get("properties", {})
        required_before, required_after = set(old.get("required", [])), set(new.get("required", []))
        for name, member in before.items():
            if name not in after:
                self.breaks.append(f"{place} no longer has '{name}'")
            else:
                self.schemas(f"{place}/{name}", member, after[name], asked)
        for name in sorted(required_after - required_before if asked else required_before - required_after):
            if name in after:
                self.breaks.append(f"'{name}' of {place} is {'now needed' if asked else 'no longer always there'}")


def kinds(schema):
    """The types a schema allows; none where it does not say."""
    kind = schema.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)


def main():
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*")
    if not tag:
        print("nothing is released yet (no tag v*), so there is no document to compare with")
        return
    before = git("show", f"{tag.strip()}:{DOCUMENT}")
    if before is None:
        sys.exit(f"error: {tag.strip()} has no {DOCUMENT}")
    breaks = Comparison(json.loads(before), json.loads((ROOT / DOCUMENT).read_text())).run()
    for sentence in breaks:
        print(f"  {sentence}")
    if breaks:
        sys.exit(f"error: clients of {tag.strip()} break at {len(breaks)} places; keep what they rely on")
    print(f"clients of {tag.strip()} find everything that they rely on")


if __name__ == "__main__":
    main()
