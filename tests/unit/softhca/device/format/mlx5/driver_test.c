/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver_test.c - commands in the life of a kernel driver: their order, pages, registers, SRQs as
 * objects, and command completion by event.
 *
 * Covers: softhca/device/format/mlx5/driver.c, softhca/device/format/mlx5/pages.c,
 * softhca/device/format/mlx5/reg.c, softhca/device/format/mlx5/reg_eth.c,
 * softhca/device/format/mlx5/cmd/eq.c, softhca/device/format/mlx5/cmd/srq.c,
 * softhca/device/format/mlx5/eqe.c
 */
#include "flat.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/reg.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/vport.h"

static void init_hca(struct hca *hca, enum prm_status expect)
{
	uint8_t in[32] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_INIT_HCA);
	flat_cmd_expect(hca, in, sizeof(in), out, sizeof(out), expect);
}

static void start_and_stop_keep_their_order(void **state)
{
	struct hca *hca = flat.hca[0];

	(void)state;
	init_hca(hca, PRM_STAT_BAD_SYS_STATE_ERR);
	flat_simple(hca, PRM_OP_ENABLE_HCA, 0, PRM_STAT_OK);
	flat_simple(hca, PRM_OP_ENABLE_HCA, 0, PRM_STAT_BAD_SYS_STATE_ERR);
	flat_simple(hca, PRM_OP_TEARDOWN_HCA, 0, PRM_STAT_BAD_SYS_STATE_ERR);
	init_hca(hca, PRM_STAT_OK);
	flat_simple(hca, PRM_OP_TEARDOWN_HCA, 1, PRM_STAT_BAD_PARAM_ERR);
	flat_simple(hca, PRM_OP_TEARDOWN_HCA, 0, PRM_STAT_OK);
	flat_simple(hca, PRM_OP_DISABLE_HCA, 0, PRM_STAT_OK);
	flat_simple(hca, PRM_OP_SET_ISSI, 1, PRM_STAT_OK);
	flat_simple(hca, PRM_OP_SET_ISSI, 2, PRM_STAT_BAD_PARAM_ERR);
}

static void manage_pages(uint32_t op_mod, uint32_t count, uint8_t *in, size_t in_len, uint8_t *out,
			 size_t out_len, enum prm_status expect)
{
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MANAGE_PAGES);
	fld_set(in, CMD_IN_OP_MOD, op_mod);
	fld_set(in, MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, count);
	flat_cmd_expect(flat.hca[0], in, in_len, out, out_len, expect);
}

static void pages_come_back_once_each(void **state)
{
	uint8_t in[16 + 3 * 8] = { 0 }, out[16 + 2 * 8];
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		fld_set64(in, 16 + i * 8, 0x1000 << i);
	manage_pages(PRM_PAGES_GIVE, 4, in, sizeof(in), out, 16, PRM_STAT_BAD_INP_LEN_ERR);
	manage_pages(PRM_PAGES_GIVE, 3, in, sizeof(in), out, 16, PRM_STAT_OK);
	for (uint64_t i = 0; i < 2; i++) {
		manage_pages(PRM_PAGES_TAKE, 3, in, 16, out, sizeof(out), PRM_STAT_OK);
		assert_int_equal(fld_get(out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES), 2 - i);
		sum += fld_get64(out, 16) + fld_get64(out, 24);
	}
	assert_int_equal(sum, 0x7000);
	manage_pages(PRM_PAGES_TAKE, 3, in, 16, out, sizeof(out), PRM_STAT_OK);
	assert_int_equal(fld_get(out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES), 0);
}

static int32_t last_request(void)
{
	const uint8_t *eqe = flat.event[flat.events - 1];

	assert_int_equal(fld_get(eqe, EQE_TYPE), PRM_EVENT_PAGE_REQUEST);
	return (int32_t)fld_get(eqe, EQE_PAGE_REQUEST_NUM_PAGES);
}

static void pages_give(uint32_t count)
{
	uint8_t in[16 + 200 * 8] = { 0 }, out[16];

	assert_in_range(count, 1, 200);
	manage_pages(PRM_PAGES_GIVE, count, in, 16 + count * 8, out, sizeof(out), PRM_STAT_OK);
}

static void make_keys(unsigned int count)
{
	while (count--)
		flat_mr(flat.hca[0], flat.pd[0], 4096, 4096, LOCAL_WRITE);
}

static void pages_are_asked_for_as_objects_come(void **state)
{
	uint8_t in[16] = { 0 }, out[16 + 16 * 8];

	(void)state;
	make_keys(20);
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 0);
	flat_simple(flat.hca[0], PRM_OP_ENABLE_HCA, 0, PRM_STAT_OK);
	pages_give(36);
	init_hca(flat.hca[0], PRM_STAT_OK);
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 0);
	make_keys(20);
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 1);
	assert_int_equal(last_request(), 16);
	make_keys(100); /* pages are requested one batch at a time */
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 1);
	manage_pages(PRM_PAGES_CANNOT_GIVE, 0, in, sizeof(in), out, 16, PRM_STAT_OK);
	make_keys(1);
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 1);
	make_keys(8);
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 2);
	pages_give(16);
	pages_give(100);
	assert_int_equal(last_request(), -16);
	manage_pages(PRM_PAGES_TAKE, 16, in, sizeof(in), out, sizeof(out), PRM_STAT_OK);
	assert_int_equal(fld_get(out, MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES), 16);
	flat_simple(flat.hca[0], PRM_OP_TEARDOWN_HCA, 0, PRM_STAT_OK);
	flat.events = 0;
	make_keys(200);
	assert_int_equal(flat_count_events(PRM_EVENT_PAGE_REQUEST), 0);
}

static void access_reg(uint32_t id, uint32_t port, size_t len, uint8_t *out, enum prm_status expect)
{
	uint8_t in[16 + 64] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ACCESS_REG);
	fld_set(in, CMD_IN_OP_MOD, 1); /* op_mod: read */
	fld_set(in, ACCESS_REGISTER_IN_REGISTER_ID, id);
	fld_set(in, FLD_IN(ACCESS_REGISTER_IN_REGISTER_DATA, PMTU_REG_LOCAL_PORT), port);
	flat_cmd_expect(flat.hca[0], in, 16 + len, out, 16 + 64, expect);
}

static void registers_know_their_ports(void **state)
{
	uint8_t out[16 + 64];

	(void)state;
	access_reg(PRM_REG_PMTU, 1, 64, out, PRM_STAT_OK);
	assert_int_equal(fld_get(out, FLD_IN(ACCESS_REGISTER_OUT_REGISTER_DATA, PMTU_REG_MAX_MTU)),
			 4096);
	access_reg(PRM_REG_PMTU, 2, 64, out, PRM_STAT_BAD_PARAM_ERR);
	access_reg(PRM_REG_PMTU, 1, 8, out, PRM_STAT_BAD_INP_LEN_ERR);
	access_reg(0x1234, 1, 64, out, PRM_STAT_BAD_PARAM_ERR);
	access_reg(PRM_REG_PAOS, 1, 16, out, PRM_STAT_OK); /* of either link layer */
	assert_int_equal(
		fld_get(out, FLD_IN(ACCESS_REGISTER_OUT_REGISTER_DATA, PAOS_REG_OPER_STATUS)),
		PRM_PORT_UP);
	access_reg(PRM_REG_PAOS, 2, 16, out, PRM_STAT_BAD_PARAM_ERR);
}

static void xrc_srq_needs_its_objects(void **state)
{
	uint8_t in[PRM_CREATE_XRC_SRQ_IN_SIZE + 8] = { 0 }, out[16];
	uint8_t *srqc = fld_at(in, CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);
	uint32_t xrcd = flat_simple(flat.hca[0], PRM_OP_ALLOC_XRCD, 0, PRM_STAT_OK);
	struct flat_cq *cq = flat_cq(flat.hca[0], 4, 64);
	uint32_t srqn;

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_XRC_SRQ);
	fld_set(srqc, XRC_SRQC_LOG_XRC_SRQ_SIZE, 4);
	fld_set(srqc, XRC_SRQC_LOG_RQ_STRIDE, 1);
	fld_set(srqc, XRC_SRQC_PD, flat.pd[0]);
	fld_set(srqc, XRC_SRQC_CQN, cq->n);
	fld_set64(in, FLD_BYTE(CREATE_SRQ_IN_PAS), flat_alloc(4096, 4096));
	fld_set(srqc, XRC_SRQC_XRCD, xrcd + 1);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_RES_ERR);
	fld_set(srqc, XRC_SRQC_XRCD, xrcd);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	srqn = fld_get(out, CREATE_SRQ_OUT_SRQN);
	flat_simple(flat.hca[0], PRM_OP_DEALLOC_XRCD, xrcd, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_RMP, srqn, PRM_STAT_BAD_RES_ERR);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_XRC_SRQ, srqn, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DEALLOC_XRCD, xrcd, PRM_STAT_OK);
	test_free(cq);
}

static void command_event_needs_a_queue_for_it(void **state)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[16];

	(void)state;
	flat_simple(flat.hca[0], PRM_OP_DESTROY_EQ, flat.eqn[0], PRM_STAT_OK);
	assert_false(hca_has_command_event(flat.hca[0]));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	fld_set64(in, FLD_BYTE(CREATE_EQ_IN_EVENT_BITMASK), 1ull << PRM_EVENT_COMMAND);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	assert_true(hca_has_command_event(flat.hca[0]));
	hca_command_event(flat.hca[0], 0x80000001);
	assert_int_equal(flat_count_events(PRM_EVENT_COMMAND), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_COMMAND_VECTOR), 0x80000001);
}

static void software_says_which_managers_listen(void **state)
{
	uint8_t in[16 + PRM_HCA_VPORT_CONTEXT_SIZE] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE];
	uint8_t *ctx = fld_at(in, MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT);

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_HCA_VPORT_CONTEXT);
	fld_set(ctx, HCA_VPORT_CONTEXT_CAP_MASK1, 1 << 16 | 1 << 17);
	fld_set(ctx, HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT, 1 << 16);
	flat_cmd(flat.hca[0], in, sizeof(in), out, 16);
	fld_set(ctx, HCA_VPORT_CONTEXT_FIELD_SELECT, 1);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, 16, PRM_STAT_BAD_PARAM_ERR);
	memset(in, 0, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	ctx = fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT);
	assert_int_equal(fld_get(ctx, HCA_VPORT_CONTEXT_CAP_MASK1) >> 16 & 3, 1);
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(start_and_stop_keep_their_order),     IB(pages_come_back_once_each),
		IB(pages_are_asked_for_as_objects_come), IB(registers_know_their_ports),
		IB(xrc_srq_needs_its_objects),           IB(command_event_needs_a_queue_for_it),
		IB(software_says_which_managers_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
