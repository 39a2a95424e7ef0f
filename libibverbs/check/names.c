/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.c - the names of the checker's messages. A name stays the same when its text changes, so
 * that settings, tests and searches can rely on it. rdmakit_diagnostics(7) lists them.
 */
#include "check.h"

#include <string.h>

static const char *const names[CHECK_FAULTS] = {
	[CHECK_KEY_DEAD] = "VERBS-MR-001",  [CHECK_KEY_RANGE] = "VERBS-MR-002",
	[CHECK_KEY_PD] = "VERBS-MR-003",    [CHECK_KEY_RIGHTS] = "VERBS-MR-004",
	[CHECK_KEY_BUSY] = "VERBS-MR-005",  [CHECK_BUFFER] = "VERBS-MR-006",
	[CHECK_AH_DEAD] = "VERBS-AH-001",   [CHECK_AH_PD] = "VERBS-AH-002",
	[CHECK_CQ_SMALL] = "VERBS-CQ-001",  [CHECK_UNARMED] = "VERBS-CQ-002",
	[CHECK_EVENTS] = "VERBS-EVENT-001", [CHECK_BATCH] = "VERBS-WR-001",
	[CHECK_PATH] = "VERBS-QP-001",      [CHECK_FORK] = "VERBS-FORK-001",
	[CHECK_THREADS] = "VERBS-LOCK-001", [CHECK_DEAD] = "VERBS-LIFE-001",
	[CHECK_LEAK] = "VERBS-LIFE-002",
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
