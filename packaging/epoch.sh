#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Prints the time of the last change to the sources, in seconds since the epoch. Packages carry this date, so that the
# same sources give the same package.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
	echo "$SOURCE_DATE_EPOCH"
else
	git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile
fi
