# Completion of bench for fish. From: bench help --generate fish

function __bench_no_verb
	test (count (commandline -opc)) -eq 1
end

# The verb is one of these.
function __bench_verb
	set -l typed (commandline -opc)
	test (count $typed) -gt 1; and contains -- $typed[2] $argv
end

# @values@

# The verb is $argv[1], and the argument at place $argv[2], or any, is next.
function __bench_at
	set -l typed (commandline -opc)
	set -l place 0
	set -l option
	test (count $typed) -gt 1; and test $typed[2] = $argv[1]; or return 1
	set -q argv[2]; or return 0
	for word in $typed[3..]
		if set -q option[1]
			set -e option[1]
		else if contains -- $word $__bench_values
			set option $word
		else if not string match -q -- '-*' $word
			set place (math $place + 1)
		end
	end
	test $place -eq $argv[2]
end

# Targets with a transport are many: they wait for the @.
function __bench_words
	if string match -q '*@*' -- (commandline -ct)
		printf '%s\n' $argv
	else
		string match -v '*@*' -- $argv
	end
end

complete -c bench -f
# @verbs@
# @options@
# @arguments@
