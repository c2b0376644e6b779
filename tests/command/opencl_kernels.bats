#!/usr/bin/env bats
# Every kernel of the OpenCL backend, as oclgrind sees it.

load command.sh

setup() {
	command_setup
	SOURCES=$TOP/backends/opencl/kernels
	LAUNCH=$(dirname "$BENCH")/tests/opencl_kernels
	[ -e "$LAUNCH" ] || skip "make test-programs builds $LAUNCH"
	command -v oclgrind >/dev/null || skip "oclgrind is not installed"
}

# none_is_forgotten FILE ...: the kernels of these are those launched. Some have
# a form for each class.
none_is_forgotten() {
	cat "$@" >all
	sed -En 's/^(__)?kernel .*void ([A-Za-z0-9_]+)\(.*/\2/p' all >there
	[ "$(wc -l <there)" -eq "$(grep -cE '^(__)?kernel\>' all)" ]
	[ "$(wc -l <there)" -gt 5 ]
	sort launched | diff <(sort -u there) -
}

# launch CLASS: oclgrind reports nothing, and its compiler warns of nothing.
# Optimized kernels have an instruction, freeze, that the check for uninitialized
# values of oclgrind 21.10 does not support. oclgrind exits with 0 whatever it
# finds.
launch() {
	oclgrind --data-races --uninitialized --log log \
		--build-options -cl-opt-disable "$LAUNCH" "$1" >launched 2>said
	head -n 60 log said
	[ ! -s log ]
	# The compiler prints a count for warnings that are not errors.
	[ ! -s said ]
}

@test "kernels have no races, and read and write what is theirs" {
	launch cpu
	none_is_forgotten "$SOURCES"/*.cl "$SOURCES"/cpu_class/*.cl
}

@test "work-groups whose items wait for one another have none either" {
	launch gpu
	grep -vxE 'gather|score|loss|adadelta' launched >own
	mv own launched
	none_is_forgotten "$SOURCES"/gpu_class/*.cl "$SOURCES"/generic*.cl
}
