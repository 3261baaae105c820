#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Checks that each folder of daemon/ includes only what daemon/layers lets it include.
set -euo pipefail
cd "$(dirname "$0")/../.."

# shellcheck disable=SC2046
awk '
	FNR == NR {
		if ($0 ~ /^[ \t]*(#|$)/)
			next
		split($0, parts, ":")
		name = parts[1]
		gsub(/[ \t]/, "", name)
		known[name] = 1
		n = split(parts[2], allowed)
		for (i = 1; i <= n; i++)
			may[name, allowed[i]] = 1
		next
	}
	FNR == 1 {
		folder = FILENAME
		sub(/^daemon\//, "", folder)
		if (!sub(/\/[^\/]*$/, "", folder))
			folder = "."
		if (!(folder in known)) {
			print FILENAME ": folder " folder " is not in daemon/layers"
			bad = 1
		}
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		target = $0
		sub(/^[^"]*"/, "", target)
		sub(/".*/, "", target)
		if (target !~ /\//) {
			# A header of the program itself (daemon.h), or a header without its folder.
			if (folder != ".") {
				print FILENAME ":" FNR ": \"" target "\" without its folder"
				bad = 1
			}
			next
		}
		sub(/\/.*/, "", target)
		# The generated code of proto/ is part of these two.
		if (target == "proto" && (folder == "encode" || folder == "past"))
			next
		if (target != folder && !((folder, target) in may)) {
			print FILENAME ":" FNR ": " folder "/ may not include " target "/ (daemon/layers)"
			bad = 1
		}
	}
	END { exit bad }
' daemon/layers $(find daemon -name '*.[ch]' | sort)
