/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests as ibv_post_send(), ibv_post_recv() and ibv_post_srq_recv() pass them: which buffers and
 * address handles the checker looks at, and that the provider gets each call.
 *
 * Covers: libibverbs/check/queues.c, libibverbs/check/others.c
 */
#include "watched.h"

#include <stdlib.h>

static char memory[64];

/* Posts a request that names a buffer which nothing may write to. */
static void post_of_opcode(struct ibv_qp *qp, enum ibv_wr_opcode opcode, unsigned int flags)
{
	struct verbs_mr *vmr = watched_region(memory, 64, 0);
	struct ibv_sge sge = watched_sge(memory, 64, vmr);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 0x5, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags
	};

	assert_int_equal(verbs_check_post_send(qp, &wr, &bad), 0);
}

static void reads_and_atomics_write_to_their_buffers(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);

	(void)state;
	post_of_opcode(qp, IBV_WR_SEND, 0);
	post_of_opcode(qp, IBV_WR_RDMA_WRITE, 0);
	post_of_opcode(qp, IBV_WR_RDMA_WRITE_WITH_IMM, 0);
	says_nothing();
	post_of_opcode(qp, IBV_WR_RDMA_READ, 0);
	check_logged(
		"ibv_post_send: QP 0x40: wr_id 0x5: sg_list[0]: the answer of the READ writes");
	post_of_opcode(qp, IBV_WR_ATOMIC_CMP_AND_SWP, 0);
	check_logged("the answer of the atomic writes");
	post_of_opcode(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 0);
	check_logged("the answer of the atomic writes");
	assert_int_equal(provider.posts, 6);
}

static void inline_data_needs_no_region(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);
	struct ibv_sge sge = watched_sge(memory, 64, watched_region(memory, 8, 0));

	(void)state;
	assert_int_equal(watched_send(qp, 1, &sge, IBV_SEND_INLINE), 0);
	says_nothing();
	assert_int_equal(watched_send(qp, 1, &sge, 0), 0);
	check_logged("64 bytes at");
}

static void each_request_of_a_list_is_checked(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);
	struct ibv_sge sge = watched_sge(memory, 64, watched_region(memory, 64, 0));
	struct ibv_recv_wr *bad, wrs[2] = { { 1, &wrs[1], NULL, 0 }, { 2, NULL, &sge, 1 } };

	(void)state;
	assert_int_equal(verbs_check_post_recv(qp, wrs, &bad), 0);
	check_logged("ibv_post_recv: QP 0x40: wr_id 0x2: sg_list[0]: the receive writes");
}

/* The provider refuses such a list without reading it, so mistakes in it have no effect. */
static void a_list_above_the_limit_is_not_read(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);
	struct ibv_recv_wr *bad, wr = { .num_sge = 3 };
	struct ibv_send_wr *bad_send, send = { .num_sge = -1 };

	(void)state;
	assert_int_equal(verbs_check_post_recv(qp, &wr, &bad), 0);
	assert_int_equal(verbs_check_post_send(qp, &send, &bad_send), 0);
	assert_int_equal(verbs_check_post_srq_recv(watched_srq(), &wr, &bad), 0);
	says_nothing();
	assert_int_equal(provider.posts, 3);
}

static void a_receive_of_an_srq_is_checked_on_its_pd(void **state)
{
	struct ibv_srq *srq = watched_srq();
	struct ibv_sge sge = watched_sge(memory, 64, watched_region(memory, 64, 0));
	struct ibv_recv_wr *bad, wr = { 3, NULL, &sge, 1 };

	(void)state;
	assert_int_equal(verbs_check_post_srq_recv(srq, &wr, &bad), 0);
	check_logged("ibv_post_srq_recv: SRQ 0x0: wr_id 0x3: sg_list[0]: the receive writes");
	srq->pd = &other_pd;
	assert_int_equal(verbs_check_post_srq_recv(srq, &wr, &bad), 0);
	check_logged("is of an MR on PD 1, but the SRQ is on PD 2");
	assert_int_equal(verbs_check_destroy_srq(srq), 0);
}

static void a_datagram_needs_a_live_handle_of_its_pd(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_UD, watched_cq(64), NULL);
	struct ibv_ah_attr attr = { .port_num = 1 };
	struct ibv_send_wr *bad, wr = { .wr_id = 9, .opcode = IBV_WR_SEND };

	(void)state;
	assert_int_equal(verbs_check_create_ah(&watched_pd, &attr, &wr.wr.ud.ah), 0);
	assert_int_equal(verbs_check_post_send(qp, &wr, &bad), 0);
	says_nothing();
	provider.err = EBUSY;
	assert_int_equal(verbs_check_destroy_ah(wr.wr.ud.ah), EBUSY);
	provider.err = 0;
	assert_int_equal(verbs_check_post_send(qp, &wr, &bad), 0);
	says_nothing();
	assert_int_equal(verbs_check_destroy_ah(wr.wr.ud.ah), 0);
	assert_int_equal(verbs_check_post_send(qp, &wr, &bad), 0);
	check_logged("wr_id 0x9: wr.ud.ah was destroyed");
	assert_int_equal(verbs_check_create_ah(&other_pd, &attr, &wr.wr.ud.ah), 0);
	assert_int_equal(verbs_check_post_send(qp, &wr, &bad), 0);
	check_logged("wr.ud.ah is of PD 2, but the QP is on PD 1");
}

/* Direct verbs make queue pairs that the checker has not seen, so it does not judge them. */
static void a_queue_pair_without_a_record_is_not_judged(void **state)
{
	struct ibv_qp qp = { .context = watched, .pd = &watched_pd };
	struct ibv_sge sge = watched_sge(memory, 640, watched_region(memory, 64, 0));

	(void)state;
	assert_int_equal(watched_send(&qp, 1, &sge, 0), 0);
	assert_int_equal(watched_recv(&qp, 1, &sge), 0);
	says_nothing();
	assert_int_equal(provider.posts, 2);
}

/* The provider refuses the list in most states without reading it, so the checker must not read it
 * either. */
static void a_list_at_null_is_not_read(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);
	struct ibv_send_wr *bad_send, send = { .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr atomic = { .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };
	struct ibv_recv_wr *bad, wr = { .num_sge = 1 };

	(void)state;
	assert_int_equal(verbs_check_post_send(qp, &send, &bad_send), 0);
	assert_int_equal(verbs_check_post_send(qp, &atomic, &bad_send), 0);
	assert_int_equal(verbs_check_post_recv(qp, &wr, &bad), 0);
	assert_int_equal(verbs_check_post_srq_recv(watched_srq(), &wr, &bad), 0);
	says_nothing();
	assert_int_equal(provider.posts, 4);
}

/* The provider stops where the queue is full, so the checker must not follow a list that leads back
 * for ever. */
static void a_list_that_leads_back_ends(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(4096), NULL);
	struct ibv_send_wr *bad_send, send = { .next = &send, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr *bad, wr = { .next = &wr };

	(void)state;
	assert_int_equal(verbs_check_post_send(qp, &send, &bad_send), ENOMEM);
	assert_ptr_equal(bad_send, &send);
	assert_int_equal(verbs_check_post_recv(qp, &wr, &bad), ENOMEM);
	assert_int_equal(verbs_check_post_srq_recv(watched_srq(), &wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr);
	says_nothing();
}

enum { MOST = 1 << 16 }; /* the checker reads so many requests of a list */

static void a_list_of_sends_is_read_up_to_the_largest_queue(void **state)
{
	struct ibv_sge sge = watched_sge(memory, 64, watched_region(memory, 64, 0));
	struct ibv_send_wr *wrs = calloc(MOST + 1, sizeof(*wrs)), *bad;
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(4096), NULL);

	(void)state;
	assert_non_null(wrs);
	for (int i = 0; i < MOST; i++)
		wrs[i] = (struct ibv_send_wr){ .next = &wrs[i + 1], .opcode = IBV_WR_SEND };
	wrs[MOST].opcode = IBV_WR_RDMA_READ;
	wrs[MOST].sg_list = &sge;
	wrs[MOST].num_sge = 1;
	assert_int_equal(verbs_check_post_send(qp, wrs, &bad), ENOMEM);
	says_nothing();
	wrs[MOST - 1] = wrs[MOST];
	assert_int_equal(verbs_check_post_send(qp, wrs, &bad), ENOMEM);
	check_logged("wr_id 0x0: sg_list[0]: the answer of the READ writes");
	free(wrs);
}

static void a_list_of_receives_is_read_up_to_the_largest_queue(void **state)
{
	struct ibv_sge sge = watched_sge(memory, 64, watched_region(memory, 64, 0));
	struct ibv_recv_wr *wrs = calloc(MOST + 1, sizeof(*wrs)), *bad;
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(4096), NULL);
	struct ibv_srq *srq = watched_srq();

	(void)state;
	assert_non_null(wrs);
	for (int i = 0; i < MOST; i++)
		wrs[i].next = &wrs[i + 1];
	wrs[MOST].sg_list = &sge;
	wrs[MOST].num_sge = 1;
	assert_int_equal(verbs_check_post_recv(qp, wrs, &bad), ENOMEM);
	assert_int_equal(verbs_check_post_srq_recv(srq, wrs, &bad), ENOMEM);
	says_nothing();
	wrs[MOST - 1] = wrs[MOST];
	assert_int_equal(verbs_check_post_recv(qp, wrs, &bad), ENOMEM);
	check_logged("ibv_post_recv: QP 0x40: wr_id 0x0: sg_list[0]: the receive writes");
	assert_int_equal(verbs_check_post_srq_recv(srq, wrs, &bad), ENOMEM);
	check_logged("ibv_post_srq_recv: SRQ 0x0: wr_id 0x0: sg_list[0]: the receive writes");
	free(wrs);
}

static void a_refused_request_needs_no_place_for_its_address(void **state)
{
	struct ibv_qp *qp = watched_qp(IBV_QPT_RC, watched_cq(64), NULL);
	struct ibv_recv_wr wr = { 0 };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND };

	(void)state;
	provider.takes = 0;
	assert_int_equal(verbs_check_post_send(qp, &send, NULL), ENOMEM);
	assert_int_equal(verbs_check_post_recv(qp, &wr, NULL), ENOMEM);
	assert_int_equal(verbs_check_post_srq_recv(watched_srq(), &wr, NULL), ENOMEM);
	says_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED_TEST(reads_and_atomics_write_to_their_buffers),
		WATCHED_TEST(inline_data_needs_no_region),
		WATCHED_TEST(each_request_of_a_list_is_checked),
		WATCHED_TEST(a_list_above_the_limit_is_not_read),
		WATCHED_TEST(a_receive_of_an_srq_is_checked_on_its_pd),
		WATCHED_TEST(a_datagram_needs_a_live_handle_of_its_pd),
		WATCHED_TEST(a_queue_pair_without_a_record_is_not_judged),
		WATCHED_TEST(a_list_at_null_is_not_read),
		WATCHED_TEST(a_list_that_leads_back_ends),
		WATCHED_TEST(a_list_of_sends_is_read_up_to_the_largest_queue),
		WATCHED_TEST(a_list_of_receives_is_read_up_to_the_largest_queue),
		WATCHED_TEST(a_refused_request_needs_no_place_for_its_address),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
