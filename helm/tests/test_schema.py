"""Every object of every set of values against the schemas of Kubernetes, strictly; and that these checks can fail."""

import copy

import pytest
import yaml
from kubernetes_validate import SchemaNotFoundError, ValidationError, validate

from charts import CUSTOM, EXAMPLES, KUBERNETES, ROOT, SETS, find, kinds, render

ALL = [*SETS, *EXAMPLES]


def check(thing):
    """Holds it against its schema; a kind without one must be among those that are known to have none."""
    try:
        assert validate(thing, KUBERNETES, strict=True) == KUBERNETES
    except SchemaNotFoundError:
        if (thing["apiVersion"], thing["kind"]) not in CUSTOM:
            raise


def test_there_are_eight_sets_of_values():
    assert len(SETS) == 8 and EXAMPLES


@pytest.mark.parametrize("name", ALL)
def test_every_object_fits_its_schema(name):
    objects = render(name)
    for thing in objects:
        check(thing)
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    assert len(set(names)) == len(names), "two objects of one name"


def test_a_wrong_object_does_not_fit():
    api = find(render("defaults"), "Deployment", "-api")
    unknown = copy.deepcopy(api)
    unknown["spec"]["template"]["spec"]["containers"][0]["readOnly"] = True
    wrong = copy.deepcopy(api)
    wrong["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = "18"
    for thing in (unknown, wrong):
        with pytest.raises(ValidationError):
            check(thing)
    with pytest.raises(SchemaNotFoundError):
        check({**api, "kind": "Deploiment"})
    with pytest.raises(SchemaNotFoundError):
        check({**api, "apiVersion": "apps/v1beta1"})


@pytest.mark.parametrize(
    "name, expected",
    {
        "defaults": ["Deployment"] * 2 + ["HorizontalPodAutoscaler", "Job"] + ["NetworkPolicy"] * 3 + ["Pod"]
        + ["PodDisruptionBudget"] * 2 + ["Service"] + ["ServiceAccount"] * 2,
        "no-hpa": ["Deployment"] * 2 + ["Job"] + ["NetworkPolicy"] * 3 + ["Pod", "PodDisruptionBudget", "Service"]
        + ["ServiceAccount"] * 2,
        "no-worker": ["Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "Pod", "PodDisruptionBudget", "Service"],
        "all": ["ConfigMap"] * 3 + ["Deployment"] * 2 + ["HTTPRoute"] + ["HorizontalPodAutoscaler"] * 2 + ["Ingress", "Job"]
        + ["NetworkPolicy"] * 3 + ["Pod"] + ["PodDisruptionBudget"] * 2 + ["PrometheusRule"] + ["Service"] * 2
        + ["ServiceAccount"] * 2 + ["ServiceMonitor"],
    }.items(),
)
def test_what_there_is(name, expected):
    assert kinds(render(name)) == sorted(expected)


def test_the_database_of_the_examples_is_what_the_examples_name():
    cluster, pooler = yaml.safe_load_all((ROOT / "helm/examples/cnpg.yaml").read_text())
    values = yaml.safe_load(EXAMPLES["values-production"].read_text())
    assert pooler["spec"]["cluster"]["name"] == cluster["metadata"]["name"]
    assert values["migration"]["secret"]["name"] == f"{cluster['metadata']['name']}-app"
    database = values["networkPolicy"]["database"]
    assert database["to"] == [{"podSelector": {"matchLabels": {"cnpg.io/poolerName": pooler["metadata"]["name"]}}}]
    assert database["migrationTo"] == [{"podSelector": {"matchLabels": {"cnpg.io/cluster": cluster["metadata"]["name"]}}}]
    parameters = pooler["spec"]["pgbouncer"]["parameters"]
    assert pooler["spec"]["pgbouncer"]["poolMode"] == "transaction" and int(parameters["max_prepared_statements"]) > 0
    most = int(parameters["default_pool_size"]) * pooler["spec"]["instances"]
    assert most < int(cluster["spec"]["postgresql"]["parameters"]["max_connections"])
