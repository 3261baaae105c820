/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "python/python_codes_private.h"

#include "base/clock.h"
#include "base/hash.h"
#include "proc/process_memory.h"
#include "cpython/python_text.h"

#include <errno.h>
#include <string.h>

#include <utlist.h>

enum {
	VERSION_3_10 = 0x030a,
	CUT_NAME = 1,
	CUT_FILE = 2,
};

/* After this time a line table that was put off is asked for again: at each sample of its code, the
 * reports would crowd out others. */
static const uint64_t fetch_again_ns = 10 * NSEC_PER_SEC;

/* A report of the kernel half, or what was fetched in addition. */
struct told {
	struct python_code head;
	const uint8_t *name, *file, *lines;
	size_t lines_len;
};

struct python_codes *python_codes_new(size_t max_bytes)
{
	struct python_codes *codes = calloc(1, sizeof(*codes));

	if (codes)
		codes->max_bytes = max_bytes;
	return codes;
}

static struct owner *get_owner(struct python_codes *codes, uint32_t id)
{
	struct owner *owner;

	HASH_FIND(hh, codes->owners, &id, sizeof(id), owner);
	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->id = id;
	HASH_ADD(hh, codes->owners, id, sizeof(id), owner);
	if (owner->hh.tbl)
		return owner;
	free(owner);
	return NULL;
}

void python_codes_free(struct python_codes *codes)
{
	struct code *code, *next;

	if (!codes)
		return;
	HASH_ITER (hh, codes->codes, code, next)
		python_codes_forget(codes, code);
	lines_fetches_free(codes->fetches);
	free(codes);
}

static int parse(const uint8_t *bytes, size_t len, struct told *ret_told)
{
	struct told told;
	const struct python_code *head = &told.head;

	if (len < sizeof(told.head))
		return -EBADMSG;
	memcpy(&told.head, bytes, sizeof(told.head));
	if (head->signature & WORD_KIND || head->name_bytes > MAX_PYTHON_NAME ||
	    head->file_bytes > MAX_PYTHON_FILE ||
	    (head->name_bytes && !python_text_width(head->name_kind)) ||
	    (head->file_bytes && !python_text_width(head->file_kind)))
		return -EBADMSG;
	told.lines_len =
		head->lines_bytes < MAX_PYTHON_LINES ? head->lines_bytes : MAX_PYTHON_LINES;
	told.name = bytes + sizeof(told.head);
	told.file = told.name + head->name_bytes;
	told.lines = told.file + head->file_bytes;
	/* More bytes may follow: a record of the ring buffer can be longer than its contents. */
	if (sizeof(told.head) + head->name_bytes + head->file_bytes + told.lines_len > len)
		return -EBADMSG;
	*ret_told = told;
	return 0;
}

static lines_fetched_fn take_fetched;

void python_codes_fetch_by(struct python_codes *codes, struct crew *crew, const uint64_t *execs)
{
	codes->crew = crew;
	codes->execs = execs;
}

/* Fetches the rest of a long table from the process, if the process still has it there. Until it
 * arrives, if ever, only the reported part is known. */
static void fetch_lines(struct python_codes *codes, struct code *code, uint32_t owner_id,
                        const struct told *told, const uint8_t *bytes)
{
	const struct lines_wanted wanted = {
		.pid = told->head.pid,
		.began_ns = told->head.began_ns,
		.mono_ns = told->head.time_ns,
		.address = told->head.lines_address,
		.len = told->head.lines_bytes,
		.begin_at = (size_t)(told->lines - bytes),
		.begin_len = told->lines_len,
	};
	const struct lines_fetched fetched = {
		.owner = owner_id,
		.told = bytes,
		.told_len = wanted.begin_at + wanted.begin_len,
	};

	if (wanted.len <= MAX_PYTHON_LINES || wanted.len > MAX_PROCESS_MEMORY_BYTES)
		return;
	code->lines_wanted_ns = 0;
	if (!codes->fetches)
		codes->fetches = lines_fetches_new(codes->crew, codes->execs, take_fetched, codes);
	/* If that succeeds, the code object may be another one by now. */
	if (codes->fetches && !lines_fetches_start(codes->fetches, &wanted, &fetched))
		return;
	code->lines_wanted_ns = codes->now_ns;
	codes->stats.lines_put_off++;
}

static size_t known_bytes(const struct told *told)
{
	return told->head.name_bytes + told->head.file_bytes + told->lines_len;
}

static int ref_file(struct python_codes *codes, struct owner *owner, const char *path,
                    struct source_file **ret_file)
{
	size_t len = strlen(path);
	struct source_file *file;

	HASH_FIND(hh, codes->files, path, len, file);
	if (!file) {
		file = calloc(1, sizeof(*file) + len + 1);
		if (!file)
			return -ENOMEM;
		memcpy(file->path, path, len);
		HASH_ADD_KEYPTR(hh, codes->files, file->path, len, file);
		if (!file->hh.tbl) {
			free(file);
			return -ENOMEM;
		}
		file->bytes = sizeof(*file) + len + 1;
		file->owner = owner;
		python_codes_charge(codes, owner, file->bytes);
	}
	file->references++;
	*ret_file = file;
	return 0;
}

static int keep(struct python_codes *codes, struct owner *owner, const struct told *told,
                const struct buf *name, struct source_file *file)
{
	size_t marks_bytes = (told->lines_len / LINE_STEP + 1) * sizeof(struct line_place);
	size_t bytes = sizeof(struct code) + name->len + 1 + told->lines_len;
	struct code *code = calloc(1, bytes);

	if (!code)
		return -ENOMEM;
	code->signature = told->head.signature;
	code->owner = owner;
	code->file = file;
	code->version = told->head.version;
	code->first_line = told->head.first_line;
	code->bytes = bytes + marks_bytes;
	code->known = known_bytes(told);
	code->met_minute = codes->minute;
	memcpy(code->text, name->data, name->len);
	memcpy(code->text + name->len + 1, told->lines, told->lines_len);
	code->lines = (const uint8_t *)code->text + name->len + 1;
	/* In these versions, an odd length marks a table as truncated. */
	code->lines_len =
		told->lines_len - (told->lines_len < told->head.lines_bytes &&
	                           told->head.version < VERSION_3_10 && told->lines_len % 2 == 0);
	code->identity = runtime_function_identity(code->text, code->file->path, code->first_line);
	code->marks = calloc(code->lines_len / LINE_STEP + 1, sizeof(*code->marks));
	if (code->marks)
		HASH_ADD(hh, codes->codes, signature, sizeof(code->signature), code);
	if (!code->hh.tbl) {
		free(code->marks);
		free(code);
		return -ENOMEM;
	}
	code->mark_count = python_line_marks(code->version, code->lines, code->lines_len,
	                                     code->first_line, code->marks);
	DL_PREPEND(owner->latest, code);
	codes->stats.codes++;
	python_codes_charge(codes, owner, code->bytes);
	return 0;
}

static int add_told(struct python_codes *codes, struct owner *owner, const struct told *told)
{
	_cleanup_(buf_release) struct buf name = BUF_INIT, path = BUF_INIT;
	const struct python_code *head = &told->head;
	struct source_file *file;
	int err;

	python_text_add(&name, head->name_kind, told->name, head->name_bytes,
	                head->name_bytes && head->cut & CUT_NAME);
	python_text_add(&path, head->file_kind, told->file, head->file_bytes,
	                head->file_bytes && head->cut & CUT_FILE);
	if (!name.len)
		buf_add_text(&name, "[python: name not readable]");
	if (buf_error(&name) || buf_error(&path))
		return -ENOMEM;
	err = ref_file(codes, owner, buf_text(&path), &file);
	if (err < 0)
		return err;
	err = keep(codes, owner, told, &name, file);
	if (err < 0)
		python_codes_unref_file(codes, file);
	return err;
}

static struct code *find(const struct python_codes *codes, uint64_t signature)
{
	struct code *code;

	HASH_FIND(hh, codes->codes, &signature, sizeof(signature), code);
	return code;
}

static int take(struct python_codes *codes, uint32_t owner_id, const struct told *told)
{
	struct code *old = find(codes, told->head.signature);
	struct owner *owner;
	int err;

	if (old && old->known >= known_bytes(told))
		return 0;
	if (old)
		python_codes_forget(codes, old);
	owner = get_owner(codes, owner_id);
	if (!owner)
		return -ENOMEM;
	/* Keeps the owner from being freed if adding fails. */
	python_codes_charge(codes, owner, 1);
	err = add_told(codes, owner, told);
	python_codes_discharge(codes, owner, 1);
	python_codes_make_room(codes, find(codes, told->head.signature));
	return err;
}

static void take_fetched(const struct lines_fetched *fetched, void *ctx)
{
	struct told told;

	if (!fetched->lines || parse(fetched->told, fetched->told_len, &told))
		return;
	told.lines = fetched->lines;
	told.lines_len = fetched->lines_len;
	take(ctx, fetched->owner, &told);
}

int python_codes_add(struct python_codes *codes, uint32_t owner_id, const void *bytes, size_t len)
{
	struct told told;
	struct code *code;
	int err = parse(bytes, len, &told);

	if (err < 0) {
		codes->stats.codes_broken++;
		return err;
	}
	err = take(codes, owner_id, &told);
	code = find(codes, told.head.signature);
	if (!err && code && code->lines_len < told.head.lines_bytes)
		fetch_lines(codes, code, owner_id, &told, bytes);
	return err;
}

void python_codes_told_in(struct python_codes *codes, u64 *told)
{
	codes->told = told;
}

bool python_codes_find(struct python_codes *codes, uint64_t signature, uint32_t offset,
                       struct runtime_frame *ret_frame)
{
	struct code *code = find(codes, signature);

	if (!code) {
		python_codes_ask_again(codes, signature);
		return false;
	}
	code->met_minute = codes->minute;
	if (code->lines_wanted_ns && codes->now_ns - code->lines_wanted_ns > fetch_again_ns) {
		code->lines_wanted_ns = codes->now_ns;
		python_codes_ask_again(codes, signature);
	}
	DL_DELETE(code->owner->latest, code);
	DL_PREPEND(code->owner->latest, code);
	struct line_place place =
		python_line_mark(code->marks, code->mark_count, code->first_line, offset);
	uint32_t line = python_line(code->version, code->lines, code->lines_len, place, offset);
	*ret_frame = (struct runtime_frame){
		.function = code->text,
		.file = code->file->path,
		.line = line,
		.first_line = code->first_line,
		.version = code->version,
		.identity = runtime_line_identity(code->identity, line),
	};
	return true;
}

void python_codes_get_stats(const struct python_codes *codes, struct python_codes_stats *ret_stats)
{
	*ret_stats = codes->stats;
}
