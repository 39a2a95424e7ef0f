/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar_queues.h - the queues whose doorbells a UAR takes: uar_scan.h reads their records.
 */
#ifndef SOFTHCA_DEVICE_UAR_QUEUES_H
#define SOFTHCA_DEVICE_UAR_QUEUES_H

struct cq;
struct eth_sq;
struct hca;
struct qp;
struct uar;

/* Add a queue to its UAR's list, or remove it. A QP or CQ without a UAR is in no list. */
void uar_add_qp(struct qp *qp);
void uar_remove_qp(struct qp *qp);
void uar_add_cq(struct cq *cq);
void uar_remove_cq(struct cq *cq);
void uar_add_sq(struct eth_sq *sq);
void uar_remove_sq(struct eth_sq *sq);

/* Removes a UAR from hca->scans, if it is there. */
void uar_forget_scan(struct hca *hca, struct uar *uar);

#endif
