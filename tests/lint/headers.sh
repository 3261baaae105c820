#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Checks that every header compiles alone, under gcc and under clang: a header includes everything that it needs,
# and a file that includes it needs to include nothing before it.
set -euo pipefail
cd "$(dirname "$0")/../.."

flags="-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Idaemon -I. -I${BUILD:-build}"
# shellcheck disable=SC2046
set -- $(pkg-config --cflags libbpf libelf libprotobuf-c libmicrohttpd libuv zlib jansson gnutls yaml-0.1 libxcrypt check)
failed=0

while read -r header; do
	case $header in
	bpf/*.bpf.h) continue ;; # for the BPF target; compiled with every bpf/*.bpf.c
	tests/bpf/shim/*) continue ;; # stands in for a header of that target; compiled with the walker
	esac
	for compiler in gcc clang; do
		# The compiler reads a one-line program, because `#pragma once` in a main file warns.
		# shellcheck disable=SC2086
		if ! printf '#include "%s"\n' "$header" |
			$compiler $flags -Wno-unused-function "$@" -x c -fsyntax-only -; then
			echo "$header: does not compile alone under $compiler"
			failed=1
		fi
	done
done < <(find bpf daemon packaging tests -name '*.h' | sort)
exit $failed
