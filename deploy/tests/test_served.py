"""scripts/ci/metrics.py finds what would make an alert silent: a boundary that is not served, a label that is called otherwise."""

import importlib.util
import subprocess
import sys

import pytest
from places import OBSERVABILITY, ROOT, bounds

CHECK = ROOT / "scripts/ci/metrics.py"
SERVED = """\
# HELP http_server_request_duration_seconds How long requests take.
# TYPE http_server_request_duration_seconds histogram
http_server_request_duration_seconds_bucket{http_request_method="GET",http_route="/v1/skills/{skill}",http_response_status_code="200",le="0.1"} 1
http_server_request_duration_seconds_bucket{http_request_method="GET",http_route="/v1/skills/{skill}",http_response_status_code="200",le="0.25"} 1
http_server_request_duration_seconds_bucket{http_request_method="GET",http_route="/v1/skills/{skill}",http_response_status_code="200",le="0.3"} 1
http_server_request_duration_seconds_bucket{http_request_method="GET",http_route="/v1/skills/{skill}",http_response_status_code="200",le="+Inf"} 1
http_server_request_duration_seconds_sum{http_request_method="GET",http_route="/v1/skills/{skill}",http_response_status_code="200"} 0.01
http_server_request_duration_seconds_count{http_request_method="GET",http_route="/v1/skills/{skill}",http_response_status_code="200"} 1
# HELP knowhow_job_wait_seconds How long jobs wait.
# TYPE knowhow_job_wait_seconds histogram
knowhow_job_wait_seconds_bucket{task="dream",le="10"} 1
knowhow_job_wait_seconds_bucket{task="dream",le="+Inf"} 1
knowhow_job_wait_seconds_sum{task="dream"} 1
knowhow_job_wait_seconds_count{task="dream"} 1
# HELP knowhow_build_info The release.
# TYPE knowhow_build_info gauge
knowhow_build_info{version="0.1.0"} 1
"""


def check(text):
    done = subprocess.run([sys.executable, str(CHECK), "-"], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_what_is_served_as_it_must_be():
    assert check(SERVED) == (0, "the metrics that are served are those that rules and dashboards ask for\n")


@pytest.mark.parametrize(
    "right, wrong, said",
    [
        ('le="0.3"', 'le="0.5"', "http_server_request_duration_seconds has no boundary at 0.3"),
        ('le="10"', 'le="5"', "knowhow_job_wait_seconds has no boundary at 10.0"),
        ('task="dream"', 'tenant="acme"', "labels that no rule and no dashboard knows: tenant"),
        ("# HELP knowhow_build_info The release.\n", "", "promtool"),
        ("knowhow_build_info", "knowhow_build_other", "these are not the metrics of the service"),
    ],
)
def test_what_is_not_is_found(right, wrong, said):
    assert right in SERVED
    code, output = check(SERVED.replace(right, wrong))
    assert code == 1 and said in output


def test_too_many_series_are_found():
    many = "".join(f'knowhow_refusals_total{{code="c{number}"}} 1\n' for number in range(2001))
    head = "# HELP knowhow_refusals_total Refusals.\n# TYPE knowhow_refusals_total counter\n"
    assert "series, of at most 2000" in check(SERVED + head + many)[1]


def test_every_promise_is_a_boundary_of_what_is_measured():
    spec = importlib.util.spec_from_file_location("metrics", CHECK)
    metrics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(metrics)
    asked = metrics.boundaries((OBSERVABILITY / "rules/objectives.yaml").read_text())
    assert asked == {
        "http_server_request_duration_seconds": {0.25, 0.1, 0.3},
        "knowhow_job_wait_seconds": {10},
        "knowhow_snapshot_age_seconds": {2100},
    }
    for name, wanted in asked.items():
        assert wanted <= bounds()[name], name
    # An alert on a quantile is no finer than the buckets around its threshold.
    assert 0.1 in bounds()["knowhow_pool_wait_seconds"]
