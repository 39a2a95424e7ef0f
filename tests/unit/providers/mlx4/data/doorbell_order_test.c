/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell_order_test.c - states that an adapter could see during a post of receives: all WQEs
 * that the record counts are complete, and in a shared ring each has its link.
 *
 * Covers: providers/mlx4/data/doorbell.c, providers/mlx4/data/post_recv.c
 */
#include "rig.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx4/srq.h"
#include "util/bits.h"

enum { SGES = 3, LIST = 3 };

struct post {
	struct rig *rig;
	struct mlx4_srq *srq; /* NULL: the QP's own ring */
	struct ibv_recv_wr wr[LIST];
	struct ibv_sge sges[LIST][SGES];
	int ret;
};

static struct {
	const struct post *post;
	uint32_t counted; /* highest count of the record so far */
	const char *wrong;
} watch;

static const uint8_t *segments_of(const struct post *post, uint32_t n)
{
	return post->srq ? srq_wqe(post->srq, n) + M4_SEG
			 : post->rig->qp->rq.buf + ((size_t)n << post->rig->qp->rq.stride_log);
}

static bool has_segment(const uint8_t *segment, uint64_t addr, uint32_t length, uint32_t lkey)
{
	return fld_get(segment, M4_DATA_ADDR) == addr && fld_get(segment, M4_DATA_LEN) == length &&
	       fld_get(segment, M4_DATA_LKEY) == lkey;
}

static bool is_whole(const struct post *post, uint32_t n)
{
	const struct ibv_recv_wr *wr = &post->wr[n];
	const uint8_t *segment = segments_of(post, n);
	uint32_t most = post->srq ? post->srq->max_sge : post->rig->qp->rq.max_sge;

	for (int i = 0; i < wr->num_sge; i++, segment += M4_SEG)
		if (!has_segment(segment, wr->sg_list[i].addr, wr->sg_list[i].length,
				 wr->sg_list[i].lkey))
			return false;
	if ((uint32_t)wr->num_sge < most && !has_segment(segment, 0, 0, M4_TERMINATOR_LKEY))
		return false;
	return !post->srq || fld_get(srq_wqe(post->srq, n), M4_SRQ_NEXT) == n + 1;
}

static uint32_t count_of(const struct post *post)
{
	return be32toh(post->srq ? post->srq->dbrec[0] : post->rig->qp->rq.dbrec[0]);
}

static void look_at_record(void)
{
	uint32_t count = count_of(watch.post);

	if (count > LIST)
		watch.wrong = "the record counts more than was posted";
	for (uint32_t n = 0; n < count && n < LIST; n++)
		if (!is_whole(watch.post, n))
			watch.wrong = "the record is in front of its WQE";
	watch.counted = max_of(watch.counted, count);
}

static void post_it(void *arg)
{
	struct post *post = arg;
	struct ibv_recv_wr *bad;

	post->ret = post->srq ? mlx4_post_srq_recv(&post->srq->vsrq.srq, post->wr, &bad)
			      : mlx4_post_recv(&post->rig->qp->vqp.qp, post->wr, &bad);
}

static void post_fill(struct post *post, uint32_t count, uint32_t sges)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < sges; k++)
			post->sges[i][k] = (struct ibv_sge){ 0x1122334400000000 + i * 16 + k,
							     100 + i * 16 + k, 0x500 + i * 16 + k };
		post->wr[i] =
			(struct ibv_recv_wr){ .sg_list = post->sges[i],
					      .num_sge = (int)sges,
					      .next = i + 1 < count ? &post->wr[i + 1] : NULL };
	}
}

static struct mlx4_srq *new_srq(struct rig *rig, uint32_t sges)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 7, .max_sge = sges },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = &rig->pd.pd,
	};
	struct verbs_srq *vsrq;

	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &vsrq), 0);
	return to_msrq(&vsrq->srq);
}

/* Returns false if the CPU cannot single-step, so the test skips. */
static bool post_is_in_order(bool is_shared, uint32_t count, uint32_t sges)
{
	const struct rig_options options = { .recv_sge = sges, .recv_wr = 8 };
	struct rig *rig = rig_new(&options);
	struct post post = { .rig = rig, .srq = is_shared ? new_srq(rig, sges) : NULL, .ret = -1 };
	bool steps;

	post_fill(&post, count, sges);
	memset(&watch, 0, sizeof(watch));
	watch.post = &post;
	steps = steps_run(post_it, &post, look_at_record);
	assert_int_equal(post.ret, 0);
	assert_int_equal(count_of(&post), count);
	if (steps && watch.wrong)
		fail_msg("%u requests of %u buffers: %s", count, sges, watch.wrong);
	if (steps)
		assert_int_equal(watch.counted, count);
	if (is_shared)
		assert_int_equal(mlx4_srq_destroy(&post.srq->vsrq.srq), 0);
	rig_free(rig);
	return steps;
}

static void receives_are_wqe_record(void **state)
{
	(void)state;
	for (int is_shared = 0; is_shared < 2; is_shared++)
		for (uint32_t count = 1; count <= LIST; count++)
			for (uint32_t sges = 1; sges <= SGES; sges++)
				if (!post_is_in_order(is_shared, count, sges)) {
					printf("SKIP: there are no single steps here\n");
					fflush(stdout);
					_Exit(77);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receives_are_wqe_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
