/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log_limit.c - see log_limit.h.
 */
#include "util/log_limit.h"
#include "util/bits.h"

#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct kind {
	const char *format; /* NULL: the place is free */
	time_t second;      /* in which PASSED lines have passed */
	unsigned int passed;
	pid_t pid; /* that left lines out: a child does not report its parent's */
	struct log_left_out left_out;
};

/* Kinds beyond these are not limited. */
static struct kind kinds[64];
static int busy;

static bool kinds_lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

static void kinds_unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* Returns the kind of FORMAT, or NULL if there is no place left. */
static struct kind *kind_of(const char *format)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct kind *kind = &kinds[((uintptr_t)format / 8 + i) % ARRAY_SIZE(kinds)];

		if (!kind->format)
			kind->format = format;
		if (kind->format == format)
			return kind;
	}
	return NULL;
}

static time_t second_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

static void left_out_take(struct kind *kind, struct log_left_out *left_out)
{
	*left_out = kind->left_out;
	kind->left_out.count = 0;
}

static bool kind_pass(struct kind *kind, struct log_left_out *left_out)
{
	time_t second = second_now();

	if (kind->second != second) {
		kind->second = second;
		kind->passed = 0;
	}
	if (kind->passed < LOG_LIMIT_BURST) {
		kind->passed++;
		left_out_take(kind, left_out);
		return true;
	}
	kind->pid = getpid();
	kind->left_out.count++;
	return false;
}

bool verbs_log_pass(const char *format, struct log_left_out *left_out)
{
	struct kind *kind;
	bool pass = true;

	left_out->count = 0;
	if (!kinds_lock())
		return true;
	kind = kind_of(format);
	if (kind)
		pass = kind_pass(kind, left_out);
	kinds_unlock();
	return pass;
}

void verbs_log_note(const char *format, const char *text)
{
	struct kind *kind;

	if (!kinds_lock())
		return;
	kind = kind_of(format);
	if (kind) {
		strncpy(kind->left_out.text, text, LOG_LIMIT_TEXT - 1);
		kind->left_out.text[LOG_LIMIT_TEXT - 1] = '\0';
	}
	kinds_unlock();
}

bool verbs_log_left_out(struct log_left_out *left_out)
{
	bool found = false;

	if (!kinds_lock())
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds) && !found; i++) {
		found = kinds[i].left_out.count && kinds[i].pid == getpid();
		if (found)
			left_out_take(&kinds[i], left_out);
	}
	kinds_unlock();
	return found;
}
