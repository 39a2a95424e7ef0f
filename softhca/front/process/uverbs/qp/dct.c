/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.c - QPs that are DC targets.
 *
 * To programs they are QPs with states up to RTR. The device creates a target at once with all
 * attributes. So this file collects the attributes, and creates the target at the transition to
 * RTR, which returns its number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/dct.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/uverbs/qp/dct.h"
#include "softhca/log.h"

struct dc_target {
	uint8_t context[PRM_DCTC_SIZE];
};

int qp_dct_prepare(const struct uverbs_call *uc, const struct qp_request *req, struct uverbs_qp *qp)
{
	const struct mlx5_ib_create_qp *driver = &req->driver;
	struct dc_target *target = calloc(1, sizeof(*target));
	uint8_t *dctc;

	if (!target)
		return ENOMEM;
	dctc = target->context;
	fld_set(dctc, DCTC_PD, qp->pd->pdn);
	fld_set(dctc, DCTC_SRQN_XRQN, qp->srq->srqn);
	fld_set(dctc, DCTC_CQN, qp->recv_cq->cqn);
	fld_set(dctc, DCTC_DC_ACCESS_KEY, driver->access_key);
	fld_set(dctc, DCTC_USER_INDEX, driver->uidx);
	if (adapter_cap(uc->adapter, HCA_CAP_ECE_SUPPORT))
		fld_set(dctc, DCTC_ECE, driver->ece_options);
	if (driver->flags & MLX5_QP_FLAG_SCATTER_CQE && qp->recv_cq->cqe_size == 128)
		fld_set(dctc, DCTC_CS_RES, PRM_DCT_CS_RES_64B);
	qp->real->target = target;
	return 0;
}

static bool is_made(const struct real_qp *real)
{
	return real->state == QP_RTR;
}

/* Destroys the target. It is drained first, which ends all sessions, as the device requires. */
int qp_dct_destroy(struct adapter *adapter, struct real_qp *real)
{
	int ret = 0;

	if (is_made(real)) {
		adapter_release(adapter, PRM_OP_DRAIN_DCT, real->qpn);
		ret = adapter_release(adapter, PRM_OP_DESTROY_DCT, real->qpn);
	}
	if (!ret)
		free(real->target);
	return ret;
}

enum {
	TO_INIT = QP_ATTR_STATE | QP_ATTR_ACCESS | QP_ATTR_PKEY | QP_ATTR_PORT,
	TO_RTR = QP_ATTR_STATE | QP_ATTR_RNR_TIMER | QP_ATTR_AV | QP_ATTR_MTU,
};

static int dct_refuse(const struct uverbs_call *uc, const char *why)
{
	log_note("%s: modify_qp of a DC target: %s", uc->adapter->name, why);
	return EINVAL;
}

static void enter_init(const struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		       struct real_qp *real)
{
	uint32_t access = cmd->qp_access_flags;
	uint8_t *dctc = real->target->context;

	fld_set(dctc, DCTC_RRE, !!(access & IB_UVERBS_ACCESS_REMOTE_READ));
	fld_set(dctc, DCTC_RWE, !!(access & IB_UVERBS_ACCESS_REMOTE_WRITE));
	fld_set(dctc, DCTC_RAE, !!(access & IB_UVERBS_ACCESS_REMOTE_ATOMIC));
	if (access & IB_UVERBS_ACCESS_REMOTE_ATOMIC)
		fld_set(dctc, DCTC_ATOMIC_MODE, adapter_atomic_mode(uc->adapter));
	fld_set(dctc, DCTC_PKEY_INDEX, cmd->pkey_index);
	fld_set(dctc, DCTC_PORT, cmd->port_num);
	fld_set(dctc, DCTC_COUNTER_SET_ID, uc->adapter->counter_set[cmd->port_num - 1]);
	real->port = cmd->port_num;
	real->state = QP_INIT;
}

static void fill_path(const struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		      uint8_t *dctc)
{
	fld_set(dctc, DCTC_MIN_RNR_NAK, cmd->min_rnr_timer);
	fld_set(dctc, DCTC_MTU, cmd->path_mtu);
	fld_set(dctc, DCTC_TCLASS, cmd->dest.traffic_class);
	fld_set(dctc, DCTC_FLOW_LABEL, cmd->dest.flow_label);
	fld_set(dctc, DCTC_MY_ADDR_INDEX, cmd->dest.sgid_index);
	fld_set(dctc, DCTC_HOP_LIMIT, cmd->dest.hop_limit);
	if (adapter_is_roce(uc->adapter))
		fld_set(dctc, DCTC_ETH_PRIO, cmd->dest.sl & 7);
}

static void take_ece(struct uverbs_call *uc, uint8_t *dctc)
{
	struct mlx5_ib_modify_qp driver;

	if (!adapter_cap(uc->adapter, HCA_CAP_ECE_SUPPORT) || !uc_len(uc, UVERBS_ATTR_UHW_IN) ||
	    uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)) || !driver.ece_options)
		return;
	fld_set(dctc, DCTC_ECE, driver.ece_options);
}

/* Sets out-of-order placement; check_driver_part() has checked that the adapter supports it. */
static void take_order(struct uverbs_call *uc, uint8_t *dctc)
{
	struct mlx5_ib_modify_qp driver;

	if (!uc_len(uc, UVERBS_ATTR_UHW_IN) ||
	    uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)) ||
	    !(driver.comp_mask & MLX5_IB_MODIFY_QP_OOO_DP))
		return;
	fld_set(dctc, DCTC_DP_ORDERING_1, 1);
	fld_set(dctc, DCTC_DP_ORDERING_FORCE, 1);
}

static int enter_rtr(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		     struct uverbs_qp *qp)
{
	uint8_t in[PRM_CREATE_DCT_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *dctc = qp->real->target->context;
	int ret;

	fill_path(uc, cmd, dctc);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_DCT);
	memcpy(fld_at(in, CREATE_DCT_IN_CONTEXT), dctc, PRM_DCTC_SIZE);
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	qp->real->qpn = fld_get(out, CREATE_DCT_OUT_DCTN);
	qp->ece = fld_get(out, CREATE_DCT_OUT_ECE);
	qp->real->state = QP_RTR;
	return 0;
}

int qp_dct_modify(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		  struct uverbs_qp *qp)
{
	size_t answer = offsetof(struct mlx5_ib_modify_qp_resp, dctn) + sizeof(uint32_t);
	struct real_qp *real = qp->real;

	if (!(cmd->attr_mask & QP_ATTR_STATE))
		return dct_refuse(uc, "no state is given");
	take_ece(uc, real->target->context);
	take_order(uc, real->target->context);
	if (real->state == QP_RESET && cmd->qp_state == QP_INIT) {
		if (cmd->attr_mask != TO_INIT)
			return dct_refuse(uc, "INIT needs access flags, P_Key index and port");
		enter_init(uc, cmd, real);
		return 0;
	}
	if (real->state != QP_INIT || cmd->qp_state != QP_RTR)
		return dct_refuse(uc, "no way to that state");
	if (uc_len(uc, UVERBS_ATTR_UHW_OUT) < answer)
		return dct_refuse(uc, "no room for its number");
	if (cmd->attr_mask != TO_RTR)
		return dct_refuse(uc, "RTR needs RNR timer, address and MTU");
	return enter_rtr(uc, cmd, qp);
}

static uint32_t read_access(const uint8_t *dctc)
{
	return (fld_get(dctc, DCTC_RRE) ? IB_UVERBS_ACCESS_REMOTE_READ : 0) |
	       (fld_get(dctc, DCTC_RWE) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0) |
	       (fld_get(dctc, DCTC_RAE) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0);
}

static void read_path(const uint8_t *dctc, struct ib_uverbs_qp_dest *dest)
{
	dest->traffic_class = fld_get(dctc, DCTC_TCLASS);
	dest->flow_label = fld_get(dctc, DCTC_FLOW_LABEL);
	dest->sgid_index = fld_get(dctc, DCTC_MY_ADDR_INDEX);
	dest->hop_limit = fld_get(dctc, DCTC_HOP_LIMIT);
}

/* Queries a target. Like Linux' driver, it returns only the attributes that are asked for. */
int qp_dct_query(struct uverbs_call *uc, uint32_t attr_mask, const struct uverbs_qp *qp,
		 struct ib_uverbs_query_qp_resp *resp)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_QUERY_DCT_OUT_SIZE];
	const uint8_t *dctc = fld_at(out, QUERY_DCT_OUT_CONTEXT);
	int ret;

	if (attr_mask & ~(uint32_t)(TO_INIT | TO_RTR) || !is_made(qp->real))
		return EINVAL;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_DCT);
	fld_set(in, QUERY_DCT_IN_DCTN, qp->real->qpn);
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	if (attr_mask & QP_ATTR_STATE)
		resp->qp_state = QP_RTR;
	if (attr_mask & QP_ATTR_ACCESS)
		resp->qp_access_flags = read_access(dctc);
	if (attr_mask & QP_ATTR_PORT)
		resp->port_num = qp->real->port;
	if (attr_mask & QP_ATTR_RNR_TIMER)
		resp->min_rnr_timer = fld_get(dctc, DCTC_MIN_RNR_NAK);
	if (attr_mask & QP_ATTR_AV)
		read_path(dctc, &resp->dest);
	if (attr_mask & QP_ATTR_MTU)
		resp->path_mtu = fld_get(dctc, DCTC_MTU);
	if (attr_mask & QP_ATTR_PKEY)
		resp->pkey_index = fld_get(dctc, DCTC_PKEY_INDEX);
	return 0;
}
