#compdef bench
# Completion of bench for zsh. From: bench help --generate zsh

_bench() {
	local -a lines

	lines=("${(@f)$("$words[1]" complete -- \
		"${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
	case $lines[1] in
	files) compset -P '--*='; _files ;;
	folders) compset -P '--*='; _files -/ ;;
	words)
		lines=("${(@)lines[2,-1]//:/\\:}")
		lines=("${(@)lines/$'\t'/:}")
		_describe -t bench bench lines ;;
	esac
}

_bench "$@"
