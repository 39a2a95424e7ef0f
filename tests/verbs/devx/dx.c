/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dx.c - creates queues and keys by the device's own commands.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dx.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/uar.h"
#include "tests/lib/say.h"

enum { SQ_AT = 16 << DX_LOG_RQ, DB_RECV = 0, DB_SEND = 1, DB_CI = 0, DB_ARM = 1, TIMEOUT_S = 20 };

void dx_command(struct dx_command *cmd, uint32_t opcode, size_t in_len)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->in_len = in_len;
	fld_set(cmd->in, CMD_IN_OPCODE, opcode);
}

int dx_say(int err, const struct dx_command *cmd, const char *what)
{
	if (err == EREMOTEIO)
		say("%s: %s, status %#x, %s syndrome", what, say_errno(err),
		    (unsigned int)fld_get(cmd->out, CMD_OUT_STATUS),
		    fld_get(cmd->out, CMD_OUT_SYNDROME) ? "a" : "no");
	else
		say("%s: %s", what, say_errno(err));
	return err;
}

struct mlx5dv_devx_obj *dx_create(struct ibv_context *ctx, struct dx_command *cmd)
{
	errno = 0;
	return mlx5dv_devx_obj_create(ctx, cmd->in, cmd->in_len, cmd->out, sizeof(cmd->out));
}

struct mlx5dv_devx_obj *dx_must_create(struct ibv_context *ctx, struct dx_command *cmd,
				       uint32_t *number)
{
	struct mlx5dv_devx_obj *obj = dx_create(ctx, cmd);

	if (!obj)
		dx_say(errno, cmd, "what must be created");
	MUST(obj);
	if (number)
		/* all create commands have it at the same place, so one field serves */
		*number = fld_get(cmd->out, CREATE_QP_OUT_QPN);
	return obj;
}

static void memory_open_at(struct ibv_context *ctx, size_t size, size_t offset,
			   struct dx_memory *memory)
{
	uint8_t *begin;

	memory->size = (offset + size + DX_PAGE - 1) / DX_PAGE * DX_PAGE;
	memory->offset = offset;
	begin = aligned_alloc(DX_PAGE, memory->size);
	MUST(begin);
	memset(begin, 0, memory->size);
	memory->addr = begin + offset;
	memory->umem = mlx5dv_devx_umem_reg(ctx, begin, memory->size,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						    IBV_ACCESS_REMOTE_READ);
	MUST(memory->umem);
}

void dx_memory_open(struct ibv_context *ctx, size_t size, struct dx_memory *memory)
{
	memory_open_at(ctx, size, 0, memory);
}

void dx_memory_close(struct dx_memory *memory)
{
	MUST(!mlx5dv_devx_umem_dereg(memory->umem));
	free(memory->addr - memory->offset);
}

static struct ibv_context *open_first(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	MUST(list && list[0]);
	ctx = mlx5dv_open_device(list[0], &attr);
	ibv_free_device_list(list);
	return ctx;
}

/* Allocates a page for BlueFlame, or a plain one, as an emulated processor may have no write
 * combining, which BlueFlame needs. */
static struct mlx5dv_devx_uar *alloc_page(struct ibv_context *ctx)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);

	return uar ? uar : mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
}

void dx_device_open(struct dx_device *device)
{
	struct mlx5dv_pd pd = { 0 };
	struct mlx5dv_obj obj = { 0 };

	device->ctx = open_first();
	MUST(device->ctx);
	MUST(!ibv_query_port(device->ctx, 1, &device->port));
	device->pd = ibv_alloc_pd(device->ctx);
	MUST(device->pd);
	obj.pd.in = device->pd;
	obj.pd.out = &pd;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
	device->pdn = pd.pdn;
	MUST(!mlx5dv_devx_query_eqn(device->ctx, 0, &device->eqn));
	device->uar = alloc_page(device->ctx);
	MUST(device->uar);
	device->ring_offset = 0;
}

void dx_device_close(struct dx_device *device)
{
	mlx5dv_devx_free_uar(device->uar);
	MUST(!ibv_dealloc_pd(device->pd));
	MUST(!ibv_close_device(device->ctx));
}

void dx_cq_command(const struct dx_device *device, const struct dx_memory *ring,
		   const struct dx_memory *record, struct dx_command *cmd)
{
	uint8_t *cqc = fld_at(cmd->in, CREATE_CQ_IN_CQC);

	dx_command(cmd, PRM_OP_CREATE_CQ, PRM_CREATE_CQ_IN_SIZE);
	fld_set(cqc, CQC_LOG_CQ_SIZE, DX_LOG_CQ);
	fld_set(cqc, CQC_UAR_PAGE, device->uar->page_id);
	fld_set(cqc, CQC_C_EQN, device->eqn);
	fld_set(cqc, CQC_DBR_UMEM_VALID, 1);
	fld_set(cqc, CQC_DBR_UMEM_ID, record->umem->umem_id);
	fld_set(cmd->in, CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	fld_set(cmd->in, CREATE_CQ_IN_CQ_UMEM_ID, ring->umem->umem_id);
	fld_set(cmd->in, CREATE_CQ_IN_CQ_UMEM_OFFSET, ring->offset);
}

void dx_cq_open(const struct dx_device *device, struct dx_cq *cq)
{
	struct dx_command cmd;

	memory_open_at(device->ctx, 64 << DX_LOG_CQ, device->ring_offset, &cq->ring);
	dx_memory_open(device->ctx, 8, &cq->record);
	cq->ci = 0;
	cq->arms = 0;
	for (unsigned int i = 0; i < 1u << DX_LOG_CQ; i++)
		cq->ring.addr[64 * i + 63] = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;
	dx_cq_command(device, &cq->ring, &cq->record, &cmd);
	cq->obj = dx_must_create(device->ctx, &cmd, &cq->cqn);
}

void dx_cq_close(struct dx_cq *cq)
{
	MUST(!mlx5dv_devx_obj_destroy(cq->obj));
	dx_memory_close(&cq->ring);
	dx_memory_close(&cq->record);
}

static void set_record(const struct dx_memory *record, unsigned int word, uint32_t value)
{
	volatile uint32_t *words = (volatile uint32_t *)record->addr;

	__sync_synchronize();
	words[word] = htobe32(value);
	__sync_synchronize();
}

static bool is_there(const struct mlx5_cqe64 *cqe, uint32_t ci)
{
	uint8_t op_own = *(volatile const uint8_t *)&cqe->op_own;

	return op_own >> 4 != MLX5_CQE_INVALID && (op_own & 1) == (ci >> DX_LOG_CQ & 1);
}

const struct mlx5_cqe64 *dx_cq_poll(struct dx_cq *cq)
{
	uint32_t at = cq->ci & ((1u << DX_LOG_CQ) - 1);
	const struct mlx5_cqe64 *cqe = (const void *)(cq->ring.addr + (size_t)64 * at);
	time_t end = time(NULL) + TIMEOUT_S;

	while (!is_there(cqe, cq->ci)) {
		if (time(NULL) > end)
			return NULL;
		usleep(100);
	}
	__sync_synchronize();
	set_record(&cq->record, DB_CI, ++cq->ci & 0xffffff);
	return cqe;
}

void dx_cq_arm(const struct dx_device *device, struct dx_cq *cq)
{
	uint32_t word = (uint32_t)(cq->arms++ & 3) << 28 | (cq->ci & 0xffffff);

	set_record(&cq->record, DB_ARM, word);
	*(volatile uint64_t *)((uint8_t *)device->uar->base_addr + PRM_UAR_CQ) =
		htobe64((uint64_t)word << 32 | cq->cqn);
	__sync_synchronize();
}

void dx_qp_command(const struct dx_device *device, uint32_t cqn, const struct dx_memory *rings,
		   const struct dx_memory *record, struct dx_command *cmd)
{
	uint8_t *qpc = fld_at(cmd->in, CREATE_QP_IN_QPC);

	dx_command(cmd, PRM_OP_CREATE_QP, PRM_CREATE_QP_IN_SIZE);
	fld_set(qpc, QPC_ST, PRM_QP_ST_RC);
	fld_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	fld_set(qpc, QPC_PD, device->pdn);
	fld_set(qpc, QPC_LOG_RQ_SIZE, DX_LOG_RQ);
	fld_set(qpc, QPC_LOG_SQ_SIZE, DX_LOG_SQ);
	fld_set(qpc, QPC_UAR_PAGE, device->uar->page_id);
	fld_set(qpc, QPC_CQN_SND, cqn);
	fld_set(qpc, QPC_CQN_RCV, cqn);
	fld_set(qpc, QPC_DBR_UMEM_VALID, 1);
	fld_set(qpc, QPC_DBR_UMEM_ID, record->umem->umem_id);
	fld_set(cmd->in, CREATE_QP_IN_WQ_UMEM_VALID, 1);
	fld_set(cmd->in, CREATE_QP_IN_WQ_UMEM_ID, rings->umem->umem_id);
	fld_set(cmd->in, CREATE_QP_IN_WQ_UMEM_OFFSET, rings->offset);
}

void dx_qp_open(const struct dx_device *device, struct dx_cq *cq, struct dx_qp *qp)
{
	struct dx_command cmd;

	*qp = (struct dx_qp){ .device = device, .cq = cq };
	memory_open_at(device->ctx, (16 << DX_LOG_RQ) + (64 << DX_LOG_SQ), device->ring_offset,
		       &qp->rings);
	dx_memory_open(device->ctx, 8, &qp->record);
	dx_qp_command(device, cq->cqn, &qp->rings, &qp->record, &cmd);
	qp->obj = dx_must_create(device->ctx, &cmd, &qp->qpn);
}

void dx_qp_close(struct dx_qp *qp)
{
	MUST(!mlx5dv_devx_obj_destroy(qp->obj));
	dx_memory_close(&qp->rings);
	dx_memory_close(&qp->record);
}

/* Takes the peer's MAC from libmlx5's address vector, as the kernel has resolved it there. */
static void find_mac(const struct dx_device *device, union ibv_gid *gid, uint8_t mac[6])
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .grh.dgid = *gid };
	struct mlx5dv_ah dv = { 0 };
	struct mlx5dv_obj obj = { 0 };

	obj.ah.in = ibv_create_ah(device->pd, &attr);
	obj.ah.out = &dv;
	MUST(obj.ah.in);
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_AH));
	memcpy(mac, dv.av->rmac, 6);
	MUST(!ibv_destroy_ah(obj.ah.in));
}

static void put_path(const struct dx_qp *qp, const struct dx_device *peer, uint8_t *ads)
{
	union ibv_gid gid;
	uint8_t mac[6];

	fld_set(ads, ADS_VHCA_PORT_NUM, 1);
	if (qp->device->port.link_layer != IBV_LINK_LAYER_ETHERNET) {
		fld_set(ads, ADS_RLID, peer->port.lid);
		return;
	}
	MUST(!ibv_query_gid(peer->ctx, 1, 0, &gid));
	find_mac(qp->device, &gid, mac);
	memcpy(fld_at(ads, ADS_RGID_RIP), gid.raw, sizeof(gid.raw));
	fld_set(ads, ADS_RMAC_47_32, mac[0] << 8 | mac[1]);
	fld_set(ads, ADS_RMAC_31_0, (uint32_t)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5]);
	fld_set(ads, ADS_HOP_LIMIT, 64);
}

static void qp_change(struct dx_qp *qp, struct dx_command *cmd)
{
	int err;

	fld_set(cmd->in, MODIFY_QP_IN_QPN, qp->qpn);
	err = mlx5dv_devx_obj_modify(qp->obj, cmd->in, cmd->in_len, cmd->out, sizeof(cmd->out));
	if (err)
		dx_say(err, cmd, "a change of state that must be");
	MUST(!err);
}

void dx_qp_connect(struct dx_qp *qp, const struct dx_device *peer_device, uint32_t peer)
{
	struct dx_command cmd;
	uint8_t *qpc = fld_at(cmd.in, MODIFY_QP_IN_QPC);

	dx_command(&cmd, PRM_OP_RST2INIT_QP, PRM_MODIFY_QP_IN_SIZE);
	fld_set(qpc, QPC_RRE, 1);
	fld_set(qpc, QPC_RWE, 1);
	fld_set(fld_at(qpc, QPC_PRIMARY_PATH), ADS_VHCA_PORT_NUM, 1);
	qp_change(qp, &cmd);

	dx_command(&cmd, PRM_OP_INIT2RTR_QP, PRM_MODIFY_QP_IN_SIZE);
	fld_set(qpc, QPC_MTU, IBV_MTU_1024);
	fld_set(qpc, QPC_LOG_MSG_MAX, 30);
	fld_set(qpc, QPC_REMOTE_QPN, peer);
	fld_set(qpc, QPC_MIN_RNR_NAK, 12);
	put_path(qp, peer_device, fld_at(qpc, QPC_PRIMARY_PATH));
	qp_change(qp, &cmd);

	dx_command(&cmd, PRM_OP_RTR2RTS_QP, PRM_MODIFY_QP_IN_SIZE);
	fld_set(qpc, QPC_RETRY_COUNT, 7);
	fld_set(qpc, QPC_RNR_RETRY, 7);
	fld_set(fld_at(qpc, QPC_PRIMARY_PATH), ADS_ACK_TIMEOUT, 14);
	fld_set(fld_at(qpc, QPC_PRIMARY_PATH), ADS_VHCA_PORT_NUM, 1);
	qp_change(qp, &cmd);
}

void dx_key_command(const struct dx_device *device, const struct dx_memory *memory,
		    struct dx_command *cmd)
{
	uint8_t *mkc = fld_at(cmd->in, CREATE_MKEY_IN_MKC);
	uint32_t octwords = (memory->size / DX_PAGE + 1) / 2;

	dx_command(cmd, PRM_OP_CREATE_MKEY, PRM_CREATE_MKEY_IN_SIZE);
	fld_set(cmd->in, CREATE_MKEY_IN_MKEY_UMEM_VALID, 1);
	fld_set(cmd->in, CREATE_MKEY_IN_MKEY_UMEM_ID, memory->umem->umem_id);
	fld_set(cmd->in, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, octwords);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_LW, 1);
	fld_set(mkc, MKC_RR, 1);
	fld_set(mkc, MKC_RW, 1);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_MKEY_7_0, 0x42);
	fld_set(mkc, MKC_PD, device->pdn);
	fld_set(mkc, MKC_START_ADDR, (uintptr_t)memory->addr);
	fld_set(mkc, MKC_LEN, memory->size);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, octwords);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, 12);
}

void dx_key_open(const struct dx_device *device, const struct dx_memory *memory, struct dx_key *key)
{
	struct dx_command cmd;
	uint32_t index;

	dx_key_command(device, memory, &cmd);
	key->obj = dx_must_create(device->ctx, &cmd, &index);
	key->key = index << 8 | 0x42;
}

void dx_post_recv(struct dx_qp *qp, const struct dx_piece *piece)
{
	uint32_t at = qp->rq_pi++ & ((1u << DX_LOG_RQ) - 1);
	struct mlx5_wqe_data_seg *wqe = (void *)(qp->rings.addr + (size_t)16 * at);

	mlx5dv_set_data_seg(wqe, piece->len, piece->key, (uintptr_t)piece->addr);
	set_record(&qp->record, DB_RECV, qp->rq_pi);
}

void dx_post_send(struct dx_qp *qp, uint8_t opcode, const struct dx_piece *piece, uint64_t remote,
		  uint32_t rkey)
{
	uint32_t at = qp->sq_pi & ((1u << DX_LOG_SQ) - 1);
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)(qp->rings.addr + SQ_AT + (size_t)64 * at);
	struct mlx5_wqe_raddr_seg *raddr = (void *)(ctrl + 1);
	uint8_t segs = opcode == MLX5_OPCODE_SEND ? 2 : 3;

	mlx5dv_set_ctrl_seg(ctrl, qp->sq_pi, opcode, 0, qp->qpn, MLX5_WQE_CTRL_CQ_UPDATE, segs, 0,
			    0);
	if (segs == 3)
		*raddr = (struct mlx5_wqe_raddr_seg){ .raddr = htobe64(remote),
						      .rkey = htobe32(rkey) };
	mlx5dv_set_data_seg((void *)(ctrl + segs - 1), piece->len, piece->key,
			    (uintptr_t)piece->addr);
	set_record(&qp->record, DB_SEND, ++qp->sq_pi);
	*(volatile uint64_t *)qp->device->uar->reg_addr = *(uint64_t *)ctrl;
	__sync_synchronize();
}

void dx_end_open_at(size_t size, size_t ring_offset, struct dx_end *end)
{
	dx_device_open(&end->device);
	end->device.ring_offset = ring_offset;
	dx_cq_open(&end->device, &end->cq);
	dx_qp_open(&end->device, &end->cq, &end->qp);
	dx_memory_open(end->device.ctx, size, &end->memory);
	dx_key_open(&end->device, &end->memory, &end->key);
}

void dx_end_open(size_t size, struct dx_end *end)
{
	dx_end_open_at(size, 0, end);
}

void dx_end_close(struct dx_end *end)
{
	dx_qp_close(&end->qp);
	dx_cq_close(&end->cq);
	MUST(!mlx5dv_devx_obj_destroy(end->key.obj));
	dx_memory_close(&end->memory);
	dx_device_close(&end->device);
}
