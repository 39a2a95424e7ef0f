/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig_report.h - CQEs about signatures that are wrong.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_SIG_REPORT_H
#define SOFTHCA_DEVICE_QUEUE_SIG_REPORT_H

#include <stdbool.h>

struct hca;
struct qp;

/* A transfer for QP has ended: if it found a wrong signature, a CQE says so on the CQ of its send
 * or receive queue. */
void sig_report(struct hca *hca, struct qp *qp, bool of_send);

#endif
