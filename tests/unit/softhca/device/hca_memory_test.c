/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca_memory_test.c - an adapter, and each command, when memory lacks: each allocation of it fails
 * in turn, which leaves no block behind and has the status of missing resources. Then the command
 * is executed as usual, so that the next ones find its object.
 *
 * Covers: softhca/device/hca.c, softhca/device/res.c, softhca/device/format/mlx5/cmd/
 */
#define HEAP_GROWS
#include "eth_rig.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/mkc.h"
#include "softhca/device/hca.h"
#include "tests/unit/heap.h"

enum { ALLOCATIONS_MAX = 200 };

static unsigned int failures; /* of commands */

HEAP_WRAPPED int __wrap_hca_create(const struct hca_config *config, const struct format *format,
				   struct hca **out);
HEAP_WRAPPED void __wrap_hca_exec(struct hca *hca, const void *in, size_t in_len, void *out,
				  size_t out_len);
int __real_hca_create(const struct hca_config *config, const struct format *format,
		      struct hca **out);
void __real_hca_exec(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len);

static bool heap_struck(void)
{
	bool struck = heap.fail_at && heap.allocs >= heap.fail_at;

	heap_fail_at(0);
	return struck;
}

int __wrap_hca_create(const struct hca_config *config, const struct format *format,
		      struct hca **out)
{
	const int blocks = heap.blocks;

	for (unsigned int n = 1; n < ALLOCATIONS_MAX; n++) {
		int ret;

		heap_fail_at(n);
		ret = __real_hca_create(config, format, out);
		if (!heap_struck())
			return ret;
		assert_int_equal(ret, ENOMEM);
		assert_int_equal(heap.blocks, blocks);
	}
	fail();
	return 0;
}

/* An entry of a flow table is refused with a text, which has one status for all reasons. */
static uint32_t status_without_memory(const void *in)
{
	return fld_get(in, CMD_IN_OPCODE) == PRM_OP_SET_FLOW_TABLE_ENTRY ? PRM_STAT_BAD_PARAM_ERR
									 : PRM_STAT_NO_RES_ERR;
}

/* Executes the command with the allocation N failing; false if it has fewer. Strict adapters keep
 * further notes, which they can do without, so these adapters are not strict. */
static bool exec_without_memory(struct hca *hca, const void *in, size_t in_len, void *out,
				size_t out_len, unsigned int n)
{
	heap_fail_at(n);
	__real_hca_exec(hca, in, in_len, out, out_len);
	if (!heap_struck())
		return false;
	if (fld_get(out, CMD_OUT_STATUS) != status_without_memory(in))
		fail_msg("command 0x%x without allocation %u: status 0x%x",
			 (unsigned int)fld_get(in, CMD_IN_OPCODE), n,
			 (unsigned int)fld_get(out, CMD_OUT_STATUS));
	failures++;
	return true;
}

/* The first failure may leave a table that has grown, the second one nothing more. */
void __wrap_hca_exec(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len)
{
	for (unsigned int n = 1; n < ALLOCATIONS_MAX; n++) {
		int blocks;

		if (!exec_without_memory(hca, in, in_len, out, out_len, n))
			return;
		blocks = heap.blocks;
		if (!exec_without_memory(hca, in, in_len, out, out_len, n))
			return;
		if (heap.blocks != blocks)
			fail_msg("command 0x%x without allocation %u leaves %d blocks",
				 (unsigned int)fld_get(in, CMD_IN_OPCODE), n, heap.blocks - blocks);
	}
	fail();
}

static void qp_free(struct flat_qp *qp)
{
	test_free(qp->send_cq);
	test_free(qp->recv_cq);
	test_free(qp);
}

static void connected_queues(void **state)
{
	const struct flat_qp_attr attr = { .sq_log = 4 };
	struct flat_srq *srq;
	struct flat_qp *qps[2];

	(void)state;
	failures = 0;
	for (int i = 0; i < 2; i++)
		qps[i] = flat_qp(i, &attr);
	flat_connect(qps[0], qps[1], &attr);
	srq = flat_srq(1, 4, 0, NULL);
	flat_free_mkey(flat.hca[0], flat.pd[0], PRM_MKEY_MODE_KLMS, 4);
	flat_mr(flat.hca[0], flat.pd[0], flat_alloc(8192, 4096), 8192, ALL_ACCESS);
	assert_true(failures > 10);
	test_free(srq);
	for (int i = 0; i < 2; i++)
		qp_free(qps[i]);
}

static void ethernet_queues(void **state)
{
	struct eth_sq_rig *sq;
	struct eth_rq_rig *rq;
	uint32_t td;

	(void)state;
	failures = 0;
	sq = eth_sq(0, eth_td(0));
	td = eth_td(1);
	rq = eth_rq(1, true);
	eth_catch_all(1, eth_direct_tir(1, td, rq->n, 0));
	assert_true(failures > 10);
	eth_free_sq(sq);
	eth_free_rq(rq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connected_queues, flat_setup_lenient,
						flat_teardown),
		cmocka_unit_test_setup_teardown(ethernet_queues, flat_setup_lenient_roce,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
