#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Makes the folder $1 a Python environment with what the tests of the page need: Playwright to drive the browser
# (the distribution's, see tests/lint/deps.sh), axe to find accessibility problems, and Perfetto's own description
# of its traces. Does nothing where that is done already.
set -euo pipefail

packages="playwright==1.65.2 axe-playwright-python==0.1.8 perfetto==0.59.1"
folder=$1

if [ "$(cat "$folder/installed" 2>/dev/null)" = "$packages" ]; then
	exit 0
fi
python3 -m venv --clear "$folder"
# shellcheck disable=SC2086
"$folder/bin/python" -m pip --quiet --disable-pip-version-check --no-input install --retries 5 $packages
echo "$packages" >"$folder/installed"
