"""Where the files for deployments are, and what several tests read of them."""

import os
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
OBSERVABILITY = DEPLOY / "observability"
RULES = sorted((OBSERVABILITY / "rules").glob("*.yaml"))
DASHBOARDS = sorted((OBSERVABILITY / "dashboards").glob("*.json"))
# The page that names what the service measures; METRICS_PAGE is another one.
METRICS = Path(os.environ.get("METRICS_PAGE", ROOT / "docs" / "reference" / "metrics.md"))
NAME = re.compile(r"\b(?:knowhow|http_server)_[a-z0-9_]+\b")


def rules():
    return [rule for path in RULES for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def alerts():
    return {rule["alert"]: rule for rule in rules() if "alert" in rule}


def without_labels(expression):
    """The expression without what is in braces, where labels are compared."""
    return re.sub(r'\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}', "", expression)


def metrics_of(expression):
    """The metrics it names, a histogram by its own name."""
    names = NAME.findall(without_labels(expression))
    return {re.sub(r"_(bucket|count|sum)$", "", name) for name in names}


def recorded_of(expression):
    """What it names of what rules record."""
    return set(re.findall(r"\bknowhow:[a-z0-9_:]+", without_labels(expression)))


def measured():
    """What the service measures, by its page; nothing where that is not written yet."""
    if not METRICS.exists():
        return set()
    return set(NAME.findall(METRICS.read_text()))


def bounds():
    """The upper bounds of each histogram's buckets, by the page of metrics."""
    if not METRICS.exists():
        return {}
    rows = re.findall(r"^\| `(\w+_seconds)` \| ([\d., ]+) \|$", METRICS.read_text(), re.M)
    return {name: {float(bound) for bound in listed.split(",")} for name, listed in rows}
