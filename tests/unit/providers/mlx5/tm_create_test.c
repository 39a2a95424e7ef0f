/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_create_test.c - the list and the QP of an SRQ with tag matching: their sizes, the path of the
 * QP to itself, and failures, which leave nothing behind. Functions of the test stand for QPs and
 * for the port.
 *
 * Covers: providers/mlx5/tm.c mlx5_tm_create mlx5_tm_destroy mlx5_tm_free
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/qp/dv.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/tm.h"
#include "tests/unit/heap.h"

enum { QPN = 0x1234, LID = 0x77, WQES = 16 };

static struct {
	struct mlx5_context *ctx;
	struct mlx5_qp *qp;
	struct mlx5_srq *srq;
	struct ibv_cq cq;
	struct ibv_pd pd;
	unsigned int calls, fail_at; /* of the functions below */
	int qps;
	uint32_t max_send_wr;
	struct ibv_qp_attr attr[3];
	int masks[3];
	unsigned int modifies;
	uint8_t link_layer, flags;
	unsigned int gids;
} it;

static bool fails(void)
{
	return ++it.calls == it.fail_at;
}

int __wrap_mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			     const struct mlx5_qp_dv *dv, struct verbs_qp **vqp);
int __wrap_mlx5_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int __wrap_mlx5_qp_destroy(struct ibv_qp *qp);
int __wrap_ibv_query_port(struct ibv_context *context, uint8_t port_num,
			  struct _compat_ibv_port_attr *attr);
int __wrap_ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			 union ibv_gid *gid);

int __wrap_mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			     const struct mlx5_qp_dv *dv, struct verbs_qp **vqp)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_ptr_equal(attr->send_cq, &it.cq);
	assert_ptr_equal(attr->recv_cq, &it.cq);
	assert_ptr_equal(attr->srq, &it.srq->vsrq.srq);
	assert_ptr_equal(attr->pd, &it.pd);
	assert_int_equal(attr->qp_type, IBV_QPT_RC);
	assert_int_equal(attr->comp_mask, IBV_QP_INIT_ATTR_PD);
	assert_int_equal(attr->cap.max_send_sge, 1);
	assert_int_equal(dv->flags, QP_CREATE_UNSIGNED);
	it.max_send_wr = attr->cap.max_send_wr;
	if (fails())
		return EPERM;
	it.qps++;
	it.modifies = 0;
	*vqp = &it.qp->vqp;
	return 0;
}

int __wrap_mlx5_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	assert_ptr_equal(qp, &it.qp->vqp.qp);
	assert_true(it.modifies < 3);
	it.attr[it.modifies] = *attr;
	it.masks[it.modifies++] = attr_mask;
	return fails() ? EPERM : 0;
}

int __wrap_mlx5_qp_destroy(struct ibv_qp *qp)
{
	assert_ptr_equal(qp, &it.qp->vqp.qp);
	if (fails())
		return EPERM;
	it.qps--;
	return 0;
}

int __wrap_ibv_query_port(struct ibv_context *context, uint8_t port_num,
			  struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *port = (struct ibv_port_attr *)attr;

	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(port_num, 1);
	port->lid = LID;
	port->link_layer = it.link_layer;
	port->flags = it.flags;
	return fails() ? EPERM : 0;
}

int __wrap_ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			 union ibv_gid *gid)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(port_num, 1);
	assert_int_equal(index, 0);
	it.gids++;
	memset(gid->raw, 0x5a, sizeof(gid->raw));
	errno = EPERM;
	return fails() ? -1 : 0;
}

static void *aligned_new(size_t size)
{
	void *object;

	assert_int_equal(__real_posix_memalign(&object, 64, size), 0);
	return memset(object, 0, size);
}

static int tm_begin(void **state)
{
	(void)state;
	verbs_warn("the log keeps memory from its first line on");
	heap_begin();
	memset(&it, 0, sizeof(it));
	it.ctx = aligned_new(sizeof(*it.ctx));
	it.qp = aligned_new(sizeof(*it.qp));
	it.srq = aligned_new(sizeof(*it.srq));
	it.qp->vqp.qp.context = it.srq->vsrq.srq.context = it.cq.context = &it.ctx->vctx.context;
	it.qp->vqp.qp.qp_num = QPN;
	it.qp->sq.wq.mask = WQES - 1;
	it.link_layer = IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

static int tm_end(void **state)
{
	(void)state;
	assert_int_equal(it.qps, 0);
	assert_int_equal(heap.blocks, 0);
	__real_free(it.ctx);
	__real_free(it.qp);
	__real_free(it.srq);
	return 0;
}

static int tm_create(uint32_t tags, uint32_t ops)
{
	const struct ibv_srq_init_attr_ex attr = {
		.tm_cap = { .max_num_tags = tags, .max_ops = ops }, .cq = &it.cq, .pd = &it.pd
	};

	it.srq->tm = NULL;
	it.calls = 0;
	return mlx5_tm_create(it.srq, &attr);
}

static void tm_destroy(void)
{
	it.fail_at = 0;
	assert_int_equal(mlx5_tm_destroy(it.srq), 0);
	mlx5_tm_free(it.srq);
}

/* One entry more than the tags, as the last one stays free. */
static void a_list_is_a_ring_of_entries(void **state)
{
	static const uint32_t sizes[][2] = { { 1, 2 }, { 3, 4 }, { 4, 8 }, { 63, 64 } };

	(void)state;
	it.ctx->caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
	it.ctx->caps.dump_fill_mkey = 0x5a00;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const uint32_t size = sizes[i][1];
		const struct mlx5_tm *tm;

		assert_int_equal(tm_create(sizes[i][0], 5), 0);
		tm = it.srq->tm;
		assert_int_equal(tm->size, size);
		assert_int_equal(tm->head, 0);
		assert_int_equal(tm->tail, size - 1);
		for (uint32_t k = 0; k < size; k++)
			assert_int_equal(tm->tags[k].next, (k + 1) % size);
		assert_int_equal(tm->null_lkey, 0x5a00);
		assert_ptr_equal(tm->qp, it.qp);
		for (uint32_t k = 0; k < WQES; k++)
			assert_int_equal(tm->deleting[k], 0);
		assert_int_equal(it.srq->rq.special, RQ_OTHER);
		assert_int_equal(it.max_send_wr, 5);
		tm_destroy();
	}
	assert_int_equal(tm_create(1, 0), 0);
	assert_int_equal(it.max_send_wr, 1);
	tm_destroy();
}

static void the_qp_leads_to_itself(void **state)
{
	static const struct {
		uint8_t link_layer, flags;
		bool is_global;
	} rows[] = { { IBV_LINK_LAYER_INFINIBAND, 0, false },
		     { IBV_LINK_LAYER_INFINIBAND, IBV_QPF_GRH_REQUIRED, true },
		     { IBV_LINK_LAYER_ETHERNET, 0, true },
		     { IBV_LINK_LAYER_ETHERNET, IBV_QPF_GRH_REQUIRED, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ibv_ah_attr *path = &it.attr[1].ah_attr;

		it.link_layer = rows[i].link_layer;
		it.flags = rows[i].flags;
		it.gids = 0;
		assert_int_equal(tm_create(3, 3), 0);
		assert_int_equal(it.modifies, 3);
		assert_int_equal(it.attr[0].qp_state, IBV_QPS_INIT);
		assert_int_equal(it.attr[0].port_num, 1);
		assert_int_equal(it.masks[0], IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						      IBV_QP_ACCESS_FLAGS);
		assert_int_equal(it.attr[1].qp_state, IBV_QPS_RTR);
		assert_int_equal(it.attr[1].dest_qp_num, QPN);
		assert_int_equal(it.attr[1].path_mtu, IBV_MTU_256);
		assert_int_equal(it.masks[1], IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
						      IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
						      IBV_QP_MAX_DEST_RD_ATOMIC |
						      IBV_QP_MIN_RNR_TIMER);
		assert_int_equal(it.attr[2].qp_state, IBV_QPS_RTS);
		assert_int_equal(it.masks[2], IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
						      IBV_QP_MAX_QP_RD_ATOMIC);
		assert_int_equal(path->dlid, LID);
		assert_int_equal(path->port_num, 1);
		assert_int_equal(path->is_global, rows[i].is_global);
		assert_int_equal(path->grh.hop_limit, rows[i].is_global);
		assert_int_equal(path->grh.dgid.raw[15], rows[i].is_global ? 0x5a : 0);
		assert_int_equal(it.gids, rows[i].is_global);
		tm_destroy();
	}
}

/* The creation of the QP, its three changes, the port and its GID. */
static void a_failure_leaves_no_qp(void **state)
{
	(void)state;
	it.link_layer = IBV_LINK_LAYER_ETHERNET;
	for (it.fail_at = 1; it.fail_at <= 6; it.fail_at++) {
		assert_int_equal(tm_create(3, 3), EPERM);
		assert_int_equal(it.qps, 0);
		assert_null(it.srq->tm->qp);
		assert_int_equal(mlx5_tm_destroy(it.srq), 0);
		mlx5_tm_free(it.srq);
		assert_int_equal(heap.blocks, 0);
	}
	it.fail_at = 0;
	for (unsigned int n = 1; n <= 3; n++) {
		heap_fail_at(n);
		assert_int_equal(tm_create(3, 3), ENOMEM);
		assert_int_equal(it.qps, 0);
		mlx5_tm_free(it.srq);
		assert_int_equal(heap.blocks, 0);
	}
}

static void a_qp_that_stays_may_be_destroyed_later(void **state)
{
	(void)state;
	assert_int_equal(tm_create(3, 3), 0);
	it.fail_at = it.calls + 1;
	assert_int_equal(mlx5_tm_destroy(it.srq), EPERM);
	assert_ptr_equal(it.srq->tm->qp, it.qp);
	tm_destroy();
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, tm_begin, tm_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_list_is_a_ring_of_entries),
		TEST(the_qp_leads_to_itself),
		TEST(a_failure_leaves_no_qp),
		TEST(a_qp_that_stays_may_be_destroyed_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
