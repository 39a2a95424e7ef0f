/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_hostile_test.c - input of a hostile driver: one test for each hole that review or
 * tests/fuzz found and that is now closed.
 *
 * Covers: softhca/device/format/mlx5/cmd/cmd.c, softhca/device/format/mlx5/wqe.c,
 * softhca/device/hca.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/umr.h"

static void qp_modify(struct flat_qp *qp, uint32_t opcode, uint32_t mask, uint32_t port,
		      uint32_t pkey, enum prm_status expect)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[16];
	uint8_t *path = fld_at(fld_at(in, MODIFY_QP_IN_QPC), QPC_PRIMARY_PATH);

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK, mask);
	fld_set(path, ADS_VHCA_PORT_NUM, port);
	fld_set(path, ADS_PKEY_INDEX, pkey);
	flat_cmd_expect(qp->hca, in, sizeof(in), out, sizeof(out), expect);
}

/* The port indexes the device's array of ports, so each transition must check it: once only
 * RST2INIT did. */
static void port_is_checked_whenever_it_changes(void **state)
{
	(void)state;
	pair(NULL, 64);
	flat_simple(flat.hca[0], PRM_OP_2RST_QP, a->n, PRM_STAT_OK);
	qp_modify(a, PRM_OP_RST2INIT_QP, 0, 0, 0, PRM_STAT_BAD_PARAM_ERR);
	qp_modify(a, PRM_OP_RST2INIT_QP, 0, 1, 0, PRM_STAT_OK);
	qp_modify(a, PRM_OP_INIT2INIT_QP, PRM_OPTPAR_PRI_PORT, 0, 0, PRM_STAT_BAD_PARAM_ERR);
	qp_modify(a, PRM_OP_INIT2INIT_QP, PRM_OPTPAR_PRI_PORT, 255, 0, PRM_STAT_BAD_PARAM_ERR);
	qp_modify(a, PRM_OP_INIT2INIT_QP, PRM_OPTPAR_PRI_PORT, 2, 0, PRM_STAT_BAD_PARAM_ERR);
	qp_modify(a, PRM_OP_INIT2INIT_QP, PRM_OPTPAR_PRI_PORT, 1, 0, PRM_STAT_OK);
	qp_modify(a, PRM_OP_INIT2INIT_QP, PRM_OPTPAR_PKEY_INDEX, 1, 0xffff, PRM_STAT_BAD_PARAM_ERR);
	unpair();
}

/* Makes a key of COUNT pieces at address 0; each piece is the LEN bytes at ADDR of key UNDER. */
static uint32_t key_of_pieces(uint32_t under, uint64_t addr, uint32_t len, uint32_t count,
			      uint32_t octowords, enum prm_status expect)
{
	size_t size = PRM_CREATE_MKEY_IN_SIZE + 16 * (size_t)count;
	uint8_t *in = calloc(1, size), out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC), *klm = fld_at(in, CREATE_MKEY_IN_PAS);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_PD, flat.pd[0]);
	fld_set(mkc, MKC_LEN, (uint64_t)len * count);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, octowords);
	for (uint32_t i = 0; i < count; i++, klm += 16) {
		fld_set(klm, KLM_BCOUNT, len);
		fld_set(klm, KLM_KEY, under);
		fld_set(klm, KLM_VA, addr);
	}
	flat_cmd_expect(flat.hca[0], in, size, out, sizeof(out), expect);
	free(in);
	return fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8;
}

/* Keys over keys make a gigabyte of one-byte pieces. They are refused, as visiting each piece once
 * took half a minute. */
static void keys_of_keys_of_bytes_are_refused_soon(void **state)
{
	enum { PIECES = 4096, KIB = 1024 };
	uint32_t bytes, mebibytes, all;

	(void)state;
	pair(NULL, 4096);
	bytes = key_of_pieces(lkey, from, 1, PIECES, PIECES, PRM_STAT_OK);
	mebibytes = key_of_pieces(bytes, 0, PIECES, PIECES, PIECES, PRM_STAT_OK);
	all = key_of_pieces(mebibytes, 0, PIECES * PIECES, 64, 64, PRM_STAT_OK);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, 0, 1024 * KIB * KIB, all);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, LOCAL_PROT);
	unpair();
}

/* A key without UMR had no limit on its translation table, so that this one asked the device to
 * read 64 GiB. */
static void tables_of_pieces_have_a_limit(void **state)
{
	(void)state;
	pair(NULL, 4096);
	key_of_pieces(lkey, from, 1, 1, 0xfffffff0, PRM_STAT_BAD_PARAM_ERR);
	key_of_pieces(lkey, from, 1, 1, 0xffffffff, PRM_STAT_BAD_PARAM_ERR);
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(port_is_checked_whenever_it_changes),
		IB(keys_of_keys_of_bytes_are_refused_soon),
		IB(tables_of_pieces_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
