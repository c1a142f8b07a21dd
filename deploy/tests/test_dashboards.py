"""Dashboards: every expression can be read and names what there is. PROMTOOL names promtool."""

import json
import os
import re
import subprocess

import pytest
import yaml
from places import DASHBOARDS, OBSERVABILITY, measured, metrics_of, recorded_of, rules

# What Grafana puts in before it asks.
FILLED = {"$__rate_interval": "5m", "$__range": "6h", "$namespace": "prod"}


def load(path):
    return json.loads(path.read_text())


def expressions(path):
    """What each panel asks, by its title."""
    return [(panel["title"], target["expr"]) for panel in load(path)["panels"] for target in panel.get("targets", [])]


def filled(expression):
    for name, value in FILLED.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, expression
    return expression


def read_by_promtool(folder, asked):
    """Whether promtool reads all of them; it has no command for one expression, so they are rules of a file."""
    listed = [{"record": f"asked:{number}", "expr": expression} for number, expression in enumerate(asked)]
    path = folder / "asked.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": listed}]}))
    done = subprocess.run([os.environ["PROMTOOL"], "check", "rules", str(path)], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def test_there_are_three():
    assert [path.stem for path in DASHBOARDS] == ["database", "jobs-and-models", "service"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_expression_is_read(path, tmp_path):
    asked = [filled(expression) for _, expression in expressions(path)]
    assert len(asked) >= 8
    good, said = read_by_promtool(tmp_path, asked)
    assert good, said


def test_one_that_cannot_be_read_is_found(tmp_path):
    good, _ = read_by_promtool(tmp_path, ["sum(rate(knowhow_turns_total[5m])"])
    assert not good


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_expression_names_what_there_is(path):
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    for title, expression in expressions(path):
        assert recorded_of(expression) <= recorded, title
        assert metrics_of(expression) or recorded_of(expression) or "up{" in expression, title
        # One namespace can be chosen for all of a dashboard.
        if not title.startswith("How fast"):
            assert 'namespace=~"$namespace"' in expression, title


def test_dashboards_name_what_is_measured_and_show_all_of_it():
    named = set().union(*(metrics_of(expression) for path in DASHBOARDS for _, expression in expressions(path)))
    assert named <= measured(), named - measured()
    shown = {re.sub(r"_(bucket|count|sum)$", "", name) for name in measured()}
    assert shown - named == set(), f"no dashboard shows {shown - named}"


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_one_that_grafana_takes(path):
    board = load(path)
    assert board["uid"].startswith("knowhow-") and board["title"].startswith("Knowhow: ")
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, f"{panel['title']} lies over another"
        taken |= cells
        if panel["type"] != "row":
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert [target["refId"] for target in panel["targets"]] == list("ABCDEF"[: len(panel["targets"])])
    assert {variable["name"] for variable in board["templating"]["list"]} == {"datasource", "namespace"}


def test_dashboards_have_ids_of_their_own():
    assert len({load(path)["uid"] for path in DASHBOARDS}) == len(DASHBOARDS)


def test_the_collector_has_what_its_pipelines_name():
    config = yaml.safe_load((OBSERVABILITY / "collector.yaml").read_text())
    for pipeline in config["service"]["pipelines"].values():
        for part in ("receivers", "processors", "exporters"):
            assert set(pipeline[part]) <= set(config[part])
        assert pipeline["processors"][0] == "memory_limiter"
    assert set(config["service"]["pipelines"]) == {"traces", "metrics", "logs"}
