/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the checker says of the order of ibv_wr_*() calls, and that it passes each on.
 *
 * Covers: libibverbs/check/batches.c, libibverbs/check/pairs.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/check/check.h"

#include "tests/unit/libibverbs/fake_device.h"
#include "tests/unit/log_text.h"

#include <pthread.h>
#include <time.h>

static char calls[64];
static int result;
static bool is_cancelled_in; /* the provider has cancellation points */

static void call_note(char call)
{
	const size_t length = strlen(calls);

	if (is_cancelled_in)
		pthread_testcancel();
	if (length < sizeof(calls) - 1)
		calls[length] = call;
}

static void fake_start(struct ibv_qp_ex *qp)
{
	(void)qp;
	call_note('s');
}

static int fake_complete(struct ibv_qp_ex *qp)
{
	(void)qp;
	call_note('c');
	return result;
}

static void fake_abort(struct ibv_qp_ex *qp)
{
	(void)qp;
	call_note('a');
}

static void fake_send(struct ibv_qp_ex *qp)
{
	(void)qp;
	call_note('S');
}

static void fake_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	(void)qp;
	assert_true(imm == 1);
	call_note('I');
}

static void fake_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	(void)qp;
	assert_true(rkey == 2);
	call_note('V');
}

static void fake_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	(void)qp;
	assert_true(hdr == calls && hdr_sz == 3 && mss == 4);
	call_note('T');
}

static void fake_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	(void)qp;
	assert_true(rkey == 2 && addr == 5);
	call_note('w');
}

static void fake_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	(void)qp;
	assert_true(rkey == 2 && addr == 5 && imm == 1);
	call_note('W');
}

static void fake_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	(void)qp;
	assert_true(rkey == 2 && addr == 5);
	call_note('R');
}

static void fake_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr,
				uint64_t compare, uint64_t swap)
{
	(void)qp;
	assert_true(rkey == 2 && addr == 5 && compare == 6 && swap == 7);
	call_note('C');
}

static void fake_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	(void)qp;
	assert_true(rkey == 2 && addr == 5 && add == 8);
	call_note('F');
}

static void fake_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	(void)qp;
	(void)rkey;
	call_note('L');
}

static void fake_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	(void)qp;
	assert_int_equal(lkey, 1);
	assert_int_equal(addr, 2);
	assert_int_equal(length, 3);
	call_note('g');
}

static void fake_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	(void)qp;
	assert_non_null(ah);
	assert_int_equal(qpn, 5);
	assert_int_equal(qkey, 6);
	call_note('u');
}

static struct verbs_qp fake_qp;
static struct ibv_pd pd = { .handle = 7 };

static int create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		     struct verbs_qp **vqp)
{
	struct ibv_qp_ex *qp = &fake_qp.qp_ex;

	memset(&fake_qp, 0, sizeof(fake_qp));
	qp->qp_base = (struct ibv_qp){ .context = context, .pd = &pd, .qp_type = attr->qp_type };
	qp->wr_start = fake_start;
	qp->wr_complete = fake_complete;
	qp->wr_abort = fake_abort;
	qp->wr_send = fake_send;
	qp->wr_send_imm = fake_send_imm;
	qp->wr_send_inv = fake_send_inv;
	qp->wr_send_tso = fake_send_tso;
	qp->wr_rdma_write = fake_rdma_write;
	qp->wr_rdma_write_imm = fake_rdma_write_imm;
	qp->wr_rdma_read = fake_rdma_read;
	qp->wr_atomic_cmp_swp = fake_atomic_cmp_swp;
	qp->wr_atomic_fetch_add = fake_atomic_fetch_add;
	qp->wr_local_inv = fake_local_inv;
	qp->wr_set_sge = fake_set_sge;
	qp->wr_set_ud_addr = fake_set_ud_addr;
	fake_qp.ex = VERBS_QP_HAS_EX;
	*vqp = &fake_qp;
	return 0;
}

static int create_ah(struct ibv_pd *of, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	static struct ibv_ah handle;

	(void)attr;
	(void)of;
	*ah = &handle;
	return 0;
}

static int destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	return 0;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .create_qp = create_qp,
				       .destroy_qp = destroy_qp,
				       .create_ah = create_ah };
	struct fake_context *fake = fake_open();
	const struct verbs_ops *checks;

	/* reads the environment first, so it cannot do so in a test */
	verbs_log_on(VERBS_LOG_WARN);
	verbs_set_ops(&fake->vctx, &ops);
	checks = verbs_check_context(&fake->vctx);
	assert_non_null(checks);
	verbs_ops_replace(&fake->vctx, checks);
	memset(calls, 0, sizeof(calls));
	result = 0;
	log_text();
	*state = fake;
	return 0;
}

static int close_rig(void **state)
{
	struct fake_context *fake = *state;

	ibv_destroy_qp(&fake_qp.qp);
	fake_close(fake);
	return 0;
}

static struct ibv_qp_ex *new_qp_of(void **state, enum ibv_qp_type type, uint64_t operations)
{
	struct fake_context *fake = *state;
	struct ibv_qp_init_attr_ex attr = { .qp_type = type,
					    .comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					    .send_ops_flags = operations };

	assert_ptr_equal(ibv_create_qp_ex(&fake->vctx.context, &attr), &fake_qp.qp);
	return &fake_qp.qp_ex;
}

static struct ibv_qp_ex *new_qp(void **state, enum ibv_qp_type type)
{
	return new_qp_of(state, type, IBV_QP_EX_WITH_SEND);
}

#define SAYS_NOTHING() assert_string_equal(log_text(), "")

static void a_right_batch_passes_without_a_line(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);

	for (int i = 0; i < 2; i++) {
		ibv_wr_start(qp);
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, 1, 2, 3);
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, 1, 2, 3);
		assert_int_equal(ibv_wr_complete(qp), 0);
	}
	ibv_wr_start(qp);
	ibv_wr_abort(qp);
	assert_string_equal(calls, "sSgSgcsSgSgcsa");
	SAYS_NOTHING();
}

/* The address may come before or after the data. */
static void a_right_datagram_passes_without_a_line(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_UD);
	struct ibv_ah ah = { .pd = &pd };

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, &ah, 5, 6);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_set_ud_addr(qp, &ah, 5, 6);
	result = ENOMEM;
	assert_int_equal(ibv_wr_complete(qp), ENOMEM);
	assert_string_equal(calls, "sSugSguc");
	SAYS_NOTHING();
}

/* A QP of the distribution's provider may have its own data behind the public part, so the checker
 * must not write there. */
static void a_qp_without_batches_is_not_touched(void **state)
{
	struct fake_context *fake = *state;
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };

	assert_ptr_equal(ibv_create_qp_ex(&fake->vctx.context, &attr), &fake_qp.qp);
	assert_ptr_equal(fake_qp.qp_ex.wr_start, fake_start);
	assert_ptr_equal(ibv_qp_to_qp_ex(&fake_qp.qp), &fake_qp.qp_ex);
	fake_qp.ex = 3;
	assert_null(ibv_qp_to_qp_ex(&fake_qp.qp));
}

static void a_missing_start_is_said(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);

	ibv_wr_send(qp);
	check_logged("ibv_wr_send: QP 0x0: wr_id 0x0: no batch was begun");
	ibv_wr_complete(qp);
	check_logged("ibv_wr_complete: QP 0x0: wr_id 0x0: no batch was begun");
	ibv_wr_abort(qp);
	check_logged("ibv_wr_abort: QP 0x0: wr_id 0x0: no batch was begun");
	assert_string_equal(calls, "Sca");
}

static void a_second_start_is_said(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);

	ibv_wr_start(qp);
	SAYS_NOTHING();
	ibv_wr_start(qp);
	check_logged("this thread has begun a batch already");
	assert_string_equal(calls, "ss");
}

static void a_missing_setter_is_said_once(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_UD);
	struct ibv_ah ah = { .pd = &pd };

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, &ah, 5, 6);
	ibv_wr_send(qp);
	check_logged("ibv_wr_send: QP 0x0: wr_id 0x0: ibv_wr_send() before it lacks a setter: call "
		     "ibv_wr_set_sge(), or another");
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_complete(qp);
	check_logged("ibv_wr_complete: QP 0x0: wr_id 0x0: ibv_wr_send() before it lacks a setter: "
		     "call ibv_wr_set_ud_addr()");
	ibv_wr_start(qp);
	ibv_wr_complete(qp);
	SAYS_NOTHING();
}

static void a_setter_too_many_is_said(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);

	ibv_wr_start(qp);
	ibv_wr_set_sge(qp, 1, 2, 3);
	check_logged("ibv_wr_set_sge: QP 0x0: wr_id 0x0: no request was begun");
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, 1, 2, 3);
	SAYS_NOTHING();
	ibv_wr_set_sge(qp, 1, 2, 3);
	check_logged("takes no such setter, or has it already");
	assert_string_equal(calls, "sgSgg");
}

/* Posts with every operation except ibv_wr_send(), which other tests cover. */
static void each_operation_passes_with_its_arguments(void **state)
{
	struct ibv_qp_ex *qp = new_qp_of(state, IBV_QPT_RC, UINT64_MAX);

	ibv_wr_start(qp);
	ibv_wr_send_imm(qp, 1);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_send_inv(qp, 2);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_send_tso(qp, calls, 3, 4);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_rdma_write(qp, 2, 5);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_rdma_write_imm(qp, 2, 5, 1);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_rdma_read(qp, 2, 5);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_atomic_cmp_swp(qp, 2, 5, 6, 7);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_atomic_fetch_add(qp, 2, 5, 8);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_local_inv(qp, 1);
	assert_int_equal(ibv_wr_complete(qp), 0);
	assert_string_equal(calls, "sIgVgTgwgWgRgCgFgLc");
	SAYS_NOTHING();
}

static void an_operation_that_was_not_asked_for_is_said(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);

	ibv_wr_start(qp);
	ibv_wr_local_inv(qp, 1);
	check_logged("created without IBV_QP_EX_WITH_LOCAL_INV: add it to send_ops_flags");
	ibv_wr_complete(qp);
	SAYS_NOTHING();
	assert_string_equal(calls, "sLc");
}

static void a_handle_of_another_pd_is_said(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_UD);
	struct ibv_pd other_pd = { .context = qp->qp_base.context, .handle = 8 };
	struct ibv_ah_attr attr = { .port_num = 1 };

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ibv_create_ah(&other_pd, &attr), 5, 6);
	check_logged("ah is of PD 8, but the QP is on PD 7");
}

static void *batch_of_another_thread(void *of)
{
	struct ibv_qp_ex *qp = of;

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, 1, 2, 3);
	ibv_wr_complete(qp);
	return NULL;
}

/* A provider lets the second thread wait. This one does not, but the checker does, or it would mix
 * the requests of both. */
static void another_thread_waits_for_the_end_of_a_batch(void **state)
{
	const struct timespec later = { .tv_nsec = 100000000 };
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);
	pthread_t thread;

	ibv_wr_start(qp);
	assert_int_equal(pthread_create(&thread, NULL, batch_of_another_thread, qp), 0);
	nanosleep(&later, NULL);
	ibv_wr_abort(qp);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(calls, "sasSgc");
	SAYS_NOTHING();
}

static void request_post(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, 1, 2, 3);
}

static bool fails_for_room(struct ibv_qp_ex *qp, int err)
{
	const struct check_qp *check = verbs_check_find(CHECK_QP, NULL, check_id(qp));

	result = err;
	ibv_wr_start(qp);
	request_post(qp);
	assert_int_equal(ibv_wr_complete(qp), err);
	result = 0;
	return check->sends.was_refused;
}

/* The status of a program that hangs names it. */
static void a_batch_without_room_is_noted(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);

	assert_true(fails_for_room(qp, ENOMEM));
	assert_false(fails_for_room(qp, EINVAL));
	assert_true(fails_for_room(qp, ENOMEM));
	assert_false(fails_for_room(qp, 0));
}

/* A thread polls between the refused request and the batch's last one: there is room then. */
static void a_completion_within_a_batch_outdates_its_refusal(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);
	const struct check_qp *check = verbs_check_find(CHECK_QP, NULL, check_id(qp));
	const struct check_completion done = { .qp_num = qp->qp_base.qp_num, .wr_id = 1 };

	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	assert_false(fails_for_room(qp, 0));
	qp->wr_flags = 0;
	result = ENOMEM;
	ibv_wr_start(qp);
	request_post(qp);
	verbs_check_request_done(qp->qp_base.context, &done);
	request_post(qp);
	assert_int_equal(ibv_wr_complete(qp), ENOMEM);
	assert_false(check->sends.was_refused);
	assert_true(fails_for_room(qp, ENOMEM));
}

/* One that is refused is none. */
static void a_batch_is_a_move(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);
	bool waits;
	const unsigned int before = verbs_check_moves(&waits);

	fails_for_room(qp, ENOMEM);
	assert_int_equal(verbs_check_moves(&waits), before);
	fails_for_room(qp, 0);
	assert_int_equal(verbs_check_moves(&waits), before + 1);
}

static int cancel_state(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state;
}

/* The program saves and restores the state across the calls, and expects its own. */
static void a_batch_leaves_the_cancel_state_of_the_program(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);
	int before;

	ibv_wr_start(qp);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	assert_int_equal(before, PTHREAD_CANCEL_ENABLE);
	ibv_wr_abort(qp);
	assert_int_equal(cancel_state(), PTHREAD_CANCEL_DISABLE);
	ibv_wr_start(qp);
	pthread_setcancelstate(before, NULL);
	assert_int_equal(ibv_wr_complete(qp), 0);
	assert_int_equal(cancel_state(), PTHREAD_CANCEL_ENABLE);
	SAYS_NOTHING();
}

static void *batch_begin(void *of)
{
	ibv_wr_start(of);
	return (void *)(intptr_t)cancel_state();
}

/* As a program does that completes, or destroys the QP, in a thread of its own. */
static void a_batch_that_another_thread_ends_leaves_no_cancel_state(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);
	pthread_t thread;
	void *of_first;

	assert_int_equal(pthread_create(&thread, NULL, batch_begin, qp), 0);
	assert_int_equal(pthread_join(thread, &of_first), 0);
	assert_int_equal((intptr_t)of_first, PTHREAD_CANCEL_ENABLE);
	assert_int_equal(ibv_wr_complete(qp), 0);
	assert_int_equal(cancel_state(), PTHREAD_CANCEL_ENABLE);
}

static void *batch_cancelled(void *of)
{
	struct ibv_qp_ex *qp = of;

	pthread_cancel(pthread_self());
	ibv_wr_start(qp);
	ibv_wr_abort(qp);
	pthread_testcancel();
	return NULL;
}

/* The provider of this test has a cancellation point in each call. */
static void a_call_of_a_batch_is_not_cancelled(void **state)
{
	struct ibv_qp_ex *qp = new_qp(state, IBV_QPT_RC);
	pthread_t thread;
	void *how;

	is_cancelled_in = true;
	assert_int_equal(pthread_create(&thread, NULL, batch_cancelled, qp), 0);
	assert_int_equal(pthread_join(thread, &how), 0);
	is_cancelled_in = false;
	assert_ptr_equal(how, PTHREAD_CANCELED);
	assert_string_equal(calls, "sa");
	ibv_wr_start(qp);
	ibv_wr_abort(qp);
	SAYS_NOTHING();
}

#define BATCH_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BATCH_TEST(a_right_batch_passes_without_a_line),
		BATCH_TEST(a_right_datagram_passes_without_a_line),
		BATCH_TEST(a_qp_without_batches_is_not_touched),
		BATCH_TEST(a_missing_start_is_said),
		BATCH_TEST(a_second_start_is_said),
		BATCH_TEST(a_missing_setter_is_said_once),
		BATCH_TEST(a_setter_too_many_is_said),
		BATCH_TEST(each_operation_passes_with_its_arguments),
		BATCH_TEST(an_operation_that_was_not_asked_for_is_said),
		BATCH_TEST(a_handle_of_another_pd_is_said),
		BATCH_TEST(another_thread_waits_for_the_end_of_a_batch),
		BATCH_TEST(a_batch_without_room_is_noted),
		BATCH_TEST(a_batch_is_a_move),
		BATCH_TEST(a_completion_within_a_batch_outdates_its_refusal),
		BATCH_TEST(a_batch_leaves_the_cancel_state_of_the_program),
		BATCH_TEST(a_batch_that_another_thread_ends_leaves_no_cancel_state),
		BATCH_TEST(a_call_of_a_batch_is_not_cancelled),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
