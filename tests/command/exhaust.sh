# For .bats files: the command, with each of its calls failing in turn.
# shellcheck shell=bash disable=SC2034 # others use what is set here

# Needs $CALLS, the library that lets calls fail, from the build.
# Data and runs become as small as they can be, since there are many.
setup() {
	command_setup
	CALLS=$(dirname "$BENCH")/tests/fail_calls.so
	[ -e "$CALLS" ] || skip "no $CALLS: make test-programs"
	CALLS=$(realpath -s "$CALLS")
	# Otherwise a process may replace itself by one that counts anew.
	export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-Haswell}
	export TMPDIR="$PWD/scratch"
	mkdir "$TMPDIR"
	DATA=(--dataset synthetic --synthetic-train 40 --synthetic-test 20)
	TINY=(--model tiny "${DATA[@]}" --warmup 1 --epochs 1 -q)
}

# Every how many positions are tried, so that some minutes become seconds.
every() {
	if [ -n "${CHECK_FULL:-}" ]; then echo 1; else echo "$1"; fi
}

# fail_at N VARIABLE=VALUE ... -- ARGUMENT ...: the N-th call fails. The exit
# status is $code, what it says is in the files out and err; where, if it is
# there, says which call it was.
fail_at() {
	local n=$1 variables=()
	shift
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	rm -f where
	code=0
	env "${variables[@]}" FAIL_AT="$n" \
		FAIL_REPORT="$PWD/where" LD_PRELOAD="$CALLS" \
		"$BENCH" "$@" >out 2>err 3>&- || code=$?
}

# For a test that has nothing to do before or after.
nothing() {
	:
}

complain() {
	echo "call $N ($(cat where 2>/dev/null)), exit $code: $*"
	cat err
	return 1
}

# One message says what was lacking, and nothing is left. Starts no processes,
# since it is called a thousand times.
ended_cleanly() {
	local line messages=0 says='' left
	while IFS= read -r line; do
		[[ $line != "bench: "* ]] || messages=$((messages + 1))
		[[ ! $line =~ ^"bench: ".*($1) ]] || says=1
	done <err
	case $code in
	0) [ ! -s err ] || complain "a message, and no failure" ;;
	6 | 7)
		[ "$messages" -eq 1 ] || complain "one message expected"
		[ -n "$says" ] || complain "not said why"
		;;
	*) complain "6 expected" ;;
	esac
	shopt -s nullglob globstar
	left=("$TMPDIR"/* "$TMPDIR"/.[!.]*)
	[ "${#left[@]}" -eq 0 ] || complain "left: ${left[*]}"
	left=(./**/.*.tmp.*)
	shopt -u nullglob globstar
	[ "${#left[@]}" -eq 0 ] || complain "a draft was left: ${left[*]}"
}

# exhaust KIND STEP BEFORE AFTER [VARIABLE=VALUE ...] -- ARGUMENT ...: with the
# first call of KIND failing, the call STEP later, and so on to the last. With
# STEP 1 each fails alone, and together with all that follow; with others these
# two take turns. BEFORE is called first, AFTER when the process has ended.
exhaust() {
	local kind=$1 step=$2 before=$3 after=$4 sticky more=() stride tried
	local why='[Mm]emory|thread'
	shift 4
	while [ "$1" != -- ]; do
		more+=("$1")
		shift
	done
	shift
	[ "$kind" = memory ] ||
		why='thread|cannot be started|could be started|no pipe'
	stride=$((step == 1 ? 1 : 2 * step))
	for sticky in 0 1; do
		N=$((sticky ? 1 : 1 + stride - step)) tried=0
		while :; do
			"$before"
			if [ "$sticky" = 1 ]; then
				fail_at "$N" "${more[@]}" FAIL_KIND="$kind" \
					FAIL_STICKY=1 -- "$@"
			else
				fail_at "$N" "${more[@]}" FAIL_KIND="$kind" \
					-- "$@"
			fi
			[ -e where ] || break
			ended_cleanly "$why"
			"$after"
			N=$((N + stride)) tried=$((tried + 1))
		done
		[ "$code" -eq 0 ] || complain "nothing fails, and yet"
		[ "$tried" -gt 0 ] || complain "nothing was counted"
	done
}
