#!/bin/bash
# Checks the Python client: generated files are up to date, types, tests against a served instance with the built wheel, adapters
# with their frameworks, and the programs of its pages (run it through with_service.sh).
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

lists=$root/scripts/ci/clients_python
client=$root/clients/python
work=${KNOWHOW_WORK:?run it through with_service.sh}/client-python
export PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$work/wheels"

environment() { # its folder below data/tools, lists of packages: made once for each list and Python
    folder=$root/data/tools/$1
    shift
    wanted=$(cat "$@" && python3 --version)
    [ "$(cat "$folder/.made-for" 2>/dev/null)" = "$wanted" ] && return
    rm -rf "$folder"
    python3 -m venv "$folder" || fail "python3 has no venv; install it with: apt-get install -y python3-venv"
    "$folder/bin/python" -m pip install --quiet "${@/#/-r}" || fail "pip could not fetch the packages of $*"
    echo "$wanted" >"$folder/.made-for"
}

environment client-python "$lists/requirements.txt"
environment client-python-adapters "$lists/requirements.txt" "$lists/adapters.txt"
python=$root/data/tools/client-python/bin/python
adapters=$root/data/tools/client-python-adapters/bin/python

cd "$client"
$python scripts/models.py --check
python3 scripts/sync.py --check
$adapters -m mypy --cache-dir "$root/data/tools/client-python-mypy" knowhow_client tests
by_hand=$(cat knowhow_client/*.py knowhow_client/_async/*.py | wc -l)
by_hand=$((by_hand - $(cat knowhow_client/{models,_folders}.py knowhow_client/_async/conversation.py | wc -l)))
[ $by_hand -le 1200 ] || fail "client, sessions and errors have $by_hand lines, more than 1,200"
for adapter in knowhow_client/adapters/*.py; do
    [ "$(wc -l <"$adapter")" -le 150 ] || fail "$adapter has more than 150 lines"
done

# The wheel, in an environment that has only its dependencies and pytest. Pages find it by its name.
$python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work/wheels" .
export PIP_FIND_LINKS=$work/wheels
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet -c "$lists/requirements.txt" pytest knowhow-client
cp -r tests pyproject.toml "$root/examples" "$work"
cd "$work"
unset PYTHONPATH
venv/bin/python -m pytest -q -W error -p no:cacheprovider --ignore tests/adapters
venv/bin/python "$lists/readme.py" "$client/README.md"

# Adapters, without network: their frameworks' models are scripted.
"$adapters" -m pip install --quiet --force-reinstall --no-deps "$work"/wheels/knowhow_client-*.whl
"$adapters" -m pytest -q -p no:cacheprovider tests/adapters
for example in examples/*/agent.py; do
    grep -q ANTHROPIC_API_KEY "$example" && continue # A test runs it with a scripted API.
    "$adapters" "$example" >example.log 2>&1 || { cat example.log >&2 && fail "$example ends with an error"; }
done
