/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize_order_test.c - states that a lockless poller could see during a CQ resize: a ring
 * entry is always inside the ring's memory, the new index goes with the new ring, and the CQ never
 * looks empty, since a completion is pending throughout.
 *
 * Covers: providers/common/cq_resize.c, providers/common/cq_resize.h, providers/mlx4/cq_resize.c,
 * providers/mlx4/data/cq/cqe.h
 */
#include "rig.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "providers/mlx4/data/cq/cqe.h"
#include "util/bits.h"

static struct {
	struct rig *rig;
	const uint8_t *before;
	size_t entries;
	uint32_t ci;
	const char *wrong;
	bool has_changed;
} watch;

static size_t ring_entries(const struct mlx4_cq *cq)
{
	return cq->buf.size >> cq->entry_log;
}

/* Returns whether a poller that read the index at CI would find the CQ empty now. */
static bool looks_empty(const struct mlx4_cq *cq, uint32_t ci)
{
	const uint8_t last = cqe_last_at(cq, cqe_at(cq, ci), ci);

	return last & FLD_BITS(M4_CQE_OWNER) && cqe_is_none(cq, ci);
}

/* cq->buf has the new ring before the ring pointer changes, so the size of a new ring can be taken
 * from there. */
static void look_at_ring(void)
{
	const struct mlx4_cq *cq = watch.rig->cq;
	const bool is_new = cq->ring != watch.before;
	const size_t entries = is_new ? ring_entries(cq) : watch.entries;

	watch.has_changed |= is_new;
	if (cq->mask >= entries)
		watch.wrong = "the mask is of more entries than the ring has";
	if (cq->ci != watch.ci && (!is_new || cq->mask + 1 != 1u << cq->count_log))
		watch.wrong = "the index is in front of the ring, its mask or its laps";
	else if (looks_empty(cq, watch.ci) || looks_empty(cq, cq->ci))
		watch.wrong = "a poller says that the CQ is empty";
}

struct resize {
	struct ibv_cq *cq;
	int cqes, ret;
};

static void resize_cq(void *arg)
{
	struct resize *it = arg;

	it->ret = mlx4_cq_resize(it->cq, it->cqes);
}

/* Returns false if the CPU cannot single-step. */
static bool resize_is_in_order(struct rig *rig, int cqes)
{
	struct resize it = { &rig->cq->vcq.cq, cqes, -1 };
	const struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND };
	struct ibv_wc wc;
	bool steps;

	rig->cq_pi = rig->cq->ci;
	rig_complete(rig, &cqe);
	watch.rig = rig;
	watch.before = rig->cq->ring;
	watch.entries = ring_entries(rig->cq);
	watch.ci = rig->cq->ci;
	watch.wrong = NULL;
	watch.has_changed = false;
	steps = steps_run(resize_cq, &it, look_at_ring);
	assert_int_equal(it.ret, 0);
	if (steps && watch.wrong)
		fail_msg("to %d entries: %s", cqes, watch.wrong);
	if (steps)
		assert_true(watch.has_changed);
	assert_int_equal(mlx4_poll_cq(it.cq, 1, &wc), 1);
	return steps;
}

static void a_ring_comes_before_its_mask_and_its_index(void **state)
{
	static const int sizes[] = { 15, 3, 31 };
	struct rig *rig = rig_new(NULL);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!resize_is_in_order(rig, sizes[i])) {
			printf("SKIP: there are no single steps here\n");
			fflush(stdout);
			_Exit(77);
		}
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_comes_before_its_mask_and_its_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
