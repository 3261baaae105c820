#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Runs the checks of `make check`: all checks of the sources that do not run them. It goes on after a failure, so that
# one run shows all failures, and exits non-zero when there was one.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

MAX_LINES=500
MAX_FILES=40 # of a folder of daemon/ or bpf/
failures=0

step()
{
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		printf '  %-8s %s\n' ok "$name"
	else
		printf '  %-8s %s\n' FAILED "$name"
		printf '%s\n' "$output" | sed 's/^/           /'
		failures=$((failures + 1))
	fi
}

# Prints the project's files that match the patterns: tracked ones, and new ones that git does not ignore.
ours()
{
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
		while read -r file; do [ -f "$file" ] && echo "$file"; done
}

formatted()
{
	ours '*.c' '*.h' '*.cc' | xargs -r clang-format --dry-run -Werror
}

builds()
{
	local fuzzers

	fuzzers=$(ours 'tests/fuzz/*.c' | sed "s|^|build-check-$1/|; s|c$|o|")
	# shellcheck disable=SC2086
	make -s -j"$(nproc)" CC="$1" WERROR=1 BUILD="build-check-$1" build $fuzzers \
		"build-check-$1/tests/unit/unit" docs 2>&1 | sed '/^  [A-Z][A-Z]* /d'
}

# The kernel half for the other machine, whichever this one is.
builds_elsewhere()
{
	for arch in x86 arm64; do
		make -s -j"$(nproc)" ARCH="$arch" BUILD="build-check-$arch" "build-check-$arch/bpf/profd.linked.o" 2>&1 |
			sed '/^  [A-Z][A-Z]* /d'
		tests/lint/stack.py "build-check-$arch/bpf/profd.linked.o" || return 1
	done
}

# Leak checks are left to AddressSanitizer: cppcheck does not know that a _cleanup_ local is freed. uthash.h is
# included explicitly, because without it cppcheck takes every HASH_ITER for a read of an uninitialized variable.
cppchecked()
{
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 \
		--inline-suppr --suppress=memleak --suppress=resourceLeak --suppress='*:/usr/include/*' \
		--include=/usr/include/uthash.h -D__x86_64__ -D_GNU_SOURCE \
		-Idaemon -I. -j "$(nproc)" daemon packaging
}

# With the headers that the build with gcc has generated. What is checked is in .clang-tidy. The functions of preload/ have
# the C library's names, and parameters of their own.
tidied()
{
	ours 'daemon/*.c' 'tests/unit/*.c' ':!daemon/preload' |
		xargs -r -P "$(nproc)" -n 8 clang-tidy --quiet --extra-arg=-std=gnu11 --extra-arg=-D_GNU_SOURCE \
			--extra-arg=-I"$PWD/daemon" --extra-arg=-I"$PWD" --extra-arg=-I"$PWD/build-check-gcc" \
			--extra-arg='-DPROFD_VERSION=""' 2>/dev/null
}

shellchecked()
{
	{
		ours '*.sh' '*.bash.in' .ci/run
		ours packaging | { xargs -r grep -lE '^#!/bin/(ba)?sh|^#!/usr/bin/env bash' || true; }
	} | sort -u | xargs -r shellcheck
}

short_enough()
{
	! ours '*.c' '*.h' '*.cc' '*.py' '*.sh' | xargs -r wc -l |
		awk -v max=$MAX_LINES '$2 != "total" && $1 > max { print $2 ": " $1 " lines, over " max }' |
		grep .
}

folders_small_enough()
{
	! ours 'daemon/*' 'bpf/*' | xargs -n1 dirname | sort | uniq -c |
		awk -v max=$MAX_FILES '$1 > max { print $2 ": " $1 " files, over " max }' |
		grep .
}

# Words of ours that codespell takes for others, such as .bu of the manual's pages.
spelled()
{
	ours '*' | xargs -r codespell --builtin clear,rare -L bu,crate,fo,histroy,inout,mappeds,tje
}

licensed()
{
	! ours '*.c' '*.h' '*.cc' '*.py' '*.sh' '*.proto' Makefile .ci/run |
		while read -r file; do
			head -3 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file: no SPDX line"
		done | grep .
}

plain_comments()
{
	! ours '*.c' '*.h' | xargs -r grep -nE '^[[:space:]]*//|[;{})][[:space:]]*//|\<(TODO|FIXME|XXX)\>' | grep .
}

# Runs after the build with gcc, which makes the pages.
manual_linted()
{
	mandoc -Tlint build-check-gcc/packaging/*.[1-8]
}

pythons_compile()
{
	ours '*.py' | xargs -r python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), path, feature_version=(3, 9))'
}

step "clang-format" formatted
step "SPDX line in every file" licensed
step "no file over $MAX_LINES lines" short_enough
step "no folder over $MAX_FILES files" folders_small_enough
step "codespell" spelled
step "no // comments, no TODO" plain_comments
step "daemon/layers" tests/lint/layers.sh
step "circles of modules" tests/lint/circles.py
step "modules of the page" tests/lint/modules.sh
step "what is called is installed" tests/lint/commands.py
step "shellcheck" shellchecked
step "Python 3.9 syntax" pythons_compile
step "cppcheck" cppchecked
step "gcc, warnings are errors" builds gcc
step "clang, warnings are errors" builds clang
step "clang-tidy" tidied
step "stacks of BPF programs, x86-64 and arm64" builds_elsewhere
step "what the loop may wait for" tests/lint/loop.py build-check-gcc
step "pages of the manual" manual_linted
step "sum of all bounds of memory" tests/lint/memory.py build-check-gcc
# This runs after the builds, because some headers include generated ones.
step "every header compiles alone" env BUILD=build-check-gcc tests/lint/headers.sh

if [ $failures -ne 0 ]; then
	echo "check: $failures failed"
	exit 1
fi
echo "check: all passed"
