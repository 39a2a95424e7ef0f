/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.h - multicast groups.
 * IBTA vol 1, 10.5 (multicast)
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

/* Adds the QP to a group; joining twice changes nothing. Returns 0, ENOSPC beyond the limits above,
 * or ENOMEM. */
int mcg_join(struct hca *hca, struct qp *qp, const uint8_t gid[16]);
/* Returns false if the QP is not in the group. */
bool mcg_leave(struct hca *hca, const struct qp *qp, const uint8_t gid[16]);
void mcg_forget(struct hca *hca, struct qp *qp);

#endif
