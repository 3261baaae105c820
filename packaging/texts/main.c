/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fills a template: copies standard input to standard output, with each @NAME@ replaced by its
 * block.
 */
#include "packaging/texts/texts.h"

#include "api/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

static void version(struct buf *out)
{
	buf_add_text(out, PROFD_VERSION);
}

static const struct {
	const char *name;
	texts_fn *write;
} blocks[] = {
	{"version", version},
	{"man-commands", texts_man_commands},
	{"man-settings-as-options", texts_man_settings_as_options},
	{"man-options", texts_man_options},
	{"man-settings", texts_man_settings},
	{"sample", texts_sample},
	{"words-commands", texts_words_commands},
	{"words-options", texts_words_options},
	{"words-with-argument", texts_words_with_argument},
	{"words-files", texts_words_files},
	{"zsh-options", texts_zsh_options},
	{"zsh-commands", texts_zsh_commands},
	{"fish-options", texts_fish_options},
	{"fish-commands", texts_fish_commands},
};

/* The length of "@NAME@" at `at`; 0: there is no such mark. */
static size_t mark(const char *at)
{
	size_t len = *at == '@' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz-") : 0;

	return len && at[1 + len] == '@' ? len + 2 : 0;
}

static int add_block(struct buf *out, const char *at, size_t len)
{
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (strlen(blocks[i].name) == len - 2 && !memcmp(blocks[i].name, at + 1, len - 2)) {
			blocks[i].write(out);
			return 0;
		}
	}
	fprintf(stderr, "texts: there is no block %.*s\n", (int)len, at);
	return -EINVAL;
}

static int fill(struct buf *out, const char *at)
{
	size_t len;
	int err = 0;

	while (*at && !err) {
		len = mark(at);
		if (len > 0) {
			err = add_block(out, at, len);
			at += len;
		} else {
			buf_add_char(out, *at++);
		}
	}
	return err ? err : buf_error(out);
}

/* Replaces the page's files, which contain the manual pages that this program makes. */
const struct page_file page_files[] = {{0}};

int main(void)
{
	_cleanup_(buf_release) struct buf template = BUF_INIT, out = BUF_INIT;

	if (buf_read_file(&template, "/dev/stdin", 1 << 20) < 0) {
		fprintf(stderr, "texts: cannot read the template\n");
		return EX_NOINPUT;
	}
	if (fill(&out, buf_text(&template)) < 0)
		return EX_DATAERR;
	fputs(buf_text(&out), stdout);
	return fflush(stdout) || ferror(stdout) ? EX_IOERR : EX_OK;
}
