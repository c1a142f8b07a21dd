"""Prints services/domain/src/skills/name/reserved.rs from the routes of openapi.json."""

import json
import sys

SKILLS = "/v1/skills/"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        paths = json.load(file)["paths"]
    segments = {path.removeprefix(SKILLS).split("/")[0] for path in paths if path.startswith(SKILLS)}
    names = ", ".join(f'"{name}"' for name in sorted(segments) if not name.startswith("{"))
    print("//! Made by `make openapi` from the routes; do not edit.\n")
    print("/// Names that are fixed segments of routes below `/v1/skills/`: a skill of such a name could not be read by it.")
    print(f"pub const RESERVED: &[&str] = &[{names}];")


main()
