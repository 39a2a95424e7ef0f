/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr_delay.h - a UMR that takes its time, on a strict adapter.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_UMR_DELAY_H
#define SOFTHCA_DEVICE_QUEUE_UMR_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct qp;
struct send_wqe;

/* A strict adapter executes a UMR later: when a request asks for that by a fence, behind the first
 * one that does not, or when time has passed. Takes over the UMR of LEN bytes at RAW, which stands
 * at sq.ci, and returns 0 or ENOMEM. */
int umr_delay(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);
/* Executes the UMR that waits and completes it, or fails the QP; it returns false when the QP has
 * failed. */
bool umr_finish(struct hca *hca, struct qp *qp);
/* A request begins that does not wait for the UMR. */
void umr_overtaken(struct hca *hca, const struct qp *qp, const struct send_wqe *wqe);
void umr_forget(struct qp *qp);
/* Finishes those that have waited long enough, and returns when the next one has, or HCA_IDLE. */
uint64_t umr_run(struct hca *hca);

#endif
