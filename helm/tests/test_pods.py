"""What every pod must be, whoever runs it."""

import pytest
import yaml

from charts import CHART, EXAMPLES, SETS, container, environment, files, find, pod_spec, render

ALL = [*SETS, *EXAMPLES]
# What comes of the helm test and the migration needs no settings of the service.
SERVING = ("-api", "-worker")


def pods(name):
    return [thing for thing in render(name) if pod_spec(thing)]


def serving(name, *settings):
    return [thing for thing in render(name, *settings) if thing["kind"] == "Deployment"]


@pytest.mark.parametrize("name", ALL)
def test_a_pod_may_do_nothing_it_need_not(name):
    for thing in pods(name):
        spec, only = pod_spec(thing), container(thing)
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True and context["runAsUser"] == context["runAsGroup"] == 10001
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert only["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }
        assert spec["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & spec.keys()
        assert not [v for v in spec.get("volumes", []) if "hostPath" in v]
        assert set(only["resources"]) == {"requests", "limits"} and only["resources"]["limits"]["memory"]
    for account in [thing for thing in render(name) if thing["kind"] == "ServiceAccount"]:
        assert account["automountServiceAccountToken"] is False
    assert not [thing for thing in render(name) if thing["kind"] in ("Secret", "Role", "ClusterRole", "RoleBinding")]


@pytest.mark.parametrize("name", ALL)
def test_a_service_named_knowhow_sets_nothing(name):
    assert all(pod_spec(thing)["enableServiceLinks"] is False for thing in pods(name))


@pytest.mark.parametrize("name", ALL)
def test_secrets_come_as_files_alone(name):
    for thing in pods(name):
        for variable, value in environment(thing).items():
            secret = variable.endswith(("_KEY", "_SECRET", "_PASSWORD", "DATABASE_URL", "REDIS_URL", "REPLICA_URL"))
            assert not secret, f"{variable} is not a file"
            if variable.startswith("KNOWHOW_") and isinstance(value, dict):
                assert "secretKeyRef" not in value, variable
            if variable.endswith("_FILE"):
                assert value in files(thing), f"{variable} names a file that is not mounted"
    for thing in serving(name):
        [volume] = [v for v in pod_spec(thing)["volumes"] if v["name"] == "secrets"]
        assert volume["projected"]["defaultMode"] == 0o440
        named = {v for k, v in environment(thing).items() if k.endswith("_FILE") or k == "PGSSLROOTCERT"}
        assert named == set(files(thing)), "a secret is mounted that no setting names"


def test_the_authority_of_the_database_is_verified_where_it_is_named():
    tls = {"PGSSLMODE", "PGSSLROOTCERT"}
    for thing in [thing for thing in pods("values-production") if "args" in container(thing)]:
        variables = environment(thing)
        assert variables["PGSSLMODE"] == "verify-ca"
        assert files(thing)[variables["PGSSLROOTCERT"]] == ("knowhow-db-ca", "ca.crt")
    assert not [thing for thing in pods("defaults") if tls & environment(thing).keys()]


def test_secrets_are_those_that_are_named():
    for thing in serving("defaults"):
        variables = environment(thing)
        found = files(thing)
        assert found[variables["KNOWHOW_DATABASE_URL_FILE"]] == ("app-database", "uri")
        assert found[variables["KNOWHOW_SECRET_KEY_FILE"]] == ("app-master", "key")
        assert found[variables["KNOWHOW_EMBEDDINGS_KEY_FILE"]] == ("models", "embeddings")
        assert found[variables["KNOWHOW_CHAT_KEY_FILE"]] == ("models", "chat")
        assert variables["OTEL_EXPORTER_OTLP_HEADERS"] == {"secretKeyRef": {"name": "collector", "key": "headers"}}


def test_the_replica_is_a_secret_like_the_database():
    for thing in serving("network-policy"):
        assert files(thing)[environment(thing)["KNOWHOW_REPLICA_URL_FILE"]] == ("replica", "uri")


def test_the_owner_of_the_database_is_known_to_the_migration_alone():
    owner = yaml.safe_load((CHART / "values.yaml").read_text())["migration"]["secret"]
    job = find(render("defaults"), "Job")
    assert files(job)[environment(job)["DATABASE_URL_FILE"]] == (owner["name"], owner["key"])
    assert set(environment(job)) == {"DATABASE_URL_FILE", "KNOWHOW_DATABASE_URL_FILE"}
    for thing in serving("defaults"):
        assert owner["name"] not in {secret for secret, _ in files(thing).values()}
        assert "DATABASE_URL_FILE" not in environment(thing)


@pytest.mark.parametrize("name", ALL)
def test_threads_follow_the_limit(name):
    for thing in serving(name):
        assert environment(thing)["KNOWHOW_WORKERS"] == {
            "resourceFieldRef": {"containerName": container(thing)["name"], "resource": "limits.cpu", "divisor": "1"}
        }
        assert container(thing)["resources"]["limits"]["cpu"]


@pytest.mark.parametrize("name", ALL)
def test_a_pod_is_given_the_time_that_its_settings_take(name):
    for thing in serving(name):
        variables = environment(thing)
        needed = int(variables["KNOWHOW_DRAIN_S"]) + int(variables["KNOWHOW_SHUTDOWN_TIMEOUT_S"])
        assert pod_spec(thing)["terminationGracePeriodSeconds"] == needed + 5


def test_it_is_longer_where_values_say_so():
    assert {pod_spec(thing)["terminationGracePeriodSeconds"] for thing in serving("no-hpa")} == {55}


@pytest.mark.parametrize("name", ALL)
def test_probes(name):
    for thing in serving(name):
        only = container(thing)
        ports = {port["name"] for port in only["ports"]}
        startup, ready, live = (only[f"{probe}Probe"] for probe in ("startup", "readiness", "liveness"))
        for probe, path in ((startup, "/healthz"), (ready, "/readyz"), (live, "/healthz")):
            assert probe["httpGet"]["path"] == path and probe["httpGet"]["port"] in ports
        assert startup["periodSeconds"] * startup["failureThreshold"] == 60
        # Kubernetes sees that a pod drains while the pod still accepts.
        assert ready["periodSeconds"] * ready["failureThreshold"] <= int(environment(thing)["KNOWHOW_DRAIN_S"])
        assert live["periodSeconds"] * live["failureThreshold"] >= 60


@pytest.mark.parametrize("name", ALL)
def test_pods_are_spread_and_replaced_without_a_gap(name):
    for thing in serving(name):
        assert thing["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        constraints = pod_spec(thing)["topologySpreadConstraints"]
        assert {c["topologyKey"] for c in constraints} == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
        labels = thing["spec"]["template"]["metadata"]["labels"]
        for constraint in constraints:
            wanted = constraint["labelSelector"]["matchLabels"]
            assert wanted.items() <= labels.items() and "app.kubernetes.io/component" in wanted


@pytest.mark.parametrize("name", ALL)
def test_selectors_choose_the_pods_they_mean(name):
    objects = render(name)
    templates = {
        thing["metadata"]["name"]: thing["spec"]["template"]["metadata"]["labels"]
        for thing in objects if thing["kind"] in ("Deployment", "Job")
    }
    templates["test"] = find(objects, "Pod")["metadata"]["labels"]

    def chosen(selector):
        return sorted(name.rpartition("-")[2] for name, labels in templates.items() if selector.items() <= labels.items())

    for thing in objects:
        end = thing["metadata"]["name"].rpartition("-")[2]
        if thing["kind"] == "Deployment":
            assert chosen(thing["spec"]["selector"]["matchLabels"]) == [end]
        elif thing["kind"] == "PodDisruptionBudget":
            assert chosen(thing["spec"]["selector"]["matchLabels"]) == [end]
        elif thing["kind"] == "NetworkPolicy":
            assert chosen(thing["spec"]["podSelector"]["matchLabels"]) == [end]
        elif thing["kind"] == "Service":
            everyone = ["api"] + (["worker"] if any("worker" in name for name in templates) else [])
            assert chosen(thing["spec"]["selector"]) == (everyone if end == "metrics" else ["api"])
        elif thing["kind"] == "HorizontalPodAutoscaler":
            assert thing["spec"]["scaleTargetRef"]["name"] in templates and thing["spec"]["minReplicas"] >= 2


def test_the_image_is_by_digest_where_one_is_given():
    digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    assert {container(t)["image"] for t in pods("defaults")} == {f"images.example/knowhow@{digest}"}
    assert {container(t)["image"] for t in pods("all")} == {"images.example/knowhow:0.1.0"}
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    assert {container(t)["image"] for t in pods("ingress")} == {f"knowhow:{version}"}


def test_replicas_are_left_to_the_autoscaler():
    assert all(("replicas" in t["spec"]) == t["metadata"]["name"].endswith("worker") for t in serving("defaults"))
    assert {t["metadata"]["name"][-3:]: t["spec"]["replicas"] for t in serving("no-hpa")} == {"api": 3, "ker": 1}


def test_who_does_jobs():
    def api_works(name, *settings):
        return environment(find(render(name, *settings), "Deployment", "-api"))["KNOWHOW_WITH_WORKER"]

    assert len(serving("defaults")) == 2 and api_works("defaults") == "false"
    assert len(serving("no-worker")) == 1 and api_works("no-worker") == "true"
    assert len(serving("defaults", "worker.mode=elsewhere")) == 1
    assert api_works("defaults", "worker.mode=elsewhere") == "false"


def test_what_pods_have_in_common():
    for thing in serving("all") + [find(render("all"), "Job")]:
        spec = pod_spec(thing)
        assert spec["imagePullSecrets"] == [{"name": "registry"}] and spec["priorityClassName"] == "serving"
        assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"} and spec["tolerations"] and spec["affinity"]
        metadata = thing["spec"]["template"]["metadata"]
        assert metadata["labels"]["team"] == "memory" and metadata["annotations"] == {"example.com/note": "watched"}
    for thing in serving("all"):
        assert {"name": "model", "mountPath": "/models", "readOnly": True} in container(thing)["volumeMounts"]
        assert pod_spec(thing)["serviceAccountName"] == "memory-runs"
