/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Notation of rows.
 */
#include "tests/unit/frame_text.h"

#include <stdio.h>
#include <string.h>

static void cfa_text(const struct cfa *cfa, char *into, size_t len)
{
	long offset = (long)cfa->offset;

	switch (cfa->kind) {
	case CFA_OTHER:
		snprintf(into, len, "?");
		break;
	case CFA_REGISTER:
		snprintf(into, len, "r%d%+ld", cfa->reg, offset);
		break;
	case CFA_DEREF:
		snprintf(into, len, "[r%d%+ld]%+ld", cfa->reg, offset, (long)cfa->add);
		break;
	case CFA_PLT:
		snprintf(into, len, "plt%ld", offset);
		break;
	}
}

static void save_text(const struct save *save, char *into, size_t len)
{
	long offset = (long)save->offset;

	switch (save->kind) {
	case SAVE_OTHER:
		snprintf(into, len, "?");
		break;
	case SAVE_SAME:
		snprintf(into, len, "=");
		break;
	case SAVE_UNDEFINED:
		snprintf(into, len, "u");
		break;
	case SAVE_AT_CFA:
		snprintf(into, len, "c%+ld", offset);
		break;
	case SAVE_AT:
		snprintf(into, len, "[r%d%+ld]", save->reg, offset);
		break;
	case SAVE_IN:
		snprintf(into, len, "r%d", save->reg);
		break;
	}
}

int frame_text_row(const struct frame_row *row, void *frame_text)
{
	struct frame_text *text = frame_text;
	size_t len = strlen(text->text);
	char cfa[64], fp[64], ra[64];

	cfa_text(&row->cfa, cfa, sizeof(cfa));
	save_text(&row->fp, fp, sizeof(fp));
	save_text(&row->ra, ra, sizeof(ra));
	snprintf(text->text + len, sizeof(text->text) - len, "%lx-%lx %s %s %s%s%s;",
	         (unsigned long)row->start, (unsigned long)row->end, cfa, fp, ra,
	         row->signal_frame ? " S" : "", row->chained ? " C" : "");
	return ++text->count == text->stop_after ? 7 : 0;
}
