/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log_stamp.c - see log_stamp.h.
 */
#include "util/log_stamp.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct date {
	unsigned int year, month, day;
};

static bool is_leap(unsigned int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned int days_of_year(unsigned int year)
{
	return is_leap(year) ? 366 : 365;
}

static unsigned int days_of_month(unsigned int year, unsigned int month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Returns the date that is DAYS after 1 January 1970. */
static struct date date_of(unsigned int days)
{
	struct date date = { .year = 1970, .month = 1 };

	for (; days >= days_of_year(date.year); date.year++)
		days -= days_of_year(date.year);
	for (; days >= days_of_month(date.year, date.month); date.month++)
		days -= days_of_month(date.year, date.month);
	date.day = days + 1;
	return date;
}

int verbs_log_stamp(char *to, size_t size, const struct timespec *when)
{
	enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };
	const unsigned int second = (unsigned int)(when->tv_sec % DAY);
	const struct date date = date_of((unsigned int)(when->tv_sec / DAY));

	return snprintf(to, size, "%04u-%02u-%02uT%02u:%02u:%02u.%06ldZ %d/%d", date.year,
			date.month, date.day, second / HOUR, second % HOUR / MINUTE,
			second % MINUTE, (long)when->tv_nsec / 1000, (int)getpid(),
			(int)syscall(SYS_gettid));
}
