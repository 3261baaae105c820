/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list begins with the newest interpreter and ends with the main one. If a thread has names in
 * several interpreters, the one in the main interpreter is kept.
 */
#include "cpython/python_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DUMMY "Dummy-"

struct naming {
	struct python_objects *objects;
	struct python_name *names;
	size_t count;
	bool out_of_memory;
};

static int by_ident(const void *key, const void *element)
{
	const uint64_t *ident = key;
	const struct python_name *name = element;

	return *ident < name->ident ? -1 : *ident > name->ident;
}

/* Finds threading._active and remembers its place. 0: the module may not have been imported yet. */
static uint64_t find_active(struct python_objects *objects, struct python_dicts *dicts,
                            uint64_t interpreter)
{
	uint64_t modules, module, active;
	size_t free_one = MAX_PYTHON_DICTS - 1;

	for (size_t i = 0; i < MAX_PYTHON_DICTS; i++) {
		if (dicts->known[i].interpreter == interpreter)
			return dicts->known[i].active;
		if (!dicts->known[i].interpreter && i < free_one)
			free_one = i;
	}
	modules = python_objects_pointer(objects,
	                                 interpreter + objects->process->interpreter_modules);
	module = modules ? python_objects_find(objects, modules, "threading") : 0;
	active = module ? python_objects_variable(objects, module, "_active") : 0;
	if (active) {
		dicts->known[free_one].interpreter = interpreter;
		dicts->known[free_one].active = active;
	}
	return active;
}

static void name_thread(uint64_t ident, uint64_t thread, void *ctx)
{
	struct naming *naming = ctx;
	struct python_name *name =
		bsearch(&ident, naming->names, naming->count, sizeof(*naming->names), by_ident);
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	uint64_t object;

	if (!name)
		return;
	object = python_objects_attribute(naming->objects, thread, "_name");
	if (!object || !python_objects_text(naming->objects, object, MAX_PYTHON_THREAD_NAME, &text))
		return;
	if (buf_error(&text)) {
		naming->out_of_memory = true;
		return;
	}
	if (!strncmp(buf_text(&text), DUMMY, strlen(DUMMY)))
		return;
	free(name->text);
	name->text = strdup(buf_text(&text));
	naming->out_of_memory |= !name->text;
}

int python_names_read(struct python_objects *objects, struct python_dicts *dicts,
                      struct python_name *names, size_t count)
{
	struct naming naming = {.objects = objects, .names = names, .count = count};
	uint64_t interpreter = python_objects_pointer(objects, objects->process->interpreters);
	int named = 0;

	for (int i = 0; i < MAX_PYTHON_SUBS && interpreter; i++) {
		uint64_t active = find_active(objects, dicts, interpreter);

		if (active)
			python_objects_each(objects, active, name_thread, &naming);
		interpreter = python_objects_pointer(
			objects, interpreter + objects->process->interpreter_next);
	}
	if (naming.out_of_memory)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		named += names[i].text != NULL;
	/* A remembered dict may be gone, so forget the places. */
	if (!named)
		*dicts = (struct python_dicts){0};
	return named;
}
