/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * complain.h - reports a failed call.
 */
#ifndef RDMACM_EXAMPLES_COMPLAIN_H
#define RDMACM_EXAMPLES_COMPLAIN_H

#include <stdio.h>

/* Prints WHAT and the text of errno on standard error. Returns -1, so that a caller can return the
 * result. */
static inline int complain_errno(const char *what)
{
	perror(what);
	return -1;
}

#endif
