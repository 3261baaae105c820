# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The completions that bash, zsh and fish themselves offer for a command line, each with profd's completion file for it.

All three functions take the line up to the cursor and return a set of words.
"""

import os
import pty
import select
import shutil
import subprocess
import tempfile
import time

from daemon import BUILD

PACKAGING = os.path.join(BUILD, "packaging")
TIME_LIMIT = 60  # seconds for one line, which takes half a second


def script(shell):
    return os.path.join(PACKAGING, f"profd.{shell}")


def run(*command):
    # fish writes files to its home.
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


# Does as bash does: splits the line into bash's words and calls the registered function.
BASH = r"""
source "$1"
COMP_LINE=$2
COMP_POINT=${#2}
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
registered=$(complete -p profd)
[[ $registered =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" profd "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash(line):
    return set(run("bash", "--norc", "--noprofile", "-c", BASH, "bash", script("bash"), line).split("\n")) - {""}


def fish(line):
    made = run("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script("fish"), line)
    return {row.split("\t")[0] for row in made.splitlines()}


# Completes in a terminal, because zsh completes only there, and writes every match that zsh is given to a file.
ZSH = r"""
PS1= PS2= RPS1=
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a told
	builtin compadd -O told "$@"
	print -rl -- $told >>$PROFD_MATCHES
	builtin compadd "$@"
}
profd-complete() { zle list-choices; print -r -- '<end>' >>$PROFD_MATCHES }
zle -N profd-complete
bindkey '^T' profd-complete
"""


def zsh(line):
    with tempfile.TemporaryDirectory() as folder:
        matches = os.path.join(folder, "matches")
        with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as file:
            file.write(ZSH)
        shutil.copy(script("zsh"), os.path.join(folder, "_profd"))
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe("zsh", ["zsh", "-d", "-i"],
                       {"PATH": os.environ["PATH"], "HOME": folder, "ZDOTDIR": folder, "TERM": "dumb",
                        "LC_ALL": "C.UTF-8", "PROFD_MATCHES": matches})
        try:
            os.write(terminal, line.encode() + b"\x14")
            return set(until_end(terminal, matches)) - {""}
        finally:
            os.close(terminal)
            os.waitpid(child, 0)


def until_end(terminal, path):
    """Returns the lines of the file once its last one has come; reads and discards what the terminal shows."""
    deadline = time.monotonic() + TIME_LIMIT
    shown = b""
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.05)[0]:
            shown += os.read(terminal, 4096)
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        if lines and lines[-1] == "<end>":
            return lines[:-1]
    raise AssertionError(f"zsh did not complete: {shown!r}")
