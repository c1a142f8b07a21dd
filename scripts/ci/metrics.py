#!/usr/bin/env python3
"""What a process serves at /metrics, held against promtool and against the rules of deploy/observability.

    metrics.py URL     e.g. http://127.0.0.1:9464/metrics, after some requests and jobs; - reads standard input

promtool (PROMTOOL names it) must have nothing to say; every histogram that is served must have the boundaries that the
objectives ask for; every label must be one that rules or dashboards know; and no more than 2,000 series are served.
"""

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

RULES = Path(__file__).resolve().parents[2] / "deploy/observability/rules/objectives.yaml"
SERIES = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+", re.M)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
LABELS = {
    "code", "degraded", "direction", "http_request_method", "http_response_status_code", "http_route", "le", "model", "outcome",
    "pool", "stage", "start", "state", "task", "version",
}
MOST = 2000


def boundaries(rules):
    """The boundary that the rules ask of each histogram, by its name."""
    asked = {}
    for name, braces in re.findall(r"(\w+)_bucket\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*)\}", rules):
        boundary = re.search(r'\ble=~?"([\d.]+?)(?:\(.*\)\?)?"', braces)
        asked.setdefault(name, set()).add(float(boundary[1]))
    return asked


def faults(text, rules):
    """What is wrong with what is served, as sentences."""
    found = []
    series = [(name, dict(LABEL.findall(labels))) for name, labels in SERIES.findall(text)]
    if len(series) > MOST:
        found.append(f"{len(series)} series, of at most {MOST}")
    ours = [(name, labels) for name, labels in series if name.startswith(("knowhow_", "http_server_"))]
    unknown = {label for _, labels in ours for label in labels} - LABELS
    if unknown:
        found.append(f"labels that no rule and no dashboard knows: {', '.join(sorted(unknown))}")
    for metric, wanted in boundaries(rules).items():
        served = {float(labels["le"]) for name, labels in ours if name == f"{metric}_bucket"}
        if served and not wanted <= served:
            found.append(f"{metric} has no boundary at {', '.join(map(str, sorted(wanted - served)))}")
    return found


def main():
    """Reads, and says what is wrong."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "-":
        text = sys.stdin.read()
    else:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        text = opener.open(sys.argv[1], timeout=10).read().decode()
    linted = subprocess.run([os.environ.get("PROMTOOL", "promtool"), "check", "metrics"], input=text, capture_output=True, text=True)
    found = faults(text, RULES.read_text())
    if linted.returncode or linted.stdout.strip() or linted.stderr.strip():
        found.append(f"promtool: {linted.stdout}{linted.stderr}")
    if "knowhow_build_info" not in text:
        found.append("these are not the metrics of the service")
    if found:
        sys.exit("\n".join(found))
    print("the metrics that are served are those that rules and dashboards ask for")


if __name__ == "__main__":
    main()
