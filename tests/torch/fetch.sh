#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
#     fetch.sh FOLDER
#
# Downloads PyTorch and its imports to FOLDER/site, and makes stubs of the libraries that only GPUs need in
# FOLDER/stubs: once, some 600 MB to download and 2 GB on the disk.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1

[ -e "$folder/complete" ] && exit 0
[ "$(uname -m)" = x86_64 ] || { echo "test-torch is for x86-64" >&2; exit 1; }
rm -rf "$folder/site" "$folder/stubs"
mkdir -p "$folder/wheels"
python3 -m pip --version >/dev/null || { echo "test-torch needs pip" >&2; exit 1; }
# --no-deps leaves out 3 GB of CUDA.
python3 -m pip download -q --no-deps -d "$folder/wheels" torch==2.15.0 typing_extensions filelock sympy mpmath \
	networkx jinja2 MarkupSafe fsspec
for wheel in "$folder"/wheels/*.whl; do
	python3 -m zipfile -e "$wheel" "$folder/site"
done
rm -rf "$folder/wheels"
python3 "$here/stubs.py" "$folder/site/torch/lib" "$folder/stubs"
touch "$folder/complete"
