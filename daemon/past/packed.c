/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A protobuf message may be written in pieces, so each column becomes a message of its own, and one
 * column at a time is in memory twice.
 */
#include "base/gzip.h"
#include "past/packed_private.h"
#include "proto/slice.pb-c.h"

#include <errno.h>
#include <string.h>

struct packing {
	struct gzip gzip;
	size_t bytes; /* so far, before they are gzipped */
	struct buf column;
};

static void put(struct packing *packing, const Profd__Slice *piece)
{
	size_t len = profd__slice__get_packed_size(piece);
	uint8_t *at;

	packing->bytes += len;
	if (packing->bytes > MAX_PACKED_BYTES && !packing->gzip.out->error)
		packing->gzip.out->error = -EFBIG;
	if (buf_error(&packing->column) && !packing->gzip.out->error)
		packing->gzip.out->error = buf_error(&packing->column);
	at = gzip_reserve(&packing->gzip, len);
	if (at)
		gzip_grown(&packing->gzip, profd__slice__pack(piece, at));
}

/* Copies one member of each row but the first. */
static void *column(struct packing *packing, const void *rows, size_t row_bytes, size_t count,
                    size_t offset, size_t bytes)
{
	const char *member = (const char *)rows + row_bytes + offset;

	buf_clear(&packing->column);
	for (size_t i = 1; i < count; i++, member += row_bytes)
		buf_add(&packing->column, member, bytes);
	return packing->column.data;
}

#define COLUMN(table, member)                                                          \
	do {                                                                           \
		Profd__Slice piece = PROFD__SLICE__INIT;                               \
                                                                                       \
		piece.table##_##member =                                               \
			column(packing, profile->table##s, sizeof(*profile->table##s), \
		               profile->table##_count, offsetof(struct table, member), \
		               sizeof(profile->table##s->member));                     \
		piece.n_##table##_##member =                                           \
			packing->column.len / sizeof(profile->table##s->member);       \
		put(packing, &piece);                                                  \
	} while (0);

static void put_tables(struct packing *packing, const struct profile *profile)
{
#define COLUMN_32(table, member)                                                             \
	_Static_assert(sizeof(((struct table *)0)->member) == sizeof(uint32_t), "a column"); \
	COLUMN(table, member)
#define COLUMN_64(table, member)                                                             \
	_Static_assert(sizeof(((struct table *)0)->member) == sizeof(uint64_t), "a column"); \
	COLUMN(table, member)
	COLUMNS
#undef COLUMN_32
#undef COLUMN_64
}

static void put_values(struct packing *packing, const struct profile *profile)
{
	Profd__Slice piece = PROFD__SLICE__INIT;

	buf_clear(&packing->column);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		buf_add(&packing->column, profile->samples[i].values,
		        profile->type_count * sizeof(uint64_t));
	piece.values = (void *)packing->column.data;
	piece.n_values = packing->column.len / sizeof(uint64_t);
	put(packing, &piece);
}

static void put_head(struct packing *packing, const struct profile *profile, uint32_t boot)
{
	Profd__Slice piece = PROFD__SLICE__INIT;
	uint32_t types[PROFILE_VALUES], units[PROFILE_VALUES];

	for (uint32_t i = 0; i < profile->type_count; i++) {
		types[i] = profile->types[i].type;
		units[i] = profile->types[i].unit;
	}
	piece.type_type = types;
	piece.type_unit = units;
	piece.n_type_type = piece.n_type_unit = profile->type_count;
	piece.start_unix_ns = profile->start_wall_ns;
	piece.duration_ns = profile->duration_ns;
	piece.boot = boot;
	piece.shown = profile->shown;
	piece.period_type = profile->period_type.type;
	piece.period_unit = profile->period_type.unit;
	piece.period = profile->period;
	piece.ticks_total = profile->ticks.total;
	piece.ticks_idle = profile->ticks.idle;
	piece.ticks_lost = profile->ticks.lost;
	piece.ticks_missed = profile->ticks.missed;
	/* String 0 is the NUL at the beginning, and the others follow in the order of their ids. */
	if (profile->string_count > 1) {
		uint32_t last = profile->string_start[profile->string_count - 1];

		piece.strings.data = (uint8_t *)(uintptr_t)(profile->string_bytes + 1);
		piece.strings.len = last + strlen(profile->string_bytes + last);
	}
	put(packing, &piece);
}

int profile_pack(const struct profile *profile, const struct packed_host *host, struct buf *out)
{
	struct packing packing = {0};

	gzip_begin(&packing.gzip, out);
	put_head(&packing, profile, host->boot);
	put_tables(&packing, profile);
	put_values(&packing, profile);
	buf_release(&packing.column);
	gzip_end(&packing.gzip);
	return buf_error(out);
}
