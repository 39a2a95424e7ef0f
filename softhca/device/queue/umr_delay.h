/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr_delay.h - delayed UMRs of a strict adapter.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_UMR_DELAY_H
#define SOFTHCA_DEVICE_QUEUE_UMR_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct qp;
struct send_wqe;

/* Puts off the UMR of LEN bytes at RAW, a copy of the WQE at sq.ci. The adapter executes it when a
 * fenced request needs it, after the first request without a fence, or after UMR_TIME. Returns 0 or
 * ENOMEM. */
int umr_delay(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);
/* Executes the UMR that waits and completes it, or fails the QP. Returns false if the QP cannot
 * continue. */
bool umr_finish(struct hca *hca, struct qp *qp);
/* Reports a request that begins before the UMR has executed, as the request has no fence. */
void umr_overtaken(struct hca *hca, const struct qp *qp, const struct send_wqe *wqe);
void umr_forget(struct qp *qp);
/* Finishes UMRs whose time has come. Returns when the next is due, or HCA_IDLE. */
uint64_t umr_run(struct hca *hca);

#endif
