/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A query is split into parts that fit into a question. When the process fails over a file, the
 * parts are asked again without source lines, because the fault is most likely in the DWARF. Then
 * the client asks for the readable names of all parts. That is a separate question, because a
 * failure there is not the fault of the DWARF.
 */
#include "names/client.h"

#include "names/functions.h"
#include "names/wire.h"

#include <errno.h>
#include <string.h>

enum { NICENESS = 5 }; /* requests wait for names, but they are not urgent */

struct names_client {
	struct reader *reader;
	char *program;
	struct readable_asker readable;
	uint64_t addresses; /* may be read by any thread */
};

struct names_client *names_client_new(const char *program, uint64_t max_bytes)
{
	return names_client_new_as(program, "names", max_bytes);
}

struct names_client *names_client_new_as(const char *program, const char *name, uint64_t max_bytes)
{
	_cleanup_(names_client_freep) struct names_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->program = strdup(program);
	if (!client->program)
		return NULL;
	client->reader =
		reader_new(&(struct reader_program){client->program, name, max_bytes, NICENESS});
	if (!client->reader)
		return NULL;
	reader_let_names(client->reader);
	client->readable =
		(struct readable_asker){.reader = client->reader, .max_bytes = max_bytes / 4};
	return TAKE_PTR(client);
}

void names_client_free(struct names_client *client)
{
	if (!client)
		return;
	reader_free(client->reader);
	free(client->program);
	free(client);
}

void names_client_deadline(struct names_client *client, uint64_t ns)
{
	reader_deadline(client->reader, ns);
}

void names_client_hurry(struct names_client *client, uint64_t ns)
{
	reader_hurry(client->reader, ns);
	client->readable.hurry_ns = ns;
}

pid_t names_client_pid(const struct names_client *client)
{
	return reader_pid(client->reader);
}

struct reader *names_client_reader(struct names_client *client)
{
	return client->reader;
}

/* The answers to the parts of a query that is too long for one request. */
struct answers {
	struct reader_reply *replies;
	size_t count;
};

static void answers_release(struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		free(answers->replies[i].bytes);
	free(answers->replies);
	*answers = (struct answers){0};
}

static size_t part_len(const struct names_query *query, size_t part)
{
	size_t left = query->count - part * WIRE_MAX_ADDRESSES;

	return left < WIRE_MAX_ADDRESSES ? left : WIRE_MAX_ADDRESSES;
}

static int check_frames(const uint8_t *bytes, size_t len, void *ctx)
{
	return wire_frames_read(bytes, len, *(size_t *)ctx, NULL, NULL);
}

static int ask_part(struct names_client *client, const struct names_query *query, size_t part,
                    bool lines, struct reader_reply *ret_reply)
{
	struct wire_query head = {.file = query->file};
	size_t count = part_len(query, part);
	struct reader_query asked = {
		.question = {.job = lines ? READER_NAMES : READER_NAMES_WITHOUT_LINES,
	                     .pieces = {{&head, sizeof(head)},
	                                {query->addresses + part * WIRE_MAX_ADDRESSES,
	                                 count * sizeof(*query->addresses)}}},
		.file = query->file,
		.check = check_frames,
		.ctx = &count,
	};

	memcpy(asked.question.fds, query->fds, sizeof(query->fds));
	int err = reader_ask(client->reader, &asked, ret_reply);
	/* -E2BIG is reserved for callers: their fn may return it to stop. */
	return err == -E2BIG ? -EIO : err;
}

static int ask_parts(struct names_client *client, const struct names_query *query, bool lines,
                     struct answers *answers)
{
	size_t parts = (query->count - 1) / WIRE_MAX_ADDRESSES + 1;

	answers->replies = calloc(parts, sizeof(*answers->replies));
	if (!answers->replies)
		return -ENOMEM;
	for (; answers->count < parts; answers->count++) {
		int err = ask_part(client, query, answers->count, lines,
		                   &answers->replies[answers->count]);
		if (err < 0)
			return err;
	}
	return 0;
}

static int ask(struct names_client *client, const struct names_query *query,
               struct answers *answers)
{
	int err = ask_parts(client, query, query->lines, answers);

	if (err == -EIO && query->lines) {
		answers_release(answers);
		err = ask_parts(client, query, false, answers);
	}
	return err;
}

static int note_function(size_t index, const struct source_frame *frame, void *ctx)
{
	(void)index;
	return frame->function ? functions_note(ctx, frame->function) : 0;
}

static int read_functions(struct names_client *client, const struct names_query *query,
                          const struct answers *answers, struct functions *functions)
{
	int err = 0;

	for (size_t i = 0; i < answers->count && !err; i++)
		err = wire_frames_read(answers->replies[i].bytes, answers->replies[i].len,
		                       part_len(query, i), note_function, functions);
	if (err)
		return err;
	return functions_ask(functions, &client->readable);
}

struct part_ctx {
	size_t first; /* index of the part's first address */
	const struct functions *functions;
	source_frame_fn *fn;
	void *ctx;
};

static int tell_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	const struct part_ctx *part = ctx;
	struct source_frame told = *frame;

	if (frame->function)
		told.readable = functions_readable(part->functions, frame->function);
	return part->fn(part->first + index, &told, part->ctx);
}

static int tell(const struct names_query *query, const struct answers *answers,
                const struct functions *functions, source_frame_fn *fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < answers->count && !err; i++) {
		struct part_ctx part = {i * WIRE_MAX_ADDRESSES, functions, fn, ctx};
		err = wire_frames_read(answers->replies[i].bytes, answers->replies[i].len,
		                       part_len(query, i), tell_frame, &part);
	}
	return err;
}

int names_client_readable(struct names_client *client, const char *const *names, size_t count,
                          struct readable *ret_readable)
{
	names_client_hurry(client, 0);
	return readable_ask(&client->readable, names, count, ret_readable);
}

int names_client_find(struct names_client *client, const struct names_query *query,
                      source_frame_fn *fn, void *ctx)
{
	struct answers answers = {0};
	struct functions functions = {0};

	if (!query->count)
		return 0;
	if (query->fds[FILE_ITSELF] < 0)
		return -EINVAL;
	__atomic_fetch_add(&client->addresses, query->count, __ATOMIC_RELAXED);
	int err = ask(client, query, &answers);
	if (err == 0)
		err = read_functions(client, query, &answers, &functions);
	if (err == 0)
		err = tell(query, &answers, &functions, fn, ctx);
	functions_release(&functions);
	answers_release(&answers);
	return err;
}

void names_client_cancel(struct names_client *client)
{
	reader_cancel(client->reader);
}

void names_client_rest(struct names_client *client, uint64_t idle_ns)
{
	reader_rest(client->reader, idle_ns);
}

void names_client_add_stats(const struct names_client *client, struct names_stats *stats)
{
	struct reader_stats read = {0};

	reader_add_stats(client->reader, &read);
#define STAT(name, type, help) stats->name += read.name;
	READER_STATS(STAT)
#undef STAT
	stats->addresses += __atomic_load_n(&client->addresses, __ATOMIC_RELAXED);
	stats->mangled_failed += __atomic_load_n(&client->readable.failed_names, __ATOMIC_RELAXED);
	stats->mangled_left += __atomic_load_n(&client->readable.left_names, __ATOMIC_RELAXED);
}

void names_client_get_stats(const struct names_client *client, struct names_stats *ret_stats)
{
	*ret_stats = (struct names_stats){0};
	names_client_add_stats(client, ret_stats);
}
