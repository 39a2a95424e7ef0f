/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq_test.c - ibv_poll_cq() on completions of changing kinds: neither results nor stack use
 * depend on the number polled at once.
 *
 * One build of this test has a data path without optimisation, where a call is a call.
 *
 * Covers: providers/mlx5/data/cq/poll_cq.c, providers/mlx5/data/cq/poll.h
 */
#include "providers/mlx5/data/cq/poll.h"
#include "rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "util/bits.h"

#define MAX_COMPLETIONS 4096u
#define OTHER_RSN       0x123u

enum { FLUSHED = 0x100, FLUSHED_RECEIVE = MLX5_CQE_RESP_ERR | FLUSHED };

/* Two QPs on the CQ of the first */
struct pair {
	struct rig *rig, *other;
	unsigned int sends[2]; /* posted on each */
};

static struct pair pair_new(void)
{
	const struct rig_options options = { .sq_wqebbs = MAX_COMPLETIONS,
					     .rq_wqes = MAX_COMPLETIONS,
					     .cqes = MAX_COMPLETIONS };
	struct pair pair = { .rig = rig_new(&options), .other = rig_new(&options) };

	pair.other->qp->rq.rsn = OTHER_RSN;
	assert_int_equal(provider_id_set(pair.rig->ids, OTHER_RSN, &pair.other->qp->rq), 0);
	return pair;
}

static void pair_free(struct pair *pair)
{
	rig_free(pair->rig);
	rig_free(pair->other);
}

static void complete_send(struct pair *pair, bool is_other, uint64_t wr_id, bool is_flushed)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 0x10, .lkey = 1 };
	struct ibv_send_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct rig *owner = is_other ? pair->other : pair->rig;

	assert_int_equal(mlx5_post_send(&owner->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(pair->rig,
		     &(struct rig_cqe){ .opcode = is_flushed ? MLX5_CQE_REQ_ERR : MLX5_CQE_REQ,
					.syndrome = MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
					.send_opcode = MLX5_OPCODE_SEND,
					.wqe_counter = (uint16_t)pair->sends[is_other]++,
					.rsn = is_other ? OTHER_RSN : 0 });
}

static void complete_receive(struct pair *pair, bool is_other, uint64_t wr_id, unsigned int opcode,
			     const void *payload)
{
	static uint8_t buffer[32];
	struct ibv_sge sge = { .addr = (uintptr_t)buffer, .length = sizeof(buffer), .lkey = 1 };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct rig *owner = is_other ? pair->other : pair->rig;

	assert_int_equal(mlx5_post_recv(&owner->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(pair->rig,
		     &(struct rig_cqe){
			     .opcode = opcode & ~FLUSHED,
			     .syndrome = opcode & FLUSHED ? MLX5_CQE_SYNDROME_WR_FLUSH_ERR : 0,
			     .byte_cnt = sizeof(buffer),
			     .imm = htobe32(0x01020304),
			     .flags_rqpn = 0x13000042,
			     .rsn = is_other ? OTHER_RSN : 0,
			     .payload = payload });
}

/* Adds a completion; KIND is a letter, a capital for the other QP. */
static void pair_complete(struct pair *pair, char kind, uint64_t wr_id)
{
	static const uint8_t payload[32] = { 1, 2, 3 };
	bool is_other = kind < 'a';

	switch (kind | 0x20) {
	case 's':
		complete_send(pair, is_other, wr_id, false);
		break;
	case 'f':
		complete_send(pair, is_other, wr_id, true);
		break;
	case 'g':
		complete_receive(pair, is_other, wr_id, FLUSHED_RECEIVE, NULL);
		break;
	case 'r':
		complete_receive(pair, is_other, wr_id, MLX5_CQE_RESP_SEND, NULL);
		break;
	case 'p': /* payload inside the CQE */
		complete_receive(pair, is_other, wr_id, MLX5_CQE_RESP_SEND, payload);
		break;
	case 'i':
		complete_receive(pair, is_other, wr_id, MLX5_CQE_RESP_SEND_IMM, NULL);
		break;
	default:
		complete_receive(pair, is_other, wr_id, MLX5_CQE_RESP_ERR, NULL);
	}
}

static void poll_by(const char *kinds, unsigned int count, int at_once, struct ibv_wc *wc)
{
	struct pair pair = pair_new();
	unsigned int got = 0;

	for (unsigned int i = 0; i < count; i++)
		pair_complete(&pair, kinds[i % strlen(kinds)], i);
	memset(wc, 0, count * sizeof(*wc)); /* cleared, as padding may differ */
	while (got < count) {
		int n = mlx5_poll_cq(&pair.rig->cq->vcq.cq, at_once, wc + got);

		assert_in_range(n, 1, at_once);
		got += (unsigned int)n;
	}
	assert_int_equal(be32toh(pair.rig->cq->dbrec[0]), count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(wc[i].wr_id, i);
	pair_free(&pair);
}

static void check_statuses(const char *kinds, const struct ibv_wc *wc, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		char kind = (char)(kinds[i % strlen(kinds)] | 0x20);

		if (kind == 'f' || kind == 'g') {
			assert_int_equal(wc[i].status, IBV_WC_WR_FLUSH_ERR);
			assert_int_equal(wc[i].opcode, kind == 'f' ? IBV_WC_SEND : IBV_WC_RECV);
			assert_int_not_equal(wc[i].qp_num, 0);
		} else {
			assert_int_equal(wc[i].status == IBV_WC_SUCCESS, kind != 'e');
		}
	}
}

static void many_at_once_are_what_each_is_alone(void **state)
{
	static const char *const patterns[] = {
		"s",         "sr",          "srpi", "rRpP",  "sS",     "sRiSp", "ssssrrrr",
		"sresrpepi", "SrRsePpeEiI", "f",    "fg",    "fGFg",   "sfrg",  "ggggffff",
		"sFePgrfE",  "rR",          "pP",   "sSsfS", "sSrsSR",
	};
	static const int sizes[] = { 2, 3, 16, 64 };
	enum { COUNT = 60 };
	struct ibv_wc alone[COUNT], wc[COUNT + 64];

	(void)state;
	for (unsigned int p = 0; p < ARRAY_SIZE(patterns); p++) {
		poll_by(patterns[p], COUNT, 1, alone);
		check_statuses(patterns[p], alone, COUNT);
		for (unsigned int s = 0; s < ARRAY_SIZE(sizes); s++) {
			poll_by(patterns[p], COUNT, sizes[s], wc);
			assert_memory_equal(wc, alone, sizeof(alone));
		}
	}
}

/* Says in the last CQE that the checksums of its frame are right. */
static void cqe_has_checksums(struct rig *rig)
{
	const size_t size = (size_t)1 << rig->cq->entry_log;
	const uint32_t mask = (1u << rig->cq->count_log) - 1;
	uint8_t *end = (uint8_t *)rig->cq->buf.addr + ((rig->cq_pi - 1) & mask) * size + size;
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)(end - sizeof(*cqe));

	cqe->hds_ip_ext = MLX5_CQE_L3_OK | MLX5_CQE_L4_OK;
	cqe->l4_hdr_type_etc = MLX5_CQE_L3_HDR_TYPE_IPV4 << 2;
}

/* Polls messages of two queues in turn, of which only the other one, of kind SPECIAL, reports
 * checksums. */
static void poll_checksums(enum rq_special special)
{
	static const char kinds[] = "rRrRRrrsRSr";
	enum { COUNT = sizeof(kinds) - 1 };

	for (int at_once = 1; at_once <= COUNT; at_once++) {
		struct pair pair = pair_new();
		struct ibv_wc wc[COUNT];

		pair.other->qp->rq.special = special;
		pair.other->qp->rq.checksums = true;
		for (unsigned int i = 0; i < COUNT; i++) {
			pair_complete(&pair, kinds[i], i);
			cqe_has_checksums(pair.rig);
		}
		for (int got = 0, n; got < COUNT; got += n) {
			n = mlx5_poll_cq(&pair.rig->cq->vcq.cq, min_of(at_once, COUNT - got),
					 wc + got);
			assert_in_range(n, 1, COUNT - got);
		}
		for (unsigned int i = 0; i < COUNT; i++) {
			assert_int_equal(wc[i].wr_id, i);
			assert_int_equal(wc[i].wc_flags & IBV_WC_IP_CSUM_OK,
					 kinds[i] == 'R' ? IBV_WC_IP_CSUM_OK : 0);
		}
		pair_free(&pair);
	}
}

static void each_queue_of_a_cq_keeps_its_own_loop(void **state)
{
	(void)state;
	poll_checksums(RQ_CHECKED);
	poll_checksums(RQ_OTHER);
}

/* Four QPs on the CQ of the first. The last two receive from an SRQ each. */
enum { QPS = 4, PLAIN_QPS = 2, TURN_WQES = 16 };

struct turns {
	struct rig *rig[QPS];
	struct mlx5_srq srq[QPS]; /* of the last two */
	uint8_t ring[QPS][TURN_WQES << 6];
	uint64_t wr_ids[QPS][TURN_WQES];
	__be32 dbrec[QPS][2];
	uint8_t buffer[QPS][TURN_WQES][32];
	unsigned int posted[QPS], completed[QPS];
};

static void srq_set_up(struct turns *turns, unsigned int i)
{
	struct mlx5_srq *srq = &turns->srq[i];
	struct mlx5_rq *rq = &turns->rig[i]->qp->rq;

	srq->ring = turns->ring[i];
	srq->wr_ids = turns->wr_ids[i];
	srq->stride_log = 6;
	srq->max_sge = 3;
	srq->wqes = TURN_WQES;
	srq->max_wr = TURN_WQES - 1;
	srq->dbrec = turns->dbrec[i];
	srq->post = mlx5_post_srq_routine(srq->max_sge, true);
	qlock_init(&srq->lock, true);
	assert_int_equal(mlx5_srq_ring_init(srq), 0);
	rq->srq = srq;
	rq->special = RQ_SHARED;
}

static struct turns *turns_new(void)
{
	const struct rig_options options = { .rq_wqes = TURN_WQES, .cqes = 4 * TURN_WQES };
	struct turns *turns = calloc(1, sizeof(*turns));

	assert_non_null(turns);
	for (unsigned int i = 0; i < QPS; i++) {
		struct mlx5_rq *rq;

		turns->rig[i] = rig_new(&options);
		rq = &turns->rig[i]->qp->rq;
		rq->rsn = OTHER_RSN + i;
		assert_int_equal(provider_id_set(turns->rig[0]->ids, rq->rsn, rq), 0);
		if (i >= PLAIN_QPS)
			srq_set_up(turns, i);
	}
	return turns;
}

static void turns_free(struct turns *turns)
{
	for (unsigned int i = 0; i < QPS; i++) {
		if (i >= PLAIN_QPS)
			mlx5_srq_ring_free(&turns->srq[i]);
		rig_free(turns->rig[i]);
	}
	free(turns);
}

/* The wr_id tells the QP and the number of the request. */
static uint64_t turn_id(unsigned int qp, unsigned int wqe)
{
	return (uint64_t)(qp + 1) << 32 | wqe;
}

static void turn_post(struct turns *turns, unsigned int qp)
{
	unsigned int wqe = turns->posted[qp]++;
	struct ibv_sge sge = { .addr = (uintptr_t)turns->buffer[qp][wqe], .length = 32 };
	struct ibv_recv_wr wr = { .wr_id = turn_id(qp, wqe), .sg_list = &sge, .num_sge = 1 }, *bad;

	assert_in_range(wqe, 0, TURN_WQES - 2);
	if (qp < PLAIN_QPS)
		assert_int_equal(mlx5_post_recv(&turns->rig[qp]->qp->vqp.qp, &wr, &bad), 0);
	else
		assert_int_equal(mlx5_post_srq_recv(&turns->srq[qp].vsrq.srq, &wr, &bad), 0);
}

/* A message takes the oldest request of the QP, or the newest of its SRQ. Returns its number. */
static unsigned int turn_complete(struct turns *turns, unsigned int qp, bool is_inline)
{
	unsigned int done = turns->completed[qp]++;
	unsigned int wqe = qp < PLAIN_QPS ? done : turns->posted[qp] - 1 - done;
	uint8_t payload[32] = { (uint8_t)(qp + 1), (uint8_t)wqe };

	rig_complete(turns->rig[0], &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
						       .wqe_counter = (uint16_t)wqe,
						       .byte_cnt = sizeof(payload),
						       .rsn = turns->rig[qp]->qp->rq.rsn,
						       .payload = is_inline ? payload : NULL });
	return wqe;
}

static void turns_poll(struct turns *turns, struct ibv_wc *wc, unsigned int count, int at_once)
{
	for (unsigned int got = 0; got < count;) {
		int n = mlx5_poll_cq(&turns->rig[0]->cq->vcq.cq,
				     min_of(at_once, (int)(count - got)), wc + got);

		assert_in_range(n, 1, count - got);
		got += (unsigned int)n;
	}
}

/* Checks the messages of QPS, whose digits are numbers of QPs, and letters with the payload in the
 * CQE: a for QP 0. */
static void take_turns(const char *qps, int at_once)
{
	struct turns *turns = turns_new();
	const unsigned int count = (unsigned int)strlen(qps);
	unsigned int qp[32], wqe[32];
	struct ibv_wc wc[32];

	assert_in_range(count, 1, ARRAY_SIZE(wc));
	for (unsigned int i = 0; i < count; i++) {
		qp[i] = (unsigned int)(qps[i] - (qps[i] < 'a' ? '0' : 'a'));
		turn_post(turns, qp[i]);
	}
	for (unsigned int i = 0; i < count; i++)
		wqe[i] = turn_complete(turns, qp[i], qps[i] >= 'a');
	turns_poll(turns, wc, count, at_once);
	for (unsigned int i = 0; i < count; i++) {
		const uint8_t *got = turns->buffer[qp[i]][wqe[i]];

		assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
		assert_int_equal(wc[i].wr_id, turn_id(qp[i], wqe[i]));
		assert_int_equal(got[0], qps[i] < 'a' ? 0 : qp[i] + 1);
		assert_int_equal(got[1], qps[i] < 'a' ? 0 : wqe[i]);
	}
	turns_free(turns);
}

static void queues_and_srqs_take_turns(void **state)
{
	static const char *const patterns[] = {
		"0123012301230123", "0202202002", "222333233223", "001122332211001", "acacca",
		"cdcddccd",         "abcdabcd",   "2c3d2c3d",     "0a2c0c2a13bd",    "200022232",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(patterns); i++)
		for (int at_once = 1; at_once <= 16; at_once++)
			take_turns(patterns[i], at_once);
}

/* Another queue has the index of the destroyed one, from which the last messages were. */
static void an_index_is_used_again(unsigned int old, unsigned int new, bool is_inline)
{
	struct turns *turns = turns_new();
	struct mlx5_rq *gone = &turns->rig[old]->qp->rq, *heir = &turns->rig[new]->qp->rq;
	struct id_lookup *ids = turns->rig[0]->ids;
	unsigned int wqe[4];
	struct ibv_wc wc[4];

	for (unsigned int i = 0; i < 8; i++)
		turn_post(turns, i < 4 ? old : new);
	for (unsigned int i = 0; i < 4; i++)
		turn_complete(turns, old, is_inline);
	turns_poll(turns, wc, 3, 1); /* one is not polled any more */
	mlx5_cq_clean(turns->rig[0]->cq, gone);
	provider_id_clear(ids, gone->rsn);
	provider_id_clear(ids, heir->rsn);
	heir->rsn = gone->rsn;
	assert_int_equal(provider_id_set(ids, heir->rsn, heir), 0);
	for (unsigned int i = 0; i < 4; i++)
		wqe[i] = turn_complete(turns, new, is_inline);
	turns_poll(turns, wc, 4, 2);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(wc[i].wr_id, turn_id(new, wqe[i]));
		assert_int_equal(turns->buffer[new][wqe[i]][0], is_inline ? new + 1 : 0);
	}
	turns_free(turns);
}

static void the_heir_of_an_index_is_of_any_kind(void **state)
{
	(void)state;
	for (unsigned int old = 0; old < QPS; old++)
		for (unsigned int new = 0; new < QPS; new ++)
			for (unsigned int is_inline = 0; old != new &&is_inline < 2; is_inline++)
				an_index_is_used_again(old, new, is_inline);
}

/* The CQE of a wrong signature names no queue. Here it comes after a flush of a queue that is gone,
 * whose memory cannot be read any more. */
static void a_destroyed_queue_is_not_read(void **state)
{
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx)); /* without signature keys */
	const struct rig_cqe wrong = { .opcode = MLX5_CQE_SIG_ERR, .rsn = OTHER_RSN };
	struct mlx5_qp *qp =
		mmap(NULL, sizeof(*qp), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_non_null(ctx);
	assert_ptr_not_equal(qp, MAP_FAILED);
	for (int at_once = 1; at_once <= 2; at_once++) {
		struct pair pair = pair_new();
		struct mlx5_cq *cq = pair.rig->cq;
		struct ibv_wc wc[2];

		cq->vcq.cq.context = &ctx->vctx.context;
		assert_int_equal(mprotect(qp, sizeof(*qp), PROT_READ | PROT_WRITE), 0);
		pair_complete(&pair, 'G', 7);
		memcpy(qp, pair.other->qp, sizeof(*qp));
		provider_id_clear(pair.rig->ids, OTHER_RSN);
		assert_int_equal(provider_id_set(pair.rig->ids, OTHER_RSN, &qp->rq), 0);
		assert_int_equal(mlx5_poll_cq(&cq->vcq.cq, at_once, wc), 1);
		assert_int_equal(wc[0].wr_id, 7);
		mlx5_cq_clean(cq, &qp->rq);
		provider_id_clear(pair.rig->ids, OTHER_RSN);
		assert_int_equal(mprotect(qp, sizeof(*qp), PROT_NONE), 0);
		rig_complete(pair.rig, &wrong);
		assert_int_equal(mlx5_poll_cq(&cq->vcq.cq, at_once, wc), 0);
		pair_free(&pair);
	}
	munmap(qp, sizeof(*qp));
	free(ctx);
}

#define STACK_SIZE (8u << 20)
#define STACK_FILL 0xa5
/* A sanitizer uses some bytes of the stack. A nested call for each completion would use 16 bytes
 * each, and so exceed this for MAX_COMPLETIONS. */
#define STACK_SLACK (16 * MAX_COMPLETIONS)

struct poll {
	struct ibv_cq *cq;
	int num_entries, found;
	struct ibv_wc *wc;
};

static void *poll_run(void *arg)
{
	struct poll *poll = arg;

	poll->found = mlx5_poll_cq(poll->cq, poll->num_entries, poll->wc);
	return NULL;
}

/* Returns the number of stack bytes of a thread that only polls. */
static size_t poll_measure(struct poll *poll, uint8_t *stack)
{
	pthread_attr_t attr;
	pthread_t thread;
	size_t untouched = 0;

	memset(stack, STACK_FILL, STACK_SIZE);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_SIZE), 0);
	assert_int_equal(pthread_create(&thread, &attr, poll_run, poll), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
	while (stack[untouched] == STACK_FILL)
		untouched++;
	return STACK_SIZE - untouched;
}

static size_t stack_of_poll(const char *kinds, unsigned int count, uint8_t *stack)
{
	static struct ibv_wc wc[MAX_COMPLETIONS];
	struct pair pair = pair_new();
	struct poll poll = { &pair.rig->cq->vcq.cq, (int)count, 0, wc };
	size_t used;

	for (unsigned int i = 0; i < count; i++)
		pair_complete(&pair, kinds[i % strlen(kinds)], i);
	used = poll_measure(&poll, stack);
	assert_int_equal(poll.found, count);
	pair_free(&pair);
	return used;
}

static void the_stack_does_not_grow_with_num_entries(void **state)
{
	static const char *const patterns[] = { "sr", "srpi", "rR", "sSpPiI", "fF", "sfgS" };
	uint8_t *stack = aligned_alloc(4096, STACK_SIZE);

	(void)state;
	assert_non_null(stack);
	/* Poll once first, since it may bind functions of the C library. */
	stack_of_poll("srpi", 16, stack);
	for (unsigned int p = 0; p < ARRAY_SIZE(patterns); p++) {
		size_t few = stack_of_poll(patterns[p], 16, stack);

		assert_in_range(stack_of_poll(patterns[p], MAX_COMPLETIONS, stack), 0,
				few + STACK_SLACK);
	}
	free(stack);
}

/* A resize would find a lock of a one-thread CQ taken for ever, so polls must not take it. */
static void a_second_look_takes_no_lock_of_a_cq_without(void **state)
{
	struct pair pair = pair_new();
	struct mlx5_cq *cq = pair.rig->cq;
	struct ibv_wc wc;

	(void)state;
	qlock_init(&cq->lock, false);
	cq->is_moving = true;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mlx5_poll_cq(&cq->vcq.cq, 1, &wc), 0);
		assert_int_equal(cq->lock.taken, 0);
	}
	cq->is_moving = false;
	pair_free(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_at_once_are_what_each_is_alone),
		cmocka_unit_test(each_queue_of_a_cq_keeps_its_own_loop),
		cmocka_unit_test(queues_and_srqs_take_turns),
		cmocka_unit_test(the_heir_of_an_index_is_of_any_kind),
		cmocka_unit_test(a_destroyed_queue_is_not_read),
		cmocka_unit_test(the_stack_does_not_grow_with_num_entries),
		cmocka_unit_test(a_second_look_takes_no_lock_of_a_cq_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
