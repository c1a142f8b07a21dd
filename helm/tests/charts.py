"""Renders the chart as Helm does, and looks into what comes of it. HELM names the program."""

import functools
import os
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "knowhow"
SETS = {path.name.removesuffix("-values.yaml"): path for path in sorted((CHART / "ci").glob("*-values.yaml"))}
EXAMPLES = {path.stem: path for path in sorted((ROOT / "helm" / "examples").glob("values-*.yaml"))}
# The version that the chart is held against, and at which it is rendered.
KUBERNETES = "1.33"
# Kinds that the schemas of Kubernetes do not have. Another one that they do not know is an error.
CUSTOM = {
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("monitoring.coreos.com/v1", "PrometheusRule"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
}


class Refused(Exception):
    """Helm did not render, and says why."""


@functools.lru_cache(maxsize=None)
def rendered(chart, arguments):
    command = [os.environ["HELM"], "template", "release", str(chart), "--namespace", "space", "--kube-version", f"{KUBERNETES}.0"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr)
    return done.stdout


def render(name="", *settings, chart=CHART):
    """The objects of a set of values, with `key=value` settings on top (as --set takes them)."""
    path = {**SETS, **EXAMPLES}.get(name)
    arguments = ["--values", str(path)] if path else []
    for setting in settings:
        arguments += ["--set", setting]
    objects = [found for found in yaml.safe_load_all(rendered(chart, tuple(arguments))) if found]
    return objects


def render_values(values, tmp_path):
    """The objects of values given as a mapping."""
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump(values))
    return [found for found in yaml.safe_load_all(rendered.__wrapped__(CHART, ("--values", str(path)))) if found]


def find(objects, kind, end=None):
    """The one object of a kind, or that whose name ends so."""
    found = [o for o in objects if o["kind"] == kind and (end is None or o["metadata"]["name"].endswith(end))]
    assert len(found) == 1, f"{len(found)} of {kind} {end}"
    return found[0]


def kinds(objects):
    return sorted(o["kind"] for o in objects)


def pod_spec(thing):
    """What its pods are, for those that have pods."""
    if thing["kind"] == "Pod":
        return thing["spec"]
    if thing["kind"] in ("Deployment", "Job"):
        return thing["spec"]["template"]["spec"]
    return None


def container(thing):
    [only] = pod_spec(thing)["containers"]
    return only


def environment(thing):
    """Its variables: a value, or where it comes from."""
    variables = container(thing).get("env", [])
    names = [variable["name"] for variable in variables]
    assert len(names) == len(set(names)), f"set twice: {names}"
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in variables}


def files(thing):
    """The secrets' files, by path: of which secret, and which key."""
    [volume] = [v for v in pod_spec(thing)["volumes"] if v["name"] == "secrets"]
    [mount] = [m for m in container(thing)["volumeMounts"] if m["name"] == "secrets"]
    return {
        f"{mount['mountPath']}/{item['path']}": (source["secret"]["name"], item["key"])
        for source in volume["projected"]["sources"]
        for item in source["secret"]["items"]
    }
