#!/usr/bin/env bats
# The man page and the completions of shells have all options and verbs of the
# help, and a completed word is the word that was meant.

load command.sh

setup() {
	command_setup
	mkdir zsh
	"$BENCH" help --generate man >bench.1
	"$BENCH" help --generate bash >bash
	"$BENCH" help --generate zsh >zsh/_bench
	"$BENCH" help --generate fish >fish
	# Shells ask the command.
	mkdir bin
	ln -s "$BENCH" bin/bench
	PATH=$PWD/bin:$PATH
	mkdir 'here/my folder' -p
	touch here/rows.csv 'here/my folder/more.csv'
	cd here || return 1
}

needs() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

verbs() {
	"$BENCH" --help | awk '/^Examples/ { exit } /^  bench / { print $2 }'
}

# options VERB: the long ones of its help, sorted.
options() {
	"$BENCH" "$1" --help | sed -n 's/^ *\(-., \)\?\(--[a-z-]*\).*/\2/p' |
		sort
}

# values VERB OPTION: what its help gives to choose from, sorted.
values() {
	"$BENCH" "$1" --help | awk -v option="$2" '
		$0 ~ "^ .*" option " " { found = 1; text = $0; next }
		found && (/^ *(-., )?--/ || !NF) { exit }
		found { text = text $0 }
		END { sub(/.*: /, "", text); sub(/ *\([^()]*\)$/, "", text)
			gsub(/[, ]+/, "\n", text); print text }' | sort
}

# answers SHELL <LINES: what the shell shows when each is completed, ended by a
# form feed; what fish says of a name is cut off.
answers() {
	case $1 in
	bash) python3 "$BATS_TEST_DIRNAME/complete.py" bash ../bash ;;
	zsh) python3 "$BATS_TEST_DIRNAME/complete.py" zsh ../zsh/_bench ;;
	fish) fish --no-config -c '
		source $argv[1]
		while read -l line
			complete -C $line
			printf "\f"
		end' ../fish | cut -f 1 ;;
	esac
}

# offers SHELL <CASES: each is LINE|WORD WORD ...; what is offered has all of
# the words, but none of those with a ! before it.
offers() {
	local line words word seen
	cat >../cases
	cut -d '|' -f 1 ../cases | answers "$1" >../answers
	while IFS='|' read -r line words <&3; do
		IFS= read -r -d $'\f' seen <&4
		for word in $words; do
			case $word in
			!*) [[ $seen != *"${word#!}"* ]] ;;
			*) [[ $seen == *"$word"* ]] ;;
			esac || {
				echo "$1: '$line': $word? $seen"
				return 1
			}
		done
	done 3<../cases 4<../answers
}

# Every verb, with its options and no others.
offers_options() {
	local verb seen wanted pattern='--[a-z-]*[a-z]'
	# Names of zsh stand first, before their descriptions.
	[ "$1" != zsh ] || pattern="^$pattern"
	[ "$(verbs | wc -l)" -ge 7 ]
	verbs | sed 's/.*/bench & --/' | answers "$1" >../answers
	for verb in $(verbs); do
		IFS= read -r -d $'\f' seen <&4
		wanted=$(options "$verb")
		[ "$(wc -l <<<"$wanted")" -ge 2 ]
		diff <(grep -o -e "$pattern" <<<"$seen" | sort -u) \
			<(echo "$wanted")
	done 4<../answers
}

# A line of words.
line_of() {
	"$@" | tr '\n' ' '
}

offers_arguments() {
	offers "$1" <<-END
		bench |$(line_of verbs)
		bench help |$(line_of verbs)
		bench run --format |$(line_of values run --format)
		bench measure --dataset=|$(line_of values measure --dataset)
		bench run --format=pl|--format=plain !post !=--
		bench verify --dropout |on off
		bench run -m |mnist-example tiny
		bench run --epochs |!cpu !mnist
		bench run --export-csv |rows.csv my folder/
		bench run --out |my folder/ !rows.csv
		bench run |cpu-1 cpu-8 opencl reference-1
		bench run --label x -q cpu-1 opencl |cpu-1 cpu-8
		bench measure |cpu-1 cpu-8 opencl
		bench measure cpu-1 c|!cpu-8 !cpu-2
		bench run cpu-1|!@
		bench run cpu-1@thr|cpu-1@threads !cpu-1cpu
		bench verify |cpu openblas opencl !reference
		bench data |get check list
		bench data get |fashion-mnist !list
		bench data --data-dir x che|check
		bench table |rows.csv my folder/
		bench run --export-csv=r|--export-csv=rows.csv
		bench run -- --|!--epochs
		bench run --quiet=|!cpu-1
	END
}

@test "the help of a verb speaks of no other" {
	local verb other
	for verb in $(verbs); do
		"$BENCH" "$verb" --help >help
		for other in $(verbs); do
			[ "$other" = "$verb" ] || run -1 grep -E \
				"[(; ]$other: " help
		done
	done
	[[ $("$BENCH" verify --help) == *"iterations in total (50)"* ]]
	[[ $("$BENCH" check --help) != *"50"* ]]
	grep -q "^With verify: stop after N iterations in total (50)" ../bench.1
	bench complete -- verify --steps |
		grep -q "stop after N iterations in total (50)"
}

@test "man page: every verb with its options, and every option" {
	local verb option
	sed 's/\\-/-/g; s/\\f[BIR]//g' ../bench.1 >text
	for verb in $(verbs); do
		grep -q "^bench $verb" text
		# Its paragraph ends where the next begins.
		awk -v verb="$verb" '
			/^\.SH/ { inside = $2 == "VERBS" }
			/^\.TP/ { getline; mine = inside && $1 == verb; next }
			mine' text >paragraph
		for option in $(options "$verb"); do
			grep -Eq -e "(^| )${option}[,.]" paragraph || {
				echo "bench $verb $option is not described"
				return 1
			}
			grep -Eq -e "^(-., )?${option}( |$)" text
		done
	done
	# Arguments are called as in the help.
	grep -q '^--data-dir DIR$' text
	grep -q '^--test on|off$' text
	# A bare - is a hyphen, which cannot be searched for or pasted.
	run -1 grep -nE '(^|[ B])-' ../bench.1
}

@test "man page: no complaint of mandoc" {
	needs mandoc
	run -0 mandoc -T lint -W style ../bench.1
	[ -z "$output" ]
}

@test "man page: no complaint of man" {
	needs man
	run -0 --separate-stderr env MANWIDTH=80 man --warnings -l ../bench.1
	[ -z "$stderr" ]
	[[ "$output" == *"EXIT STATUS"*ENVIRONMENT*FILES*EXAMPLES* ]]
}

# variables: the environment variables that the source reads, some by macros.
variables() {
	grep -rhoE --include='*.[ch]' \
		'getenv\("[A-Z_]+"|VARIABLE "[A-Z_]+"|"BENCH_[A-Z_]+[A-Z]"' \
		"$TOP/bench" "$TOP/backends"
	sed -n '/read_variable("/,/)/p' "$TOP/bench/plan/ranks.c" |
		grep -o '"[A-Z_]*"'
}

@test "man page: an entry for every variable that is read" {
	local name entries
	[ -d "$TOP/backends" ] || skip "the sources are not here"
	sed -n '/^.SH ENVIRONMENT/,/^.SH FILES/p' ../bench.1 >part
	awk '/^\.TP/ { getline; gsub(/^\.BR? |[",]/, ""); print }' part |
		tr ' ' '\n' >entries
	variables | sed 's/.*"\(.*\)".*/\1/; s/.*"//' | sort -u >names
	[ "$(wc -l <names)" -ge 20 ]
	while read -r name; do
		entries=$(grep -cx "$name" entries) || true
		[ "$entries" = 1 ] || {
			echo "$name is read, and has $entries entries"
			return 1
		}
	done <names
}

@test "man page: every exit code" {
	local code
	sed -n '/^.SH EXIT/,/^.SH ENVIRONMENT/p' ../bench.1 >codes
	for code in $("$BENCH" --help | sed -n '/^Exit:/,/interrupted/p' |
		grep -oE '[0-9]+'); do
		grep -Eq "^\.BR? .*\<$code\>" codes
	done
}

@test "man page: one entry for each file" {
	sed -n '/^.SH FILES/,/^.SH EXAMPLES/p' ../bench.1 |
		awk '/^\.TP/ { getline; sub(/^\.IR? /, "")
			gsub(/ ", " /, "\n"); print }' >files
	[ "$(wc -l <files)" -ge 15 ]
	[ -z "$(sort files | uniq -d)" ]
}

@test "bash completes" {
	bash -n ../bash
	needs_terminal
	offers_options bash
	offers_arguments bash
}

@test "zsh completes" {
	needs zsh
	needs_terminal
	zsh -n ../zsh/_bench
	offers_options zsh
	offers_arguments zsh
	echo 'bench run -' | answers zsh >../answers
	grep -qF 'choose the network to train (mnist)' ../answers
	grep -qF "(the model's)" ../answers
}

@test "fish completes" {
	needs fish
	fish -n ../fish
	offers_options fish
	offers_arguments fish
	run -0 fish --no-config -c \
		'source $argv[1]; complete -C "bench run --lr"' ../fish
	[[ "$output" == *"(the model's)"* ]]
}

@test "what is generated is asked for by one name" {
	run -2 --separate-stderr "$BENCH" help --generate tcsh
	[ -z "$output" ]
	[[ "$stderr" == *"man, bash, zsh, fish"* ]]
	run -2 --separate-stderr "$BENCH" help run table
	run -2 --separate-stderr "$BENCH" help frobnicate
	run -7 --separate-stderr bash -c "'$BENCH' help --generate man >/dev/full"
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "no template is called like the page that is made of it" {
	[ -d "$TOP/bench" ] || skip "the sources are not here"
	# man prints a template without what stands for its @lines@.
	[ -s "$TOP/bench/commands/bench.1.in" ]
	[ -z "$(find "$TOP/bench" -name '*.[0-9]')" ]
}
