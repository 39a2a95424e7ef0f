/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_users.c - users of the adapter, whose commands the driver passes through: what they may not
 * do, whose objects they find, and the memory that their queues lie in.
 */
#include "flat.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/pacing.h"
#include "prm/mlx5/pd.h"
#include "prm/mlx5/umem.h"

enum { PAGE = 4096 };

static struct hca *adapter(void)
{
	return flat.hca[0];
}

static uint32_t user_new(void)
{
	uint8_t in[PRM_CREATE_UCTX_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UCTX);
	flat_cmd(adapter(), in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_UCTX_OUT_UID);
}

static void user_end(uint32_t uid, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_UCTX);
	fld_set(in, DESTROY_UCTX_IN_UID, uid);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
}

/* A command of 16 bytes for UID; its answer's number. */
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

/* A CQ of 64 CQEs at OFFSET of the memory, and its record at RECORD. */
static uint32_t cq_eqn;

static uint32_t cq_for(uint32_t uid, uint32_t umem, uint64_t offset, uint64_t record,
		       enum prm_status expect)
{
	uint8_t in[PRM_CREATE_CQ_IN_SIZE] = { 0 }, out[16];
	uint8_t *cqc = fld_at(in, CREATE_CQ_IN_CQC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_CQ);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(cqc, CQC_LOG_CQ_SIZE, 6);
	fld_set(cqc, CQC_UAR_PAGE, flat.uar[0]);
	fld_set(cqc, CQC_C_EQN, cq_eqn);
	fld_set(cqc, CQC_DBR_UMEM_VALID, 1);
	fld_set(cqc, CQC_DBR_UMEM_ID, umem);
	fld_set(cqc, CQC_DBR_ADDR, record);
	fld_set(in, CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	fld_set(in, CREATE_CQ_IN_CQ_UMEM_ID, umem);
	fld_set(in, CREATE_CQ_IN_CQ_UMEM_OFFSET, offset);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, CREATE_CQ_OUT_CQN);
}

/* Event queues are the driver's, and of no use for a user unless they are for all. */
static uint32_t eq_for(uint32_t uid)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	fld_set(in, CMD_IN_UID, uid);
	flat_cmd(adapter(), in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
}

/* ---- */

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
	simple_for(0, PRM_OP_DEALLOC_PD, pd, PRM_STAT_OK); /* the driver's are all */
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
	memory.offset = PAGE - 8;
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	cq_for(uid, umem, 0, 0, PRM_STAT_BAD_PARAM_ERR); /* CQEs are of 64 bytes each */
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	memory.pages = 9; /* the list has eight */
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
	umem = umem_for(uid, &memory, PRM_STAT_OK);
	cq_eqn = flat.eqn[0];
	cq_for(uid, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_eqn = eq_for(PRM_SHARED_UID);
	cq_for(other, umem, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_for(uid, umem + 1, 0, 2 * PAGE, PRM_STAT_BAD_RES_ERR);
	cq_for(uid, umem, 64, 2 * PAGE, PRM_STAT_BAD_PARAM_ERR); /* within a page */
	cq_for(uid, umem, 3 * PAGE, 2 * PAGE, PRM_STAT_BAD_PARAM_ERR);
	cq_for(uid, umem, 0, 3 * PAGE, PRM_STAT_BAD_PARAM_ERR);
	cq_for(uid, umem, 0, 2 * PAGE + 4, PRM_STAT_BAD_PARAM_ERR);
	cqn = cq_for(uid, umem, PAGE, 2 * PAGE + 8, PRM_STAT_OK);
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_BAD_RES_STATE_ERR);
	simple_for(other, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_DESTROY_CQ, cqn, PRM_STAT_OK);
	simple_for(other, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_BAD_RES_ERR);
	simple_for(uid, PRM_OP_DESTROY_UMEM, umem, PRM_STAT_OK);
	user_end(uid, PRM_STAT_OK);
	user_end(other, PRM_STAT_OK);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
