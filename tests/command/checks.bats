#!/usr/bin/env bats
# The checks of .ci/ find what is planted, name its line, and accept the rest.

bats_require_minimum_version 1.5.0

setup() {
	TREE=$BATS_TEST_TMPDIR/tree
	mkdir -p "$TREE"/.ci "$TREE"/models "$TREE"/bench "$TREE"/tests \
		"$TREE"/backends/cpu/kernels "$TREE"/backends/opencl
	cp "$BATS_TEST_DIRNAME"/../../.ci/check-* "$TREE/.ci/"
}

# plant PATH LINE ... writes a file of these lines.
plant() {
	local path=$TREE/$1
	mkdir -p "${path%/*}"
	shift
	printf '%s\n' "$@" >"$path"
}

# refuses CHECK PATH:LINE WORDS: the one violation is on that line.
refuses() {
	run -1 "$TREE/.ci/$1" text
	echo "$output"
	[ "${#lines[@]}" -eq 1 ]
	[[ "${lines[0]}" == "$2"*"$3"* ]]
}

accepts() {
	run -0 "$TREE/.ci/$1" text
	[ "$output" = "$1: no violation" ]
}

# refuses_include FROM HEADER, accepts_include FROM HEADER
refuses_include() {
	plant "$1" '' "#include $2"
	refuses check-layers "$1:2:" "${2:1:-1}"
	rm "$TREE/$1"
}

accepts_include() {
	plant "$1" "#include $2"
	accepts check-layers
	rm "$TREE/$1"
}

# refuses_line FROM LINE WORDS, and accepts_line FROM LINE.
refuses_line() {
	plant "$1" '' '' "$2"
	refuses check-layers "$1:3:" "$3"
	rm "$TREE/$1"
}

accepts_line() {
	plant "$1" "$2"
	accepts check-layers
	rm "$TREE/$1"
}

@test "layers: the tree as it is" {
	run -0 "$BATS_TEST_DIRNAME/../../.ci/check-layers"
}

@test "layers: who may include whom" {
	refuses_include models/a.c '"bench/system/clock.h"'
	refuses_include models/a.h '"backends/contract/error.h"'
	refuses_include backends/a.c '"bench/system/clock.h"'
	refuses_include backends/contract/a.c '"backends/cpu/cpu.h"'
	refuses_include backends/contract/a.c '"backends/host/blas.h"'
	refuses_include backends/cpu/a.c '"backends/parallel/replica.h"'
	refuses_include backends/cpu/a.c '"backends/opencl/opencl.h"'
	refuses_include backends/cpu/a.c '"kernels/files.h"'
	refuses_include backends/cpu/kernels/a.c '"bench/system/clock.h"'
	refuses_include backends/opencl/a.c '"backends/cpu/kernels/a.h"'
	refuses_include bench/plan/a.c '"backends/contract/plan.h"'
	refuses_include bench/plan/a.c '"backends/cpu/cpu.h"'
	refuses_include bench/plan/a.c '"tests/unit/rows.h"'
	accepts_include models/a.c '"models/model.h"'
	accepts_include backends/contract/a.c '"models/model.h"'
	accepts_include backends/cpu/a.c '"backends/contract/plan.h"'
	accepts_include backends/cpu/a.c '"backends/cpu/kernels/a.h"'
	accepts_include backends/cpu/solvers/a.c '"backends/cpu/cpu.h"'
	accepts_include backends/opencl/a.c '"kernels/files.h"'
	accepts_include bench/plan/a.c '"backends/parallel/replica.h"'
	accepts_include tests/a.c '"backends/cpu/cpu.h"'
}

@test "layers: rooms of bench/ include in one direction" {
	refuses_include bench/system/a.c '"bench/record/csv.h"'
	refuses_include bench/record/a.h '"bench/report/table.h"'
	refuses_include bench/record/a.c '"backends/parallel/replica.h"'
	refuses_include bench/report/a.c '"bench/plan/slowdown.h"'
	refuses_include bench/verify/a.c '"bench/gate/check.h"'
	refuses_include bench/gate/a.c '"bench/commands/commands.h"'
	refuses_include bench/gate/a.c '"plot/style.gp.h"'
	refuses_include bench/commands/a.c '"bench/a.h"'
	accepts_include bench/system/a.c '"backends/contract/error.h"'
	accepts_include bench/gate/a.c '"bench/launch/child.h"'
	accepts_include bench/commands/a.c '"commands/bench.1.in.h"'
	accepts_include bench/report/a.c '"plot/style.gp.h"'
	accepts_include bench/main.c '"bench/commands/commands.h"'
}

@test "layers: all of bench/ is in rooms, which have an order" {
	plant bench/attic/a.c '#include "bench/system/text.h"'
	refuses check-layers bench/attic/a.c:1: 'no room'
	rm "$TREE/bench/attic/a.c"
	plant bench/a.c '#include "bench/system/text.h"'
	refuses check-layers bench/a.c:1: 'no room'
	rm "$TREE/bench/a.c"
	accepts check-layers
	sed -i 's/^room record .*/& report/' "$TREE/.ci/check-layers"
	refuses check-layers .ci/check-layers: 'room record: report'
	cp "$BATS_TEST_DIRNAME/../../.ci/check-layers" "$TREE/.ci/"
	sed -i 's/^room door .*/&\nroom record report/' "$TREE/.ci/check-layers"
	refuses check-layers .ci/check-layers: 'room record: has a line'
}

@test "layers: folders of a backend include in one direction" {
	refuses_include backends/cpu/kernels/igemm/a.c '"backends/cpu/cpu.h"'
	refuses_include backends/cpu/a.c '"backends/cpu/solvers/a.h"'
	refuses_include backends/opencl/device/a.h \
		'"backends/opencl/program/a.h"'
	refuses_include backends/opencl/solvers/cpu_class/a.c \
		'"backends/opencl/solvers/gpu_class/a.h"'
	refuses_include backends/opencl/solvers/a.c \
		'"backends/opencl/solvers/gpu_class/a.h"'
	refuses_include backends/opencl/program/a.c '"backends/opencl/a.h"'
	refuses_include backends/cpu/attic/a.c '"backends/cpu/a.h"'
	refuses_include backends/cpu/solvers/a.c '"backends/cpu/attic/a.h"'
	accepts_include backends/cpu/kernels/igemm/a.c \
		'"backends/cpu/kernels/simd/a.h"'
	accepts_include backends/opencl/a.c \
		'"backends/opencl/solvers/gpu_class/a.h"'
	accepts_include backends/parallel/a.c '"backends/parallel/b/a.h"'
}

@test "layers: files do not include each other, by whatever names" {
	plant bench/plan/a.h '#include "bench/plan/b.h"'
	plant bench/plan/b.c '#include "bench/plan/b.h"' \
		'#include "bench/plan/c.h"'
	plant bench/plan/c.h '#include "bench/system/text.h"'
	plant bench/plan/d.h '#include "bench/plan/a.h"'
	accepts check-layers
	plant bench/plan/c.c '' '' '#include "bench/plan/a.h"'
	run -1 "$TREE/.ci/check-layers"
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" =~ ^bench/plan/[abc].[ch]:[123]:\ a\ circle\ of\ includes:\  ]]
	for name in a b c; do
		[[ "$output" == *"bench/plan/$name"* ]]
	done
	[[ "$output" != *bench/plan/d* ]]
	rm -r "$TREE/bench/plan"
	plant models/a.h '#include "models/a.h"'
	refuses check-layers models/a.h:1: circle
	rm "$TREE/models/a.h"
	plant backends/cpu/solvers/a.c '#include "backends/cpu/solvers/b.h"'
	plant backends/cpu/solvers/b.c '#include "backends/cpu/solvers/a.h"'
	refuses check-layers backends/cpu/solvers/ 'a circle of includes: '
}

@test "layers: a name of a struct has one meaning" {
	plant backends/cpu/a.c 'struct place {' '	int x;' '};'
	plant backends/cpu/b.c 'struct place place;' 'struct places {' '};' \
		'/* struct place { */'
	plant tests/a.c 'struct place {' '};'
	accepts check-layers
	plant backends/cpu/c.h '' '	static const struct place {' '	};'
	refuses check-layers backends/cpu/c.h:2: \
		'struct place is defined in backends/cpu/a.c, too'
	plant backends/cpu/c.h 'enum place {'
	accepts check-layers
	plant models/a.c 'enum place {'
	refuses check-layers models/a.c:1: \
		'enum place is defined in backends/cpu/c.h, too'
	rm "$TREE/models/a.c"
	plant bench/plan/a.h '	struct place {' '	} here;'
	refuses check-layers bench/plan/a.h:1: \
		'struct place is defined in backends/cpu/a.c, too'
}

@test "layers: a path starts at the root" {
	refuses_include bench/system/a.c '"clock.h"'
	refuses_include backends/cpu/a.c '"../plan.h"'
}

@test "layers: a library has one home" {
	refuses_include bench/a.c '<zlib.h>'
	refuses_include bench/record/csv_file.c '<csv.h>'
	refuses_include backends/cpu/a.c '<cblas.h>'
	refuses_include backends/cpu/a.c '<CL/cl.h>'
	refuses_include backends/a.c '<pthread.h>'
	refuses_include models/model.c '<Random123/threefry.h>'
	refuses_include bench/a.c '<time.h>'
	refuses_include models/a.c '<unistd.h>'
	refuses_include bench/a.c '<nobody/knows.h>'
	accepts_include bench/data/idx.c '<zlib.h>'
	accepts_include bench/record/csv.c '<csv.h>'
	accepts_include backends/opencl/a.c '<CL/cl_ext.h>'
	accepts_include models/random.c '<Random123/philox.h>'
	accepts_include bench/system/clock.c '<time.h>'
	accepts_include tests/a.c '<time.h>'
}

@test "layers: an effect has one home" {
	refuses_line bench/a.c '	clock_gettime(clock, &now);' \
		bench/system/clock.c
	refuses_line models/a.c '	x = time(NULL);' bench/system/clock.c
	refuses_line bench/a.c '	fprintf(stdout, "x");' bench/main.c
	refuses_line bench/a.c '	printf ("x");' nowhere
	refuses_line backends/a.c '	if (x) abort();' nowhere
	refuses_line backends/a.c '	exit(1);' bench/main.c
	refuses_line bench/a.c '	posix_spawnp(&pid);' \
		bench/system/process.c
	refuses_line bench/train/core.c '	kill(pid, 9);' \
		bench/launch/child.c
	refuses_line bench/a.c '	sigaction(2, &a, 0);' \
		bench/system/interrupt.c
	refuses_line bench/a.c '	setenv("A", "b", 1);' \
		bench/system/process.c
	refuses_line models/a.c '	n = rand();' nowhere
	accepts_line bench/system/clock.c '	clock_gettime(clock, &now);'
	accepts_line bench/main.c '	fprintf(stdout, "x");'
	accepts_line tests/a.c '	printf("x");'
}

@test "layers: names, comments and strings are no calls" {
	accepts_line bench/a.c '	x = run->time(1) + run.exit(2);'
	accepts_line bench/a.c '/* Not by exit(1) nor printf() to stdout. */'
	accepts_line bench/a.c '	puts_it("exit(1) and \" system(2)");'
	accepts_line bench/a.c '	x = '"'\"'"'; // abort();'
	accepts_line bench/a.c '	const double time = my_exit(0);'
	plant bench/a.c '/*' ' * exit(1);' ' */ exit(1);'
	refuses check-layers bench/a.c:3: exit
}

@test "layers: functions that nobody calls" {
	refuses_line tests/a.c '	strcpy(a, b);' banned
	refuses_line bench/a.c '	n = atoi(text);' banned
	refuses_line bench/a.c '	sprintf(a, "x");' banned
	refuses_line backends/cpu/a.c '	system("x");' banned
	refuses_line bench/a.c '	for (t = strtok(a, ","); t;)' banned
	accepts_line bench/a.c '	snprintf(a, sizeof(a), "x");'
}

@test "layers: a test that runs does not skip itself" {
	refuses_line tests/unit/test_a.c '	skip();' tests/kernels/skipping.h
	accepts_line tests/kernels/skipping.h '	skip();'
}

@test "layers: no variable outlives a call" {
	refuses_line bench/a.c 'static int count;' const
	refuses_line bench/a.c '	static char text[8];' const
	refuses_line bench/a.c \
		'extern const struct backend cpu_backend;' registry
	accepts_line bench/a.c 'static const int counts[] = { 1 };'
	accepts_line bench/a.c 'static int count(int a);'
	accepts_line bench/system/interrupt.c 'static volatile int received;'
}

@test "layers: no flag that reorders sums" {
	plant Makefile '' 'CFLAGS := -O3 -ffast''-math'
	refuses check-layers Makefile:2: reorders
	rm "$TREE/Makefile"
	plant backends/opencl/a.c '	f("-cl-fast-relaxed''-math");'
	refuses check-layers backends/opencl/a.c:1: reorders
}

# make_function LINES FILE_LINES: prints a function of that length, in a file of
# that length.
make_function() {
	echo 'int f(void)'
	echo '{'
	yes '	f();' | head -n "$1"
	echo '}'
	yes '' | head -n "$2"
}

@test "style: lengths of functions and files" {
	make_function 40 357 >"$TREE/bench/a.c"
	accepts check-style
	make_function 60 337 >"$TREE/bench/a.c"
	run -0 "$TREE/.ci/check-style" text
	[[ "${lines[0]}" == "bench/a.c:2: note: f() has 60 lines" ]]
	make_function 61 0 >"$TREE/bench/a.c"
	refuses check-style bench/a.c:2: 'f() has 61 lines'
	make_function 1 597 >"$TREE/bench/a.c"
	run -0 "$TREE/.ci/check-style" text
	[[ "${lines[0]}" == "bench/a.c:601: note: 601 lines" ]]
	make_function 1 997 >"$TREE/bench/a.c"
	refuses check-style bench/a.c:1001: '1001 lines'
	rm "$TREE/bench/a.c"
	yes '# x' | head -n 1001 >"$TREE/tests/a.bats"
	refuses check-style tests/a.bats:1001: '1001 lines'
}

@test "style: columns, tabs being 8 and letters 1" {
	plant bench/a.c "$(printf '\t\t/*%60s*/' x)"
	accepts check-style
	plant bench/a.c "$(printf '\t\t/*%61s*/' x)"
	refuses check-style bench/a.c:1: '81 columns'
	plant bench/a.c "$(printf '/*%75s±*/' x)"
	accepts check-style
}

@test "style: blanks" {
	plant bench/a.c 'int a; '
	refuses check-style bench/a.c:1: blanks
	plant bench/a.c 'int a;' '        int b;'
	refuses check-style bench/a.c:2: tabs
	plant bench/a.c $'int a;\r'
	run -1 "$TREE/.ci/check-style" text
	[[ "$output" == *'bench/a.c:1: carriage return'* ]]
	printf 'int a;' >"$TREE/bench/a.c"
	refuses check-style bench/a.c: 'no end'
}

@test "style: comments and words" {
	plant bench/a.c '// a'
	refuses check-style bench/a.c:1: comment
	plant bench/a.c '/* TO''DO: this */'
	refuses check-style bench/a.c:1: this
	plant bench/a.c '/* see /wo''rk/x */'
	refuses check-style bench/a.c:1: see
	plant bench/a.c 'int TO''DOS; /* my/wo''rk/x, http://a.b/ */'
	accepts check-style
}

@test "style: includes are in order" {
	plant bench/b.c '#include "bench/b.h"' '#include "bench/a.h"' \
		'#include "bench/c.h"'
	accepts check-style
	plant bench/b.c '#include "bench/d.h"' '#include "bench/c.h"'
	refuses check-style bench/b.c:2: 'comes before'
}

@test "style: the own header comes first" {
	plant bench/a.h 'int a;'
	plant bench/a.c '#include <stdio.h>' '#include "bench/a.h"'
	refuses check-style bench/a.c:1: 'bench/a.h comes first'
	plant bench/a.c '#include "bench/a.h"' '' '#include <stdio.h>'
	accepts check-style
}

@test "style: each header compiles alone" {
	cp "$BATS_TEST_DIRNAME/../../Makefile" "$TREE/"
	cp "$BATS_TEST_DIRNAME"/../../.ci/{*.mk,packages} "$TREE/.ci/"
	cd "$TREE"
	plant bench/main.c 'int a;' # without it, the Makefile knows no sources
	plant bench/plan/a.h 'int a(int);'
	make check-headers
	plant bench/plan/a.h 'size_t a(int);'
	run -2 make check-headers
	[[ "$output" == *bench/plan/a.h:1* ]]
}

@test "messages: literals are joined, with their first line" {
	command -v python3 >/dev/null || skip "python3 is not installed"
	plant bench/a.c '/* "not this one" */' 'f(err, "one of %d "' \
		'  "and two: %" PRId64 " in all", "w");' 'c = '"'\"'"';' \
		'g("see %s\n");'
	run -0 "$BATS_TEST_DIRNAME/../tools/messages" "$TREE/bench/a.c"
	[ "$output" = "$TREE/bench/a.c:2: one of %d and two: % in all" ]
}

# finds FILE LINE WORDS LINE ...: FILE of these lines has one finding.
finds() {
	local file=$1 line=$2 words=$3
	shift 3
	plant "$file" "$@"
	: >"$TREE/.ci/language-unread"
	run -1 "$TREE/.ci/check-language" "$file"
	echo "$output"
	[ "${#lines[@]}" -eq 1 ]
	[[ "${lines[0]}" == "$file:$line: "*"$words"* ]]
}

@test "language: the tree as it is" {
	run -0 "$BATS_TEST_DIRNAME/../../.ci/check-language"
}

@test "language: words, beginnings and long sentences" {
	local long='one two three four five six seven eight nine ten eleven'
	long="$long twelve $long and one, two"
	finds README.md 3 "'behind'" '# A title' '' 'A note is behind it.'
	finds README.md 1 "begins with 'Of'" 'Of two runs one is kept.'
	finds README.md 3 '26 words' '# A title' '' "$long."
	finds NEWS 1 "'told'" '* A user is told.'
	finds bench/commands/bench.1.in 3 "'so many'" .TP .B out 'so many runs'
	finds bench/a.h 2 "'wants'" '/*' ' * A device wants memory.' ' */'
	finds bench/a.h 1 "begins with 'Whether'" '/* Whether it runs. */'
	finds bench/a.h 1 '26 words' "/* $long. */"
	finds bench/a.c 1 "'likewise'" 'f("no driver is here, "' \
		'  "and none likewise");'
	finds bench/a.c 1 "'behind'" 'f("a row of %" PRIu64 " is behind");'
	finds bench/a.c 1 "'behind'" '// A row is behind.'
	finds bench/a.c 1 '26 words' "f(\"$long\");"
	finds backends/a.cl 1 "'those of'" '/* Weights, those of a row. */'
	finds tests/a.bats 1 "'has it'" '# A table has it.'
}

@test "language: each word and each beginning" {
	local word at=0
	local words=(behind besides beside likewise 'of which' 'so many'
		'such one' 'such ones' 'that of' 'those of' 'those that'
		'those who' 'those which' 'has it' 'have it' 'had it' 'it is so'
		'does so' 'do so' tell tells told want wants wanted know knows
		knew 'let go' 'lets go' 'give away' 'gives away' 'give up' bear
		bears 'take part' 'takes part' 'put out' 'puts out' 'the same')
	local beginnings=(Of What Where Whether Those So)
	plant README.md "${words[@]/%/, not}" "${beginnings[@]}" 'That of' \
		Besides
	sed -i 's/.*/- & a row/' "$TREE/README.md"
	: >"$TREE/.ci/language-unread"
	run -1 "$TREE/.ci/check-language" README.md
	for word in "${words[@]}" "${beginnings[@]}" 'That of' That \
		Besides Besides; do
		echo "${lines[at]}"
		[[ "${lines[at++]}" == *"'$word'"* ]]
	done
	[ "${#lines[@]}" -eq "$at" ]
}

@test "language: what is no prose" {
	local file
	local most='one two three four five six seven eight nine ten eleven'
	most="$most twelve $most and one"
	plant README.md "## What is measured, $most $most" 'Where is a row?' \
		'```' 'so many' '```' 'The option `besides` is one.' "$most." \
		'[A page](told/told.md) is there.' '' '    so many' '' \
		"| $most | $most |"
	plant bench/commands/bench.1.in ".SH $most" "$most" .TP "$most" \
		'.\" Of rows that are told'
	plant bench/a.h '/* Rows of a table.' ' *' ' *     of which those that' \
		' */' 'int told;'
	plant bench/a.c 'f("told", wants);' "g('\"'); /* Of rows. */"
	: >"$TREE/.ci/language-unread"
	for file in README.md bench/commands/bench.1.in bench/a.h bench/a.c; do
		run -0 "$TREE/.ci/check-language" "$file"
		[ -z "$output" ]
	done
}

@test "language: a clean file leaves the list" {
	plant README.md 'A note is behind it.'
	plant NEWS 'Clean.'
	plant .ci/language-unread README.md NEWS
	git -C "$TREE" init -q
	rm "$TREE"/.ci/check-layers "$TREE"/.ci/check-style
	run -1 "$TREE/.ci/check-language"
	[ "${lines[0]}" = '.ci/language-unread: NEWS is clean: take it off' ]
	run -0 "$TREE/.ci/check-language" --update
	[ "$output" = 'check-language: 0 findings, 1 files unread' ]
	[ "$(cat "$TREE/.ci/language-unread")" = README.md ]
}
