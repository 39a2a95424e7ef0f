/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * New objects in memory that something else has used: locks and counts of events are those of an
 * object that no thread has seen yet, and the fields are those of the attributes. Locks are
 * destroyed with their object, and with one that the kernel refuses to create.
 *
 * Covers: libibverbs/cmd/cmd_cq.c, libibverbs/cmd/cmd_qp.c, libibverbs/cmd/cmd_srq.c,
 * libibverbs/cmd/cmd_wq.c
 */
#include "tests/unit/libibverbs/fake_kernel.h"

#include <pthread.h>
#include <string.h>

static int mark;

static void assert_locks_are_new(pthread_mutex_t *mutex, pthread_cond_t *cond)
{
	const pthread_cond_t new_cond = PTHREAD_COND_INITIALIZER;

	assert_int_equal(pthread_mutex_trylock(mutex), 0);
	assert_int_equal(pthread_mutex_unlock(mutex), 0);
	assert_memory_equal(cond, &new_cond, sizeof(new_cond));
	assert_int_equal(pthread_cond_destroy(cond), 0);
	assert_int_equal(pthread_mutex_destroy(mutex), 0);
}

static void a_new_cq_has_no_events(void **state)
{
	struct ibv_comp_channel channel = { .context = context_of(state) };
	const struct ibv_cq_init_attr_ex attr = { .cqe = 1,
						  .cq_context = &mark,
						  .channel = &channel };
	struct verbs_cq vcq;
	struct ibv_cq *cq = &vcq.cq;

	memset(&vcq, 0xee, sizeof(vcq));
	expect(IDS(UVERBS_ATTR_CREATE_CQ_RESP_CQE), IDS(UVERBS_ATTR_CREATE_CQ_HANDLE));
	assert_int_equal(verbs_cmd_create_cq(context_of(state), &attr, 0, &vcq, NULL), 0);
	assert_int_equal(cq->comp_events_completed | cq->async_events_completed, 0);
	assert_ptr_equal(cq->context, context_of(state));
	assert_ptr_equal(cq->channel, &channel);
	assert_ptr_equal(cq->cq_context, &mark);
	assert_int_equal(channel.refcnt, 1);
	assert_locks_are_new(&cq->mutex, &cq->cond);
}

static void a_new_srq_has_no_events(void **state)
{
	struct ibv_pd pd = {};
	struct ibv_srq_init_attr_ex attr = { .comp_mask = IBV_SRQ_INIT_ATTR_PD,
					     .pd = &pd,
					     .srq_context = &mark };
	struct verbs_srq vsrq;
	struct ibv_srq *srq = &vsrq.srq;

	memset(&vsrq, 0xee, sizeof(vsrq));
	expect(IDS(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
		   UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM),
	       IDS(UVERBS_ATTR_CREATE_SRQ_HANDLE));
	assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL), 0);
	assert_int_equal(srq->events_completed, 0);
	assert_ptr_equal(srq->context, context_of(state));
	assert_ptr_equal(srq->srq_context, &mark);
	assert_ptr_equal(srq->pd, &pd);
	assert_true(vsrq.type == IBV_SRQT_BASIC && !vsrq.xrcd && !vsrq.cq);
	assert_locks_are_new(&srq->mutex, &srq->cond);
}

static void a_new_qp_has_no_events(void **state)
{
	struct ibv_pd pd = {};
	struct ibv_cq send = {}, recv = {};
	struct ibv_srq srq = {};
	struct ibv_qp_init_attr_ex attr = { .qp_context = &mark,
					    .send_cq = &send,
					    .recv_cq = &recv,
					    .srq = &srq,
					    .qp_type = IBV_QPT_UC,
					    .pd = &pd,
					    .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct verbs_qp vqp;
	struct ibv_qp *qp = &vqp.qp;

	memset(&vqp, 0xee, sizeof(vqp));
	expect(IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, &vqp, NULL), 0);
	assert_int_equal(qp->events_completed, 0);
	assert_ptr_equal(qp->context, context_of(state));
	assert_ptr_equal(qp->qp_context, &mark);
	assert_true(qp->pd == &pd && qp->send_cq == &send && qp->recv_cq == &recv);
	assert_true(qp->srq == &srq && qp->qp_type == IBV_QPT_UC && qp->state == IBV_QPS_RESET);
	assert_locks_are_new(&qp->mutex, &qp->cond);
}

static void an_opened_qp_has_no_events(void **state)
{
	struct verbs_xrcd vxrcd = { .handle = 0x71 };
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE,
		.xrcd = &vxrcd.xrcd,
		.qp_num = 0x123,
		.qp_type = IBV_QPT_XRC_RECV,
		.qp_context = &mark,
	};
	struct verbs_qp vqp;
	struct ibv_qp *qp = &vqp.qp;

	for (int i = 0; i < 2; i++) {
		memset(&vqp, 0xee, sizeof(vqp));
		expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
		assert_int_equal(verbs_cmd_open_qp(context_of(state), &attr, &vqp, NULL), 0);
		assert_int_equal(qp->events_completed, 0);
		assert_ptr_equal(qp->context, context_of(state));
		assert_ptr_equal(qp->qp_context, i ? &mark : NULL);
		assert_true(qp->qp_type == IBV_QPT_XRC_RECV && qp->state == IBV_QPS_UNKNOWN);
		assert_locks_are_new(&qp->mutex, &qp->cond);
		attr.comp_mask |= IBV_QP_OPEN_ATTR_CONTEXT;
	}
}

static int mutexes, conds; /* destroyed */

int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __real_pthread_cond_destroy(pthread_cond_t *cond);
int __wrap_pthread_cond_destroy(pthread_cond_t *cond);

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	mutexes++;
	return __real_pthread_mutex_destroy(mutex);
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
	conds++;
	return __real_pthread_cond_destroy(cond);
}

/* Whether the call that has just returned RET has destroyed the locks of its object. */
#define assert_locks_end(ret, want)           \
	do {                                  \
		mutexes = conds = 0;          \
		assert_int_equal(ret, want);  \
		assert_int_equal(mutexes, 1); \
		assert_int_equal(conds, 1);   \
	} while (0)

static void locks_end_with_an_object_that_is_refused(void **state)
{
	struct ibv_context *context = context_of(state);
	struct ibv_pd pd = {};
	struct verbs_xrcd vxrcd = {};
	const struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1 };
	struct ibv_srq_init_attr_ex srq_attr = { .comp_mask = IBV_SRQ_INIT_ATTR_PD, .pd = &pd };
	struct ibv_qp_init_attr_ex qp_attr = {};
	const struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE,
		.xrcd = &vxrcd.xrcd,
	};
	struct verbs_cq vcq;
	struct verbs_srq vsrq;
	struct verbs_qp vqp;

	expect(NULL, NULL);
	kernel.err = ENOMEM;
	assert_locks_end(verbs_cmd_create_cq(context, &cq_attr, 0, &vcq, NULL), ENOMEM);
	assert_locks_end(verbs_cmd_create_srq(context, &srq_attr, &vsrq, NULL), ENOMEM);
	assert_locks_end(verbs_cmd_create_qp(context, &qp_attr, &vqp, NULL), ENOMEM);
	assert_locks_end(verbs_cmd_open_qp(context, &open_attr, &vqp, NULL), ENOMEM);
}

static void locks_end_with_their_object(void **state)
{
	struct ibv_cq cq = { .context = context_of(state) };
	struct ibv_srq srq = { .context = context_of(state) };
	struct ibv_qp qp = { .context = context_of(state) };
	struct ibv_wq wq = { .context = context_of(state) };

	expect(IDS(UVERBS_ATTR_DESTROY_CQ_RESP), NULL);
	assert_locks_end(verbs_cmd_destroy_cq(&cq), 0);
	expect(IDS(UVERBS_ATTR_DESTROY_SRQ_RESP), NULL);
	assert_locks_end(verbs_cmd_destroy_srq(&srq), 0);
	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	assert_locks_end(verbs_cmd_destroy_qp(&qp), 0);
	expect(IDS(UVERBS_ATTR_DESTROY_WQ_RESP), NULL);
	assert_locks_end(verbs_cmd_destroy_wq(&wq), 0);
}

static void locks_stay_with_an_object_that_stays(void **state)
{
	struct ibv_cq cq = { .context = context_of(state) };
	struct ibv_srq srq = { .context = context_of(state) };
	struct ibv_qp qp = { .context = context_of(state) };
	struct ibv_wq wq = { .context = context_of(state) };

	expect(NULL, NULL);
	kernel.err = EBUSY;
	mutexes = conds = 0;
	assert_int_equal(verbs_cmd_destroy_cq(&cq), EBUSY);
	assert_int_equal(verbs_cmd_destroy_srq(&srq), EBUSY);
	assert_int_equal(verbs_cmd_destroy_qp(&qp), EBUSY);
	assert_int_equal(verbs_cmd_destroy_wq(&wq), EBUSY);
	assert_int_equal(mutexes | conds, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(a_new_cq_has_no_events),
		COMMAND_TEST(a_new_srq_has_no_events),
		COMMAND_TEST(a_new_qp_has_no_events),
		COMMAND_TEST(an_opened_qp_has_no_events),
		COMMAND_TEST(locks_end_with_an_object_that_is_refused),
		COMMAND_TEST(locks_end_with_their_object),
		COMMAND_TEST(locks_stay_with_an_object_that_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
