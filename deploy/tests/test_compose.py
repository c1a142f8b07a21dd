"""deploy/compose.yaml, without an engine: that the specification allows it, that all it names is there, and who may what."""

import configparser
import re

import pytest
import yaml
from compose_spec import PyOptions
from places import DEPLOY, OBSERVABILITY, ROOT

TEXT = (DEPLOY / "compose.yaml").read_text()
EXAMPLE = dict(line.split("=", 1) for line in (DEPLOY / "env.example").read_text().splitlines() if re.match(r"[A-Z_]+=", line))
VARIABLE = re.compile(r"\$\$|\$\{([A-Z0-9_]+)(?:(:?[-?])([^}]*))?\}")


def put_in(text, variables):
    """What Compose makes of the variables in the text; without one that is needed, KeyError."""

    def value(found):
        if found[0] == "$$":
            return "$"
        given = variables.get(found[1])
        wanted = given if given or (given == "" and not (found[2] or "").startswith(":")) else None
        if wanted is not None:
            return wanted
        if (found[2] or "").endswith("?"):
            raise KeyError(found[1])
        return found[3] or ""

    return VARIABLE.sub(value, text)


def parse(text):
    compose = PyOptions(apply_merge=True).from_yaml(text)
    compose.validate()
    return compose


FILLED = put_in(TEXT, EXAMPLE)
WHOLE = yaml.safe_load(FILLED)
SERVICES = WHOLE["services"]


def test_the_specification_allows_it():
    assert set(parse(FILLED).service_names()) == {
        "postgres", "pgbouncer", "migrate", "knowhow", "worker", "collector", "prometheus", "grafana",
    }


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("cap_drop", "cap_dorp"),
        ("condition: service_healthy", "condition: healthy"),
        ("source: pooler.sql", "source: another.sql"),
        ("stop_grace_period: 18s", "stop_grace_period: soon"),
    ],
)
def test_what_it_does_not_allow_is_found(right, wrong):
    assert right in FILLED
    with pytest.raises(ValueError):
        parse(FILLED.replace(right, wrong))


def test_every_secret_must_be_given_and_is_in_the_example():
    for name in ("POSTGRES_PASSWORD", "POOLER_PASSWORD", "GRAFANA_PASSWORD", "DATABASE_URL", "KNOWHOW_DATABASE_URL", "KNOWHOW_SECRET_KEY"):
        with pytest.raises(KeyError):
            put_in(TEXT, {**EXAMPLE, name: ""})
    assert {found[1] for found in VARIABLE.finditer(TEXT) if found[2] and found[2].endswith("?")} <= set(EXAMPLE)


def test_everything_that_is_named_is_there():
    volumes = set()
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (DEPLOY / source).exists(), f"{name}: {source}"
            else:
                volumes.add(source)
        assert set(service.get("depends_on", {})) <= set(SERVICES)
        for config in service.get("configs", []):
            assert config["source"] in WHOLE["configs"]
    assert volumes == set(WHOLE["volumes"])
    build = SERVICES["migrate"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).exists()


def test_the_project_s_containers_may_do_nothing_they_need_not():
    for name in ("migrate", "knowhow", "worker"):
        service = SERVICES[name]
        assert service["read_only"] is True and service["tmpfs"] == ["/tmp"], name
    for name, service in SERVICES.items():
        if name != "postgres":
            assert service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"], name
        # Nothing is published beyond this machine.
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        assert "privileged" not in service and "network_mode" not in service


def test_the_owner_s_url_goes_to_the_migrations_alone():
    assert "DATABASE_URL" in SERVICES["migrate"]["environment"]
    for name in ("knowhow", "worker"):
        assert "DATABASE_URL" not in SERVICES[name]["environment"]
        assert SERVICES[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert SERVICES["knowhow"]["environment"] == SERVICES["worker"]["environment"]


def test_the_service_goes_through_the_pooler_and_the_migrations_do_not():
    pooler = configparser.ConfigParser(delimiters="=", comment_prefixes=";")
    pooler.read_string(WHOLE["configs"]["pgbouncer.ini"]["content"])
    settings = pooler["pgbouncer"]
    assert f"@pgbouncer:{settings['listen_port']}/knowhow" in EXAMPLE["KNOWHOW_DATABASE_URL"]
    assert "@postgres:5432/knowhow" in EXAMPLE["DATABASE_URL"]
    assert pooler["databases"]["knowhow"] == "host=postgres port=5432 dbname=knowhow"
    assert settings["pool_mode"] == "transaction" and int(settings["max_prepared_statements"]) > 0
    assert int(settings["default_pool_size"]) < 100
    assert settings["auth_query"].endswith("look_up($1)")
    assert WHOLE["configs"]["userlist.txt"]["content"].strip() == f'"{settings["auth_user"]}" "{EXAMPLE["POOLER_PASSWORD"]}"'
    made = WHOLE["configs"]["pooler.sql"]["content"]
    assert f"create role {settings['auth_user']} login password '{EXAMPLE['POOLER_PASSWORD']}'" in made
    mounted = {config["target"] for config in SERVICES["pgbouncer"]["configs"]}
    assert settings["auth_file"] in mounted


def test_a_container_is_given_the_time_that_its_settings_take():
    environment = SERVICES["knowhow"]["environment"]
    needed = int(environment.get("KNOWHOW_DRAIN_S", 5)) + int(environment["KNOWHOW_SHUTDOWN_TIMEOUT_S"]) + 5
    assert SERVICES["knowhow"]["stop_grace_period"] == SERVICES["worker"]["stop_grace_period"] == f"{needed}s"


def test_what_watches_is_told_where_to_look():
    scrape = yaml.safe_load((OBSERVABILITY / "prometheus.yaml").read_text())
    [job] = scrape["scrape_configs"]
    assert job["job_name"] == "knowhow" and job["dns_sd_configs"][0]["names"] == ["knowhow", "worker"]
    mounts = [volume.split(":")[1] for volume in SERVICES["prometheus"]["volumes"]]
    assert all(any(path.startswith(mount) for mount in mounts) for path in scrape["rule_files"])
    providers = yaml.safe_load((OBSERVABILITY / "grafana/dashboards/knowhow.yaml").read_text())
    folder = providers["providers"][0]["options"]["path"]
    assert f"./observability/dashboards:{folder}:ro" in SERVICES["grafana"]["volumes"]
    [source] = yaml.safe_load((OBSERVABILITY / "grafana/datasources/prometheus.yaml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"
    # Also by the example's empty value.
    bind = SERVICES["knowhow"]["environment"]["KNOWHOW_METRICS_BIND"]
    assert bind == f"0.0.0.0:{job['dns_sd_configs'][0]['port']}"
    # The service speaks OTLP over HTTP.
    collector = yaml.safe_load((OBSERVABILITY / "collector.yaml").read_text())
    port = collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"].rpartition(":")[2]
    assert SERVICES["knowhow"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"] == f"http://collector:{port}"


def instructions():
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line[0], line[1].strip()) for line in lines]


def test_the_image_is_not_root_s_and_has_nothing_of_the_build():
    found = instructions()
    last = max(number for number, (word, _) in enumerate(found) if word == "FROM")
    final = found[last:]
    users = [value for word, value in final if word == "USER"]
    assert users == ["10001:10001"], "by number, so that Kubernetes sees that it is not root"
    assert [value for word, value in final if word == "ENTRYPOINT"] == ['["knowhow"]'], "PID 1 itself, without a shell"
    copied = [value for word, value in final if word == "COPY"]
    assert len(copied) == 3 and all(value.startswith(("--from=", "LICENSE ")) for value in copied)
    labels = " ".join(value for word, value in final if word == "LABEL")
    for label in ("title", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{label}=" in labels


def test_a_release_can_name_every_base_by_digest():
    found = instructions()
    bases = [value.split()[0] for word, value in found if word == "FROM"]
    given = {value.partition("=")[0] for word, value in found if word == "ARG"}
    assert bases and all(base.startswith("${") and base[2:-1] in given for base in bases)
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert "!LICENSE" in ignored and ignored[1] == "*"
    assert (ROOT / "LICENSE").exists()
