#!/usr/bin/env bats
# Results in spite of full disks, odd places, kills and company: old results stay,
# new ones are complete, and a message names what went wrong.

load command.sh

setup() {
	command_setup
	SHORT=(--model tiny "${DATA[@]}" --warmup 1 --epochs 2)
}

teardown() {
	end_started
	[ ! -e closed ] || chmod -R u+rwX closed
}

# As somebody who may not write everywhere; root may.
as_nobody() {
	if [ "$(id -u)" != 0 ]; then
		"$@"
		return
	fi
	chmod a+rx . && setpriv --reuid=65534 --regid=65534 --clear-groups \
		env HOME=/nonexistent "$@"
}

# whole CSV ...: every row has a cell for each column.
whole() {
	python3 - "$@" <<-'END'
	import csv, sys
	for name in sys.argv[1:]:
	    with open(name, newline="") as f:
	        text = f.read()
	    assert text.endswith("\n"), name
	    rows = list(csv.reader(text.splitlines(), strict=True))
	    assert len(rows) > 1, name
	    assert all(len(row) == len(rows[0]) for row in rows), name
	    assert rows.count(rows[0]) == 1, name
	END
}

# The old exports or whole new ones, the old rows and whole new ones.
check_results() {
	local file
	for file in observations.csv runs.csv; do
		cmp -n "$(stat -c %s "old/$file")" "old/$file" "made/$file"
	done
	whole made/observations.csv made/runs.csv
	"$BENCH" table made >/dev/null
	cmp -s old/x.csv made/x.csv || whole made/x.csv
	cmp -s old/x.json made/x.json || python3 -m json.tool made/x.json \
		>/dev/null
	cmp -s old/x.md made/x.md || grep -q 'status' made/x.md
	for file in summary.csv tables.md; do
		cmp -s "old/$file" "made/$file" || [ -s "made/$file" ]
	done
	[ "$(ls -A made)" = "$(ls -A old)" ]
}

run_into() {
	"$BENCH" run null-1 "${SHORT[@]}" --out "$1" --export-csv "$1/x.csv" \
		--export-json "$1/x.json" --export-markdown "$1/x.md"
}

# The places of all calls of $1 that have to do with the results, as strace
# counts them. Calls for other files, and by the loader, do not count.
places() {
	awk -v call="$1" 'index($0, call "(") == 1 {
		n++
		if (/\/made[\/>]|"made\//)
			print n
	}' trace
}

# fault CALL WHICH ERROR: this call fails in a run; what then?
fault() {
	local code=0
	rm -rf made && cp -r old made
	strace -qq -o /dev/null -e "trace=$1" \
		-e "inject=$1:error=$3:when=$2" "$BENCH" run null-1 \
		"${SHORT[@]}" --out made --export-csv made/x.csv \
		--export-json made/x.json --export-markdown made/x.md \
		>out 2>err || code=$?
	echo "$1 $2 $3: exit $code: $(tail -n 1 err)"
	check_results
	case $code in
	# Tried again, or only closed after the disk had said yes.
	0) [ "$(wc -l <made/observations.csv)" -eq "$COMPLETE" ] || return 1
		whole made/x.csv ;;
	# A full disk may have the message's file on it as well.
	7) [ "$1" = write ] || grep -Eq '^bench: .*(made|standard output)' err ;;
	5) [ "$1" = openat ] || return 1
		grep -q '^bench: cannot read made' err ;;
	# No file at all can be opened, not even what the child handed back.
	6) [ "$1" = openat ] || return 1
		grep -q '^bench: null-1: ended' err ;;
	*) false ;;
	esac
	# It was found before anything was measured, or the tables are there.
	[[ "$1 $2" == "write "*+ ]] || [ "$(wc -l <made/observations.csv)" -eq "$(wc -l \
		<old/observations.csv)" ] || grep -q 's/epoch' out
}

@test "each call that writes results may fail" {
	strace -qq -o trace true || skip "strace cannot be used"
	local call place every=25
	[ -z "${CHECK_FULL:-}" ] || every=1
	mkdir old made
	run_into old
	cp -r old/. made
	strace -y -qq -o trace "$BENCH" run null-1 "${SHORT[@]}" --out made \
		--export-csv made/x.csv --export-json made/x.json \
		--export-markdown made/x.md >out
	COMPLETE=$(wc -l <made/observations.csv)
	# Not close: strace would leave the file open, and locked.
	for call in openat flock write fdatasync fsync renameat; do
		[ -n "$(places "$call")" ]
		for place in $(places "$call" | awk "NR % $every == 1 % $every"); do
			fault "$call" "$place" ENOSPC
			fault "$call" "$place+" EIO
		done
	done
}

@test "a disk that is full during a run" {
	# The limit of a file's size stands for the disk's.
	local code=0
	(
		ulimit -f 20
		exec "$BENCH" run null-1 cpu-1 "${SHORT[@]}" --epochs 60 \
			--out made >out 2>err
	) || code=$?
	[ "$code" -eq 7 ]
	[[ "$(tail -n 1 err)" == *made/observations.csv*"File too large"* ]]
	[ "$(grep -c '^note: .*tried again' err)" -ge 1 ]
	grep -q 's/epoch' out
	whole made/observations.csv made/runs.csv
	[[ "$(column made/runs.csv status)" == *partial* ]]
	run -0 "$BENCH" table made
}

@test "where results may go, and what is left where they may not" {
	mkdir folder closed shut
	echo old >target
	ln -s target link
	ln -s absent dangling
	"$BENCH" run null-1 "${SHORT[@]}" -q --out made >/dev/null
	local to
	for to in link dangling; do
		"$BENCH" table made --export-csv "$to" >/dev/null
		[ -L "$to" ]
		whole "$to"
	done
	[ -f target ]
	[ -f absent ]
	run -7 "$BENCH" table made --export-csv folder
	[ -d folder ]
	[ -z "$(ls -A folder)" ]
	"$BENCH" table made --export-csv /dev/stdout --export-json /dev/null |
		grep -q '^schema,'
	[ -c /dev/null ]
	run -7 bash -c '"$0" table made --export-csv /dev/stdout >/dev/full' \
		"$BENCH"
	# Of somebody who may not write there.
	# Others may not get to where the program is; relative, since they may
	# not get to this folder from outside either.
	cp "$BENCH" bench && chmod 755 bench
	BENCH=./bench
	echo old >closed/read-only
	echo old >shut/file
	chmod 444 closed/read-only
	chmod 777 closed
	chmod 555 shut
	chmod 666 shut/file
	for to in closed/read-only shut/file shut/new; do
		run -7 as_nobody "$BENCH" run null-1 "${SHORT[@]}" \
			--out closed/made --export-csv "$to"
		[[ "$output" == *"$to"* ]]
		[ ! -e closed/made ]
	done
	run -7 as_nobody "$BENCH" run null-1 "${SHORT[@]}" --out shut/made
	[ "$(cat closed/read-only shut/file)" = $'old\nold' ]
	[ "$(ls -A shut)" = file ]
	# Nobody's temporary folder is needed, nor this one's file system.
	TMPDIR=/nonexistent "$BENCH" run null-1 "${SHORT[@]}" -q --out tmp
	[ -w /dev/shm ] || skip "/dev/shm cannot be written"
	to=$(mktemp -d /dev/shm/bench-test-XXXXXX)
	ln -s "$to/far.csv" far
	"$BENCH" table made --export-csv far >/dev/null
	"$BENCH" run null-1 "${SHORT[@]}" -q --out "$to/made" >/dev/null
	whole "$to/far.csv" "$to/made/runs.csv"
	rm -r "$to"
}

@test "standard output that nobody reads to its end" {
	set +o pipefail
	run -0 bash -c '"$@" | head -n 1' - "$BENCH" run null-1 "${SHORT[@]}" \
		-q --out made
	[ "${#lines[@]}" -eq 1 ]
	[ "$(column made/runs.csv status)" = ok ]
	[ -s made/tables.md ]
	run -7 bash -c 'sleep 1 | "$@" >&-' - "$BENCH" run null-1 \
		"${SHORT[@]}" -q --out made
	[ "$(column made/runs.csv status)" = "ok ok" ]
	run -0 bash -c '"$@" 2>&- >tables' - "$BENCH" run null-1 \
		"${SHORT[@]}" --out made
	whole made/observations.csv made/runs.csv
	grep -q 'tiny on ' tables
}

@test "eight at once, into one folder and one file" {
	local pids=() i
	for i in 1 2 3 4 5 6 7 8; do
		"$BENCH" run null-1 null-3 "${SHORT[@]}" --out made -q \
			--export-csv x.csv --export-json x.json >/dev/null \
			2>"err$i" 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || { cat err*; false; }
	done
	whole made/observations.csv made/runs.csv x.csv made/summary.csv
	python3 -m json.tool x.json >/dev/null
	python3 - <<-'END'
	import collections, csv
	runs = list(csv.DictReader(open("made/runs.csv")))
	assert len({run["run_id"] for run in runs}) == 16, len(runs)
	assert len({run["campaign_id"] for run in runs}) == 8
	rows = collections.Counter()
	for row in csv.DictReader(open("made/observations.csv")):
	    rows[row["target"], row["run_id"]] += 1
	assert len(rows) == 16
	summary = csv.DictReader(open("made/summary.csv"))
	assert len({row["campaign_id"] for row in summary}) == 8
	for target in "null-1", "null-3":
	    counts = {n for (t, _), n in rows.items() if t == target}
	    assert len(counts) == 1, (target, counts)
	END
	run -0 "$BENCH" table made
	[ "$(ls -A made | wc -l)" -eq 5 ]
}

# Runs until $1 has been shown, then kill -9.
kill_after() {
	"$BENCH" run null-1 cpu-2 cpu-1 --model tiny --dataset synthetic \
		--synthetic-train 3200 --synthetic-test 100 --warmup 1 \
		--epochs 200 --out made >out 2>err 3>&- &
	PID=$!
	within 240 grep -q "$1" err
	kill -KILL "$PID"
	wait "$PID" || true
}

@test "what was shown as done outlives the command" {
	local epoch
	kill_after 'cpu-2 .*epoch 3/'
	for epoch in $(sed -n 's,^cpu-2 .*epoch \([0-9]*\)/.* test .*,\1,p' err); do
		grep -q ",cpu-2,2,,test,$epoch,.*,ok," made/observations.csv
		grep -q ",cpu-2,2,,epoch,$epoch,.*,ok," made/observations.csv
	done
	run -0 "$BENCH" table made
	[[ "$output" == *"cpu-2: partial: its rows end before"* ]]
	[[ "$output" != *measured* ]] # a line of its own
	# Half a row that was being written.
	cp made/observations.csv before
	printf 'bench/1,half,cpu-2,2,,step,4,1,0,0.0' >>made/observations.csv
	run -0 --separate-stderr "$BENCH" run null-1 "${SHORT[@]}" --out made
	[[ "$stderr" == *made/observations.csv*" 36 bytes were removed"* ]]
	whole made/observations.csv
	cmp -n "$(stat -c %s before)" before made/observations.csv
	[ "$(column made/runs.csv target)" = "null-1 null-1" ]
}

# As after an editor, but nothing shows that the last cell is whole.
@test "a last line without its end is no row, whatever it looks like" {
	local file
	"$BENCH" run null-1 "${SHORT[@]}" -q --out made >/dev/null
	"$BENCH" run null-1 "${SHORT[@]}" -q --out made >/dev/null
	for file in observations.csv runs.csv; do
		truncate -s -1 "made/$file"
	done
	run -0 --separate-stderr "$BENCH" table made
	[[ "$stderr" == *"made/observations.csv:"*"skipped"* ]]
	[[ "$stderr" == *"made/runs.csv:3: "*"skipped"* ]]
	run -0 --separate-stderr "$BENCH" run null-1 "${SHORT[@]}" -q --out made
	[[ "$stderr" == *made/observations.csv*"bytes were removed"* ]]
	[[ "$stderr" == *made/runs.csv*"bytes were removed"* ]]
	[ "$(column made/runs.csv status)" = "ok ok" ]
	whole made/observations.csv made/runs.csv
	printf 'bench/1,half' >>made/runs.csv
	run -0 --separate-stderr "$BENCH" run null-1 "${SHORT[@]}" -q --out made
	[[ "$stderr" == *made/runs.csv*" 12 bytes were removed"* ]]
	[ "$(column made/runs.csv status)" = "ok ok ok" ]
}

@test "rows that were lost after a whole line make a run partial" {
	"$BENCH" run null-1 "${SHORT[@]}" -q --out made >/dev/null
	run -0 --separate-stderr "$BENCH" table made
	[[ "$stderr$output" != *"its rows end"* ]]
	sed -i '$d' made/observations.csv
	[[ "$(tail -n 1 made/observations.csv)" != *,loop,* ]]
	run -0 --separate-stderr "$BENCH" table made
	[[ "$stderr$output" == *partial*"its rows end before the loop did"* ]]
}

# unlocked ARGUMENT ...: flock() fails with the error $NUMBER. Takes the place
# of the shell.
unlocked() {
	exec env LD_PRELOAD="$(dirname "$BENCH")/tests/fail_calls.so" FAIL_AT=1 \
		FAIL_STICKY=1 FAIL_KIND=locks FAIL_ERRNO="$NUMBER" "$BENCH" "$@"
}

@test "a file system without locks: a note, and nobody is taken for dead" {
	[ -e "$(dirname "$BENCH")/tests/fail_calls.so" ] || skip "not built"
	# ENOSYS, EOPNOTSUPP, ENOLCK
	for NUMBER in 38 95 37; do
		run -0 --separate-stderr unlocked run null-1 "${SHORT[@]}" -q \
			--out made
		[ "$(grep -c "of made has no locks" <<<"$stderr")" -eq 1 ]
	done
	[ "$(column made/runs.csv status)" = "ok ok ok" ]
	unlocked run cpu-2 --model tiny --dataset synthetic --epochs 1000 \
		--synthetic-train 3200 --out made >out 2>err 3>&- &
	PID=$!
	within 60 grep -q 'epoch 2/' err
	run -0 --separate-stderr unlocked run null-1 "${SHORT[@]}" --out made
	[[ "$output" != *cpu-2* ]]
	kill -TERM "$PID"
	wait "$PID" || true
	whole made/observations.csv made/runs.csv
	# Whose line has no end may still be writing it.
	printf 'bench/1,half' >>made/runs.csv
	cp made/runs.csv before
	run -7 --separate-stderr unlocked run null-1 "${SHORT[@]}" --out made
	[[ "$stderr" == *"made/runs.csv: its last line is incomplete"* ]]
	cmp before made/runs.csv
}

# Each iteration takes longer than a bar stands, so that each one is drawn,
# however slow the machine: the process that draws is the one that iterates.
@test "a bar as wide as the window" {
	needs_terminal
	local width
	for width in 50 100; do
		script -qec "stty cols $width; '$BENCH' measure cpu-2 \
			--model tiny --dataset synthetic --warmup 1 --epochs 2 \
			--steps 4 --straggler 0:150 >rows" typed >/dev/null
		tr '\r' '\n' <typed |
			sed -n 's/\x1b\[K.*//; /^cpu-2/p' >lines
		[ "$(wc -L <lines)" -lt "$width" ]
		grep -q '^cpu-2[^ ]* *[-|/\\] starting' lines
		grep -Eq '^cpu-2[^ ]* *\[[#|/\\.-]*\] epoch 1/2' lines
		grep -q 'epoch ./2  testing' lines
	done
	[ "$(grep -o '\[[#|/\\.-]*\] epoch' lines | wc -L)" -ge 30 ]
}

@test "what follows a bar starts on a clean line" {
	needs_terminal
	script -qec "'$BENCH' run cpu-2 --model tiny ${DATA[*]} --out made \
		>tables" typed >/dev/null
	grep -q $'\x1b\\[K\r\x1b\\[K' typed
}

@test "Ctrl-C clears the bar" {
	needs_terminal
	script -qefc "'$BENCH' run cpu-2 --model tiny --dataset synthetic \
		--epochs 1000 --out made >tables" typed >/dev/null \
		< <(within 60 grep -qs 'epoch 1/' typed >&2
			printf '\003'
			within 60 grep -qs 'ending this run' typed >&2
			sleep 1) || true
	grep -q $'\r\x1b\\[Knote: ending this run' typed
	run -1 grep -q ' epoch ' < <(sed '1,/note: ending/d' typed)
	grep -q ',partial,' made/runs.csv
}

@test "a file that cannot be written is named before anything is measured" {
	local option
	for option in save-parameters save-weights run-file dump-masks trace \
		profile; do
		run -7 --separate-stderr "$BENCH" measure cpu-1 "${SHORT[@]}" \
			"--$option" missing/file
		[ "$stderr" = "bench: cannot write missing/file: No such file or directory" ]
		[ -z "$output" ]
	done
	# What can be is only there with something in it.
	run -7 "$BENCH" measure cpu-1 "${SHORT[@]}" --save-parameters kept \
		--dump-masks missing/file
	[ ! -e kept ]
}

# A log has whole lines; what goes to a window is broken between words.
@test "notes and errors as wide as the window" {
	needs_terminal
	local width
	"$BENCH" run cpu-2 --model tiny "${DATA[@]}" -q --out made
	for width in 40 120; do
		script -qec "stty cols $width; '$BENCH' table made --details; \
			'$BENCH' env --cpus 0-99999" typed >/dev/null || true
		tr -d '\r' <typed >lines
		# Notes of a table, and the error, which takes several lines.
		grep -E '^(- |  |bench: )[^ ]' lines >notes
		grep -q '^bench: --cpus' notes
		[ "$(wc -L <notes)" -lt "$((width + 1))" ]
		[ "$(wc -L <notes)" -gt "$((width - 20))" ]
	done
	run -2 --separate-stderr "$BENCH" env --cpus 0-99999
	[ "${#stderr_lines[@]}" -eq 1 ]
	[ "${#stderr_lines[0]}" -gt 40 ]
}

# Prints every file here, except files of bats, with a hash.
contents() {
	find . -type f ! -name 'separate-stderr*' -exec sha256sum {} + | sort
}

# refused ARGUMENTS ...: before anything is written; $stderr says why.
refused() {
	local before
	before=$(contents)
	run -2 --separate-stderr "$BENCH" "$@"
	[[ "$stderr" == *": name another file" ]]
	[ "$(contents)" = "$before" ]
}

@test "no output replaces what the same command reads or writes" {
	local all=(--export-csv --export-json --export-markdown)
	"$BENCH" run null-1 null-2 "${TINY[@]}" --out z >/dev/null
	# Six blocks give no verdict.
	run -3 "$BENCH" check null-1 --base "$BENCH" --model tiny "${DATA[@]}" \
		--warmup 1 --blocks 6 --steps 1 --out z
	[ -s z/verdicts.csv ]
	cp -r z x
	ln x/runs.csv hard.csv
	ln -s x/observations.csv soft.csv
	for option in "${all[@]}"; do
		# Whatever bench run and bench check have left there.
		for file in x/*.*; do
			refused table x "$option" "$file"
			[[ "$stderr" == *"$file of $option is $file, a file of the \
folder that bench table reads"* ]]
			refused run null-1 "${TINY[@]}" --out x "$option" "$file"
			[[ "$stderr" == *"that --out writes"* ]]
		done
		refused table x "$option" soft.csv
		refused table x "$option" hard.csv
		refused table soft.csv "$option" x/observations.csv
	done
	refused run null-1 "${TINY[@]}" --out new --export-csv new/runs.csv
	refused compare x z --export-csv z/runs.csv
	refused scale x --export-csv x/runs.csv
	refused table x --export-csv y.csv --export-markdown ./y.csv
	refused measure null-1 "${TINY[@]}" --trace t --profile t \
		--save-weights t
	# Tables that a shell has begun.
	run -2 sh -c '"$0" table x --export-csv t >t' "$BENCH"
	# What loses nothing goes on.
	run -0 "$BENCH" table x --export-csv /dev/null --export-json /dev/null
	"$BENCH" table x -q --export-csv /dev/stdout >both
	grep -q '^bench/1,' both
	grep -q 'One iteration\|s/iter' both
	"$BENCH" scale x --export-csv x/scale.csv >/dev/null
	"$BENCH" table x --export-json - | python3 -m json.tool >/dev/null
}

@test "a file in /dev/shm is replaced and kept as any other" {
	local shm rows refused
	shm=$(mktemp -d -p /dev/shm 2>/dev/null) || skip "no /dev/shm"
	"$BENCH" run null-1 "${TINY[@]}" --out "$shm/x" >/dev/null
	for _ in 1 2; do
		"$BENCH" table "$shm/x" --export-csv "$shm/rows.csv" >/dev/null
	done
	rows=$(grep -c '^' "$shm/rows.csv")
	run --separate-stderr "$BENCH" table "$shm/x" \
		--export-csv "$shm/x/observations.csv"
	refused=$status
	rm -r "$shm"
	[ "$rows" = 2 ]
	[ "$refused" = 2 ]
}

@test "what a folder had before is named, and not printed again" {
	local option
	"$BENCH" run null-1 "${TINY[@]}" --label early --out made >/dev/null
	"$BENCH" run null-2 "${TINY[@]}" --out made >/dev/null
	for option in "" -q --details --export-markdown=- --export-csv=-; do
		# shellcheck disable=SC2086 # none is a word less
		run -0 --separate-stderr "$BENCH" run null-4 "${TINY[@]:0:10}" \
			--progress never $option --label late --out made
		[[ $output == *null-4* || $output == *"4 cores"* ]]
		[[ ${output//"- earlier campaigns"*/} != *early* ]]
		[[ $output != *null-[12]* ]]
		[ "$option" != --export-csv=- ] || [ "${#lines[@]}" = 2 ]
		case $option in
		-q | --export*) [[ $output != *"earlier campaigns"* ]] ;;
		*) [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"- earlier campaigns in this folder: early, 2"*"; $BENCH table made shows all"* ]] ;;
		esac
	done
	# As a shell takes it.
	"$BENCH" run null-1 "${TINY[@]}" --out "made of two" >/dev/null
	run -0 --separate-stderr "$BENCH" run null-2 "${TINY[@]:0:10}" \
		--progress never --out "made of two"
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"; $BENCH table 'made of two' shows all"* ]]
	# They are named as far as four go.
	[[ "$(tr -s ' \n' ' ' <<<"$("$BENCH" run null-1 "${TINY[@]:0:10}" --out made 2>/dev/null)")" == \
		*"early, "*", late, late and 3 more; "* ]]
	run -0 "$BENCH" table made
	[[ $output == *early* && $output == *late* ]]
	[ "$(grep -c '^late: ' <<<"$output")" = 5 ]
	grep -q early made/tables.md
}

@test "a label has the bytes of its column at most" {
	local most
	most=$(printf 'é%.0s' $(seq 31))x
	run -0 "$BENCH" run null-1 "${TINY[@]}" --label "$most" --out made
	[ "$(cell made/runs.csv 1 label)" = "$most" ]
	run -2 "$BENCH" run null-1 "${TINY[@]}" --label "${most}x" --out more
	[ "$output" = "bench: --label: 64 bytes, at most 63 are allowed; shorten\
 '${most}x'" ]
	[ ! -e more ]
	run -2 "$BENCH" measure null-1 "${TINY[@]}" --run-id "$most"
	[[ "$output" == *"--run-id: 63 bytes, at most 47 are allowed"* ]]
}

@test "a folder that cannot be written to names the way out" {
	cp "$BENCH" bench && chmod 755 bench
	mkdir closed
	chmod a+rx,a-w closed
	chmod a+rx .
	cd closed
	BENCH=../bench
	run -7 as_nobody "$BENCH" run null-1 -m tiny "${DATA[@]}" --epochs 1 -q
	[ "$output" = "bench: cannot write results: Permission denied; --out\
 DIR names another place" ]
	chmod u+w .
	mkdir -m 555 results
	run -7 as_nobody "$BENCH" run null-1 -m tiny "${DATA[@]}" --epochs 1 -q
	[[ "$output" == "bench: cannot make the folder results/"*": Permission\
 denied; --out DIR names another place" ]]
}
