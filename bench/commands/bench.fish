# Completion of bench for fish. From: bench help --generate fish

function __bench_complete
	set -l typed (commandline -opc)
	set -l current (commandline -ct)
	set -l before (string match -r '^--[^=]*=' -- "$current")
	set -l lines ($typed[1] complete -- $typed[2..] "$current" 2>/dev/null)
	set -l rest (string replace -r '^--[^=]*=' '' -- "$current")

	switch "$lines[1]"
	case files
		string join \n -- "$before"(__fish_complete_path "$rest")
	case folders
		string join \n -- "$before"(__fish_complete_directories "$rest")
	case words
		string join \n -- $lines[2..]
	end
end

complete -c bench -f -a '(__bench_complete)'
