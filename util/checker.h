/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checker.h - what the environment asks of the checker (libibverbs/check), for both libraries:
 *
 *	VERBS_CHECK=WORD[,WORD...]
 *	VERBS_STATUS_SIGNAL=NAME or NUMBER
 *	VERBS_STATUS_IDLE=SECONDS
 *
 * The environment is read at each call, so none of them is for the data path.
 */
#ifndef UTIL_CHECKER_H
#define UTIL_CHECKER_H

#include <stdbool.h>

/* Returns whether VERBS_CHECK has a word other than 0, or a status can be asked for. */
bool verbs_checker_is_asked(void);

/* Returns whether VERBS_CHECK lists PREFIX followed by NAME: "off:" and "VERBS-MR-001". */
bool verbs_checker_lists(const char *prefix, const char *name);

/* Returns the signal that VERBS_STATUS_SIGNAL names, 0 if the variable is not set or empty, or -1
 * for a signal that a program cannot handle or that a crash sends. */
int verbs_checker_signal(void);

/* Returns the seconds of VERBS_STATUS_IDLE, 0 if the variable is not set or empty, or -1 if it is
 * no number from 1 to 86,400. */
int verbs_checker_idle(void);

#endif
