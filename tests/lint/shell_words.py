# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Finds the commands that a shell script calls, from its text.

The parser knows the part of the shell's grammar that decides which word is a command: quotes, substitutions, lists and
pipelines, compound commands, functions, redirections and here-documents. Words that are only known at run time are left out.
"""

import re

# The word after one of these is a command again.
KEYWORDS = {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"}
# These commands run another one, named by their first word that is neither an option nor an assignment.
RUNNERS = {"env", "exec", "xargs", "nice", "sudo", "command", "nohup"}
NAME = re.compile(r"/?[a-z][a-z0-9_.+/-]*\Z")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([^\s'\"()<>|&;]+)\1")


class Script:
    """`found` has the words in the place of a command; `functions` has the names of the functions that the script defines."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.found, self.functions = set(), set()
        self.heredocs = []
        self.commands("")

    def commands(self, end):
        """Reads a list of commands up to the unquoted character `end`, or to the end of the text."""
        expects, runner, cases = True, False, []
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == end:
                self.at += 1
                return
            if c in " \t" or self.text.startswith("\\\n", self.at):
                self.at += 1 if c in " \t" else 2
            elif c == "\n":
                self.at += 1
                self.skip_heredocs()
                expects, runner = True, False
            elif c == "#":
                self.at = self.line_end()
            elif self.text.startswith(";;", self.at):
                self.at = re.compile(r";;&?\s*").match(self.text, self.at).end()
                self.skip_pattern(cases)
                expects, runner = True, False
            elif c in ";&|(":
                self.at += 1
                expects, runner = True, False
            elif c == ")":
                self.at += 1
            elif c in "<>":
                self.redirection()
            else:
                word = self.word()
                if word == "case" and expects:
                    self.skip_to_cases(cases)
                elif word == "[[" and expects:
                    self.at = self.text.index("]]", self.at) + 2
                elif word in ("-exec", "-execdir"):
                    expects = True
                elif (expects or runner) and self.takes(word, runner):
                    expects, runner = word in KEYWORDS, word in RUNNERS

    def takes(self, word, runner):
        """Whether a word in the place of a command is a command; if so, adds it to `found`."""
        if self.text.startswith("()", self.at):
            self.functions.add(word)
            self.at += 2
            return False
        if ASSIGNMENT.match(word):
            if word.endswith("=") and self.text.startswith("(", self.at):  # an array
                self.at += 1
                self.words_to(")")
            return False
        if runner and not NAME.match(word):
            return False
        if NAME.match(word) or word == "[":
            self.found.add(word)
        return True

    def word(self):
        """Reads one word and returns it without its quotes. A "$" in it stands for what only the shell knows."""
        parts = []
        while self.at < len(self.text) and (c := self.text[self.at]) not in " \t\n;&|()<>":
            self.at += 1
            if c == "'":
                close = self.text.index("'", self.at)
                parts.append(self.text[self.at:close])
                self.at = close + 1
            elif c == '"':
                parts.append(self.quoted())
            elif c == "$":
                self.substitution()
                parts.append("$")
            elif c == "`":
                self.commands("`")
                parts.append("$")
            elif c == "\\":
                parts.append(self.text[self.at:self.at + 1])
                self.at += 1
            else:
                parts.append(c)
        return "".join(parts)

    def quoted(self):
        parts = []
        while (c := self.text[self.at]) != '"':
            self.at += 1
            if c == "\\":
                self.at += 1
            elif c == "$":
                self.substitution()
                parts.append("$")
            elif c == "`":
                self.commands("`")
            else:
                parts.append(c)
        self.at += 1
        return "".join(parts)

    def substitution(self):
        """Skips a substitution; the position is behind its "$"."""
        if self.text.startswith("((", self.at):
            self.at = self.text.index("))", self.at) + 2
        elif self.text.startswith("(", self.at):
            self.at += 1
            self.commands(")")
        elif self.text.startswith("{", self.at):
            depth = 0
            while True:
                depth += {"{": 1, "}": -1}.get(self.text[self.at], 0)
                self.at += 1
                if depth == 0:
                    return

    def redirection(self):
        heredoc = HEREDOC.match(self.text, self.at)
        if heredoc and not self.text.startswith("<<<", self.at):
            self.heredocs.append(heredoc.group(2))
            self.at = heredoc.end()
            return
        if self.text.startswith(("<(", ">("), self.at):
            self.at += 2
            self.commands(")")
            return
        self.at = re.compile(r"[<>|&]+[ \t]*").match(self.text, self.at).end()
        self.word()

    def skip_heredocs(self):
        for end in self.heredocs:
            while self.at < len(self.text):
                line = self.text[self.at:self.line_end()]
                self.at = self.line_end() + 1
                if line.strip() == end:
                    break
        self.heredocs = []

    def skip_to_cases(self, cases):
        """Moves from behind "case" to behind the first pattern."""
        self.at = re.compile(r"\s*").match(self.text, self.at).end()
        self.word()
        self.at = re.compile(r"\s*in\s+").match(self.text, self.at).end()
        cases.append(True)
        self.skip_pattern(cases)

    def skip_pattern(self, cases):
        self.at = re.compile(r"(\s|#.*\n)*").match(self.text, self.at).end()
        if self.text.startswith("esac", self.at):
            self.at += len("esac")
            cases.pop()
        else:
            self.words_to(")")

    def words_to(self, end):
        while self.text[self.at] != end:
            before = self.at
            self.word()
            self.at += self.at == before  # skips a character that is no part of a word
        self.at += 1

    def line_end(self):
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end


def calls(text):
    """Returns the names of the commands that a script calls, without its own functions."""
    script = Script(text)
    return script.found - script.functions
