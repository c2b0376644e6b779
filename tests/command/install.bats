#!/usr/bin/env bats
# make install and uninstall: what goes where, and that nothing else happens.

load command.sh

# The sources in a folder with a blank, and a built program for them.
setup() {
	command_setup
	TREE="$PWD/my sources"
	ROOT="$PWD/my root"
	mkdir -p "$TREE/build" programs
	cp -r "$TOP/Makefile" "$TOP/.ci" "$TOP/bench" "$TOP/backends" \
		"$TOP/models" "$TREE"
	cp "$BENCH" "$TREE/build/bench"
	# What must not be called says that it was.
	for name in apt-get sudo curl wget; do
		printf '#!/bin/sh\necho %s >>"%s/called"\nexit 1\n' "$name" \
			"$PWD" >"programs/$name"
		chmod +x "programs/$name"
	done
	PATH="$PWD/programs:$PATH"
	unset DEPS MAKEFLAGS MAKELEVEL SOURCE_DATE_EPOCH
}

# The program is taken as it is, however it was built.
make_it() {
	make -C "$TREE" --no-print-directory -o build/bench "$@"
}

files() {
	(cd "$ROOT" && find . -type f -printf '%m %P\n' | sort -k 2)
}

@test "what is installed where, and that it goes again" {
	make_it install DESTDIR="$ROOT"
	cat >expected <<-'END'
	755 usr/local/bin/bench
	644 usr/local/share/bash-completion/completions/bench
	644 usr/local/share/fish/vendor_completions.d/bench.fish
	644 usr/local/share/man/man1/bench.1
	644 usr/local/share/zsh/site-functions/_bench
	END
	[ ! -e "$TREE/build/plugins/mpi.so" ] ||
		sed -i '1a644 usr/local/lib/bench/mpi.so' expected
	diff expected <(files)
	[ ! -e called ]
	cd "$ROOT/usr/local/share"
	"$ROOT/usr/local/bin/bench" --version
	"$BENCH" help --generate man | cmp - man/man1/bench.1
	"$BENCH" help --generate bash | cmp - bash-completion/completions/bench
	"$BENCH" help --generate zsh | cmp - zsh/site-functions/_bench
	"$BENCH" help --generate fish | cmp - fish/vendor_completions.d/bench.fish
	# Files of other programs in these folders stay.
	touch man/man1/other.1 "$ROOT/usr/local/bin/other"
	make_it uninstall DESTDIR="$ROOT"
	printf '644 %s\n' usr/local/bin/other usr/local/share/man/man1/other.1 |
		diff - <(files)
}

@test "another PREFIX" {
	make_it install DESTDIR="$ROOT" PREFIX=/usr
	[ -f "$ROOT/usr/share/zsh/vendor-completions/_bench" ]
	make_it uninstall DESTDIR="$ROOT" PREFIX=/usr
	[ -z "$(files)" ]
	make_it install PREFIX="$ROOT/my home"
	[ "$(files | grep -vc lib/bench/mpi.so)" -eq 5 ]
	make_it uninstall PREFIX="$ROOT/my home"
	[ -z "$(files)" ]
	# Nothing is there: nothing goes wrong.
	make_it uninstall PREFIX="$ROOT/nowhere"
}

# small NAME: makes a tree whose tests only print the program that they run.
small() {
	mkdir -p "$1/bench" "$1/tests"
	cp -r "$TREE/Makefile" "$TREE/.ci" "$1"
	echo 'int main(void) { return 0; }' | tee "$1/bench/main.c" \
		>"$1/tests/supervise.c"
	# shellcheck disable=SC2016 # for the script
	printf '#!/bin/sh\necho "$BENCH" >told\n' >"$1/tests/run"
	chmod +x "$1/tests/run"
}

@test "make test in a folder with a blank" {
	small "my tree"
	make -C "my tree" test DEPS=no CFLAGS=-O1
	[ "$(cat "my tree/told")" = "$PWD/my tree/build/bench" ]
	small tree
	make -C tree test DEPS=no CFLAGS=-O1 BUILD="$PWD/elsewhere"
	[ "$(cat tree/told)" = "$PWD/elsewhere/bench" ]
}

# program NAME LINE ...: a script of that name is the first in PATH.
program() {
	local name=$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"programs/$name"
	chmod +x "programs/$name"
}

@test "make deps installs what is missing, and nothing else does" {
	# shellcheck disable=SC2016 # for the script
	program dpkg-query 'for name in "$@"; do' '	case $name in' \
		'	-* | *Status* | bats | libcsv-dev) ;;' \
		'	*) printf "installed:%s " "$name" ;;' '	esac' 'done'
	program apt-get "echo \"\$*\" >>'$PWD/called'"
	# shellcheck disable=SC2016 # for the script
	program sudo '"$@"'
	run -0 make_it deps DEPS=no
	[ -z "$output" ]
	[ ! -e called ]
	run -0 make_it deps
	[ "$output" = "bench: installing libcsv-dev bats" ]
	cat >expected <<-'END'
	update
	install -y --no-install-recommends libcsv-dev bats
	END
	diff expected called
	rm called
	# The lists may be old; what cannot be had is an error.
	program apt-get 'exit 1'
	run -2 make_it deps-gate
	[[ "$output" == *"installing libcsv-dev"*"old lists"* ]]
	program dpkg-query "printf 'installed:libcsv-dev '"
	"$TREE/.ci/packages" install libcsv-dev
	run -0 env PATH=/nowhere /bin/sh "$TREE/.ci/packages" install bats
	[ "$output" = "bench: no apt-get; wanted, by Debian's names: bats" ]
}

# packages KIND: of the Makefile's list of them.
packages() {
	make -C "$TREE" -pnq DEPS=no 2>/dev/null | sed -n "s/^PACKAGES_$1 := //p"
}

@test "MPI and what makes hosts are for tests alone" {
	run packages RUN
	[ "$output" = "pocl-opencl-icd dataset-fashion-mnist curl \
ca-certificates gnuplot-nox" ]
	run packages BUILD
	[[ "$output" == "gcc "* && "$output" != *mpi* ]]
	run packages TEST
	[[ "$output" == *" libopenmpi-dev openmpi-bin iproute2 util-linux"* ]]
}

@test "what a build lacks is one line, and is not installed" {
	program pkg-config 'test "$2" != nettle -a "$2" != zlib'
	run -2 make_it build/obj/needs
	[ "${lines[0]}" = "bench: missing: nettle-dev zlib1g-dev" ]
	[ "${lines[1]}" = "bench: install with 'make deps', or with: apt-get install nettle-dev zlib1g-dev" ]
	run -2 make_it build/obj/needs CC="gcc -nostdinc" PKG_CONFIG=true
	[ "${lines[0]}" = "bench: missing: libc6-dev libcsv-dev librandom123-dev" ]
	run -2 make_it build/obj/needs CC=nowhere PKG_CONFIG=nowhere
	[[ "${lines[0]}" == "bench: missing: gcc pkg-config libopenblas"* ]]
	[ ! -e called ]
	[ ! -e "$TREE/build/obj/needs" ]
	make_it build/obj/needs PKG_CONFIG=true
}

@test "make -f in another folder says what to do instead" {
	mkdir other
	cd other
	run -2 make -f ../my\ sources/Makefile
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"the sources are not in this folder: make -C FOLDER"* ]]
	[ -z "$(ls)" ]
}

@test "the man page's day is the commit's, and no clock's" {
	local object=build/obj/bench/record/machine.o
	day() {
		make -C "$TREE" "$@" CFLAGS=-O1 "$object" >&2 &&
			grep -aoE '(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}' \
				"$TREE/$object"
	}
	touch -d '1999-12-31 12:00 UTC' "$TREE/Makefile"
	[ "$(day)" = 1999-12-31 ]
	[ "$(day SOURCE_DATE_EPOCH=86400)" = 1970-01-02 ]
	cp "$TREE/$object" first.o
	rm -r "$TREE/build/obj"
	SOURCE_DATE_EPOCH=86400 day
	cmp first.o "$TREE/$object"
	command -v git >/dev/null || skip "git is not installed"
	cd "$TREE"
	git init -q
	git add Makefile
	GIT_COMMITTER_DATE='2001-02-03T04:05:06Z' git -c user.name=a \
		-c user.email=a@b commit -qm a
	[ "$(day)" = 2001-02-03 ]
}
