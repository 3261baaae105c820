/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points in time as people and tools write them; in a file of its own, because it deals only with
 * the calendar. Written by hand because strptime() follows the locale and accepts the 31st of
 * February.
 */
#include "base/text.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Exactly `digits` decimal digits, within [min, max]. */
static bool read_field(struct text *text, size_t digits, uint64_t min, uint64_t max, int *ret_value)
{
	struct text field = {text->at, text->at + digits};
	uint64_t value;

	if ((size_t)(text->end - text->at) < digits || !text_decimal(&field, &value) ||
	    field.at != field.end || value < min || value > max)
		return false;
	text->at = field.end;
	*ret_value = (int)value;
	return true;
}

/* ".5" to nanoseconds; digits after the ninth are checked and dropped. Without a dot it is 0. */
static bool read_fraction(struct text *text, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = NSEC_PER_SEC / 10;

	if (text_char(text, '.')) {
		const char *first = text->at;
		for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
			ns += (uint64_t)(*text->at - '0') * unit;
			unit /= 10;
		}
		if (text->at == first)
			return false;
	}
	*ret_ns = ns;
	return true;
}

/* "Z" or "+01:00" to seconds east of Greenwich. */
static bool read_zone(struct text *text, int64_t *ret_east)
{
	int hours, minutes;

	if (text_char(text, 'Z') || text_char(text, 'z')) {
		*ret_east = 0;
		return true;
	}
	bool east = text_char(text, '+');
	if (!east && !text_char(text, '-'))
		return false;
	if (!read_field(text, 2, 0, 23, &hours) || !text_char(text, ':') ||
	    !read_field(text, 2, 0, 59, &minutes))
		return false;
	*ret_east = (east ? 1 : -1) * (hours * 3600 + minutes * 60);
	return true;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool read_date(struct text *text, struct tm *ret_tm)
{
	static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	struct tm tm = {0};
	int year;

	/* From 1970 on, so that no time is negative. */
	if (!read_field(text, 4, 1970, 9999, &year) || !text_char(text, '-') ||
	    !read_field(text, 2, 1, 12, &tm.tm_mon) || !text_char(text, '-') ||
	    !read_field(text, 2, 1, (uint64_t)month_days[tm.tm_mon - 1], &tm.tm_mday))
		return false;
	if (tm.tm_mon == 2 && tm.tm_mday == 29 && !is_leap(year))
		return false;
	tm.tm_mon--;
	tm.tm_year = year - 1900;
	*ret_tm = tm;
	return true;
}

static int parse_rfc3339(struct text text, uint64_t *ret_seconds, uint64_t *ret_ns)
{
	struct tm tm;
	uint64_t ns;
	int64_t east;

	/* Second 60 is a leap second; timegm() turns it into the first second of the next
	 * minute. */
	if (!read_date(&text, &tm) || (!text_char(&text, 'T') && !text_char(&text, 't')) ||
	    !read_field(&text, 2, 0, 23, &tm.tm_hour) || !text_char(&text, ':') ||
	    !read_field(&text, 2, 0, 59, &tm.tm_min) || !text_char(&text, ':') ||
	    !read_field(&text, 2, 0, 60, &tm.tm_sec) || !read_fraction(&text, &ns) ||
	    !read_zone(&text, &east) || text.at != text.end)
		return -EINVAL;

	int64_t seconds = (int64_t)timegm(&tm) - east;
	if (seconds < 0)
		return -ERANGE;
	*ret_seconds = (uint64_t)seconds;
	*ret_ns = ns;
	return 0;
}

/* Since 1970. */
static int parse_seconds(const char *string, uint64_t *ret_seconds, uint64_t *ret_ns)
{
	struct text text = text_of(string, strlen(string));

	if (strspn(string, "0123456789.") != strlen(string) || string[0] == '.' || !string[0])
		return -EINVAL;
	if (!text_decimal(&text, ret_seconds))
		return -ERANGE;
	return read_fraction(&text, ret_ns) && text.at == text.end ? 0 : -EINVAL;
}

int text_parse_time(const char *string, uint64_t *ret_unix_ns)
{
	uint64_t seconds, ns;
	int err = strchr(string, '-')
	                  ? parse_rfc3339(text_of(string, strlen(string)), &seconds, &ns)
	                  : parse_seconds(string, &seconds, &ns);

	if (err < 0)
		return err;
	if (__builtin_mul_overflow(seconds, NSEC_PER_SEC, &seconds) ||
	    __builtin_add_overflow(seconds, ns, &seconds))
		return -ERANGE;
	*ret_unix_ns = seconds;
	return 0;
}

void text_format_time(uint64_t unix_ns, char text[TIME_TEXT_BYTES])
{
	time_t seconds = (time_t)(unix_ns / NSEC_PER_SEC);
	char whole[24] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, TIME_TEXT_BYTES, "%s.%03uZ", whole,
	         (unsigned int)(unix_ns % NSEC_PER_SEC / NSEC_PER_MSEC));
}
