/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One line per event on standard error, with the journal's priority prefix when systemd reads it.
 * Only two kinds of code log: the files directly in daemon/, and the code that decides what happens
 * after a failure. All other code returns an error.
 */
#pragma once

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

/* The level applies to the whole program; any thread. */
void log_set_level(enum log_level level);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)
