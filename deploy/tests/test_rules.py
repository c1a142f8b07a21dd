"""Alerts and what is said of them. Whether they fire is promtool's test of observability/tests."""

import json
import re

import pytest
import yaml
from places import OBSERVABILITY, ROOT, alerts, measured, metrics_of, recorded_of, rules

RUNBOOK = ROOT / "docs" / "operators" / "runbook.md"


def paragraphs():
    """The runbook's sections, by the anchors of their headings."""
    parts = re.split(r"^## (.+)$", RUNBOOK.read_text(), flags=re.M)[1:]
    return {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-"): text for title, text in zip(parts[::2], parts[1::2])}


@pytest.mark.parametrize("name", alerts())
def test_an_alert_says_what_to_do(name):
    alert = alerts()[name]
    assert alert["labels"]["severity"] in ("page", "ticket")
    assert set(alert["annotations"]) == {"summary", "description", "runbook"}
    page, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert page == "docs/operators/runbook.md" and anchor in paragraphs(), anchor
    text = paragraphs()[anchor]
    assert f"`{name}`" in text, f"the paragraph {anchor} does not name {name}"
    assert len(text.split()) > 40, f"the paragraph {anchor} says too little"


def test_the_runbook_is_of_alerts_that_there_are():
    assert set(re.findall(r"`(Knowhow[A-Z]\w+)`", RUNBOOK.read_text())) == set(alerts())


def test_every_alert_is_tried_both_ways():
    fires, silent = set(), set()
    for tests in sorted((OBSERVABILITY / "tests").glob("*.yaml")):
        for test in yaml.safe_load(tests.read_text())["tests"]:
            for case in test.get("alert_rule_test", []):
                (fires if case["exp_alerts"] else silent).add(case["alertname"])
    assert fires == silent == set(alerts())


def test_every_objective_has_a_budget_and_alerts():
    recorded = [rule for rule in rules() if "record" in rule]
    by_name = {}
    for rule in recorded:
        by_name.setdefault(rule["record"], set()).add(rule.get("labels", {}).get("objective"))
    objectives = by_name["knowhow:objective_budget"]
    assert len(objectives) == 6
    assert by_name["knowhow:objective_events:rate5m"] == by_name["knowhow:objective_bad:rate5m"] == objectives
    for objective in objectives:
        budget = next(r["expr"] for r in recorded if r["record"] == "knowhow:objective_budget" and r["labels"]["objective"] == objective)
        share = re.fullmatch(r"vector\(([\d.]+)\)", budget)[1]
        asked = [alert for alert in alerts().values() if f'objective="{objective}"' in alert["expr"]]
        assert sorted(alert["labels"]["severity"] for alert in asked) == ["page", "ticket"]
        page = next(alert["expr"] for alert in asked if alert["labels"]["severity"] == "page")
        for window, factor in (("1h", 14.4), ("5m", 14.4), ("6h", 6), ("30m", 6)):
            assert f'knowhow:objective_bad:ratio{window}{{objective="{objective}"}} > {factor} * {share}' in page


def test_rules_name_what_is_recorded():
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    assert set().union(*(recorded_of(rule["expr"]) for rule in rules())) <= recorded


def test_rules_name_what_is_measured():
    named = set().union(*(metrics_of(rule["expr"]) for rule in rules()))
    assert named and named <= measured(), named - measured()


def test_rules_name_endpoints_that_there_are():
    paths = json.loads((ROOT / "openapi/openapi.json").read_text())["paths"]
    found = 0
    for rule in rules():
        for methods, routes in re.findall(r'http_request_method=~?"([^"]+)",http_route=~?"([^"]+)"', rule["expr"]):
            for route in routes.split("|"):
                assert route in paths, route
                assert set(methods.lower().split("|")) & paths[route].keys(), f"{methods} {route}"
                found += 1
    assert found >= 8
