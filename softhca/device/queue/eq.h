/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.h - event queues, and the events that the adapter reports.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_EQ_H
#define SOFTHCA_DEVICE_QUEUE_EQ_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/eqe.h"
#include "softhca/device/format/format.h"
#include "softhca/device/memory/dma.h"

struct hca;

struct eq {
	uint32_t n;
	uint32_t users; /* CQs that report to it; it cannot be destroyed before them */
	uint64_t events;
	uint32_t log_size;
	uint32_t pi;
	uint32_t ci; /* free-running consumer index; the last doorbell had its low 24 bits */
	uint32_t vector;
	bool armed; /* the next EQE raises the interrupt, then software has to arm it again */
	struct dma_map map; /* empty: no ring; only the front's callback gets the events */
	uint8_t context[CONTEXT_MAX];
};

void eq_completion(struct hca *hca, struct eq *eq, uint32_t cqn);
/* Reports an event of the QP, or of the SRQ, with number QPN. */
void eq_qp_event(struct hca *hca, enum prm_event type, uint32_t qpn);
void eq_cq_error(struct hca *hca, uint32_t cqn, uint8_t syndrome);
void eq_report(struct hca *hca, const struct event *event);
void eq_internal_error(struct hca *hca);
/* Asks software for COUNT pages, or to take pages back if COUNT is below 0. Returns false if no EQ
 * subscribes to such events. */
bool eq_page_request(struct hca *hca, int32_t count);
/* CHANGE is one of PRM_PORT_CHANGE_*. */
void eq_port_change(struct hca *hca, unsigned int port, uint8_t change);
/* Takes a doorbell: software has consumed the EQEs before CI. ARM asks for an interrupt when there
 * are EQEs behind CI. */
void eq_update(struct hca *hca, struct eq *eq, uint32_t ci, bool arm);
void eq_free(struct eq *eq);

#endif
