/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.c - commands on event queues of mlx4, and their context.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/eqc.h"
#include "prm/mlx4/eqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"

static_assert((int)M4_EQC_SIZE <= (int)CONTEXT_MAX, "the context is too small");

static struct eq *eq_find(struct hca *hca, const struct m4_cmd *cmd)
{
	return res_get(&hca->eqs, cmd->order->in_modifier & M4_MAP_EQ_EQN);
}

/* Each asynchronous event goes to one queue, so mapping it anew takes it from the former one. */
enum m4_status m4_eq_map(struct hca *hca, struct m4_cmd *cmd)
{
	uint64_t events = cmd->order->in;
	struct eq *eq = eq_find(hca, cmd), *other;
	uint32_t i = 0;

	if (!eq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "eq: no such EQ");
	if (cmd->order->in_modifier & M4_MAP_EQ_UNMAP) {
		eq->events &= ~events;
		return M4_STAT_OK;
	}
	while ((other = res_next(&hca->eqs, &i)) != NULL)
		other->events &= ~events;
	eq->events |= events;
	return M4_STAT_OK;
}

/* Fills the ring with EQEs whose ownership bit is 1, as after a lap, so that software takes none
 * for a new event. */
static int eq_fill(struct hca *hca, struct eq *eq)
{
	enum { STEP = 128 };
	uint64_t size = (uint64_t)M4_EQE_SIZE << eq->log_size;
	uint8_t eqes[STEP * M4_EQE_SIZE] = { 0 };
	int ret = 0;

	for (unsigned int i = 0; i < STEP; i++)
		fld_set(eqes + (size_t)i * M4_EQE_SIZE, M4_EQE_OWNER, 1);
	for (uint64_t at = 0; !ret && at < size; at += sizeof(eqes)) {
		size_t part = size - at < sizeof(eqes) ? size - at : sizeof(eqes);

		ret = dma_write_map(hca, &eq->map, at, eqes, part);
	}
	return ret;
}

static int eq_set_up(struct hca *hca, struct eq *eq)
{
	const uint8_t *eqc = eq->context;
	const struct m4_ring ring = {
		.mtt = fld_get(eqc, M4_EQC_MTT_H) << 32 | fld_get(eqc, M4_EQC_MTT_L),
		.log_page = fld_get(eqc, M4_EQC_LOG_PAGE_SIZE),
	};
	int ret;

	eq->log_size = fld_get(eqc, M4_EQC_LOG_SIZE);
	eq->vector = fld_get(eqc, M4_EQC_INTR);
	eq->armed = fld_get(eqc, M4_EQC_STATE) == M4_EQ_ARMED;
	ret = m4_map_ring(hca, &ring, (uint64_t)M4_EQE_SIZE << eq->log_size, &eq->map);
	if (!ret)
		ret = eq_fill(hca, eq);
	return ret ? ret : res_add_as(&hca->eqs, eq, eq->n);
}

static const char *eq_check(const uint8_t *eqc)
{
	enum { LOG_MAX = 22 };
	uint64_t state = fld_get(eqc, M4_EQC_STATE);

	if (fld_get(eqc, M4_EQC_STATUS) || fld_get(eqc, M4_EQC_OWNER))
		return "eq: a status, or an owner other than software";
	if (state != M4_EQ_ARMED && state != M4_EQ_FIRED)
		return "eq: unknown state";
	if (fld_get(eqc, M4_EQC_PAGE_OFFSET))
		return "eq: a ring that does not begin with its page";
	if (fld_get(eqc, M4_EQC_LOG_SIZE) > LOG_MAX)
		return "eq: too many entries";
	return NULL;
}

enum m4_status m4_eq_give(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t n = m4_number(cmd);
	const char *why = eq_check(cmd->in);
	struct eq *eq;
	int ret;

	if (n < M4_RSVD_UARS * M4_EQS_PER_UAR || n >> M4_LOG_EQS)
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "eq: number out of range");
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return m4_errno(cmd, ENOMEM, "eq");
	memcpy(eq->context, cmd->in, M4_EQC_SIZE);
	eq->n = n;
	ret = eq_set_up(hca, eq);
	if (!ret)
		return M4_STAT_OK;
	eq_free(eq);
	return m4_errno(cmd, ret, "eq: translations, memory, or the number is taken");
}

static void eq_put_context(const struct eq *eq, uint8_t *eqc)
{
	memcpy(eqc, eq->context, M4_EQC_SIZE);
	fld_set(eqc, M4_EQC_STATE, eq->armed ? M4_EQ_ARMED : M4_EQ_FIRED);
	fld_set(eqc, M4_EQC_CI, eq->ci);
	fld_set(eqc, M4_EQC_PI, eq->pi);
}

void m4_eq_remove(struct hca *hca, struct eq *eq)
{
	res_remove(&hca->eqs, eq->n);
	eq_free(eq);
}

enum m4_status m4_eq_take(struct hca *hca, struct m4_cmd *cmd)
{
	struct eq *eq = eq_find(hca, cmd);

	if (!eq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "eq: no such EQ");
	if (eq->users)
		return m4_fail(cmd, M4_STAT_RESOURCE_BUSY, "eq: in use by a CQ");
	eq_put_context(eq, cmd->out);
	m4_eq_remove(hca, eq);
	return M4_STAT_OK;
}

enum m4_status m4_eq_query(struct hca *hca, struct m4_cmd *cmd)
{
	const struct eq *eq = eq_find(hca, cmd);

	if (!eq)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "eq: no such EQ");
	eq_put_context(eq, cmd->out);
	return M4_STAT_OK;
}
