"""What is not a pod: hooks, ways through the network, routes, monitoring. And the script of helm test, which is run."""

import http.server
import os
import subprocess
import threading

import pytest
import yaml

from charts import CHART, EXAMPLES, ROOT, SETS, container, environment, find, render

ALL = [*SETS, *EXAMPLES]
HOOK = "helm.sh/hook"


@pytest.mark.parametrize("name", [n for n in ALL if n != "no-worker"])
def test_the_migration_comes_first_and_brings_what_it_needs(name):
    objects = render(name)
    job = find(objects, "Job")
    brought = [o for o in objects if o["metadata"]["name"] == job["metadata"]["name"]]
    assert {o["kind"] for o in brought} == {"Job", "ServiceAccount", "NetworkPolicy"}
    for thing in brought:
        notes = thing["metadata"]["annotations"]
        assert notes[HOOK] == "pre-install,pre-upgrade"
        assert notes["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
    weights = {o["kind"]: int(o["metadata"]["annotations"]["helm.sh/hook-weight"]) for o in brought}
    assert weights["ServiceAccount"] < weights["Job"] and weights["NetworkPolicy"] < weights["Job"]
    spec = job["spec"]["template"]["spec"]
    assert spec["restartPolicy"] == "Never" and spec["serviceAccountName"] == job["metadata"]["name"]
    assert container(job)["args"] == ["migrate"] and job["spec"]["activeDeadlineSeconds"] > 0


def test_there_may_be_no_migration():
    assert not [o for o in render("no-worker") if o["metadata"]["name"].endswith("-migration")]


def ways_out(policy):
    """Each rule's ports, by where it leads."""
    return [({(p["protocol"], p["port"]) for p in rule["ports"]}, rule.get("to", "anywhere")) for rule in policy["spec"]["egress"]]


@pytest.mark.parametrize("name", ALL)
def test_every_pod_has_a_policy_for_both_ways(name):
    policies = [o for o in render(name) if o["kind"] == "NetworkPolicy"]
    assert policies
    for policy in policies:
        assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
        ports = [ports for ports, _ in ways_out(policy)]
        assert {("UDP", 53), ("TCP", 53)} in ports


def test_ways_out_by_default():
    objects = render("defaults")
    [_, database, internet] = ways_out(find(objects, "NetworkPolicy", "-api"))
    assert database == ({("TCP", 5432)}, "anywhere")
    assert internet[0] == {("TCP", 443)}
    blocks = {peer["ipBlock"]["cidr"]: peer["ipBlock"]["except"] for peer in internet[1]}
    for private in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"):
        assert private in blocks["0.0.0.0/0"]
    assert {"fc00::/7", "fe80::/10", "::1/128"} <= set(blocks["::/0"])
    assert ways_out(find(objects, "NetworkPolicy", "-worker")) == ways_out(find(objects, "NetworkPolicy", "-api"))
    # The migration reaches the database and nothing else.
    assert len(ways_out(find(objects, "NetworkPolicy", "-migration"))) == 2
    assert find(objects, "NetworkPolicy", "-migration")["spec"]["ingress"] == []


def test_ways_out_that_are_named():
    objects = render("network-policy")
    [_, database, cache, models] = ways_out(find(objects, "NetworkPolicy", "-worker"))
    assert database == ({("TCP", 5432)}, [{"podSelector": {"matchLabels": {"cnpg.io/poolerName": "knowhow-pooler-rw"}}}])
    assert cache == ({("TCP", 6379)}, [{"podSelector": {"matchLabels": {"app": "redis"}}}])
    assert models == ({("TCP", 8443)}, [{"ipBlock": {"cidr": "192.0.2.0/24"}}])
    # The API alone reads from the replica.
    replica = ({("TCP", 5434)}, [{"podSelector": {"matchLabels": {"cnpg.io/cluster": "knowhow-db", "cnpg.io/instanceRole": "replica"}}}])
    assert ways_out(find(objects, "NetworkPolicy", "-api"))[1:] == [database, replica, cache, models]
    [_, straight] = ways_out(find(objects, "NetworkPolicy", "-migration"))
    assert straight == ({("TCP", 5433)}, [{"podSelector": {"matchLabels": {"cnpg.io/cluster": "knowhow-db"}}}])


def test_ways_in():
    def ways_in(name, end):
        return {rule["ports"][0]["port"]: rule.get("from", "anywhere") for rule in find(render(name), "NetworkPolicy", end)["spec"]["ingress"]}

    monitoring = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    assert ways_in("defaults", "-api") == {"http": "anywhere", "metrics": monitoring}
    assert ways_in("defaults", "-worker") == {"metrics": monitoring}
    narrow = ways_in("network-policy", "-api")
    assert set(narrow) == {"http"} and len(narrow["http"]) == 2
    tests = find(render("network-policy"), "Pod")["metadata"]["labels"]
    assert narrow["http"][1]["podSelector"]["matchLabels"].items() <= tests.items(), "helm test is let in"
    assert ways_in("network-policy", "-worker") == {}
    assert not [o for o in render("defaults", "networkPolicy.enabled=false") if o["kind"] == "NetworkPolicy"]


def test_an_ingress_leads_to_the_api():
    objects = render("ingress")
    ingress, service = find(objects, "Ingress"), find(objects, "Service")
    assert ingress["spec"]["ingressClassName"] == "nginx" and ingress["spec"]["tls"][0]["secretName"] == "api-tls"
    assert [rule["host"] for rule in ingress["spec"]["rules"]] == ["api.example.com", "mcp.example.com"]
    for rule in ingress["spec"]["rules"]:
        [path] = rule["http"]["paths"]
        assert path["path"] == "/" and path["backend"]["service"] == {
            "name": service["metadata"]["name"], "port": {"name": service["spec"]["ports"][0]["name"]},
        }
    assert service["spec"]["ports"][0]["targetPort"] == "http"


def test_a_route_leads_to_the_api():
    objects = render("httproute")
    route, service = find(objects, "HTTPRoute"), find(objects, "Service")
    assert route["spec"]["parentRefs"] == [{"name": "public", "namespace": "gateways", "sectionName": "https"}]
    assert route["spec"]["hostnames"] == ["api.example.com"]
    [rule] = route["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": service["metadata"]["name"], "port": service["spec"]["ports"][0]["port"]}]


def test_metrics_are_not_on_the_service_that_customers_reach():
    objects = render("monitoring")
    metrics, front = find(objects, "Service", "-metrics"), find(objects, "Service", "knowhow")
    assert [port["name"] for port in front["spec"]["ports"]] == ["http"]
    assert metrics["spec"]["clusterIP"] == "None" and metrics["spec"]["publishNotReadyAddresses"] is True
    monitor = find(objects, "ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= metrics["metadata"]["labels"].items() and not wanted.items() <= front["metadata"]["labels"].items()
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint["port"] == metrics["spec"]["ports"][0]["name"] and endpoint["path"] == "/metrics" and endpoint["interval"] == "15s"
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": "knowhow"}]


def test_the_rules_are_those_of_deploy_observability():
    rules = find(render("all"), "PrometheusRule")["spec"]["groups"]
    files = sorted((ROOT / "deploy/observability/rules").glob("*.yaml"))
    assert rules == [group for path in files for group in yaml.safe_load(path.read_text())["groups"]]
    served = find(render("monitoring"), "PrometheusRule")["spec"]["groups"]
    links = [rule["annotations"]["runbook"] for group in served for rule in group["rules"] if "alert" in rule]
    assert links and all(link.startswith("https://handbook.example/runbook#") for link in links)


def test_the_dashboards_are_those_of_deploy_observability():
    for path in (ROOT / "deploy/observability/dashboards").glob("*.json"):
        config = find(render("all"), "ConfigMap", f"-{path.stem}")
        assert set(config["data"]) == {path.name} and config["data"][path.name].strip() == path.read_text().strip()
        assert config["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_the_packed_chart_has_rules_and_dashboards_itself():
    packed = render("all", chart=os.environ["KNOWHOW_PACKED_CHART"])
    assert packed == render("all")


def test_names_fit_where_the_release_has_a_long_name():
    objects = render("defaults", "fullnameOverride=" + "a" * 60)
    assert all(len(o["metadata"]["name"]) <= 63 for o in objects)


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ready = 200

    def do_GET(self):
        status = {"/healthz": 200, "/readyz": self.ready}.get(self.path, 401)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("ready, outcome", [(200, 0), (503, 1)])
def test_helm_test_tells_a_service_that_can_serve(ready, outcome):
    pod = find(render("defaults"), "Pod")
    assert pod["metadata"]["annotations"][HOOK] == "test"
    service = find(render("defaults"), "Service")
    assert environment(pod)["TEST_HOST"] == service["metadata"]["name"]
    assert environment(pod)["TEST_PORT"] == str(service["spec"]["ports"][0]["port"])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Answers,), {"ready": ready}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        done = subprocess.run(
            container(pod)["command"], capture_output=True, text=True, timeout=60,
            env={"PATH": os.environ["PATH"], "TEST_HOST": "127.0.0.1", "TEST_PORT": str(server.server_port)},
        )
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == outcome, done.stderr
    assert f"/readyz: HTTP/1.1 {ready} " in done.stdout
