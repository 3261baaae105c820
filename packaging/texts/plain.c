/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The README's table of settings, and the sample file.
 */
#include "packaging/texts/texts.h"

static void add_cell(struct buf *out, const char *text)
{
	texts_escape(out, text, "\\|<*_", "\\");
}

/* In code, only a bar must not end the cell. */
static void add_code(struct buf *out, const char *text)
{
	buf_add_char(out, '`');
	texts_escape(out, text, "|", "\\");
	buf_add_char(out, '`');
}

void texts_markdown_settings(struct buf *out)
{
	buf_add_text(out, "| setting | default | accepted | reload | |\n|---|---|---|---|---|");
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];

		buf_add_text(out, "\n| ");
		add_code(out, setting->name);
		buf_add_text(out, " | ");
		if (setting->initial[0]) {
			add_code(out, setting->initial);
			buf_add_char(out, ' ');
		}
		buf_add_text(out, "| ");
		add_cell(out, setting->accepted);
		buf_printf(out, " | %s| ", setting->live ? "yes " : "");
		add_cell(out, setting->help);
		buf_add_text(out, " |");
	}
}

void texts_sample(struct buf *out)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];
		_cleanup_(buf_release) struct buf text = BUF_INIT;

		buf_printf(&text, "%s. %s%sAccepted: %s. ", setting->help, setting->more,
		           setting->more[0] ? " " : "", setting->accepted);
		buf_add_text(&text, setting->live ? "Reload is enough." : "Takes a restart.");
		buf_add_text(out, i ? "\n\n" : "");
		texts_wrap(out, buf_text(&text), "# ", buf_add_text);
		buf_printf(out, "#%s =%s%s", setting->name, setting->initial[0] ? " " : "",
		           setting->initial);
	}
}
