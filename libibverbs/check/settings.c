/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * settings.c - reads VERBS_CHECK, logs the checker's lines, and owns its lock.
 */
#include "check.h"

#include "util/checker.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 20 };

struct check_settings verbs_check_settings;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;

void verbs_check_lock(void)
{
	pthread_mutex_lock(&lock);
}

void verbs_check_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* The thread is not cancelled: it would keep the lock. */
void verbs_check_wait(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_cond_wait(&woken, &lock);
	pthread_setcancelstate(before, NULL);
}

void verbs_check_wake(void)
{
	pthread_cond_broadcast(&woken);
}

/* Settings of single messages: off:NAME and abort:NAME. */
static bool muted[CHECK_FAULTS], fatal[CHECK_FAULTS];

/* Returns whether WORD begins with PREFIX, and then sets in FLAGS the message that it names. */
static bool name_read(const char *word, const char *prefix, bool *flags)
{
	enum check_fault fault;

	if (strncmp(word, prefix, strlen(prefix)) != 0)
		return false;
	fault = verbs_check_fault_of(word + strlen(prefix));
	if (fault == CHECK_FAULTS)
		verbs_error("VERBS_CHECK=%s: no message has this name", word);
	else
		flags[fault] = true;
	return true;
}

static void word_read(const char *word)
{
	if (!*word || !strcmp(word, "0"))
		return;
	verbs_check_settings.on = true;
	if (name_read(word, "off:", muted) || name_read(word, "abort:", fatal))
		return;
	if (!strcmp(word, "abort"))
		verbs_check_settings.aborts = true;
	else if (!strcmp(word, "leaks"))
		verbs_check_settings.leaks = true;
	else if (!strcmp(word, "buffers"))
		verbs_check_settings.buffers = true;
	else if (strcmp(word, "1") != 0)
		verbs_error("VERBS_CHECK=%s is not 0, or a list of 1, abort, buffers, leaks", word);
}

/* Stops looking for leaks in a child, because the parent's objects are not the child's to
 * destroy. The threads that wait for a wake-up are not in the child. */
void verbs_check_lock_forked(void)
{
	static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;

	woken = fresh;
	verbs_check_settings.leaks = false;
	verbs_check_unlock();
}

/* The status needs the checker's records. */
static void status_settings_read(void)
{
	if (verbs_checker_signal() > 0 || verbs_checker_idle() > 0)
		verbs_check_settings.on = true;
	if (verbs_checker_signal() < 0)
		verbs_error("VERBS_STATUS_SIGNAL=%s names no signal that a program can handle: use "
			    "USR2",
			    getenv("VERBS_STATUS_SIGNAL"));
	if (verbs_checker_idle() < 0)
		verbs_error("VERBS_STATUS_IDLE=%s is no number of seconds from 1 to 86400",
			    getenv("VERBS_STATUS_IDLE"));
}

static void settings_read(void)
{
	const char *value = getenv("VERBS_CHECK");
	char *words = value ? strdup(value) : NULL, *rest = words, *word;

	while (rest && (word = strsep(&rest, ",")))
		word_read(word);
	free(words);
	status_settings_read();
}

bool verbs_check_is_on(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, settings_read);
	return verbs_check_settings.on;
}

static void line_write(const char *text, unsigned int before)
{
	if (!verbs_log_on(VERBS_LOG_ERROR) || before > LINES_MAX)
		return;
	if (before < LINES_MAX)
		verbs_log_write_each(VERBS_LOG_WARN, "%s", text);
	else
		verbs_log_write_each(VERBS_LOG_WARN, "further lines of this kind are left out");
}

void verbs_check_say(enum check_fault fault, const char *format, ...)
{
	static unsigned int lines[CHECK_FAULTS];
	char text[900], named[950];
	unsigned int before;
	va_list args;

	if (muted[fault])
		return;
	before = __atomic_fetch_add(&lines[fault], 1, __ATOMIC_RELAXED);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(named, sizeof(named), "%s (%s)", text, verbs_check_name(fault));
	line_write(named, before);
	if (fatal[fault])
		abort();
	/* Another thread may acknowledge an event late, or arm a CQ late, which is no mistake. */
	if (verbs_check_settings.aborts && fault != CHECK_EVENTS && fault != CHECK_UNARMED)
		abort();
}
