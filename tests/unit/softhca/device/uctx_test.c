/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uctx_test.c - user contexts of DEVX, whose commands the driver passes through: forbidden
 * operations, ownership of objects, and the umems of their queues.
 *
 * Covers: softhca/device/uctx.c, softhca/device/memory/umem.c,
 * softhca/device/format/mlx5/cmd/uctx.c, softhca/device/format/mlx5/cmd/umem.c,
 * softhca/device/format/mlx5/cmd/general_obj.c, softhca/device/format/mlx5/cmd/pacing.c
 */
#include <errno.h>

#include "flat.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/modify_header.h"
#include "prm/mlx5/packet_reformat.h"
#include "prm/mlx5/pacing.h"
#include "prm/mlx5/pd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/umem.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/umem.h"
#include "prm/mlx5/wq.h"

enum { PAGE = 4096, TRIES = 2000 };

static struct hca *adapter(void)
{
	return flat.hca[0];
}

static uint32_t user_with(uint32_t caps)
{
	uint8_t in[PRM_CREATE_UCTX_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UCTX);
	fld_set(fld_at(in, CREATE_UCTX_IN_UCTX), UCTX_CAP, caps);
	flat_cmd(adapter(), in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_UCTX_OUT_UID);
}

static uint32_t user_new(void)
{
	return user_with(0);
}

static void user_end(uint32_t uid, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_UCTX);
	fld_set(in, DESTROY_UCTX_IN_UID, uid);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
}

/* Executes a command of 16 bytes for UID; returns the number in its output. */
static uint32_t simple_for(uint32_t uid, uint32_t opcode, uint32_t number, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, DEALLOC_PD_IN_PD, number);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, ALLOC_PD_OUT_PD);
}

struct memory {
	uint64_t addr;
	uint32_t pages, shift, offset;
};

static uint32_t umem_for(uint32_t uid, const struct memory *memory, enum prm_status expect)
{
	uint8_t in[PRM_CREATE_UMEM_IN_SIZE + 8 * 8] = { 0 }, out[16];
	uint8_t *context = fld_at(in, CREATE_UMEM_IN_UMEM);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UMEM);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(context, UMEM_LOG_PAGE_SIZE, memory->shift - 12);
	fld_set(context, UMEM_PAGE_OFFSET, memory->offset);
	fld_set(context, UMEM_NUM_OF_MTT, memory->pages);
	for (uint32_t i = 0; i < memory->pages && i < 8; i++)
		fld_set64(fld_at(context, UMEM_MTT), i * 8,
			  memory->addr + ((uint64_t)i << memory->shift));
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, CREATE_UMEM_OUT_UMEM_ID);
}

/* EQ and UAR of cq_for(), which makes a CQ of 64 CQEs at OFFSET of a umem and a doorbell record at
 * RECORD. */
static uint32_t cq_eqn, cq_page;
static uint32_t cq_record_beyond; /* the record's umem has the CQ's number plus this */

static uint32_t qp_pd;
static bool qp_fre, qp_rlky;

static uint32_t cq_for(uint32_t uid, uint32_t umem, uint64_t offset, uint64_t record,
		       enum prm_status expect)
{
	uint8_t in[PRM_CREATE_CQ_IN_SIZE] = { 0 }, out[16];
	uint8_t *cqc = fld_at(in, CREATE_CQ_IN_CQC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_CQ);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(cqc, CQC_LOG_CQ_SIZE, 6);
	fld_set(cqc, CQC_UAR_PAGE, cq_page);
	fld_set(cqc, CQC_C_EQN, cq_eqn);
	fld_set(cqc, CQC_DBR_UMEM_VALID, 1);
	fld_set(cqc, CQC_DBR_UMEM_ID, umem + cq_record_beyond);
	fld_set(cqc, CQC_DBR_ADDR, record);
	fld_set(in, CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	fld_set(in, CREATE_CQ_IN_CQ_UMEM_ID, umem);
	fld_set(in, CREATE_CQ_IN_CQ_UMEM_OFFSET, offset);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, CREATE_CQ_OUT_CQN);
}

/* Makes an EQ. A user can use the EQ of another user only if UID is PRM_SHARED_UID, as it would see
 * the other's events. */
static uint32_t eq_for(uint32_t uid)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	fld_set(in, CMD_IN_UID, uid);
	flat_cmd(adapter(), in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
}

/* Makes a QP with a send queue only, in the user's umem. */
static uint32_t qp_for(uint32_t uid, uint32_t cqn, uint32_t umem, uint32_t page,
		       enum prm_status expect)
{
	uint8_t in[PRM_CREATE_QP_IN_SIZE] = { 0 }, out[16];
	uint8_t *qpc = fld_at(in, CREATE_QP_IN_QPC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(qpc, QPC_ST, PRM_QP_ST_RC);
	fld_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	fld_set(qpc, QPC_PD, qp_pd);
	fld_set(qpc, QPC_RQ_TYPE, PRM_RQ_TYPE_ZERO_SIZE);
	fld_set(qpc, QPC_UAR_PAGE, page);
	fld_set(qpc, QPC_CQN_SND, cqn);
	fld_set(qpc, QPC_CQN_RCV, cqn);
	fld_set(qpc, QPC_FRE, qp_fre);
	fld_set(qpc, QPC_RLKY, qp_rlky);
	fld_set(qpc, QPC_DBR_UMEM_VALID, 1);
	fld_set(qpc, QPC_DBR_UMEM_ID, umem);
	fld_set(qpc, QPC_DBR_ADDR, 2 * PAGE + 64);
	fld_set(in, CREATE_QP_IN_WQ_UMEM_VALID, 1);
	fld_set(in, CREATE_QP_IN_WQ_UMEM_ID, umem);
	fld_set(in, CREATE_QP_IN_WQ_UMEM_OFFSET, PAGE);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, CREATE_QP_OUT_QPN);
}

static uint32_t tis_for(uint32_t uid, uint32_t td, enum prm_status expect)
{
	uint8_t in[32 + PRM_TISC_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_TIS);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(fld_at(in, CREATE_TIS_IN_CTX), TISC_TRANSPORT_DOMAIN, td);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, CREATE_TIS_OUT_TISN);
}

/* Creates an SQ without a CQ; a user who may have an SQ gets the error about the missing CQ. */
static void no_sq_for(uint32_t uid, enum prm_status expect)
{
	uint8_t in[32 + PRM_SQC_SIZE + 64] = { 0 }, out[16];
	uint8_t *wqc = fld_at(fld_at(in, CREATE_SQ_IN_CTX), SQC_WQ);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_SQ);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(wqc, WQ_WQ_TYPE, PRM_WQ_TYPE_CYCLIC);
	fld_set(wqc, WQ_LOG_WQ_STRIDE, 6);
	fld_set(wqc, WQ_LOG_WQ_SZ, 2);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
}

enum { ICM_LOG = 16 };

static uint32_t icm_for(uint32_t uid, uint64_t addr, enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_SW_ICM_SIZE] = { 0 }, out[16];
	uint8_t *object = fld_at(in, GENERAL_OBJ_OBJECT);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SW_ICM);
	fld_set(object, SW_ICM_LOG_SW_ICM_SIZE, ICM_LOG);
	fld_set(object, SW_ICM_SW_ICM_START_ADDR, addr);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static void icm_end_for(uint32_t uid, uint32_t number, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_GENERAL_OBJECT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SW_ICM);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, number);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
}

/* Makes a key of the entries at ADDR, and ends it. */
static void icm_key_for(uint32_t uid, uint64_t addr, enum prm_status expect)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 }, out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);
	uint32_t pd = simple_for(uid, PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_SW_ICM & 3);
	fld_set(mkc, MKC_ACCESS_MODE_4_2, PRM_MKEY_MODE_SW_ICM >> 2);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_PD, pd);
	fld_set(mkc, MKC_START_ADDR, addr);
	fld_set(mkc, MKC_LEN, PAGE);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	if (!expect)
		simple_for(uid, PRM_OP_DESTROY_MKEY, fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX),
			   PRM_STAT_OK);
	simple_for(uid, PRM_OP_DEALLOC_PD, pd, PRM_STAT_OK);
}

/* Makes a table whose entries begin at ROOT, and ends it. */
static void icm_table_for(uint32_t uid, uint64_t root, enum prm_status expect)
{
	uint8_t in[64] = { 0 }, out[16];
	uint8_t *context = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint32_t table;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_TABLE);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(context, FLOW_TABLE_CONTEXT_SW_OWNER, 1);
	fld_set(context, FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0, root);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	if (expect)
		return;
	table = fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID);
	memset(in, 0, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_FLOW_TABLE);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, FLOW_IN_TABLE_ID, table);
	flat_cmd(adapter(), in, sizeof(in), out, sizeof(out));
}

/* ---- tests ---- */

static void a_user_is_announced(void **state)
{
	uint8_t in[PRM_CREATE_UCTX_IN_SIZE] = { 0 }, out[16];
	uint32_t uid = user_new();

	(void)state;
	assert_int_not_equal(uid, 0);
	simple_for(uid + 1, PRM_OP_ALLOC_PD, 0, PRM_STAT_BAD_RES_ERR);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UCTX);
	fld_set(fld_at(in, CREATE_UCTX_IN_UCTX), UCTX_CAP, 1u << 31);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	fld_set(fld_at(in, CREATE_UCTX_IN_UCTX), UCTX_CAP, 0);
	in[sizeof(in) - 1] = 1;
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	user_end(uid, PRM_STAT_OK);
	user_end(uid, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_ALLOC_PD, 0, PRM_STAT_BAD_RES_ERR);
}

static void a_user_does_not_run_the_adapter(void **state)
{
	static const uint32_t opcodes[] = { PRM_OP_CREATE_UCTX, PRM_OP_MANAGE_PAGES,
					    PRM_OP_DISABLE_HCA, PRM_OP_CREATE_EQ };
	uint8_t in[PRM_CREATE_CQ_IN_SIZE] = { 0 }, out[16];
	uint32_t uid = user_new();

	(void)state;
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		fld_set(in, CMD_IN_OPCODE, opcodes[i]);
		fld_set(in, CMD_IN_UID, uid);
		flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out),
				PRM_STAT_BAD_PARAM_ERR);
	}
	user_end(uid, PRM_STAT_OK);
}

static void objects_are_found_by_their_user(void **state)
{
	uint32_t one = user_new(), other = user_new(), pd;

	(void)state;
	pd = simple_for(one, PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	simple_for(other, PRM_OP_DEALLOC_PD, pd, PRM_STAT_BAD_RES_ERR);
	simple_for(other, PRM_OP_DEALLOC_PD, flat.pd[0], PRM_STAT_BAD_RES_ERR);
	user_end(one, PRM_STAT_BAD_RES_STATE_ERR);
	user_end(other, PRM_STAT_OK);
	simple_for(0, PRM_OP_DEALLOC_PD, pd, PRM_STAT_OK); /* UID 0, the driver, may use all */
	user_end(one, PRM_STAT_OK);
}

static void memory_is_as_its_command_says(void **state)
{
	struct memory memory = { flat_alloc(8 * PAGE, PAGE), 2, 12, 0 };
	uint32_t uid = user_new(), umem;

	(void)state;
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	simple_for(0, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	memory.offset = PAGE;
	umem_for(uid, &memory, PRM_STAT_BAD_PARAM_ERR);
	cq_eqn = eq_for(PRM_SHARED_UID);
	cq_page = simple_for(uid, PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	memory.offset = PAGE - 8;
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	/* 64 CQEs of 64 bytes do not fit, so the ring would leave the memory */
	cq_for(uid, umem, 0, 0, PRM_STAT_BAD_PARAM_ERR);
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	memory.pages = 9; /* the page list holds eight, so nine are too many */
	umem_for(uid, &memory, PRM_STAT_BAD_PARAM_ERR);
	memory.pages = 0;
	umem_for(uid, &memory, PRM_STAT_BAD_PARAM_ERR);
	user_end(uid, PRM_STAT_OK);
}

static void queues_lie_in_their_users_memory(void **state)
{
	struct memory memory = { flat_alloc(8 * PAGE, PAGE), 3, 12, 0 };
	uint32_t uid = user_new(), other = user_new(), umem, cqn;

	(void)state;
	cq_page = simple_for(uid, PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	cq_eqn = flat.eqn[0];
	cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_eqn = eq_for(PRM_SHARED_UID);
	cq_for(other, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_for(uid, umem + 1, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_for(uid, umem, 32, 2 * PAGE, PRM_STAT_BAD_PARAM_ERR); /* not aligned to a CQE */
	cqn = cq_for(uid, umem, PAGE - 64, 2 * PAGE, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_OK);
	cq_for(uid, umem, 3 * PAGE, 2 * PAGE, PRM_STAT_BAD_PARAM_ERR);
	cq_for(uid, umem, 0, 3 * PAGE, PRM_STAT_BAD_PARAM_ERR);
	cq_for(uid, umem, 0, 2 * PAGE + 4, PRM_STAT_BAD_PARAM_ERR);
	cq_record_beyond = 1;
	cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_record_beyond = 0;
	cqn = cq_for(uid, umem, PAGE, 2 * PAGE + 8, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_BAD_RES_STATE_ERR);
	simple_for(other, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_OK);
	simple_for(other, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	user_end(other, PRM_STAT_OK);
}

/* Only the last six bytes of the page belong to the umem: a record of 8 bytes would exceed them. */
static void memory_without_room_for_a_record_has_none(void **state)
{
	struct memory memory = { flat_alloc(2 * PAGE, PAGE), 1, 12, PAGE - 6 };
	struct hca *hca = adapter();
	struct umem_place place = { .valid = true };
	struct umem *umem;
	uint64_t addr;
	uint32_t uid = user_new();

	(void)state;
	place.id = umem_for(uid, &memory, PRM_STAT_OK);
	for (place.offset = 0; place.offset < 16; place.offset++)
		assert_int_equal(umem_place_record(hca, &place, &addr, &umem), EINVAL);
	simple_for(uid, PRM_OP_DESTROY_UMEM, place.id, PRM_STAT_OK);

	memory.offset = PAGE - 8; /* room for exactly one */
	place.id = umem_for(uid, &memory, PRM_STAT_OK);
	place.offset = 0;
	assert_int_equal(umem_place_record(hca, &place, &addr, &umem), 0);
	assert_int_equal(addr, memory.addr + PAGE - 8);
	place.offset = 8;
	assert_int_equal(umem_place_record(hca, &place, &addr, &umem), EINVAL);
	simple_for(uid, PRM_OP_DESTROY_UMEM, place.id, PRM_STAT_OK);
	assert_int_equal(umem_place_record(hca, &place, &addr, &umem), ENOENT);
	place.valid = false;
	place.offset = 0x1234;
	assert_int_equal(umem_place_record(hca, &place, &addr, &umem), 0);
	assert_int_equal(addr, 0x1234);
	assert_null(umem);
	user_end(uid, PRM_STAT_OK);
}

/* A queue uses a UAR of its own user only, as it could otherwise ring another user's doorbells, or
 * learn of them. */
static void queues_ring_their_users_page(void **state)
{
	struct memory memory = { flat_alloc(8 * PAGE, PAGE), 3, 12, 0 };
	uint32_t uid = user_new(), other = user_new(), page, theirs, umem, cqn, qpn;

	(void)state;
	page = simple_for(uid, PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	theirs = simple_for(other, PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	cq_eqn = eq_for(PRM_SHARED_UID);
	cq_page = theirs;
	cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_page = flat.uar[0];
	cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_page = page;
	cqn = cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_OK);
	qp_pd = simple_for(uid, PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	qp_for(uid, cqn, umem, theirs, PRM_STAT_BAD_RES_ERR);
	qp_for(uid, cqn, umem, flat.uar[0], PRM_STAT_BAD_RES_ERR);
	qpn = qp_for(uid, cqn, umem, page, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DEALLOC_UAR, theirs, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_DESTROY_QP, qpn, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DEALLOC_PD, qp_pd, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	/* refused, as it went with its user */
	simple_for(0, PRM_OP_DEALLOC_UAR, page, PRM_STAT_BAD_RES_ERR);
	simple_for(other, PRM_OP_DEALLOC_UAR, theirs, PRM_STAT_OK);
	user_end(other, PRM_STAT_OK);
}

static uint32_t mapping_for(uint32_t uid, uint32_t qpn, enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_AV_QP_MAPPING_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_AV_QP_MAPPING);
	fld_set(fld_at(in, GENERAL_OBJ_OBJECT), AV_QP_MAPPING_QPN, qpn);
	memset(fld_at(fld_at(in, GENERAL_OBJ_OBJECT), AV_QP_MAPPING_REMOTE_ADDRESS_VECTOR), 7, 32);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static void mapping_command(uint32_t uid, uint32_t opcode, uint32_t number, uint8_t *out,
			    size_t out_len, enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_AV_QP_MAPPING);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, number);
	flat_cmd_expect(adapter(), in, sizeof(in), out, out_len, expect);
}

static void addresses_have_their_users_qp(void **state)
{
	uint8_t out[PRM_GENERAL_OBJ_HDR_SIZE + PRM_AV_QP_MAPPING_SIZE];
	struct flat_qp *qp = flat_qp(0, NULL);
	uint32_t uid = user_new(), mapping;

	(void)state;
	mapping_for(0, qp->n + 1, PRM_STAT_BAD_RES_ERR);
	mapping = mapping_for(0, qp->n, PRM_STAT_OK);
	mapping_command(uid, PRM_OP_QUERY_GENERAL_OBJECT, mapping, out, sizeof(out),
			PRM_STAT_BAD_RES_ERR);
	mapping_command(0, PRM_OP_QUERY_GENERAL_OBJECT, mapping, out, sizeof(out), PRM_STAT_OK);
	assert_int_equal(fld_get(fld_at(out, GENERAL_OBJ_OBJECT), AV_QP_MAPPING_QPN), qp->n);
	assert_int_equal(out[sizeof(out) - 1], 7);
	mapping_command(uid, PRM_OP_DESTROY_GENERAL_OBJECT, mapping, out, 16, PRM_STAT_BAD_RES_ERR);
	mapping_command(0, PRM_OP_DESTROY_GENERAL_OBJECT, mapping, out, 16, PRM_STAT_OK);
	mapping_command(0, PRM_OP_DESTROY_GENERAL_OBJECT, mapping, out, 16, PRM_STAT_BAD_RES_ERR);
	user_end(uid, PRM_STAT_OK);
	test_free(qp->send_cq);
	test_free(qp->recv_cq);
	test_free(qp);
}

static uint32_t range_for(uint32_t uid, enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_RESERVED_QPN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_RESERVED_QPN);
	fld_set(in, GENERAL_OBJ_IN_LOG_OBJ_RANGE, 4);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static void range_end(uint32_t uid, uint32_t qpn, enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_GENERAL_OBJECT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_RESERVED_QPN);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, qpn);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
}

static void reserved_numbers_have_a_user(void **state)
{
	uint32_t one = user_new(), other = user_new(), qpn;

	(void)state;
	qpn = range_for(one, PRM_STAT_OK);
	assert_int_equal(qpn % 16, 0);
	range_end(other, qpn, PRM_STAT_BAD_RES_ERR);
	range_end(one, qpn + 1, PRM_STAT_BAD_RES_ERR);
	user_end(one, PRM_STAT_BAD_RES_STATE_ERR);
	range_end(one, qpn, PRM_STAT_OK);
	range_end(one, qpn, PRM_STAT_BAD_RES_ERR);
	for (unsigned int i = 0; i < 256; i++)
		range_for(i % 2 ? one : other, PRM_STAT_OK);
	range_for(one, PRM_STAT_LIM_ERR);
}

/* A UAR page that a CQ of the driver keeps alive passes to the driver: the user's number may be
 * reused. */
/* Lists of header changes and headers of tunnels are their user's, and counted. */
static void changes_of_headers_have_a_user(void **state)
{
	const uint64_t before = hca_count_objects(adapter());
	const uint32_t uid = user_new(), other = user_new();
	uint8_t in[64] = { 0 }, out[16];
	uint32_t list, header;

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, ALLOC_MODIFY_HEADER_IN_NUM_OF_ACTIONS, 1);
	fld_set(fld_at(in, ALLOC_MODIFY_HEADER_IN_ACTIONS), HEADER_ACTION_TYPE, PRM_HEADER_ADD);
	fld_set(fld_at(in, ALLOC_MODIFY_HEADER_IN_ACTIONS), HEADER_ACTION_FIELD, PRM_HEADER_IP_TTL);
	flat_cmd_expect(adapter(), in, 24, out, sizeof(out), PRM_STAT_OK);
	list = (uint32_t)fld_get(out, ALLOC_MODIFY_HEADER_OUT_ID);
	user_end(uid, PRM_STAT_BAD_RES_STATE_ERR);
	memset(in, 0, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(in, ALLOC_REFORMAT_IN_TYPE, PRM_REFORMAT_L2_TO_L2_TUNNEL);
	fld_set(in, ALLOC_REFORMAT_IN_DATA_SIZE, 14);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), PRM_STAT_OK);
	header = (uint32_t)fld_get(out, ALLOC_REFORMAT_OUT_ID);
	assert_int_equal(hca_count_objects(adapter()), before + 4);
	simple_for(other, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, list, PRM_STAT_BAD_RES_ERR);
	simple_for(other, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, header, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, list, PRM_STAT_OK);
	user_end(uid, PRM_STAT_BAD_RES_STATE_ERR);
	simple_for(uid, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, header, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	user_end(other, PRM_STAT_OK);
	assert_int_equal(hca_count_objects(adapter()), before);
}

static void a_page_that_stays_is_the_drivers(void **state)
{
	struct memory memory = { flat_alloc(8 * PAGE, PAGE), 3, 12, 0 };
	uint32_t uid = user_new(), umem, page, cqn, next;

	(void)state;
	page = simple_for(uid, PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	umem = umem_for(0, &memory, PRM_STAT_OK);
	cq_eqn = flat.eqn[0];
	cq_page = page;
	cqn = cq_for(0, umem, 0, 2 * PAGE, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	for (unsigned int i = 0; (next = user_new()) != uid && i < TRIES; i++)
		user_end(next, PRM_STAT_OK);
	assert_int_equal(next, uid);
	simple_for(next, PRM_OP_DEALLOC_UAR, page, PRM_STAT_BAD_RES_ERR);
	simple_for(0, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_OK);
	simple_for(0, PRM_OP_DEALLOC_UAR, page, PRM_STAT_OK);
	simple_for(0, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	user_end(next, PRM_STAT_OK);
}

/* Both features would give a program access to memory of others. */
static void users_queues_have_no_rights_of_the_driver(void **state)
{
	struct memory memory = { flat_alloc(8 * PAGE, PAGE), 3, 12, 0 };
	uint32_t uid = user_new(), umem, cqn;

	(void)state;
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	cq_eqn = eq_for(PRM_SHARED_UID);
	cq_page = simple_for(uid, PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	cqn = cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_OK);
	qp_pd = simple_for(uid, PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	qp_fre = true;
	qp_for(uid, cqn, umem, cq_page, PRM_STAT_BAD_PARAM_ERR);
	qp_fre = false;
	qp_rlky = true;
	qp_for(uid, cqn, umem, cq_page, PRM_STAT_BAD_PARAM_ERR);
	qp_rlky = false;
}

static void only_who_may_sends_frames(void **state)
{
	uint32_t uid = user_new(), may = user_with(PRM_UCTX_CAP_RAW_TX), td, tisn;

	(void)state;
	td = simple_for(uid, PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0, PRM_STAT_OK);
	tis_for(uid, td, PRM_STAT_BAD_PARAM_ERR);
	no_sq_for(uid, PRM_STAT_BAD_PARAM_ERR);
	simple_for(uid, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, td, PRM_STAT_OK);
	td = simple_for(may, PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0, PRM_STAT_OK);
	tisn = tis_for(may, td, PRM_STAT_OK);
	no_sq_for(may, PRM_STAT_BAD_RES_ERR);
	simple_for(may, PRM_OP_DESTROY_TIS, tisn, PRM_STAT_OK);
	simple_for(may, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, td, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	user_end(may, PRM_STAT_OK);
}

/* Entries decide about frames of others, so users need a right, and find their own blocks only. */
static void only_who_may_writes_entries(void **state)
{
	const uint64_t addr = STE_MEMORY_START + (1 << ICM_LOG);
	uint32_t uid = user_with(PRM_UCTX_CAP_RAW_TX);
	uint32_t may = user_with(PRM_UCTX_CAP_INTERNAL_DEV_RES);
	uint32_t other = user_with(PRM_UCTX_CAP_INTERNAL_DEV_RES), block;

	(void)state;
	adapter()->config.steering = HCA_STEERING_V1;
	icm_for(uid, addr, PRM_STAT_BAD_PARAM_ERR);
	block = icm_for(may, addr, PRM_STAT_OK);
	icm_key_for(uid, addr, PRM_STAT_BAD_PARAM_ERR);
	icm_key_for(other, addr, PRM_STAT_BAD_RES_ERR);
	icm_key_for(may, addr, PRM_STAT_OK);
	icm_key_for(0, addr, PRM_STAT_OK);
	icm_table_for(uid, addr, PRM_STAT_BAD_PARAM_ERR);
	icm_table_for(may, addr, PRM_STAT_OK);
	icm_end_for(other, block, PRM_STAT_BAD_RES_ERR);
	user_end(may, PRM_STAT_BAD_RES_STATE_ERR);
	icm_end_for(may, block, PRM_STAT_OK);
	block = icm_for(0, addr, PRM_STAT_OK); /* the driver's */
	icm_key_for(may, addr, PRM_STAT_BAD_RES_ERR);
	icm_end_for(0, block, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	user_end(may, PRM_STAT_OK);
	user_end(other, PRM_STAT_OK);
}

/* Where the adapter reports no such memory, there is none, so its commands are refused. */
static void without_ethernet_nobody_writes_entries(void **state)
{
	(void)state;
	adapter()->config.steering = HCA_STEERING_V1;
	icm_for(0, STE_MEMORY_START, PRM_STAT_BAD_OP_ERR);
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(a_user_is_announced),
		IB(a_user_does_not_run_the_adapter),
		IB(objects_are_found_by_their_user),
		IB(memory_is_as_its_command_says),
		IB(queues_lie_in_their_users_memory),
		IB(memory_without_room_for_a_record_has_none),
		IB(queues_ring_their_users_page),
		IB(addresses_have_their_users_qp),
		IB(reserved_numbers_have_a_user),
		IB(changes_of_headers_have_a_user),
		IB(a_page_that_stays_is_the_drivers),
		IB(users_queues_have_no_rights_of_the_driver),
		IB(without_ethernet_nobody_writes_entries),
		cmocka_unit_test_setup_teardown(only_who_may_sends_frames, flat_setup_roce,
						flat_teardown),
		cmocka_unit_test_setup_teardown(only_who_may_writes_entries, flat_setup_roce,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
