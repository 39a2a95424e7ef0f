/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - the cases of verbs-log: one bad call each, and the required words of its log line. See
 * lines.c.
 */
#ifndef TESTS_VERBS_LOG_H
#define TESTS_VERBS_LOG_H

#include "tests/verbs/diff/diff.h"

#define MAX_WORDS 6

struct log_rig {
	struct rig rig;
	struct rig_pair pair; /* the right objects, of which a case spoils one detail */
	struct ibv_comp_channel *channel;
	struct ibv_cq *channel_cq;
	struct ibv_qp *fresh;
};

/* Returns whether the call was refused. */
typedef bool case_fn(struct log_rig *l, long argument);

struct log_case {
	const char *name;
	case_fn *run;
	long argument;
	const char *words[MAX_WORDS];
};

/* objects.c, failures.c; each ends with a case without a name. */
extern const struct log_case object_cases[], failure_cases[];

#endif
