#!/usr/bin/env bats
# The Markdown pages: their links lead somewhere, and their commands exist.

load command.sh

# documents PROGRAM: the Python program reads every page of the sources. It gets
# the pages as a list of (path, lines), and a function that says what is wrong.
documents() {
	cat - >body.py
	cat >pages.py <<-'END'
	import os, sys
	top = sys.argv[1]
	pages, found = [], []
	for folder, inside, names in os.walk(top):
	    inside[:] = [d for d in inside if d not in ("build", ".git")]
	    for name in names:
	        if name.endswith(".md"):
	            path = os.path.join(folder, name)
	            with open(path, encoding="utf-8") as file:
	                pages.append((path, file.read().split("\n")))
	def wrong(path, number, why):
	    found.append("%s:%d: %s" % (os.path.relpath(path, top), number, why))
	exec(compile(open("body.py").read(), "body.py", "exec"))
	assert len(pages) > 10
	sys.exit("\n".join(found) or 0)
	END
	python3 pages.py "$TOP"
}

@test "every relative link leads to a file and a heading" {
	[ -d "$TOP/bench" ] || skip "the sources are not here"
	documents <<-'END'
	import re
	def headings(path):
	    names, code = set(), False
	    for line in open(path, encoding="utf-8"):
	        code ^= line.startswith("```")
	        if line.startswith("#") and not code:
	            text = re.sub(r"[^\w\- ]", "", line.strip("# \n").lower())
	            names.add(text.replace(" ", "-"))
	    return names
	links = 0
	for path, lines in pages:
	    code = False
	    for number, line in enumerate(lines, 1):
	        code ^= line.startswith("```")
	        for link in [] if code else re.findall(r"\]\(([^)\s]+)\)", line):
	            if re.match(r"[a-z]+:", link):
	                continue
	            links += 1
	            file, _, anchor = link.partition("#")
	            file = os.path.join(os.path.dirname(path), file) if file else path
	            if not os.path.exists(file):
	                wrong(path, number, "no file " + link)
	            elif anchor and anchor not in headings(file):
	                wrong(path, number, "no heading " + link)
	assert links > 20
	END
}

# A path is from the root, or from a folder above the page; NAME is a name.
@test "every source file that a page names exists" {
	[ -d "$TOP/bench" ] || skip "the sources are not here"
	documents <<-'END'
	import re
	kinds = r"(?:c|h|cl|bats|gp|in|mk|md|py)"
	files = 0
	for path, lines in pages:
	    if re.search("/results/[^/]+/", path):
	        continue    # of the tree as it was
	    folders = [os.path.dirname(path)]
	    while folders[-1] != top:
	        folders.append(os.path.dirname(folders[-1]))
	    for number, line in enumerate(lines, 1):
	        for name in re.findall(r"`([\w./-]+/[\w.-]+\.%s)`" % kinds, line):
	            if "NAME" in name or name.startswith(("results/", "build/")):
	                continue
	            files += 1
	            if not any(os.path.exists(os.path.join(folder, name))
	                       for folder in folders):
	                wrong(path, number, "no file " + name)
	assert files > 60
	END
}

# A block of ```text is an example of output. All others, and `...` in prose,
# are commands: the help has the verb and its options, and a target of
# make has a rule.
@test "every command of bench and make exists" {
	local verb
	[ -d "$TOP/bench" ] || skip "the sources are not here"
	for verb in $("$BENCH" --help |
		awk '/^Examples/ { exit } /^  bench / { print $2 }'); do
		"$BENCH" help "$verb" >"help.$verb"
	done
	cat "$TOP/Makefile" "$TOP"/.ci/*.mk >rules
	documents <<-'END'
	import re, shlex
	rules = open("rules").read()
	def check(words):
	    if words[0] == "make":
	        for word in words[1:]:
	            if not re.match(r"-|[A-Z]+=|build/", word) and \
	                    not re.search(r"(?m)^%s:" % re.escape(word), rules):
	                return "no target " + word
	        return None
	    if not re.fullmatch(r"(build/)?bench", words[0]) or \
	            len(words) < 2 or words[1].startswith("-"):
	        return None
	    if not os.path.exists("help." + words[1]):
	        return "no verb " + words[1]
	    text = open("help." + words[1]).read()
	    for word in words[2:]:
	        option = re.match(r"--?[a-z][a-z-]*", word)
	        if option and not re.search(r"(?m)^ .*?(?<!\S)%s[ ,\n]" %
	                                    option[0], text):
	            return "no option " + option[0]
	    return None
	commands = 0
	for path, lines in pages:
	    block = None
	    for number, line in enumerate(lines, 1):
	        if line.startswith("```"):
	            block = line[3:] or "commands" if block is None else None
	            continue
	        said = [line] if block == "commands" else \
	            re.findall(r"`([^`]+)`", line) if block is None else []
	        for text in said:
	            if not re.match(r"((build/)?bench|make) ", text):
	                continue
	            words = list(shlex.shlex(text.rstrip("\\"), posix=True,
	                                     punctuation_chars="|&;<>"))
	            while words:
	                end = next((i for i, word in enumerate(words)
	                            if word[0] in "|&;<>"), len(words))
	                why = check(words[:end] or [""])
	                words = words[end + 1:]
	                commands += 1
	                if why:
	                    wrong(path, number, why + ": " + text)
	assert commands > 60
	END
}
