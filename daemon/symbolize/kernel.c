/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /proc/kallsyms: the names of functions of the kernel, its modules and its BPF programs. The text
 * may come from a hostile container or from a test, so it is parsed like any untrusted input.
 */
#include "symbolize/kernel.h"
#include "base/bounds.h"
#include "base/buf.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* Longer names do not exist (KSYM_NAME_LEN is 512, MODULE_NAME_LEN 56) and would be truncated. */
enum { MAX_NAME = 1024, MAX_MODULE = 128 };

struct kallsym {
	uint64_t address;
	char type, name[MAX_NAME], module[MAX_MODULE];
};

static void copy_word(struct text word, char *into, size_t size)
{
	size_t len = (size_t)(word.end - word.at);

	if (len > size - 1)
		len = size - 1;
	memcpy(into, word.at, len);
	into[len] = '\0';
}

static bool parse_line(struct text line, struct kallsym *ret_symbol)
{
	struct text type, name, module;

	if (!text_hex(&line, &ret_symbol->address) || !text_char(&line, ' ') ||
	    !text_word(&line, &type) || type.end - type.at != 1 || !text_word(&line, &name) ||
	    memchr(name.at, '\0', (size_t)(name.end - name.at)))
		return false;
	ret_symbol->type = *type.at;
	copy_word(name, ret_symbol->name, sizeof(ret_symbol->name));
	ret_symbol->module[0] = '\0';
	if (text_word(&line, &module) && text_char(&module, '[') && module.at < module.end &&
	    module.end[-1] == ']') {
		module.end--;
		copy_word(module, ret_symbol->module, sizeof(ret_symbol->module));
	}
	return true;
}

int kallsyms_parse(const char *text, size_t len, struct symtab **ret_symtab)
{
	_cleanup_(symtab_freep) struct symtab *symtab = symtab_new();
	struct text rest = text_of(text, len), line;
	bool any_line = false, any_address = false;
	struct kallsym symbol;

	if (!symtab)
		return -ENOMEM;
	while (text_line(&rest, &line)) {
		if (!parse_line(line, &symbol))
			continue;
		any_line = true;
		any_address |= symbol.address != 0;
		/* Data symbols do not occur on a stack. */
		if (!strchr("tTwW", symbol.type))
			continue;
		bool global = symbol.type == 'T';
		int err = symtab_add(symtab, symbol.name, symbol.address, 0, global,
		                     symbol.module[0] ? symbol.module : NULL);
		if (err < 0)
			return err;
	}
	if (!any_line)
		return -EBADMSG;
	if (!any_address)
		return -EACCES;
	int err = symtab_seal(symtab);
	if (err < 0)
		return err;
	*ret_symtab = TAKE_PTR(symtab);
	return 0;
}

int kallsyms_read(struct symtab **ret_symtab)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	int err = buf_read_file(&text, "/proc/kallsyms", MAX_KALLSYMS_BYTES);
	if (err < 0)
		return err;
	return kallsyms_parse(buf_text(&text), text.len, ret_symtab);
}
