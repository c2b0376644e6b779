# shellcheck shell=bash
# Completion of bench for bash. From: bench help --generate bash

_bench()
{
	local word
	local -a typed=() lines

	# What bash parts at = @ and : is one word here.
	for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
		if [[ $word == [=@:]* || ${typed[*]: -1} == *[=@:] ]]; then
			typed[-1]+=$word
		else
			typed+=("$word")
		fi
	done
	word=${typed[0]/#\~\//$HOME/}
	# Of an alias, the program that is found.
	type -P "$word" >/dev/null || word=bench
	mapfile -t lines < <("$word" complete -- "${typed[@]:1}" 2>/dev/null)
	case ${lines[0]} in
	files) compopt -o default ;;
	folders) compopt -o dirnames ;;
	esac
	# bash itself keeps what stands before $2. Descriptions follow a tab.
	word=${typed[-1]}
	COMPREPLY=("${lines[@]:1}")
	COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
	COMPREPLY=("${COMPREPLY[@]#"${word%"$2"}"}")
}

complete -F _bench bench
