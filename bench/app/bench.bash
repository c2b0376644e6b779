# shellcheck shell=bash
# Completion of bench for bash. From: bench help --generate bash

# The functions below set offer to files, folders, words or nothing, and words.

# What the option $1 takes; 1 if nothing.
_bench_value()
{
	offer='' words=''
	case $1 in
	# @values@
	*) return 1 ;;
	esac
}

# The options of the verb $1, or those that go without one.
_bench_options()
{
	offer=words words=''
	case $1 in
	# @options@
	esac
}

# What may stand at VERB:POSITION.
_bench_argument()
{
	offer='' words=''
	case $1 in
	# @arguments@
	esac
}

# What may stand in place of the last of the words typed.
_bench_place()
{
	local verb=$2 current=${!#} position=0 option='' only='' word

	if (($# == 2)); then
		offer=words
		# @verbs@
		[[ $current != -* ]] || _bench_options ''
		return
	fi
	for word in "${@:3:$#-3}"; do
		if [[ -n $option ]]; then
			option=
		elif [[ -n $only || $word != -* ]]; then
			position=$((position + 1))
		elif [[ $word == -- ]]; then
			only=yes
		elif _bench_value "$word"; then
			option=$word
		fi
	done
	if [[ -n $option ]]; then
		_bench_value "$option"
	elif [[ -z $only && $current == --*=* ]]; then
		start=${current%%=*}=
		_bench_value "${current%%=*}"
	elif [[ -z $only && $current == -* ]]; then
		_bench_options "$verb"
	else
		_bench_argument "$verb:$position"
	fi
}

_bench()
{
	local offer='' words='' start='' current word
	local -a typed=()

	# What bash parts at = @ and : is one word here.
	for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
		if [[ $word == [=@:]* || ${typed[*]: -1} == *[=@:] ]]; then
			typed[-1]+=$word
		else
			typed+=("$word")
		fi
	done
	current=${typed[-1]}
	_bench_place "${typed[@]}"

	COMPREPLY=()
	case $offer in
	files) compopt -o default ;;
	folders) compopt -o dirnames ;;
	words)
		# Targets with a transport are many: they wait for the @.
		word='*@*'
		[[ $current != *@* ]] || word=
		mapfile -t COMPREPLY < <(compgen -W "$words" -X "$word" \
			-P "$start" -- "${current#"$start"}")
		;;
	esac
	# bash itself keeps what stands before $2.
	COMPREPLY=("${COMPREPLY[@]#"${current%"$2"}"}")
}

complete -F _bench bench
