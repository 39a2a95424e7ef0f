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
	const char *format; /* NULL: the entry is free */
	time_t second;      /* in which `passed` lines were written */
	unsigned int passed;
	pid_t pid; /* process that has counted; a child does not report its parent's lines */
	struct log_left_out left_out;
};

/* Kinds of lines, one for each format. Lines of further kinds are not limited. */
static struct kind kinds[64];
static pid_t owner; /* process of the thread that holds the lock of `kinds`; 0: none */

/* Locks the table for process SELF. Returns false after TRIES attempts. The critical sections are a
 * few instructions long, and call nothing that waits. A child of fork() takes over the lock of a
 * parent's thread, because that thread does not exist in the child. */
static bool kinds_lock(pid_t self)
{
	enum { TRIES = 1000 };

	for (int i = 0; i < TRIES; i++) {
		pid_t before = __atomic_load_n(&owner, __ATOMIC_RELAXED);

		if (before != self &&
		    __atomic_compare_exchange_n(&owner, &before, self, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void kinds_unlock(void)
{
	__atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

/* Returns the entry of FORMAT, or NULL if the table is full. */
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

/* Resets an entry that a child has inherited from its parent: the parent reports its lines
 * itself. */
static void kind_of_process(struct kind *kind, pid_t self)
{
	if (kind->pid == self)
		return;
	kind->pid = self;
	kind->left_out.count = 0;
}

static bool kind_pass(struct kind *kind, time_t second, unsigned int burst,
		      struct log_left_out *left_out)
{
	if (kind->second != second) {
		kind->second = second;
		kind->passed = 0;
	}
	if (kind->passed >= burst) {
		kind->left_out.count++;
		return false;
	}
	kind->passed++;
	left_out_take(kind, left_out);
	return true;
}

bool verbs_log_pass(const char *format, unsigned int burst, struct log_left_out *left_out)
{
	const time_t second = second_now();
	const pid_t self = getpid();
	struct kind *kind;
	bool pass = true;

	left_out->count = 0;
	if (!kinds_lock(self))
		return true;
	kind = kind_of(format);
	if (kind) {
		kind_of_process(kind, self);
		pass = kind_pass(kind, second, burst, left_out);
	}
	kinds_unlock();
	return pass;
}

/* Copies the beginning of TEXT, without cutting a character of several bytes (UTF-8). */
static void beginning_copy(char to[LOG_LIMIT_TEXT], const char *text)
{
	size_t len = strnlen(text, LOG_LIMIT_TEXT);

	if (len == LOG_LIMIT_TEXT)
		for (len--; len && (text[len] & 0xc0) == 0x80; len--)
			;
	memcpy(to, text, len);
	to[len] = '\0';
}

void verbs_log_note(const char *format, const char *text)
{
	struct kind *kind;

	if (!kinds_lock(getpid()))
		return;
	kind = kind_of(format);
	if (kind)
		beginning_copy(kind->left_out.text, text);
	kinds_unlock();
}

bool verbs_log_left_out(struct log_left_out *left_out)
{
	const pid_t self = getpid();
	bool found = false;

	if (!kinds_lock(self))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds) && !found; i++) {
		found = kinds[i].left_out.count && kinds[i].pid == self;
		if (found)
			left_out_take(&kinds[i], left_out);
	}
	kinds_unlock();
	return found;
}
