#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# packaging/packaged_conf.sh SAMPLE: prints the sample, which has all settings with their defaults as comments, with the
# settings of packages set: profd listens on this host only, and answers root and the members of the group profd.
set -euo pipefail

settings='listen = unix:/run/profd/profd.sock
listen = 127.0.0.1:9090
group = profd'

awk -v settings="$settings" '
BEGIN {
	count = split(settings, lines, "\n")
	for (i = 1; i <= count; i++) {
		name = lines[i]
		sub(/ =.*/, "", name)
		wanted[name] = wanted[name] lines[i] "\n"
	}
}
match($0, /^# ?[a-z-]+ =/) {
	name = substr($0, 2, RLENGTH - 3)
	sub(/^ /, "", name)
	if (name in wanted) {
		printf "%s", wanted[name]
		delete wanted[name]
		next
	}
}
{ print }
END {
	for (name in wanted) {
		print "packaged_conf.sh: no \"#" name " =\" in the sample" >"/dev/stderr"
		exit 1
	}
}' "$1"
