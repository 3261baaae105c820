/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The single table of the settings. The options of the command line and --help, the keys of the
 * configuration file, their bounds and defaults, the output of `profd config show`, the manual
 * pages, the sample file, the README's table and shell completion are made from it. Pure; any
 * thread.
 */
#pragma once

#include "config.h"

enum setting_kind {
	SETTING_ADDRESSES,
	SETTING_URLS,   /* one text, separated by blanks */
	SETTING_HOSTS,  /* the same for host names */
	SETTING_NAME,   /* of a user or group; empty: none */
	SETTING_PATH,   /* of a file; may be empty */
	SETTING_SWITCH, /* an option without argument; yes or no in a file */
	SETTING_YES_NO, /* yes or no, also as an option, so that it can be turned off */
	SETTING_AUTO,   /* the same, or auto; enum automatic */
	SETTING_NUMBER,
	SETTING_DURATION,
	SETTING_SIZE,
};

#define GIB (1024ULL * 1024 * 1024)
#define MIB (1024ULL * 1024)

/* SETTING(key, name, argument, kind, field, default, min, max, live, accepted, help, more);
 * `argument`: FILE or PATH for a file, which shells complete; `live`: can change while profd runs,
 * when SIGHUP makes it read the file again; `accepted`: fits before "is accepted"; `help`: one
 * sentence without its period, for --help and other places with little room; `more`: further
 * sentences, for the manual pages. The default value is added where the texts are shown. */
#define SETTINGS(SETTING)                                                                          \
	SETTING('l', "listen", "ADDR:PORT|unix:PATH", SETTING_ADDRESSES, listen_count,             \
	        "127.0.0.1:9090", 0, MAX_LISTENERS, false,                                         \
	        "ADDR:PORT with a numeric address, [ADDR6]:PORT, :PORT or unix:PATH, at most 8 "   \
	        "of them",                                                                         \
	        "Where to answer HTTP; may be repeated",                                           \
	        "ADDR is numeric, an IPv6 address in brackets; without it all addresses are "      \
	        "meant. A unix socket is open to profd's user and group only.")                    \
	SETTING('f', "freq", "HZ", SETTING_NUMBER, sample_hz, "99", 1, MAX_SAMPLE_HZ, false,       \
	        "an integer from 1 to 1000", "Samples per second and CPU", "")                     \
	SETTING('k', "history", "DURATION", SETTING_DURATION, history_ns, "10m",                   \
	        10 * NSEC_PER_SEC, MAX_CAPTURE_SECONDS * NSEC_PER_SEC, false,                      \
	        "a duration from 10s to 10m, such as 90s or 5m", "How far back the past is kept",  \
	        "")                                                                                \
	SETTING('m', "history-memory", "SIZE", SETTING_SIZE, history_bytes, "64MiB", MIB, 4 * GIB, \
	        true, "a size from 1MiB to 4GiB, such as 64MiB",                                   \
	        "How much memory the past may take",                                               \
	        "What does not fit is dropped, oldest first.")                                     \
	SETTING('u', "unwind-memory", "SIZE", SETTING_SIZE, unwind_bytes, "48MiB", 4 * MIB,        \
	        256 * MIB, false, "a size from 4MiB to 256MiB, such as 48MiB",                     \
	        "How much kernel memory unwind tables may take",                                   \
	        "Where it is used up, the table that no walk has used for the longest time goes "  \
	        "first.")                                                                          \
	SETTING('s', "symbol-memory", "SIZE", SETTING_SIZE, symbol_bytes, "128MiB", 16 * MIB,      \
	        4 * GIB, false, "a size from 16MiB to 4GiB, such as 128MiB",                       \
	        "How much memory names, source lines and what they are read from may take",        \
	        "A quarter of it is for what is remembered, the rest for the process that reads "  \
	        "files. Another, for files that take long, may take as much.")                     \
	SETTING('d', "debuginfod", "URLS", SETTING_URLS, debuginfod, "", 0, 0, false,              \
	        "a list of https:// URLs, or http:// with debuginfod-http, of up to 160 bytes "    \
	        "each",                                                                            \
	        "Fetch debug files that this host lacks from these servers",                       \
	        "URLs separated by blanks. Files are downloaded in the background, by a process "  \
	        "without privileges, and kept in /var/cache/profd.")                               \
	SETTING('D', "debuginfod-cache", "SIZE", SETTING_SIZE, debuginfod_bytes, "2GiB", MIB,      \
	        1024 * GIB, false, "a size from 1MiB to 1024GiB, such as 2GiB",                    \
	        "How much disk downloaded debug files may take",                                   \
	        "What was used least recently is removed first. One file has at most half of it, " \
	        "and 2GiB, and so much is downloaded in an hour for the files of one user; "       \
	        "root's "                                                                          \
	        "are only limited in number.")                                                     \
	SETTING('H', "debuginfod-http", "yes|no", SETTING_YES_NO, debuginfod_http, "no", 0, 1,     \
	        false, "yes or no", "Let servers of debug files be asked by http://",              \
	        "Whoever is between here and there can make up the files then, and with them "     \
	        "names and lines.")                                                                \
	SETTING('g', "group", "NAME", SETTING_NAME, group, "", 0, 0, true,                         \
	        "the name of a group of up to 64 bytes",                                           \
	        "Answer only root and members of this group, of this host's users",                \
	        "Whoever asks from this host is looked up by the connection's other end. Clients " \
	        "that have shown their credentials, and those elsewhere, are no matter of it. "    \
	        "Who "                                                                             \
	        "is a member is read at the start and on SIGHUP. Without a group, all users of "   \
	        "this host are answered, and /heap puts probes into a process for root only, and " \
	        "for its owner where user-probes has it.")                                         \
	SETTING('a', "allow-host", "NAMES", SETTING_HOSTS, allow_hosts, "", 0, 0, true,            \
	        "a list of names of hosts of up to 160 bytes each, without port",                  \
	        "Answer under these names, too, beside localhost, addresses and this host's own",  \
	        "Names separated by blanks. A request over TCP whose Host is another one is "      \
	        "refused, unless it comes with credentials: a web page of anybody can have a "     \
	        "name of its own lead here.")                                                      \
	SETTING('o', "on-demand", "yes|no", SETTING_YES_NO, on_demand, "yes", 0, 1, true,          \
	        "yes or no", "Put probes into a process while somebody asks for its heap",         \
	        "With no, /heap answers only for processes that sample their own allocations.")    \
	SETTING('G', "gpu", "yes|no", SETTING_YES_NO, gpu, "yes", 0, 1, false, "yes or no",        \
	        "Probe CUDA's driver, PyTorch and XLA wherever mapped",                            \
	        "Without such a process nothing is attached and nothing is done. With no, there "  \
	        "are no profiles about GPUs.")                                                     \
	SETTING('U', "user-probes", "yes|no|auto", SETTING_AUTO, user_probes, "auto", 0, 2, false, \
	        "yes, no or auto",                                                                 \
	        "Put probes into files that users bring, and for /heap at their wish",             \
	        "While the kernel puts a probe into a file, no process of the host can fork, and " \
	        "any user can make that last. Root's processes, and files that are installed in "  \
	        "this host's folders and that only root can write, such as CUDA's driver, are "    \
	        "probed anyway; others, such as PyTorch in a virtual environment, and /heap for "  \
	        "the owner of a process, only with yes. With auto, they are for a single user: "   \
	        "the only one from 1000 to 59999 in /etc/passwd.")                                 \
	SETTING('R', "growth", "yes|no|auto", SETTING_AUTO, growth, "auto", 0, 2, false,           \
	        "yes, no or auto", "Record which stacks make memory grow",                         \
	        "With auto, resident memory is looked at when the kernel takes pages from its "    \
	        "free "                                                                            \
	        "lists, which costs programs less than 2 %. With yes, whenever pages come to a "   \
	        "process, also those that were freed just before or that a file had already: a "   \
	        "program that does nothing but touch pages takes 5 % longer. And growth of "       \
	        "address "                                                                         \
	        "space is recorded, too, which makes mmap take 3 % longer.")                       \
	SETTING('t', "max-seconds", "N", SETTING_NUMBER, max_seconds, "600", 1,                    \
	        MAX_CAPTURE_SECONDS, true, "an integer from 1 to 600",                             \
	        "The longest seconds= that is accepted", "")                                       \
	SETTING('n', "max-requests", "N", SETTING_NUMBER, max_requests, "1024", 1,                 \
	        MAX_CONNECTIONS, true, "an integer from 1 to 16384",                               \
	        "How many requests may be under way that are not answered at once",                \
	        "One is under way until its answer is sent. One more is answered 503. A "          \
	        "sixteenth of them is for root alone. Of the rest a user of this host may have "   \
	        "as many as he leaves for all others: half, if nobody else asks.")                 \
	SETTING('q', "max-client-requests", "N", SETTING_NUMBER, max_client_requests, "64", 1,     \
	        MAX_CONNECTIONS, true, "an integer from 1 to 16384",                               \
	        "How many of these one address elsewhere may have",                                \
	        "One more is answered 429. An IPv6 address counts by its first 64 bits.")          \
	SETTING('x', "max-client-connections", "N", SETTING_NUMBER, max_client_connections,        \
	        "1024", 1, MAX_CONNECTIONS, true, "an integer from 1 to 16384",                    \
	        "How many connections one user of this host, or one address elsewhere, may have",  \
	        "One more is hung up on, and so is one over a quarter of those that the limit of " \
	        "open files has room for. Root may have all.")                                     \
	SETTING('b', "answer-memory", "SIZE", SETTING_SIZE, answer_bytes, "64MiB", MIB, 4 * GIB,   \
	        true, "a size from 1MiB to 4GiB, such as 64MiB",                                   \
	        "How much memory answers may take while they are sent",                            \
	        "Root may have all of it. A user, or an address elsewhere, may have as much as "   \
	        "he leaves for all others when an eighth is kept for root: alone 7/16, which is "  \
	        "the largest answer to him. Equal requests at the same time share one answer, "    \
	        "which counts once. What finds no room is answered 503, and what alone is "        \
	        "larger, 507.")                                                                    \
	SETTING('w', "web-config", "FILE", SETTING_PATH, web_config, "", 0, 0, false,              \
	        "a path of up to 160 bytes", "Read TLS, users and headers from this YAML file",    \
	        "It has the form of the Prometheus exporters' web.config.yml, and holds for TCP "  \
	        "listeners. The file and the certificates it names are read again on SIGHUP.")     \
	SETTING('i', "insecure", NULL, SETTING_SWITCH, insecure, "no", 0, 1, false, "yes or no",   \
	        "Let anybody who can connect ask, also from other hosts",                          \
	        "Without it, listening beyond this host takes a web-config with TLS and users, "   \
	        "or with verified client certificates.")                                           \
	SETTING('v', "verbose", NULL, SETTING_SWITCH, verbose, "no", 0, 1, true, "yes or no",      \
	        "Log more, for finding out what goes wrong", "")

struct setting {
	int key; /* the short option */
	const char *name, *argument;
	enum setting_kind kind;
	size_t offset; /* of the field in struct config */
	const char *initial;
	uint64_t min, max;
	bool live;
	const char *accepted, *help, *more;
};

#define SETTING(key, ...) +1
enum { SETTING_COUNT = 0 SETTINGS(SETTING) };
#undef SETTING

extern const struct setting settings[SETTING_COUNT];

/* NULL: there is no setting of that name. */
const struct setting *setting_find(const char *name);
/* Sets all settings to their defaults, except addresses, of which there are none. */
void settings_default(struct config *ret_config);
/* `text` must outlive the config if it is kept as it is: names, addresses, URLs. -EINVAL: the text
 * is not accepted. */
int setting_set(const struct setting *setting, struct config *config, const char *text);
/* Copies one setting. Texts that it points to still belong to `from`. */
void setting_copy(const struct setting *setting, struct config *to, const struct config *from);
bool setting_equal(const struct setting *setting, const struct config *a, const struct config *b);

enum { SETTING_TEXT_BYTES = 192 };
/* Whether the setting may occur in a file more than once. */
bool setting_is_list(const struct setting *setting);
/* Whether the setting is kept as text, in the memory of the file or of the command line. */
bool setting_is_text(const struct setting *setting);
/* The current value of a list that is one text, NULL for nothing; not for addresses. */
const char *setting_words(const struct setting *setting, const struct config *config);
/* The number of lines that a file has for the setting; one for a list of words that is empty. */
size_t setting_count(const struct setting *setting, const struct config *config);
/* The value on the `i`th of these lines. Valid until the next call with this buffer. */
const char *setting_text(const struct setting *setting, const struct config *config, size_t i,
                         char buffer[SETTING_TEXT_BYTES]);
