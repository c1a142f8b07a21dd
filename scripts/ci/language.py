#!/usr/bin/env python3
"""Checks that comments, messages and pages are plain English, by rules that a pattern can test.

`language.json` stores the number of findings for each kind of text and rule. A number may only become smaller:
`--update` writes smaller ones. `--list [PATH ...]` prints the findings, `--figures` the shares.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

LIMITS = Path(__file__).with_suffix(".json")
LONGEST_SENTENCE = 25
LONGEST_PARAGRAPH = 100

RULES = {
    "R1 begins with a question word": re.compile(r"^(What|How|Where|Which|Who|Whom|Whose|Why|When)\b(?!.*\?$)"),
    "R2 a clause in place of a noun": re.compile(
        r"\b(what|who|whoever|whom|whatever) (is|are|was|were|has|have|had|may|can|must|it|they|the|a|an|this|that|one|its|their)\b"
        r"|\b(of|by|to|from|for|in) which\b|\bof whom\b|\bwhose\b"
    ),
    "R3 where for if": re.compile(
        r"\b[Ww]here (it|they|there|the|a|an|no|one|this|that|these|those|none|nothing|all|any|its|their|such|both|each|some|several|many|he|she|he|only|two|other)\b"
    ),
    "R4 nobody in particular": re.compile(
        r"\b(nobody|somebody|anybody|everybody|whoever|whomever|oneself|nothing|one who|those who|he who|no one|someone|anyone)\b"
        r"|(?<![-`\w])[Nn]one\b(?! of)(?!`)",
        re.I,
    ),
    "R5 a word that is no verb of the trade": re.compile(
        r"\b(tells?|told|telling|says?|said|saying|heeds?|heeded|anew|at hand|in vain|besides?|dear|dearly|"
        r"(let|lets|letting) in|(take|takes|taken|took) in|(go|goes|going) by|(come|comes|came|coming) (along|next|by)|"
        r"hand(s|ed)? (on|out|over|back|in)|stands? (for itself|in|at|by|still|above|below|there)|has had|was had)\b",
        re.I,
    ),
    "R6 a quantity without a name": re.compile(
        r"\b(so (many|much|long|few|far as)|as (many|much|few) as|such as (are|is|was|were|have|has|had|can|may|it|the))\b", re.I
    ),
    "R7 begins with a pronoun or an ellipsis": re.compile(
        r"^(Of|Those|Such|Its|It|They|Them|One|Theirs|These|The same|That|As (it|they|the|in|of)|So|Nor|Neither|Else|Likewise)\b"
    ),
}
FIRST_VERB = re.compile(r"^(\w+s|`)\b")
R8 = f"R8 a sentence of more than {LONGEST_SENTENCE} words"
PARAGRAPH = f"R8 a paragraph of more than {LONGEST_PARAGRAPH} words"
UNIQUE = "R9 a type name that its crate has twice"
SUBJECT = re.compile(r"^[a-z][a-z0-9-]*: [a-z][a-z-]+ \S.{0,70}$")


@dataclass(frozen=True)
class Text:
    """A comment, message or paragraph and its place."""

    kind: str
    path: str
    line: int
    words: str


@dataclass(frozen=True)
class Finding:
    """A rule that a text breaks."""

    rule: str
    text: Text

    def __str__(self) -> str:
        return f"{self.text.path}:{self.text.line}: {self.rule}: {self.text.words[:140]}"


def plain(words: str) -> str:
    """Removes code and links, of which the rules do not speak."""
    words = re.sub(r"`[^`]*`", "`code`", words)
    words = re.sub(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", words)
    return re.sub(r"[*_]{1,2}(?=\S)([^*_]+)[*_]{1,2}", r"\1", words).strip()


def rust_comments(path: Path) -> list[Text]:
    """Returns each block of doc comments, a paragraph or list item at a time."""
    found, block, start = [], [], 0
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        comment = re.match(r"\s*//[/!]? ?(.*)", line)
        if comment and comment[1].strip() and not re.match(r"([-*|#]|\d+\.) ?", comment[1]) and block:
            block.append(comment[1])
            continue
        if block:
            found.append(Text("comments", str(path), start, plain(" ".join(block))))
            block = []
        if comment and comment[1].strip() and not comment[1].startswith(("```", "#", "|")):
            block, start = [re.sub(r"^([-*]|\d+\.) +", "", comment[1])], number
    return found


def rust_messages(path: Path) -> list[Text]:
    """Returns string literals that read as sentences: messages, help texts, prompts."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"\s*//|\s*(--|#\[doc)", line):
            continue
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            if len(re.findall(r"[a-z]{2,}", literal)) > 3 and " " in literal and not re.search(r"\b(select|update|insert|delete from)\b", literal):
                found.append(Text("messages", str(path), number, plain(literal)))
    return found


def api_texts(path: Path) -> list[Text]:
    """Returns the descriptions and summaries of an OpenAPI document or a list of tools."""
    found = []

    def walk(node: object, at: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("description", "summary") and isinstance(value, str):
                    found.extend(Text("api", f"{path}{at}", 1, plain(part)) for part in re.split(r"\n\s*\n|\n- ", value) if part.strip())
                else:
                    walk(value, f"{at}/{key}")
        elif isinstance(node, list):
            for number, value in enumerate(node):
                walk(value, f"{at}/{number}")

    walk(json.loads(path.read_text()), "#")
    return list(dict.fromkeys(found))


def page_texts(path: Path) -> list[Text]:
    """Returns the paragraphs, list items and table cells of a page."""
    found, block, start, code = [], [], 0, False
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            code = not code
            line = ""
        item = re.match(r"\s*([-*]|\d+\.) +", line)
        if code or not line.strip() or item or line.startswith(("#", "|")):
            if block:
                found.append(Text("pages", str(path), start, plain(" ".join(block))))
                block = []
        if code or not line.strip():
            continue
        if line.startswith("|"):
            found.extend(Text("pages", str(path), number, plain(cell)) for cell in line.strip("| ").split(" | ") if " " in cell.strip())
        elif line.startswith("#"):
            found.append(Text("pages", str(path), number, plain(line.lstrip("# "))))
        else:
            if not block:
                start = number
            block.append(line[item.end():] if item else line.strip())
    return found


def sentences(words: str) -> list[str]:
    return re.split(r"(?<=[.!?:;])\s+", words)


def find(text: Text) -> list[Finding]:
    """Returns the rules that a text breaks, each once."""
    first = text.kind in ("comments", "api")
    broken = []
    for rule, pattern in RULES.items():
        if rule[:2] in ("R1", "R7") and not first:
            continue
        if pattern.search(text.words):
            broken.append(Finding(rule, text))
    if any(len(sentence.split()) > LONGEST_SENTENCE for sentence in sentences(text.words)):
        broken.append(Finding(R8, text))
    if text.kind == "pages" and len(text.words.split()) > LONGEST_PARAGRAPH:
        broken.append(Finding(PARAGRAPH, text))
    return broken


def functions(path: Path) -> list[Finding]:
    """Returns the comments of functions that do not begin with a verb in the third person."""
    lines = path.read_text().splitlines()
    found = []
    for number, line in enumerate(lines):
        comment = re.match(r"\s*/// ?(.*)", line)
        if not comment or (number and lines[number - 1].lstrip().startswith("///")):
            continue
        below = number
        while below < len(lines) and re.match(r"\s*(///|#\[|\)\]|[a-z_]+\(|[a-z_]+ = |[\"\])])", lines[below]):
            below += 1
        if below < len(lines) and re.match(r"\s*(pub(\([a-z]+\))? )?(const )?(async )?fn ", lines[below]):
            words = plain(comment[1])
            if not FIRST_VERB.match(words) or words.split()[0] in ("This", "Its", "As", "Always", "Was", "Yes"):
                found.append(Finding("R1 a function without a verb", Text("comments", str(path), number + 1, words)))
    return found


def repeated_types(root: Path) -> list[Finding]:
    """Returns the types of a crate that share their name with another type of the crate.

    `Arguments` and `Answer` of the MCP tools are left out, because each tool has its own.
    """
    places: dict[tuple[str, str], list[tuple[Path, int]]] = {}
    for path in sorted(root.glob("services/*/src/**/*.rs")):
        if "tests" in path.parts or path.name == "tests.rs":
            continue
        parts = path.relative_to(root).parts
        for number, line in enumerate(path.read_text().splitlines(), 1):
            named = re.match(r"(?:\s*row! \{ )?(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union) (\w+)", line)
            if named and not (parts[3:5] == ("mcp", "tools") and named[1] in ("Arguments", "Answer")):
                places.setdefault((parts[1], named[1]), []).append((path, number))
    return [
        Finding(UNIQUE, Text("names", str(path), number, name))
        for (_, name), found in places.items()
        if len(found) > 1
        for path, number in found[1:]
    ]


def base_commit() -> str:
    """Returns the commit that stored the numbers last, or nothing."""
    command = ["git", "log", "-1", "--format=%H", "--", LIMITS]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def subjects() -> list[Finding]:
    """Returns the subjects of commits since the numbers were stored that are no `scope: verb object`."""
    base = base_commit()
    if not base:
        return []
    log = subprocess.run(["git", "log", "--no-merges", "--format=%h %s", f"{base}..HEAD"], capture_output=True, text=True, check=True).stdout
    return [
        Finding("R10 a subject that is not `scope: verb object`", Text("commits", line.split()[0], 1, line))
        for line in log.splitlines()
        if not SUBJECT.match(line.split(" ", 1)[1])
    ]


def collect(root: Path) -> tuple[list[Text], list[Finding]]:
    texts, findings = [], []
    for path in sorted(root.glob("services/*/src/**/*.rs")):
        if "tests" in path.parts or path.name == "tests.rs":
            continue
        texts += rust_comments(path) + rust_messages(path)
        findings += functions(path)
    for path in sorted(root.glob("openapi/*.json")):
        texts += api_texts(path)
    for path in [*root.glob("*.md"), *root.glob("docs/**/*.md"), root / "migrations/README.md"]:
        if path.name != "CHANGELOG.md":
            texts += page_texts(path)
    for text in texts:
        findings += find(text)
    return texts, findings + repeated_types(root) + subjects()


def added_lines() -> set[tuple[str, int]]:
    """Returns path and line of each line that was added since the numbers were stored."""
    diff = subprocess.run(["git", "diff", "-U0", base_commit() or "HEAD"], capture_output=True, text=True, check=True).stdout
    added, path = set(), ""
    for line in diff.splitlines():
        if line.startswith("+++ b/"):
            path = line[6:]
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            added |= {(path, int(hunk[1]) + more) for more in range(int(hunk[2] or 1))}
    return added


def print_figures(texts: list[Text], findings: list[Finding]) -> None:
    for kind in ("comments", "messages", "api", "pages"):
        all_of_kind = {text for text in texts if text.kind == kind}
        marked = {finding.text for finding in findings if finding.text.kind == kind and not finding.rule.startswith("R8")}
        words = sum(len(text.words.split()) for text in all_of_kind)
        print(f"{kind}: {len(all_of_kind)} texts, {words} words, {len(marked & all_of_kind) / max(len(all_of_kind), 1):.1%} break a rule of R1 to R7")


def main() -> None:
    texts, findings = collect(Path("."))
    if "--figures" in sys.argv:
        print_figures(texts, findings)
    if "--list" in sys.argv:
        paths = tuple(sys.argv[sys.argv.index("--list") + 1 :]) or ("",)
        print("\n".join(str(finding) for finding in findings if finding.text.path.startswith(paths)))
        return
    counts: dict[str, dict[str, int]] = {}
    for (kind, rule), number in sorted(Counter((finding.text.kind, finding.rule) for finding in findings).items()):
        counts.setdefault(kind, {})[rule] = number
    limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else None
    grown = [
        (kind, rule)
        for kind, rules in counts.items()
        for rule, number in rules.items()
        if limits is not None and number > limits.get(kind, {}).get(rule, 0)
    ]
    if grown:
        added = added_lines()
        for finding in findings:
            if (finding.text.kind, finding.rule) in grown and (finding.text.kind in ("api", "commits") or (finding.text.path, finding.text.line) in added):
                print(finding)
        for kind, rule in grown:
            print(f"{kind}: {rule}: {counts[kind][rule]}, at most {limits.get(kind, {}).get(rule, 0)}; write it plainly (CONTRIBUTING.md)")
        sys.exit(1)
    if limits is None or "--update" in sys.argv:
        LIMITS.write_text(json.dumps(counts, indent=2) + "\n")
    print(f"{len(texts)} texts, {len(findings)} findings, not more than stored")


main()
