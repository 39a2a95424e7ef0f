/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.c - event queues: completion events of CQs, and asynchronous events.
 *
 * An asynchronous event goes to each EQ whose bit mask has its type. The CQEs of all that was done
 * before are written first, since software that gets a queue's last event empties the CQ and frees
 * the buffers. An EQ may have no ring, as those of the process front; events then only call the
 * front's callback.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/eqe.h"
#include "prm/mlx5/states.h"
#include "softhca/device/core.h"

static void eq_interrupt(struct hca *hca, struct eq *eq)
{
	eq->armed = false;
	if (hca->config.interrupt)
		hca->config.interrupt(hca->config.front, eq->vector);
}

static void eq_write(struct hca *hca, struct eq *eq, uint8_t *eqe)
{
	uint32_t size = hca->format->eqe_size;
	uint64_t offset = (uint64_t)(eq->pi & ((1u << eq->log_size) - 1)) * size;

	/* A full EQ drops the event: overwriting an EQE that software has not read would be
	 * worse. */
	if (eq->pi - eq->ci >= 1u << eq->log_size) {
		trace_line(hca->config.trace, "eq %u: overrun", eq->n);
		return;
	}
	hca->format->set_eqe_owner(eqe, (eq->pi >> eq->log_size) & 1);
	eq->pi++;
	/* If the ring cannot be written, its host is gone, so there is nowhere to report the
	 * error. */
	if (dma_write_map(hca, &eq->map, offset, eqe, size))
		trace_line(hca->config.trace, "eq %u: cannot write EQE", eq->n);
	if (eq->armed)
		eq_interrupt(hca, eq);
}

void eq_update(struct hca *hca, struct eq *eq, uint32_t ci, bool arm)
{
	eq->ci = eq->pi - ((eq->pi - ci) & PRM_CI_MASK);
	if (!arm)
		return;
	eq->armed = true;
	if (eq->ci != eq->pi)
		eq_interrupt(hca, eq);
}

static void eq_post(struct hca *hca, struct eq *eq, uint8_t *eqe)
{
	if (eq->map.count)
		eq_write(hca, eq, eqe);
	hca->format->trace_eqe(hca->config.trace, eq->n, eqe);
	if (hca->config.event)
		hca->config.event(hca->config.front, eq->n, eqe);
}

static bool is_heard(const struct hca *hca, unsigned int type)
{
	uint32_t i = 0;
	struct eq *eq;

	while ((eq = res_next(&hca->eqs, &i)) != NULL)
		if (eq->events >> type & 1)
			return true;
	return false;
}

static void post_async(struct hca *hca, const struct event *event)
{
	uint8_t eqe[EQE_MAX] = { 0 };
	uint32_t i = 0;
	struct eq *eq;

	hca->end_runs(hca);
	hca->format->encode_eqe(event, eqe);
	while ((eq = res_next(&hca->eqs, &i)) != NULL)
		if (eq->events >> event->type & 1)
			eq_post(hca, eq, eqe);
}

void eq_report(struct hca *hca, const struct event *event)
{
	post_async(hca, event);
}

void eq_completion(struct hca *hca, struct eq *eq, uint32_t cqn)
{
	const struct event event = { .type = PRM_EVENT_COMP, .number = cqn };
	uint8_t eqe[EQE_MAX] = { 0 };

	hca->format->encode_eqe(&event, eqe);
	eq_post(hca, eq, eqe);
}

void eq_qp_event(struct hca *hca, enum prm_event type, uint32_t qpn)
{
	post_async(hca, &(struct event){ .type = type, .number = qpn });
}

void eq_cq_error(struct hca *hca, uint32_t cqn, uint8_t syndrome)
{
	post_async(hca, &(struct event){
				.type = PRM_EVENT_CQ_ERROR, .number = cqn, .detail = syndrome });
}

bool eq_page_request(struct hca *hca, int32_t count)
{
	if (!is_heard(hca, PRM_EVENT_PAGE_REQUEST))
		return false;
	post_async(hca, &(struct event){ .type = PRM_EVENT_PAGE_REQUEST, .pages = count });
	return true;
}

void eq_port_change(struct hca *hca, unsigned int port, uint8_t change)
{
	post_async(hca, &(struct event){
				.type = PRM_EVENT_PORT_CHANGE, .port = port, .detail = change });
}

/* Reports an internal error, on EQN 0: every front handles it even when no EQ exists. */
void eq_internal_error(struct hca *hca)
{
	const struct event event = { .type = PRM_EVENT_INTERNAL_ERROR };
	uint8_t eqe[EQE_MAX] = { 0 };

	hca->end_runs(hca);
	hca->format->encode_eqe(&event, eqe);
	hca->format->trace_eqe(hca->config.trace, 0, eqe);
	if (hca->config.event)
		hca->config.event(hca->config.front, 0, eqe);
}

bool hca_has_command_event(struct hca *hca)
{
	bool found;

	fabric_lock(hca->fabric);
	found = is_heard(hca, PRM_EVENT_COMMAND);
	fabric_unlock(hca->fabric);
	return found;
}

void hca_command_event(struct hca *hca, uint32_t done)
{
	fabric_lock(hca->fabric);
	post_async(hca, &(struct event){ .type = PRM_EVENT_COMMAND, .commands = done });
	fabric_unlock(hca->fabric);
}

void eq_free(struct eq *eq)
{
	dma_unmap(&eq->map);
	free(eq);
}
