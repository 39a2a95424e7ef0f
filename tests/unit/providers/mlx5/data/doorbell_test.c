/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell_test.c - QPs that share a doorbell register: they write its halves in turn, whichever
 * QP posts by whichever call, and do not wait for a register that another thread is writing.
 *
 * Covers: providers/mlx5/data/doorbell.c
 */
#include "rig.h"

#include <endian.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/ah/ah.h"
#include "util/bits.h"

#define ADDR    0x00007fab01020304u
#define PAYLOAD " 00000100 0c0ffee0 00007fab 01020304"

enum { HALF = 0x100, FIRST = PRM_UAR_SQ, SECOND = PRM_UAR_SQ + 2 * HALF };

/* Two QPs on one page of registers. */
struct sharers {
	uint8_t *page;
	size_t page_size; /* the host's */
	struct mlx5_bfreg bfreg;
	struct rig *rig[2];
};

static struct ibv_context context = { .ops.post_send = mlx5_post_send };
static struct ibv_pd pd;

static struct sharers *sharers_new(enum bfreg_use use, enum ibv_qp_type type)
{
	struct sharers *s = aligned_alloc(64, align_up(sizeof(*s), 64));

	assert_non_null(s);
	memset(s, 0, sizeof(*s));
	s->page_size = max_of((size_t)sysconf(_SC_PAGESIZE), (size_t)RIG_PAGE);
	s->page = aligned_alloc(s->page_size, s->page_size);
	assert_non_null(s->page);
	s->bfreg.use = use;
	s->bfreg.pushes = true;
	s->bfreg.half = s->page + (use == BFREG_SHARED ? SECOND : FIRST);
	s->bfreg.reg = s->page + FIRST;
	qlock_init(&s->bfreg.lock, true);
	for (int i = 0; i < 2; i++) {
		s->rig[i] = rig_new(&(struct rig_options){
			.bfreg = &s->bfreg,
			.bf_max = HALF,
			.type = type,
			.sq_wqebbs = 64,
			.max_inline = 200,
			.single_threaded = use == BFREG_DOMAIN,
		});
		s->rig[i]->qp->vqp.qp.context = &context;
		s->rig[i]->qp->vqp.qp.pd = &pd;
		s->rig[i]->qp->vqp.qp.qp_num = RIG_QPN + (unsigned int)i;
		s->rig[i]->qp->sq.qpn_shifted = (RIG_QPN + (unsigned int)i) << 8;
	}
	return s;
}

static void sharers_free(struct sharers *s)
{
	rig_free(s->rig[0]);
	rig_free(s->rig[1]);
	free(s->page);
	free(s);
}

/* Ways to post: one request, short enough for BlueFlame, or two, which only ring */
enum way {
	BY_POST,
	BY_INLINE,
	BY_EMPTY_SGES,
	BY_BATCH,
	BY_BIND,
	WAYS,
	BY_LIST = WAYS,
	BY_LONG_BATCH,
	ALL_WAYS
};

static void fill_wr(struct ibv_send_wr *wr, struct ibv_sge *sge, enum way way)
{
	static struct mlx5_ah ah;

	*wr = (struct ibv_send_wr){ .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	wr->wr.ud.ah = &ah.ah;
	wr->send_flags = IBV_SEND_SIGNALED | (way == BY_INLINE ? IBV_SEND_INLINE : 0);
}

static void post_by_batch(struct rig *rig, int n)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	ibv_wr_start(qpx);
	for (int i = 0; i < n; i++) {
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, 0x0c0ffee0, ADDR, 0x100);
	}
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

static void bind_window(struct rig *rig)
{
	struct verbs_mr region = { .mr.pd = &pd };
	struct ibv_mw mw = { .context = &context, .pd = &pd, .type = IBV_MW_TYPE_1 };
	struct ibv_mw_bind bind = { .bind_info = { &region.mr, ADDR, 0x100, 0 } };

	assert_int_equal(mlx5_bind_mw(&rig->qp->vqp.qp, &mw, &bind), 0);
}

static void request_post(struct rig *rig, enum way way)
{
	static uint8_t bytes[16] = "fifteen letters";
	struct ibv_sge sge = { ADDR, 0x100, 0x0c0ffee0 };
	struct ibv_sge inline_sges[] = { { (uintptr_t)bytes, 8, 0 }, { (uintptr_t)bytes, 8, 0 } };
	struct ibv_send_wr wr, second, *bad;

	if (way == BY_BATCH || way == BY_LONG_BATCH)
		return post_by_batch(rig, way == BY_BATCH ? 1 : 2);
	if (way == BY_BIND)
		return bind_window(rig);
	fill_wr(&wr, way == BY_INLINE ? inline_sges : &sge, way);
	fill_wr(&second, &sge, BY_POST);
	wr.num_sge = way == BY_EMPTY_SGES ? 0 : 1;
	if (way == BY_INLINE) /* two pieces, as the fast path takes one */
		wr.num_sge = 2;
	if (way == BY_LIST)
		wr.next = &second;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
}

/* Returns the offset of the only write in the page, or 0. */
static unsigned int place_of_write(const uint8_t *page)
{
	unsigned int place = 0;

	for (unsigned int at = FIRST; at < FIRST + 4 * HALF; at += HALF) {
		static const uint8_t nothing[HALF];

		if (!memcmp(page + at, nothing, HALF))
			continue;
		assert_int_equal(place, 0);
		place = at;
	}
	return place;
}

static bool is_pushed(const uint8_t *page, unsigned int at)
{
	static const uint8_t nothing[HALF - 8];

	return memcmp(page + at + 8, nothing, sizeof(nothing)) != 0;
}

static unsigned int post_at(struct sharers *s, struct rig *rig, enum way way, bool *pushed)
{
	unsigned int at;

	memset(s->page, 0, RIG_PAGE);
	request_post(rig, way);
	at = place_of_write(s->page);
	assert_int_not_equal(at, 0);
	*pushed = is_pushed(s->page, at);
	return at;
}

/* In a thread domain, doorbells and BlueFlame writes share one register and alternate its halves,
 * as no other thread writes it. */
static void halves_take_turns_in_a_domain(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_SEND };
	unsigned int turn;
	bool pushed;

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		struct sharers *s = sharers_new(BFREG_DOMAIN, types[t]);
		int ways = types[t] == IBV_QPT_RC ? ALL_WAYS : BY_BATCH;

		turn = 0;
		for (int way = 0; way < ways; way++) {
			for (int i = 0; i < 4; i++, turn ^= HALF) {
				assert_int_equal(post_at(s, s->rig[i % 2], way, &pushed),
						 FIRST + turn);
				assert_int_equal(pushed, way < WAYS);
			}
		}
		sharers_free(s);
	}
}

/* Without a thread domain, BlueFlame writes alternate the halves of the page's second register,
 * under its lock. Plain doorbells use the first, so they do not count. */
static void halves_take_turns_under_the_lock(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_SEND };
	bool pushed;

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		struct sharers *s = sharers_new(BFREG_SHARED, types[t]);
		int ways = types[t] == IBV_QPT_RC ? ALL_WAYS : BY_BATCH;
		unsigned int turn = 0;

		for (int i = 0; i < 6 * ways; i++) {
			enum way way = (enum way)(i % ways);
			unsigned int at = post_at(s, s->rig[i / 2 % 2], way, &pushed);

			assert_int_equal(at, way < WAYS ? SECOND + turn : FIRST);
			assert_int_equal(pushed, way < WAYS);
			assert_int_equal(s->bfreg.lock.taken, 0);
			turn ^= way < WAYS ? HALF : 0;
		}
		sharers_free(s);
	}
}

static void a_push_is_the_whole_request(void **state)
{
	struct sharers *s = sharers_new(BFREG_SHARED, IBV_QPT_RC);
	bool pushed;

	(void)state;
	assert_int_equal(post_at(s, s->rig[1], BY_POST, &pushed), SECOND);
	check_bytes(s->page + SECOND, "0000000a 12345702 00000008 00000000" PAYLOAD);
	assert_int_equal(rig_dbrec(s->rig[1], MLX5_SND_DBR), 1);
	sharers_free(s);
}

/* The lock's holder may have been preempted, so a post rings another register instead of
 * waiting. */
static void a_register_that_is_taken_is_not_waited_for(void **state)
{
	struct sharers *s = sharers_new(BFREG_SHARED, IBV_QPT_RC);
	uint8_t *half = s->bfreg.half;
	bool pushed;

	(void)state;
	qlock_take(&s->bfreg.lock);
	for (int way = 0; way < ALL_WAYS; way++) {
		assert_int_equal(post_at(s, s->rig[way % 2], (enum way)way, &pushed), FIRST);
		assert_false(pushed);
	}
	assert_ptr_equal(s->bfreg.half, half);
	qlock_drop(&s->bfreg.lock);
	assert_int_equal(post_at(s, s->rig[0], BY_POST, &pushed), SECOND);
	assert_true(pushed);
	sharers_free(s);
}

static struct {
	struct sharers *sharers;
	unsigned int count, at;
	bool pushed;
} interruption;

static void post_by_the_other(int signal)
{
	struct sharers *s = interruption.sharers;

	(void)signal;
	interruption.count++;
	assert_int_equal(mprotect(s->page, s->page_size, PROT_READ | PROT_WRITE), 0);
	interruption.at = post_at(s, s->rig[1], BY_POST, &interruption.pushed);
	memset(s->page, 0, RIG_PAGE);
}

/* Interrupts the first store to the register, so that the other QP posts in between. */
static void nobody_else_pushes_meanwhile(void **state)
{
	const struct sigaction action = { .sa_handler = post_by_the_other };
	struct sigaction before;

	(void)state;
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	for (int way = 0; way < WAYS; way++) {
		struct sharers *s = sharers_new(BFREG_SHARED, IBV_QPT_RC);

		interruption.sharers = s;
		interruption.count = 0;
		assert_int_equal(mprotect(s->page, s->page_size, PROT_NONE), 0);
		request_post(s->rig[0], (enum way)way);
		assert_int_equal(interruption.count, 1);
		assert_int_equal(interruption.at, FIRST);
		assert_false(interruption.pushed);
		assert_int_equal(place_of_write(s->page), SECOND);
		assert_true(is_pushed(s->page, SECOND));
		sharers_free(s);
	}
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

/* A request longer than a half is rung, as a push has room for one half. */
static void a_long_request_is_rung(void **state)
{
	struct sharers *s = sharers_new(BFREG_SHARED, IBV_QPT_RC);
	uint8_t bytes[200] = { 1 };
	struct ibv_sge sge = { (uintptr_t)bytes, sizeof(bytes), 0 };
	struct ibv_send_wr wr, *bad;

	(void)state;
	fill_wr(&wr, &sge, BY_INLINE);
	for (int i = 0; i < 2; i++)
		s->rig[i]->qp->sq.db.push[PUSH_INLINE] = 3;
	memset(s->page, 0, RIG_PAGE);
	assert_int_equal(mlx5_post_send(&s->rig[0]->qp->vqp.qp, &wr, &bad), 0);
	assert_int_equal(place_of_write(s->page), FIRST);
	sharers_free(s);
}

enum { ROUNDS = 20000 };

static void *post_again_and_again(void *arg)
{
	struct rig *rig = arg;

	for (int i = 0; i < ROUNDS; i++) {
		rig->qp->sq.wq.tail = rig->qp->sq.wq.head;
		rig->qp->sq.wq.limit = rig->qp->sq.wq.head + rig->qp->sq.wq.max_post;
		request_post(rig, (enum way)(i % ALL_WAYS));
	}
	return NULL;
}

/* After all threads have posted, each half holds one whole request. Torn writes are too rare to
 * prove the lock (nobody_else_pushes_meanwhile does so), but ThreadSanitizer sees the race here. */
static void threads_leave_whole_requests(void **state)
{
	struct sharers *s = sharers_new(BFREG_SHARED, IBV_QPT_RC);
	pthread_t threads[2];

	(void)state;
	memset(s->page, 0, RIG_PAGE);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_again_and_again, s->rig[i]),
				 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int at = SECOND; at < SECOND + 2 * HALF; at += HALF) {
		uint32_t qpn_ds = be32toh(*(__be32 *)(s->page + at + 4));
		struct rig *rig = s->rig[(qpn_ds >> 8) - RIG_QPN];
		uint32_t index = be32toh(*(__be32 *)(s->page + at)) >> 8;

		assert_int_equal(s->bfreg.lock.taken, 0);
		/* Older requests are overwritten by now. */
		if (rig->qp->sq.pi - index < 60)
			assert_memory_equal(s->page + at, rig_sq(rig, index),
					    (qpn_ds & 0x3f) * WQE_SEG);
	}
	sharers_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halves_take_turns_in_a_domain),
		cmocka_unit_test(halves_take_turns_under_the_lock),
		cmocka_unit_test(a_push_is_the_whole_request),
		cmocka_unit_test(a_register_that_is_taken_is_not_waited_for),
		cmocka_unit_test(nobody_else_pushes_meanwhile),
		cmocka_unit_test(a_long_request_is_rung),
		cmocka_unit_test(threads_leave_whole_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
