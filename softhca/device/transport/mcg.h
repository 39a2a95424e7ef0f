/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.h - multicast groups.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_MCG_H
#define SOFTHCA_DEVICE_TRANSPORT_MCG_H

#include <stdbool.h>
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

/* Puts the QP into a group, where it is once however often it joins. It returns 0, ENOSPC beyond
 * the two limits, or ENOMEM. */
int mcg_join(struct hca *hca, struct qp *qp, const uint8_t gid[16]);
/* Returns false when the QP is not in the group. */
bool mcg_leave(struct hca *hca, const struct qp *qp, const uint8_t gid[16]);
/* Takes a QP that is going away out of its groups. */
void mcg_forget(struct hca *hca, struct qp *qp);

#endif
