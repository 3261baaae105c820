/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cpython/python_awaits.h"

#include "cpython/python_places.h"

#include <errno.h>
#include <string.h>

enum kind {
	KIND_NONE,
	KIND_COROUTINE,
	KIND_GENERATOR, /* of types.coroutine: nobody knows whether it awaits or yields */
	KIND_WRAPPER,   /* has the object that is awaited in its first field */
};

static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{"coroutine", KIND_COROUTINE},           {"generator", KIND_GENERATOR},
	{"async_generator", KIND_COROUTINE},     {"coroutine_wrapper", KIND_WRAPPER},
	{"async_generator_asend", KIND_WRAPPER}, {"async_generator_athrow", KIND_WRAPPER},
};

enum {
	TYPE_NAME = 24, /* PyTypeObject.tp_name */
	NAME_BYTES = 24,
	FIRST_FIELD = 16,
	VERSION_3_11 = 0x030b,
	VERSION_3_13 = 0x030d,
	VERSION_3_14 = 0x030e,
	/* Of the frame in a generator, and in the frame. */
	FRAME_IN_3_11 = 80,
	FRAME = 72,
	STATE_BEFORE = 5, /* gi_frame_state */
	STACK_TOP = 64,   /* int, counted from the first local variable; 3.14: the address */
	LOCALS = 72,      /* before 3.14 */
	LOCALS_3_14 = 80,
	MAX_STACK = 1 << 16,
	MAX_WRAPPERS = 4, /* one in another */
};

bool python_awaits_is_named(struct python_awaits *awaits, uint64_t object, const char *name)
{
	struct python_objects *objects = awaits->objects;
	uint64_t type = python_objects_pointer(objects, object + objects->process->object_type);
	char bytes[NAME_BYTES];
	uint64_t at;
	size_t len = strlen(name) + 1;

	/* A name need not be aligned, as a pointer to an object is. */
	return type && len <= sizeof(bytes) &&
	       python_objects_bytes(objects, type + TYPE_NAME, &at, sizeof(at)) &&
	       python_objects_bytes(objects, at, bytes, len) && !memcmp(bytes, name, len);
}

static enum kind kind_of(struct python_awaits *awaits, uint64_t object)
{
	struct python_objects *objects = awaits->objects;
	uint64_t type = python_objects_pointer(objects, object + objects->process->object_type);
	enum kind kind = KIND_NONE;

	for (uint32_t i = 0; i < awaits->type_count; i++)
		if (awaits->types[i].address == type)
			return (enum kind)awaits->types[i].kind;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !kind; i++)
		if (python_awaits_is_named(awaits, object, kinds[i].name))
			kind = kinds[i].kind;
	if (type && awaits->type_count < sizeof(awaits->types) / sizeof(*awaits->types)) {
		awaits->types[awaits->type_count].address = type;
		awaits->types[awaits->type_count++].kind = kind;
	}
	return kind;
}

static uint64_t frame_in(const struct python_awaits *awaits, uint64_t object)
{
	return object + (awaits->objects->process->version == VERSION_3_11 ? FRAME_IN_3_11 : FRAME);
}

/* False: it has no frame any more. */
static bool read_state(struct python_awaits *awaits, uint64_t frame,
                       enum runtime_task_state *ret_state)
{
	uint32_t version = awaits->objects->process->version;
	int8_t state, created = version >= VERSION_3_13 ? -3 : -2;

	if (!python_objects_bytes(awaits->objects, frame - STATE_BEFORE, &state, sizeof(state)) ||
	    state > 0)
		return false;
	*ret_state = state == created ? TASK_NEW : state < 0 ? TASK_READY : TASK_RUNS;
	return true;
}

/* The stack pointer is behind the top. */
static uint64_t top_of_3_14(struct python_awaits *awaits, uint64_t frame)
{
	uint64_t end = python_objects_pointer(awaits->objects, frame + STACK_TOP);
	uint64_t locals = frame + LOCALS_3_14;

	if (end <= locals || end - locals > MAX_STACK * sizeof(end))
		return 0;
	return python_objects_reference(awaits->objects, end - sizeof(end));
}

/* What is on top of the stack of a frame. */
static uint64_t top_of(struct python_awaits *awaits, uint64_t frame)
{
	int32_t top;

	if (awaits->objects->process->version >= VERSION_3_14)
		return top_of_3_14(awaits, frame);
	if (!python_objects_bytes(awaits->objects, frame + STACK_TOP, &top, sizeof(top)) ||
	    top <= 0 || top > MAX_STACK)
		return 0;
	return python_objects_pointer(awaits->objects,
	                              frame + LOCALS + ((uint64_t)top - 1) * sizeof(uint64_t));
}

/* False: it is no frame. */
static bool add_frame(struct python_awaits *awaits, uint64_t frame, enum runtime_task_state state,
                      struct runtime_tasks *tasks, struct runtime_task *task, int *ret_err)
{
	struct python_objects *objects = awaits->objects;
	uint64_t code = python_objects_reference(objects, frame + objects->process->frame_code);
	struct runtime_task_frame *into = &task->frames[task->frame_count];
	_cleanup_(python_place_release) struct python_place place = {0};
	uint64_t instruction = 0;

	if (state != TASK_NEW)
		python_objects_bytes(objects, frame + objects->process->frame_instruction,
		                     &instruction, sizeof(instruction));
	if (!python_place_read(objects, code, instruction, &place))
		return false;
	into->function = runtime_tasks_text(tasks, buf_text(&place.function));
	into->file = runtime_tasks_text(tasks, buf_text(&place.file));
	into->line = place.line;
	into->first_line = place.first_line;
	if (!into->function || !into->file)
		*ret_err = -ENOMEM;
	else
		task->frame_count++;
	return true;
}

static uint64_t unwrapped(struct python_awaits *awaits, uint64_t object, enum kind *ret_kind)
{
	*ret_kind = kind_of(awaits, object);
	for (int i = 0; i < MAX_WRAPPERS && object && *ret_kind == KIND_WRAPPER; i++) {
		object = python_objects_pointer(awaits->objects, object + FIRST_FIELD);
		*ret_kind = object ? kind_of(awaits, object) : KIND_NONE;
	}
	return object;
}

int python_awaits_read(struct python_awaits *awaits, uint64_t coroutine,
                       struct runtime_tasks *tasks, struct runtime_task *task)
{
	enum runtime_task_state state;
	enum kind kind;
	int err = 0;

	while (coroutine && !err && task->frame_count < RUNTIME_TASK_FRAMES) {
		uint64_t frame;

		coroutine = unwrapped(awaits, coroutine, &kind);
		frame = frame_in(awaits, coroutine);
		if ((kind != KIND_COROUTINE && kind != KIND_GENERATOR) ||
		    !read_state(awaits, frame, &state) ||
		    !add_frame(awaits, frame, state, tasks, task, &err))
			break;
		/* Where one runs, all those around it do. */
		task->state = state;
		if (state != TASK_READY || kind == KIND_GENERATOR)
			break;
		coroutine = top_of(awaits, frame);
		task->is_cut = coroutine && task->frame_count == RUNTIME_TASK_FRAMES &&
		               kind_of(awaits, coroutine) != KIND_NONE;
	}
	return err;
}
