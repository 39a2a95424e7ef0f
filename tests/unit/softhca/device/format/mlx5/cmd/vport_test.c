/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vport_test.c - the NIC vport context and capabilities: the device keeps values that software may
 * set, and refuses others.
 *
 * Covers: softhca/device/format/mlx5/cmd/vport.c, softhca/device/eth/vport.c,
 * softhca/device/format/mlx5/caps.c
 */
#include "flat.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/vport.h"

enum { IN_SIZE = 512 + 8 * 512, OUT_SIZE = 16 + 256 + 8 * 512 };

static uint8_t in[IN_SIZE], out[OUT_SIZE];
static uint8_t *const select_bits = in + 0xc, *const wanted = in + 0x100;

static void vport_start(void)
{
	memset(in, 0, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_NIC_VPORT_CONTEXT);
}

static void vport_modify(enum prm_status expect)
{
	uint8_t answer[16];

	flat_cmd_expect(flat.hca[0], in, sizeof(in), answer, sizeof(answer), expect);
}

static const uint8_t *vport_query(uint32_t list)
{
	uint8_t ask[16] = { 0 };

	fld_set(ask, CMD_IN_OPCODE, PRM_OP_QUERY_NIC_VPORT_CONTEXT);
	fld_set(ask, QUERY_NIC_VPORT_CONTEXT_IN_ALLOWED_LIST_TYPE, list);
	flat_cmd(flat.hca[0], ask, sizeof(ask), out, sizeof(out));
	return out + 16;
}

static void values_are_kept(void **state)
{
	const uint8_t *ctx = vport_query(PRM_LIST_UC);

	(void)state;
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_MTU), 1522);
	vport_start();
	fld_set(select_bits, NIC_VPORT_FIELD_MTU, 1);
	fld_set(select_bits, NIC_VPORT_FIELD_PROMISC, 1);
	fld_set(select_bits, NIC_VPORT_FIELD_ROCE_EN, 1);
	fld_set(wanted, NIC_VPORT_CONTEXT_MTU, 9022);
	fld_set(wanted, NIC_VPORT_CONTEXT_PROMISC_MC, 1);
	fld_set(wanted, NIC_VPORT_CONTEXT_ROCE_EN, 1);
	fld_set(wanted, NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB, 1); /* not in the field select */
	vport_modify(PRM_STAT_OK);
	ctx = vport_query(PRM_LIST_UC);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_MTU), 9022);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_PROMISC_MC), 1);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_PROMISC_ALL), 0);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_ROCE_EN), 1);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB), 0);
}

static void put_list(uint32_t type, unsigned int size)
{
	vport_start();
	fld_set(select_bits, NIC_VPORT_FIELD_ADDRESSES_LIST, 1);
	fld_set(wanted, NIC_VPORT_CONTEXT_ALLOWED_LIST_TYPE, type);
	fld_set(wanted, NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE, size);
}

static void lists_are_kept_apart(void **state)
{
	uint8_t *list = fld_at(wanted, NIC_VPORT_CONTEXT_CURRENT_UC_MAC_ADDRESS);
	const uint8_t *ctx;

	(void)state;
	put_list(PRM_LIST_UC, 2);
	fld_set64(list, 0, 0x0200000000aaull);
	fld_set64(list, 8, 0x0200000000bbull);
	vport_modify(PRM_STAT_OK);
	put_list(PRM_LIST_VLAN, 3);
	fld_set(list, FLD(0x8, 11, 0), 77);
	vport_modify(PRM_STAT_OK);
	ctx = vport_query(PRM_LIST_UC);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE), 2);
	assert_int_equal(fld_get64(ctx, 256 + 8), 0x0200000000bbull);
	ctx = vport_query(PRM_LIST_MC);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE), 0);
	ctx = vport_query(PRM_LIST_VLAN);
	assert_int_equal(fld_get(ctx, NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE), 3);
	assert_int_equal(fld_get(ctx + 256, FLD(0x8, 11, 0)), 77);
}

static void wrong_values_are_refused(void **state)
{
	(void)state;
	put_list(PRM_LIST_UC, 129);
	vport_modify(PRM_STAT_BAD_PARAM_ERR);
	put_list(5, 1);
	vport_modify(PRM_STAT_BAD_PARAM_ERR);
	vport_start();
	fld_set(select_bits, FLD(0x0, 31, 31), 1);
	vport_modify(PRM_STAT_BAD_PARAM_ERR);
	vport_start();
	fld_set(select_bits, NIC_VPORT_FIELD_MTU, 1);
	fld_set(wanted, NIC_VPORT_CONTEXT_MTU, 20000);
	vport_modify(PRM_STAT_BAD_PARAM_ERR);
	vport_start();
	fld_set(in, MODIFY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT, 1);
	vport_modify(PRM_STAT_BAD_PARAM_ERR);
}

/* A mailbox must hold the whole list that its context announces, as the device would otherwise read
 * behind it. */
static void a_list_must_be_there(void **state)
{
	uint8_t answer[16];

	(void)state;
	put_list(PRM_LIST_UC, 100);
	flat_cmd_expect(flat.hca[0], in, 512, answer, sizeof(answer), PRM_STAT_BAD_PARAM_ERR);
	assert_int_equal(fld_get(vport_query(PRM_LIST_UC), NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE), 0);
}

static void set_cap(uint8_t *cap, enum prm_status expect)
{
	static uint8_t set[16 + PRM_HCA_CAP_SIZE];
	uint8_t answer[16];

	fld_set(set, CMD_IN_OPCODE, PRM_OP_SET_HCA_CAP);
	memcpy(set + 16, cap, PRM_HCA_CAP_SIZE);
	flat_cmd_expect(flat.hca[0], set, sizeof(set), answer, sizeof(answer), expect);
}

static void get_cap(unsigned int op_mod, uint8_t *cap)
{
	static uint8_t answer[16 + PRM_HCA_CAP_SIZE];
	uint8_t ask[16] = { 0 };

	fld_set(ask, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(ask, CMD_IN_OP_MOD, op_mod);
	flat_cmd(flat.hca[0], ask, sizeof(ask), answer, sizeof(answer));
	memcpy(cap, answer + 16, PRM_HCA_CAP_SIZE);
}

static void capabilities_that_are_set_are_read_back(void **state)
{
	enum { MAXIMUM = 0, CURRENT = 1 };
	static uint8_t cap[PRM_HCA_CAP_SIZE];

	(void)state;
	get_cap(CURRENT, cap);
	assert_int_equal(fld_get(cap, HCA_CAP_LOG_MAX_QP), 17);
	fld_set(cap, HCA_CAP_LOG_MAX_QP, 12);
	set_cap(cap, PRM_STAT_OK);
	get_cap(CURRENT, cap);
	assert_int_equal(fld_get(cap, HCA_CAP_LOG_MAX_QP), 12);
	get_cap(MAXIMUM, cap);
	assert_int_equal(fld_get(cap, HCA_CAP_LOG_MAX_QP), 17);
	fld_set(cap, HCA_CAP_LOG_MAX_QP, 18);
	set_cap(cap, PRM_STAT_BAD_PARAM_ERR);
}

static void capabilities_that_are_not_there_cannot_be_set(void **state)
{
	static uint8_t cap[PRM_HCA_CAP_SIZE];

	(void)state;
	get_cap(1, cap);
	fld_set(cap, HCA_CAP_UMR_PTR_RLKY, 1);
	set_cap(cap, PRM_STAT_BAD_PARAM_ERR);
}

#define ROCE(test) cmocka_unit_test_setup_teardown(test, flat_setup_roce, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROCE(values_are_kept),
		ROCE(lists_are_kept_apart),
		ROCE(wrong_values_are_refused),
		ROCE(a_list_must_be_there),
		ROCE(capabilities_that_are_set_are_read_back),
		ROCE(capabilities_that_are_not_there_cannot_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
