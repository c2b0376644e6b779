#!/usr/bin/env bats
# The recipes of models/README.md and backends/README.md, followed in a copy.

load command.sh

# A tree of one's own; what is compiled already is taken as it is.
setup() {
	command_setup
	BUILT=$(dirname "$BENCH")
	[ -d "$BUILT/obj/models" ] || skip "no objects beside $BENCH"
	mkdir -p tree/build
	cd tree || return
	cp -a "$TOP"/{.ci,Makefile,models,backends,bench,plot} .
	cp -a "$BUILT"/{obj,kernels,commands,report,plot} build/
	rm -rf build/obj/tests
	unset MAKEFLAGS MAKELEVEL
}

build() {
	.ci/check-layers
	make -o build/obj/flags -o build/obj/identity WERROR=1
	BENCH=$PWD/build/bench
}

# after FILE LINE NEW: adds a line after the last one that equals LINE.
after() {
	grep -qxF "$2" "$1"
	awk -v line="$2" -v new="$3" '{ print } $0 == line { print new }' \
		"$1" >new
	mv new "$1"
}

@test "a model is a table and two lines" {
	sed 's/tiny/small/g; s/outputs = 3/outputs = 4/' models/tiny.c \
		>models/small.c
	after models/registry.c 'extern const struct model tiny_model;' \
		'extern const struct model small_model;'
	after models/registry.c '	&tiny_model,' '	&small_model,'
	build
	run -0 "$BENCH" measure cpu-1 -m small --steps 1 "${DATA[@]}" -q
	[[ "$output" == *,step,1,1,* ]]
	run -0 "$BENCH" verify -m small --steps 2 "${DATA[@]}" cpu openblas
	[ "${lines[-1]}" = "verify: all right" ]
	# A row that does not fit is named with its numbers.
	sed -i 's/window = 3/window = 30/' models/small.c
	build
	run -2 "$BENCH" measure cpu-1 -m small --steps 1 "${DATA[@]}" -q
	[[ "$output" == *"model 'small', layer 0 (conv 'conv1'): a window of 30x30"* ]]
}

@test "a backend is a folder and two lines" {
	mkdir backends/mine
	sed 's/null/mine/g' backends/null/null.c >backends/mine/mine.c
	after backends/contract/registry.c \
		'extern const struct backend null_backend;' \
		'extern const struct backend mine_backend;'
	after backends/contract/registry.c \
		'	&reference_backend, &null_backend,' '	&mine_backend,'
	build
	run -0 "$BENCH" measure mine-2 -m tiny --steps 1 "${DATA[@]}" -q
	[[ "$output" == *,mine-2,* ]]
	# Which slot is missing for the next step.
	run -4 "$BENCH" verify mine -m tiny --steps 1 "${DATA[@]}"
	[[ "$output" == *"mine: it lacks the slot 'decisions'"* ]]
}
