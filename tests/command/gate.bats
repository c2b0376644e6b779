#!/usr/bin/env bats
# `.ci/gate` in a repository of its own, with a bench that obeys the test.

bats_require_minimum_version 1.5.0

setup() {
	command -v git >/dev/null || skip "git is not installed"
	export HOME=$BATS_TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
	export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY GATE_OUT GATE_STRICT
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE/.ci"
	cp "$BATS_TEST_DIRNAME/../../.ci/gate" "$TREE/.ci/"
	cd "$TREE" || return 1
	printf 'all:\n\tmkdir -p build; cp told build/bench\n' >Makefile
	cat >told <<-'END'
	#!/bin/sh
	echo "$*" >>"$HOME/asked"
	echo "${GIT_INDEX_FILE-}" >>"$HOME/index_of"
	while [ "$1" != --out ]; do shift; done
	mkdir -p "$2" && echo "a table" >"$2/verdicts.md"
	exit "${CHECK:-0}"
	END
	mkdir -p tests/tools
	printf '#!/bin/sh\necho works >>"$HOME/asked"\nexit "${WORKS:-0}"\n' \
		>tests/tools/gate-works
	chmod +x told tests/tools/gate-works
	git init -q -b main
	git add -A
	git commit -qm first
	BASE=$(git rev-parse HEAD)
	git checkout -qb change
	git commit -q --allow-empty -m second
	git checkout -q main
	git commit -q --allow-empty -m "meanwhile"
	git checkout -q change
}

@test "the merge base is compared, after the gate is shown to work" {
	run -0 --separate-stderr .ci/gate main cpu-1 --blocks 12
	[[ "$stderr" == *"gate: no regression against main"* ]]
	[ "$(head -1 "$HOME/asked")" = works ]
	[ "$(tail -1 "$HOME/asked")" = "check --base-ref $BASE --out \
results/gate/$(git rev-parse --short HEAD) cpu-1 --blocks 12" ]
}

@test "what each exit code of the check makes of the gate" {
	CHECK=1 run -1 .ci/gate main
	[[ "$output" == *"slower than main, twice"* ]]
	CHECK=3 run -0 .ci/gate main
	[[ "$output" == *"no verdict"* ]]
	CHECK=3 GATE_STRICT=1 run -3 .ci/gate main
	CHECK=6 run -6 .ci/gate main
	[[ "$output" == *"failed with exit code 6"* ]]
}

@test "a gate that cannot fail is no gate" {
	WORKS=1 run -6 .ci/gate main
	[[ "$output" == *"gate-works"* ]]
	run -1 grep check "$HOME/asked"
}

@test "nothing new, and no history" {
	git checkout -q "$BASE"
	run -0 .ci/gate main
	[[ "$output" == *"nothing to compare"* ]]
	[ ! -e "$HOME/asked" ]
	git checkout -q change
	run -5 .ci/gate elsewhere
	[[ "$output" == *"the whole history is needed"* ]]
}

@test "a repository that git refuses: its own words" {
	[ "$(id -u)" = 0 ] || skip "only root can give a folder away"
	chown -R 1 "$TREE"
	run -5 --separate-stderr .ci/gate main
	[[ "$stderr" == *"gate: git: "*"dubious ownership"*safe.directory* ]]
	[[ "$stderr" != *history* ]]
	[ ! -e "$HOME/asked" ]
}

# git sets variables for its own repository, which override folders.
@test "in a hook of another repository" {
	git init -q "$HOME/other"
	GIT_DIR=$HOME/other/.git GIT_INDEX_FILE=$HOME/index \
		run -0 --separate-stderr .ci/gate main
	[ "$(tail -1 "$HOME/asked")" = "check --base-ref $BASE --out \
results/gate/$(git rev-parse --short HEAD)" ]
	[ "$(sort -u "$HOME/index_of")" = "" ]
}

@test "the workflow of .ci/speed.yml" {
	local root=$BATS_TEST_DIRNAME/../..
	python3 -c "import yaml" 2>/dev/null || skip "no python3-yaml"
	python3 - "$root/.ci/speed.yml" >commands <<-'END'
	import re, sys, yaml
	workflow = yaml.safe_load(open(sys.argv[1]))
	assert workflow["permissions"] == {"contents": "read"}
	assert workflow["concurrency"]["cancel-in-progress"] is True
	job, = workflow["jobs"].values()
	assert re.fullmatch(r"debian:12\.\d+-slim", job["container"])
	steps = job["steps"]
	out, = (s["env"]["GATE_OUT"] for s in steps if "env" in s)
	upload, = (s for s in steps if "upload" in s.get("uses", ""))
	assert upload["with"]["path"].rstrip("/") == out
	assert upload["if"] == "always()"
	print("set -e")
	for step in steps:
	    # What others may write is no part of a command.
	    assert "${{" not in step.get("run", ""), step
	    print(step.get("run", ":"))
	END
	shellcheck -s sh commands || [ "$?" = 127 ]
	# Its targets of make, but not what installs.
	[ "$(grep -oE '^make [a-z-]+' commands)" = "make deps-gate
make -j" ]
	run -0 make -n -C "$root" DEPS=no deps-gate
}

@test "words for GitHub, and its summary" {
	GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$HOME/summary CHECK=1 \
		run -1 --separate-stderr .ci/gate main
	[[ "$output" == *"::error::slower than main"* ]]
	[ "$(cat "$HOME/summary")" = "a table" ]
}

@test "each verdict and each exit code can happen here" {
	export TMPDIR=$BATS_TEST_TMPDIR
	mkdir "$TMPDIR/left"
	TMPDIR=$TMPDIR/left run -0 "$BATS_TEST_DIRNAME/../tools/gate-works" \
		"${BENCH:-$BATS_TEST_DIRNAME/../../build/bench}"
	[[ "${lines[-1]}" == "gate-works: 17 cases, 0 wrong" ]]
	[ -z "$(ls -A "$TMPDIR/left")" ]
	# A program that finds nothing is noticed.
	printf '#!/bin/sh\necho ok\n' >blind
	chmod +x blind
	run -1 "$BATS_TEST_DIRNAME/../tools/gate-works" blind
	[[ "${lines[-1]}" == "gate-works: 17 cases, 17 wrong" ]]
}
