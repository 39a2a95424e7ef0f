/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refusal.h - stand-ins for the current calls below those of release 1.0 fail with one errno, which
 * a test sets: the calls of release 1.0 must pass it on.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_COMPAT_REFUSAL_H
#define TESTS_UNIT_LIBIBVERBS_COMPAT_REFUSAL_H

#include <errno.h>

static int refusal;

static void *made_or_refused(void *object)
{
	if (!refusal)
		return object;
	errno = refusal;
	return NULL;
}

#define assert_fails_with(error, call)          \
	do {                                    \
		errno = 0;                      \
		assert_null(call);              \
		assert_int_equal(errno, error); \
	} while (0)

#endif
