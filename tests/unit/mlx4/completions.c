/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * completions.c - CQEs in, work completions out: by ibv_poll_cq() and by the extended readers, of
 * entries of 32 bytes, which older firmware has, and of 64.
 */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/cqe.h"
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

static void entries_of_both_sizes_are_read_lap_by_lap(void **state)
{
	static const uint32_t sizes[] = { M4_CQE_SIZE, M4_CQE_LARGE };

	(void)state;
	for (unsigned int s = 0; s < ARRAY_SIZE(sizes); s++) {
		const struct rig_options options = { .cqe_size = sizes[s] };
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

/* A datagram's checksums are right when the adapter says so of all of them. What it says there of
 * other messages is no such thing. */
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

/* Ports of a device may differ in their link layer: that of the QP says what the bits are. */
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
	const struct rig_options options = { .wc_flags = IBV_WC_STANDARD_FLAGS |
							 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	const struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .sl_rlid = 0x89abcdef };
	struct rig *rig = rig_new(&options);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	post_recvs(rig, 1);
	rig_complete(rig, &cqe);
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(ibv_wc_read_completion_ts(cqx), 0x89abcdef0000);
	assert_int_equal(ibv_wc_read_slid(cqx), 0);
	assert_int_equal(ibv_wc_read_sl(cqx), 0);
	ibv_end_poll(cqx);
	rig_free(rig);
}

/* Completions of other QPs stay, and in their order. */
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
	/* That of a QP that is not there is skipped. */
	assert_int_equal(poll_cq(rig, 1, &wc), 0);
	assert_int_equal(rig->cq->ci, 3);
	rig_free(rig);
}

/* Unread completions come out of the new ring, and those after them, wherever the old one was. */
static void unread_completions_move_to_the_new_ring(void **state)
{
	static const int sizes[] = { 31, 7, 63, 15 };

	(void)state;
	for (uint32_t read = 0; read < 20; read++) {
		struct rig_cqe cqe = { .is_send = true, .opcode = M4_SEND };
		struct rig *rig = rig_new(NULL);
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

/* The adapter has got a ring, and has not said that it has left the one before. Both stay. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_both_sizes_are_read_lap_by_lap),
		cmocka_unit_test(message_says_from_whom_it_is),
		cmocka_unit_test(checksums_are_told),
		cmocka_unit_test(priority_is_read_by_the_port_of_the_qp),
		cmocka_unit_test(errors_say_which_request_and_why),
		cmocka_unit_test(timestamp_is_where_others_have_the_lid),
		cmocka_unit_test(completions_of_a_qp_in_reset_go),
		cmocka_unit_test(unread_completions_move_to_the_new_ring),
		cmocka_unit_test(a_ring_without_end_keeps_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
