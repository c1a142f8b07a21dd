"""Objects of custom kinds, of which Kubernetes has no schemas: against the types and the schemas of their own projects. The
types find a member that there is not, the schemas a value that is none."""

import copy
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from charts import CUSTOM, EXAMPLES, ROOT, SETS, render

TOOLS = Path(os.environ.get("CHART_TOOLS", ROOT / "data/tools/chart"))
TYPES = {
    "HTTPRoute": "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute",
    "PrometheusRule": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule",
    "ServiceMonitor": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor",
}


def custom_objects():
    return [o for name in (*SETS, *EXAMPLES) for o in render(name) if (o["apiVersion"], o["kind"]) in CUSTOM]


def run(*command, folder):
    done = subprocess.run(["node", *map(str, command)], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(objects):
    """What does not fit; nothing where all of it does."""
    # Node.js looks for packages in the folders above a file.
    with tempfile.TemporaryDirectory(dir=TOOLS, prefix="custom-") as nest:
        folder = Path(nest)
        (folder / "objects.json").write_text(json.dumps(objects))
        shutil.copy(ROOT / "scripts/ci/chart/custom.mjs", folder)
        lines = [f'import type {{ I{kind} }} from "{path}";' for kind, path in TYPES.items()]
        lines += [f"export const o{n}: I{o['kind']} = {json.dumps(o)};" for n, o in enumerate(objects)]
        (folder / "objects.ts").write_text("\n".join(lines))
        compiler = TOOLS / "node_modules/typescript/bin/tsc"
        options = "--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2022".split()
        by_type = run(compiler, *options, "objects.ts", folder=folder)
        by_schema = run("custom.mjs", "objects.json", folder=folder)
    return "".join(said for code, said in (by_type, by_schema) if code)


def test_they_are_all_there():
    assert {(o["apiVersion"], o["kind"]) for o in custom_objects()} == CUSTOM
    assert {kind for _, kind in CUSTOM} == set(TYPES)


def test_they_fit():
    assert check(custom_objects()) == ""


def change_member(monitor):
    monitor["spec"]["endpoints"][0]["relabelings"][0]["target"] = "job"


def change_value(monitor):
    monitor["spec"]["endpoints"][0]["interval"] = "now and then"


def change_kind_of_value(monitor):
    monitor["spec"]["endpoints"][0]["port"] = 9464


@pytest.mark.parametrize("change, said", [(change_member, "\"target\"' does not exist"), (change_value, "must match pattern"),
                                          (change_kind_of_value, "'number' is not assignable")])
def test_what_does_not_fit_is_found(change, said):
    monitor = copy.deepcopy(next(o for o in custom_objects() if o["kind"] == "ServiceMonitor"))
    change(monitor)
    assert said in check([monitor])
