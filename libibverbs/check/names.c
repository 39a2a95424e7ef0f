/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.c - the names of the checker's messages, from the table in messages.h.
 */
#include "check.h"

#include <string.h>

static const char *const names[CHECK_FAULTS] = {
#define NAME(kind, name, meaning) [kind] = name,
	CHECK_MESSAGES(NAME)
};

const char *verbs_check_name(enum check_fault fault)
{
	return names[fault];
}

enum check_fault verbs_check_fault_of(const char *name)
{
	unsigned int fault = 0;

	while (fault < CHECK_FAULTS && strcmp(name, names[fault]) != 0)
		fault++;
	return (enum check_fault)fault;
}
