#!/usr/bin/env bats
# Environments that no user means: nothing crashes or hangs, exit codes are
# right, and the files can be read.

load command.sh

setup() {
	command_setup
	unset COLUMNS TERM TMPDIR XDG_CACHE_HOME XDG_DATA_HOME \
		POCL_CACHE_DIR POCL_DEVICES
	LONG=/$(head -c 5000 /dev/zero | tr '\0' a)
}

# check_files FOLDER: CSV with numbers as C writes them, every run ok.
check_files() {
	python3 - "$1" <<-'END'
	import csv, sys
	tables = {}
	for name in "runs", "observations", "summary":
	    with open("%s/%s.csv" % (sys.argv[1], name), newline="") as f:
	        tables[name] = list(csv.DictReader(f, strict=True))
	    for row in tables[name]:
	        assert None not in row and None not in row.values(), row
	for run in tables["runs"]:
	    assert run["status"] == "ok", run
	    assert float(run["loop_s"]) > 0 and float(run["lr"]) == 1
	for row in tables["observations"]:
	    assert float(row["elapsed_s"]) >= 0
	assert tables["observations"] and tables["summary"]
	END
	[ -s "$1/tables.md" ]
}

# survives COMMAND ...: a run below it ends well.
survives() {
	rm -rf made
	run -0 --separate-stderr "$@" "$BENCH" run cpu-1 \
		cpu-2 "${TINY[@]}" --out made
	[[ "$output" == *"/iter"*cpu-1* ]]
	[ -z "$stderr" ]
	check_files made
}

# A folder $COMMON that anybody may use, with a copy of the program, and what to
# put before a command that shall have no rights but anybody's, "${AS[@]}".
make_common() {
	AS=()
	if [ "$(id -u)" = 0 ]; then
		# A user of no one else's, so that its processes can be counted.
		AS=(setpriv --reuid 64250 --regid 64250 --clear-groups)
	fi
	COMMON=$(mktemp -d /tmp/bench-hostile-XXXXXX)
	chmod 777 "$COMMON"
	cp "$BENCH" "$COMMON/bench"
	chmod 755 "$COMMON/bench"
	BENCH=$COMMON/bench
	cd "$COMMON" || return 1
	"${AS[@]}" "$BENCH" --version >/dev/null 2>&1 || skip "no other user"
}

teardown() {
	end_started
	[ -z "${COMMON:-}" ] || {
		cd /
		chmod -R u+rwx "$COMMON"
		rm -rf "$COMMON"
	}
}

@test "homes that are none" {
	local home
	survives env -u HOME
	for home in "" /proc/nope nowhere /etc/passwd "$LONG" $'/a\nb'; do
		survives env HOME="$home"
		survives env XDG_CACHE_HOME="$home" XDG_DATA_HOME="$home"
		# The data sets are looked for, whatever is found.
		HOME=$home XDG_CACHE_HOME=$home run "$BENCH" run cpu-1 \
			-d mnist --dry-run --steps 1 --model tiny
		[ "$status" = 0 ] || [ "$status" = 2 ] || [ "$status" = 4 ]
	done
}

@test "folders for temporary files that are none" {
	local folder
	for folder in "" /nonexistent /etc/passwd "$LONG" . ; do
		survives env TMPDIR="$folder"
	done
	[ -z "$(find . -name 'bench-run-*')" ]
}

@test "others' homes and temporary folders" {
	make_common
	mkdir -m 555 locked
	survives "${AS[@]}" env HOME="$PWD/locked" TMPDIR="$PWD/locked"
	# PoCL finds no device without a cache, and the reason is known.
	"$BENCH" devices | grep -q 'PoCL' || skip "no PoCL"
	HOME=$PWD/locked run -4 "${AS[@]}" "$BENCH" measure opencl "${TINY[@]}"
	[[ "$output" == *"$PWD/locked/.cache"*": Permission denied"*POCL_CACHE_DIR* ]]
}

@test "a German locale writes points" {
	locale -a | grep -qiE '^de_DE\.utf-?8$' || skip "no de_DE.UTF-8"
	export LC_ALL=de_DE.UTF-8 LANGUAGE=de
	survives env
	[[ "$output" != *[0-9],[0-9][0-9][0-9],* ]]
	run -0 "$BENCH" measure cpu-1 "${TINY[@]}" --lr 0.5
	[[ "$output" == *,2.3* ]]
	run -2 "$BENCH" measure cpu-1 "${TINY[@]}" --lr 0,5
	# The rows are read by the same rules.
	run -0 "$BENCH" table made
}

@test "locales that are none" {
	survives env LC_ALL=xx_YY.garbage
	survives env LC_ALL="$LONG" LANG=$'\n'
	survives env -u LC_ALL -u LANG
}

@test "terminals of no kind and of any width" {
	local term columns
	for term in "" dumb garbage "$LONG"; do
		survives env TERM="$term"
		run -0 --separate-stderr env TERM="$term" "$BENCH" run null-1 \
			"${TINY[@]}" --color auto --out made
		[[ "$output" != *$'\e'* ]]
	done
	for columns in 1 0 -1 x 999999999999 99999999999999999999999; do
		COLUMNS=$columns run -0 --separate-stderr "$BENCH" measure \
			cpu-1 "${TINY[@]/-q/--seed=1}" --progress always
		# Two lines at most; each overwrites itself.
		[ "${#stderr}" -le 1000 ]
	done
	needs_terminal
	for term in "" dumb garbage xterm; do
		TERM=$term run -0 script -qec "stty cols 7; \"$BENCH\" run \
			null-1 ${TINY[*]/-q/--seed=1} --out made" /dev/null
	done
}

@test "standard files that are closed" {
	local closed code
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' \
		'<&- >&- 2>&-'; do
		code=0
		[[ "$closed" != *'>&-'* ]] || code=7
		[[ "$closed" != *2* ]] || [[ "$closed" == *' >&-'* ]] ||
			[[ "$closed" == '>'* ]] || code=0
		run "-$code" bash -c 'exec "$0" "$@" '"$closed" "$BENCH" run \
			cpu-1 cpu-2 "${TINY[@]/-q/--seed=1}" --out "made$closed"
		check_files "made$closed"
		# A file of ours must not become one of these.
		run "-$code" bash -c 'exec "$0" "$@" '"$closed" "$BENCH" \
			measure cpu-1 "${TINY[@]/-q/--seed=1}" \
			--dump-masks masks --run-file row
		if [ "$code" = 0 ]; then
			[ "$(stat -c %s masks)" -eq $((70 * (5 + 17))) ]
			[ -z "$(tr -d '\000\001' <masks)" ]
		else
			[ ! -s masks ] || [ -z "$(tr -d '\000\001' <masks)" ]
		fi
		[ "$(head -n 1 row | cut -c 1-6)" = schema ]
	done
}

@test "any umask" {
	make_common
	local mask
	for mask in 0777 0377 0000; do
		survives "${AS[@]}" bash -c "umask $mask"'; exec "$@"' -
	done
	# Others' rights are as the umask says.
	[ "$(stat -c %a made/runs.csv)" = 666 ]
	"${AS[@]}" bash -c 'umask 0777; exec "$@"' - "$BENCH" run null-1 \
		"${TINY[@]}" --out own >/dev/null
	[ "$(stat -c %a own/runs.csv)" = 600 ]
	[ "$(stat -c %a own)" = 700 ]
}

@test "environments that are huge, or nothing" {
	local text
	text=$(head -c 120000 /dev/zero | tr '\0' x)
	survives env A="$text" B="$text" OMP_C="$text" OPENBLAS_D="$text"
	survives env OMP_X=$'a\n"b",c\e[2J' POCL_Y=$'\r'
	OMP_X=$'a\nb\e[2J' run -0 "$BENCH" env
	[[ "$output" == *'OMP_X=a\x0Ab\x1B[2J'* ]]
	run -0 "$BENCH" table made
	survives env -i
	survives env -u PATH
	survives bash -c 'exec -a "" "$@"' -
}

@test "a current folder that is gone" {
	mkdir gone
	cd gone
	rmdir ../gone
	run -7 --separate-stderr "$BENCH" run null-1 "${TINY[@]}"
	[[ "$stderr" == "bench: "*results* ]]
	run -0 "$BENCH" run null-1 "${TINY[@]}" --out "$BATS_TEST_TMPDIR/made"
	cd "$BATS_TEST_TMPDIR"
	check_files "$BATS_TEST_TMPDIR/made"
}

@test "names that a shell would run" {
	# shellcheck disable=SC2016 # that is the point
	local name='$(touch p)`touch q`'\''"; touch p; <|>&*' here
	mkdir "$name"
	cd "$name"
	here=$PWD
	TMPDIR=$here HOME=$here run -0 "$BENCH" run null-1 cpu-2 "${TINY[@]}" \
		--label "$name" --out "$name" --export-csv "$name.csv" \
		--export-json "$name.json" --export-markdown "$name.md"
	check_files "$here/$name"
	run -0 "$BENCH" table "$name"
	run -0 "$BENCH" table "$here/$name/runs.csv" \
		"$name/observations.csv"
	TMPDIR=$here run -0 "$BENCH" run null-1 "${TINY[@]}" --label "$name"
	[ -z "$(find "$BATS_TEST_TMPDIR" -name p -o -name q)" ]
}

@test "little stack and few files" {
	survives bash -c 'ulimit -s 128; exec "$@"' -
	survives bash -c 'ulimit -n 20; exec "$@"' -
	run -0 bash -c 'ulimit -n 20; exec "$@"' - "$BENCH" measure cpu-16 \
		"${TINY[@]}"
}

# The limit counts all processes of a user: the test needs a user who has no
# other process.
@test "threads that cannot be created" {
	[ "$(id -u)" = 0 ] || skip "only root has another user to be"
	make_common
	local most
	for most in 4 6 8; do
		run -6 --separate-stderr "${AS[@]}" bash -c \
			"ulimit -u $most"'; exec "$@"' - \
			"$BENCH" measure cpu-8 "${TINY[@]}"
		# 8 are enough for the cores alone, if OpenBLAS has no thread.
		[[ "$stderr" == *"only "[1-7]" of 8 threads could be created: "* ]] ||
			[[ "$most $stderr" == "8 "*"core "[0-7]" of 8: the \
loader's thread cannot be created: "* ]]
	done
}

@test "OpenCL that is nowhere" {
	local variable
	for variable in OCL_ICD_VENDORS=/nonexistent \
		OCL_ICD_VENDORS=/etc/passwd POCL_DEVICES=nosuch \
		POCL_CACHE_DIR=/proc/nope HOME=/proc/nope; do
		run -4 --separate-stderr env "$variable" "$BENCH" measure \
			opencl "${TINY[@]}"
		# What to change is named.
		[[ "$stderr" == *"${variable%=*}"* ]] ||
			[[ "$stderr" == *pocl-opencl-icd* ]]
		run -0 --separate-stderr env "$variable" "$BENCH" run \
			"${TINY[@]}" --out "made ${variable%=*}"
		[[ "$stderr" == "opencl skipped: "* ]]
		run -0 env "$variable" "$BENCH" devices
		[[ "$output" == *null* ]]
	done
}
