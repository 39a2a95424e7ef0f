/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_test.c - commands that must fail, with their status and syndrome; the output of queries.
 *
 * Covers: softhca/device/format/mlx5/cmd/cmd.c, softhca/device/format/mlx5/cmd/args.c,
 * softhca/device/format/mlx5/cmd/pd.c,
 * softhca/device/format/mlx5/cmd/cq.c, softhca/device/format/mlx5/cmd/qp.c,
 * softhca/device/format/mlx5/cmd/qp_modify.c, softhca/device/format/mlx5/cmd/mkey.c,
 * softhca/device/format/mlx5/caps.c, softhca/device/pd.c, softhca/device/res.c
 */
#include "pair.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"
#include "util/bits.h"

static struct hca *hca(void)
{
	return flat.hca[0];
}

static void simple(uint32_t opcode, uint32_t number, enum prm_status expect)
{
	flat_simple(hca(), opcode, number, expect);
}

static void unknown_opcode_is_bad_op(void **state)
{
	(void)state;
	simple(0, 0, PRM_STAT_BAD_OP_ERR);
	simple(0x1ff, 0, PRM_STAT_BAD_OP_ERR);
	simple(PRM_OP_CREATE_SRQ, 0, PRM_STAT_BAD_OP_ERR);
	simple(0xffff, 0, PRM_STAT_BAD_OP_ERR);
}

static void short_mailboxes_are_refused(void **state)
{
	uint8_t in[PRM_CREATE_QP_IN_SIZE] = { 0 }, out[512];

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	flat_cmd_expect(hca(), in, 64, out, 16, PRM_STAT_BAD_INP_LEN_ERR);
	flat_cmd_expect(hca(), in, 4, out, 16, PRM_STAT_BAD_INP_LEN_ERR);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	flat_cmd_expect(hca(), in, 16, out, 16, PRM_STAT_BAD_OUTP_LEN_ERR);
}

static void numbers_that_do_not_exist_are_bad_resources(void **state)
{
	static const uint32_t opcodes[] = { PRM_OP_DEALLOC_PD,   PRM_OP_DEALLOC_UAR,
					    PRM_OP_DESTROY_CQ,   PRM_OP_DESTROY_QP,
					    PRM_OP_DESTROY_MKEY, PRM_OP_2ERR_QP,
					    PRM_OP_2RST_QP,      PRM_OP_DEALLOC_TRANSPORT_DOMAIN };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
		simple(opcodes[i], 0xfffff0, PRM_STAT_BAD_RES_ERR);
}

static void destroying_what_is_in_use_is_refused(void **state)
{
	(void)state;
	pair(NULL, 4096);
	simple(PRM_OP_DEALLOC_PD, flat.pd[0], PRM_STAT_BAD_RES_STATE_ERR);
	simple(PRM_OP_DEALLOC_UAR, flat.uar[0], PRM_STAT_BAD_RES_STATE_ERR);
	simple(PRM_OP_DESTROY_CQ, a->send_cq->n, PRM_STAT_BAD_RES_STATE_ERR);
	simple(PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	simple(PRM_OP_DESTROY_CQ, a->send_cq->n, PRM_STAT_OK);
	/* still in use by a CQ, which would arm through a freed page */
	simple(PRM_OP_DEALLOC_UAR, flat.uar[0], PRM_STAT_OK);
	simple(PRM_OP_DESTROY_CQ, a->recv_cq->n, PRM_STAT_OK);
	/* a key uses it, so its memory stays reachable */
	simple(PRM_OP_DEALLOC_PD, flat.pd[0], PRM_STAT_BAD_RES_STATE_ERR);
	simple(PRM_OP_DESTROY_MKEY, lkey >> 8, PRM_STAT_OK);
	simple(PRM_OP_DEALLOC_PD, flat.pd[0], PRM_STAT_OK);
	unpair();
}

static void freed_numbers_are_not_reused_at_once(void **state)
{
	uint32_t pd;

	(void)state;
	pd = flat_simple(hca(), PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	simple(PRM_OP_DEALLOC_PD, pd, PRM_STAT_OK);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_not_equal(flat_simple(hca(), PRM_OP_ALLOC_PD, 0, PRM_STAT_OK), pd);
}

static void qp_modify(struct flat_qp *qp, uint32_t opcode, uint32_t mask, enum prm_status expect)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, mask);
	fld_set(fld_at(in, MODIFY_QP_IN_QPC), FLD_IN(QPC_PRIMARY_PATH, ADS_VHCA_PORT_NUM), 1);
	flat_cmd_expect(qp->hca, in, sizeof(in), out, sizeof(out), expect);
}

static void state_order_is_kept(void **state)
{
	struct flat_qp *c;

	(void)state;
	pair(NULL, 4096);
	c = flat_qp(0, NULL);
	qp_modify(c, PRM_OP_INIT2RTR_QP, 0, PRM_STAT_BAD_QP_STATE_ERR);
	qp_modify(c, PRM_OP_RTR2RTS_QP, 0, PRM_STAT_BAD_QP_STATE_ERR);
	qp_modify(c, PRM_OP_INIT2INIT_QP, 0, PRM_STAT_BAD_QP_STATE_ERR);
	qp_modify(c, PRM_OP_RST2INIT_QP, 0, PRM_STAT_OK);
	qp_modify(c, PRM_OP_RST2INIT_QP, 0, PRM_STAT_BAD_QP_STATE_ERR);
	qp_modify(c, PRM_OP_INIT2INIT_QP, PRM_OPTPAR_RWE, PRM_STAT_OK);
	qp_modify(c, PRM_OP_RTR2RTS_QP, 0, PRM_STAT_BAD_QP_STATE_ERR);
	qp_modify(c, PRM_OP_INIT2RTR_QP, 0, PRM_STAT_BAD_PARAM_ERR); /* no MTU */
	assert_int_equal(flat_state(c), PRM_QP_STATE_INIT);
	qp_modify(a, PRM_OP_SQERR2RTS_QP, 0, PRM_STAT_BAD_QP_STATE_ERR);
	qp_modify(a, PRM_OP_RTS2RTS_QP, PRM_OPTPAR_RNR_TIMEOUT, PRM_STAT_OK);
	qp_modify(a, PRM_OP_RTS2RTS_QP, PRM_OPTPAR_RETRY_COUNT, PRM_STAT_BAD_PARAM_ERR);
	qp_modify(a, PRM_OP_RTS2RTS_QP, PRM_OPTPAR_ALT_ADDR_PATH, PRM_STAT_BAD_PARAM_ERR);
	test_free(c->send_cq);
	test_free(c->recv_cq);
	test_free(c);
	unpair();
}

static void query_shows_what_was_set(void **state)
{
	struct flat_qp_attr attr = {
		.first_psn = 0x123456, .rnr_retry = 5, .retry = 6, .min_rnr = 9, .timeout = 17
	};
	uint8_t in[16] = { 0 }, out[PRM_QUERY_QP_OUT_SIZE] = { 0 },
		*qpc = fld_at(out, QUERY_QP_OUT_QPC);

	(void)state;
	pair(&attr, 4096);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_QP_IN_QPN, a->n);
	flat_cmd(hca(), in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(qpc, QPC_STATE), PRM_QP_STATE_RTS);
	assert_int_equal(fld_get(qpc, QPC_REMOTE_QPN), b->n);
	assert_int_equal(fld_get(qpc, QPC_NEXT_SEND_PSN), 0x123456);
	assert_int_equal(fld_get(qpc, QPC_NEXT_RCV_PSN), 0x123456);
	assert_int_equal(fld_get(qpc, QPC_RNR_RETRY), 5);
	assert_int_equal(fld_get(qpc, QPC_RETRY_COUNT), 6);
	assert_int_equal(fld_get(qpc, QPC_MIN_RNR_NAK), 9);
	assert_int_equal(fld_get(qpc, FLD_IN(QPC_PRIMARY_PATH, ADS_ACK_TIMEOUT)), 17);
	write_to(to, rkey, from, 3000); /* three packets of 1024 */
	flat_run(LONG / 100);
	flat_cmd(hca(), in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(qpc, QPC_NEXT_SEND_PSN), 0x123459);
	assert_int_equal(fld_get(qpc, QPC_HW_SQ_WQEBB_COUNTER), 1);
	unpair();
}

static void create_qp_expect(uint32_t field, uint64_t value)
{
	uint8_t in[PRM_CREATE_QP_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	fld_set(in, FLD_IN(CREATE_QP_IN_QPC, field), value);
	flat_cmd_expect(hca(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	assert_int_not_equal(fld_get(out, CMD_OUT_SYNDROME), 0);
}

static void qp_kinds_that_are_missing_are_bad_parameters(void **state)
{
	(void)state;
	create_qp_expect(QPC_ST, 5); /* DCI */
	create_qp_expect(QPC_RQ_TYPE, 2);
	create_qp_expect(QPC_CD_MASTER, 1);
	create_qp_expect(QPC_CS_REQ, 3);
	create_qp_expect(QPC_CS_RES, 3);
	create_qp_expect(QPC_DBR_ADDR, 4);
}

static void create_mkey_expect(uint32_t field, uint64_t value, enum prm_status expect)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE + 16] = { 0 }, out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_PD, flat.pd[0]);
	fld_set(mkc, MKC_LEN, 8192);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, 12);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, 1);
	if (field)
		fld_set(mkc, field, value);
	flat_cmd_expect(hca(), in, sizeof(in), out, sizeof(out), expect);
}

static void mkeys_are_checked(void **state)
{
	(void)state;
	create_mkey_expect(0, 0, PRM_STAT_OK);
	create_mkey_expect(MKC_ACCESS_MODE_4_2, 1,
			   /* device memory that does not exist: the fields name no block */
			   PRM_STAT_BAD_RES_ERR);
	create_mkey_expect(MKC_ACCESS_MODE_4_2, 2, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_LEN, 8193, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_START_ADDR, 1, PRM_STAT_BAD_PARAM_ERR); /* three pages */
	create_mkey_expect(MKC_START_ADDR, ~0ull, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_START_ADDR, -8192ull,
			   PRM_STAT_OK); /* ends at the last of all addresses */
	create_mkey_expect(MKC_START_ADDR, -4096ull, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_PD, 0xffff, PRM_STAT_BAD_RES_ERR);
	create_mkey_expect(MKC_QPN, 1, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_FREE, 1, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_BSF_EN, 1, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_LENGTH64, 1, PRM_STAT_BAD_PARAM_ERR);
	create_mkey_expect(MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS, PRM_STAT_OK);
}

static void iova_need_not_be_the_address(void **state)
{
	uint32_t key;

	(void)state;
	pair(NULL, 16384);
	key = flat_mr_iova(flat.hca[1], flat.pd[1], to + 100, 9000, 0x10000064, ALL_ACCESS);
	write_to(0x10000064 + 5000, key, from, 4000);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to + 5100, flat.mem + from, 4000);
	unpair();
}

static void capabilities_name_what_works(void **state)
{
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_CAP_SIZE] = { 0 };
	uint8_t *cap = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, PRM_CAP_GENERAL << 1 | 1);
	flat_cmd(hca(), in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(cap, HCA_CAP_RC), 1);
	assert_int_equal(fld_get(cap, HCA_CAP_CQE_VERSION), 1);
	assert_int_equal(fld_get(cap, HCA_CAP_UD), 1);
	assert_int_equal(fld_get(cap, HCA_CAP_WQ_SIGNATURE), 1);
	assert_int_equal(fld_get(cap, HCA_CAP_CD), 0);
	assert_int_equal(fld_get(cap, HCA_CAP_LOG_MAX_MSG), 30);
	fld_set(in, CMD_IN_OP_MOD, PRM_CAP_ATOMIC << 1 | 1);
	flat_cmd(hca(), in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(cap, ATOMIC_CAPS_ATOMIC_OPERATIONS), 0xf);
	fld_set(in, CMD_IN_OP_MOD, 0x22 << 1);
	flat_cmd_expect(hca(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
}

static void port_tables_have_their_ends(void **state)
{
	uint8_t in[16] = { 0 }, out[64];

	(void)state;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_GID);
	flat_cmd(hca(), in, sizeof(in), out, sizeof(out));
	assert_memory_equal(fld_at(out, QUERY_HCA_VPORT_GID_OUT_GID), "\xfe\x80\0\0\0\0\0\0", 8);
	fld_set(in, QUERY_HCA_VPORT_GID_IN_GID_INDEX, 8);
	flat_cmd_expect(hca(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_PKEY);
	fld_set(in, QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX, 0);
	flat_cmd(hca(), in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(out, FLD_IN(QUERY_HCA_VPORT_PKEY_OUT_PKEY, PKEY_PKEY)), 0xffff);
	fld_set(in, QUERY_HCA_VPORT_PKEY_IN_PORT_NUM, 2);
	flat_cmd_expect(hca(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_ROCE_ADDRESS);
	flat_cmd_expect(hca(), in, sizeof(in), out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(unknown_opcode_is_bad_op),
		IB(short_mailboxes_are_refused),
		IB(numbers_that_do_not_exist_are_bad_resources),
		IB(destroying_what_is_in_use_is_refused),
		IB(freed_numbers_are_not_reused_at_once),
		IB(state_order_is_kept),
		IB(query_shows_what_was_set),
		IB(qp_kinds_that_are_missing_are_bad_parameters),
		IB(mkeys_are_checked),
		IB(iova_need_not_be_the_address),
		IB(capabilities_name_what_works),
		IB(port_tables_have_their_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
