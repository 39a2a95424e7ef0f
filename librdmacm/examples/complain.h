/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * complain.h - how a program tells of a call that has failed.
 */
#ifndef RDMACM_EXAMPLES_COMPLAIN_H
#define RDMACM_EXAMPLES_COMPLAIN_H

#include <stdio.h>

/* Writes WHAT and the reason that errno has to standard error, and returns -1. */
static inline int complain_errno(const char *what)
{
	perror(what);
	return -1;
}

#endif
