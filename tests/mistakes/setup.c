/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * setup.c - mistakes in creating and connecting queue pairs.
 *
 * Covers: libibverbs/explain/qp.c, libibverbs/explain/suspect_qp.c, libibverbs/explain/qp_states.c,
 * libibverbs/explain/ah.c, libibverbs/check/paths.c
 */
#include "mistakes.h"

#include <endian.h>
#include <string.h>

/* Moves the near end to the state before STATE, and returns the result of the step to STATE with
 * SPOIL's attributes and the mask without LACKS and with MORE. */
static int try_step(enum ibv_qp_state state, int lacks, int more, scene_spoil_fn *spoil)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_qp_attr attr;
	int mask;

	scene_to(scene, scene->near, state - 1, IBV_QPS_RESET, NULL);
	mask = scene_step(scene, state, &attr);
	if (spoil)
		spoil(scene, &attr);
	return ibv_modify_qp(scene->near->qp, &attr, (mask & ~lacks) | more);
}

MISTAKE(state_skipped)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_qp_attr attr;
	int mask = scene_step(scene, IBV_QPS_RTR, &attr);

	MUST(ibv_modify_qp(scene->near->qp, &attr, mask) == EINVAL);
}

MISTAKE(state_reset_to_err)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	MUST(ibv_modify_qp(scene->near->qp, &attr, IBV_QP_STATE) == EINVAL);
}

MISTAKE(init_without_access_flags)
{
	MUST(try_step(IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS, 0, NULL) == EINVAL);
}

MISTAKE(rtr_without_rnr_timer)
{
	MUST(try_step(IBV_QPS_RTR, IBV_QP_MIN_RNR_TIMER, 0, NULL) == EINVAL);
}

MISTAKE(init_with_sq_psn)
{
	MUST(try_step(IBV_QPS_INIT, 0, IBV_QP_SQ_PSN, NULL) == EINVAL);
}

static void spoil_mtu_bytes(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->path_mtu = (enum ibv_mtu)1024;
}

MISTAKE(mtu_in_bytes)
{
	MUST(try_step(IBV_QPS_RTR, 0, 0, spoil_mtu_bytes) == EINVAL);
}

static void spoil_mtu(struct scene *scene, struct ibv_qp_attr *attr)
{
	MUST(scene->rig.port.active_mtu < IBV_MTU_4096);
	attr->path_mtu = IBV_MTU_4096;
}

MISTAKE(mtu_above_active)
{
	try_step(IBV_QPS_RTR, 0, 0, spoil_mtu);
}

static void spoil_port(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->port_num = 0;
}

MISTAKE(port_0)
{
	MUST(try_step(IBV_QPS_INIT, 0, 0, spoil_port) == EINVAL);
}

static void spoil_pkey(struct scene *scene, struct ibv_qp_attr *attr)
{
	attr->pkey_index = scene->rig.port.pkey_tbl_len;
}

MISTAKE(pkey_index_beyond)
{
	MUST(try_step(IBV_QPS_INIT, 0, 0, spoil_pkey) == EINVAL);
}

static void spoil_global(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->ah_attr.is_global = 0;
}

MISTAKE(roce_without_gid)
{
	MUST(try_step(IBV_QPS_RTR, 0, 0, spoil_global) == EINVAL);
}

static void spoil_sgid(struct scene *scene, struct ibv_qp_attr *attr)
{
	attr->ah_attr.is_global = 1;
	attr->ah_attr.grh.dgid = scene->rig.gid;
	attr->ah_attr.grh.sgid_index = (uint8_t)(scene->rig.port.gid_tbl_len - 1);
}

MISTAKE(sgid_index_empty)
{
	MUST(try_step(IBV_QPS_RTR, 0, 0, spoil_sgid));
}

static void spoil_depth(struct scene *scene, struct ibv_qp_attr *attr)
{
	attr->max_rd_atomic = (uint8_t)(scene->rig.device.max_qp_init_rd_atom + 1);
}

MISTAKE(rd_atomic_above_device)
{
	MUST(try_step(IBV_QPS_RTS, 0, 0, spoil_depth) == EINVAL);
}

static void spoil_retries(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->retry_cnt = 10;
}

MISTAKE(retry_cnt_10)
{
	try_step(IBV_QPS_RTS, 0, 0, spoil_retries);
}

static int create_errno(void (*spoil)(struct scene *, struct ibv_qp_init_attr *))
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_qp_init_attr attr;

	rig_qp_init_attr(&conf, scene->near->cq, &attr);
	spoil(scene, &attr);
	MUST(!ibv_create_qp(scene->pair.pd, &attr));
	return errno;
}

static void spoil_cq(struct scene *scene, struct ibv_qp_init_attr *attr)
{
	(void)scene;
	attr->recv_cq = NULL;
}

MISTAKE(create_without_recv_cq)
{
	MUST(create_errno(spoil_cq) == EINVAL);
}

static void spoil_send_wr(struct scene *scene, struct ibv_qp_init_attr *attr)
{
	attr->cap.max_send_wr = (uint32_t)scene->rig.device.max_qp_wr + 1;
}

MISTAKE(create_too_many_wrs)
{
	MUST(create_errno(spoil_send_wr) == EINVAL);
}

static void spoil_sges(struct scene *scene, struct ibv_qp_init_attr *attr)
{
	(void)scene;
	attr->cap.max_send_sge = 1000;
}

MISTAKE(create_too_many_sges)
{
	MUST(create_errno(spoil_sges) == EINVAL);
}

static void spoil_inline(struct scene *scene, struct ibv_qp_init_attr *attr)
{
	(void)scene;
	attr->cap.max_inline_data = 4000;
}

MISTAKE(create_too_much_inline)
{
	MUST(create_errno(spoil_inline) == EINVAL);
}

static void spoil_type(struct scene *scene, struct ibv_qp_init_attr *attr)
{
	(void)scene;
	attr->qp_type = 0;
}

MISTAKE(create_without_type)
{
	MUST(create_errno(spoil_type) != 0);
}

static void no_answer(scene_spoil_fn *spoil, enum ibv_qp_state state)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_spoilt(&conf, state, spoil);

	scene_receive(scene->far, 64);
	scene_send(scene, IBV_WR_SEND);
	must_end(scene->near, IBV_WC_RETRY_EXC_ERR);
}

static void spoil_sq_psn(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->sq_psn += 77;
}

MISTAKE(psn_wrong)
{
	no_answer(spoil_sq_psn, IBV_QPS_RTS);
}

static void spoil_qpn(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->dest_qp_num += 0x1000;
}

MISTAKE(qpn_wrong)
{
	no_answer(spoil_qpn, IBV_QPS_RTR);
}

static void spoil_qpn_order(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->dest_qp_num = htobe32(attr->dest_qp_num);
}

MISTAKE(qpn_swapped)
{
	try_step(IBV_QPS_RTR, 0, 0, spoil_qpn_order);
}

static void spoil_lid(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->ah_attr.dlid += 40;
}

MISTAKE(lid_wrong)
{
	no_answer(spoil_lid, IBV_QPS_RTR);
}

static void spoil_lid_order(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->ah_attr.dlid = htobe16(attr->ah_attr.dlid);
}

MISTAKE(lid_swapped)
{
	no_answer(spoil_lid_order, IBV_QPS_RTR);
}

static void spoil_lid_zero(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->ah_attr.dlid = 0;
}

MISTAKE(lid_0)
{
	MUST(try_step(IBV_QPS_RTR, 0, 0, spoil_lid_zero) == EINVAL);
}

static void spoil_gid(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->ah_attr.grh.dgid.raw[15] ^= 0x55;
}

MISTAKE(gid_wrong)
{
	try_step(IBV_QPS_RTR, 0, 0, spoil_gid);
}

static void spoil_gid_zero(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	memset(&attr->ah_attr.grh.dgid, 0, sizeof(attr->ah_attr.grh.dgid));
}

MISTAKE(gid_zero)
{
	try_step(IBV_QPS_RTR, 0, 0, spoil_gid_zero);
}

MISTAKE(peer_in_init)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	scene_to(scene, scene->far, IBV_QPS_INIT, IBV_QPS_RESET, NULL);
	scene_to(scene, scene->near, IBV_QPS_RTS, IBV_QPS_RESET, NULL);
	scene_send(scene, IBV_WR_SEND);
	must_end(scene->near, IBV_WC_RETRY_EXC_ERR);
}

static void spoil_timeout(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->timeout = 0;
}

MISTAKE(timeout_0)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_spoilt(&conf, IBV_QPS_RTS, spoil_timeout);
	struct ibv_qp_attr dead = { .qp_state = IBV_QPS_RESET };

	MUST(!ibv_modify_qp(scene->far->qp, &dead, IBV_QP_STATE));
	scene_send(scene, IBV_WR_SEND);
	MUST(!rig_drain(scene->near->cq));
}

MISTAKE(rnr_retry_7)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	conf.rnr_retry = 7;
	scene = scene_open(&conf);
	scene_send(scene, IBV_WR_SEND);
	MUST(!rig_drain(scene->near->cq));
}

static void spoil_access(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->qp_access_flags = IBV_ACCESS_LOCAL_WRITE;
}

static void forbidden(enum ibv_qp_state state, scene_spoil_fn *spoil, enum ibv_wr_opcode opcode,
		      enum ibv_wc_status status)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	scene_to(scene, scene->far, IBV_QPS_RTS, state, spoil);
	scene_to(scene, scene->near, IBV_QPS_RTS, IBV_QPS_RESET, NULL);
	scene_send(scene, opcode);
	must_end(scene->near, status);
}

MISTAKE(qp_forbids_write)
{
	forbidden(IBV_QPS_INIT, spoil_access, IBV_WR_RDMA_WRITE, IBV_WC_REM_INV_REQ_ERR);
}

MISTAKE(qp_forbids_read)
{
	forbidden(IBV_QPS_INIT, spoil_access, IBV_WR_RDMA_READ, IBV_WC_REM_INV_REQ_ERR);
}

MISTAKE(qp_forbids_atomic)
{
	forbidden(IBV_QPS_INIT, spoil_access, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_REM_INV_REQ_ERR);
}

static void spoil_dest_depth(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->max_dest_rd_atomic = 0;
}

MISTAKE(dest_rd_atomic_0)
{
	forbidden(IBV_QPS_RTR, spoil_dest_depth, IBV_WR_RDMA_READ, IBV_WC_REM_INV_REQ_ERR);
}

static void spoil_own_depth(struct scene *scene, struct ibv_qp_attr *attr)
{
	(void)scene;
	attr->max_rd_atomic = 0;
}

MISTAKE(rd_atomic_0)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_spoilt(&conf, IBV_QPS_RTS, spoil_own_depth);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_READ, &sge), *bad;

	if (!ibv_post_send(scene->near->qp, &wr, &bad))
		rig_drain(scene->near->cq);
}

MISTAKE(psn_of_32_bits)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_qp_attr attr;
	int mask;

	scene_to(scene, scene->near, IBV_QPS_INIT, IBV_QPS_RESET, NULL);
	mask = scene_step(scene, IBV_QPS_RTR, &attr);
	attr.rq_psn = 0x12345678;
	ibv_modify_qp(scene->near->qp, &attr, mask);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake setup_mistakes[] = {
	ROW(state_skipped),
	ROW(state_reset_to_err),
	ROW(init_without_access_flags),
	ROW(rtr_without_rnr_timer),
	ROW(init_with_sq_psn),
	ROW(mtu_in_bytes),
	ROW(mtu_above_active),
	ROW(port_0),
	ROW(pkey_index_beyond),
	ROW(roce_without_gid),
	ROW(sgid_index_empty),
	ROW(rd_atomic_above_device),
	ROW(retry_cnt_10),
	ROW(create_without_recv_cq),
	ROW(create_too_many_wrs),
	ROW(create_too_many_sges),
	ROW(create_too_much_inline),
	ROW(create_without_type),
	ROW(psn_wrong),
	ROW(qpn_wrong),
	ROW(qpn_swapped),
	ROW(lid_wrong),
	ROW(lid_swapped),
	ROW(lid_0),
	ROW(gid_wrong),
	ROW(gid_zero),
	ROW(peer_in_init),
	ROW(timeout_0),
	ROW(rnr_retry_7),
	ROW(qp_forbids_write),
	ROW(qp_forbids_read),
	ROW(qp_forbids_atomic),
	ROW(dest_rd_atomic_0),
	ROW(rd_atomic_0),
	ROW(psn_of_32_bits),
	{ 0 },
};
