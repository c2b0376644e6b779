"""What a shell completes: complete.py SHELL FILE <LINES

Starts bash or zsh on a terminal of its own with the completions of FILE. Types
each line and two tabs, and prints what is then to be seen, and a form feed.
"""
import os
import pty
import re
import select
import sys
import tempfile
import time

PROMPT = "=> "
BASH = """
bind 'set show-all-if-ambiguous on'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
source '%s'
"""
ZSH = """
unsetopt zle_bracketed_paste prompt_cr prompt_sp beep auto_menu global_rcs
LISTMAX=10000
fpath=('%s' $fpath)
autoload -Uz compinit && compinit -u -D
"""


def start(shell, path, folder):
    """Writes the shell's settings into folder; returns its command."""
    end = "stty cols 200 rows 100\nPS1='%s'\n" % PROMPT
    settings = os.path.join(folder, ".zshrc")
    with open(settings, "w", encoding="utf-8") as out:
        if shell == "bash":
            out.write(BASH % path + end)
        else:
            out.write(ZSH % os.path.dirname(path) + end)
    if shell == "bash":
        return ["bash", "--noprofile", "--rcfile", settings, "-i"]
    return ["zsh", "-d", "-i"]


def read_until(terminal, pattern, limit=60):
    """What the shell writes until the pattern comes."""
    seen = ""
    end = time.monotonic() + limit
    while not re.search(pattern, seen):
        left = max(0, end - time.monotonic())
        if not select.select([terminal], [], [], left)[0]:
            sys.exit("no %r in %r" % (pattern, seen))
        try:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
        except OSError:
            sys.exit("the shell ended: %r" % seen)
    return seen


def shown(text):
    """The text without what moves the cursor, but for backspaces."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    changes = 1
    while changes:
        text, changes = re.subn("[^\b]\b", "", text, count=1)
    # Backspaces that had nothing before them go as well.
    return re.sub(r"[\0-\t\v-\x1f]", "", text)


def complete(terminal, line):
    """What the shell shows."""
    # Control-U takes the line away once both tabs are dealt with. The sum is
    # made by the shell, so that it is no echo of what is typed.
    os.write(terminal, line.encode() + b"\t\t\x15echo done$((1+1))\n")
    seen = read_until(terminal, "done2[^=]*" + PROMPT)
    return shown(seen.split("echo done")[0])


def main(shell, path):
    """Completes what comes in."""
    with tempfile.TemporaryDirectory() as folder:
        command = start(shell, path, folder)
        child, terminal = pty.fork()
        if child == 0:
            os.environ.update(TERM="dumb", HOME=folder, ZDOTDIR=folder)
            os.execvp(command[0], command)
        read_until(terminal, PROMPT)
        for line in sys.stdin:
            print(complete(terminal, line.rstrip("\n")), end="\f")
        os.close(terminal)
        os.waitpid(child, 0)


main(*sys.argv[1:])
