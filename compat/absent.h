/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * absent.h - the public calls of a provider that is not here: each fails with EOPNOTSUPP in its
 * way.
 *
 * No header is included: the real prototypes do not matter to a function that looks at no
 * parameter.
 */
#ifndef COMPAT_ABSENT_H
#define COMPAT_ABSENT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define ABSENT(type, name, answer)                              \
	__attribute__((visibility("default"))) type name(void); \
	__attribute__((visibility("default"))) type name(void)  \
	{                                                       \
		errno = EOPNOTSUPP;                             \
		return answer;                                  \
	}

#define ABSENT_POINTER(name) ABSENT(void *, name, NULL)
#define ABSENT_ERRNO(name)   ABSENT(int, name, EOPNOTSUPP)
/* This one is for calls in which a positive number is no error. */
#define ABSENT_COUNT(name) ABSENT(int, name, -EOPNOTSUPP)
#define ABSENT_BOOL(name)  ABSENT(bool, name, false)

#endif
