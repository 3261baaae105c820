/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sample file.
 */
#include "packaging/texts/texts.h"

void texts_sample(struct buf *out)
{
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &settings[i];
		_cleanup_(buf_release) struct buf text = BUF_INIT;

		buf_printf(&text, "%s. %s%sAccepted: %s. ", setting->help, setting->more,
		           setting->more[0] ? " " : "", setting->accepted);
		buf_add_text(&text, setting->live ? "Reload is enough." : "Requires a restart.");
		buf_add_text(out, i ? "\n\n" : "");
		texts_wrap(out, buf_text(&text), "# ", buf_add_text);
		buf_printf(out, "#%s =%s%s", setting->name, setting->initial[0] ? " " : "",
		           setting->initial);
	}
}
