/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_test.c - conversion of CQEs to work completions by ibv_poll_cq() and by the extended
 * readers, for entries of 32 bytes, as in older firmware, and of 64.
 *
 * Covers: providers/mlx4/data/cq/cqe.h, providers/mlx4/data/cq/poll_cq.c,
 * providers/mlx4/data/cq/cq_ex.c, providers/mlx4/data/cq/cq_ring.c,
 * providers/mlx4/data/cq/cqe_error.c
 */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/wqe.h"
#include "prm/mlx5/cqe.h"
#include "util/bits.h"

static void post_sends(struct rig *rig, unsigned int n)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;

	for (unsigned int i = 0; i < n; i++) {
		wr.wr_id = 100 + i;
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	}
}

static void post_recvs(struct rig *rig, unsigned int n)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	for (unsigned int i = 0; i < n; i++) {
		wr.wr_id = 200 + i;
		assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	}
}

static int poll_cq(struct rig *rig, int n, struct ibv_wc *wc)
{
	memset(wc, 0xee, (size_t)n * sizeof(*wc));
	return mlx4_poll_cq(&rig->cq->vcq.cq, n, wc);
}

/* 128 and 256: mlx4 stretches CQEs to the cache lines of such hosts */
static const uint32_t entry_sizes[] = { M4_CQE_SIZE, M4_CQE_LARGE, 128, 256 };

static void entries_of_each_size_are_read_lap_by_lap(void **state)
{
	(void)state;
	for (unsigned int s = 0; s < ARRAY_SIZE(entry_sizes); s++) {
		const struct rig_options options = { .cqe_size = entry_sizes[s] };
		struct rig *rig = rig_new(&options);
		struct ibv_wc wc;

		for (uint32_t i = 0; i < 40; i++) {
			const struct rig_cqe cqe = { .is_send = true,
						     .opcode = M4_SEND,
						     .wqe_index = (uint16_t)i };

			post_sends(rig, 1);
			assert_int_equal(poll_cq(rig, 1, &wc), 0);
			rig_complete(rig, &cqe);
			assert_int_equal(poll_cq(rig, 1, &wc), 1);
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			assert_int_equal(wc.opcode, IBV_WC_SEND);
			assert_int_equal(wc.wr_id, 100);
			assert_int_equal(wc.qp_num, RIG_QPN);
			assert_int_equal(be32toh(rig->cq->dbrec[0]), i + 1);
		}
		rig_free(rig);
	}
}

/* A request's CQE names its WQE only, so opcode and flags of the completion come from that slot. */
static void requests_complete_as_what_they_were(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		enum ibv_wc_opcode done_as;
		unsigned int flags;
	} cases[] = {
		{ IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0 },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE, IBV_WC_WITH_IMM },
		{ IBV_WR_SEND, IBV_WC_SEND, 0 },
		{ IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_WITH_IMM },
		{ IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, 0 },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0 },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0 },
	};
	struct ibv_sge sge = { 0x1000, 8, 1 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_send_wr *bad, second = { .opcode = cases[i].opcode,
						    .sg_list = &sge,
						    .num_sge = 1,
						    .send_flags = IBV_SEND_SIGNALED };
		struct ibv_send_wr first = second;
		struct rig *rig = rig_new(NULL);
		struct ibv_wc wc;

		first.next = &second;
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &first, &bad), 0);
		first.next = NULL;
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &first, &bad), 0);
		for (uint16_t index = 0; index < 3; index++) {
			rig_complete(rig, &(struct rig_cqe){ .is_send = true,
							     .opcode = M4_NOP,
							     .wqe_index = index });
			assert_int_equal(poll_cq(rig, 1, &wc), 1);
			assert_int_equal(wc.opcode, cases[i].done_as);
			assert_int_equal(wc.wc_flags, cases[i].flags);
		}
		rig_free(rig);
	}
}

/* PRM: a CQE has 16 bits of the index of its WQE, whatever the size of the ring, so the library
 * masks them. */
static void wqe_index_is_taken_modulo_the_ring(void **state)
{
	static const uint32_t sends[] = { 1, 60, 500, 2000 };

	(void)state;
	for (unsigned int s = 0; s < ARRAY_SIZE(sends); s++) {
		const struct rig_options options = { .send_wr = sends[s] };
		struct rig *rig = rig_new(&options);
		struct wq *wq = &rig->qp->sq.wq;
		struct ibv_wc wc;

		for (uint32_t back = 3; back; back--)
			for (uint32_t bit = 0; bit < 32; bit++) {
				struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND };

				wq->head = wq->tail = (1u << bit) - back;
				wq->limit = wq->head + wq->max_post;
				cqe.wqe_index = (uint16_t)wq->head;
				memset(wq->slots, 0, (wq->mask + 1) * sizeof(*wq->slots));
				post_sends(rig, 1);
				rig_complete(rig, &cqe);
				assert_int_equal(poll_cq(rig, 1, &wc), 1);
				assert_int_equal(wc.wr_id, 100);
				assert_int_equal(wq->tail, wq->head);
			}
		rig_free(rig);
	}
}

static void message_says_from_whom_it_is(void **state)
{
	const struct rig_cqe cqe = { .opcode = M4_RECV_SEND_IMM,
				     .byte_count = 77,
				     .imm = 0x11223344,
				     .rqpn = 1u << 31 | 5 << 24 | 0xabcdef,
				     .sl_rlid = 0x70001234 };
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	post_recvs(rig, 1);
	rig_complete(rig, &cqe);
	assert_int_equal(poll_cq(rig, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wr_id, 200);
	assert_int_equal(wc.byte_len, 77);
	assert_int_equal(be32toh(wc.imm_data), 0x11223344);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM | IBV_WC_GRH);
	assert_int_equal(wc.src_qp, 0xabcdef);
	assert_int_equal(wc.dlid_path_bits, 5);
	assert_int_equal(wc.slid, 0x1234);
	assert_int_equal(wc.sl, 7);
	rig_free(rig);
}

static unsigned int flags_for(const struct rig_options *options, uint32_t status)
{
	const struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .status = status };
	struct rig *rig = rig_new(options);
	struct ibv_wc wc;

	post_recvs(rig, 1);
	rig_complete(rig, &cqe);
	assert_int_equal(poll_cq(rig, 1, &wc), 1);
	rig_free(rig);
	return wc.wc_flags;
}

/* Checksums are right only if the adapter set all their bits on a datagram, as the bits mean
 * something else on other messages. */
static void checksums_are_told(void **state)
{
	const uint32_t right = 1u << 28 | 1u << 22 | 1u << 2;
	struct rig_options options = { .type = IBV_QPT_UD, .checksums = true };

	(void)state;
	for (uint32_t missing = 0; missing < 32; missing++)
		assert_int_equal(flags_for(&options, right & ~(1u << missing)),
				 right >> missing & 1 ? 0 : IBV_WC_IP_CSUM_OK);
	options.port = 2;
	options.second_port_is_ethernet = true;
	assert_int_equal(flags_for(&options, right), 0);
	options.port = 1;
	options.checksums = false;
	assert_int_equal(flags_for(&options, right), 0);
	options.checksums = true;
	options.type = IBV_QPT_RC;
	assert_int_equal(flags_for(&options, right), 0);
}

/* Ports may differ in their link layer, so the QP's port decides the meaning of the bits. */
static void priority_is_read_by_the_port_of_the_qp(void **state)
{
	const struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .sl_rlid = 0xa0000000 };

	(void)state;
	for (uint8_t port = 1; port <= 2; port++) {
		const struct rig_options options = { .port = port,
						     .second_port_is_ethernet = true };
		struct rig *rig = rig_new(&options);
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct ibv_poll_cq_attr attr = { 0 };
		struct ibv_wc wc;

		post_recvs(rig, 2);
		rig_complete(rig, &cqe);
		rig_complete(rig, &cqe);
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.sl, port == 2 ? 5 : 10);
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(ibv_wc_read_sl(cqx), port == 2 ? 5 : 10);
		ibv_end_poll(cqx);
		rig_free(rig);
	}
}

static void priority_is_that_of(struct rig *rig, unsigned int port)
{
	const struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .sl_rlid = 0xa0000000 };
	struct ibv_wc wc;

	post_recvs(rig, 1);
	rig_complete(rig, &cqe);
	assert_int_equal(poll_cq(rig, 1, &wc), 1);
	assert_int_equal(wc.sl, port == 2 ? 5 : 10);
}

/* In SQD the port may change, alone or with a path; a path without a port flag carries one too.
 * INIT2RTR has a path as well, with the QP's own port: older kernels ignore it there. */
static void priority_follows_the_port_in_sqd(void **state)
{
	const struct rig_options options = { .second_port_is_ethernet = true };
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD }, rts = { .qp_state = IBV_QPS_RTS },
			   move = { .qp_state = IBV_QPS_SQD };
	struct rig *rig = rig_new(&options);
	struct ibv_qp *qp = &rig->qp->vqp.qp;

	(void)state;
	priority_is_that_of(rig, 1);
	assert_int_equal(mlx4_qp_modify(qp, &sqd, IBV_QP_STATE), 0);
	move.ah_attr.port_num = 2;
	assert_int_equal(mlx4_qp_modify(qp, &move, IBV_QP_AV), 0);
	priority_is_that_of(rig, 2);
	move.port_num = move.ah_attr.port_num = 1;
	assert_int_equal(mlx4_qp_modify(qp, &move, IBV_QP_AV | IBV_QP_PORT), 0);
	priority_is_that_of(rig, 1);
	move.port_num = 2;
	assert_int_equal(mlx4_qp_modify(qp, &move, IBV_QP_STATE | IBV_QP_PORT), 0);
	priority_is_that_of(rig, 2);
	assert_int_equal(mlx4_qp_modify(qp, &rts, IBV_QP_STATE), 0);
	priority_is_that_of(rig, 2);
	move.qp_state = IBV_QPS_RTR;
	assert_int_equal(mlx4_qp_modify(qp, &move, IBV_QP_STATE | IBV_QP_AV), 0);
	priority_is_that_of(rig, 2);
	rig_free(rig);
}

/* Polls one completion with ibv_start_poll(), and returns its wr_id. start_poll has a fast path for
 * a message to the same QP's receive ring as the completion before. */
static uint64_t start_poll_one(struct rig *rig, const struct rig_cqe *cqe)
{
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	rig_complete(rig, cqe);
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(ibv_wc_read_opcode(cqx), IBV_WC_RECV);
	assert_int_equal(ibv_wc_read_qp_num(cqx), RIG_QPN);
	assert_int_equal(ibv_next_poll(cqx), ENOENT);
	ibv_end_poll(cqx);
	return cqx->wr_id;
}

static uint64_t start_poll_receive(struct rig *rig, uint64_t wr_id, uint8_t above_qpn)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;

	assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	return start_poll_one(rig,
			      &(struct rig_cqe){ .opcode = M4_RECV_SEND, .above_qpn = above_qpn });
}

static void short_way_is_left_for_what_is_beside_the_number(void **state)
{
	static const uint8_t beside[] = { 0, 0, 0x40, 0x40, 0, 0xff, 0xff, 0 };
	struct rig *rig = rig_new(NULL);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(beside); i++)
		assert_int_equal(start_poll_receive(rig, 1000 + i, beside[i]), 1000 + i);
	rig_free(rig);
}

/* After a completion of an unknown QP, the fast path must not complete on the QP before, as it
 * compares with none. */
static void short_way_is_left_for_other_qps(void **state)
{
	const struct rig_cqe other = { .opcode = M4_RECV_SEND, .qpn = 0x99 };
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(start_poll_receive(rig, 10, 0), 10);
		assert_int_equal(start_poll_receive(rig, 11, 0), 11);
		rig_complete(rig, &other);
		assert_int_equal(poll_cq(rig, 1, &wc), 0);
	}
	rig_free(rig);
}

/* A new QP may reuse a number and receive through an SRQ, so the fast path must not apply. */
static void short_way_is_left_for_an_srq(void **state)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 3, .max_sge = 1 } };
	struct ibv_recv_wr wr = { .wr_id = 77 }, *bad;
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *vsrq;

	(void)state;
	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &vsrq), 0);
	assert_int_equal(start_poll_receive(rig, 10, 0), 10);
	assert_int_equal(start_poll_receive(rig, 11, 0), 11);
	mlx4_cq_clean(rig->cq, rig->qp);
	rig->qp->srq = to_msrq(&vsrq->srq);
	for (unsigned int i = 0; i < 3; i++) {
		const struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .wqe_index = (uint16_t)i };

		assert_int_equal(mlx4_post_srq_recv(&vsrq->srq, &wr, &bad), 0);
		assert_int_equal(start_poll_one(rig, &cqe), 77);
	}
	rig->qp->srq = NULL;
	assert_int_equal(mlx4_srq_destroy(&vsrq->srq), 0);
	rig_free(rig);
}

static void errors_say_which_request_and_why(void **state)
{
	static const struct {
		unsigned int syndrome;
		enum ibv_wc_status status;
	} cases[] = {
		{ SYND_LOCAL_LENGTH, IBV_WC_LOC_LEN_ERR },
		{ SYND_LOCAL_QP_OP, IBV_WC_LOC_QP_OP_ERR },
		{ SYND_LOCAL_PROT, IBV_WC_LOC_PROT_ERR },
		{ SYND_FLUSH, IBV_WC_WR_FLUSH_ERR },
		{ SYND_REMOTE_ACCESS, IBV_WC_REM_ACCESS_ERR },
		{ SYND_RETRY_EXCEEDED, IBV_WC_RETRY_EXC_ERR },
		{ SYND_REMOTE_ABORTED, IBV_WC_REM_ABORT_ERR },
		{ 0x7f, IBV_WC_GENERAL_ERR },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct rig_cqe cqe = { .is_send = true,
					     .wqe_index = 1,
					     .syndrome = cases[i].syndrome,
					     .vendor = 0x99 };
		struct rig *rig = rig_new(NULL);
		struct ibv_wc wc;

		post_sends(rig, 2);
		rig_complete(rig, &cqe);
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.status, cases[i].status);
		assert_int_equal(wc.wr_id, 101);
		assert_int_equal(wc.vendor_err, 0x99);
		rig_free(rig);
	}
}

static void timestamp_is_where_others_have_the_lid(void **state)
{
	const struct rig_options options = { .wc_flags = IBV_WC_EX_WITH_BYTE_LEN |
							 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	static const struct {
		uint32_t high;
		uint16_t low;
		uint64_t time;
	} cases[] = {
		{ 0x89abcdef, 0x0001, 0x89abcdef0001 },
		{ 0x89abcdef, 0xffff, 0x89abcdefffff },
		/* the upper half was written late, so it is one behind */
		{ 0x89abcdef, 0x0000, 0x89abcdf00000 },
		{ 0xffffffff, 0x0000, 0 },
	};
	struct rig *rig = rig_new(&options);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	post_recvs(rig, ARRAY_SIZE(cases));
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		rig_complete(rig, &(struct rig_cqe){ .opcode = M4_RECV_SEND,
						     .sl_rlid = cases[i].high,
						     .time_low = cases[i].low });
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(ibv_wc_read_completion_ts(cqx), cases[i].time);
		assert_int_equal(ibv_wc_read_slid(cqx), 0);
		assert_int_equal(ibv_wc_read_sl(cqx), 0);
		ibv_end_poll(cqx);
	}
	rig_free(rig);
}

/* A reset drops the CQEs of its QP, as their requests are gone; others stay, in order. */
static void completions_of_a_qp_in_reset_go(void **state)
{
	const struct rig_cqe gone = { .is_send = true, .opcode = M4_SEND },
			     stays = { .is_send = true, .opcode = M4_SEND, .qpn = 0x99 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	post_sends(rig, 3);
	rig_complete(rig, &gone);
	rig_complete(rig, &stays);
	rig_complete(rig, &gone);
	assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(rig->cq->ci, 2);
	assert_int_equal(be32toh(rig->cq->dbrec[0]), 2);
	/* An unknown QP was destroyed, so its CQE is skipped. */
	assert_int_equal(poll_cq(rig, 1, &wc), 0);
	assert_int_equal(rig->cq->ci, 3);
	rig_free(rig);
}

/* Unread CQEs move to the new ring, followed by later ones, from each position of the old ring. */
static void unread_completions_move_from_entries_of(uint32_t cqe_size)
{
	static const int sizes[] = { 31, 7, 63, 15 };
	const struct rig_options options = { .cqe_size = cqe_size };

	for (uint32_t read = 0; read < 20; read++) {
		struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND };
		struct rig *rig = rig_new(&options);
		struct ibv_wc wc[3];

		for (uint32_t i = 0; i < read; i++) {
			rig_complete(rig, &cqe);
			assert_int_equal(poll_cq(rig, 1, wc), 1);
		}
		for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
			cqe.wqe_index = 1;
			rig_complete(rig, &cqe);
			cqe.wqe_index = 2;
			rig_complete(rig, &cqe);
			assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, sizes[i]), 0);
			assert_int_equal(rig->cq->vcq.cq.cqe, sizes[i]);
			cqe.wqe_index = 3;
			rig_complete(rig, &cqe);
			post_sends(rig, 3);
			assert_int_equal(poll_cq(rig, 3, wc), 3);
			assert_int_equal(poll_cq(rig, 1, wc), 0);
		}
		rig_free(rig);
	}
}

static void unread_completions_move_to_the_new_ring(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(entry_sizes); i++)
		unread_completions_move_from_entries_of(entry_sizes[i]);
}

/* A CQ holds exactly as many CQEs as it reports. */
static void unread_completions_are_not_lost_to_a_small_ring(void **state)
{
	const struct rig_options options = { .send_wr = 16 };
	struct rig *rig = rig_new(&options);
	struct ibv_wc wc[8];

	(void)state;
	assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, 31), 0);
	rig->cq_pi = rig->cq->ci;
	post_sends(rig, 8);
	for (uint16_t i = 0; i < 8; i++)
		rig_complete(rig, &(struct rig_cqe){
					  .is_send = true, .opcode = M4_SEND, .wqe_index = i });
	assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, 7), EINVAL);
	assert_int_equal(rig->cq->vcq.cq.cqe, 31);
	assert_int_equal(poll_cq(rig, 1, wc), 1);
	assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, 7), 0);
	assert_int_equal(poll_cq(rig, 8, wc), 7);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(wc[i].wr_id, 101 + i);
	rig_free(rig);
}

/* Without a resize CQE, the adapter may still write to the old ring, so both rings must stay
 * allocated. */
static void a_ring_without_end_keeps_both(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_cq *cq = &rig->cq->vcq.cq;
	uint64_t lost;
	void *before;
	int cqe;

	(void)state;
	assert_int_equal(mlx4_cq_resize(cq, 31), 0);
	cqe = cq->cqe;
	before = rig->cq->buf.addr;
	rig_ring_has_no_end = true;
	assert_int_equal(mlx4_cq_resize(cq, 127), EIO);
	rig_ring_has_no_end = false;
	lost = rig_new_ring;
	assert_int_equal(cq->cqe, cqe);
	assert_ptr_equal(rig->cq->buf.addr, before);
	assert_int_equal(mlx4_cq_resize(cq, 127), 0);
	assert_int_not_equal(rig_new_ring, lost);
	rig_free(rig);
}

/* Late CQEs beyond the new ring's size must not overwrite each other. The new ring has 8 entries
 * here, so the ninth CQE is refused. */
static void late_completions_are_no_more_than_the_ring_has(void **state)
{
	static const struct {
		unsigned int late;
		int ret;
	} cases[] = { { 7, 0 }, { 8, 0 }, { 9, EIO }, { 20, EIO } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *rig = rig_new(NULL);

		assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, 31), 0);
		rig->cq_pi = rig->cq->ci;
		rig_late_cqes = cases[i].late;
		assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, 7), cases[i].ret);
		rig_late_cqes = 0;
		rig_free(rig);
	}
}

/* The adapter may write CQEs to the new ring before the command returns, since it switches to that
 * ring when it executes the command. PRM: Resize CQ */
static void completions_come_to_the_new_ring_at_once(void **state)
{
	static const int sizes[] = { 31, 7, 63, 15 };
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc[4];

	(void)state;
	rig_early_cqes = 2;
	for (unsigned int i = 0; i < 20; i++) {
		rig->cq_pi = rig->cq->ci;
		rig_complete(rig, &(struct rig_cqe){ .is_send = true, .opcode = M4_SEND });
		rig->qp->sq.wq.head = rig->qp->sq.wq.tail = 0;
		post_sends(rig, 3);
		assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, sizes[i % ARRAY_SIZE(sizes)]), 0);
		assert_int_equal(poll_cq(rig, 4, wc), 3);
		for (unsigned int n = 0; n < 3; n++)
			assert_int_equal(wc[n].wr_id, 100 + n);
	}
	rig_early_cqes = 0;
	rig_free(rig);
}

/* An allocator that resizes the CQ during its own call, as another thread might */
struct meddler {
	struct provider_pd domain;
	struct provider_pd base;
	struct ibv_cq *cq;
	int cqe;                           /* size of that resize, once; 0: none */
	size_t ring_offset, record_offset; /* offsets of the returned memory from its alignment */
	unsigned int given, back;
};

static void *meddler_give(struct ibv_pd *pd, void *arg, size_t size, size_t alignment,
			  uint64_t type)
{
	struct meddler *meddler = arg;
	int cqe = meddler->cqe;
	size_t room = align_up(size, RIG_PAGE);
	uint8_t *addr = aligned_alloc(RIG_PAGE, room);

	(void)pd;
	(void)type;
	meddler->cqe = 0;
	meddler->given++;
	if (cqe)
		assert_int_equal(mlx4_cq_resize(meddler->cq, cqe), 0);
	memset(addr, 0, room);
	return addr + (alignment == RIG_PAGE ? meddler->ring_offset : meddler->record_offset);
}

static void meddler_take(struct ibv_pd *pd, void *arg, void *addr, uint64_t type)
{
	struct meddler *meddler = arg;

	(void)pd;
	(void)type;
	meddler->back++;
	free((void *)((uintptr_t)addr / RIG_PAGE * RIG_PAGE));
}

static int meddler_cq(struct rig *rig, struct meddler *meddler)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 31,
						  .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
						  .parent_domain = &meddler->domain.pd };
	struct verbs_cq *vcq;
	int ret;

	meddler->domain.pd.context = &rig->ctx->vctx.context;
	meddler->domain.base = &meddler->base;
	meddler->domain.alloc = meddler_give;
	meddler->domain.free = meddler_take;
	meddler->domain.pd_context = meddler;
	ret = mlx4_cq_create(&rig->ctx->vctx.context, &attr, &vcq);
	meddler->cq = ret ? NULL : &vcq->cq;
	return ret;
}

/* A lockless poller may still use the mask of the largest former ring, so no ring gets less memory
 * than that. */
static void rings_do_not_shrink_below_another_threads(void **state)
{
	struct meddler meddler = { .given = 0 };
	struct rig *rig = rig_new(NULL);
	struct mlx4_cq *own = rig->cq;
	struct ibv_cq *cq;

	(void)state;
	assert_int_equal(meddler_cq(rig, &meddler), 0);
	cq = meddler.cq;
	rig->cq = to_mcq(cq);
	rig->cq_pi = 0;
	meddler.cqe = 1023;
	assert_int_equal(mlx4_cq_resize(cq, 7), 0);
	assert_int_equal(cq->cqe, 7);
	assert_int_equal(rig->cq->mask, 7);
	assert_true(rig->cq->buf.size >= 1024 * M4_CQE_LARGE);
	assert_int_equal(mlx4_cq_destroy(cq), 0);
	assert_int_equal(meddler.given, meddler.back);
	rig->cq = own;
	rig_free(rig);
}

/* The kernel pins the pages of a ring, so a custom allocator's memory must be aligned. */
static void what_an_allocator_gives_begins_where_it_must(void **state)
{
	static const struct {
		size_t ring, record;
		int ret;
	} cases[] = { { 0, 0, 0 },  { 64, 0, EINVAL }, { 2048, 0, EINVAL },
		      { 0, 64, 0 }, { 0, 8, 0 },       { 0, 4, EINVAL } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct meddler meddler = { .ring_offset = cases[i].ring,
					   .record_offset = cases[i].record };
		struct rig *rig = rig_new(NULL);

		assert_int_equal(meddler_cq(rig, &meddler), cases[i].ret);
		assert_true(meddler.given);
		if (meddler.cq)
			assert_int_equal(mlx4_cq_destroy(meddler.cq), 0);
		assert_int_equal(meddler.given, meddler.back);
		rig_free(rig);
	}
}

/* ---- runs of completions ---- */

#define RUN 32

/* Kinds of CQEs: requests and messages, failures, and CQEs of unknown QPs */
static const struct rig_cqe kinds[] = {
	{ .is_send = true, .opcode = M4_SEND, .byte_count = 5 },
	{ .is_send = true, .opcode = M4_SEND, .byte_count = 6 },
	{ .is_send = true, .opcode = M4_ATOMIC_FA, .byte_count = 77 },
	{ .is_send = true, .syndrome = SYND_FLUSH },
	{ .opcode = M4_RECV_SEND, .byte_count = 7, .rqpn = 0x123, .sl_rlid = 0x30000042 },
	{ .opcode = M4_RECV_SEND,
	  .byte_count = 8,
	  .rqpn = 1u << 31 | 2 << 24 | 0x456,
	  .imm = 0x9f },
	{ .opcode = M4_RECV_SEND_IMM, .byte_count = 9, .imm = 0x77665544 },
	{ .opcode = M4_RECV_SEND_INVAL, .byte_count = 10, .imm = 0x5678 },
	{ .opcode = M4_RECV_WRITE_IMM, .byte_count = 11, .imm = 0x1 },
	{ .syndrome = SYND_FLUSH },
	{ .is_send = true, .opcode = M4_SEND, .qpn = 0x99 },
	{ .opcode = M4_RECV_SEND, .qpn = 0x99 },
};

static void post_mix(struct rig *rig, const unsigned int *run, unsigned int n)
{
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED }, *bad;

	for (unsigned int i = 0; i < n; i++) {
		const struct rig_cqe *kind = &kinds[run[i]];
		bool is_atomic = kind->opcode == M4_ATOMIC_FA;

		if (kind->qpn)
			continue;
		wr.wr_id = 100 + i;
		wr.opcode = is_atomic ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_SEND;
		if (kind->is_send)
			assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		else
			assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp,
							&(struct ibv_recv_wr){ .wr_id = 100 + i },
							&(struct ibv_recv_wr *){ NULL }),
					 0);
	}
}

static enum ibv_wc_opcode opcode_of(const struct rig_cqe *kind)
{
	if (kind->is_send)
		return kind->opcode == M4_ATOMIC_FA ? IBV_WC_FETCH_ADD : IBV_WC_SEND;
	return kind->opcode == M4_RECV_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
}

static unsigned int flags_of(const struct rig_cqe *kind)
{
	unsigned int flags = kind->rqpn >> 31;

	if (kind->is_send)
		return 0;
	if (kind->opcode == M4_RECV_SEND_INVAL)
		return flags | IBV_WC_WITH_INV;
	return flags | (kind->opcode == M4_RECV_SEND ? 0 : IBV_WC_WITH_IMM);
}

static void check_message(const struct ibv_wc *wc, const struct rig_cqe *kind)
{
	assert_int_equal(wc->src_qp, kind->rqpn & 0xffffff);
	assert_int_equal(wc->slid, kind->sl_rlid & 0xffff);
	assert_int_equal(wc->sl, kind->sl_rlid >> 28);
	assert_int_equal(wc->dlid_path_bits, kind->rqpn >> 24 & 0x7f);
	assert_int_equal(wc->pkey_index, kind->imm & 0x7f);
	if (kind->opcode == M4_RECV_SEND_INVAL)
		assert_int_equal(wc->invalidated_rkey, kind->imm);
	else
		assert_int_equal(be32toh(wc->imm_data), kind->imm);
}

static void check_wc(const struct ibv_wc *wc, const struct rig_cqe *kind, uint64_t wr_id)
{
	assert_int_equal(wc->wr_id, wr_id);
	assert_int_equal(wc->qp_num, RIG_QPN);
	assert_int_equal(wc->status, kind->syndrome ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
	if (kind->syndrome)
		return;
	assert_int_equal(wc->vendor_err, 0);
	assert_int_equal(wc->opcode, opcode_of(kind));
	assert_int_equal(wc->wc_flags, flags_of(kind));
	assert_int_equal(wc->byte_len, kind->opcode == M4_ATOMIC_FA ? 8 : kind->byte_count);
	if (!kind->is_send)
		check_message(wc, kind);
}

static void check_readers(struct ibv_cq_ex *cqx, const struct rig_cqe *kind, uint64_t wr_id)
{
	struct ibv_wc wc = { .wr_id = cqx->wr_id,
			     .status = cqx->status,
			     .qp_num = ibv_wc_read_qp_num(cqx),
			     .vendor_err = ibv_wc_read_vendor_err(cqx),
			     .opcode = ibv_wc_read_opcode(cqx),
			     .wc_flags = ibv_wc_read_wc_flags(cqx),
			     .byte_len = ibv_wc_read_byte_len(cqx),
			     .src_qp = ibv_wc_read_src_qp(cqx),
			     .slid = (uint16_t)ibv_wc_read_slid(cqx),
			     .sl = ibv_wc_read_sl(cqx),
			     .dlid_path_bits = ibv_wc_read_dlid_path_bits(cqx),
			     .pkey_index = kind->imm & 0x7f };

	wc.imm_data = ibv_wc_read_imm_data(cqx);
	check_wc(&wc, kind, wr_id);
}

/* Returns the index in RUN, from I on, of the first CQE for a known QP. */
static unsigned int next_in(const unsigned int *run, unsigned int i)
{
	while (i < RUN && kinds[run[i]].qpn)
		i++;
	return i;
}

/* Polls N completions at once until the CQ is empty; 0 uses the extended readers. */
static void poll_run(struct rig *rig, const unsigned int *run, int n)
{
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };
	unsigned int i = next_in(run, 0);
	struct ibv_wc wc[RUN];
	int got;

	if (!n && ibv_start_poll(cqx, &attr) == 0) {
		do {
			check_readers(cqx, &kinds[run[i]], 100 + i);
			i = next_in(run, i + 1);
		} while (ibv_next_poll(cqx) == 0);
		ibv_end_poll(cqx);
	}
	while (n && (got = poll_cq(rig, n, wc)) > 0)
		for (int k = 0; k < got; k++, i = next_in(run, i + 1))
			check_wc(&wc[k], &kinds[run[i]], 100 + i);
	assert_int_equal(i, RUN);
	assert_int_equal(be32toh(rig->cq->dbrec[0]), rig->cq_pi & 0xffffff);
}

/* The results must not depend on the number polled at once, or on the order of kinds, although each
 * kind has a loop of its own. */
static void runs_of_any_length_say_the_same(void **state)
{
	static const int lengths[] = { 1, 2, 3, 5, RUN, 0 };
	const struct rig_options options = { .send_wr = RUN, .recv_wr = RUN };
	unsigned int run[RUN], seed = 1;
	struct rig *rig = rig_new(&options);

	(void)state;
	assert_int_equal(mlx4_cq_resize(&rig->cq->vcq.cq, 2 * RUN - 1), 0);
	rig->cq_pi = rig->cq->ci;
	for (unsigned int round = 0; round < 600; round++) {
		uint32_t sq = rig->qp->sq.wq.head;

		for (unsigned int i = 0; i < RUN; i++) {
			seed = seed * 1103515245 + 12345;
			/* repeat a kind at times */
			run[i] =
				i && seed >> 28 < 9 ? run[i - 1] : (seed >> 16) % ARRAY_SIZE(kinds);
		}
		post_mix(rig, run, RUN);
		for (unsigned int i = 0; i < RUN; i++) {
			struct rig_cqe cqe = kinds[run[i]];

			cqe.wqe_index = (uint16_t)sq;
			sq += cqe.is_send && !cqe.qpn;
			rig_complete(rig, &cqe);
		}
		poll_run(rig, run, lengths[round % ARRAY_SIZE(lengths)]);
	}
	rig_free(rig);
}

/* After mlx4dv_init_obj(), the program may move the consumer index itself, so the library must not
 * remove CQEs. */
static void ring_of_the_program_is_not_cleaned(void **state)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND };

	(void)state;
	for (int taken = 0; taken < 2; taken++) {
		struct rig *rig = rig_new(NULL);
		const size_t size = (size_t)1 << (rig->cq->count_log + rig->cq->entry_log);
		uint8_t *before = malloc(size);

		assert_non_null(before);
		rig_complete(rig, &cqe);
		rig_complete(rig, &cqe);
		rig->cq->taken = taken;
		memcpy(before, rig->cq->buf.addr, size);
		assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &reset, IBV_QP_STATE), 0);
		assert_memory_equal(before, rig->cq->buf.addr, size);
		check_bytes(rig->cq->dbrec, taken ? "00000000" : "00000002");
		assert_int_equal(rig->cq->ci, taken ? 0 : 2);
		free(before);
		rig_free(rig);
	}
}

/* A poll without result may have skipped CQEs of destroyed queues; the next one continues behind
 * them, or they would be read again and again. */
static void a_poll_goes_on_behind_what_it_skipped(void **state)
{
	const struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND },
			     stray = { .is_send = true, .opcode = M4_SEND, .qpn = 0x999 };
	struct ibv_poll_cq_attr attr = { 0 };
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;

	(void)state;
	for (int lap = 0; lap < 16; lap++) {
		post_sends(rig, 2);
		rig_complete(rig, &cqe);
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		rig_complete(rig, &stray);
		assert_int_equal(ibv_next_poll(cqx), ENOENT);
		rig_complete(rig, &cqe);
		assert_int_equal(ibv_next_poll(cqx), 0);
		assert_int_equal(ibv_next_poll(cqx), ENOENT);
		ibv_end_poll(cqx);
		rig->qp->sq.wq.tail = rig->qp->sq.wq.head;
	}
	rig_free(rig);
}

/* A QP of a one-thread CQ may be destroyed between two completions of a start_poll, as no lock
 * forbids it. The current completion stays readable, and the poll continues behind the removed
 * CQEs, even across the ring's end. */
static void a_poll_goes_on_behind_what_has_gone(void **state)
{
	const struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND, .byte_count = 77 },
			     stray = { .is_send = true, .opcode = M4_SEND, .qpn = 0x999 };
	const struct mlx4_qp leaving = { .vqp.qp.qp_num = 0x999 };
	struct ibv_poll_cq_attr attr = { 0 };
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;

	(void)state;
	rig->cq->lock.shared = false;
	mlx4_datapath()->cq_ex_fill(rig->cq, 0);
	for (int lap = 0; lap < 64; lap++) {
		post_sends(rig, 2);
		rig_complete(rig, &cqe);
		for (int i = 0; i <= lap % 2; i++)
			rig_complete(rig, &stray);
		rig_complete(rig, &cqe);
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		mlx4_cq_clean(rig->cq, &leaving);
		assert_int_equal(ibv_wc_read_qp_num(cqx), RIG_QPN);
		assert_int_equal(ibv_next_poll(cqx), 0);
		assert_int_equal(ibv_wc_read_qp_num(cqx), RIG_QPN);
		assert_int_equal(ibv_next_poll(cqx), ENOENT);
		ibv_end_poll(cqx);
		rig->qp->sq.wq.tail = rig->qp->sq.wq.head;
	}
	rig_free(rig);
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* A start_poll without result unlocks the CQ, as the program must not call end_poll then; one with
 * a result holds the lock; with other threads or without. */
static void nothing_to_tell_is_no_poll(void **state)
{
	const struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND },
			     stray = { .is_send = true, .opcode = M4_SEND, .qpn = 0x999 };
	struct ibv_poll_cq_attr attr = { 0 };
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	pthread_t thread;

	(void)state;
	for (int has_threads = 0; has_threads < 2; has_threads++) {
		rig_complete(rig, &stray);
		assert_int_equal(ibv_start_poll(cqx, &attr), ENOENT);
		assert_int_equal(rig->cq->lock.taken, 0);
		assert_int_equal(be32toh(rig->cq->dbrec[0]), rig->cq_pi);
		assert_int_equal(ibv_start_poll(cqx, &attr), ENOENT);
		assert_int_equal(rig->cq->lock.taken, 0);
		post_sends(rig, 1);
		rig_complete(rig, &stray);
		rig_complete(rig, &cqe);
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(rig->cq->lock.taken, 1);
		assert_int_equal(be32toh(rig->cq->dbrec[0]), rig->cq_pi - 2);
		ibv_end_poll(cqx);
		assert_int_equal(rig->cq->lock.taken, 0);
		assert_int_equal(be32toh(rig->cq->dbrec[0]), rig->cq_pi);
		rig->qp->sq.wq.tail = rig->qp->sq.wq.head;
		assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_of_the_program_is_not_cleaned),
		cmocka_unit_test(entries_of_each_size_are_read_lap_by_lap),
		cmocka_unit_test(requests_complete_as_what_they_were),
		cmocka_unit_test(wqe_index_is_taken_modulo_the_ring),
		cmocka_unit_test(message_says_from_whom_it_is),
		cmocka_unit_test(checksums_are_told),
		cmocka_unit_test(priority_is_read_by_the_port_of_the_qp),
		cmocka_unit_test(errors_say_which_request_and_why),
		cmocka_unit_test(timestamp_is_where_others_have_the_lid),
		cmocka_unit_test(priority_follows_the_port_in_sqd),
		cmocka_unit_test(short_way_is_left_for_what_is_beside_the_number),
		cmocka_unit_test(short_way_is_left_for_other_qps),
		cmocka_unit_test(short_way_is_left_for_an_srq),
		cmocka_unit_test(completions_of_a_qp_in_reset_go),
		cmocka_unit_test(unread_completions_move_to_the_new_ring),
		cmocka_unit_test(unread_completions_are_not_lost_to_a_small_ring),
		cmocka_unit_test(a_ring_without_end_keeps_both),
		cmocka_unit_test(late_completions_are_no_more_than_the_ring_has),
		cmocka_unit_test(completions_come_to_the_new_ring_at_once),
		cmocka_unit_test(rings_do_not_shrink_below_another_threads),
		cmocka_unit_test(what_an_allocator_gives_begins_where_it_must),
		cmocka_unit_test(runs_of_any_length_say_the_same),
		cmocka_unit_test(a_poll_goes_on_behind_what_it_skipped),
		cmocka_unit_test(a_poll_goes_on_behind_what_has_gone),
		cmocka_unit_test(nothing_to_tell_is_no_poll), /* now with other threads */
	};

	return RIG_RUN(tests);
}
