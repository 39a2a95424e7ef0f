/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_test.c - shared receive queues of plain QPs and of XRC domains: order of WQEs, CQE fields,
 * limit and last-WQE events, errors and destruction.
 *
 * Covers: softhca/device/queue/srq.c, softhca/device/format/mlx5/cmd/srq.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/qpc.h"

static struct flat_srq *srq;
static struct flat_qp *c, *d; /* a second sender and a second receiver, like a and b */

static const struct flat_qp_attr plain;

static struct flat_qp_attr on_srq(void)
{
	struct flat_qp_attr attr = { .rq_type = PRM_RQ_TYPE_SRQ, .srqn = srq->n };

	return attr;
}

static void free_qp(struct flat_qp *qp)
{
	test_free(qp->send_cq);
	test_free(qp->recv_cq);
	test_free(qp);
}

static void set_up(uint32_t log_size)
{
	struct flat_qp_attr attr;

	srq = flat_srq(1, log_size, 0, NULL);
	attr = on_srq();
	pair(&plain, 65536);
	free_qp(a);
	free_qp(b);
	a = flat_qp(0, &plain);
	c = flat_qp(0, &plain);
	b = flat_qp(1, &attr);
	d = flat_qp(1, &attr);
	flat_connect(a, b, &plain);
	flat_connect(c, d, &plain);
}

static void tear_down(void)
{
	unpair();
	free_qp(c);
	free_qp(d);
	test_free(srq);
}

static void send_from(struct flat_qp *qp, uint64_t offset)
{
	flat_send(qp, OP_SEND, from + offset, 16, lkey);
	flat_run(LONG / 1000);
}

static void qps_take_wqes_in_the_order_of_messages(void **state)
{
	(void)state;
	set_up(2);
	for (int i = 0; i < 3; i++)
		flat_srq_recv(srq, to + i * 4096, 4096, rkey);
	send_from(a, 0);
	send_from(c, 100);
	send_from(a, 200);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_done(d->recv_cq, RESP_SEND, 1);
	flat_expect_done(b->recv_cq, RESP_SEND, 2);
	assert_memory_equal(flat.mem + to + 4096, flat.mem + from + 100, 16);
	assert_memory_equal(flat.mem + to + 8192, flat.mem + from + 200, 16);
	tear_down();
}

/* WQEs freed in the order 2, 0, 1 are linked behind the remaining one, and taken in that order. */
static void links_lead_the_way(void **state)
{
	(void)state;
	set_up(2);
	for (int i = 0; i < 3; i++)
		flat_srq_recv(srq, to, 4096, rkey);
	for (int i = 0; i < 3; i++) {
		send_from(a, 0);
		flat_expect_done(b->recv_cq, RESP_SEND, i);
	}
	flat_srq_free(srq, 2);
	flat_srq_free(srq, 0);
	flat_srq_free(srq, 1);
	for (int i = 0; i < 3; i++) {
		flat_srq_recv(srq, to, 4096, rkey);
		send_from(a, 0);
	}
	flat_expect_done(b->recv_cq, RESP_SEND, 3);
	flat_expect_done(b->recv_cq, RESP_SEND, 2);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	tear_down();
}

static void an_empty_srq_makes_the_sender_wait(void **state)
{
	(void)state;
	set_up(3);
	flat_send(a, OP_SEND, from, 16, lkey);
	flat_run(1000);
	flat_expect_empty(b->recv_cq);
	flat_srq_recv(srq, to, 4096, rkey);
	flat_run(LONG);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RNR_EXCEEDED);
	flat_to(c, d, &plain, PRM_QP_STATE_RST);
	flat_send(c, OP_SEND, from, 16, lkey);
	flat_run(LONG);
	flat_expect_done(d->recv_cq, RESP_SEND, 0);
	tear_down();
}

static void the_limit_is_reported_once(void **state)
{
	(void)state;
	set_up(3);
	for (int i = 0; i < 5; i++)
		flat_srq_recv(srq, to, 4096, rkey);
	flat_srq_arm(srq, 4);
	assert_int_equal(flat_srq_limit(srq), 4);
	send_from(a, 0);
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_RQ_LIMIT), 0);
	send_from(a, 0);
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_RQ_LIMIT), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_QPN), srq->n);
	assert_int_equal(flat_srq_limit(srq), 0);
	send_from(a, 0);
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_RQ_LIMIT), 1);
	flat_srq_arm(srq, 4); /* already below this limit, so the event comes at once */
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_RQ_LIMIT), 2);
	tear_down();
}

static void to_error(struct flat_qp *qp)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_2ERR_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	flat_cmd(qp->hca, in, sizeof(in), out, sizeof(out));
}

static void a_qp_in_error_leaves_the_wqes_to_others(void **state)
{
	(void)state;
	set_up(3);
	flat_srq_recv(srq, to, 4096, rkey);
	to_error(b);
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_LAST_WQE), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_QPN), b->n);
	flat_run(LONG / 1000);
	flat_expect_empty(b->recv_cq);
	send_from(c, 0);
	flat_expect_done(d->recv_cq, RESP_SEND, 0);
	tear_down();
}

static void a_broken_link_breaks_the_srq(void **state)
{
	(void)state;
	set_up(2);
	flat_srq_recv(srq, to, 4096, rkey);
	fld_set(flat.mem + srq->ring, FLD(0x0, 15, 0), 4);
	send_from(a, 0);
	assert_int_equal(flat_count_events(PRM_EVENT_SRQ_CATAS_ERROR), 1);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_OP);
	tear_down();
}

static void an_srq_in_use_stays(void **state)
{
	(void)state;
	set_up(2);
	flat_simple(srq->hca, PRM_OP_DESTROY_RMP, srq->n, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(b->hca, PRM_OP_DESTROY_QP, b->n, PRM_STAT_OK);
	flat_simple(d->hca, PRM_OP_DESTROY_QP, d->n, PRM_STAT_OK);
	flat_simple(srq->hca, PRM_OP_DESTROY_RMP, srq->n, PRM_STAT_OK);
	tear_down();
}

static void datagrams_arrive_through_an_srq(void **state)
{
	struct flat_qp_attr ud = { .st = PRM_QP_ST_UD, .qkey = 5, .mtu = 5 };

	(void)state;
	srq = flat_srq(1, 2, 0, NULL);
	ud.rq_type = PRM_RQ_TYPE_SRQ;
	ud.srqn = srq->n;
	pair(&plain, 4096);
	free_qp(a);
	free_qp(b);
	b = flat_qp(1, &ud);
	ud.rq_type = PRM_RQ_TYPE_RQ;
	a = flat_qp(0, &ud);
	flat_connect(a, b, &ud);
	flat_srq_recv(srq, to, 4096, rkey);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av(a, b, b->n, 5, NULL);
	flat_data(a, from, 10, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	assert_memory_equal(flat.mem + to + 40, flat.mem + from, 10);
	unpair();
	test_free(srq);
}

static uint32_t xrcd;
static struct flat_cq *xrc_cq;

static void set_up_xrc(void)
{
	struct flat_qp_attr initiator = { .st = PRM_QP_ST_XRC, .rq_type = PRM_RQ_TYPE_ZERO_SIZE };
	struct flat_qp_attr target = { .st = PRM_QP_ST_XRC, .rq_type = PRM_RQ_TYPE_SRQ };

	pair(&plain, 65536);
	free_qp(a);
	free_qp(b);
	xrcd = flat_simple(flat.hca[1], PRM_OP_ALLOC_XRCD, 0, PRM_STAT_OK);
	xrc_cq = flat_cq(flat.hca[1], 4, 64);
	srq = flat_srq(1, 3, xrcd, xrc_cq);
	target.xrcd = xrcd;
	a = flat_qp(0, &initiator);
	b = flat_qp(1, &target);
	flat_connect(a, b, &plain);
}

static void tear_down_xrc(void)
{
	unpair();
	test_free(srq);
	test_free(xrc_cq);
}

static void xrc_send(uint32_t srqn, uint32_t len)
{
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_xrc(a, srqn);
	flat_data(a, from, len, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 1000);
}

static void xrc_requests_name_their_srq(void **state)
{
	struct flat_srq *other;
	const uint8_t *cqe;

	(void)state;
	set_up_xrc();
	other = flat_srq(1, 2, xrcd, xrc_cq);
	flat_srq_recv(srq, to, 4096, rkey);
	flat_srq_recv(other, to + 8192, 4096, rkey);
	xrc_send(other->n, 5);
	xrc_send(srq->n, 6);
	cqe = flat_poll(xrc_cq);
	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, RESP_SEND);
	assert_int_equal(fld_get(cqe, FLD(0x20, 23, 0)), FLAT_SRQ_UIDX);
	assert_int_equal(fld_get(cqe, FLD(0x38, 23, 0)), b->n);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), 5);
	assert_memory_equal(flat.mem + to + 8192, flat.mem + from, 5);
	cqe = flat_poll(xrc_cq);
	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, FLD(0x2c, 31, 0)), 6);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	flat_expect_empty(b->recv_cq);
	test_free(other);
	tear_down_xrc();
}

static void xrc_writes_and_reads_use_the_srqs_domain(void **state)
{
	(void)state;
	set_up_xrc();
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_xrc(a, srq->n);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 5000, lkey);
	flat_post(a);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_xrc(a, srq->n);
	flat_raddr(a, to, rkey);
	flat_data(a, from + 8192, 5000, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_memory_equal(flat.mem + to, flat.mem + from, 5000);
	assert_memory_equal(flat.mem + from + 8192, flat.mem + from, 5000);
	tear_down_xrc();
}

static void an_srq_of_another_domain_is_invalid(void **state)
{
	uint32_t stranger;

	(void)state;
	set_up_xrc();
	stranger = flat_simple(flat.hca[1], PRM_OP_ALLOC_XRCD, 0, PRM_STAT_OK);
	test_free(srq);
	srq = flat_srq(1, 2, stranger, xrc_cq);
	flat_srq_recv(srq, to, 4096, rkey);
	xrc_send(srq->n, 5);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	flat_expect_empty(xrc_cq);
	tear_down_xrc();
}

static void xrc_domains_in_use_stay(void **state)
{
	(void)state;
	set_up_xrc();
	flat_simple(flat.hca[1], PRM_OP_DESTROY_XRC_SRQ, srq->n, PRM_STAT_OK);
	flat_simple(flat.hca[1], PRM_OP_DEALLOC_XRCD, xrcd, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_QP, b->n, PRM_STAT_OK);
	flat_simple(flat.hca[1], PRM_OP_DEALLOC_XRCD, xrcd, PRM_STAT_OK);
	tear_down_xrc();
}

/* Destroys the SRQ in the middle of a message, while the QP holds one of its WQEs. */
static void a_held_wqe_goes_with_its_srq(void **state)
{
	(void)state;
	set_up_xrc();
	flat_srq_recv(srq, to, 65536, rkey);
	fault_add(flat.fault, "drop:2", flat.now);
	xrc_send(srq->n, 8);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_XRC_SRQ, srq->n, PRM_STAT_OK);
	xrc_send(srq->n, 8);
	flat_run(LONG);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	tear_down_xrc();
}

enum { REMOTE_ABORTED = 0x22, PAGE_FAULT = 0x93, MESSAGE = 100 };

static void expect_fault(uint16_t index)
{
	const uint8_t *cqe = flat.mem + b->recv_cq->ring + 64 * b->recv_cq->ci;

	flat_expect_error(b->recv_cq, RESP_ERR, index, REMOTE_ABORTED);
	assert_int_equal(fld_get(cqe, FLD(0x34, 15, 8)), PAGE_FAULT);
}

static void set_up_paged(uint32_t service)
{
	struct flat_qp_attr sender = { .st = service, .qkey = 1, .rnr_retry = 7 }, receiver;

	srq = flat_srq(1, 2, 0, NULL);
	pair(&plain, 65536);
	free_qp(a);
	free_qp(b);
	receiver = on_srq();
	receiver.st = service;
	receiver.qkey = 1;
	a = flat_qp(0, &sender);
	b = flat_qp(1, &receiver);
	flat_connect(a, b, &sender);
}

static void tear_down_paged(void)
{
	unpair();
	test_free(srq);
}

static uint32_t key_on_demand(void)
{
	return flat_mr(flat.hca[1], flat.pd[1], to, 65536, LOCAL_WRITE | ON_DEMAND);
}

/* Posts two receives into absent pages, and a message: the first receive waits for its page fault,
 * and the retry of the message finds the second. */
static void fault_of_a_message(void)
{
	uint32_t key = key_on_demand();

	flat_srq_recv(srq, to, 4096, key);
	flat_srq_recv(srq, to, 4096, key);
	flat_send(a, OP_SEND, from, MESSAGE, lkey);
	flat_run(1);
	expect_fault(0);
	flat_expect_empty(a->send_cq);
}

static void message_arrives_after_all(void)
{
	flat_run(LONG);
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from, MESSAGE);
}

static void a_message_that_faults_comes_again(void **state)
{
	(void)state;
	set_up_paged(PRM_QP_ST_RC);
	fault_of_a_message();
	/* a changed link is no changed WQE, as software may free the WQE before it */
	flat_srq_free(srq, 0);
	message_arrives_after_all();
	tear_down_paged();
}

static void a_waiting_wqe_that_changes_is_reported(void **state)
{
	(void)state;
	set_up_paged(PRM_QP_ST_RC);
	fault_of_a_message();
	flat.mem[srq->ring + 16 + 3] ^= 1; /* a bit of the length */
	message_arrives_after_all();
	flat_expect_report("srq.waiting");
	tear_down_paged();
}

static void a_datagram_that_faults_is_lost(void **state)
{
	uint32_t key;

	(void)state;
	set_up_paged(PRM_QP_ST_UD);
	key = key_on_demand();
	flat_srq_recv(srq, to, 4096, key);
	flat_srq_recv(srq, to, 4096, key);
	for (uint16_t i = 0; i < 2; i++) {
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_av(a, b, b->n, 1, NULL);
		flat_data(a, from + i, MESSAGE, lkey);
		flat_post(a);
		flat_ring(a);
		flat_run(LONG / 100);
		flat_expect_done(a->send_cq, REQ, i);
		if (!i)
			expect_fault(0);
	}
	flat_expect_done(b->recv_cq, RESP_SEND, 1);
	assert_memory_equal(flat.mem + to + 40, flat.mem + from + 1, MESSAGE);
	assert_int_equal(flat_state(b), PRM_QP_STATE_RTS);
	tear_down_paged();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(qps_take_wqes_in_the_order_of_messages),
		IB(links_lead_the_way),
		IB(an_empty_srq_makes_the_sender_wait),
		IB(the_limit_is_reported_once),
		IB(a_qp_in_error_leaves_the_wqes_to_others),
		IB(a_broken_link_breaks_the_srq),
		IB(an_srq_in_use_stays),
		IB(datagrams_arrive_through_an_srq),
		IB(xrc_requests_name_their_srq),
		IB(xrc_writes_and_reads_use_the_srqs_domain),
		IB(an_srq_of_another_domain_is_invalid),
		IB(xrc_domains_in_use_stay),
		IB(a_held_wqe_goes_with_its_srq),
		IB(a_message_that_faults_comes_again),
		IB(a_waiting_wqe_that_changes_is_reported),
		IB(a_datagram_that_faults_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
