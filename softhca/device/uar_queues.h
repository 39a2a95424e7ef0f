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

/* Add an object to the list of its UAR, and remove it, if it is in one. */
void uar_add_qp(struct qp *qp);
void uar_remove_qp(struct qp *qp);
void uar_add_cq(struct cq *cq);
void uar_remove_cq(struct cq *cq);
void uar_add_sq(struct eth_sq *sq);
void uar_remove_sq(struct eth_sq *sq);

/* Takes a UAR from those whose scans are not complete. */
void uar_forget_scan(struct hca *hca, struct uar *uar);

#endif
