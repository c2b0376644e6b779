#!/usr/bin/env bats
# Transports in shared objects: found, opened by who measures, or refused.

load command.sh

setup() {
	command_setup
	command -v cc >/dev/null || skip "no compiler for plug-ins"
	# Nothing of the user's is found.
	export HOME=$PWD
}

# plugin NAME: NAME.so, of the C on standard input.
plugin() {
	cat >"$1.c"
	cc -std=c11 -shared -fPIC -I"$TOP" -o "$1.so" "$1.c"
}

# One core, which says on standard error when it is called.
solo() {
	plugin "${1:-solo}" <<-END
	#include <stdio.h>
	#include "backends/parallel/plugin.h"
	static int solo_launch(const struct transport *transport, int size,
			       const struct group_job *job, struct error *err)
	{
		struct group group = { .transport = transport, .size = size };
		fprintf(stderr, "launch\n");
		return job->body(&group, job->context, err);
	}
	static int solo_gather(struct group *group, const void *mine,
			       size_t bytes, void *all, struct error *err)
	{
		const char *from = mine;
		for (size_t i = 0; i < bytes; i++)
			((char *)all)[i] = from[i];
		return 0;
	}
	static int solo_offer(struct group *group, float *values,
			      struct error *err)
	{
		return 0;
	}
	static int solo_exchange(struct group *group, struct error *err)
	{
		return 0;
	}
	static int solo_join(int size, struct error *err)
	{
		fprintf(stderr, "join %d\n", size);
		return size == 1 ? 0 : error_set(err, ERROR_USAGE, "no room");
	}
	static void solo_leave(const struct error *failure)
	{
		fprintf(stderr, "leave%s%s\n", failure ? ": " : "",
			failure ? failure->message : "");
	}
	static const struct transport solo = {
		.name = "solo",
		.summary = "one core",
		.max_size = 1,
		.launch = solo_launch,
		.join = solo_join,
		.leave = solo_leave,
		.gather = solo_gather,
		.offer = solo_offer,
		.reduce_scatter = solo_exchange,
		.all_gather = solo_exchange,
	};
	const struct plugin bench_plugin = { PLUGIN_VERSION, &solo };
	END
}

# refused NAME TEXT: its run fails with the file's name and TEXT, and the other
# target's does not.
refused() {
	run -4 --separate-stderr "$BENCH" run "cpu-1@$1" cpu-1 "${TINY[@]}" \
		--plugin "$1.so" --out made
	[[ "$stderr" == *"plug-in $PWD/$1.so"*"$2"* ]]
	[ "$(column made/runs.csv target)" = "cpu-1@$1 cpu-1" ]
	[ "$(column made/runs.csv status)" = "error ok" ]
	[[ "$(cell made/runs.csv 1 reason)" == *"$1.so"*"$2"* ]]
	rm -r made
}

@test "a transport of a plug-in trains as a built-in one" {
	solo
	run -0 "$BENCH" run cpu-1@solo cpu-1 "${TINY[@]}" --plugin solo.so \
		--out made
	[ "$(column made/runs.csv transport)" = "solo self" ]
	[ "$(column made/runs.csv status)" = "ok ok" ]
	[ "$(cell made/runs.csv 1 parameters_hash)" = \
		"$(cell made/runs.csv 2 parameters_hash)" ]
}

@test "a core joins before the launch and leaves at the end" {
	solo
	run -0 --separate-stderr "$BENCH" measure cpu-1@solo "${TINY[@]}" \
		--plugin solo.so
	[ "$stderr" = $'join 1\nlaunch\nleave' ]
	# A failure before the launch is printed, and passed to leave.
	run -4 --separate-stderr "$BENCH" measure cpu-1@solo -m tiny -q \
		-d mnist --data-dir /nowhere --plugin solo.so
	[[ "$stderr" == $'join 1\nbench: '*/nowhere*$'\nleave: '*/nowhere* ]]
	# Who could not join has nobody to leave.
	run -2 --separate-stderr "$BENCH" measure cpu-2@solo "${TINY[@]}" \
		--plugin solo.so
	[ "$stderr" = $'join 2\nbench: no room' ]
}

@test "a transport of a plug-in is verified as a target of its own" {
	solo
	run -0 --separate-stderr "$BENCH" verify cpu-1@solo --model tiny \
		"${DATA[@]}" --steps 2 --plugin solo.so
	[ "$stderr" = $'join 1\nlaunch\nleave' ]
	[[ "$output" == *"cpu-1@solo: masks equal on 1 core by solo; replicas equal"* ]]
}

@test "plug-ins are found beside the program and at the user's" {
	local folder
	solo
	mkdir -p bin
	cp "$BENCH" bin/bench
	for folder in bin/plugins lib/bench .local/lib/bench; do
		run -2 bin/bench measure cpu-1@solo "${TINY[@]}"
		[[ "$output" == *"unknown transport 'solo'"* ]]
		mkdir -p "$folder"
		mv solo.so "$folder"
		run -0 bin/bench measure cpu-1@solo "${TINY[@]}"
		mv "$folder/solo.so" .
	done
	run -4 bin/bench measure cpu-1@solo "${TINY[@]}" --plugin none.so
	[ "$output" = "bench: --plugin none.so: No such file or directory" ]
	run -2 bin/bench measure cpu-1@solo "${TINY[@]}" --plugin solo.c
	[[ "$output" == *"--plugin solo.c: a plug-in is called NAME.so"* ]]
}

@test "a bad plug-in costs its own run" {
	plugin empty <<<'int nothing;'
	refused empty "has no symbol bench_plugin"
	plugin old <<<'struct { int version; void *transport; } bench_plugin = { 7, 0 };'
	refused old "has version 7, but this bench needs version 2; build it again"
	solo other
	refused other "has no transport 'other'"
	plugin crash <<-"END"
	__attribute__((constructor)) static void crash(void)
	{
		*(volatile int *)0 = 1;
	}
	END
	refused crash "was ended by signal 11"
	plugin leaves <<-"END"
	#include <stdlib.h>
	__attribute__((constructor)) static void leave(void)
	{
		_Exit(0);
	}
	END
	refused leaves "ended with exit code 0 before its work was done"
	echo garbage >broken.so
	refused broken "cannot be loaded: "
	plugin needs <<<'int nowhere(void); int needs(void) { return nowhere(); }'
	refused needs "undefined symbol: nowhere"
}
