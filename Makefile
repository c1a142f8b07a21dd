# What a developer needs; `make help` lists it. The work is done by the scripts in scripts/.
.DEFAULT_GOAL := help
.PHONY: help run test test-cost test-dreams test-faults test-overload test-soak test-migration test-places test-replica stop doctor clean lint openapi settings dist version bench bench-recall bench-dream bench-scan fuzz-scan fit-model fit-recall sqlx-prepare

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

run: ## build, set up and serve on 127.0.0.1:8080 (PORT=..., RUN_FROM=source), with a demo tenant
	@scripts/dev/run.sh

test: ## all tests, on an embedded PostgreSQL (or DATABASE_URL)
	@scripts/dev/test.sh --no-fail-fast

test-cost: ## measure expensive requests and their effect on other users, in the build of make run: minutes
	@KNOWHOW_TEST_COMMIT=on scripts/dev/test.sh --profile quick --lib --test api --test store -- --ignored --nocapture --test-threads=1 cost

test-dreams: ## a thousand random runs of dreams, changed by people and taken back: some ten minutes
	@scripts/dev/test.sh --test api -- --ignored --nocapture dreams

test-faults: ## kill, cut and exhaust what the service needs: nothing acknowledged is lost (ARGS="--quick")
	@scripts/dev/prove.sh faults $(ARGS)

test-overload: ## offer three times what it can serve, and stand beside a tenant who sends 50 times its limit: minutes
	@scripts/dev/prove.sh overload $(ARGS)

test-soak: ## ten minutes of everything with restarts: memory and connections stay (ARGS="--minutes 60")
	@scripts/dev/prove.sh soak $(ARGS)

test-migration: ## write to a table that a migration waits for
	@scripts/dev/prove.sh migration $(ARGS)

test-places: ## move a tenant between two servers while it is used, killed at each step
	@scripts/ci/python.sh places/main.py

test-replica: ## serve with a replica that follows, is behind, is away and comes back
	@scripts/ci/python.sh replica/main.py

stop: ## stop the service and the embedded PostgreSQL
	@scripts/dev/stop.sh

doctor: ## say what is wrong with what `make run` has set up
	@scripts/dev/doctor.sh

clean: ## remove ./data after a question: the database, its secrets, fetched tools (cargo clean removes the build)
	@scripts/dev/clean.sh

lint: ## format, clippy and dependency rules
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	scripts/ci/deny.sh

openapi: ## write openapi/*.json from the code
	@scripts/dev/openapi.sh

settings: ## write docs/reference/settings.md and docs/reference/metrics.md from the code
	@cargo run --quiet --bin knowhow -- config --describe >data/settings.md && mv data/settings.md docs/reference/settings.md
	@cargo run --quiet --bin knowhow -- metrics >data/metrics.md && mv data/metrics.md docs/reference/metrics.md

dist: ## build the artefacts of a release into dist/: wheel, npm, Debian and OCI packages, tarball, sums
	@scripts/dist/dist.sh

version: ## set the version of the next release (VERSION=1.2.0)
	@scripts/dist/set_version.py $(VERSION)

bench: ## measure the service beside pgbench (ARGS="--quick")
	@scripts/dev/bench.sh $(ARGS)

bench-recall: ## measure how well messages find skills (../shared/corpus, else the sample in corpus)
	@scripts/dev/bench_recall.sh

bench-dream: ## measure what is found for dreams before a model is asked (needs ../shared/corpus)
	@scripts/dev/bench_dream.sh

fuzz-scan: ## scan mutated skills for ten minutes: no panic, linear time, the same findings in any order of files
	@FUZZ_SECONDS=600 cargo test --quiet --profile quick -p knowhow-domain --test scanner -- --ignored --nocapture mutated

bench-scan: ## measure how well and how fast the scanner tells attacks from skills (../shared/corpus, else the sample in corpus)
	@cargo test --quiet --profile quick -p knowhow-domain --test scanner -- --include-ignored --nocapture --test-threads=1

fit-recall: ## fit the weights of recall anew (needs ../shared/corpus)
	@scripts/dev/fit_recall.sh

fit-model: ## compute the constants of the models anew (needs ../shared/corpus and ../shared/fieldsets)
	@scripts/dev/fit_model.sh

sqlx-prepare: ## refresh .sqlx after a change of a query or a migration
	@scripts/dev/sqlx_prepare.sh
