/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checker.c - see checker.h.
 */
#include "util/checker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { IDLE_MAX_S = 86400 };

/* Returns the word behind *AT, and its length in *LEN, or NULL behind the last one. */
static const char *word_next(const char **at, size_t *len)
{
	const char *word = *at;

	if (!word || !*word)
		return NULL;
	*len = strcspn(word, ",");
	*at = word + *len + (word[*len] == ',');
	return word;
}

bool verbs_checker_lists(const char *prefix, const char *name)
{
	const char *words = getenv("VERBS_CHECK"), *word;
	const size_t before = strlen(prefix), all = before + strlen(name);
	size_t len;

	while ((word = word_next(&words, &len)))
		if (len == all && !strncmp(word, prefix, before) &&
		    !strncmp(word + before, name, all - before))
			return true;
	return false;
}

/* Returns the number that TEXT is, or -1 if it is none from 1 to MAX. */
static int number_of(const char *text, int max)
{
	char *end;
	const long number = strtol(text, &end, 10);

	return *end || number < 1 || number > max ? -1 : (int)number;
}

static int signal_by_name(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} names[] = { { "HUP", SIGHUP },   { "QUIT", SIGQUIT }, { "USR1", SIGUSR1 },
		      { "USR2", SIGUSR2 }, { "URG", SIGURG },   { "WINCH", SIGWINCH } };

	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(name, names[i].name))
			return names[i].number;
	return -1;
}

/* Returns whether the status may have a signal: not the two that always act, nor those by which the
 * processor or abort() ends a program, nor those between the standard and the real-time ones, which
 * the C library keeps for itself. */
static bool signal_is_free(int number)
{
	switch (number) {
	case SIGKILL:
	case SIGSTOP:
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
	case SIGABRT:
	case SIGSYS:
		return false;
	default:
		return number < 32 || number >= SIGRTMIN;
	}
}

int verbs_checker_signal(void)
{
	const char *name = getenv("VERBS_STATUS_SIGNAL");
	int number;

	if (!name || !*name)
		return 0;
	number = *name >= '0' && *name <= '9' ? number_of(name, SIGRTMAX) : signal_by_name(name);
	return number > 0 && signal_is_free(number) ? number : -1;
}

int verbs_checker_idle(void)
{
	const char *seconds = getenv("VERBS_STATUS_IDLE");

	return seconds && *seconds ? number_of(seconds, IDLE_MAX_S) : 0;
}

bool verbs_checker_is_asked(void)
{
	const char *words = getenv("VERBS_CHECK"), *word;
	size_t len;

	while ((word = word_next(&words, &len)))
		if (len > 1 || (len && *word != '0'))
			return true;
	return verbs_checker_signal() > 0 || verbs_checker_idle() > 0;
}
