/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flow steering rules that a driver attaches: they choose the QPs that get a frame.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_FLOW_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct frame;
struct hca;
struct m4_flow;

TAILQ_HEAD(m4_flows, m4_flow);

enum { M4_LOG_FLOWS = 12, M4_FLOW_GROUP_MAX = 64 };

/* Returns whether the driver has enabled steering by rules. */
bool m4_flows_count(const struct hca *hca);
void m4_flows_init(struct hca *hca);
void m4_flows_free(struct hca *hca);
/* Fills QPNS with the QPs that get a frame, at most M4_FLOW_GROUP_MAX. Returns their number. */
unsigned int m4_flow_find(const struct hca *hca, const struct frame *frame,
			  uint32_t qpns[M4_FLOW_GROUP_MAX]);
unsigned int m4_flow_find_sent(const struct hca *hca, uint32_t qpns[M4_FLOW_GROUP_MAX]);

#endif
