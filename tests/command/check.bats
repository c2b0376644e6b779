#!/usr/bin/env bats
# `bench check`: what it compares, what it says, and how it ends.

bats_require_minimum_version 1.5.0
load command.sh

setup() {
	command_setup
	SMALL=(--model tiny "${DATA[@]}" --warmup 1 --blocks 12 -s 3)
}

# Six blocks are too few for a verdict, and quickly done.
few() {
	run --separate-stderr "$BENCH" check "$@" --model tiny "${DATA[@]}" \
		--warmup 1 --blocks 6 -s 3 -o few
}

# Makes a repository with one commit, from which make builds this program, and
# changes into it.
in_repository() {
	command -v git make >/dev/null || skip "no git or make"
	git init -q repo
	cd repo || return
	printf 'all:\n\tmkdir -p build\n\tcp %s build/bench\n' "$BENCH" \
		>Makefile
	git add Makefile
	git -c user.name=n -c user.email=e commit -qm m
}

# at_first DIR COLUMN: prints the cell of each process, without processes that
# were measured again because other programs were using this machine.
at_first() {
	paste -d ' ' <(column "$1/runs.csv" attempt | tr ' ' '\n') \
		<(column "$1/runs.csv" "$2" | tr ' ' '\n') |
		sed -n 's/^1 //p' | xargs
}

# How often each word is there.
count_words() {
	tr ' ' '\n' | sort | uniq -c | xargs
}

@test "the same program with itself: no regression, or too noisy" {
	run --separate-stderr "$BENCH" check null-1 cpu-1 --base "$BENCH" \
		"${SMALL[@]}" -o same
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	[[ "$output" == *"cpu-1"*"["* ]]
	[[ "$stderr" == *"12 blocks of 2 processes a target, about "*"seed "* ]]
	[[ "${stderr_lines[-1]}" == "verdict: "* ]]
	# Two pilots, and every process of each block. By chance a target is
	# measured again, which is stage 2.
	[ "$(at_first same stage | tr ' ' '\n' | grep -v '^2$' | xargs |
		count_words)" = "2 0 48 1" ]
	[ "$(column same/verdicts.csv pairs)" = "12 12" ]
	! column same/runs.csv exit_code | grep -q '[1-9]'
}

@test "a slowdown on purpose is confirmed on new processes: exit 1" {
	run --separate-stderr "$BENCH" check null-1 --inject 400% \
		"${SMALL[@]}" -o slow
	[ "$status" -eq 1 ]
	echo "$output" >slow/told
	[[ "$output" == *INJECTED*REGRESSION*"INJECTED: null-1"* ]]
	[ "${stderr_lines[-1]}" = "verdict: regression" ]
	[ "$(cell slow/verdicts.csv 1 verdict)" = REGRESSION ]
	[ "$(cell slow/verdicts.csv 1 confirm_pairs)" = 12 ]
	[ "$(cell slow/verdicts.csv 1 inject)" = 400% ]
	[ "$(at_first slow stage | count_words)" = "1 0 24 1 24 2" ]
	# The verdict is the confirmed difference; the flagged one follows.
	python3 - <<-'PYTHON'
	import csv
	row, = csv.DictReader(open("slow/verdicts.csv"))
	assert row["ratio"] == row["confirm_ratio"] != row["screen_ratio"], row
	assert row["ratio_lo"] == row["confirm_lo"], row
	assert row["ratio_hi"] == row["confirm_hi"], row
	told = [f"{float(row[name]):.3f}" for name in
	        ("confirm_ratio", "confirm_lo", "confirm_hi")]
	told = "{} [{}, {}]".format(*told)
	flagged = f"screen {float(row['screen_ratio']):.3f} "
	for name in "verdicts.md", "told":
	    lines = open("slow/" + name).read().splitlines()
	    line, = (l for l in lines if l.strip("| ").startswith("null-1 "))
	    assert told in line, line
	    assert flagged in " ".join(lines), lines
	PYTHON
	# Only the head is slowed down.
	[ "$(python3 -c '
import csv
print({(r["arm"], r["inject_pct"]) for r in csv.DictReader(open("slow/runs.csv"))}
	== {("A", ""), ("B", "400")})')" = True ]
}

@test "the other way round it is faster, and no failure" {
	local measure=("$BENCH" measure null-1 --model tiny "${DATA[@]}"
		--warmup 0 -e 1 -s 3 --test off)
	run --separate-stderr "$BENCH" check --blocks 12 -o fast \
		--base-cmd "${measure[*]} --inject 400" \
		--head-cmd "${measure[*]}"
	[ "$status" -eq 0 ]
	[ "$(cell fast/verdicts.csv 1 verdict)" = faster ]
	[ "$(cell fast/verdicts.csv 1 metric)" = iter_p50_s ]
}

@test "any command: the time of its processes" {
	run --separate-stderr "$BENCH" check --blocks 12 -o slow \
		--base-cmd "sleep 0.005" --head-cmd "sh -c 'sleep 0.2; echo x'"
	[ "$status" -eq 1 ]
	[ "$(cell slow/verdicts.csv 1 metric)" = process_s ]
	[[ "$output" == *"median time of 12 processes"* ]]
	python3 - <<-'END'
	import csv
	for row in csv.DictReader(open("slow/runs.csv")):
	    assert float(row["cpu_user_s"]) + float(row["cpu_sys_s"]) > 0, row
	    assert row["involuntary_switches"] and row["host_key"], row
	    assert not row["version"] and not row["binary_sha256"], row
	verdict, = csv.DictReader(open("slow/verdicts.csv"))
	assert float(verdict["base_cpu_s"]) > 0 < float(verdict["head_cpu_s"])
	END
}

# Prints a row without a loss, or with the one that is given.
@test "rows of a command may lack a loss, of both arms alike" {
	cat >play <<-'END'
	echo schema,run_id,target,core,phase,epoch,iter,is_warmup,elapsed_s,loss,status
	echo "bench/1,r,t,,step,1,1,0,0.1,$1,ok"
	END
	run --separate-stderr "$BENCH" check --blocks 12 -o without \
		--base-cmd "sh play" --head-cmd "sh play"
	[ "$status" -eq 0 ]
	run --separate-stderr "$BENCH" check --blocks 12 -o with \
		--base-cmd "sh play 2.5" --head-cmd "sh play" --order-seed 1
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"the first loss of the "*missing* ]]
	[[ "$stderr" != *nan* ]]
}

@test "a variable of one arm is all that differs" {
	run --separate-stderr "$BENCH" check null-1 --blocks 6 -s 3 -o vars \
		--model tiny "${DATA[@]}" --warmup 0 \
		--base-env OMP_A=1 --head-env OMP_B=2 --head-env OMP_C=3
	[ "$status" -eq 3 ]
	python3 - <<-'END'
	import csv
	for row in csv.DictReader(open("vars/runs.csv")):
	    own = [v for v in row["variables"].split(";") if v[:4] == "OMP_"]
	    want = ["OMP_A=1"] if row["arm"] == "A" else ["OMP_B=2", "OMP_C=3"]
	    assert [v for v in own if v[4] in "ABC"] == want, row
	END
}

@test "too few blocks: no verdict, exit 3, or 0 where that is asked for" {
	few null-1 --base "$BENCH"
	[ "$status" -eq 3 ]
	[ "${stderr_lines[-1]}" = "verdict: inconclusive" ]
	[[ "$output" == *"6 pairs of the screen, 12 are needed"* ]]
	# Nor is there a difference that such a check would detect.
	[ -z "$(cell few/verdicts.csv 1 detectable_pct)" ]
	grep -Eq '^null-1 .* - +inconclusive' <<<"$output"
	few null-1 --base "$BENCH" --on-inconclusive pass
	[ "$status" -eq 0 ]
	[ "${stderr_lines[-1]}" = "verdict: inconclusive" ]
}

@test "the control arm is the base again" {
	few null-1 --inject 300% --control on
	[ "$(at_first few arm | count_words)" = "7 A 6 A2 6 B" ]
	[ "$(cell few/verdicts.csv 1 control_pairs)" = 6 ]
	[[ "$output" == *"control, base over base"* ]]
}

@test "--extend: as many blocks again for what is too noisy" {
	few null-1 --base "$BENCH" --extend
	[ "$(cell few/verdicts.csv 1 pairs)" = 12 ]
}

# Not alone, says each process of its own, whatever else runs here.
@test "one disturbed block of five, at most, is measured again" {
	cat >crowded <<-END
	#!/bin/sh
	"$BENCH" "\$@" || exit
	for word; do
		case \$word in --run-file=*) file=\${word#*=} ;; esac
	done
	[ -z "\$file" ] || python3 - "\$file" <<-'PYTHON'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		rows[0]["throttled_s"] = "9"
		with open(sys.argv[1], "w", newline="") as file:
		    out = csv.DictWriter(file, rows[0], lineterminator="\n")
		    out.writeheader()
		    out.writerows(rows)
	PYTHON
	END
	chmod +x crowded
	few null-1 --base ./crowded
	[ "$status" -eq 3 ]
	[ "$(cell few/verdicts.csv 1 redone)" = 1 ]
	[ "$(cell few/verdicts.csv 1 disturbed)" -ge 6 ]
	[ "$(column few/runs.csv attempt | count_words)" = "13 1 2 2" ]
	[[ "$output" == *"1 block measured again"* ]]
	# Two of the screen, and of a confirmation, where chance asked for one.
	run --separate-stderr "$BENCH" check null-1 --base ./crowded \
		"${SMALL[@]}" -o dozen
	if [[ "$stderr" == *"measuring again"* ]]; then
		[ "$(cell dozen/verdicts.csv 1 redone)" = 4 ]
	else
		[ "$(cell dozen/verdicts.csv 1 redone)" = 2 ]
	fi
}

@test "the same seed, the same order" {
	few null-1 --base "$BENCH" --order-seed 7 -q
	local first
	first=$(at_first few arm)
	rm -r few
	few null-1 --base "$BENCH" --order-seed 7 -q
	[ "$(at_first few arm)" = "$first" ]
	[ "$stderr" = "verdict: inconclusive" ]
}

@test "another result is not compared: exit 6" {
	local measure=("$BENCH" measure null-1 --model tiny "${DATA[@]}"
		--warmup 0 -e 1 --test off)
	run --separate-stderr "$BENCH" check --blocks 12 -o other \
		--base-cmd "${measure[*]} -s 3" --head-cmd "${measure[*]} -s 2"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"result changed, speed not compared: "*"iterations, an earlier process "* ]]
	[ ! -e other/verdicts.csv ]
	measure[2]=cpu-1
	run --separate-stderr "$BENCH" check --blocks 12 -o other2 \
		--base-cmd "${measure[*]} -s 3 --seed 1" \
		--head-cmd "${measure[*]} -s 3 --seed 2"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"result changed, speed not compared: the first loss"* ]]
	[ "${stderr_lines[0]}" != "${stderr_lines[-1]}" ]
}

@test "a backend that is wrong is not compared: exit 6" {
	cat >wrong <<-END
	#!/bin/sh
	[ "\$1" != verify ] || exit 1
	exec "$BENCH" "\$@"
	END
	chmod +x wrong
	few cpu-1 --base "$BENCH" --head ./wrong
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"the head is wrong, speed not compared: see ./wrong verify cpu --model=tiny "*" --batch=32 "* ]]
	[ "$(column few/runs.csv stage)" = 0 ]
	# An older bench, say, that lacks an option.
	sed -i 's/exit 1/exit 2/' wrong
	few cpu-1 --base "$BENCH" --head ./wrong
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"the head cannot be verified, speed not compared"* ]]
}

@test "a backend is verified as it is measured, and not for ever" {
	cat >tells <<-END
	#!/bin/sh
	[ "\$1" != verify ] || echo "\$@" >>verified
	exec "$BENCH" "\$@"
	END
	chmod +x tells
	few cpu-1 --base ./tells --seed 7 --lr 0.5 --dropout off
	[ "$status" -eq 3 ]
	local word
	for word in --model=tiny --dataset=synthetic --seed=7 --lr=0.5 \
		--dropout=off --synthetic-train=70 --synthetic-test=40 \
		--steps=3 --batch=32 --quiet; do
		grep -q -e " $word\( \|\$\)" verified
	done
	sed -i 's/|| echo.*/|| exec sleep 600/' tells
	# A slow machine ends what comes before.
	verify_took_long() {
		[[ "$stderr" == *"base, bench verify cpu: "*"longer than $LIMIT s"* ]]
	}
	timed_out verify_took_long "$BENCH" check cpu-1 --base ./tells \
		--model tiny "${DATA[@]}" --warmup 1 --blocks 6 -s 3 -o few
	# Of what takes long two steps are enough.
	rm verified
	sed -i 's/|| exec sleep 600/|| { echo "$@" >>verified; exit 1; }/' tells
	run -6 "$BENCH" check cpu-1 --model alexnet "${DATA[@]}" --base ./tells
	grep -q -e ' --steps=2 .*--batch=2 ' verified
}

@test "what was found right is not asked again, what was not is" {
	export XDG_CACHE_HOME=$PWD/cache
	local entry before
	cp "$BENCH" other
	few cpu-1 --base "$BENCH" --seed 7
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"verification comes first, about "* ]]
	[[ "$stderr" == *"verifying the base on cpu"$'\n'* ]]
	entry=$(echo cache/bench/verified/*)
	grep -qx 'word --batch=32' "$entry"
	before=$(stat -c %z "$entry")
	few cpu-1 --base "$BENCH" --seed 7
	[ "$status" -eq 3 ]
	[[ "$stderr" != *"verif"* ]]
	[ "$(stat -c %z "$entry")" = "$before" ]
	# Others have entries of their own: options, variables, programs.
	few cpu-1 --base "$BENCH" --seed 8
	few cpu-1 --base "$BENCH" --seed 7 --head-env BENCH_ISA=portable
	[ "$(ls cache/bench/verified | wc -l)" -eq 3 ]
	echo more >>other
	few cpu-1 --base "$BENCH" --seed 7 --head ./other
	[ "$(ls cache/bench/verified | wc -l)" -eq 4 ]
	[ "$(stat -c %z "$entry")" = "$before" ]
	# An entry that somebody has changed does not count.
	sed -i s/right/wrong/ "$entry"
	few cpu-1 --base "$BENCH" --seed 7
	[ "$status" -eq 3 ]
	run -1 grep wrong "$entry"
	# What is wrong leaves none.
	few cpu-1 --base "$BENCH" --seed 7 --head-env BENCH_TEST_BREAK=conv2
	[ "$status" -eq 6 ]
	few cpu-1 --base "$BENCH" --seed 7 --head-env BENCH_TEST_BREAK=conv2
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"the head is wrong, speed not compared"* ]]
	[ "$(ls cache/bench/verified | wc -l)" -eq 4 ]
}

@test "an older bench that lacks columns: no number is made up" {
	cat >older <<-END
	#!/bin/sh
	"$BENCH" "\$@" || exit
	for word; do
		case \$word in --run-file=*)
			text=\$(sed s/,maxrss_bytes,/,other,/ "\${word#*=}")
			echo "\$text" >"\${word#*=}" ;;
		esac
	done
	END
	chmod +x older
	few null-1 --base ./older
	[ "$status" -eq 3 ]
	[[ "$output" == *"not gated, base and head: start-up "*" s; CPU time"* ]]
	[[ "$output" != *nan* && "$output" != *memory* ]]
}

@test "an older bench is not asked for options that it lacks" {
	printf '#!/bin/sh\ncase "$*" in *--pad*) echo "no option pad" >&2; exit 2\nesac\nexec "%s" "$@"\n' "$BENCH" >old
	chmod +x old
	few null-1 --base ./old
	[ "$status" -ne 6 ]
	few null-1 --base ./old --pad on
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"no option pad"* ]]
}

@test "a process that crashes: exit 6, and its row says why" {
	run --separate-stderr "$BENCH" check --blocks 12 -o crash \
		--base-cmd true --head-cmd "sh -c 'kill -9 \$\$'"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"command, head: ended by signal 9"* ]]
	[ "$(column crash/runs.csv status | tr ' ' '\n' | sort -u | xargs)" \
		= "error ok" ]
	[[ "$stderr" == *"verdict: none"* ]]
}

@test "a base that is no bench: what else it can be measured with" {
	few null-1 --base "$(command -v false)"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"null-1, base: ended with exit code 1, and it printed no rows of bench measure: --base expects a bench binary; measure other programs with --base-cmd"* ]]
	few null-1 --head "$(command -v true)"
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"null-1, head: exited with code 0, but "*"--head expects a bench binary"* ]]
	# A bench that fails says why itself.
	few opencl:99 --base "$BENCH"
	[[ "$stderr" != *"has to be a bench"* ]]
}

@test "what is not there: exit 4" {
	few null-1 --base ./nowhere
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"--base: no such program: './nowhere'"* ]]
	echo words >words
	few null-1 --base ./words
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"'./words' is not a program that can be started"* ]]
	mkdir -p old/build
	few null-1 --base old
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"'old' is a folder, and there is no build/bench"* ]]
	ln -s "$BENCH" old/build/bench
	few null-1 --head ./old/
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"'./old/' is a folder; the program in it is --head ./old/build/bench"* ]]
	few --base-cmd true --head-cmd "nosuchprogram -x"
	[ "$status" -eq 4 ]
	[[ "$stderr" == *"sh -c"* ]]
	few opencl:99 --base "$BENCH"
	[ "$status" -eq 4 ]
}

@test "questions without sense: exit 2" {
	local words
	for words in "null-1" "null-1 --base $BENCH --base-ref HEAD" \
		"null-1 --base-env A" "null-1 --head-env =x" \
		"--base-cmd true" "null-1 --base-cmd true --head-cmd true" \
		"null-1 null-1 --base $BENCH" \
		"nosuch-1 --base $BENCH" "null-1 --base $BENCH --base-cmd x" \
		"null-1 --base $BENCH --blocks 3"; do
		# shellcheck disable=SC2086 # parted on purpose
		run --separate-stderr "$BENCH" check $words
		[ "$status" -eq 2 ] || { echo "$words: $status"; return 1; }
		[ -n "$stderr" ]
	done
	for words in "--inject 5%" "-s 3" "--model tiny" --verbose; do
		# shellcheck disable=SC2086 # parted on purpose
		run --separate-stderr "$BENCH" check --base-cmd true \
			--head-cmd true $words
		[ "$status" -eq 2 ] || { echo "$words: $status"; return 1; }
		[[ "$stderr" == *"has no effect with --base-cmd"* ]]
	done
	run --separate-stderr "$BENCH" check --base-cmd "'x" --head-cmd true
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"--base-cmd: a quote is not closed"* ]]
	[ ! -e results ]
}

@test "a dry run: what and how long, and no verdict" {
	mkdir tmp
	TMPDIR=tmp run --separate-stderr "$BENCH" check null-1 \
		--base "$BENCH" "${SMALL[@]}" -o dry --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == *"12 blocks of 2 processes a target, \
about "*" s, at most "*" s with all confirmed; seed "*"null-1 "*\
"3 iterations"* ]]
	[ ! -e dry ]
	[ -z "$(ls tmp)" ]
	# No more than there are.
	run --separate-stderr "$BENCH" check null-1 --base "$BENCH" \
		"${SMALL[@]}" -o dry --dry-run -s 999 --synthetic-train 10
	[[ "$output" == *"null-1 "*" 1 iterations"* ]]
}

@test "the verdict again, from the folder, and no tables of its processes" {
	few null-1 --base "$BENCH"
	local before=$output
	few null-1 --base "$BENCH"
	run --separate-stderr "$BENCH" table few
	[ "$status" -eq 0 ]
	[[ "$output" == "$before"* ]]
	[ "$(grep -c "Is the head slower" <<<"$output")" -eq 2 ]
	[ "$(grep -c "Is the head slower" few/verdicts.md)" -eq 2 ]
	[[ "$output" != *"Training loop"* ]]
}

@test "exports: rows, a document, Markdown" {
	few null-1 --base "$BENCH" --export-csv v.csv --export-json v.json \
		--export-markdown v.md
	diff v.csv few/verdicts.csv
	python3 -c 'import json; v = json.load(open("v.json"))["verdicts"]
assert len(v) == 1 and v[0]["verdict"] == "inconclusive", v'
	grep -q '^| null-1 |' v.md
}

@test "a table that cannot be written: exit 7, and the verdict is printed" {
	# shellcheck disable=SC2016 # for the shell that is started
	run -7 sh -c '"$@" 2>&1 >/dev/full' - "$BENCH" check --blocks 12 \
		-o lost -q --base-cmd "sleep 0.005" --head-cmd "sleep 0.2"
	[ "${lines[0]}" = "verdict: regression" ]
	[[ "${lines[1]}" == *"standard output could not be written"* ]]
}

@test "--base-ref builds a revision once, where it goes away again" {
	in_repository
	mkdir ../tmp
	export TMPDIR=$PWD/../tmp
	few null-1 --base-ref HEAD
	[ "$status" -eq 3 ]
	[[ "$stderr" =~ "building the base, "[0-9a-f]+", with ".*": about "[0-9]+" min on "[0-9]+" CPU" ]]
	[ "$(cell few/verdicts.csv 1 base)" = \
		"revision HEAD, commit $(git rev-parse HEAD)" ]
	[ -z "$(ls ../tmp)" ]
	[[ "$stderr" != *"with itself"* ]]
	# Kept, whole, under the one name.
	[ "$(find build -name 'bench*' | wc -l)" -eq 1 ]
	cmp "$(find build -name 'bench*')" "$BENCH"
	few null-1 --base-ref HEAD
	[[ "$stderr" == *"the base, "*", was already built with "*build/base/* ]]
	[[ "$stderr" != *"building the base"* ]]
	few null-1 --base-ref nosuch
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"'nosuch' is not a revision of "* ]]
	printf 'all:\n\tfalse\n' >Makefile
	git -c user.name=n -c user.email=e commit -qam m
	few null-1 --base-ref HEAD
	[ "$status" -eq 6 ]
	[[ "$stderr" == *"cannot be built"* ]]
	[ -z "$(ls ../tmp)" ]
}

@test "--base-ref where git refuses the folder: its own words" {
	[ "$(id -u)" = 0 ] || skip "only root can give a folder away"
	in_repository
	chown -R 1 .
	HOME=$PWD GIT_CONFIG_NOSYSTEM=1 few null-1 --base-ref HEAD
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"--base-ref: git finds no repository"*"dubious ownership"*"safe.directory"* ]]
}

# In a hook, git sets variables for HEAD and the index, which override folders.
@test "--base-ref in a hook leaves its repository as it is" {
	command -v git make >/dev/null || skip "no git or make"
	export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e
	export GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
	git init -q -b main repo
	printf 'all:\n\tenv >%s; mkdir -p build; cp %s build/bench\n' \
		"$PWD/variables" "$BENCH" >repo/Makefile
	git -C repo add Makefile
	git -C repo commit -qm first
	git -C repo worktree add -q ../beside
	cat >repo/.git/hooks/pre-commit <<-END
	#!/bin/sh
	echo "\$GIT_INDEX_FILE" >"$PWD/hooked"
	GIT_CONFIG_PARAMETERS="'core.abbrev=9'" "$BENCH" check null-1 \\
		--base-ref HEAD ${SMALL[*]} --blocks 6 -o ../few \\
		>"$PWD/said" 2>&1
	true
	END
	chmod +x repo/.git/hooks/pre-commit
	cd beside
	echo new >file
	git add file
	git commit -qm second
	[ -s ../hooked ]
	[ "$(git symbolic-ref HEAD)" = refs/heads/beside ]
	[ "$(git show --format=%s --name-only)" = $'second\n\nfile' ]
	[ -z "$(git status --porcelain)" ]
	[ "$(cell ../few/verdicts.csv 1 base)" = \
		"revision HEAD, commit $(git rev-parse HEAD^)" ]
	# Unset, not empty.
	run -1 grep -E "^($(git rev-parse --local-env-vars | paste -sd '|'))=" \
		../variables
}

@test "--base-ref: another compiler, flag or commit is built anew" {
	in_repository
	# A dry run builds nothing, but it prints a time.
	few null-1 --base-ref HEAD --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == *"6 blocks of 2 processes a target, about "* ]]
	[[ "$stderr" == *"a dry run does not build the base"* ]]
	[[ "$stderr" != *"building"* ]]
	[ ! -e build ]
	printf '#!/bin/sh\necho a compiler, $0 ${1%%version}\n' >../cc
	chmod +x ../cc
	local setting
	for setting in A=b CFLAGS=-O1 CC=../cc "CC=../cc -m32"; do
		env "$setting" "$BENCH" check null-1 --base-ref HEAD \
			--model tiny "${DATA[@]}" --blocks 6 -s 1 -q || :
	done
	[ "$(find build/base -name bench | wc -l)" -eq 4 ]
	git -c user.name=n -c user.email=e commit -q --allow-empty -m m
	few null-1 --base-ref HEAD
	[ "$(find build/base -name bench | wc -l)" -eq 5 ]
	# Files that a killed build left are ignored; a finished build is used.
	for setting in build/base/*; do
		mv "$setting/bench" "$setting/bench.1"
	done
	few null-1 --base-ref HEAD --dry-run
	[[ "$stderr" == *"a dry run does not build the base"* ]]
	few null-1 --base-ref HEAD
	[[ "$stderr" == *"building the base"* ]]
	few null-1 --base-ref HEAD --dry-run
	[[ "$stderr" == *"was already built"* ]]
}

@test "--base-ref where nothing can be kept: said, and compared" {
	in_repository
	: >build
	few null-1 --base-ref HEAD
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"note: the base could not be cached as "*"rebuilt next time"* ]]
	[ "$(cell few/verdicts.csv 1 pairs)" = 6 ]
}

@test "--base-ref with the commit of the head: said before it is built" {
	local commit
	commit=$("$BENCH" --version | sed -n '1s/.*(\([0-9a-f]*\)).*/\1/p')
	[ -n "$commit" ] || skip "this bench is of no commit, or changed since"
	mkdir repo bin
	git -C repo init -q
	# A git that has that commit, and checks out another.
	cat >bin/git <<-END
	#!/bin/sh
	case "\$*" in
	*--verify*) echo "${commit}0000" ;;
	*checkout*) ;;
	*) exec $(command -v git) "\$@" ;;
	esac
	END
	chmod +x bin/git
	cd repo
	PATH=$PWD/../bin:$PATH
	# Without a Makefile it is not built.
	few null-1 --base-ref HEAD
	[ "$status" -eq 6 ]
	[[ "${stderr_lines[0]}" == "note: "*"$commit"*"with itself" ]]
	[[ "${stderr_lines[1]}" == "building the base, $commit, with "* ]]
	few null-1 --base-ref HEAD --head-env A=b
	[[ "${stderr_lines[0]}" == "building the base, $commit, with "* ]]
}

@test "a large network is given less to do, and it is said" {
	run -0 "$BENCH" check null-1 --model alexnet "${DATA[@]}" \
		--base "$BENCH" --dry-run
	[[ "$output" == *"null-1 "*", batches of 2 a core, rate 0.00025: less than the model's"* ]]
	[[ "$output" != *images* ]]
	# All targets get equal batches and images, so that one verification serves.
	run -0 "$BENCH" check null-1 null-3 --model resnet34 --base "$BENCH" \
		--dry-run
	[ "$(grep -c ', batches of 2 a core, rate 1.5625e-06, images of 64x64: less' \
		<<<"$output")" -eq 2 ]
	run -0 "$BENCH" check null-1 --infer --model resnet50 --base "$BENCH" \
		--dry-run
	[[ "$output" == *"batches of 2 a core"* ]]
	[[ "$output" != *", rate"* ]]
	# What was asked for stays.
	run -0 "$BENCH" check null-1 --model alexnet "${DATA[@]}" --lr .5 \
		--base "$BENCH" --dry-run
	[[ "$output" == *", batches of 2 a core: less"* ]]
	run -0 "$BENCH" check null-1 --model resnet50 --image-size 32 --batch 4 \
		--base "$BENCH" --dry-run
	[[ "$output" != *less* ]]
	run -0 "$BENCH" check null-1 "${DATA[@]}" --base "$BENCH" --dry-run
	[[ "$output" != *less* ]]
}

@test "forward passes are compared as training is" {
	few cpu-1 --base "$BENCH" --infer
	[ "$status" -eq 3 ]
	[ "$(column few/runs.csv updates | tr ' ' '\n' | sort -u)" = 0 ]
	[[ "$(column few/verdicts.csv metric)" == iter_p50_s* ]]
	[ "$(column few/runs.csv passes | tr ' ' '\n' | sort -un | tail -n 1)" = 3 ]
}
