/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-dc [TOPIC...]: as verbs-diff, see dc.h.
 */
#include <stdio.h>

#include "dc.h"

static const struct rig_topic topics[] = {
	{ "create-errors", dc_create_errors },
	{ "create-flags", dc_create_flags },
	{ "create-operations", dc_create_operations },
	{ "absent-queues", dc_absent_queues },
	{ "not-ignored", dc_not_ignored },
	{ "early-refused", dc_early_refused },
	{ "scatter", dc_scatter },
	{ "states", dc_states },
	{ "query", dc_query },
	{ "example", dc_example },
	{ "send", dc_send },
	{ "rdma", dc_rdma },
	{ "inline", dc_inline },
	{ "reads", dc_reads },
	{ "copies", dc_copies },
	{ "answers", dc_answers },
	{ "wide-answers", dc_wide_answers },
	{ "answers-of-dc", dc_answers_of_dc },
	{ "many-targets", dc_many_targets },
	{ "batch", dc_batch },
	{ "posting", dc_posting },
	{ "wrong-key", dc_wrong_key },
	{ "no-target", dc_no_target },
	{ "target-gone", dc_target_gone },
	{ "not-ready", dc_not_ready },
	{ "access", dc_access },
	{ "streams", dc_streams },
	{ "stream-budget", dc_stream_budget },
	{ "stream-states", dc_stream_states },
	{ "stream-reset", dc_stream_reset },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
