/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-diff [TOPIC...]: runs all topics, or the named ones, or all except -TOPIC. Exit
 * code 0, or 1 if a check failed that needs no comparison (a line that ends in WRONG).
 */
#include <stdio.h>

#include "diff.h"

/* Two processes want the adapter for themselves, so the rig of the others is closed meanwhile. */
static void two_processes(struct rig *rig)
{
	rig_close(rig);
	diff_two_processes();
	rig_open(rig);
}

static const struct rig_topic topics[] = {
	{ "two-processes", two_processes },
	{ "names", diff_names },
	{ "device", diff_device },
	{ "port", diff_port },
	{ "gid", diff_gid },
	{ "pkey", diff_pkey },
	{ "mr", diff_mr },
	{ "mr-iova", diff_mr_iova },
	{ "in-use", diff_in_use },
	{ "cq", diff_cq },
	{ "cq-ex", diff_cq_ex },
	{ "cq-ex-poll", diff_cq_ex_poll },
	{ "cq-ex-time", diff_cq_ex_time },
	{ "cq-events", diff_cq_events },
	{ "qp-create", diff_qp_create },
	{ "qp-create-ex", diff_qp_create_ex },
	{ "qp-masks", diff_qp_masks },
	{ "qp-states", diff_qp_states },
	{ "qp-values", diff_qp_values },
	{ "qp-psn", diff_qp_psn },
	{ "qp-query", diff_qp_query },
	{ "data", diff_data },
	{ "uc", diff_uc },
	{ "data-sizes", diff_data_sizes },
	{ "data-atomic", diff_data_atomic },
	{ "data-atomic-sizes", diff_data_atomic_sizes },
	{ "wr", diff_wr },
	{ "wr-batch", diff_wr_batch },
	{ "post-errors", diff_post_errors },
	{ "full-queues", diff_full_queues },
	{ "huge", diff_huge },
	{ "wq", diff_wq },
	{ "wq-no-state", diff_wq_no_state },
	{ "wr-keys", diff_wr_keys },
	{ "fork", diff_fork },
	{ "ah-of-wc", diff_ah_of_wc },
	{ "small-calls", diff_small_calls },
	{ "kernel-copies", diff_kernel_copies },
	{ "rates", diff_rates },
	{ "access-errors", diff_access_errors },
	{ "transport-errors", diff_transport_errors },
	{ "flush", diff_flush },
	{ "async", diff_async },
	{ "drain", diff_drain },
	{ "drain-ports", diff_drain_ports },
	{ "leaks", diff_leaks },
	{ "limits", diff_limits },
	{ "ah", diff_ah },
	{ "ah-from-wc", diff_ah_from_wc },
	{ "mcast", diff_mcast },
	{ "srq", diff_srq },
	{ "xrc", diff_xrc },
	{ "xrc-data", diff_xrc_data },
	{ "send-ops", diff_send_ops },
	{ "rereg", diff_rereg },
	{ "import", diff_import },
	{ "mw", diff_mw },
	{ "domains", diff_domains },
	{ "ece", diff_ece },
	{ "cq-change", diff_cq_change },
	{ "ah-values", diff_ah_values },
	{ "ud", diff_ud },
	{ "ud-ports", diff_ud_ports },
	{ "ud-source", diff_ud_source },
	{ "srq-create", diff_srq_create },
	{ "srq-data", diff_srq_data },
	{ "srq-odp", diff_srq_odp },
	{ "mw-data", diff_mw_data },
	{ "mw-bound", diff_mw_bound },
	{ "mw-refused", diff_mw_refused },
	{ "mw-bound-to", diff_mw_bound_to },
	{ "mw-huge", diff_mw_huge },
	{ "mw-domains", diff_mw_domains },
	{ "mw-on-demand", diff_mw_on_demand },
	{ "naps", diff_naps },
	{ "dm", diff_dm },
	{ "odp", diff_odp },
	{ "null-mr", diff_null_mr },
	{ "advise", diff_advise },
	{ "dmabuf", diff_dmabuf },
	{ "rereg-keys", diff_rereg_keys },
	{ "tm-create", diff_tm_create },
	{ "tm", diff_tm },
	{ "flow", diff_flow },
	{ "flow-copies", diff_flow_copies },
	{ "spread", diff_spread },
	{ "flow-action", diff_flow_action },
	{ "counters", diff_counters },
	{ "pacing", diff_pacing },
	{ "checksums", diff_checksums },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
