/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - commands on objects that the kernel and the device refuse, and their errors; and
 * access to objects of other contexts.
 *
 * Covers: providers/mlx5/dv/devx_obj.c, softhca/front/process/uverbs/devx/obj.c,
 * softhca/front/process/uverbs/devx/names.c
 */
#include <string.h>

#include "dx.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/pd.h"
#include "prm/mlx5/qpc.h"
#include "tests/lib/say.h"

static void say_refused(const struct dx_end *set, struct dx_command *cmd, const char *what)
{
	struct mlx5dv_devx_obj *obj = dx_create(set->device.ctx, cmd);

	dx_say(obj ? 0 : errno, cmd, what);
	if (obj)
		MUST(!mlx5dv_devx_obj_destroy(obj));
}

static int obj_query(struct mlx5dv_devx_obj *obj, struct dx_command *cmd)
{
	return mlx5dv_devx_obj_query(obj, cmd->in, cmd->in_len, cmd->out, sizeof(cmd->out));
}

static int obj_modify(struct mlx5dv_devx_obj *obj, struct dx_command *cmd)
{
	return mlx5dv_devx_obj_modify(obj, cmd->in, cmd->in_len, cmd->out, sizeof(cmd->out));
}

/* Queues without a context are left out, as Linux writes into the context before it checks the
 * length, and so into other memory. */
static void refuse_commands(const struct dx_end *set)
{
	static const uint32_t opcodes[] = {
		PRM_OP_QUERY_HCA_CAP, PRM_OP_CREATE_EQ,   PRM_OP_DESTROY_QP,  PRM_OP_SET_HCA_CAP,
		PRM_OP_ALLOC_UAR,     PRM_OP_CREATE_UCTX, PRM_OP_CREATE_UMEM, 0x7fff,
		PRM_OP_CREATE_PSV,    PRM_OP_CREATE_SRQ,
	};
	struct dx_command cmd;

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		dx_command(&cmd, opcodes[i], 256);
		say("create by %#x", opcodes[i]);
		say_refused(set, &cmd, "it");
	}
	dx_command(&cmd, PRM_OP_ALLOC_PD, 16);
	fld_set(cmd.in, GENERAL_OBJ_IN_VHCA_TUNNEL_ID, 1);
	say_refused(set, &cmd, "through a tunnel");
	dx_command(&cmd, PRM_OP_ALLOC_PD, 15);
	say_refused(set, &cmd, "no whole header");
	dx_command(&cmd, PRM_OP_CREATE_TIS, 64);
	say_refused(set, &cmd, "a TIS without half of its context");
	dx_command(&cmd, PRM_OP_CREATE_MKEY, 40);
	say_refused(set, &cmd, "a key without its context");
}

static void refuse_short_answer(const struct dx_end *set)
{
	struct dx_command cmd;

	dx_command(&cmd, PRM_OP_ALLOC_PD, 16);
	errno = 0;
	say_ptr(mlx5dv_devx_obj_create(set->device.ctx, cmd.in, 16, cmd.out, 8),
		"room for half an answer");
	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, set->qp.qpn);
	dx_say(mlx5dv_devx_obj_query(set->qp.obj, cmd.in, 16, cmd.out, 16), &cmd,
	       "room for no QP context");
	dx_say(mlx5dv_devx_obj_query(set->qp.obj, cmd.in, 16, cmd.out, 15), &cmd,
	       "room for no status");
}

static void refuse_contexts(const struct dx_end *set)
{
	uint8_t *qpc, *cqc, *mkc;
	struct dx_command cmd;

	qpc = fld_at(cmd.in, CREATE_QP_IN_QPC);
	cqc = fld_at(cmd.in, CREATE_CQ_IN_CQC);
	mkc = fld_at(cmd.in, CREATE_MKEY_IN_MKC);
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(qpc, QPC_PD, 0xfffff0);
	say_refused(set, &cmd, "a QP of no PD");
	dx_qp_command(&set->device, 0xfffff0, &set->memory, &set->memory, &cmd);
	say_refused(set, &cmd, "a QP of no CQ");
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(qpc, QPC_LOG_SQ_SIZE, 10);
	say_refused(set, &cmd, "a QP larger than its memory");
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(qpc, QPC_DBR_UMEM_ID, 0xfffff0);
	say_refused(set, &cmd, "a record in no memory");
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(qpc, QPC_DBR_ADDR, 4);
	say_refused(set, &cmd, "a record that is not aligned");
	fld_set(qpc, QPC_DBR_ADDR, DX_PAGE);
	say_refused(set, &cmd, "a record behind its memory");
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(cmd.in, CREATE_QP_IN_WQ_UMEM_OFFSET, 64);
	/* which is not refused, as a ring may begin within a page */
	say_refused(set, &cmd, "a ring that begins within a page");
	fld_set(cmd.in, CREATE_QP_IN_WQ_UMEM_OFFSET, 32);
	say_refused(set, &cmd, "a ring that begins within 64 bytes");
	dx_cq_command(&set->device, &set->memory, &set->memory, &cmd);
	fld_set(cqc, CQC_C_EQN, 0xff);
	say_refused(set, &cmd, "a CQ of no event queue");
	dx_cq_command(&set->device, &set->memory, &set->memory, &cmd);
	fld_set(cqc, CQC_LOG_CQ_SIZE, 7);
	say_refused(set, &cmd, "a CQ larger than its memory");
	dx_key_command(&set->device, &set->memory, &cmd);
	fld_set(mkc, MKC_LEN, DX_PAGE + 1);
	say_refused(set, &cmd, "a key larger than its memory");
	dx_key_command(&set->device, &set->memory, &cmd);
	fld_set(mkc, MKC_START_ADDR, 8);
	say_refused(set, &cmd, "a key with another place in the page");
	dx_key_command(&set->device, &set->memory, &cmd);
	fld_set(cmd.in, CREATE_MKEY_IN_MKEY_UMEM_ID, 0xfffff0);
	say_refused(set, &cmd, "a key in no memory");
}

/* A program has no list of pages to name, so the kernel puts "this memory is the program's" into
 * the command. */
static void force_memory(const struct dx_end *set)
{
	struct dx_command cmd;

	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(cmd.in, CREATE_QP_IN_WQ_UMEM_VALID, 0);
	fld_set(fld_at(cmd.in, CREATE_QP_IN_QPC), QPC_DBR_UMEM_VALID, 0);
	say_refused(set, &cmd, "a QP that does not say that it is in user memory");
	fld_set(cmd.in, CREATE_QP_IN_WQ_UMEM_ID, 0);
	say_refused(set, &cmd, "a QP that lists pages");
	dx_key_command(&set->device, &set->memory, &cmd);
	fld_set(fld_at(cmd.in, CREATE_MKEY_IN_MKC), MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_PA);
	say_refused(set, &cmd, "a key of physical addresses");
}

static void refuse_uses(struct dx_end *set)
{
	struct dx_command cmd;

	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, set->qp.qpn);
	dx_say(obj_query(set->qp.obj, &cmd), &cmd, "query of a QP");
	say("its state: %d", (int)fld_get(fld_at(cmd.out, QUERY_QP_OUT_QPC), QPC_STATE));
	dx_say(obj_query(set->cq.obj, &cmd), &cmd, "query of a QP by a CQ");
	dx_say(obj_modify(set->qp.obj, &cmd), &cmd, "query as a change");
	fld_set(cmd.in, QUERY_QP_IN_QPN, set->qp.qpn + 1);
	dx_say(obj_query(set->qp.obj, &cmd), &cmd, "query of another QP");
	dx_command(&cmd, PRM_OP_QUERY_CQ, 16);
	fld_set(cmd.in, QUERY_CQ_IN_CQN, set->cq.cqn);
	dx_say(obj_query(set->cq.obj, &cmd), &cmd, "query of a CQ");
	dx_command(&cmd, PRM_OP_QUERY_MKEY, 16);
	fld_set(cmd.in, QUERY_MKEY_IN_MKEY_INDEX, set->key.key >> 8);
	dx_say(obj_query(set->key.obj, &cmd), &cmd, "query of a key");
	dx_command(&cmd, PRM_OP_RTR2RTS_QP, PRM_MODIFY_QP_IN_SIZE);
	fld_set(cmd.in, MODIFY_QP_IN_QPN, set->qp.qpn);
	dx_say(obj_modify(set->qp.obj, &cmd), &cmd, "RTS from RESET");
	dx_say(obj_query(set->qp.obj, &cmd), &cmd, "a change as a query");
	dx_command(&cmd, PRM_OP_DESTROY_QP, 16);
	fld_set(cmd.in, DESTROY_QP_IN_QPN, set->qp.qpn);
	dx_say(obj_modify(set->qp.obj, &cmd), &cmd, "destruction as a change");
}

static void refuse_destruction(struct dx_end *set)
{
	SAY_RET(mlx5dv_devx_umem_dereg(set->qp.rings.umem), "memory of a ring");
	SAY_RET(mlx5dv_devx_umem_dereg(set->qp.record.umem), "memory of a record");
	SAY_RET(mlx5dv_devx_umem_dereg(set->cq.ring.umem), "memory of a CQ");
	SAY_RET(mlx5dv_devx_umem_dereg(set->memory.umem), "memory of a key");
	SAY_RET(mlx5dv_devx_obj_destroy(set->cq.obj), "a CQ in use");
	SAY_RET(ibv_dealloc_pd(set->device.pd), "a PD in use");
}

/* Objects that are hardly more than a number */
static void make_domains(const struct dx_end *set)
{
	static const uint32_t opcodes[] = { PRM_OP_ALLOC_PD, PRM_OP_ALLOC_TRANSPORT_DOMAIN,
					    PRM_OP_ALLOC_XRCD, PRM_OP_ALLOC_Q_COUNTER };
	struct dx_command cmd;

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		say("object by %#x", opcodes[i]);
		dx_command(&cmd, opcodes[i], 16);
		say_refused(set, &cmd, "it");
	}
}

void dx_objects(void)
{
	struct dx_end set;

	dx_end_open(DX_PAGE, &set);
	refuse_commands(&set);
	refuse_short_answer(&set);
	refuse_contexts(&set);
	force_memory(&set);
	refuse_uses(&set);
	refuse_destruction(&set);
	make_domains(&set);
	dx_end_close(&set);
}

static void name_foreign(const struct dx_end *set, const struct dx_end *other)
{
	struct dx_command cmd;
	uint8_t *qpc = fld_at(cmd.in, CREATE_QP_IN_QPC), *mkc;

	mkc = fld_at(cmd.in, CREATE_MKEY_IN_MKC);
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
	fld_set(qpc, QPC_PD, other->device.pdn);
	say_refused(set, &cmd, "a QP of another's PD");
	dx_qp_command(&set->device, other->cq.cqn, &set->memory, &set->memory, &cmd);
	say_refused(set, &cmd, "a QP of another's CQ");
	dx_qp_command(&set->device, set->cq.cqn, &other->memory, &set->memory, &cmd);
	say_refused(set, &cmd, "a QP in another's memory");
	dx_qp_command(&set->device, set->cq.cqn, &set->memory, &other->memory, &cmd);
	say_refused(set, &cmd, "a record in another's memory");
	dx_cq_command(&set->device, &other->memory, &set->memory, &cmd);
	say_refused(set, &cmd, "a CQ in another's memory");
	dx_key_command(&set->device, &other->memory, &cmd);
	say_refused(set, &cmd, "a key in another's memory");
	dx_key_command(&set->device, &set->memory, &cmd);
	fld_set(mkc, MKC_PD, other->device.pdn);
	say_refused(set, &cmd, "a key of another's PD");
	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, other->qp.qpn);
	dx_say(obj_query(set->qp.obj, &cmd), &cmd, "query of another's QP");
}

/* Puts the other user's number into the command itself. This must change nothing, as the kernel
 * puts the program's own there. */
static void claim_user(const struct dx_end *set, const struct dx_end *other)
{
	struct dx_command cmd;

	for (uint32_t uid = 0; uid < 4; uid++) {
		dx_qp_command(&set->device, set->cq.cqn, &set->memory, &set->memory, &cmd);
		fld_set(fld_at(cmd.in, CREATE_QP_IN_QPC), QPC_PD, other->device.pdn);
		fld_set(cmd.in, CMD_IN_UID, uid);
		say_refused(set, &cmd, "with the number of somebody");
	}
}

void dx_foreign(void)
{
	struct dx_end a, b;

	dx_end_open(DX_PAGE, &a);
	dx_end_open(DX_PAGE, &b);
	name_foreign(&a, &b);
	claim_user(&a, &b);
	dx_end_close(&b);
	dx_end_close(&a);
}
