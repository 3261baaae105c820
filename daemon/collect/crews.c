/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "collect/crews.h"

#include "proc/proc.h"

static void on_opened(const struct opened *opened, size_t count, void *ctx)
{
	struct crews *crews = ctx;

	procs_opened(crews->procs, opened, count);
	crews->told(crews->ctx);
}

static void on_maps_read(const struct maps_reading *reading, void *ctx)
{
	struct crews *crews = ctx;

	procs_take_maps(crews->procs, reading);
}

static void on_maps_delivered(void *ctx)
{
	struct crews *crews = ctx;

	crews->told(crews->ctx);
}

int crews_start(struct crews *crews, uv_loop_t *loop, struct store *store)
{
	const struct opener_config opener = {loop, store, on_opened, crews};
	const struct maps_reader_config maps_reader = {loop, on_maps_read, on_maps_delivered,
	                                               crews};
	int err = opener_new(&opener, &crews->opener);

	if (err)
		return err;
	procs_open_by(crews->procs, crews->opener);
	err = maps_reader_new(&maps_reader, &crews->maps_reader);
	if (!err)
		procs_read_by(crews->procs, crews->maps_reader);
	return err;
}

void crews_stop(struct crews *crews)
{
	procs_open_by(crews->procs, NULL);
	procs_read_by(crews->procs, NULL);
	if (crews->opener)
		opener_stop(crews->opener);
	if (crews->maps_reader)
		maps_reader_stop(crews->maps_reader);
}

void crews_free(struct crews *crews)
{
	opener_free(crews->opener);
	maps_reader_free(crews->maps_reader);
}
