/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - one line per failure, for the engineer who has to fix it.
 *
 * VERBS_LOG=off|error|warn|info|debug chooses the level (default error), VERBS_LOG_FILE the file
 * (default standard error). VERBS_LOG_LEVEL=0..4, the variable of other implementations, gives the
 * level by number if VERBS_LOG_FILE is set too. VERBS_LOG_DEFAULT is the level if nothing else
 * gives one. VERBS_LOG_STAMP=1 adds time, process and thread. VERBS_LOG_LIMIT is the number of
 * lines of a kind in a second (default 10, 0: all). The environment is read once. A
 * suppressed line costs one load and one comparison. Each line is one write(), so lines of threads
 * and processes that share a file do not interleave. Logging never changes errno.
 */
#ifndef UTIL_LOG_H
#define UTIL_LOG_H

#include <stdbool.h>

enum verbs_log_level {
	VERBS_LOG_OFF,
	VERBS_LOG_ERROR, /* broken: the library cannot do its work */
	VERBS_LOG_WARN,  /* a call is refused: names call, field, value, limit, rule */
	VERBS_LOG_INFO,  /* devices and providers that were found and chosen */
	VERBS_LOG_DEBUG, /* each command */
};

/* Negative until the environment has been read. Only log.c and verbs_log_on() use the threshold and
 * verbs_log_init(). */
extern int verbs_log_threshold;
int verbs_log_init(void);

static inline bool verbs_log_on(enum verbs_log_level level)
{
	const int threshold = __atomic_load_n(&verbs_log_threshold, __ATOMIC_ACQUIRE);

	/* Converted to unsigned, a negative threshold exceeds every level: one comparison finds
	 * that there is nothing to write. */
	if (__builtin_expect((unsigned int)threshold < (unsigned int)level, 1))
		return false;
	return threshold >= 0 || (int)level <= verbs_log_init();
}

/* Applies another variable of the environment to the lines of this library alone. Lines go to PATH
 * unless PATH is NULL or VERBS_LOG_FILE is set. LEVEL is ignored if it is VERBS_LOG_OFF or
 * VERBS_LOG is set. */
void verbs_log_prefer(const char *path, enum verbs_log_level level);

void verbs_log_write(enum verbs_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/* Used by verbs_log_mistake() only. */
extern bool verbs_log_hinted;
void verbs_log_hint(void) __attribute__((cold));

/* Returns whether to explain a failure of the program's requests, as at level warn. At the default
 * level, the first such failure logs how to see more. Not for calls by which programs find out what
 * an adapter can do. */
static inline bool verbs_log_mistake(void)
{
	if (verbs_log_on(VERBS_LOG_WARN))
		return true;
	if (!__atomic_load_n(&verbs_log_hinted, __ATOMIC_RELAXED))
		verbs_log_hint();
	return false;
}

/* Writes a line that is exempt from the limit of lines (log_limit.h). */
void verbs_log_write_each(enum verbs_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

#define verbs_log(level, ...)                                 \
	do {                                                  \
		if (__builtin_expect(verbs_log_on(level), 0)) \
			verbs_log_write(level, __VA_ARGS__);  \
	} while (0)
#define verbs_error(...) verbs_log(VERBS_LOG_ERROR, __VA_ARGS__)
#define verbs_warn(...)  verbs_log(VERBS_LOG_WARN, __VA_ARGS__)
#define verbs_info(...)  verbs_log(VERBS_LOG_INFO, __VA_ARGS__)
#define verbs_debug(...) verbs_log(VERBS_LOG_DEBUG, __VA_ARGS__)

#endif
