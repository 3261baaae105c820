/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Feeds are found by pid and image. A feed whose program is over stays for two more drains: its
 * last calls may still be counted in a half, and need its names.
 */
#include "gpu/gpu_feeds.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/shares.h"
#include "base/table.h"
#include "gpu/gpu_losses.h"
#include "proc/owner.h"
#include "proc/scan.h"

#include <string.h>

enum {
	DRAINS_AFTER_END = 2,
	REFUSED = 1024, /* programs that are refused again without a check; a power of two */
};

struct entry {
	uint64_t key; /* pid above image */
	struct gpu_feed *feed;
	UT_hash_handle hh;
};

struct gpu_feeds {
	struct gpu_feeds_config config;
	struct entry *by_key;
	struct gpu_names names;
	uint64_t feeds_lost;
	uint64_t unmatched_before; /* of feeds that are forgotten */
	struct gpu_losses losses;
	struct shares feed_shares, byte_shares; /* by user: number; bytes at the last settle */
	uint64_t refused[REFUSED];              /* since the last settle, some of them; 0: none */
};

static uint64_t key_of(uint32_t pid, uint32_t image)
{
	return (uint64_t)pid << 32 | image;
}

struct gpu_feeds *gpu_feeds_new(const struct gpu_feeds_config *config)
{
	struct gpu_feeds *feeds = calloc(1, sizeof(*feeds));

	if (!feeds)
		return NULL;
	feeds->config = *config;
	feeds->losses.hash_key = config->hash_key;
	feeds->feed_shares.whole = MAX_GPU_FEEDS;
	feeds->byte_shares.whole = MAX_GPU_FEEDS_BYTES;
	gpu_names_init(&feeds->names);
	return feeds;
}

static void forget(struct gpu_feeds *feeds, struct entry *entry)
{
	feeds->unmatched_before += gpu_feed_unmatched(entry->feed, UINT64_MAX);
	gpu_names_forget(&feeds->names, &entry->feed->handles);
	shares_give(&feeds->feed_shares, entry->feed->handles.owner, 1);
	gpu_feed_free(entry->feed);
	HASH_DEL(feeds->by_key, entry);
	free(entry);
}

void gpu_feeds_free(struct gpu_feeds *feeds)
{
	struct entry *entry, *next;

	if (!feeds)
		return;
	HASH_ITER (hh, feeds->by_key, entry, next)
		forget(feeds, entry);
	shares_clear(&feeds->feed_shares);
	shares_clear(&feeds->byte_shares);
	gpu_names_release(&feeds->names);
	free(feeds);
}

void gpu_feeds_attached(struct gpu_feeds *feeds, uint64_t mono_ns)
{
	feeds->losses.attached_ns = mono_ns;
}

void gpu_feeds_lost(struct gpu_feeds *feeds, uint32_t place, uint64_t mono_ns)
{
	struct entry *entry, *next;

	gpu_losses_note(&feeds->losses, place, mono_ns);
	HASH_ITER (hh, feeds->by_key, entry, next)
		entry->feed->late |=
			gpu_losses_may_be_of(&feeds->losses, place, entry->feed->handles.owner);
}

/* Whether the process may have called the driver before it was probed, or while events were
 * lost. */
static bool is_late(const struct gpu_feeds *feeds, uint32_t pid, uint32_t owner, uint64_t mono_ns)
{
	const struct image *image = procs_image(feeds->config.tables.procs, pid, mono_ns);

	return !image || image->start_mono_ns <= gpu_losses_until(&feeds->losses, owner);
}

static uint64_t *refused_at(struct gpu_feeds *feeds, uint64_t key)
{
	return &feeds->refused[key * 0x9e3779b97f4a7c15 >> 54];
}

/* Finding the owner reads a file of /proc, so a program that was refused is refused without a check
 * until the next settle. */
static bool may_have_feed(struct gpu_feeds *feeds, uint64_t key, uint32_t *ret_owner)
{
	uint64_t *refused = refused_at(feeds, key);

	if (*refused == key)
		return false;
	*ret_owner = owner_read((uint32_t)(key >> 32));
	if (shares_take(&feeds->feed_shares, *ret_owner, 1))
		return true;
	*refused = key;
	return false;
}

struct gpu_feed *gpu_feeds_find(const struct gpu_feeds *feeds, uint32_t pid, uint32_t image)
{
	uint64_t key = key_of(pid, image);
	struct entry *entry;

	HASH_FIND(hh, feeds->by_key, &key, sizeof(key), entry);
	return entry ? entry->feed : NULL;
}

struct gpu_feed *gpu_feeds_get(struct gpu_feeds *feeds, uint32_t pid, uint32_t image,
                               uint64_t mono_ns)
{
	struct gpu_feed *known = gpu_feeds_find(feeds, pid, image);
	uint64_t key = key_of(pid, image);
	uint32_t owner = OWNER_UNKNOWN;
	struct entry *entry;

	if (known)
		return known;
	if (!may_have_feed(feeds, key, &owner)) {
		feeds->feeds_lost++;
		return NULL;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry)
		entry->feed = gpu_feed_new(&feeds->config.tables, pid, image, mono_ns);
	if (entry && entry->feed) {
		entry->key = key;
		HASH_ADD(hh, feeds->by_key, key, sizeof(key), entry);
	}
	if (!entry || !entry->hh.tbl) {
		gpu_feed_free(entry ? entry->feed : NULL);
		free(entry);
		shares_give(&feeds->feed_shares, owner, 1);
		feeds->feeds_lost++;
		return NULL;
	}
	entry->feed->late = is_late(feeds, pid, owner, mono_ns);
	entry->feed->handles.owner = entry->feed->paths.owner = owner;
	entry->feed->paths.crowded = shares_exceeded(&feeds->byte_shares, owner);
	return entry->feed;
}

/* For a process that the process table has no room for, only the kernel knows. */
bool gpu_feeds_is_over(const struct gpu_feeds *feeds, const struct gpu_feed *feed)
{
	struct procs *procs = feeds->config.tables.procs;
	const struct image *image;

	if (!procs_known(procs, feed->pid))
		return !scan_exists(feed->pid);
	if (!procs_mappings(procs, feed->pid))
		return true;
	image = procs_image(procs, feed->pid, UINT64_MAX);
	return !image || image->start_mono_ns > feed->start_ns;
}

/* A user with more than what is left for all keeps nothing new until they hold less. */
static void share_bytes(struct gpu_feeds *feeds)
{
	struct entry *entry, *next;

	shares_clear(&feeds->byte_shares);
	HASH_ITER (hh, feeds->by_key, entry, next)
		shares_add(&feeds->byte_shares, entry->feed->handles.owner,
		           gpu_feed_memory(entry->feed));
	HASH_ITER (hh, feeds->by_key, entry, next)
		entry->feed->paths.crowded =
			shares_exceeded(&feeds->byte_shares, entry->feed->handles.owner);
}

void gpu_feeds_settle(struct gpu_feeds *feeds)
{
	struct entry *entry, *next;

	memset(feeds->refused, 0, sizeof(feeds->refused));
	share_bytes(feeds);
	HASH_ITER (hh, feeds->by_key, entry, next) {
		struct gpu_feed *feed = entry->feed;
		bool was_over = feed->over;

		/* A process that goes on after all, as when its end was reported by mistake, has
		 * lost nothing yet. */
		feed->over = gpu_feeds_is_over(feeds, feed);
		if (feed->over && !was_over)
			feed->drains_left = DRAINS_AFTER_END;
	}
}

static enum gpu_layer layer_of(enum profile_kind kind)
{
	return kind == KIND_gpu_tensor ? GPU_LAYER_TENSOR : GPU_LAYER_DRIVER;
}

int gpu_feeds_allocated(struct gpu_feeds *feeds, enum profile_kind kind, struct builder *into,
                        uint64_t *ret_count)
{
	struct entry *entry, *next;
	uint64_t count;
	int err = 0;

	*ret_count = 0;
	HASH_ITER (hh, feeds->by_key, entry, next) {
		int failed = gpu_feed_allocated(entry->feed, layer_of(kind), into, &count);

		*ret_count += count;
		err = err ?: failed;
	}
	return err;
}

int gpu_feeds_held(struct gpu_feeds *feeds, enum profile_kind kind, struct builder *into)
{
	struct entry *entry, *next;
	int err = 0;

	HASH_ITER (hh, feeds->by_key, entry, next)
		if (!err && !entry->feed->over)
			err = gpu_feed_held(entry->feed, layer_of(kind), into);
	return err;
}

struct gpu_names *gpu_feeds_names(struct gpu_feeds *feeds)
{
	return &feeds->names;
}

void gpu_feeds_drained(struct gpu_feeds *feeds, uint64_t duration_ns)
{
	struct entry *entry, *next;

	HASH_ITER (hh, feeds->by_key, entry, next) {
		gpu_totals_end_second(&entry->feed->totals, duration_ns);
		gpu_paths_refresh(&entry->feed->paths);
		if (entry->feed->over && !entry->feed->drains_left--)
			forget(feeds, entry);
	}
}

static int by_pid(const struct entry *a, const struct entry *b)
{
	return (a->key > b->key) - (a->key < b->key);
}

static int tell(const struct gpu_feed *feed, gpu_figures_fn *fn, void *ctx)
{
	int result = 0;

	for (size_t i = 0; !result && i < feed->totals.count; i++) {
		struct gpu_figures figures = feed->totals.at[i].figures;

		figures.pid = feed->pid;
		memcpy(figures.comm, feed->comm, sizeof(figures.comm));
		result = fn(&figures, ctx);
	}
	return result;
}

int gpu_feeds_each(struct gpu_feeds *feeds, gpu_figures_fn *fn, void *ctx)
{
	struct entry *entry, *next;
	int result = 0;

	HASH_SORT(feeds->by_key, by_pid);
	HASH_ITER (hh, feeds->by_key, entry, next)
		if (!result && !entry->feed->over)
			result = tell(entry->feed, fn, ctx);
	return result;
}

void gpu_feeds_get_stats(const struct gpu_feeds *feeds, struct gpu_stats *stats)
{
	uint64_t now_ns = clock_mono_ns();
	struct entry *entry, *next;

	stats->processes = 0;
	stats->unmatched = feeds->unmatched_before;
	HASH_ITER (hh, feeds->by_key, entry, next) {
		stats->processes += !entry->feed->over;
		stats->unmatched += gpu_feed_unmatched(entry->feed, now_ns);
	}
	stats->processes_lost = feeds->feeds_lost;
	stats->names = feeds->names.count;
	stats->names_lost = feeds->names.lost;
}
