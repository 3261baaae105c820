#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# embed.sh FOLDER: compresses the page's files and the web pages in FOLDER, and writes them to standard output
# as one C source with the table that daemon/api/page.h declares. The output depends on the files only, not
# on the time or the machine.
set -euo pipefail
export LC_ALL=C
made=$(realpath "$1")
cd "$(dirname "$0")"

type_of()
{
	case $1 in
	*.html) echo "text/html; charset=utf-8" ;;
	*.css) echo "text/css; charset=utf-8" ;;
	*.js) echo "text/javascript; charset=utf-8" ;;
	*.svg) echo "image/svg+xml" ;;
	esac
}

files=$(find . "$made" -type f \( -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.svg' \) -printf '%P %H\n' | sort)
packed=$(mktemp)
trap 'rm -f "$packed"' EXIT

echo '/* Made by web/embed.sh. */'
echo '#include "api/page.h"'
rows=
number=0
while read -r file folder; do
	gzip -9nc "$folder/$file" >"$packed"
	printf 'static const unsigned char file_%d[] = {\n' $number
	od -An -v -tx1 "$packed" | sed 's/ \(..\)/0x\1,/g'
	echo '};'
	tag=$(sha256sum "$packed" | cut -c1-16)
	rows+=$(printf '\t{"%s", "%s", "W/\\"%s\\"", file_%d, sizeof(file_%d), %d},' \
		"$file" "$(type_of "$file")" "$tag" $number $number "$(wc -c <"$folder/$file")")$'\n'
	number=$((number + 1))
done <<<"$files"
echo 'const struct page_file page_files[] = {'
printf '%s' "$rows"
printf '\t{0},\n};\n'
