/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queues of a program that was built with release 1.0: its lists of requests reach today's calls in
 * pieces, a refused request is one of the program's own list, and events lead to its own objects.
 */
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/compat/verbs_1_0.h"
#include "tests/unit/libibverbs/compat/refusal.h"

#include <errno.h>
#include <string.h>

#include "util/bits.h"

extern const struct old_context_ops verbs_old_ops;
struct old_cq *create_cq_1_0(struct old_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector);
struct old_srq *create_srq_1_0(struct old_pd *pd, struct ibv_srq_init_attr *attr);
struct old_qp *create_qp_1_0(struct old_pd *pd, struct old_qp_init_attr *attr);
int resize_cq_1_0(struct old_cq *cq, int cqe);
int destroy_cq_1_0(struct old_cq *cq);
int destroy_srq_1_0(struct old_srq *srq);
int destroy_qp_1_0(struct old_qp *qp);
int query_qp_1_0(struct old_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct old_qp_init_attr *init_attr);
int modify_qp_1_0(struct old_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int get_cq_event_1_0(struct ibv_comp_channel *channel, struct old_cq **cq, void **cq_context);
int get_async_event_1_0(struct old_context *context, struct old_async_event *event);
void ack_async_event_1_0(struct old_async_event *event);

static bool no_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static struct ibv_context real_context;
static struct ibv_cq real_cq = { .context = &real_context, .handle = 0x31, .cqe = 15 };
static struct ibv_srq real_srq = { .context = &real_context, .handle = 0x41 };
static struct ibv_qp real_qp = { .context = &real_context, .handle = 0x51, .qp_num = 0x52 };
static struct ibv_qp_init_attr qp_asked;
static struct ibv_qp_attr qp_changed;

struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int comp_vector);
int __wrap_ibv_resize_cq(struct ibv_cq *cq, int cqe);
int __wrap_ibv_destroy_cq(struct ibv_cq *cq);
struct ibv_srq *__wrap_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int __wrap_ibv_destroy_srq(struct ibv_srq *srq);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int __wrap_ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init);
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int __wrap_ibv_destroy_qp(struct ibv_qp *qp);
int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
void __wrap_ibv_ack_async_event(struct ibv_async_event *event);

struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int comp_vector)
{
	assert_ptr_equal(context, &real_context);
	assert_int_equal(cqe, 10);
	assert_int_equal(comp_vector, 3);
	assert_null(channel);
	real_cq.cq_context = cq_context;
	return made_or_refused(&real_cq);
}

int __wrap_ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	cq->cqe = cqe + 1;
	return refusal;
}

int __wrap_ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, &real_cq);
	return refusal;
}

struct ibv_srq *__wrap_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	(void)pd;
	assert_int_equal(attr->attr.max_wr, 5);
	attr->attr.max_wr = 7;
	real_srq.srq_context = attr->srq_context;
	return made_or_refused(&real_srq);
}

int __wrap_ibv_destroy_srq(struct ibv_srq *srq)
{
	assert_ptr_equal(srq, &real_srq);
	return refusal;
}

struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)pd;
	qp_asked = *attr;
	attr->cap.max_send_wr = 9;
	real_qp.qp_context = attr->qp_context;
	real_qp.state = IBV_QPS_ERR;
	return made_or_refused(&real_qp);
}

int __wrap_ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init)
{
	assert_int_equal(mask, IBV_QP_QKEY);
	if (refusal)
		return refusal;
	qp->state = IBV_QPS_RTS;
	memset(attr, 0x11, sizeof(*attr));
	*init = (struct ibv_qp_init_attr){ .cap = { 1, 2, 3, 4, 5 },
					   .qp_type = IBV_QPT_UC,
					   .sq_sig_all = 1 };
	return 0;
}

int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	assert_int_equal(mask, IBV_QP_STATE);
	qp_changed = *attr;
	qp->state = refusal ? qp->state : IBV_QPS_INIT;
	return refusal;
}

int __wrap_ibv_destroy_qp(struct ibv_qp *qp)
{
	assert_ptr_equal(qp, &real_qp);
	return refusal;
}

static char mark;
static struct old_context old_context = { .real = &real_context };
static struct old_pd old_pd = { .context = &old_context };

static struct old_cq *make_cq(void)
{
	return create_cq_1_0(&old_context, 10, &mark, NULL, 3);
}

static struct old_srq *make_srq(void)
{
	struct ibv_srq_init_attr attr = { .srq_context = &mark, .attr = { .max_wr = 5 } };
	struct old_srq *srq = create_srq_1_0(&old_pd, &attr);

	assert_int_equal(attr.attr.max_wr, srq ? 7 : 5);
	assert_ptr_equal(attr.srq_context, &mark);
	return srq;
}

static struct old_qp *make_qp_with(struct old_cq *cq, struct old_srq *srq)
{
	struct old_qp_init_attr attr = {
		.qp_context = &mark,
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { .max_send_wr = 8, .max_inline_data = 6 },
		.qp_type = IBV_QPT_UC,
		.sq_sig_all = 1,
	};
	struct old_qp *qp = create_qp_1_0(&old_pd, &attr);

	assert_int_equal(attr.cap.max_send_wr, qp ? 9 : 8);
	return qp;
}

static struct old_qp *make_qp(void)
{
	return make_qp_with(NULL, NULL);
}

static void what_cannot_be_made_says_why(void **state)
{
	(void)state;
	no_memory = true;
	assert_fails_with(ENOMEM, make_cq());
	assert_fails_with(ENOMEM, make_srq());
	assert_fails_with(ENOMEM, make_qp());
	no_memory = false;
	refusal = EPERM;
	assert_fails_with(EPERM, make_cq());
	assert_fails_with(EPERM, make_srq());
	assert_fails_with(EPERM, make_qp());
}

static void a_wrapper_shows_what_was_made(void **state)
{
	struct old_cq *cq = make_cq();
	struct old_srq *srq = make_srq();
	struct old_qp *qp = make_qp_with(cq, srq);

	(void)state;
	assert_true(cq->context == &old_context && cq->cq_context == &mark);
	assert_true(cq->handle == 0x31 && cq->cqe == 15 && real_cq.cq_context == cq);
	assert_true(srq->context == &old_context && srq->srq_context == &mark &&
		    srq->pd == &old_pd);
	assert_true(srq->handle == 0x41 && real_srq.srq_context == srq);
	assert_true(qp->context == &old_context && qp->qp_context == &mark && qp->pd == &old_pd);
	assert_true(qp->send_cq == cq && qp->recv_cq == cq && qp->srq == srq);
	assert_true(qp->handle == 0x51 && qp->qp_num == 0x52 && qp->state == IBV_QPS_ERR);
	assert_true(qp->qp_type == IBV_QPT_UC && real_qp.qp_context == qp);
	assert_true(qp_asked.send_cq == &real_cq && qp_asked.recv_cq == &real_cq);
	assert_true(qp_asked.srq == &real_srq && qp_asked.qp_type == IBV_QPT_UC);
	assert_true(qp_asked.cap.max_inline_data == 6 && qp_asked.sq_sig_all == 1);
	assert_int_equal(destroy_qp_1_0(qp) | destroy_srq_1_0(srq) | destroy_cq_1_0(cq), 0);
}

/* The objects are used afterwards, which sanitizers would see of one that is freed. */
static void what_is_not_destroyed_stays(void **state)
{
	struct old_cq *cq = make_cq();
	struct old_srq *srq = make_srq();
	struct old_qp *qp = make_qp();

	(void)state;
	refusal = EBUSY;
	assert_int_equal(destroy_qp_1_0(qp), EBUSY);
	assert_int_equal(destroy_srq_1_0(srq), EBUSY);
	assert_int_equal(destroy_cq_1_0(cq), EBUSY);
	refusal = 0;
	assert_ptr_equal(qp->real, &real_qp);
	assert_ptr_equal(srq->real, &real_srq);
	assert_ptr_equal(cq->real, &real_cq);
	assert_int_equal(destroy_qp_1_0(qp) | destroy_srq_1_0(srq) | destroy_cq_1_0(cq), 0);
}

static void a_resized_cq_shows_its_size(void **state)
{
	struct old_cq cq = { .real = &real_cq };

	(void)state;
	assert_int_equal(resize_cq_1_0(&cq, 20), 0);
	assert_int_equal(cq.cqe, 21);
	refusal = EINVAL;
	assert_int_equal(resize_cq_1_0(&cq, 30), EINVAL);
	real_cq.cqe = 15;
}

enum { OLD_ATTR_SIZE = offsetof(struct ibv_qp_attr, rate_limit) };

static void attributes_end_where_those_of_release_1_0_did(void **state)
{
	struct old_qp qp = { .real = &real_qp, .qp_context = &mark };
	struct old_qp_init_attr init;
	struct ibv_qp_attr attr;

	(void)state;
	memset(&attr, 0xee, sizeof(attr));
	assert_int_equal(query_qp_1_0(&qp, &attr, IBV_QP_QKEY, &init), 0);
	for (size_t i = 0; i < sizeof(attr); i++)
		assert_int_equal(((unsigned char *)&attr)[i], i < OLD_ATTR_SIZE ? 0x11 : 0xee);
	assert_int_equal(qp.state, IBV_QPS_RTS);
	assert_true(init.qp_context == &mark && init.qp_type == IBV_QPT_UC && init.sq_sig_all == 1);
	assert_true(init.cap.max_send_wr == 1 && init.cap.max_inline_data == 5);
	assert_int_equal(modify_qp_1_0(&qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(qp.state, IBV_QPS_INIT);
	assert_memory_equal(&qp_changed, &attr, OLD_ATTR_SIZE);
	assert_int_equal(qp_changed.rate_limit, 0);
	refusal = EINVAL;
	assert_int_equal(modify_qp_1_0(&qp, &attr, IBV_QP_STATE), EINVAL);
	memset(&attr, 0xee, sizeof(attr));
	assert_int_equal(query_qp_1_0(&qp, &attr, IBV_QP_QKEY, &init), EINVAL);
	assert_int_equal(attr.qkey, 0xeeeeeeee);
}

enum { REQUESTS = 40, IN_A_PIECE = 16 };

static struct ibv_sge sges[REQUESTS];
static struct old_send_wr sends[REQUESTS];
static struct old_recv_wr receives[REQUESTS];
static struct ibv_send_wr last_send;
static unsigned int taken, fails_at;

static void start_posting(unsigned int failing)
{
	taken = 0;
	fails_at = failing;
	for (unsigned int i = 0; i < REQUESTS; i++) {
		struct old_send_wr *next_send = i + 1 < REQUESTS ? &sends[i + 1] : NULL;
		struct old_recv_wr *next_recv = i + 1 < REQUESTS ? &receives[i + 1] : NULL;

		sends[i] = (struct old_send_wr){
			.next = next_send, .wr_id = i, .sg_list = &sges[i], .num_sge = (int)i + 1
		};
		receives[i] = (struct old_recv_wr){ next_recv, i, &sges[i], (int)i + 1 };
	}
}

/* Whether a request is refused; NUMBER is its place in the piece. */
static bool request_is_taken(uint64_t wr_id, const struct ibv_sge *sge, int num_sge,
			     unsigned int number)
{
	assert_int_equal(wr_id, taken);
	assert_ptr_equal(sge, &sges[taken]);
	assert_int_equal(num_sge, taken + 1);
	assert_in_range(number, 0, IN_A_PIECE - 1);
	return taken++ != fails_at;
}

static int post_sends(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	assert_ptr_equal(qp, &real_qp);
	for (unsigned int n = 0; wr; wr = wr->next, n++) {
		last_send = *wr;
		*bad = wr;
		if (!request_is_taken(wr->wr_id, wr->sg_list, wr->num_sge, n))
			return EINVAL;
	}
	return 0;
}

static int take_receives(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	for (unsigned int n = 0; wr; wr = wr->next, n++) {
		*bad = wr;
		if (!request_is_taken(wr->wr_id, wr->sg_list, wr->num_sge, n))
			return EINVAL;
	}
	return 0;
}

static int post_receives(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	assert_ptr_equal(qp, &real_qp);
	return take_receives(wr, bad);
}

static int post_srq_receives(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	assert_ptr_equal(srq, &real_srq);
	return take_receives(wr, bad);
}

static void a_long_list_is_posted_whole_and_in_order(void **state)
{
	struct old_qp qp = { .real = &real_qp };
	struct old_srq srq = { .real = &real_srq };
	struct old_send_wr *bad_send = NULL;
	struct old_recv_wr *bad_recv = NULL;

	(void)state;
	start_posting(REQUESTS);
	assert_int_equal(verbs_old_ops.post_send(&qp, sends, &bad_send), 0);
	assert_int_equal(taken, REQUESTS);
	start_posting(REQUESTS);
	assert_int_equal(verbs_old_ops.post_recv(&qp, receives, &bad_recv), 0);
	assert_int_equal(taken, REQUESTS);
	start_posting(REQUESTS);
	assert_int_equal(verbs_old_ops.post_srq_recv(&srq, receives, &bad_recv), 0);
	assert_int_equal(taken, REQUESTS);
	assert_null(bad_send);
	assert_null(bad_recv);
}

static void nothing_is_posted_after_the_request_that_is_refused(void **state)
{
	struct old_qp qp = { .real = &real_qp };
	struct old_srq srq = { .real = &real_srq };
	struct old_send_wr *bad_send;
	struct old_recv_wr *bad_recv;

	(void)state;
	for (unsigned int i = 0; i < REQUESTS; i++) {
		start_posting(i);
		assert_int_equal(verbs_old_ops.post_send(&qp, sends, &bad_send), EINVAL);
		assert_ptr_equal(bad_send, &sends[i]);
		assert_int_equal(taken, i + 1);
		start_posting(i);
		assert_int_equal(verbs_old_ops.post_recv(&qp, receives, &bad_recv), EINVAL);
		assert_ptr_equal(bad_recv, &receives[i]);
		assert_int_equal(taken, i + 1);
		start_posting(i);
		assert_int_equal(verbs_old_ops.post_srq_recv(&srq, receives, &bad_recv), EINVAL);
		assert_ptr_equal(bad_recv, &receives[i]);
		assert_int_equal(taken, i + 1);
	}
}

static void post_last(enum ibv_qp_type type)
{
	struct old_qp qp = { .real = &real_qp, .qp_type = type };
	struct old_send_wr *bad;

	taken = REQUESTS - 1;
	assert_int_equal(verbs_old_ops.post_send(&qp, &sends[REQUESTS - 1], &bad), 0);
}

static void a_request_keeps_its_fields(void **state)
{
	struct ibv_ah real_ah;
	struct old_ah ah = { .real = &real_ah };
	struct old_send_wr *wr = &sends[REQUESTS - 1];

	(void)state;
	start_posting(REQUESTS);
	wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->send_flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	wr->imm_data = 0x1234;
	wr->wr.rdma.remote_addr = 0x100000001;
	wr->wr.rdma.rkey = 2;
	post_last(IBV_QPT_RC);
	assert_int_equal(last_send.opcode, IBV_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(last_send.send_flags, IBV_SEND_FENCE | IBV_SEND_SOLICITED);
	assert_int_equal(last_send.imm_data, 0x1234);
	assert_true(last_send.wr.rdma.remote_addr == 0x100000001 && last_send.wr.rdma.rkey == 2);
	for (int i = 0; i < 2; i++) {
		wr->opcode = i ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr->wr.atomic.remote_addr = 0x300000003;
		wr->wr.atomic.compare_add = 4;
		wr->wr.atomic.swap = 5;
		wr->wr.atomic.rkey = 6;
		post_last(IBV_QPT_RC);
		assert_true(last_send.wr.atomic.remote_addr == 0x300000003);
		assert_true(last_send.wr.atomic.compare_add == 4 && last_send.wr.atomic.swap == 5);
		assert_int_equal(last_send.wr.atomic.rkey, 6);
	}
	wr->opcode = IBV_WR_SEND;
	wr->wr.ud.ah = &ah;
	wr->wr.ud.remote_qpn = 7;
	wr->wr.ud.remote_qkey = 8;
	post_last(IBV_QPT_UD);
	assert_ptr_equal(last_send.wr.ud.ah, &real_ah);
	assert_true(last_send.wr.ud.remote_qpn == 7 && last_send.wr.ud.remote_qkey == 8);
}

static int poll_two(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	assert_ptr_equal(cq, &real_cq);
	assert_int_equal(num_entries, 5);
	wc->wr_id = 0x77;
	return 2;
}

static int request_notification(struct ibv_cq *cq, int solicited_only)
{
	assert_ptr_equal(cq, &real_cq);
	return solicited_only ? EPERM : EBUSY;
}

static void a_cq_is_polled_and_armed(void **state)
{
	struct old_cq cq = { .real = &real_cq };
	struct ibv_wc wc = {};

	(void)state;
	assert_int_equal(verbs_old_ops.poll_cq(&cq, 5, &wc), 2);
	assert_int_equal(wc.wr_id, 0x77);
	assert_int_equal(verbs_old_ops.req_notify_cq(&cq, 1), EPERM);
	assert_int_equal(verbs_old_ops.req_notify_cq(&cq, 0), EBUSY);
}

static struct ibv_async_event next_event, acknowledged;

int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	(void)channel;
	*cq = &real_cq;
	*context = real_cq.cq_context;
	return refusal ? -1 : 0;
}

int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	assert_ptr_equal(context, &real_context);
	*event = next_event;
	return refusal ? -1 : 0;
}

void __wrap_ibv_ack_async_event(struct ibv_async_event *event)
{
	acknowledged = *event;
}

static void a_completion_event_has_the_programs_cq(void **state)
{
	struct old_cq old = { .cq_context = &mark }, *cq = NULL;
	void *context = NULL;

	(void)state;
	real_cq.cq_context = &old;
	assert_int_equal(get_cq_event_1_0(NULL, &cq, &context), 0);
	assert_ptr_equal(cq, &old);
	assert_ptr_equal(context, &mark);
	refusal = EAGAIN;
	assert_int_equal(get_cq_event_1_0(NULL, &cq, &context), -1);
}

static void an_asynchronous_event_has_the_programs_object(void **state)
{
	struct old_cq cq = { .real = &real_cq };
	struct old_srq srq = { .real = &real_srq };
	struct old_qp qp = { .real = &real_qp };
	const struct {
		struct ibv_async_event real;
		union old_element old;
	} rows[] = {
		{ { .element.cq = &real_cq, .event_type = IBV_EVENT_CQ_ERR }, { .cq = &cq } },
		{ { .element.qp = &real_qp, .event_type = IBV_EVENT_COMM_EST }, { .qp = &qp } },
		{ { .element.srq = &real_srq, .event_type = IBV_EVENT_SRQ_ERR }, { .srq = &srq } },
		{ { .element.port_num = 2, .event_type = IBV_EVENT_PORT_ERR }, { .port_num = 2 } },
	};

	(void)state;
	real_cq.cq_context = &cq;
	real_srq.srq_context = &srq;
	real_qp.qp_context = &qp;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const bool is_of_port = rows[i].real.event_type == IBV_EVENT_PORT_ERR;
		const size_t size = is_of_port ? sizeof(int) : sizeof(void *);
		struct old_async_event event = {};

		next_event = rows[i].real;
		acknowledged = (struct ibv_async_event){};
		assert_int_equal(get_async_event_1_0(&old_context, &event), 0);
		assert_int_equal(event.event_type, next_event.event_type);
		assert_memory_equal(&event.element, &rows[i].old, size);
		ack_async_event_1_0(&event);
		if (is_of_port) /* no object waits for its acknowledgement */
			next_event = (struct ibv_async_event){};
		assert_int_equal(acknowledged.event_type, next_event.event_type);
		assert_memory_equal(&acknowledged.element, &next_event.element, size);
	}
	refusal = EAGAIN;
	assert_int_equal(get_async_event_1_0(&old_context, &(struct old_async_event){}), -1);
}

static int let_succeed(void **state)
{
	(void)state;
	refusal = 0;
	no_memory = false;
	real_context.ops.poll_cq = poll_two;
	real_context.ops.req_notify_cq = request_notification;
	real_context.ops.post_send = post_sends;
	real_context.ops.post_recv = post_receives;
	real_context.ops.post_srq_recv = post_srq_receives;
	return 0;
}

#define QUEUE_TEST(fn) cmocka_unit_test_setup(fn, let_succeed)

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUE_TEST(what_cannot_be_made_says_why),
		QUEUE_TEST(a_wrapper_shows_what_was_made),
		QUEUE_TEST(what_is_not_destroyed_stays),
		QUEUE_TEST(a_resized_cq_shows_its_size),
		QUEUE_TEST(attributes_end_where_those_of_release_1_0_did),
		QUEUE_TEST(a_long_list_is_posted_whole_and_in_order),
		QUEUE_TEST(nothing_is_posted_after_the_request_that_is_refused),
		QUEUE_TEST(a_request_keeps_its_fields),
		QUEUE_TEST(a_cq_is_polled_and_armed),
		QUEUE_TEST(a_completion_event_has_the_programs_cq),
		QUEUE_TEST(an_asynchronous_event_has_the_programs_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
