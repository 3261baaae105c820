#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
#     fetch.sh FOLDER
#
# Downloads NVIDIA's CUPTI of CUDA 11, 12 and 13 to FOLDER/11, 12 and 13: the headers and libraries that are published for Python,
# and the headers of CUDA that they include. About 45 MB, once.
set -euo pipefail
folder=$1
packages=(
	"11 nvidia-cuda-cupti-cu11==11.8.87 nvidia-cuda-runtime-cu11==11.8.89"
	"12 nvidia-cuda-cupti-cu12==12.9.79 nvidia-cuda-runtime-cu12==12.9.79"
	"13 nvidia-cuda-cupti==13.5.25 nvidia-cuda-runtime==13.5.37"
)

[ -e "$folder/complete" ] && exit 0
[ "$(uname -m)" = x86_64 ] || { echo "test-cupti is for x86-64" >&2; exit 1; }
python3 -m pip --version >/dev/null || { echo "test-cupti needs pip" >&2; exit 1; }
for package in "${packages[@]}"; do
	read -r cuda cupti runtime <<<"$package"
	rm -rf "${folder:?}/$cuda"
	mkdir -p "$folder/$cuda"
	python3 -m pip download -q --no-deps -d "$folder/$cuda/wheels" "$cupti" "$runtime"
	for wheel in "$folder/$cuda"/wheels/*.whl; do
		python3 -m zipfile -e "$wheel" "$folder/$cuda"
	done
	rm -rf "$folder/$cuda/wheels"
done
touch "$folder/complete"
