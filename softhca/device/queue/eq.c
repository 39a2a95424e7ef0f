/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.c - event queues: completion events of CQs, and asynchronous events.
 *
 * An asynchronous event goes to each EQ whose bit mask names its type. An EQ may have no memory;
 * then the front's callback is all there is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"

static void eq_interrupt(struct hca *hca, struct eq *eq)
{
	eq->armed = false;
	if (hca->config.interrupt)
		hca->config.interrupt(hca->config.front, eq->vector);
}

static void eq_write(struct hca *hca, struct eq *eq, uint8_t *eqe)
{
	uint64_t offset = (uint64_t)(eq->pi & ((1u << eq->log_size) - 1)) * PRM_EQE_SIZE;

	/* The event is lost, but none that software has not yet read. */
	if (eq->pi - eq->ci >= 1u << eq->log_size) {
		trace_line(hca->config.trace, "eq %u: overrun", eq->n);
		return;
	}
	fld_set(eqe, EQE_OWNER, (eq->pi >> eq->log_size) & 1);
	eq->pi++;
	/* A queue that cannot be written has lost its host; nobody is left to tell. */
	if (dma_write_map(hca, &eq->map, offset, eqe, PRM_EQE_SIZE))
		trace_line(hca->config.trace, "eq %u: cannot write EQE", eq->n);
	if (eq->armed)
		eq_interrupt(hca, eq);
}

void eq_update(struct hca *hca, struct eq *eq, uint32_t ci, bool arm)
{
	eq->ci = eq->pi - ((eq->pi - ci) & 0xffffff);
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
	trace_eqe(hca->config.trace, eq->n, eqe);
	if (hca->config.event)
		hca->config.event(hca->config.front, eq->n, eqe);
}

/* Is there a queue for events of TYPE? */
static bool is_heard(const struct hca *hca, unsigned int type)
{
	uint32_t i = 0;
	struct eq *eq;

	while ((eq = res_next(&hca->eqs, &i)) != NULL)
		if (eq->events >> type & 1)
			return true;
	return false;
}

static void post_async(struct hca *hca, uint8_t *eqe)
{
	uint64_t bit = 1ull << fld_get(eqe, EQE_TYPE);
	uint32_t i = 0;
	struct eq *eq;

	while ((eq = res_next(&hca->eqs, &i)) != NULL)
		if (eq->events & bit)
			eq_post(hca, eq, eqe);
}

void eq_completion(struct hca *hca, struct eq *eq, uint32_t cqn)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, PRM_EVENT_COMP);
	fld_set(eqe, EQE_COMP_CQN, cqn);
	eq_post(hca, eq, eqe);
}

void eq_qp_event(struct hca *hca, enum prm_event type, uint32_t qpn)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, type);
	fld_set(eqe, EQE_QPN, qpn);
	post_async(hca, eqe);
}

void eq_cq_error(struct hca *hca, uint32_t cqn, uint8_t syndrome)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, PRM_EVENT_CQ_ERROR);
	fld_set(eqe, EQE_CQ_ERROR_CQN, cqn);
	fld_set(eqe, EQE_CQ_ERROR_SYNDROME, syndrome);
	post_async(hca, eqe);
}

bool eq_page_request(struct hca *hca, int32_t count)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	if (!is_heard(hca, PRM_EVENT_PAGE_REQUEST))
		return false;
	fld_set(eqe, EQE_TYPE, PRM_EVENT_PAGE_REQUEST);
	fld_set(eqe, EQE_PAGE_REQUEST_NUM_PAGES, (uint32_t)count);
	post_async(hca, eqe);
	return true;
}

void eq_port_change(struct hca *hca, unsigned int port, uint8_t change)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, PRM_EVENT_PORT_CHANGE);
	fld_set(eqe, EQE_SUB_TYPE, change);
	fld_set(eqe, EQE_PORT, port);
	post_async(hca, eqe);
}

/* Goes to EQN 0, which every front understands, whatever queues exist. */
void eq_internal_error(struct hca *hca)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, PRM_EVENT_INTERNAL_ERROR);
	trace_eqe(hca->config.trace, 0, eqe);
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
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, PRM_EVENT_COMMAND);
	fld_set(eqe, EQE_COMMAND_VECTOR, done);
	fabric_lock(hca->fabric);
	post_async(hca, eqe);
	fabric_unlock(hca->fabric);
}

static int map_ring(struct eq *eq, const struct cmd *cmd)
{
	unsigned int page_shift = 12 + fld_get(eq->eqc, EQC_LOG_PAGE_SIZE);
	uint64_t skip = fld_get(eq->eqc, EQC_PAGE_OFFSET) << (page_shift - 6);
	size_t npas;
	const void *pas = cmd_pas(cmd, CREATE_EQ_IN_PAS, &npas);

	if (!npas && !eq->log_size)
		return 0;
	return dma_map_pages(&eq->map, pas, npas, page_shift, skip,
			     (uint64_t)PRM_EQE_SIZE << eq->log_size);
}

enum prm_status eq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *eqc = fld_at(cmd->in, CREATE_EQ_IN_EQC);
	struct eq *eq = calloc(1, sizeof(*eq));
	int ret;

	if (!eq)
		return cmd_errno(cmd, ENOMEM, "eq");
	memcpy(eq->eqc, eqc, PRM_EQC_SIZE);
	eq->events = fld_get64(cmd->in, FLD_BYTE(CREATE_EQ_IN_EVENT_BITMASK));
	eq->log_size = fld_get(eqc, EQC_LOG_EQ_SIZE);
	eq->vector = fld_get(eqc, EQC_INTR);
	ret = map_ring(eq, cmd);
	if (!ret)
		ret = res_add(&hca->eqs, eq, &eq->n);
	if (ret) {
		eq_free(eq);
		return cmd_errno(cmd, ret, "eq: page list too short, or table full");
	}
	fld_set(cmd->out, CREATE_EQ_OUT_EQ_NUMBER, eq->n);
	return PRM_STAT_OK;
}

enum prm_status eq_query(struct hca *hca, struct cmd *cmd)
{
	struct eq *eq = res_get(&hca->eqs, fld_get(cmd->in, QUERY_EQ_IN_EQ_NUMBER));
	uint8_t *eqc = fld_at(cmd->out, QUERY_EQ_OUT_EQC);

	if (!eq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "eq: no such EQ");
	memcpy(eqc, eq->eqc, PRM_EQC_SIZE);
	fld_set(eqc, EQC_PRODUCER_COUNTER, eq->pi);
	return PRM_STAT_OK;
}

enum prm_status eq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct eq *eq = res_get(&hca->eqs, fld_get(cmd->in, DESTROY_EQ_IN_EQ_NUMBER));

	if (!eq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "eq: no such EQ");
	if (eq->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "eq: in use by a CQ");
	res_remove(&hca->eqs, eq->n);
	eq_free(eq);
	return PRM_STAT_OK;
}

void eq_free(struct eq *eq)
{
	dma_unmap(&eq->map);
	free(eq);
}
