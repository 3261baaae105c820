/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * "Loose" are the data of an account that can be dropped: its ended processes, and the points of
 * its other processes and of its groups. The rest stays for as long as the processes live, so it
 * does not count when an account is chosen.
 */
#include "base/accounts.h"
#include "memory/timeline_private.h"

#include <string.h>

struct timeline_account *timeline_account(struct timeline *timeline, uint32_t user)
{
	uint32_t id = account_of(user);
	struct timeline_account *account;

	HASH_FIND(hh, timeline->accounts, &id, sizeof(id), account);
	if (account)
		return account;
	account = calloc(1, sizeof(*account));
	if (!account)
		return NULL;
	account->account = id;
	HASH_ADD(hh, timeline->accounts, account, sizeof(account->account), account);
	if (account->hh.tbl)
		return account;
	free(account);
	return NULL;
}

void timeline_forget_accounts(struct timeline *timeline)
{
	struct timeline_account *account, *next;

	HASH_ITER (hh, timeline->accounts, account, next) {
		if (account->processes || account->groups)
			continue;
		HASH_DEL(timeline->accounts, account);
		free(account);
	}
}

void timeline_drop_process(struct timeline *timeline, struct process *process)
{
	if (process->group)
		process->group->holders--;
	process->account->processes--;
	process->account->ended -= process->seen.ended;
	HASH_DEL(timeline->processes, process);
	growth_track_end(&process->seen.track, &timeline->room);
	series_release(&process->seen.series);
	free(process);
}

void timeline_drop_group(struct timeline *timeline, struct group *group)
{
	group->account->groups--;
	shares_give(&timeline->group_room, group->account->account, 1);
	HASH_DEL(timeline->groups, group);
	series_release(&group->seen.series);
	free(group->path);
	free(group);
}

static size_t bytes_of_process(const struct process *process)
{
	return sizeof(*process) + series_bytes(&process->seen.series);
}

size_t timeline_bytes(const struct timeline *timeline)
{
	size_t bytes = timeline->room.taken;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		bytes += bytes_of_process(process);
	for (struct group *group = timeline->groups; group; group = group->hh.next)
		bytes += sizeof(*group) + strlen(group->path) + series_bytes(&group->seen.series);
	return bytes;
}

/* Counts the loose bytes of each account; returns their sum. */
static size_t count_loose(struct timeline *timeline)
{
	struct timeline_account *account;
	size_t loose = 0;

	for (account = timeline->accounts; account; account = account->hh.next)
		account->loose = 0;
	for (struct process *process = timeline->processes; process; process = process->hh.next)
		process->account->loose += process->seen.ended
		                                   ? bytes_of_process(process)
		                                   : series_bytes(&process->seen.series);
	for (struct group *group = timeline->groups; group; group = group->hh.next)
		group->account->loose += series_bytes(&group->seen.series);
	for (account = timeline->accounts; account; account = account->hh.next)
		loose += account->loose;
	return loose;
}

/* NULL: no account has loose data. */
static struct timeline_account *with_most_loose(const struct timeline *timeline)
{
	struct timeline_account *account, *most = NULL;

	for (account = timeline->accounts; account; account = account->hh.next)
		if (account->loose > (most ? most->loose : 0))
			most = account;
	return most;
}

static int compare_seen(const void *a, const void *b)
{
	const struct process *const *left = a, *const *right = b;
	uint64_t left_ms = (*left)->seen.seen_ms, right_ms = (*right)->seen.seen_ms;

	return (left_ms > right_ms) - (left_ms < right_ms);
}

/* The ended processes of the account, the ones that ended longest ago first; NULL when there are
 * none. */
static struct process **sort_ended(const struct timeline *timeline,
                                   const struct timeline_account *account)
{
	struct process **ended =
		account->ended ? calloc(account->ended, sizeof(struct process *)) : NULL;
	size_t count = 0;

	if (!ended)
		return NULL;
	for (struct process *process = timeline->processes; process; process = process->hh.next)
		if (process->seen.ended && process->account == account)
			ended[count++] = process;
	qsort(ended, count, sizeof(struct process *), compare_seen);
	return ended;
}

/* Drops ended processes of the account until at most `max_processes` are left and at least `bytes`
 * are released, or until there are none. They are sorted once, because tens of thousands may end
 * together. Returns the released bytes. */
static size_t drop_ended(struct timeline *timeline, struct timeline_account *account,
                         size_t max_processes, size_t bytes)
{
	_cleanup_free_ struct process **ended = sort_ended(timeline, account);
	size_t count = ended ? account->ended : 0, given = 0;

	for (size_t i = 0;
	     i < count && (HASH_COUNT(timeline->processes) > max_processes || given < bytes); i++) {
		given += bytes_of_process(ended[i]);
		timeline_drop_process(timeline, ended[i]);
		timeline->evicted++;
	}
	return given;
}

/* Of the accounts with ended processes, the one with most processes. NULL when there is none, or
 * when no account has more processes than the newcomer's and all of the latter live. */
static struct timeline_account *who_gives_way(const struct timeline *timeline,
                                              const struct timeline_account *newcomer)
{
	struct timeline_account *account, *found = NULL;
	size_t most = 0;

	for (account = timeline->accounts; account; account = account->hh.next) {
		if (account->processes > most)
			most = account->processes;
		if (account->ended && (!found || account->processes > found->processes))
			found = account;
	}
	return !newcomer->ended && newcomer->processes == most ? NULL : found;
}

/* Drops several processes at once, because each call goes through all processes. */
bool timeline_make_room(struct timeline *timeline, const struct timeline_account *newcomer)
{
	size_t max = timeline->limits.max_processes;
	struct timeline_account *account;

	if (HASH_COUNT(timeline->processes) < max)
		return true;
	account = who_gives_way(timeline, newcomer);
	if (account)
		drop_ended(timeline, account, max - 1 - max / 16, 0);
	return HASH_COUNT(timeline->processes) < max;
}

/* The time of the second point; from then on the first point can be dropped. */
static uint64_t second_ms(const struct series *series)
{
	struct series_cursor cursor = series_begin(series);
	struct series_point point;

	return series_next(&cursor, &point) && series_next(&cursor, &point) ? point.ms : UINT64_MAX;
}

static uint64_t oldest_of(const struct timeline *timeline, const struct timeline_account *account,
                          uint64_t now_ms)
{
	uint64_t oldest_ms = now_ms, ms;

	for (struct process *process = timeline->processes; process; process = process->hh.next) {
		ms = process->account == account ? second_ms(&process->seen.series) : UINT64_MAX;
		oldest_ms = ms < oldest_ms ? ms : oldest_ms;
	}
	for (struct group *group = timeline->groups; group; group = group->hh.next) {
		ms = group->account == account ? second_ms(&group->seen.series) : UINT64_MAX;
		oldest_ms = ms < oldest_ms ? ms : oldest_ms;
	}
	return oldest_ms;
}

/* Forgets the points of the account in the oldest eighth of the time that they span. */
static void shorten(struct timeline *timeline, const struct timeline_account *account,
                    uint64_t now_ms)
{
	uint64_t oldest_ms = oldest_of(timeline, account, now_ms);
	uint64_t from_ms = oldest_ms + (now_ms - oldest_ms) / 8;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		if (process->account == account)
			series_expire(&process->seen.series, from_ms);
	for (struct group *group = timeline->groups; group; group = group->hh.next)
		if (group->account == account)
			series_expire(&group->seen.series, from_ms);
}

/* Fixed data reduce the room for loose data, but to no less than a quarter: otherwise a user with
 * thousands of sleeping processes would make the daemon forget the past of all users. */
static size_t room_for_loose(size_t max_bytes, size_t fixed)
{
	size_t left = max_bytes > fixed ? max_bytes - fixed : 0;

	return left > max_bytes / 4 ? left : max_bytes / 4;
}

/* Drops a little at a time: the room of expired points in a series is reused, but not released at
 * once. */
void timeline_shrink(struct timeline *timeline, uint64_t now_ms)
{
	size_t max_bytes = timeline->limits.max_bytes, bytes = timeline_bytes(timeline);
	struct timeline_account *account;
	size_t loose, room, over;

	if (bytes <= max_bytes)
		return;
	loose = count_loose(timeline);
	room = room_for_loose(max_bytes, bytes - loose);
	over = loose > room ? loose - room : 0;
	account = with_most_loose(timeline);
	if (over && account && drop_ended(timeline, account, SIZE_MAX, over) < over)
		shorten(timeline, account, now_ms);
}
