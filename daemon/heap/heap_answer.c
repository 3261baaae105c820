/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a session answers: the profile made of its events, the figures that go with it, or the
 * reason why there is no profile.
 */
#include "heap/heap_session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define END(name, text) text,
static const char *const end_texts[] = {HEAP_ENDS(END)};
#undef END

void heap_session_refuse(struct heap_session *session, int err, const char *format, ...)
{
	va_list arguments;

	session->result.err = err;
	va_start(arguments, format);
	vsnprintf(session->result.why, sizeof(session->result.why), format, arguments);
	va_end(arguments);
}

/* Says what could not be done, for people. */
void heap_session_explain(struct heap_session *session, int err)
{
	uint32_t pid = session->ask.pid;
	const char *why = heap_kernel_why(session->shared->kernel);

	if (*why) {
		heap_session_refuse(session, -ENOTSUP, "%s", why);
		return;
	}
	switch (err) {
	case -ESRCH:
		heap_session_refuse(
			session, err,
			session->ended
				? "process %u ended or called exec before profd could watch it"
				: "there is no process %u",
			pid);
		break;
	case -ENOENT:
		heap_session_refuse(
			session, err,
			"profd found no allocator in process %u: its symbols include no malloc()",
			pid);
		break;
	case -EIO:
		heap_session_refuse(session, err,
		                    "profd found no allocator in process %u and could not search "
		                    "%u of its files, such as %s",
		                    pid, session->plan.unread, session->plan.unread_file);
		break;
	case -ETIMEDOUT:
		heap_session_refuse(
			session, err,
			"the search for an allocator in the files of process %u took too long",
			pid);
		break;
	case -ECHILD:
		heap_session_refuse(
			session, err,
			"cannot watch process %u: profd could not start a reader process", pid);
		break;
	case -ENOTSUP:
		if (session->plan.file_count == 0 && session->shared->priced)
			heap_session_refuse(session, err,
			                    "process %u runs a program of another architecture, "
			                    "such as a 32-bit one",
			                    pid);
		else
			heap_session_refuse(session, err,
			                    "this kernel cannot attach BPF programs to uprobes");
		break;
	case -EACCES:
		if (!session->shared->priced) {
			heap_session_refuse(session, -ENOTSUP, "%s", uprobes_error(err));
			break;
		}
		/* fall through */
	case -EPERM:
		heap_session_refuse(session, err,
		                    "cannot watch process %u: profd may not access it (%s)", pid,
		                    strerror(-err));
		break;
	default:
		heap_session_refuse(session, err, "cannot watch process %u: %s", pid,
		                    strerror(-err));
	}
}

/* Fills in the figures of what was watched. */
void heap_session_note(struct heap_session *session, enum heap_end end)
{
	struct heap_figures *figures = &session->result.figures;
	struct heaps_stats *stats = session->shared->stats;
	struct heap_reading reading;
	const struct heap_counts *counts = &reading.counts;

	heap_guard_read(&session->guard, &session->guard.started, &reading);
	figures->end = end;
	figures->end_text = end_texts[end];
	figures->start_mono_ns = session->guard.started.mono_ns;
	figures->watched_ns = reading.ns;
	figures->hits = counts->emulated + counts->stepped;
	figures->actual_cost = reading.cost;
	figures->dropped =
		counts->lost + counts->over_share + counts->full + counts->busy + counts->pending;
	stats->heap_events_lost += counts->lost;
	stats->heap_events_over_share += counts->over_share;
	stats->heap_addresses_full += counts->full;
	stats->heap_lane_busy += counts->busy;
	stats->heap_pending_lost += counts->pending;
}

void heap_session_take(struct heap_session *session, const struct heap_event *event,
                       const uint64_t *words)
{
	const struct heap_fed fed = {
		.event = event,
		.words = words,
		.weight = heap_weigh(event->size, session->ask.rate_bytes),
	};

	switch (event->kind) {
	case HEAP_EVENT_ALLOC:
		session->shared->stats->heap_samples++;
		heap_feed_alloc(session->feed, &fed);
		break;
	case HEAP_EVENT_FREE:
		session->shared->stats->heap_freed++;
		heap_feed_free_address(session->feed, event->address, event->time_ns);
		break;
	case HEAP_EVENT_EXEC:
		heap_session_end(session, HEAP_END_exec);
		break;
	}
}

void heap_session_conclude(struct heap_session *session)
{
	struct heap_figures *figures = &session->result.figures;
	const struct heap_span span = {
		.start_mono_ns = figures->start_mono_ns,
		.end_mono_ns = figures->start_mono_ns + figures->watched_ns,
		.rate_bytes = session->ask.rate_bytes,
	};
	struct heap_table_stats table;

	if (session->result.err)
		return;
	heap_feed_get_stats(session->feed, &table);
	figures->samples = table.allocated;
	figures->freed = table.freed;
	figures->dropped += table.no_room_live + table.no_room_stacks;
	session->shared->stats->heap_table_full += table.no_room_live + table.no_room_stacks;
	session->result.err = heap_feed_profile(session->feed, session->ask.mode, &span,
	                                        &session->result.profile);
	if (session->result.err)
		heap_session_explain(session, session->result.err);
}
