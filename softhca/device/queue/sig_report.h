/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig_report.h - CQEs that report signature errors.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_SIG_REPORT_H
#define SOFTHCA_DEVICE_QUEUE_SIG_REPORT_H

#include <stdbool.h>

struct hca;
struct qp;

/* Ends a transfer of QP: posts a CQE for each wrong signature that the transfer found, on the CQ of
 * the send queue (OF_SEND) or of the receive queue. */
void sig_report(struct hca *hca, struct qp *qp, bool of_send);

#endif
