/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff.h - the topics of verbs-diff, a program whose output must be the same on our libraries and
 * on the distribution's. Each topic makes valid and invalid calls on the first adapter and prints
 * their results. run-diff compares the output on two sets of libraries.
 */
#ifndef TESTS_VERBS_DIFF_H
#define TESTS_VERBS_DIFF_H

#include <string.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

typedef void topic_fn(struct rig *rig);

topic_fn diff_names;
topic_fn diff_device;
topic_fn diff_port;
topic_fn diff_gid;
topic_fn diff_pkey;
topic_fn diff_mr;
topic_fn diff_mr_iova;
topic_fn diff_in_use;
topic_fn diff_cq;
topic_fn diff_cq_ex;
topic_fn diff_cq_ex_poll;
topic_fn diff_cq_ex_time;
topic_fn diff_cq_events;
topic_fn diff_qp_create;
topic_fn diff_qp_create_ex;
topic_fn diff_qp_masks;
topic_fn diff_qp_states;
topic_fn diff_qp_values;
topic_fn diff_qp_psn;
topic_fn diff_qp_query;
topic_fn diff_xrc_data;
topic_fn diff_send_ops;
topic_fn diff_data;
topic_fn diff_uc;
topic_fn diff_data_sizes;
topic_fn diff_data_atomic;
topic_fn diff_data_atomic_sizes;
topic_fn diff_wr;
topic_fn diff_wr_batch;
topic_fn diff_post_errors;
topic_fn diff_full_queues;
topic_fn diff_huge;
topic_fn diff_wq;
topic_fn diff_wq_no_state;
topic_fn diff_wr_keys;
topic_fn diff_fork;
topic_fn diff_ah_of_wc;
topic_fn diff_small_calls;
topic_fn diff_kernel_copies;
topic_fn diff_rates;
topic_fn diff_access_errors;
topic_fn diff_transport_errors;
topic_fn diff_flush;
topic_fn diff_async;
topic_fn diff_drain;
topic_fn diff_drain_ports;
topic_fn diff_leaks;
topic_fn diff_limits;
topic_fn diff_ah;
topic_fn diff_ah_from_wc;
topic_fn diff_mcast;
topic_fn diff_srq;
topic_fn diff_xrc;
topic_fn diff_rereg;
topic_fn diff_import;
topic_fn diff_mw;
topic_fn diff_domains;
topic_fn diff_ece;
topic_fn diff_cq_change;
topic_fn diff_ah_values;
topic_fn diff_ud;
topic_fn diff_ud_ports;
topic_fn diff_ud_source;
topic_fn diff_srq_create;
topic_fn diff_srq_data;
topic_fn diff_srq_odp;
topic_fn diff_mw_data;
topic_fn diff_mw_bound;
topic_fn diff_mw_refused;
topic_fn diff_mw_bound_to;
topic_fn diff_mw_huge;
topic_fn diff_mw_domains;
topic_fn diff_mw_on_demand;
topic_fn diff_naps;
topic_fn diff_dm;
topic_fn diff_odp;
topic_fn diff_null_mr;
topic_fn diff_advise;
topic_fn diff_dmabuf;
topic_fn diff_rereg_keys;
topic_fn diff_tm_create;
topic_fn diff_tm;
topic_fn diff_flow;
topic_fn diff_flow_action;
topic_fn diff_flow_copies;
topic_fn diff_spread;

/* Creates four WQs with consecutive numbers from a multiple of four, as an mlx4 adapter requires in
 * a table. SPARE gets WQs that were created in between, or is NULL. Returns false if the device has
 * no WQs. */
enum { WQ_ROW = 4 };
bool diff_wq_row(struct ibv_context *ctx, const struct ibv_wq_init_attr *attr,
		 struct ibv_wq *wqs[WQ_ROW], struct ibv_wq *spare[WQ_ROW]);
topic_fn diff_counters;
topic_fn diff_pacing;
topic_fn diff_checksums;

/* two.c: runs while the adapter is not open, because the two processes open it themselves. */
void diff_two_processes(void);

#endif
