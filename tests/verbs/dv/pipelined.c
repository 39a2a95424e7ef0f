/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pipelined.c - a queue that stops when a memory key finds a signature error, before the next
 * request with a fence: the event, the QP's state, the requests that
 * mlx5dv_qp_cancel_posted_send_wrs() cancels, and completions of all requests when the queue
 * continues or fails.
 *
 * Covers: providers/mlx5/data/mkey/sig.c, providers/mlx5/qp/dv.c, softhca/device/memory/sig.c
 */
#include <poll.h>
#include <string.h>

#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum { TRANSFER = 1, ANSWER = 7, OTHER = 8, LAST = 9, KEY = 20, INVALIDATION, ABSENT = 99 };
enum { RECEIVES = 8, LIMIT_MS = 20000 };

/* Two requests with the same wr_id follow the transfer; one of them is unsignaled. */
static const struct {
	uint64_t wr_id;
	unsigned int flags;
	uint32_t bytes;
} behind[] = {
	{ ANSWER, IBV_SEND_SIGNALED | IBV_SEND_FENCE, 16 },
	{ OTHER, IBV_SEND_SIGNALED, 24 },
	{ ANSWER, 0, 32 },
	{ LAST, IBV_SEND_SIGNALED, 40 },
};

static void pipelined_open(struct rig *rig, struct keys *keys)
{
	struct rig_conf conf = rig_conf_default();

	conf.cap.max_inline_data = 512;
	keys_open(rig, &conf, 4,
		  MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
			  MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
		  keys);
	keys->create_flags = MLX5DV_QP_CREATE_SIG_PIPELINING;
	keys_connect(keys, MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_MR_LIST);
	for (int i = 0; i < RECEIVES; i++) {
		struct ibv_sge sge = { (uintptr_t)keys_memory[1], KEYS_MEMORY, keys->mr[1]->lkey };
		struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad;

		MUST(!ibv_post_recv(keys->pair.end[1].qp, &recv, &bad));
	}
}

/* The key's memory has no signatures, so the first is wrong, unless the key looks at none. */
static void pipelined_post(struct keys *keys, const char *words)
{
	struct ibv_qp_ex *qpx = keys->qpx;

	ibv_wr_start(qpx);
	qpx->wr_id = 0;
	qpx->wr_flags = IBV_SEND_INLINE;
	keys_put(keys, words);
	qpx->wr_id = TRANSFER;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, keys->mkey->lkey, 0, 1024);
	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		qpx->wr_id = behind[i].wr_id;
		qpx->wr_flags = behind[i].flags;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, keys->mr[0]->lkey, (uintptr_t)keys_memory[0], behind[i].bytes);
	}
	SAY_RET(ibv_wr_complete(qpx), "%s", words);
}

static void say_event(const struct keys *keys)
{
	struct ibv_context *ctx = keys->pair.rig->ctx;
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	MUST(poll(&fd, 1, LIMIT_MS) == 1 && !ibv_get_async_event(ctx, &event));
	say("event %s, of this QP %d", ibv_event_type_str(event.event_type),
	    event.element.qp == &keys->qpx->qp_base);
	ibv_ack_async_event(&event);
}

static void say_state(const struct keys *keys)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(&keys->qpx->qp_base, &attr, IBV_QP_STATE, &init));
	say("the QP is in state %d", (int)attr.qp_state);
}

static void say_completions(const struct keys *keys, int count)
{
	struct ibv_wc wc;

	for (; count; count--) {
		MUST(rig_poll(keys->pair.end[0].cq, 1, &wc) == 1);
		say("request %llu: %s, opcode %d", (unsigned long long)wc.wr_id,
		    ibv_wc_status_str(wc.status), wc.status ? 0 : (int)wc.opcode);
	}
	say("%d more", ibv_poll_cq(keys->pair.end[0].cq, 1, &wc));
}

static void say_received(const struct keys *keys)
{
	struct ibv_wc wc;

	rig_settle();
	while (ibv_poll_cq(keys->pair.end[1].cq, 1, &wc) == 1)
		say("received: %s, %u bytes", ibv_wc_status_str(wc.status),
		    wc.status ? 0 : wc.byte_len);
}

static void say_cancelled(const struct keys *keys, uint64_t wr_id)
{
	int count = mlx5dv_qp_cancel_posted_send_wrs(keys->dvx, wr_id);

	say("cancel %llu: %d", (unsigned long long)wr_id, count);
	say_result(count < 0);
}

static void pipelined_stop(struct keys *keys)
{
	struct mlx5dv_mkey_err err = { 0 };

	pipelined_post(keys, "c3 a w1040 g100");
	say_event(keys);
	say_state(keys);
	say_completions(keys, 1);
	SAY_RET(mlx5dv_mkey_check(keys->mkey, &err), "mlx5dv_mkey_check");
	say("error %d", (int)err.err_type);
}

static void pipelined_go_on(struct keys *keys, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	SAY_RET(ibv_modify_qp(&keys->qpx->qp_base, &attr, IBV_QP_STATE), "to state %d", state);
	say_state(keys);
}

/* The queue stops, CANCELLED ones are taken back, and it goes on. */
static void stopped_case(struct rig *rig, const uint64_t *cancelled, size_t count)
{
	struct keys keys;

	pipelined_open(rig, &keys);
	say_cancelled(&keys, ANSWER);
	pipelined_stop(&keys);
	say_received(&keys);
	for (size_t i = 0; i < count; i++)
		say_cancelled(&keys, cancelled[i]);
	pipelined_go_on(&keys, IBV_QPS_RTS);
	say_completions(&keys, 3);
	say_received(&keys);
	say_cancelled(&keys, LAST);
	keys_close(&keys);
}

static void failed_case(struct rig *rig)
{
	struct keys keys;

	pipelined_open(rig, &keys);
	pipelined_stop(&keys);
	say_cancelled(&keys, ANSWER);
	pipelined_go_on(&keys, IBV_QPS_ERR);
	say_completions(&keys, 4);
	say_received(&keys);
	keys_close(&keys);
}

/* Without a wrong signature nothing stops. */
static void right_case(struct rig *rig)
{
	struct keys keys;

	pipelined_open(rig, &keys);
	pipelined_post(&keys, "c3 a w1024 g010");
	say_completions(&keys, 4);
	say_received(&keys);
	say_state(&keys);
	say_cancelled(&keys, ANSWER);
	keys_close(&keys);
}

/* Requests on keys that wait behind the fence */
static void keys_case_stopped(struct rig *rig)
{
	struct keys keys;

	pipelined_open(rig, &keys);
	pipelined_stop(&keys);
	ibv_wr_start(keys.qpx);
	keys.qpx->wr_id = KEY;
	keys.qpx->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	keys_put(&keys, "c3 a w1024 g010");
	keys.qpx->wr_id = INVALIDATION;
	keys.qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(keys.qpx, keys.mkey->lkey);
	SAY_RET(ibv_wr_complete(keys.qpx), "requests on keys");
	say_cancelled(&keys, INVALIDATION);
	say_cancelled(&keys, INVALIDATION);
	say_cancelled(&keys, KEY);
	say_cancelled(&keys, KEY);
	say_cancelled(&keys, ANSWER);
	pipelined_go_on(&keys, IBV_QPS_RTS);
	say_completions(&keys, 5);
	say_received(&keys);
	keys_close(&keys);
}

/* The queue stops at each signature error. */
static void twice_case(struct rig *rig)
{
	struct keys keys;

	pipelined_open(rig, &keys);
	for (int i = 0; i < 2; i++) {
		pipelined_stop(&keys);
		say_cancelled(&keys, ANSWER);
		pipelined_go_on(&keys, IBV_QPS_RTS);
		say_completions(&keys, 3);
		say_received(&keys);
	}
	keys_close(&keys);
}

void dv_pipelined(struct rig *rig)
{
	static const uint64_t nothing[] = { ABSENT, TRANSFER }, first[] = { ANSWER, ANSWER },
			      most[] = { ANSWER, OTHER, ABSENT }, last[] = { LAST };

	stopped_case(rig, nothing, ARRAY_SIZE(nothing));
	stopped_case(rig, first, ARRAY_SIZE(first));
	stopped_case(rig, most, ARRAY_SIZE(most));
	stopped_case(rig, last, ARRAY_SIZE(last));
	failed_case(rig);
	right_case(rig);
	keys_case_stopped(rig);
	twice_case(rig);
}
