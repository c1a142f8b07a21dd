#!/bin/bash
# Imports the sample skills, exports them strictly and validates each with the specification's own validator.
# Run it through with_service.sh.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

samples=$(python3 -m tools.corpus)/sample-skills.tar.zst
scripts/ci/python_tools.sh
export PYTHONPATH=$root/data/tools/python
python3 scripts/ci/skills.py unpack "$samples" "$KNOWHOW_WORK/in"
# Some of the samples are not valid skills: the import names them and exits with an error, and the others must be there.
"$KNOWHOW_PROGRAM" import "$KNOWHOW_WORK/in" --url "$KNOWHOW_URL" --token "$KNOWHOW_TOKEN" >"$KNOWHOW_WORK/import.log" 2>&1 ||
    tail -n 20 "$KNOWHOW_WORK/import.log"
"$KNOWHOW_PROGRAM" export --strict --output "$KNOWHOW_WORK/out.zip" --url "$KNOWHOW_URL" --token "$KNOWHOW_TOKEN"
python3 scripts/ci/skills.py unpack "$KNOWHOW_WORK/out.zip" "$KNOWHOW_WORK/out"
python3 scripts/ci/skills.py validate "$KNOWHOW_WORK/out" --at-least $(($(find "$KNOWHOW_WORK/in" -name SKILL.md | wc -l) * 2 / 3))
