/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.h - multicast groups.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_MCG_H
#define SOFTHCA_DEVICE_TRANSPORT_MCG_H

#include <stdint.h>
#include <sys/queue.h>

struct hca;
struct qp;

enum { MCG_MAX = 1 << 10, MCG_MAX_QPS = 240 };

struct mcg_member {
	LIST_ENTRY(mcg_member) entry;
	uint8_t gid[16];
	struct qp *qp;
};

/* The function takes a QP that is going away out of its groups. */
void mcg_forget(struct hca *hca, struct qp *qp);

#endif
