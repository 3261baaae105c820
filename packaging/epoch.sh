#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# When these sources were last changed, in seconds since the epoch: what packages are dated by, so that the same
# sources make the same package.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
	echo "$SOURCE_DATE_EPOCH"
else
	git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile
fi
