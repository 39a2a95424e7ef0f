/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - mlx4's QPs from RST2INIT, which hands them over, to 2RST, which takes them back; and the
 * management QPs. cmd/qp_modify.c has the transitions between.
 *
 * The context that software wrote is kept (qp->context) with the changes by later commands; a query
 * first updates the fields that the device has changed.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/qpc.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/cmd/eth_qp.h"
#include "softhca/device/format/mlx4/cmd/qp.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/transport/qp.h"
#include "util/bits.h"

static_assert((int)M4_QPC_SIZE <= (int)CONTEXT_MAX, "the context is too small");

/* Of M4_SPECIAL_QPNS numbers, the first two are QP0 of ports 1 and 2, the next two QP1. */
enum { SPECIAL_PORTS = 2 };

static const struct {
	uint8_t st; /* M4_ST_* */
	enum fabric_service service;
} services[] = {
	{ M4_ST_RC, FABRIC_RC },   { M4_ST_UC, FABRIC_UC },  { M4_ST_UD, FABRIC_UD },
	{ M4_ST_XRC, FABRIC_XRC }, { M4_ST_MLX, FABRIC_UD },
};

enum m4_status m4_qp_special(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t base = m4_number(cmd);

	if (base % M4_SPECIAL_QPNS || base >> fld_get(hca->mlx4->init, M4_INIT_LOG_QPS))
		return m4_fail(cmd, M4_STAT_BAD_PARAM,
			       "qp: management QPs begin at a multiple of 8");
	for (unsigned int port = 0; port < hca->config.num_ports; port++)
		for (unsigned int i = 0; i < QP_SPECIAL; i++)
			if (hca->port[port].special[i])
				return m4_fail(cmd, M4_STAT_BAD_RES_STATE,
					       "qp: management QPs are in use");
	hca->mlx4->special_base = base;
	return M4_STAT_OK;
}

/* Returns which kind of management QP has number N, or -1. */
static int special_of(const struct hca *hca, uint32_t n, unsigned int *port)
{
	uint32_t index = n - hca->mlx4->special_base;

	if (!hca->mlx4->special_base || index >= QP_SPECIAL * SPECIAL_PORTS)
		return -1;
	*port = index % SPECIAL_PORTS + 1;
	return (int)(index / SPECIAL_PORTS);
}

static bool find_service(const uint8_t *qpc, enum fabric_service *service)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (services[i].st == fld_get(qpc, M4_QPC_ST)) {
			*service = services[i].service;
			return true;
		}
	return false;
}

/* Returns whether the QP sends. One end of XRC sends; the other, known by its number, receives
 * through the SRQs of its domain. */
static bool has_sends(uint32_t n)
{
	return !(n & M4_XRC_TARGET);
}

static bool has_receives(const uint8_t *qpc)
{
	return !fld_get(qpc, M4_QPC_HAS_SRQ) && fld_get(qpc, M4_QPC_ST) != M4_ST_XRC;
}

static const char *check_type(const struct hca *hca, const uint8_t *qpc, uint32_t n)
{
	unsigned int port = 1;
	int special = special_of(hca, n, &port);

	if (fld_get(qpc, M4_QPC_LOCAL_QPN) != n)
		return "qp: another number in the context";
	if (!has_sends(n) && fld_get(qpc, M4_QPC_ST) != M4_ST_XRC)
		return "qp: a number for a target of XRC";
	if (fld_get(qpc, M4_QPC_ST) == M4_ST_MLX && special < 0 && !station_is_ethernet(hca))
		return "qp: only management QPs write their headers";
	if (special >= 0 && (fld_get(qpc, M4_QPC_ST) != M4_ST_MLX || port > hca->config.num_ports ||
			     hca->port[port - 1].special[special]))
		return "qp: a management QP of another type, or one that is there";
	if (fld_get(qpc, M4_QPC_INLINE_RECV))
		return "qp: received data in WQEs is not supported";
	return NULL;
}

const char *m4_sends_check(const uint8_t *qpc)
{
	uint64_t block = fld_get(qpc, M4_QPC_LOG_SQ_STRIDE) + 4;

	if (block < M4_MIN_SLOT_LOG || block > M4_MAX_SLOT_LOG)
		return "qp: slots of sends of less than 64, or more than 1024 bytes";
	if (fld_get(qpc, M4_QPC_LOG_SQ_SIZE) > M4_LOG_QP_SIZE)
		return "qp: more sends than were announced";
	return NULL;
}

const char *m4_receives_check(const uint8_t *qpc)
{
	if (fld_get(qpc, M4_QPC_LOG_RQ_SIZE) > M4_LOG_QP_SIZE ||
	    16u << fld_get(qpc, M4_QPC_LOG_RQ_STRIDE) > RECV_WQE_MAX)
		return "qp: more or larger receives than were announced";
	if (fld_get(qpc, M4_QPC_RECORD) & 3)
		return "qp: doorbell record is not aligned to 4";
	return NULL;
}

static const char *find_objects(struct hca *hca, struct qp *qp)
{
	const uint8_t *qpc = qp->context;

	qp->pd = m4_pd(hca, fld_get(qpc, M4_QPC_PD));
	qp->uar = m4_uar(hca, fld_get(qpc, M4_QPC_UAR));
	qp->send_cq = res_get(&hca->cqs, fld_get(qpc, M4_QPC_CQN_SEND));
	qp->recv_cq = res_get(&hca->cqs, fld_get(qpc, M4_QPC_CQN_RECV));
	if (fld_get(qpc, M4_QPC_HAS_SRQ))
		qp->srq = res_get(&hca->srqs, fld_get(qpc, M4_QPC_SRQN));
	qp->xrcd = has_sends(qp->n) ? NULL : m4_xrcd(hca, fld_get(qpc, M4_QPC_XRCD));
	if (!qp->xrcd && !has_sends(qp->n))
		return "qp: no such domain of XRC";
	if (!qp->pd || !qp->uar)
		return "qp: no such domain, or page of doorbells";
	if (!qp->send_cq || !qp->recv_cq)
		return "qp: no such CQ";
	return fld_get(qpc, M4_QPC_HAS_SRQ) && !qp->srq ? "qp: no such SRQ" : NULL;
}

/* Places the rings one behind the other, the one with the larger WQEs first, as software lays them
 * out. They are one map, as the context has one address for both. */
static int map_rings(struct hca *hca, struct qp *qp)
{
	const uint8_t *qpc = qp->context;
	const struct m4_ring ring = {
		.mtt = fld_get(qpc, M4_QPC_MTT_H) << 32 | fld_get(qpc, M4_QPC_MTT_L),
		.log_page = fld_get(qpc, M4_QPC_LOG_PAGE_SIZE),
	};
	uint64_t rq, sq;

	if (has_receives(qpc)) {
		qp->rq.log_size = fld_get(qpc, M4_QPC_LOG_RQ_SIZE);
		qp->rq.stride = 16u << fld_get(qpc, M4_QPC_LOG_RQ_STRIDE);
	}
	if (has_sends(qp->n)) {
		qp->sq.log_size = fld_get(qpc, M4_QPC_LOG_SQ_SIZE);
		qp->sq.block = 16u << fld_get(qpc, M4_QPC_LOG_SQ_STRIDE);
		qp->sq.entry = calloc(1u << qp->sq.log_size, sizeof(*qp->sq.entry));
		if (!qp->sq.entry)
			return ENOMEM;
	}
	rq = (uint64_t)qp->rq.stride << qp->rq.log_size;
	sq = (uint64_t)qp->sq.block << qp->sq.log_size;
	qp->rq.offset = qp->rq.stride > qp->sq.block ? 0 : sq;
	qp->sq.offset = qp->rq.stride > qp->sq.block ? rq : 0;
	return m4_map_ring(hca, &ring, rq + sq, &qp->map);
}

int m4_qp_charge(struct hca *hca, uint64_t bytes)
{
	if (bytes > M4_QP_BYTES_MAX - hca->mlx4->qp_bytes)
		return ENOSPC;
	hca->mlx4->qp_bytes += bytes;
	return 0;
}

/* Returns the bytes that a QP costs, with a note for each request that its rings hold: of those
 * sent and, on strict adapters, of those posted. */
static uint64_t qp_bytes(const struct qp *qp)
{
	uint64_t sends = qp->sq.entry ? 1ull << qp->sq.log_size : 0;
	uint64_t receives = qp->rq.stride ? 1ull << qp->rq.log_size : 0;

	return sizeof(*qp) + sends * (sizeof(*qp->sq.entry) + sizeof(*qp->sq.digest)) +
	       receives * sizeof(*qp->rq.digest) + qp->map.count * sizeof(*qp->map.extent);
}

static int qp_set_up(struct hca *hca, struct qp *qp)
{
	int ret = map_rings(hca, qp);

	if (!ret)
		ret = m4_qp_charge(hca, qp_bytes(qp));
	if (ret)
		return ret;
	ret = res_add_as(&hca->qps, qp, qp->n);
	if (ret)
		hca->mlx4->qp_bytes -= qp_bytes(qp);
	return ret;
}

static void use_objects(struct qp *qp, int by)
{
	qp->pd->users += by;
	qp->send_cq->users += by;
	qp->recv_cq->users += by;
	qp->uar->users += by;
	if (qp->srq)
		qp->srq->users += by;
	if (qp->xrcd)
		qp->xrcd->users += by;
}

static void qp_discard(struct qp *qp)
{
	dma_unmap(&qp->map);
	free(qp->sq.entry);
	free(qp);
}

/* Linux has a second QP next to QP1, from which it sends MADs by RoCE version 2. */
static uint32_t wire_number(const struct qp *qp)
{
	if (qp->special >= 0)
		return (uint32_t)qp->special;
	return qp->writes_headers ? QP_GSI : qp->n;
}

static struct qp *qp_new(const struct hca *hca, uint32_t n, const uint8_t *qpc)
{
	struct qp *qp = qp_alloc();
	unsigned int port = 1;

	if (!qp)
		return NULL;
	memcpy(qp->context, qpc, M4_QPC_SIZE);
	qp->n = n;
	find_service(qpc, &qp->service);
	qp->special = special_of(hca, n, &port);
	qp->writes_headers = fld_get(qpc, M4_QPC_ST) == M4_ST_MLX;
	qp->wire = wire_number(qp);
	qp->user_index = n;
	qp->counter_set = hca->mlx4->counters->n;
	qp->dbr = fld_get(qpc, M4_QPC_RECORD);
	if (qp->special >= 0)
		fld_set(qp->context, FLD_IN(M4_QPC_PATH, M4_PATH_PORT), port - 1);
	return qp;
}

static const char *qp_check(const struct hca *hca, const uint8_t *qpc, uint32_t n)
{
	enum fabric_service service;
	const char *why;

	if (!find_service(qpc, &service))
		return "qp: service type is not supported";
	why = check_type(hca, qpc, n);
	if (!why && has_sends(n))
		why = m4_sends_check(qpc);
	return !why && has_receives(qpc) ? m4_receives_check(qpc) : why;
}

static bool in_table(const struct hca *hca, uint32_t n)
{
	return !((n & ~(uint32_t)M4_XRC_TARGET) >> fld_get(hca->mlx4->init, M4_INIT_LOG_QPS));
}

enum m4_status m4_qp_create(struct hca *hca, struct m4_cmd *cmd)
{
	const uint8_t *qpc = fld_at(cmd->in, M4_MODIFY_QPC);
	uint32_t n = m4_number(cmd);
	const char *why = qp_check(hca, qpc, n);
	struct qp *qp;
	int ret;

	if (!in_table(hca, n))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "qp: number out of range");
	if (res_get(&hca->qps, n) || m4_eth_qp(hca, n))
		return m4_fail(cmd, M4_STAT_BAD_QP_STATE, "qp: not in state RESET");
	if (m4_is_eth_qp(hca, n, cmd->in))
		return m4_eth_qp_create(hca, cmd);
	if (!why && fld_get(cmd->in, M4_MODIFY_OPTPAR) & ~(uint64_t)M4_QP_FIRST_OPTPARS)
		why = "qp: parameter not valid here";
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	qp = qp_new(hca, n, qpc);
	if (!qp)
		return m4_errno(cmd, ENOMEM, "qp");
	why = find_objects(hca, qp);
	ret = why ? EINVAL : qp_set_up(hca, qp);
	if (ret) {
		qp_discard(qp);
		return why ? m4_fail(cmd, M4_STAT_BAD_RESOURCE, why)
			   : m4_errno(cmd, ret, "qp: translations, or too much memory");
	}
	qp_reset_queues(qp);
	use_objects(qp, 1);
	uar_add_qp(qp);
	pins_take(hca, &qp->map);
	m4_qp_begin(hca, qp);
	return M4_STAT_OK;
}

void m4_qp_remove(struct hca *hca, struct qp *qp)
{
	res_remove(&hca->qps, qp->n);
	hca->mlx4->qp_bytes -= qp_bytes(qp);
	use_objects(qp, -1);
	qp_free(hca, qp);
}

/* Resetting a QP in RESET is allowed. */
enum m4_status m4_qp_reset(struct hca *hca, struct m4_cmd *cmd)
{
	struct qp *qp = res_get(&hca->qps, m4_number(cmd));

	if (!in_table(hca, m4_number(cmd)))
		return m4_fail(cmd, M4_STAT_BAD_INDEX, "qp: number out of range");
	if (cmd->order->modifier != M4_2RST_NO_CONTEXT)
		return m4_fail(cmd, M4_STAT_BAD_OP, "qp: a reset that writes the context back");
	if (qp)
		m4_qp_remove(hca, qp);
	else if (m4_eth_qp(hca, m4_number(cmd)))
		m4_eth_qp_remove(hca, m4_eth_qp(hca, m4_number(cmd)));
	return M4_STAT_OK;
}

enum m4_status m4_qp_query(struct hca *hca, struct m4_cmd *cmd)
{
	const struct qp *qp = res_get(&hca->qps, m4_number(cmd));
	uint8_t *qpc = fld_at(cmd->out, M4_MODIFY_QPC);

	if (m4_eth_qp(hca, m4_number(cmd))) {
		m4_eth_qp_query(m4_eth_qp(hca, m4_number(cmd)), qpc);
		return M4_STAT_OK;
	}
	if (!qp)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "qp: no such QP");
	memcpy(qpc, qp->context, M4_QPC_SIZE);
	fld_set(qpc, M4_QPC_STATE, m4_qp_state(qp));
	fld_set(qpc, M4_QPC_NEXT_SEND_PSN, qp->req.next_psn);
	fld_set(qpc, M4_QPC_LAST_ACKED, (qp->req.unacked - 1) & 0xffffff);
	fld_set(qpc, M4_QPC_NEXT_RECV_PSN, qp->resp.expected_psn);
	fld_set(qpc, M4_QPC_RQ_COUNTER, qp->rq.ci);
	fld_set(qpc, M4_QPC_SQ_COUNTER, qp->sq.ci);
	return M4_STAT_OK;
}
