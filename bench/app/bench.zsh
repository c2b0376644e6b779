#compdef bench
# Completion of bench for zsh. From: bench help --generate zsh

# Targets with a transport are many: they wait for the @.
_bench_words() {
	local -a options words

	# _arguments puts options of compadd in front.
	zparseopts -D -E -a options J: V: X: x: 1 2 n F: M: o
	words=("$@")
	[[ $PREFIX == *@* ]] || words=("${(@)words:#*@*}")
	compadd "${options[@]}" -- "${words[@]}"
}

_bench() {
	local curcontext=$curcontext state line
	local -a state_descr verbs common specs
	local -A opt_args

	verbs=(
		# @verbs@
	)
	common=(
		# @common@
	)
	_arguments -C \
		"${common[@]}" \
		'1:verb:->verb' \
		'*::argument:->rest' && return
	if [[ $state == verb ]]; then
		_describe -t verbs verb verbs
		return
	fi
	case $words[1] in
	# @cases@
	esac
	_arguments -s -S "${specs[@]}"
}

_bench "$@"
