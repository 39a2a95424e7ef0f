/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_qp.c - raw packet QPs, which consist of several objects of the device. See raw_qp.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/kind.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/frame_qpns.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/driver/raw_qp.h"

static int release_object(struct adapter *adapter, uint32_t opcode, uint32_t number)
{
	return adapter_release(adapter, (enum prm_opcode)opcode, number);
}

static int make_send(struct adapter *adapter, const struct raw_request *request, struct raw_qp *raw)
{
	int ret = eth_tis_make(adapter, raw->domain, request->underlay_qpn, &raw->tisn);

	if (ret)
		return ret;
	ret = eth_sq_make(adapter, request->send, raw->tisn, &raw->sqn);
	if (ret)
		release_object(adapter, PRM_OP_DESTROY_TIS, raw->tisn);
	else
		raw->has_sq = true;
	return ret;
}

static int make_receive(struct adapter *adapter, const struct raw_request *request,
			struct raw_qp *raw)
{
	int ret = eth_rq_make(adapter, request->receive, &raw->rqn);

	if (ret)
		return ret;
	raw->has_rq = true;
	ret = eth_tir_make(adapter, raw->domain, raw->rqn, request->self_lb_block, &raw->tirn,
			   &raw->tir_addr);
	raw->has_tir = !ret;
	return ret;
}

static int make_queues(struct adapter *adapter, const struct raw_request *request,
		       struct raw_qp *raw)
{
	int ret = 0;

	if (request->hash) {
		ret = eth_rss_tir_make(adapter, raw->domain, request->rqtn, request->hash,
				       request->self_lb_block, &raw->tirn, &raw->tir_addr);
		raw->has_tir = !ret;
		return ret;
	}
	if (request->send)
		ret = make_send(adapter, request, raw);
	if (!ret && request->receive)
		ret = make_receive(adapter, request, raw);
	return ret;
}

int raw_qp_make(struct adapter *adapter, const struct raw_request *request, struct raw_qp **out)
{
	struct raw_qp *raw = calloc(1, sizeof(*raw));
	int ret;

	if (!raw)
		return ENOMEM;
	ret = adapter_allocate(adapter, PRM_OP_ALLOC_TRANSPORT_DOMAIN, &raw->domain);
	if (ret) {
		free(raw);
		return ret;
	}
	ret = make_queues(adapter, request, raw);
	if (ret) {
		raw_qp_destroy(adapter, raw);
		return ret;
	}
	raw->number = request->number;
	*out = raw;
	return 0;
}

/* Destroys the TIR first, as only that can fail: the device refuses while flows lead to the TIR. */
int raw_qp_destroy(struct adapter *adapter, struct raw_qp *raw)
{
	if (raw->has_tir && release_object(adapter, PRM_OP_DESTROY_TIR, raw->tirn))
		return EBUSY;
	if (raw->has_rq)
		release_object(adapter, PRM_OP_DESTROY_RQ, raw->rqn);
	if (raw->has_sq) {
		release_object(adapter, PRM_OP_DESTROY_SQ, raw->sqn);
		rate_limit_put(adapter, raw->rate);
		release_object(adapter, PRM_OP_DESTROY_TIS, raw->tisn);
	}
	release_object(adapter, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, raw->domain);
	if (raw->number)
		frame_qpns_release(adapter, raw->number, 1);
	free(raw);
	return 0;
}

static int change_rq(struct adapter *adapter, const struct raw_qp *raw, enum prm_wq_state to)
{
	enum prm_wq_state now;
	int ret = raw->has_rq ? eth_rq_state(adapter, raw->rqn, &now) : 0;

	if (ret || !raw->has_rq || now == to)
		return ret;
	return eth_rq_change(adapter, raw->rqn, now, to);
}

static int change_sq(struct adapter *adapter, const struct raw_qp *raw, enum prm_wq_state to)
{
	enum prm_wq_state now;
	int ret = raw->has_sq ? eth_sq_state(adapter, raw->sqn, &now) : 0;

	if (ret || !raw->has_sq || now == to)
		return ret;
	return eth_sq_change(adapter, raw->sqn, now, to);
}

static int pace_sq(struct adapter *adapter, struct raw_qp *raw, const struct rate_limit *limit)
{
	uint32_t rate;
	int ret = limit && raw->has_sq ? rate_limit_get(adapter, limit, &rate) : 0;

	if (ret || !limit || !raw->has_sq)
		return ret ? ret : change_sq(adapter, raw, PRM_WQ_STATE_RDY);
	ret = change_sq(adapter, raw, PRM_WQ_STATE_RDY);
	if (!ret)
		ret = eth_sq_pace(adapter, raw->sqn, rate);
	rate_limit_put(adapter, ret ? rate : raw->rate);
	if (!ret)
		raw->rate = rate;
	return ret;
}

/* Stops or starts the send queue. Each frame is sent as a whole, so a stopped queue is already
 * drained (SQD). */
static int rest_sq(struct adapter *adapter, const struct raw_qp *raw, bool rests)
{
	return raw->has_sq ? eth_sq_rest(adapter, raw->sqn, rests) : 0;
}

static void forget_rate(struct adapter *adapter, struct raw_qp *raw)
{
	if (raw->rate)
		eth_sq_pace(adapter, raw->sqn, 0);
	rate_limit_put(adapter, raw->rate);
	raw->rate = 0;
}

/* Returns the command that makes the receive queue ready. Like Linux' driver, on mlx5 that is the
 * transition to INIT; an mlx4 QP receives from RTR on. */
static uint32_t receive_command(const struct adapter *adapter)
{
	return adapter_is_mlx4(adapter) ? PRM_OP_INIT2RTR_QP : PRM_OP_RST2INIT_QP;
}

/* Changes the states of the queues as QP command OPCODE requires. The send queue becomes ready with
 * RTS. */
int raw_qp_change(struct adapter *adapter, struct raw_qp *raw, uint32_t opcode,
		  const struct rate_limit *limit)
{
	int ret;

	if (opcode == receive_command(adapter))
		return change_rq(adapter, raw, PRM_WQ_STATE_RDY);
	switch (opcode) {
	case PRM_OP_RTR2RTS_QP:
	case PRM_OP_RTS2RTS_QP:
	case PRM_OP_SQERR2RTS_QP:
		return pace_sq(adapter, raw, limit);
	case M4_AS_RTS2SQD_QP:
	case PRM_OP_SQD_RTS_QP:
		return rest_sq(adapter, raw, opcode == M4_AS_RTS2SQD_QP);
	case PRM_OP_2ERR_QP:
		ret = change_rq(adapter, raw, PRM_WQ_STATE_ERR);
		return ret ? ret : change_sq(adapter, raw, PRM_WQ_STATE_ERR);
	case PRM_OP_2RST_QP:
		forget_rate(adapter, raw);
		ret = change_rq(adapter, raw, PRM_WQ_STATE_RST);
		return ret ? ret : change_sq(adapter, raw, PRM_WQ_STATE_RST);
	default:
		return 0;
	}
}

int raw_qp_state(struct adapter *adapter, const struct raw_qp *raw, unsigned int before,
		 unsigned int *state)
{
	enum prm_wq_state rq = PRM_WQ_STATE_RST, sq = PRM_WQ_STATE_RST;
	int ret = raw->has_rq ? eth_rq_state(adapter, raw->rqn, &rq) : 0;

	if (!ret && raw->has_sq)
		ret = eth_sq_state(adapter, raw->sqn, &sq);
	if (ret)
		return ret;
	*state = before;
	if (raw->has_sq && sq == PRM_WQ_STATE_ERR)
		*state = raw->has_rq && rq != PRM_WQ_STATE_ERR ? QP_SQE : QP_ERR;
	else if (!raw->has_sq && rq == PRM_WQ_STATE_ERR)
		*state = QP_ERR;
	return 0;
}
