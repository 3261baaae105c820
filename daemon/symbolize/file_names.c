/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asks for names, and remembers the answers.
 */
#include "symbolize/file_names.h"

#include "base/clock.h"
#include "symbolize/file_names_private.h"
#include "symbolize/native.h"

#include <errno.h>
#include <string.h>

static void naming_release(struct naming *naming)
{
	free(naming->answers);
	free(naming->functions);
	free(naming->addresses);
	free(naming->unanswered);
}

static int find_answers(struct naming *naming)
{
	struct builder *answers = naming->file->answers;

	naming->answers = calloc(naming->count, sizeof(*naming->answers));
	naming->addresses = calloc(naming->count, sizeof(*naming->addresses));
	naming->unanswered = calloc(naming->count, sizeof(*naming->unanswered));
	if (!naming->answers || !naming->addresses || !naming->unanswered)
		return -ENOMEM;
	for (size_t i = 0; i < naming->count; i++) {
		uint64_t address = naming->wanted[i].address;
		uint32_t answer = builder_location(answers, 0, address);

		naming->answers[i] = answer;
		if (!answer || builder_view(answers)->locations[answer].line_count)
			continue;
		naming->addresses[naming->unanswered_count] = address;
		naming->unanswered[naming->unanswered_count++] = answer;
	}
	return builder_error(answers);
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static bool is_late(const struct file_names *names)
{
	return clock_mono_ns() >= names->until_ns;
}

/* Names have limits because a file of a few kilobytes can have names that are gigabytes when
 * demangled, and take minutes. */
static int take_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	struct naming *naming = ctx;
	struct builder *answers = naming->file->answers;
	uint32_t function = native_frame(answers, naming->path, frame);

	builder_line(answers, naming->unanswered[index], function,
	             native_line(naming->object, naming->addresses[index], frame));
	if (builder_memory(answers) > naming->names->max_answer_bytes || is_late(naming->names))
		return -E2BIG;
	return builder_error(answers);
}

static void note_unknown(struct naming *naming)
{
	struct builder *answers = naming->file->answers;
	uint32_t unknown = builder_function(answers, &NOTHING_KNOWN);

	for (size_t i = 0; i < naming->unanswered_count; i++)
		if (!builder_view(answers)->locations[naming->unanswered[i]].line_count)
			builder_line(answers, naming->unanswered[i], unknown, 0);
}

/* Asks about all addresses that were ever requested for the file, so that the answer replaces all
 * earlier ones. */
static int ask_later(struct naming *naming, struct object *object)
{
	const struct profile *known = builder_view(naming->file->answers);
	_cleanup_free_ uint64_t *addresses = calloc(known->location_count, sizeof(*addresses));
	struct slow_question question = {
		.file = naming->file->id,
		.object = object,
		.debug = naming->file->debug.debug,
		.supplement = naming->file->debug.supplement,
		.path = naming->path,
		.addresses = addresses,
	};

	if (!addresses)
		return -ENOMEM;
	for (uint32_t i = 1; i < known->location_count; i++)
		addresses[question.count++] = known->locations[i].address;
	qsort(addresses, question.count, sizeof(*addresses), by_address);
	return slow_names_ask(naming->names->slow, &question);
}

static void forget_asked(struct naming *naming)
{
	free(naming->answers);
	free(naming->addresses);
	free(naming->unanswered);
	naming->answers = NULL;
	naming->addresses = NULL;
	naming->unanswered = NULL;
	naming->unanswered_count = 0;
}

/* 0: all addresses have answers now; -EAGAIN: some have none yet; -ENOENT: some must be asked
 * about. */
static int take_slow(struct naming *naming, uint64_t patience)
{
	struct builder *answers;
	int err = slow_names_take(naming->names->slow, naming->file->id, patience, &answers);

	if (err)
		return err;
	builder_free(naming->file->answers);
	naming->file->answers = answers;
	forget_asked(naming);
	err = find_answers(naming);
	/* There are new addresses to ask about. */
	return err == 0 && naming->unanswered_count ? -ENOENT : err;
}

/* Takes the answers that are ready, and has the remaining addresses asked about. */
static int ask_slow(struct naming *naming, struct object *object, uint64_t patience)
{
	struct file_names *names = naming->names;
	int err = take_slow(naming, patience);

	if (err == -ENOENT) {
		err = ask_later(naming, object);
		if (err == 0)
			err = take_slow(naming, patience);
	}
	if (err == -ENOMEM)
		return err;
	if (err == -EAGAIN && patience)
		late_users_note(&names->late_users, object, clock_mono_ns());
	names->late += err == -EAGAIN;
	names->lost += err && err != -EAGAIN;
	return 0;
}

/* Addresses that cannot be asked about now may be asked about in a later run. */
static int ask(struct naming *naming, struct object *object)
{
	const struct debug_files *debug = &naming->file->debug;
	const struct names_query query = {
		.file = naming->file->id,
		.fds = {[FILE_ITSELF] = object->fd,
	                [FILE_DEBUG] = debug->debug ? debug->debug->fd : -1,
	                [FILE_SUPPLEMENT] = debug->supplement},
		.addresses = naming->addresses,
		.count = naming->unanswered_count,
		.lines = !naming->are_locks,
	};
	uint64_t patience =
		late_users_patience_ns(&naming->names->late_users, object, clock_mono_ns());
	int err = -ETIME;

	if (naming->file->slow)
		return ask_slow(naming, object, patience);
	if (patience && !is_late(naming->names)) {
		names_client_hurry(naming->names->client, patience);
		err = names_client_find(naming->names->client, &query, take_frame, naming);
	}
	if (err == -ETIMEDOUT || !patience) {
		if (patience)
			late_users_note(&naming->names->late_users, object, clock_mono_ns());
		naming->file->slow = true;
		return ask_slow(naming, object, 0);
	}
	if (err == -ENOMEM)
		return err;
	if (err)
		naming->names->lost++;
	else
		note_unknown(naming);
	if (err == -E2BIG)
		return err;
	return builder_error(naming->file->answers);
}

/* The file gets its names without the debug file as long as that is late. */
static int refresh(struct naming *naming, struct object *object)
{
	struct file_names *names = naming->names;
	struct known_file *file = naming->file;
	const struct debug_search search = {
		.reader = names_client_reader(names->client),
		.aside = names->aside,
		.fetch = names->fetch,
		.check_ns = &names->check_ns,
	};

	names_client_hurry(names->client, PATIENCE_NS);
	if (!debug_files_refresh(&file->debug, object, &search))
		return 0;
	return known_file_reset(&names->files, file);
}

static int name_known(struct naming *naming, struct object *object)
{
	struct known_file *file = naming->file;
	uint64_t late = naming->names->late;
	int err = 0;

	if (object) {
		file->pid = object->pid;
		file->root = object->root;
		/* By the root folder and namespace at the time of opening: the process may have
		 * ended. */
		file->is_hosts = reach_is_hosts(&object->root, object->spaces.mount);
		if (!is_late(naming->names))
			err = refresh(naming, object);
	}
	if (!err)
		err = find_answers(naming);
	if (!err && naming->unanswered_count && object)
		err = ask(naming, object);
	else if (!err)
		naming->names->lost += naming->unanswered_count > 0;
	if (naming->names->late == late)
		naming->names->late += file->debug.is_late;
	if (!err)
		err = naming_copy_answers(naming);
	return err;
}

/* `id` is the object of the locations' mapping; 0: none. */
static int add_of(struct file_names *names, struct builder *builder, uint32_t id,
                  const struct wanted *wanted, size_t count)
{
	const struct profile *profile = builder_view(builder);
	const struct mapping mapping = profile->mappings[wanted->mapping];
	/* A copy, because adding a name may move the builder's strings. */
	_cleanup_free_ char *path = strdup(profile_string(profile, mapping.path));
	_cleanup_(object_unrefp) struct object *object = id ? store_get(names->store, id) : NULL;
	_cleanup_(naming_release) struct naming naming = {
		.names = names,
		.builder = builder,
		.wanted = wanted,
		.count = count,
		.object = object,
		.path = path,
		.are_locks = mapping.kind == MAPPING_LOCK,
	};

	if (!path)
		return -ENOMEM;
	bool full = builder_memory(builder) > names->max_profile_bytes;
	if (!id || full) {
		names->lost += full;
		naming_copy_places(&naming);
		return builder_error(builder);
	}
	naming.file = known_files_get(&names->files, id);
	if (!naming.file)
		return -ENOMEM;
	struct reader *reader = names_client_reader(names->client);
	reader_of_user(reader, object ? reader_user(object->user, object->owner) : 0);
	int err = name_known(&naming, object);
	reader_of_user(reader, 0);
	/* A partial answer is discarded. */
	if (err == -E2BIG || builder_error(naming.file->answers))
		known_file_reset(&names->files, naming.file);
	if (err == -E2BIG) {
		naming_copy_places(&naming);
		err = builder_error(builder);
	}
	known_files_trim(&names->files);
	return err;
}

/* Moves to the front the locations for whose file offsets the object has addresses, converts these
 * offsets, and returns their number. */
static size_t find_own(const struct object *object, struct wanted *wanted, size_t count)
{
	size_t own = 0;

	for (size_t i = 0; i < count; i++) {
		struct wanted found = wanted[i];

		if (!object_address(object, found.address, &found.address))
			continue;
		wanted[i] = wanted[own];
		wanted[own++] = found;
	}
	qsort(wanted, own, sizeof(*wanted), wanted_compare);
	return own;
}

/* For samples that were taken before the file was open. */
static int add_awaited(struct file_names *names, struct builder *builder, uint32_t ticket,
                       const struct wanted *wanted, size_t count)
{
	_cleanup_free_ struct wanted *copy = calloc(count, sizeof(*copy));
	_cleanup_(object_unrefp) struct object *object = NULL;
	uint32_t id = 0;
	int err = store_find_ticket(names->store, ticket, &id);
	size_t own = 0;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, wanted, count * sizeof(*copy));
	if (id)
		object = store_get(names->store, id);
	if (object)
		own = find_own(object, copy, count);
	names->late += err == -EAGAIN;
	/* The object may be gone, and what was sampled may be in no segment of the file. */
	names->lost += err != -EAGAIN && own < count;
	err = own ? add_of(names, builder, id, copy, own) : 0;
	if (!err && own < count)
		err = add_of(names, builder, 0, copy + own, count - own);
	return err;
}

int file_names_add(struct file_names *names, struct builder *builder, const struct wanted *wanted,
                   size_t count)
{
	uint32_t id = builder_view(builder)->mappings[wanted->mapping].object;

	if (store_is_ticket(id))
		return add_awaited(names, builder, id, wanted, count);
	names->lost += !id;
	return add_of(names, builder, id, wanted, count);
}
