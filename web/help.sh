#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# help.sh FOLDER PAGE...: converts manual pages to web pages in FOLDER/help and writes an index of them. Where
# a page names another one, it links to it. The output depends on the pages only.
set -euo pipefail
export LC_ALL=C

folder=$1/help
shift
pages=("$@")

# profd-http(7) for the file profd-http.7.
shown()
{
	local name=${1##*/}

	echo "${name%.*}(${name##*.})"
}

# The description in the line below .SH NAME.
summary()
{
	sed -n '/^\.SH NAME/{n;s/.*\\- //;s/\\//g;p;q}' "$1"
}

head_of()
{
	cat <<-END
		<!DOCTYPE html>
		<html lang="en">
		<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width, initial-scale=1">
		<title>$1</title>
		<link rel="icon" href="../ui/icon.svg">
		<link rel="stylesheet" href="../ui/theme.css">
		<link rel="stylesheet" href="../ui/help.css">
		</head>
		<body>
		<nav aria-label="Manual pages">
		<a href="../">profd</a>
	END
	local page=
	for page in "${pages[@]}"; do
		echo "<a href=\"${page##*/}.html\">$(shown "$page")</a>"
	done
	echo '</nav>'
	echo '<main>'
}

foot()
{
	printf '</main>\n</body>\n</html>\n'
}

# The page without the table that mandoc puts first (the title again) and the one it puts last (the date).
body_of()
{
	local page name
	local -a links
	for page in "${pages[@]}"; do
		name=${page##*/}
		links+=(-e "s|<b>${name%.*}</b>(${name##*.})|<a href=\"$name.html\">${name%.*}(${name##*.})</a>|g")
	done
	mandoc -T html -O fragment "$1" | sed -e '/^<table class="\(head\|foot\)">$/,/^<\/table>$/d' "${links[@]}"
}

mkdir -p "$folder"
for page in "${pages[@]}"; do
	{
		head_of "$(shown "$page")"
		body_of "$page"
		foot
	} >"$folder/${page##*/}.html"
done
{
	head_of "profd: manual pages"
	echo '<h1>Manual pages</h1>'
	echo '<dl>'
	for page in "${pages[@]}"; do
		echo "<dt><a href=\"${page##*/}.html\">$(shown "$page")</a></dt><dd>$(summary "$page")</dd>"
	done
	echo '</dl>'
	foot
} >"$folder/index.html"
