/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens the sources of names of one file when they are first needed, and keeps them until
 * named_file_forget(). The data that remains after that is small.
 */
#include "names/named_file.h"

#include "elf/debugdata.h"
#include "elf/elf_symtab.h"
#include "names/named_file_private.h"

#include <errno.h>
#include <string.h>

/* Symbols in .gnu_debugdata of a stripped file; those of a large C++ library take 3 MB. */
enum { MAX_DEBUGDATA_BYTES = 64 << 20 };

void named_file_free(struct named_file *file)
{
	if (!file)
		return;
	dwarf_lines_free(file->dwarf);
	gopclntab_free(file->go);
	elf_free(file->inner);
	free(file->inner_bytes);
	elf_free(file->debug);
	elf_free(file->elf);
	for (int i = 0; i < FILE_COUNT; i++)
		closep(&file->fds[i]);
	free(file);
}

int named_file_open(const int fds[FILE_COUNT], struct named_file **ret_file)
{
	_cleanup_(named_file_freep) struct named_file *file = calloc(1, sizeof(*file));

	if (!file) {
		for (int i = 0; i < FILE_COUNT; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		return -ENOMEM;
	}
	memcpy(file->fds, fds, sizeof(file->fds));
	int err = fds[FILE_ITSELF] < 0 ? -ENOEXEC : elf_open_fd(fds[FILE_ITSELF], &file->elf);
	if (err < 0)
		return err == -ENOMEM ? err : -ENOEXEC;
	/* Without a valid debug file, the other sources are still used. */
	if (fds[FILE_DEBUG] >= 0 && elf_open_fd(fds[FILE_DEBUG], &file->debug) == -ENOMEM)
		return -ENOMEM;
	*ret_file = TAKE_PTR(file);
	return 0;
}

/* Broken parts of a file count as missing; but a lack of memory may be temporary, so it is an
 * error. */
static int unless_no_memory(int err)
{
	return err == -ENOMEM ? err : 0;
}

/* These symbols are compressed in the file, so unlike other symbols they cannot be read in place
 * and are kept decompressed. */
static int read_debugdata(struct named_file *file)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t len;
	int err = debugdata_read(file->elf, MAX_DEBUGDATA_BYTES, &bytes, &len);

	if (err == 0)
		err = elf_open_bytes(bytes, len, &file->inner);
	if (err < 0)
		return unless_no_memory(err);
	file->inner_bytes = TAKE_PTR(bytes);
	file->inner_len = len;
	return 0;
}

static int read_names(struct named_file *file)
{
	int err = 0;

	if (file->names_read)
		return 0;
	if (!file->go)
		err = unless_no_memory(gopclntab_open(file->elf, &file->go));
	if (err == 0 && !file->inner)
		err = read_debugdata(file);
	file->names_read = err == 0;
	return err;
}

int named_file_read_lines(struct named_file *file)
{
	const struct {
		int fd;
		const struct elf *elf;
	} places[] = {{file->fds[FILE_DEBUG], file->debug}, {file->fds[FILE_ITSELF], file->elf}};

	for (size_t i = 0; !file->lines_read && i < sizeof(places) / sizeof(places[0]); i++) {
		int fd = places[i].fd;
		/* A file whose sections are not used elsewhere is not passed to libdw either. */
		if (fd < 0 || !places[i].elf || !elf_has_sections(places[i].elf))
			continue;
		int err = dwarf_lines_open(fd, file->fds[FILE_SUPPLEMENT], &file->dwarf);
		if (err == -ENOMEM)
			return err;
		if (err == 0)
			break;
	}
	if (file->dwarf && file->dwarf_keep)
		dwarf_lines_keep(file->dwarf, file->dwarf_keep);
	file->lines_read = true;
	return 0;
}

/* Tables of symbols that do not fit in memory are left out, since some names are better than none;
 * but none, because of that, is not what the file says. */
struct counting {
	source_frame_fn *fn;
	void *ctx;
	bool has_names;
};

static int count_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	struct counting *counting = ctx;

	counting->has_names |= frame->function != NULL;
	return counting->fn(index, frame, counting->ctx);
}

static bool symbols_fit(const struct named_file *file)
{
	return elf_symbols_fit(file->elf) && (!file->inner || elf_symbols_fit(file->inner)) &&
	       (!file->debug || elf_symbols_fit(file->debug));
}

static int find(struct named_file *file, const uint64_t *addresses, size_t count, bool lines,
                struct counting *counting)
{
	const struct elf *const places[] = {file->elf, file->inner, file->debug};
	_cleanup_(symtab_freep) struct symtab *symbols = NULL;
	int err = elf_symtab_at(places, sizeof(places) / sizeof(places[0]), addresses, count,
	                        &symbols);

	if (err < 0)
		return err;
	const struct named_search search = {file, symbols, addresses, count, lines};
	err = named_search(&search, count_frame, counting);
	return err || counting->has_names || symbols_fit(file) ? err : -ENOMEM;
}

int named_file_find(struct named_file *file, const uint64_t *addresses, size_t count, bool lines,
                    source_frame_fn *fn, void *ctx)
{
	struct counting counting = {fn, ctx, false};
	int err = read_names(file);

	return err == 0 && count ? find(file, addresses, count, lines, &counting) : err;
}

void named_file_forget(struct named_file *file)
{
	if (file->dwarf)
		dwarf_lines_forget(file->dwarf);
	if (!file->go)
		return;
	gopclntab_free(file->go);
	file->go = NULL;
	file->names_read = false;
}

void named_file_keep(struct named_file *file, size_t bytes)
{
	file->dwarf_keep = bytes;
}

size_t named_file_memory(const struct named_file *file)
{
	return sizeof(*file) + file->inner_len + (file->go ? gopclntab_memory(file->go) : 0) +
	       (file->dwarf ? dwarf_lines_memory(file->dwarf) : 0);
}
