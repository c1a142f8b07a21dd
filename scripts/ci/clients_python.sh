#!/bin/bash
# Checks the Python client: generated files are up to date, types, and tests against a served instance with the built wheel
# (run it through with_service.sh).
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

list=scripts/ci/clients_python/requirements.txt
tools=$root/data/tools/client-python
wanted=$(cat "$list" && python3 --version)
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1
if [ "$(cat "$tools/.made-for" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools" || fail "python3 has no venv; install it with: apt-get install -y python3-venv"
    "$tools/bin/python" -m pip install --quiet -r "$list" || fail "pip could not fetch the tools of the Python client"
    echo "$wanted" >"$tools/.made-for"
fi
python=$tools/bin/python
work=${KNOWHOW_WORK:?run it through with_service.sh}/client-python
mkdir -p "$work"

cd clients/python
$python scripts/models.py --check
python3 scripts/sync.py --check
$python -m mypy --cache-dir "$work/mypy" knowhow_client tests
hand=$(cat knowhow_client/*.py knowhow_client/_async/*.py | wc -l)
[ $((hand - $(wc -l <knowhow_client/models.py))) -le 1400 ] || fail "the client has more than 1,400 lines written by hand"

# The wheel, in an environment that has nothing but its dependencies and pytest.
$python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" . || fail "the wheel of the Python client is not built"
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet -c "$root/$list" pytest "$work"/knowhow_client-*.whl
cp -r tests "$work/tests"
cp pyproject.toml "$work"
cd "$work"
env -u PYTHONPATH venv/bin/python -m pytest -q -p no:cacheprovider tests
env -u PYTHONPATH venv/bin/python "$root/scripts/ci/clients_python/readme.py" "$root/clients/python/README.md"
