#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Checks the page's modules: their compressed size and their imports, and that no module makes markup out of text.
# See web/README.md.
set -euo pipefail
cd "$(dirname "$0")/../../web"

MAX_PACKED=$((110 * 1024))
MAX_LINES=300
failed=0

complain()
{
	echo "$*"
	failed=1
}

modules()
{
	find . -name '*.js' -printf '%P\n' | sort
}

# Prints the folders that the modules of a folder may import from, as web/README.md has them.
may_import()
{
	case $1 in
	profile) echo profile ;;
	views) echo views profile . ;;
	shell) echo shell views profile . ;;
	.) echo . shell profile ;;
	esac
}

check_imports()
{
	local file=$1 folder from target
	folder=$(dirname "$file")
	while read -r from; do
		[ -n "$from" ] || continue
		case $from in
		./* | ../*) ;;
		*) complain "$file: imports $from, which is no file of the page" && continue ;;
		esac
		if [ ! -f "$folder/$from" ]; then
			complain "$file: imports $from, which does not exist"
			continue
		fi
		target=$(dirname "$(realpath --relative-to=. "$folder/$from")")
		case " $(may_import "$folder") " in
		*" $target "*) ;;
		*) complain "$file: may not import from $target/" ;;
		esac
	done < <(sed -nE "s/^(import|export)\b.*from '([^']+)';.*/\2/p; s/^\} from '([^']+)';.*/\1/p" "$file")
}

for file in $(modules); do
	check_imports "$file"
	lines=$(wc -l <"$file")
	[ "$lines" -le $MAX_LINES ] || complain "$file: $lines lines, over $MAX_LINES"
done

for file in $(find . -type f \( -name '*.js' -o -name '*.css' -o -name '*.html' \) -printf '%P\n' | sort); do
	head -3 "$file" | grep -q 'SPDX-License-Identifier: ' || [ "$file" = index.html ] || complain "$file: no SPDX line"
done

# Everything that turns text into markup or code, or names another host. One module does, at the user's request.
forbidden='innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|https?://'
if modules | xargs grep -nE "$forbidden" | grep -v 'http://www.w3.org/' | grep -v '^shell/perfetto.js:.*https://ui\.perfetto\.dev'; then
	complain "the lines above make markup or code of text, or name another host"
fi
if grep -nE '<[^>]*[[:space:]](style|on[a-z]+)=' index.html; then
	complain "index.html: styles and listeners in markup are forbidden by the content security policy"
fi

packed=$(find . -type f \( -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.svg' \) -print0 |
	sort -z | xargs -0 -n1 gzip -9nc | wc -c)
[ "$packed" -le $MAX_PACKED ] || complain "$packed bytes compressed, over $MAX_PACKED"

exit $failed
