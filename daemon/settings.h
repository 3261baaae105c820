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
	SETTING_EXPORT, /* NAME:PLACE of an exporter; may be empty */
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
	        "HTTP listen address; may be repeated",                                            \
	        "An IPv6 address is in brackets. Without ADDR, profd listens on all "              \
	        "addresses. Only profd's user and group can use a unix socket.")                   \
	SETTING('f', "freq", "HZ", SETTING_NUMBER, sample_hz, "99", 1, MAX_SAMPLE_HZ, false,       \
	        "an integer from 1 to 1000", "Sampling rate on each CPU", "")                      \
	SETTING('k', "history", "DURATION", SETTING_DURATION, history_ns, "10m",                   \
	        10 * NSEC_PER_SEC, MAX_CAPTURE_SECONDS * NSEC_PER_SEC, false,                      \
	        "a duration from 10s to 10m, such as 90s or 5m", "Duration of the history", "")    \
	SETTING('m', "history-memory", "SIZE", SETTING_SIZE, history_bytes, "64MiB", MIB, 4 * GIB, \
	        true, "a size from 1MiB to 4GiB, such as 64MiB", "Maximum memory for the history", \
	        "profd drops the oldest data first.")                                              \
	SETTING('u', "unwind-memory", "SIZE", SETTING_SIZE, unwind_bytes, "48MiB", 4 * MIB,        \
	        256 * MIB, false, "a size from 4MiB to 256MiB, such as 48MiB",                     \
	        "Maximum kernel memory for unwind tables",                                         \
	        "When it is full, profd drops the table that no walk has used for the longest "    \
	        "time.")                                                                           \
	SETTING('s', "symbol-memory", "SIZE", SETTING_SIZE, symbol_bytes, "128MiB", 16 * MIB,      \
	        4 * GIB, false, "a size from 16MiB to 4GiB, such as 128MiB",                       \
	        "Maximum memory for names, source lines and the files they are read from",         \
	        "The daemon's caches may use a quarter, a reader process the rest. A second "      \
	        "reader process, for slow files, may use as much as the first.")                   \
	SETTING('d', "debuginfod", "URLS", SETTING_URLS, debuginfod, "", 0, 0, false,              \
	        "a list of https:// URLs, or http:// with debuginfod-http, of up to 160 bytes "    \
	        "each",                                                                            \
	        "Fetch debug files that this host lacks from these servers",                       \
	        "Blanks separate the URLs. A process without privileges downloads files in "       \
	        "the background. profd keeps them in /var/cache/profd.")                           \
	SETTING('D', "debuginfod-cache", "SIZE", SETTING_SIZE, debuginfod_bytes, "2GiB", MIB,      \
	        1024 * GIB, false, "a size from 1MiB to 1024GiB, such as 2GiB",                    \
	        "Maximum disk space for downloaded debug files",                                   \
	        "profd removes the least recently used file first. One file may have half of "     \
	        "it, at most 2GiB, and so may all downloads for one user in an hour. For "         \
	        "root, profd limits only their number.")                                           \
	SETTING('H', "debuginfod-http", "yes|no", SETTING_YES_NO, debuginfod_http, "no", 0, 1,     \
	        false, "yes or no", "Permit http:// URLs of debuginfod servers",                   \
	        "Anyone on the network path to such a server can forge debug files, and so "       \
	        "names and lines.")                                                                \
	SETTING('g', "group", "NAME", SETTING_NAME, group, "", 0, 0, true,                         \
	        "the name of a group of up to 64 bytes",                                           \
	        "Of this host's users, serve only root and members of this group",                 \
	        "profd identifies the user by the other end of the connection. The setting "       \
	        "does not apply to clients with credentials or on other hosts. profd reads "       \
	        "the members at the start and on SIGHUP. Without a group, profd serves all "       \
	        "users of this host, and /heap attaches probes to a process only for root, or "    \
	        "for its owner if user-probes permits it.")                                        \
	SETTING('a', "allow-host", "NAMES", SETTING_HOSTS, allow_hosts, "", 0, 0, true,            \
	        "a list of names of hosts of up to 160 bytes each, without port",                  \
	        "Accept these host names, besides localhost, addresses and this host's own "       \
	        "name",                                                                            \
	        "Blanks separate the names. profd refuses a request over TCP with any other "      \
	        "Host, unless it has credentials: any web page can make a name of its own "        \
	        "resolve to this host.")                                                           \
	SETTING('o', "on-demand", "yes|no", SETTING_YES_NO, on_demand, "yes", 0, 1, true,          \
	        "yes or no", "Attach probes to a process during requests for its heap",            \
	        "With no, /heap serves only processes that sample their own allocations.")         \
	SETTING('G', "gpu", "yes|no", SETTING_YES_NO, gpu, "yes", 0, 1, false, "yes or no",        \
	        "Attach probes to CUDA's driver, PyTorch and XLA",                                 \
	        "Until a process maps one of them, profd does nothing for GPUs. With no, "         \
	        "there are no GPU profiles.")                                                      \
	SETTING('U', "user-probes", "yes|no|auto", SETTING_AUTO, user_probes, "auto", 0, 2, false, \
	        "yes, no or auto",                                                                 \
	        "Attach probes to files of users, and when users request /heap",                   \
	        "While the kernel attaches a probe to a file, no process can fork, and any "       \
	        "user can prolong that. profd always probes root's processes, and files "          \
	        "installed in this host's folders that only root can write, such as CUDA's "       \
	        "driver. With yes, it also probes other files, such as PyTorch in a virtual "      \
	        "environment, and for /heap if the owner of a process asks. With auto, it "        \
	        "does so for a single user: the only one from 1000 to 59999 in /etc/passwd.")      \
	SETTING('R', "growth", "yes|no|auto", SETTING_AUTO, growth, "auto", 0, 2, false,           \
	        "yes, no or auto", "Record which stacks make memory grow",                         \
	        "With auto, profd checks resident memory when the kernel takes pages from its "    \
	        "free lists, which costs programs less than 2 %. With yes, it checks whenever "    \
	        "a process gets pages, including pages that were just freed or are in the "        \
	        "page cache: a program that only touches pages takes 5 % longer. With yes, it "    \
	        "also records growth of address space, which makes mmap take 3 % longer.")         \
	SETTING('W', "waits", "yes|no", SETTING_YES_NO, waits, "no", 0, 1, false, "yes or no",     \
	        "Record where threads wait",                                                       \
	        "The kinds of profile offcpu, why and where threads are not on a CPU; waker, who " \
	        "ended that; lock, by lock; wall, all their time; and block, requests to disks. "  \
	        "/report requires it. It costs each switch of the scheduler some 0.1 us.")         \
	SETTING('F', "faults", "yes|no", SETTING_YES_NO, faults, "no", 0, 1, false, "yes or no",   \
	        "Record page faults",                                                              \
	        "The kind of profile fault. A program that only touches new pages takes 9 % "      \
	        "longer.")                                                                         \
	SETTING('t', "max-seconds", "N", SETTING_NUMBER, max_seconds, "600", 1,                    \
	        MAX_CAPTURE_SECONDS, true, "an integer from 1 to 600",                             \
	        "Largest seconds= in a request", "")                                               \
	SETTING('n', "max-requests", "N", SETTING_NUMBER, max_requests, "1024", 1,                 \
	        MAX_CONNECTIONS, true, "an integer from 1 to 16384", "Maximum in-flight requests", \
	        "A request that is not answered at once is in flight until its answer is "         \
	        "sent. Further requests get 503. A sixteenth is for root only. Of the rest, a "    \
	        "user of this host may have as many as remain for all others, at most half.")      \
	SETTING('q', "max-client-requests", "N", SETTING_NUMBER, max_client_requests, "64", 1,     \
	        MAX_CONNECTIONS, true, "an integer from 1 to 16384",                               \
	        "Maximum in-flight requests per remote address",                                   \
	        "Further requests get 429. An IPv6 address counts by its first 64 bits.")          \
	SETTING('x', "max-client-connections", "N", SETTING_NUMBER, max_client_connections,        \
	        "1024", 1, MAX_CONNECTIONS, true, "an integer from 1 to 16384",                    \
	        "Maximum connections per user of this host or remote address",                     \
	        "profd closes further connections, and those above a quarter of what the "         \
	        "limit of open files permits. Root may have all.")                                 \
	SETTING('b', "answer-memory", "SIZE", SETTING_SIZE, answer_bytes, "64MiB", MIB, 4 * GIB,   \
	        true, "a size from 1MiB to 4GiB, such as 64MiB",                                   \
	        "Maximum memory for answers that are being sent",                                  \
	        "Root may have all of it; an eighth is for root only. Of the rest, a user or "     \
	        "a remote address may have as much as remains for all others, at most 7/16 of "    \
	        "the whole, which is also its largest answer. Equal simultaneous requests "        \
	        "share one answer, which counts once. profd answers 503 if there is no room, "     \
	        "and 507 if one answer is too large.")                                             \
	SETTING('e', "export", "HOW:PATH", SETTING_EXPORT, export, "", 0, 0, false,                \
	        "directory:PATH or history:PATH, with an absolute path, of up to 160 bytes",       \
	        "Write what is recorded to files in this directory",                               \
	        "Each kind of profile gets a file after each export-interval, with the samples "   \
	        "since the one before: with directory:PATH in pprof's format; with history:PATH "  \
	        "in profd's own, and requests with from=, to= and last= then also get what left "  \
	        "the memory, or was recorded before a restart. profd makes the directory if its "  \
	        "parent exists. It contains what happened, not what is in use. Run by root, "      \
	        "profd writes only where root may without its capabilities; the service may "      \
	        "write to /var/lib/profd.")                                                        \
	SETTING('I', "export-interval", "DURATION", SETTING_DURATION, export_ns, "1m",             \
	        NSEC_PER_SEC, MAX_CAPTURE_SECONDS *NSEC_PER_SEC, false,                            \
	        "a duration from 1s to 10m, such as 1m", "Time between two exports",               \
	        "It should be shorter than the history, from which profd exports.")                \
	SETTING('S', "export-size", "SIZE", SETTING_SIZE, export_bytes, "1GiB", MIB, 1024 * GIB,   \
	        false, "a size from 1MiB to 1024GiB, such as 1GiB",                                \
	        "Maximum disk space for exported profiles",                                        \
	        "profd removes the oldest ones of this host first.")                               \
	SETTING('w', "web-config", "FILE", SETTING_PATH, web_config, "", 0, 0, false,              \
	        "a path of up to 160 bytes", "Read TLS, users and headers from this YAML file",    \
	        "The file has the format of the Prometheus exporters' web.config.yml and "         \
	        "applies to TCP listeners. profd reads it and its certificates again on "          \
	        "SIGHUP.")                                                                         \
	SETTING('i', "insecure", NULL, SETTING_SWITCH, insecure, "no", 0, 1, false, "yes or no",   \
	        "Serve anyone who can connect, also from other hosts",                             \
	        "Without it, addresses that other hosts reach require a web-config with TLS "      \
	        "and users, or verified client certificates.")                                     \
	SETTING('v', "verbose", NULL, SETTING_SWITCH, verbose, "no", 0, 1, true, "yes or no",      \
	        "Log debug messages", "")

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
