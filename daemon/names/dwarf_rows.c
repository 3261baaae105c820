/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libdw sorts rows by address, and the end of a sequence before rows that begin at the same
 * address. Of several rows at an address the last one is valid: for the others the compiler emitted
 * no code.
 */
#include "names/dwarf_rows.h"

struct dwarf_rows dwarf_rows_load(Dwarf_Die *unit)
{
	struct dwarf_rows rows = {0};

	if (dwarf_getsrclines(unit, &rows.lines, &rows.count) != 0)
		return (struct dwarf_rows){0};
	return rows;
}

static uint64_t row_address(const struct dwarf_rows *rows, size_t index)
{
	Dwarf_Addr address = 0;

	dwarf_lineaddr(dwarf_onesrcline(rows->lines, index), &address);
	return address;
}

bool dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address, const char **ret_file,
                     uint32_t *ret_line)
{
	size_t low = 0, high = rows->count;
	bool ends = true;
	int number = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (row_address(rows, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	Dwarf_Line *row = dwarf_onesrcline(rows->lines, low - 1);
	if (!row || dwarf_lineendsequence(row, &ends) != 0 || ends)
		return false;
	if (dwarf_lineno(row, &number) != 0 || number < 0)
		number = 0;
	*ret_file = dwarf_linesrc(row, NULL, NULL);
	*ret_line = (uint32_t)number;
	return true;
}
