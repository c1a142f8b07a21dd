"""Every setting can be set, and what is wrong is refused before anything is installed."""

import re

import pytest
import yaml

from charts import CHART, ROOT, Refused, environment, files, find, render, render_values

SETTINGS = re.findall(r"^\| `(KNOWHOW_[A-Z0-9_]+)` \|", (ROOT / "docs/reference/settings.md").read_text(), re.M)
SECRET = re.compile(r"_(KEY|SECRET|KEY_PREVIOUS)$|^KNOWHOW_(DATABASE|REPLICA|REDIS)_URL$")
# Settings with a value of their own: the values that set it, and what the API then has.
NAMED = {
    "KNOWHOW_BIND": ({"listen": {"address": "::"}}, "::"),
    "KNOWHOW_PORT": ({"listen": {"port": 9000}}, "9000"),
    "KNOWHOW_METRICS_BIND": ({"listen": {"address": "::", "metricsPort": 9001}}, "[::]:9001"),
    "KNOWHOW_WORKERS": ({"api": {"resources": {"limits": {"cpu": "7"}}}},
                        {"resourceFieldRef": {"containerName": "knowhow", "resource": "limits.cpu", "divisor": "1"}}),
    "KNOWHOW_DRAIN_S": ({"drainSeconds": 11}, "11"),
    "KNOWHOW_SHUTDOWN_TIMEOUT_S": ({"shutdownSeconds": 12}, "12"),
    "KNOWHOW_KEEP_ALIVE_S": ({"keepAliveSeconds": 13}, "13"),
    "KNOWHOW_TRUSTED_PROXIES": ({"trustedProxies": ["10.0.0.0/8", "::1"]}, "10.0.0.0/8,::1"),
    "KNOWHOW_PUBLIC_URL": ({"publicUrl": "https://a.example"}, "https://a.example"),
    "KNOWHOW_WITH_WORKER": ({"worker": {"mode": "inApi"}}, "true"),
    "KNOWHOW_WORKER_CONCURRENCY": ({"worker": {"concurrency": 9}}, "9"),
}
OF_THE_API = {"KNOWHOW_BIND", "KNOWHOW_PORT", "KNOWHOW_KEEP_ALIVE_S", "KNOWHOW_TRUSTED_PROXIES", "KNOWHOW_WITH_WORKER"}


def test_the_page_of_settings_is_read():
    assert len(SETTINGS) > 40 and "KNOWHOW_SECRET_KEY" in SETTINGS


# The ingress takes TLS: probes and the Service ask by HTTP.
NOT_OF_THE_CHART = {"KNOWHOW_TLS_CERTIFICATE_PATH", "KNOWHOW_TLS_KEY_PATH"}


@pytest.mark.parametrize("name", sorted({*SETTINGS, *NAMED} - {"KNOWHOW_DATABASE_URL", "KNOWHOW_SECRET_KEY"} - NOT_OF_THE_CHART))
def test_every_setting_can_be_set(name, tmp_path):
    values, expected = NAMED.get(name, ({"settings": {name: "12"}}, "12"))
    variable = name
    if SECRET.search(name):
        values, variable = {"secrets": {"settings": {name: {"name": "one", "key": "two"}}}}, f"{name}_FILE"
    objects = render_values(values, tmp_path)
    works = [o for o in objects if o["kind"] == "Deployment" and (name not in OF_THE_API or o["metadata"]["name"].endswith("-api"))]
    for thing in works:
        found = environment(thing)[variable]
        if SECRET.search(name):
            assert files(thing)[found] == ("one", "two")
        else:
            assert found == expected
    if name == "KNOWHOW_WORKERS":
        assert works[0]["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "7"


def test_the_two_secrets_are_always_there():
    for thing in [o for o in render("ingress") if o["kind"] == "Deployment"]:
        assert {"KNOWHOW_DATABASE_URL_FILE", "KNOWHOW_SECRET_KEY_FILE"} <= environment(thing).keys()


def test_the_chart_sets_nothing_that_is_no_setting():
    for name in ("all", "ingress"):
        for thing in [o for o in render(name) if o["kind"] in ("Deployment", "Job")]:
            given = {v.removesuffix("_FILE") for v in environment(thing) if v.startswith("KNOWHOW_")}
            assert given <= set(SETTINGS)


def test_telemetry_is_off_until_an_endpoint_is_named():
    api = find(render("defaults"), "Deployment", "-api")
    assert not [v for v in environment(api) if v.startswith("OTEL_") and not v.endswith("HEADERS")]
    variables = environment(find(render("monitoring"), "Deployment", "-worker"))
    assert variables["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://collector.monitoring:4318"
    assert variables["OTEL_TRACES_SAMPLER"] == "parentbased_traceidratio" and variables["OTEL_TRACES_SAMPLER_ARG"] == "0.01"
    assert variables["OTEL_RESOURCE_ATTRIBUTES"] == "k8s.pod.name=$(POD_NAME),k8s.namespace.name=space"
    assert list(variables).index("POD_NAME") < list(variables).index("OTEL_RESOURCE_ATTRIBUTES"), "a variable is made of earlier ones"


WRONG = {
    "a value that is not there": {"replicaCount": 3},
    "a name within one": {"api": {"replica": 3}},
    "a secret among the settings": {"settings": {"KNOWHOW_CHAT_KEY": "x"}},
    "the master secret among the settings": {"settings": {"KNOWHOW_SECRET_KEY": "x"}},
    "the database among the settings": {"settings": {"KNOWHOW_DATABASE_URL": "postgres://x"}},
    "a setting with a value of its own": {"settings": {"KNOWHOW_DRAIN_S": "5"}},
    "TLS of the pods, which nothing in the cluster would ask by": {"settings": {"KNOWHOW_TLS_KEY_PATH": "/a"}},
    "a variable that is no setting": {"settings": {"PATH": "/bin"}},
    "a setting that is no text": {"settings": {"KNOWHOW_DOCS": False}},
    "a secret without a key": {"secrets": {"database": {"key": ""}}},
    "a secret in place of its name": {"secrets": {"settings": {"KNOWHOW_CHAT_KEY": "sk-123"}}},
    "the main secrets again": {"secrets": {"settings": {"KNOWHOW_SECRET_KEY": {"name": "a", "key": "b"}}}},
    "a digest that is none": {"image": {"digest": "sha256:123"}},
    "an address without a scheme": {"publicUrl": "api.example.com"},
    "a network that is none": {"trustedProxies": ["everybody"]},
    "no pod": {"api": {"replicas": 0}},
    "no limit for the threads": {"api": {"resources": {"limits": {"cpu": None}}}},
    "a limit that is none": {"api": {"resources": {"limits": {"cpu": "many"}}}},
    "another way to do jobs": {"worker": {"mode": "sometimes"}},
    "an ingress without a host": {"ingress": {"enabled": True}},
    "a route without a gateway": {"httpRoute": {"enabled": True, "hostnames": ["a.example"]}},
    "more than all traces": {"telemetry": {"samplingRatio": 5}},
    "a port of root's": {"listen": {"port": 80}},
    "a peer that would be anybody": {"networkPolicy": {"apiFrom": [{}]}},
    "root": {"pod": {"user": 0}},
    "a span that cannot be": {"api": {"autoscaling": {"minReplicas": 9, "maxReplicas": 3}}},
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_values_are_refused(case, tmp_path):
    with pytest.raises(Refused) as refused:
        render_values(WRONG[case], tmp_path)
    text = str(refused.value)
    assert "values don't meet the specifications" in text or "minReplicas is greater" in text, text


def test_the_defaults_fit_the_schema_and_every_value_is_told_of():
    assert render("")
    values = (CHART / "values.yaml").read_text()
    for name in yaml.safe_load(values):
        assert re.search(rf"^{name}:", values, re.M)
