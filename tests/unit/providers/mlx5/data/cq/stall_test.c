/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stall_test.c - MLX5_STALL_CQ_*: bounds and steps of the adaptive pause between polls, and polls
 * that last as long as the pause.
 *
 * Covers: providers/mlx5/env.c
 */
#include "rig.h"

#include <stdlib.h>
#include <time.h>

#include "prm/mlx5/wqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/cq/stall.h"

static struct mlx5_context context;

/* Values of the environment; NULL: unset */
struct stall_values {
	const char *min, *max, *longer, *less;
};

static void variable_set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static struct rig *stalled_rig(const struct stall_values *values)
{
	struct rig *rig = rig_new(NULL);

	variable_set("MLX5_STALL_CQ_POLL", "1");
	variable_set("MLX5_STALL_NUM_LOOP", "-1");
	variable_set("MLX5_STALL_CQ_POLL_MIN", values->min);
	variable_set("MLX5_STALL_CQ_POLL_MAX", values->max);
	variable_set("MLX5_STALL_CQ_INC_STEP", values->longer);
	variable_set("MLX5_STALL_CQ_DEC_STEP", values->less);
	mlx5_env_read(&context.env);
	rig->cq->vcq.cq.context = &context.vctx.context;
	mlx5_stall_wrap(rig->cq, &context.env.stall);
	return rig;
}

static void complete_send(struct rig *rig)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	const uint32_t index = rig->qp->sq.pi;

	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(rig, &(struct rig_cqe){ .send_opcode = MLX5_OPCODE_SEND,
					     .wqe_counter = (uint16_t)index });
}

static void poll_finds_nothing(struct rig *rig)
{
	struct ibv_wc wc;

	assert_int_equal(mlx5_stall_poll_cq(&rig->cq->vcq.cq, 1, &wc), 0);
}

static void poll_finds_some(struct rig *rig)
{
	struct ibv_wc wc[2];

	complete_send(rig);
	assert_int_equal(mlx5_stall_poll_cq(&rig->cq->vcq.cq, 2, wc), 1);
}

static void poll_finds_all(struct rig *rig)
{
	struct ibv_wc wc;

	complete_send(rig);
	assert_int_equal(mlx5_stall_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
}

static void the_pause_begins_at_its_least(void **state)
{
	struct rig *rig = stalled_rig(&(struct stall_values){ .min = "7" });

	(void)state;
	assert_int_equal(rig->cq->stall.cycles, 7);
	poll_finds_nothing(rig);
	assert_int_equal(rig->cq->stall.cycles, 7);
	rig_free(rig);
}

static void the_pause_grows_by_its_step_up_to_its_most(void **state)
{
	struct rig *rig =
		stalled_rig(&(struct stall_values){ .min = "10", .max = "40", .longer = "12" });

	(void)state;
	poll_finds_some(rig);
	assert_int_equal(rig->cq->stall.cycles, 22);
	poll_finds_some(rig);
	assert_int_equal(rig->cq->stall.cycles, 34);
	poll_finds_some(rig);
	assert_int_equal(rig->cq->stall.cycles, 40);
	rig_free(rig);
}

static void the_pause_shrinks_by_its_step_down_to_its_least(void **state)
{
	struct rig *rig =
		stalled_rig(&(struct stall_values){ .min = "10", .longer = "20", .less = "7" });

	(void)state;
	poll_finds_some(rig);
	assert_int_equal(rig->cq->stall.cycles, 30);
	poll_finds_nothing(rig);
	assert_int_equal(rig->cq->stall.cycles, 23);
	poll_finds_all(rig);
	assert_int_equal(rig->cq->stall.cycles, 16);
	poll_finds_nothing(rig);
	assert_int_equal(rig->cq->stall.cycles, 10);
	rig_free(rig);
}

static void without_values_the_pause_has_the_documented_ones(void **state)
{
	struct rig *rig = stalled_rig(&(struct stall_values){ 0 });

	(void)state;
	assert_int_equal(rig->cq->stall.cycles, 60);
	poll_finds_some(rig);
	assert_int_equal(rig->cq->stall.cycles, 160);
	poll_finds_nothing(rig);
	assert_int_equal(rig->cq->stall.cycles, 150);
	rig->cq->stall.cycles = 99990;
	poll_finds_some(rig);
	assert_int_equal(rig->cq->stall.cycles, 100000);
	rig_free(rig);
}

static uint64_t clock_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static void a_poll_waits_until_the_pause_is_over(void **state)
{
	struct rig *rig = stalled_rig(&(struct stall_values){ .min = "5000000", .max = "6000000" });
	uint64_t since;

	(void)state;
	poll_finds_nothing(rig); /* the first poll never pauses */
	since = rig->cq->stall.since;
	poll_finds_nothing(rig);
	assert_true(clock_now() - since >= 5000000);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pause_begins_at_its_least),
		cmocka_unit_test(the_pause_grows_by_its_step_up_to_its_most),
		cmocka_unit_test(the_pause_shrinks_by_its_step_down_to_its_least),
		cmocka_unit_test(without_values_the_pause_has_the_documented_ones),
		cmocka_unit_test(a_poll_waits_until_the_pause_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
