/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr_test.c - golden bytes of requests on memory keys, through both entry points, and the fence
 * of the next request. The distribution's library writes the same bytes for the same calls.
 *
 * Covers: providers/mlx5/data/umr.c, providers/mlx5/data/send_wr_umr.c,
 * providers/mlx5/data/bind_mw.c, providers/common/mw.c, providers/mlx5/data/single_umr.h
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "libibverbs/driver.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/umr.h"
#include "util/bits.h"

#define ADDR 0x000055ca19318010u
#define ZERO " 00000000 00000000 00000000 00000000"

#define BOUND_2_HEAD                                              \
	" 00012300 b0000000 00040000 00000000 203c6041" ZERO ZERO \
	" 00007000 123456ab 00000000 00000000"
#define KLM     " 00000fa0 00010000 000055ca 19318010" ZERO ZERO ZERO
#define BOUND_2 BOUND_2_HEAD " 000055ca 19318010 00000000 00000fa0" ZERO ZERO KLM
#define FREE_2                                           \
	" 98000000 00000000 00000000 20006000" ZERO ZERO \
	" 40000000 ffffff00 00000000 00000000" ZERO ZERO ZERO

static struct ibv_pd pd;
static struct verbs_mr region = { .mr = { .pd = &pd, .lkey = 0x00010000 } };

static struct rig *umr_rig(uint32_t sq_pi, enum ibv_qp_type type)
{
	struct rig *rig =
		rig_new(&(struct rig_options){ .sq_pi = sq_pi, .sq_wqebbs = 16, .type = type });

	rig->qp->vqp.qp.pd = &pd;
	return rig;
}

static struct ibv_mw mw_of_type(enum ibv_mw_type type)
{
	return (struct ibv_mw){ .pd = &pd, .rkey = 0x00012300, .type = type };
}

static struct ibv_mw_bind_info mw_bind_info(unsigned int access)
{
	return (struct ibv_mw_bind_info){
		.mr = &region.mr, .addr = ADDR, .length = 4000, .mw_access_flags = access
	};
}

#define ALL_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static int post_bind(struct rig *rig, struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *bad;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = 0x000123ab;
	wr.bind_mw.bind_info = *info;
	return mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad);
}

static int post_inv(struct rig *rig)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV,
				  .send_flags = IBV_SEND_SIGNALED,
				  .invalidate_rkey = 0x55667788 };
	struct ibv_send_wr *bad;

	return mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad);
}

static int post_send(struct rig *rig, unsigned int flags)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = flags }, *bad;

	return mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad);
}

static void a_binding_is_control_umr_key_and_translation(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_mw_bind_info info = mw_bind_info(ALL_ACCESS);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);

	(void)state;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	check_bytes(rig_sq(rig, 0), "00000025 1234560c 00000008" BOUND_2);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 3);

	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, &mw, 0x000123ab, &info);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 3), "00000325 1234560c 00000028" BOUND_2);
	rig_free(rig);
}

static void a_binding_goes_on_at_the_start_of_the_ring(void **state)
{
	struct ibv_mw_bind_info info = mw_bind_info(ALL_ACCESS);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);

	(void)state;
	for (uint32_t at = 14; at < 16; at++) {
		struct rig *rig = umr_rig(at, IBV_QPT_UC);

		assert_int_equal(post_bind(rig, &mw, &info), 0);
		check_bytes(rig_sq(rig, at) + 4, "1234560c 00000008 00012300 b0000000");
		check_bytes(rig_sq(rig, at + 1), "00007000 123456ab");
		check_bytes(rig_sq(rig, at + 2), KLM);
		rig_free(rig);
	}
}

static void a_zero_based_window_starts_at_0(void **state)
{
	struct ibv_mw_bind_info info =
		mw_bind_info(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED);
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);

	(void)state;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	check_bytes(rig_sq(rig, 1),
		    " 00002000 123456ab 00000000 00000000 00000000 00000000 00000000 00000fa0");
	check_bytes(rig_sq(rig, 2), KLM);
	rig_free(rig);
}

static void a_window_of_type_1_belongs_to_no_qp(void **state)
{
	struct ibv_mw_bind_info info = mw_bind_info(0);
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_1);

	(void)state;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	check_bytes(rig_sq(rig, 0), "00000025 1234560c 00000008 00012300"
				    " 90000000 00040000 00000000 203c2041" ZERO ZERO
				    " 00000000 ffffffab 00000000 00000000"
				    " 000055ca 19318010 00000000 00000fa0");
	info.length = 0;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	check_bytes(rig_sq(rig, 3), "00000325 12345608 00000028 00012300"
				    " 90000000 00000000 00000000 20002000" ZERO ZERO
				    " 40000000 ffffffab 00000000 00000000" ZERO ZERO ZERO);
	rig_free(rig);
}

static void an_invalidation_frees_the_key(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(post_inv(rig), 0);
	check_bytes(rig_sq(rig, 0), "00000025 12345608 00000008 55667788" FREE_2);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_local_inv(qpx, 0x55667788);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 2), "00000225 12345608 00000028 55667788" FREE_2);
	rig_free(rig);
}

static void the_next_request_waits_and_the_one_after_does_not(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(post_inv(rig), 0);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	check_bytes(rig_sq(rig, 2), "0000020a 12345601 00000028");
	check_bytes(rig_sq(rig, 3), "0000030a 12345601 00000008");
	assert_int_equal(post_inv(rig), 0);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
	check_bytes(rig_sq(rig, 6), "0000060a 12345601 00000088");
	assert_int_equal(post_inv(rig), 0);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 9), "0000090a 12345601 00000028");
	check_bytes(rig_sq(rig, 10), "00000a0a 12345601 00000008");
	rig_free(rig);
}

/* The aborted batch took the request with the fence along, so the next request needs it. */
static void a_refused_request_does_not_lose_the_fence(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_sge sge = { .length = 1 << 20 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE, .sg_list = &sge, .num_sge = 1
	};
	struct ibv_send_wr *bad;

	(void)state;
	assert_int_equal(post_inv(rig), 0);
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), ENOMEM);
	assert_true(rig->qp->sq.fence_next);
	assert_int_equal(post_send(rig, 0), 0);
	assert_int_not_equal(rig_sq(rig, rig->qp->sq.pi - 1)[11] & 0xe0, 0);
	rig_free(rig);
}

static void a_window_has_2_gib_at_most(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_mw_bind_info info = mw_bind_info(0);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);

	(void)state;
	info.length = (1ul << 31) + 1;
	assert_int_equal(post_bind(rig, &mw, &info), EOPNOTSUPP);
	info.length--;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	rig_free(rig);
}

static void a_cancelled_batch_does_not_lose_the_fence(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(post_inv(rig), 0);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	ibv_wr_abort(qpx);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	check_bytes(rig_sq(rig, 2), "0000020a 12345601 00000028");
	rig_free(rig);

	rig = umr_rig(0, IBV_QPT_RC);
	assert_int_equal(post_inv(rig), 0);
	assert_int_equal(post_send(rig, IBV_SEND_INLINE), 0);
	check_bytes(rig_sq(rig, 2), "0000020a 12345601 00000020");
	rig_free(rig);
}

static void abort_send(struct ibv_qp_ex *qpx)
{
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	ibv_wr_abort(qpx);
}

/* A fence would slow down the adapter, and a shut gate the next request. */
static void a_cancelled_batch_without_the_fence_adds_none(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	abort_send(qpx);
	assert_int_not_equal(rig->qp->sq.opcodes, 0);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345601 00000008");
	/* the fence that the first of two batches takes back is taken by the next request */
	assert_int_equal(post_inv(rig), 0);
	abort_send(qpx);
	abort_send(qpx);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	check_bytes(rig_sq(rig, 3), "0000030a 12345601 00000028");
	abort_send(qpx);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	check_bytes(rig_sq(rig, 4), "0000040a 12345601 00000008");
	rig_free(rig);
}

/* A cancelled request on a key has no effect on the fence for the one before it, as that one was
 * posted. */
static void a_cancelled_request_on_a_key_keeps_the_fence(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(post_inv(rig), 0);
	ibv_wr_start(qpx);
	ibv_wr_local_inv(qpx, 0x55667788);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	ibv_wr_abort(qpx);
	assert_int_equal(post_send(rig, IBV_SEND_SIGNALED), 0);
	check_bytes(rig_sq(rig, 2), "0000020a 12345601 00000028");
	rig_free(rig);
}

/* Each waits for the one before it, and the request after them for the last, as each changes what
 * the next may use. */
static void requests_on_keys_in_one_batch_wait_for_each_other(void **state)
{
	struct ibv_mw_bind_info info = mw_bind_info(ALL_ACCESS);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, &mw, 0x000123ab, &info);
	ibv_wr_local_inv(qpx, 0x55667788);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 0), "00000025 1234560c 00000008" BOUND_2);
	check_bytes(rig_sq(rig, 3), "00000325 12345608 00000028 55667788" FREE_2);
	check_bytes(rig_sq(rig, 5), "0000050a 12345601 00000028");
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 6);
	rig_free(rig);
}

static void what_a_binding_must_not_be(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);
	struct ibv_pd other = { .handle = 1 };
	struct ibv_mw_bind_info info = mw_bind_info(0);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	info.mr = NULL;
	assert_int_equal(post_bind(rig, &mw, &info), EINVAL);
	info = mw_bind_info(0);
	mw.pd = &other;
	assert_int_equal(post_bind(rig, &mw, &info), EPERM);
	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, &mw, 0, &info);
	assert_int_equal(ibv_wr_complete(qpx), EPERM);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	rig_free(rig);
}

static void a_region_that_windows_cannot_be_bound_to(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_1);
	struct ibv_pd other = { .handle = 1 };
	struct verbs_mr foreign = { .mr = { .pd = &other } };
	struct verbs_mr zero_based = { .mr = { .pd = &pd }, .access = IBV_ACCESS_ZERO_BASED };
	struct ibv_mw_bind_info info = mw_bind_info(0);

	(void)state;
	info.mr = &foreign.mr;
	assert_int_equal(post_bind(rig, &mw, &info), EPERM);
	info.mr = &zero_based.mr;
	assert_int_equal(post_bind(rig, &mw, &info), EINVAL);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	rig_free(rig);
}

/* Requests on keys need RTS and a free slot, as all requests do. */
static void requests_on_keys_have_the_limits_of_others(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_wqebbs = 16, .max_send = 2 });
	struct ibv_mw_bind_info info = mw_bind_info(0);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);

	(void)state;
	rig->qp->vqp.qp.pd = &pd;
	sq_permit(&rig->qp->sq, false);
	assert_int_equal(post_bind(rig, &mw, &info), ENOMEM);
	assert_int_equal(post_inv(rig), ENOMEM);
	sq_permit(&rig->qp->sq, true);
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	assert_int_equal(post_inv(rig), 0);
	assert_int_equal(post_inv(rig), ENOMEM);
	assert_int_equal(post_bind(rig, &mw, &info), ENOMEM);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 5);
	rig_free(rig);

	rig = umr_rig(0, IBV_QPT_RC);
	rig->qp->opcodes &= (uint16_t)~UMR_OPCODES;
	assert_int_equal(post_bind(rig, &mw, &info), EOPNOTSUPP);
	assert_int_equal(post_inv(rig), EOPNOTSUPP);
	rig_free(rig);
}

/* Single posts and a list take different ways, so they are compared: the same bytes, fences
 * included, at each position in the ring. */
static void alone_and_in_a_list_they_are_the_same(void **state)
{
	struct ibv_mw mw[] = { mw_of_type(IBV_MW_TYPE_1), mw_of_type(IBV_MW_TYPE_2) };
	struct ibv_sge sge = { ADDR, 64, 0x42 };

	(void)state;
	for (uint32_t i = 0; i < 8 * 16 * 2; i++) {
		const unsigned int flags = i % 8;
		struct rig *one = umr_rig(i / 8 % 16, IBV_QPT_RC);
		struct rig *list = umr_rig(i / 8 % 16, IBV_QPT_RC);
		const size_t size = (size_t)(one->qp->sq.end - one->qp->sq.buf);
		struct ibv_send_wr wrs[5] = { { .wr_id = i } }, *bad;

		for (unsigned int j = 0; j < ARRAY_SIZE(wrs); j++) {
			wrs[j].opcode = j == 2  ? IBV_WR_SEND
					: j & 1 ? IBV_WR_BIND_MW
						: IBV_WR_LOCAL_INV;
			wrs[j].send_flags = flags;
			wrs[j].sg_list = &sge;
			wrs[j].num_sge = j == 2;
			wrs[j].bind_mw.mw = &mw[i / 128];
			wrs[j].bind_mw.rkey = 0x000123ab;
			wrs[j].bind_mw.bind_info = mw_bind_info(ALL_ACCESS);
			if (wrs[j].opcode == IBV_WR_LOCAL_INV)
				wrs[j].invalidate_rkey = 0x55667788;
			memset(one->qp->sq.buf, 0xff, size);
			memset(list->qp->sq.buf, 0xff, size);
		}
		for (unsigned int j = 0; j < ARRAY_SIZE(wrs); j++)
			assert_int_equal(mlx5_post_send(&one->qp->vqp.qp, &wrs[j], &bad), 0);
		for (unsigned int j = 0; j + 1 < ARRAY_SIZE(wrs); j++)
			wrs[j].next = &wrs[j + 1];
		assert_int_equal(mlx5_post_send(&list->qp->vqp.qp, wrs, &bad), 0);
		assert_memory_equal(one->qp->sq.buf, list->qp->sq.buf, size);
		assert_int_equal(one->qp->sq.pi, list->qp->sq.pi);
		assert_int_equal(one->qp->sq.opcodes, list->qp->sq.opcodes);
		assert_int_equal(one->qp->sq.fence_next, list->qp->sq.fence_next);
		rig_free(one);
		rig_free(list);
	}
}

/* A parent domain has the handle of its protection domain, and counts as the same. */
static void what_the_kernel_knows_as_one_domain_is_one(void **state)
{
	struct ibv_pd parent = { .handle = pd.handle }, same = parent;
	struct verbs_mr beside = { .mr = { .pd = &same, .lkey = 0x00010000 } };
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);
	struct ibv_mw_bind_info info = mw_bind_info(ALL_ACCESS);

	(void)state;
	rig->qp->vqp.qp.pd = &parent;
	info.mr = &beside.mr;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	qpx->wr_flags = 0;
	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, &mw, 0, &info);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	same.handle++;
	assert_int_equal(post_bind(rig, &mw, &info), EPERM);
	rig_free(rig);
}

/* ---- ibv_bind_mw() */

static struct ibv_context context = { .ops.post_send = mlx5_post_send };

static struct rig *window_rig(const struct rig_options *options)
{
	struct rig *rig = rig_new(options);

	rig->qp->vqp.qp.pd = &pd;
	rig->qp->vqp.qp.context = &context;
	return rig;
}

static struct ibv_mw window_of(struct ibv_pd *domain, uint32_t rkey)
{
	return (struct ibv_mw){
		.context = &context, .pd = domain, .rkey = rkey, .type = IBV_MW_TYPE_1
	};
}

static void a_window_of_type_1_is_bound_by_a_verb_of_its_own(void **state)
{
	struct rig *rig = window_rig(&(struct rig_options){ .sq_wqebbs = 16 });
	struct ibv_mw mw = window_of(&pd, 0x000123ff);
	struct ibv_mw_bind bind = {
		.wr_id = 0x77,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = mw_bind_info(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE),
	};
	struct rig_cqe cqe = { .send_opcode = MLX5_OPCODE_UMR };
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, &bind), 0);
	assert_int_equal(mw.rkey, 0x00012300);
	check_bytes(rig_sq(rig, 0), "00000025 1234560c 00000008 000123ff"
				    " 90000000 00040000 00000000 203c2041" ZERO ZERO
				    " 00003000 ffffff00 00000000 00000000"
				    " 000055ca 19318010 00000000 00000fa0" ZERO ZERO KLM);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 3);
	bind.bind_info = (struct ibv_mw_bind_info){ 0 };
	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, &bind), 0);
	assert_int_equal(mw.rkey, 0x00012301);
	check_bytes(rig_sq(rig, 3), "00000325 12345608 00000028 00012300"
				    " 90000000 00000000 00000000 20002000" ZERO ZERO
				    " 40000000 ffffff01 00000000 00000000" ZERO ZERO ZERO);
	rig_complete(rig, &cqe);
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
	assert_int_equal(wc.wr_id, 0x77);
	rig_free(rig);
}

/* ibv_bind_mw() refuses what ibv_post_send() refuses, and the window keeps its key, which the
 * program still uses. */
static void a_window_that_is_not_bound_keeps_its_key(void **state)
{
	struct ibv_pd other = { .handle = 1 };
	struct verbs_mr foreign = { .mr = { .pd = &other } };
	struct verbs_mr based = { .mr = { .pd = &pd }, .access = IBV_ACCESS_ZERO_BASED };
	const struct {
		struct ibv_mw_bind_info info;
		struct ibv_pd *domain;
		int err;
	} refused[] = {
		{ { &based.mr, ADDR, 8, 0 }, &pd, EINVAL },
		{ { &foreign.mr, ADDR, 8, 0 }, &pd, EPERM },
		{ { &region.mr, ADDR, 8, 0 }, &other, EPERM },
		{ { &region.mr, ADDR, (1ul << 31) + 1, 0 }, &pd, EOPNOTSUPP },
		{ { NULL, ADDR, 8, 0 }, &pd, EINVAL },
	};
	struct rig *rig = window_rig(&(struct rig_options){ .sq_wqebbs = 16, .max_send = 2 });
	struct ibv_qp *qp = &rig->qp->vqp.qp;
	struct ibv_mw_bind good = { .bind_info = mw_bind_info(0) };
	struct ibv_mw mw = window_of(&pd, 0x1200);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct ibv_mw_bind bind = { .bind_info = refused[i].info };
		struct ibv_mw window = window_of(refused[i].domain, 0x1200);

		assert_int_equal(mlx5_bind_mw(qp, &window, &bind), refused[i].err);
		assert_int_equal(window.rkey, 0x1200);
	}
	sq_permit(&rig->qp->sq, false);
	assert_int_equal(mlx5_bind_mw(qp, &mw, &good), ENOMEM);
	sq_permit(&rig->qp->sq, true);
	rig->qp->opcodes &= (uint16_t)~UMR_OPCODES;
	assert_int_equal(mlx5_bind_mw(qp, &mw, &good), EOPNOTSUPP);
	rig->qp->opcodes |= UMR_OPCODES;
	assert_int_equal(mw.rkey, 0x1200);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	assert_int_equal(mlx5_bind_mw(qp, &mw, &good), 0);
	assert_int_equal(mlx5_bind_mw(qp, &mw, &good), 0);
	assert_int_equal(mlx5_bind_mw(qp, &mw, &good), ENOMEM);
	assert_int_equal(mw.rkey, 0x1202);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 6);
	rig_free(rig);
}

/* The window may belong to another context than the QP, or to a parent domain. */
static void a_window_of_another_context_is_looked_at(void **state)
{
	struct rig *rig = window_rig(&(struct rig_options){ .sq_wqebbs = 16 });
	struct ibv_context another = { .ops.post_send = NULL };
	struct ibv_pd parent = { .handle = pd.handle };
	struct ibv_mw mw = window_of(&parent, 0x1200);
	struct ibv_mw_bind bind = { .bind_info = mw_bind_info(0) };

	(void)state;
	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, &bind), 0);
	mw.context = &another;
	parent.context = &another;
	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, &bind), EPERM);
	assert_int_equal(mw.rkey, 0x1201);
	rig_free(rig);
}

/* ---- the fast paths, compared with ibv_wr_*() */

enum short_way { BIND_1, BIND_2, INVAL, SHORT_WAYS };

static void post_short(struct rig *rig, enum short_way way, struct ibv_mw_bind *bind)
{
	struct ibv_mw mw = window_of(&pd, 0x00012300);
	struct ibv_send_wr wr = { .wr_id = bind->wr_id,
				  .opcode = way == INVAL ? IBV_WR_LOCAL_INV : IBV_WR_BIND_MW,
				  .send_flags = bind->send_flags };
	struct ibv_send_wr *bad;

	if (way == BIND_1) {
		assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, bind), 0);
		return;
	}
	mw.type = IBV_MW_TYPE_2;
	if (way == BIND_2) {
		wr.bind_mw.mw = &mw;
		wr.bind_mw.rkey = 0x00012301;
		wr.bind_mw.bind_info = bind->bind_info;
	} else {
		wr.invalidate_rkey = 0x00012300;
	}
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
}

static void post_by_builder(struct rig *rig, enum short_way way, const struct ibv_mw_bind *bind)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_mw mw = window_of(&pd, 0x00012300);

	mw.type = way == BIND_2 ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1;
	qpx->wr_id = bind->wr_id;
	qpx->wr_flags = bind->send_flags;
	ibv_wr_start(qpx);
	if (way == INVAL)
		ibv_wr_local_inv(qpx, 0x00012300);
	else
		ibv_wr_bind_mw(qpx, &mw, 0x00012301, &bind->bind_info);
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

static void assert_alike(struct rig *a, struct rig *b)
{
	const struct mlx5_sq *x = &a->qp->sq, *y = &b->qp->sq;

	assert_memory_equal(x->buf, y->buf, (size_t)(x->end - x->buf));
	assert_memory_equal(a->uar, b->uar, RIG_PAGE);
	assert_memory_equal(x->wq.slots, y->wq.slots, (x->wq.mask + 1) * sizeof(*x->wq.slots));
	assert_int_equal(x->db.reg - a->uar, y->db.reg - b->uar);
	assert_int_equal(rig_dbrec(a, MLX5_SND_DBR), rig_dbrec(b, MLX5_SND_DBR));
	assert_int_equal(x->pi, y->pi);
	assert_int_equal(x->wq.head, y->wq.head);
	assert_int_equal(x->opcodes, y->opcodes);
	assert_int_equal(x->fence_next, y->fence_next);
}

/* Posts two requests both ways, at each position in the ring: the first by BlueFlame as far as
 * possible, the second behind the fence. */
static void requests_on_keys_are_the_same_by_each_way(void **state)
{
	static const uint32_t registers[] = { 0, 64, 128, 192, 256 };

	(void)state;
	for (uint32_t i = 0; i < 16 * ARRAY_SIZE(registers) * SHORT_WAYS * 8; i++) {
		const struct rig_options options = { .sq_pi = i % 16,
						     .sq_wqebbs = 16,
						     .bf_max = registers[i / 16 % 5] };
		const enum short_way way = (enum short_way)(i / 80 % SHORT_WAYS);
		const unsigned int unsaid =
			IBV_ACCESS_MW_BIND | (way == BIND_1 ? IBV_ACCESS_ZERO_BASED : 0);
		struct rig *by_post = window_rig(&options), *by_builder = window_rig(&options);
		struct ibv_mw_bind bind = {
			.wr_id = i,
			.send_flags = i / 240,
			.bind_info = mw_bind_info(i % 64 & ~unsaid),
		};

		for (int again = 0; again < 2; again++) {
			post_short(by_post, way, &bind);
			post_by_builder(by_builder, way, &bind);
			assert_alike(by_post, by_builder);
		}
		rig_free(by_post);
		rig_free(by_builder);
	}
}

static void bind_is_refused(struct rig *rig, struct ibv_mw_bind *bind)
{
	struct ibv_mw mw = window_of(&pd, 0x00012300);

	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, bind), EINVAL);
	assert_int_equal(mw.rkey, 0x00012300);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
}

static void no_window_has_rights_that_nobody_knows(void **state)
{
	(void)state;
	for (unsigned int bit = 8; bit < 32; bit++) {
		struct rig *rig = window_rig(&(struct rig_options){ .sq_wqebbs = 8 });
		struct ibv_mw_bind bind = { .bind_info = mw_bind_info(1u << bit) };

		if (1u << bit & IBV_ACCESS_OPTIONAL_RANGE)
			post_short(rig, BIND_1, &bind);
		else
			bind_is_refused(rig, &bind);
		rig_free(rig);
	}
}

static void a_window_has_the_rights_that_were_asked_for(void **state)
{
	(void)state;
	for (unsigned int access = 0; access < 256; access++) {
		for (enum short_way way = BIND_1; way <= BIND_2; way++) {
			struct rig *rig = window_rig(&(struct rig_options){ .sq_wqebbs = 8 });
			struct ibv_mw_bind bind = { .bind_info = mw_bind_info(access) };
			const uint8_t *key = rig_sq(rig, 1);

			if (way == BIND_1 && access & IBV_ACCESS_ZERO_BASED) {
				bind_is_refused(rig, &bind);
				rig_free(rig);
				continue;
			}
			post_short(rig, way, &bind);
			assert_int_equal(fld_get(key, MKC_LW), access & 1);
			assert_int_equal(fld_get(key, MKC_RW), access >> 1 & 1);
			assert_int_equal(fld_get(key, MKC_RR), access >> 2 & 1);
			assert_int_equal(fld_get(key, MKC_A), access >> 3 & 1);
			check_bytes(key + 16, access & IBV_ACCESS_ZERO_BASED ? "00000000 00000000"
									     : "000055ca 19318010");
			rig_free(rig);
		}
	}
}

static void the_completion_says_which_it_was(void **state)
{
	struct rig *rig = umr_rig(0, IBV_QPT_RC);
	struct ibv_mw_bind_info info = mw_bind_info(0);
	struct ibv_mw mw = mw_of_type(IBV_MW_TYPE_2);
	struct rig_cqe cqe = { .send_opcode = MLX5_OPCODE_UMR };
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(post_bind(rig, &mw, &info), 0);
	assert_int_equal(post_inv(rig), 0);
	rig_complete(rig, &cqe);
	cqe.wqe_counter = 3;
	rig_complete(rig, &cqe);
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_LOCAL_INV);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binding_is_control_umr_key_and_translation),
		cmocka_unit_test(a_binding_goes_on_at_the_start_of_the_ring),
		cmocka_unit_test(a_zero_based_window_starts_at_0),
		cmocka_unit_test(a_window_of_type_1_belongs_to_no_qp),
		cmocka_unit_test(an_invalidation_frees_the_key),
		cmocka_unit_test(the_next_request_waits_and_the_one_after_does_not),
		cmocka_unit_test(a_refused_request_does_not_lose_the_fence),
		cmocka_unit_test(a_window_has_2_gib_at_most),
		cmocka_unit_test(a_cancelled_batch_does_not_lose_the_fence),
		cmocka_unit_test(a_cancelled_batch_without_the_fence_adds_none),
		cmocka_unit_test(a_cancelled_request_on_a_key_keeps_the_fence),
		cmocka_unit_test(requests_on_keys_in_one_batch_wait_for_each_other),
		cmocka_unit_test(what_a_binding_must_not_be),
		cmocka_unit_test(a_region_that_windows_cannot_be_bound_to),
		cmocka_unit_test(requests_on_keys_have_the_limits_of_others),
		cmocka_unit_test(alone_and_in_a_list_they_are_the_same),
		cmocka_unit_test(what_the_kernel_knows_as_one_domain_is_one),
		cmocka_unit_test(a_window_of_type_1_is_bound_by_a_verb_of_its_own),
		cmocka_unit_test(a_window_that_is_not_bound_keeps_its_key),
		cmocka_unit_test(a_window_of_another_context_is_looked_at),
		cmocka_unit_test(requests_on_keys_are_the_same_by_each_way),
		cmocka_unit_test(a_window_has_the_rights_that_were_asked_for),
		cmocka_unit_test(no_window_has_rights_that_nobody_knows),
		cmocka_unit_test(the_completion_says_which_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
