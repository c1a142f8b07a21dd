#!/bin/bash
# Tests the TypeScript client as its users get it: packed, and installed into an empty project. Its models must match the API's
# document (run it through with_service.sh, with KNOWHOW_WITH_WORKER=true).
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"

scripts/ci/node_tools.sh
tools=$root/data/tools/node/bin
source=$KNOWHOW_WORK/client
project=$KNOWHOW_WORK/project
modules=$root/data/tools/client-typescript
PATH=$tools:$PATH

wanted=$(cat clients/typescript/package.json clients/typescript/package-lock.json)
if [ "$(cat "$modules/.made-for" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$modules" && mkdir -p "$modules"
    cp clients/typescript/package.json clients/typescript/package-lock.json "$modules"
    (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund) >"$modules.log" 2>&1 ||
        { cat "$modules.log" >&2 && fail "npm could not fetch the client's test tools"; }
    echo "$wanted" >"$modules/.made-for"
fi

mkdir -p "$source" "$project/node_modules"
git ls-files -z clients/typescript examples | xargs -0 cp --parents -t "$source"
cd "$source/clients/typescript"
ln -s "$modules/node_modules" node_modules
"$KNOWHOW_PROGRAM" openapi >openapi.json
node node_modules/openapi-typescript/bin/cli.js openapi.json --output openapi.ts >models.log 2>&1 || { cat models.log >&2 && exit 1; }
cmp openapi.ts src/generated/openapi.ts || fail "the models are not those of the API; run: cd clients/typescript && npm run models"
npm run --silent build
node node_modules/typescript/bin/tsc --project tsconfig.test.json
npm pack --silent --ignore-scripts --pack-destination "$KNOWHOW_WORK" >/dev/null

cp -R build "$project"
cd "$project"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --offline --no-audit --no-fund "$KNOWHOW_WORK"/knowhow-client-*.tgz
[ "$(ls node_modules)" = @knowhow ] || fail "the client brings other packages along"

# The types suit a strict project that checks the declarations of its libraries too.
cat >uses.ts <<'TS'
import { Knowhow, type Change, type SavedSkill } from "@knowhow/client";
export async function version(kh: Knowhow): Promise<number | undefined> {
  await using session = await kh.session({ channel: "voice" });
  const change: Change<SavedSkill> = await session.skills.save({ name: "a", content: "1." });
  return change.status === "applied" ? change.skill.version : undefined;
}
TS
echo '{"compilerOptions": {"noEmit": true, "strict": true, "exactOptionalPropertyTypes": true, "module": "nodenext",
  "target": "es2022", "lib": ["es2022", "dom"], "types": []}, "files": ["uses.ts"]}' >tsconfig.json
node "$modules/node_modules/typescript/bin/tsc" || fail "the packed types do not suit a strict project"

for page in clients/typescript/README.md docs/users/quickstart.md; do
    python3 "$root/scripts/ci/clients/readme_blocks.py" "$root/$page" .
done
try() { # a program of Node.js, then test files
    program=$1
    shift
    "$program" --test --test-reporter=tap "$@" >"$program.log" 2>&1 || { cat "$program.log" >&2 && fail "the client's tests fail with $program"; }
    echo "@knowhow/client with $("$program" --version): $(sed -n 's/^# pass //p' "$program.log") tests"
}
for program in node node20; do
    for block in readme-*.mjs quickstart-*.mjs; do
        KNOWHOW_USER=readme-$program "$program" "$block" >"$block.log" 2>&1 || { cat "$block.log" >&2 && fail "$block fails with $program"; }
    done
done
try node20 build/*.test.js

# The frameworks of the adapters want Node.js 22.
for name in ai @mastra/core @types/node @types/ws twilio ws zod; do
    mkdir -p "$(dirname "node_modules/$name")"
    ln -s "$modules/node_modules/$name" "node_modules/$name"
done
try node build/*.test.js build/adapters/*.test.js

ln -s "$project/node_modules" "$source/examples"
echo '{"compilerOptions": {"noEmit": true, "strict": true, "skipLibCheck": true, "module": "nodenext", "allowImportingTsExtensions": true,
  "target": "es2023", "lib": ["es2023", "dom", "dom.iterable", "dom.asynciterable"], "types": ["node"]}}' >"$source/examples/tsconfig.json"
node "$modules/node_modules/typescript/bin/tsc" --project "$source/examples/tsconfig.json" || fail "the examples do not compile"
example() { # folder, program, input, a line of its output
    (cd "$source/examples/$1" && printf '%b' "$3" | KNOWHOW_USER=example-$1 node "$2") >"example-$1.log" 2>&1 &&
        grep -qF "$4" "example-$1.log" || { cat "example-$1.log" >&2 && fail "examples/$1 does not do what it shows"; }
    echo "examples/$1"
}
example ai-sdk chat.ts 'use plan-meeting for Friday\nthanks\n' 'agent: Ask who comes.'
example mastra agent.ts 'use plan-meeting for Friday\nthanks\n' 'agent: Ask who comes.'
(
    cd "$source/examples/twilio"
    PORT=$(python3 -c 'from tools.ports import free_port; print(free_port())')
    export PORT PUBLIC_URL=http://127.0.0.1:$PORT TWILIO_AUTH_TOKEN=0123456789abcdef
    node worker.ts >worker.log 2>&1 &
    worker=$!
    trap 'kill $worker' EXIT
    for _ in $(seq 100); do grep -q listening worker.log 2>/dev/null && break || sleep 0.1; done
    timeout 30 node try.ts >try.log 2>&1 && grep -q '^sms: 200 .*<Message>Restate the request' try.log && grep -q '^call: I know' try.log ||
        { cat worker.log try.log >&2 && fail "examples/twilio does not do what it shows"; }
    echo examples/twilio
)
