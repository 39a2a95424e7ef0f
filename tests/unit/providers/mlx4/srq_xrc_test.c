/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_xrc_test.c - requests to an SRQ, and messages that complete in one: their CQEs have the
 * SRQ's number, and the number of a QP that this process need not own.
 *
 * Covers: providers/mlx4/srq.c, providers/mlx4/data/cq/poll_cq.c, providers/mlx4/data/send_wqe.h
 */
#include "rig.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/wqe.h"
#include "prm/mlx5/cqe.h"
#include "providers/mlx4/srq.h"

enum { TARGET = M4_XRC_TARGET | 0x4242, WQES = 3 };

static void requests_name_the_srq_by_both_calls(void **state)
{
	static struct ibv_sge sge = { 0x1122334455667788, 0x99, 0xabcd };
	const struct rig_options options = { .type = IBV_QPT_XRC_SEND };
	struct rig *old = rig_new(&options), *new = rig_new(&options);
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { 0xaabbccddeeff0011, 0x1234 },
				  .qp_type.xrc.remote_srqn = 0xabcdef };
	struct ibv_qp_ex *qpx = &new->qp->vqp.qp_ex;
	struct ibv_send_wr *bad;

	(void)state;
	assert_int_equal(mlx4_post_send(&old->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_slot(old, 0),
		    "00000008 00000003 abcdef0c 00000000 aabbccdd eeff0011 00001234 00000000"
		    "00000099 0000abcd 11223344 55667788");
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, wr.wr.rdma.rkey, wr.wr.rdma.remote_addr);
	ibv_wr_set_xrc_srqn(qpx, 0x111111);
	ibv_wr_set_xrc_srqn(qpx, 0xabcdef);
	ibv_wr_set_sge(qpx, sge.lkey, sge.addr, sge.length);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_memory_equal(rig_slot(old, 0), rig_slot(new, 0), 3 * M4_SEG);
	rig_free(old);
	rig_free(new);
}

static struct verbs_srq *new_srq(struct rig *rig)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = WQES, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_XRCD,
		.srq_type = IBV_SRQT_XRC,
		.pd = &rig->pd.pd,
		.cq = &rig->cq->vcq.cq,
	};
	struct verbs_srq *srq;

	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &srq), 0);
	for (uint64_t i = 0; i < WQES; i++) {
		struct ibv_recv_wr wr = { .wr_id = srq->srq_num * 100 + i }, *bad;

		assert_int_equal(mlx4_post_srq_recv(&srq->srq, &wr, &bad), 0);
	}
	return srq;
}

static void receive_complete(struct rig *rig, uint32_t srqn, uint16_t index, unsigned int syndrome)
{
	const struct rig_cqe cqe = { .opcode = M4_RECV_SEND_IMM,
				     .qpn = TARGET,
				     .rqpn = srqn,
				     .wqe_index = index,
				     .imm = 0x1234,
				     .byte_count = 55,
				     .syndrome = syndrome };

	rig_complete(rig, &cqe);
}

static int poll_one(struct rig *rig, struct ibv_wc *wc)
{
	memset(wc, 0xee, sizeof(*wc));
	return mlx4_poll_cq(&rig->cq->vcq.cq, 1, wc);
}

static void messages_complete_in_the_srq_that_the_cqe_names(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *srqs[] = { new_srq(rig), new_srq(rig) };
	struct ibv_wc wc;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t srqn = srqs[i & 1]->srq_num;
		uint16_t index = 2 - i / 2;

		receive_complete(rig, srqn, index, i == 3 ? SYND_LOCAL_LENGTH : 0);
		assert_int_equal(poll_one(rig, &wc), 1);
		assert_int_equal(wc.wr_id, srqn * 100 + index);
		assert_int_equal(wc.qp_num, TARGET);
		assert_int_equal(wc.status, i == 3 ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS);
		if (i == 3)
			break;
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
		assert_int_equal(be32toh(wc.imm_data), 0x1234);
		assert_int_equal(wc.byte_len, 55);
	}
	assert_int_equal(mlx4_srq_destroy(&srqs[0]->srq), 0);
	assert_int_equal(mlx4_srq_destroy(&srqs[1]->srq), 0);
	rig_free(rig);
}

/* Polls messages without flags for two SRQs and a QP in turn, ROOM at a time. */
static void poll_in_turns(int room)
{
	enum { OF_QP = 2 };
	static const unsigned int turns[] = { 0, 0, 1, OF_QP, OF_QP, 0, 1, OF_QP };
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *srqs[] = { new_srq(rig), new_srq(rig) };
	struct ibv_recv_wr wr = { .wr_id = 7 }, *bad;
	struct ibv_wc wc[ARRAY_SIZE(turns)];
	uint16_t used[OF_QP + 1] = { 0 };
	unsigned int polled = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(turns); i++) {
		unsigned int who = turns[i];
		struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .byte_count = i + 1 };

		if (who == OF_QP) {
			assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
		} else {
			cqe.qpn = TARGET + i;
			cqe.rqpn = srqs[who]->srq_num;
			cqe.wqe_index = used[who]++;
		}
		rig_complete(rig, &cqe);
	}
	memset(wc, 0xee, sizeof(wc));
	while (polled < ARRAY_SIZE(turns)) {
		int n = mlx4_poll_cq(&rig->cq->vcq.cq, room, &wc[polled]);

		assert_true(n > 0 && n <= room);
		polled += (unsigned int)n;
	}
	memset(used, 0, sizeof(used));
	for (unsigned int i = 0; i < ARRAY_SIZE(turns); i++) {
		unsigned int who = turns[i];

		assert_int_equal(wc[i].wr_id,
				 who == OF_QP ? 7 : srqs[who]->srq_num * 100 + used[who]++);
		assert_int_equal(wc[i].qp_num, who == OF_QP ? rig->qp->vqp.qp.qp_num : TARGET + i);
		assert_int_equal(wc[i].byte_len, i + 1);
		assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
		assert_int_equal(wc[i].opcode, IBV_WC_RECV);
		assert_int_equal(wc[i].wc_flags, 0);
	}
	assert_int_equal(mlx4_srq_destroy(&srqs[0]->srq), 0);
	assert_int_equal(mlx4_srq_destroy(&srqs[1]->srq), 0);
	rig_free(rig);
}

static void plain_messages_are_told_apart(void **state)
{
	(void)state;
	for (int room = 1; room <= 3; room++)
		poll_in_turns(room);
}

/* A new SRQ may reuse the number of a destroyed one, so no poll may remember that. */
static void an_srq_that_is_gone_is_not_remembered(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *gone = new_srq(rig), *next;
	struct rig_cqe cqe = { .opcode = M4_RECV_SEND, .qpn = TARGET, .rqpn = gone->srq_num };
	struct ibv_wc wc;

	(void)state;
	rig_complete(rig, &cqe);
	assert_int_equal(poll_one(rig, &wc), 1);
	assert_int_equal(wc.wr_id, gone->srq_num * 100);
	assert_int_equal(mlx4_srq_destroy(&gone->srq), 0);
	assert_null(rig->cq->srq);
	rig_complete(rig, &cqe);
	assert_int_equal(poll_one(rig, &wc), 0);
	next = new_srq(rig);
	cqe.rqpn = next->srq_num;
	rig_complete(rig, &cqe);
	assert_int_equal(poll_one(rig, &wc), 1);
	assert_int_equal(wc.wr_id, next->srq_num * 100);
	assert_int_equal(mlx4_srq_destroy(&next->srq), 0);
	rig_free(rig);
}

static void readers_know_of_no_qp(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct verbs_srq *srq = new_srq(rig);
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	receive_complete(rig, srq->srq_num, 1, 0);
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(cqx->wr_id, srq->srq_num * 100 + 1);
	assert_int_equal(ibv_wc_read_qp_num(cqx), TARGET);
	assert_int_equal(ibv_wc_read_wc_flags(cqx), IBV_WC_WITH_IMM);
	assert_int_equal(ibv_wc_read_opcode(cqx), IBV_WC_RECV);
	assert_int_equal(ibv_wc_read_sl(cqx), 0);
	ibv_end_poll(cqx);
	assert_int_equal(mlx4_srq_destroy(&srq->srq), 0);
	rig_free(rig);
}

/* The fast path of start_poll is for QPs only, so messages of SRQs must neither use nor prime
 * it. */
static void readers_take_plain_messages_by_the_longer_way(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct verbs_srq *srq = new_srq(rig);
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	for (uint16_t i = 0; i < WQES; i++) {
		rig_complete(rig, &(struct rig_cqe){ .opcode = M4_RECV_SEND,
						     .qpn = TARGET,
						     .rqpn = srq->srq_num,
						     .wqe_index = i });
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(cqx->wr_id, srq->srq_num * 100 + i);
		assert_int_equal(ibv_wc_read_qp_num(cqx), TARGET);
		ibv_end_poll(cqx);
	}
	assert_int_equal(mlx4_srq_destroy(&srq->srq), 0);
	rig_free(rig);
}

/* Destroying an SRQ removes its CQEs from the CQ, and no others: a later SRQ of the same number
 * would take them. */
static void an_srq_takes_its_completions_along(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *gone = new_srq(rig), *stays = new_srq(rig);
	struct ibv_send_wr wr = { .wr_id = 7, .opcode = IBV_WR_SEND }, *bad;
	const struct rig_cqe sent = { .is_send = true, .opcode = M4_SEND };
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	receive_complete(rig, gone->srq_num, 0, 0);
	receive_complete(rig, stays->srq_num, 0, 0);
	receive_complete(rig, gone->srq_num, 1, 0);
	rig_complete(rig, &sent);
	assert_int_equal(mlx4_srq_destroy(&gone->srq), 0);
	assert_int_equal(poll_one(rig, &wc), 1);
	assert_int_equal(wc.wr_id, stays->srq_num * 100);
	assert_int_equal(poll_one(rig, &wc), 1);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(poll_one(rig, &wc), 0);
	assert_int_equal(mlx4_srq_destroy(&stays->srq), 0);
	rig_free(rig);
}

/* The kernel insists on memory for a send queue, even if none is used (see rig.c), so a target has
 * one slot. */
static void a_target_has_a_slot_and_posts_nothing(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_xrcd xrcd = { .xrcd.context = &rig->ctx->vctx.context };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					    .xrcd = &xrcd.xrcd };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { 0 }, *bad_recv;
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR }, reset = { .qp_state = IBV_QPS_RESET };
	struct verbs_qp *vqp;

	(void)state;
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), 0);
	assert_int_equal(attr.cap.max_send_wr, 0);
	assert_int_equal(mlx4_qp_modify(&vqp->qp, &rtr, IBV_QP_STATE), 0);
	assert_int_equal(mlx4_post_send(&vqp->qp, &wr, &bad_send), EINVAL);
	assert_int_equal(mlx4_post_recv(&vqp->qp, &recv, &bad_recv), EINVAL);
	assert_int_equal(mlx4_qp_modify(&vqp->qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	rig_free(rig);
}

/* The library does not pass a target's queue sizes to the kernel, since an XRC target has no
 * queues: messages take the receives of SRQs. */
static void a_target_asks_for_no_queues(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_xrcd xrcd = { .xrcd.context = &rig->ctx->vctx.context };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					    .xrcd = &xrcd.xrcd,
					    .cap = { 8, 8, 1, 1, 64 } };
	struct verbs_qp *vqp;

	(void)state;
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), 0);
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	rig_free(rig);
}

/* The kernel does not count unused CQs of a QP, so the program may have destroyed them: any access
 * would crash the test. */
static void qps_outlive_the_cqs_that_they_do_not_use(void **state)
{
	const struct rig_options options = { .type = IBV_QPT_XRC_SEND };
	struct rig *rig = rig_new(&options);
	struct ibv_cq *gone =
		mmap(NULL, sizeof(struct mlx4_cq), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct verbs_xrcd xrcd = { .xrcd.context = &rig->ctx->vctx.context };
	struct ibv_qp_init_attr_ex target = { .qp_type = IBV_QPT_XRC_RECV,
					      .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					      .xrcd = &xrcd.xrcd,
					      .send_cq = gone,
					      .recv_cq = gone };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct verbs_qp *vqp;

	(void)state;
	assert_true(gone != MAP_FAILED);
	rig->qp->vqp.qp.recv_cq = gone;
	assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &target, &vqp), 0);
	assert_int_equal(mlx4_qp_modify(&vqp->qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	rig_free(rig);
	munmap(gone, sizeof(struct mlx4_cq));
}

static void objects_of_another_context_are_refused(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_context *ours = &rig->ctx->vctx.context;
	struct ibv_context other = { .device = ours->device };
	struct verbs_xrcd xrcd = { .xrcd.context = ours };
	struct ibv_cq *cq = &rig->cq->vcq.cq;
	struct ibv_qp_init_attr_ex qp = { .qp_type = IBV_QPT_RC,
					  .comp_mask = IBV_QP_INIT_ATTR_PD,
					  .pd = &rig->pd.pd,
					  .send_cq = cq,
					  .recv_cq = cq };
	struct ibv_srq_init_attr_ex srq = { .attr = { .max_wr = WQES, .max_sge = 1 },
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
						    IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_XRCD,
					    .srq_type = IBV_SRQT_XRC,
					    .pd = &rig->pd.pd,
					    .xrcd = &xrcd.xrcd,
					    .cq = cq };
	struct ibv_context **owners[] = { &rig->pd.pd.context, &cq->context, &xrcd.xrcd.context };
	struct verbs_srq *vsrq;
	struct verbs_qp *vqp;

	(void)state;
	for (int i = 0; i < 3; i++) {
		*owners[i] = &other;
		if (i < 2)
			assert_int_equal(mlx4_qp_create(ours, &qp, &vqp), ENOENT);
		assert_int_equal(mlx4_srq_create(ours, &srq, &vsrq), ENOENT);
		*owners[i] = ours;
	}
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_name_the_srq_by_both_calls),
		cmocka_unit_test(messages_complete_in_the_srq_that_the_cqe_names),
		cmocka_unit_test(plain_messages_are_told_apart),
		cmocka_unit_test(an_srq_that_is_gone_is_not_remembered),
		cmocka_unit_test(readers_know_of_no_qp),
		cmocka_unit_test(readers_take_plain_messages_by_the_longer_way),
		cmocka_unit_test(an_srq_takes_its_completions_along),
		cmocka_unit_test(a_target_has_a_slot_and_posts_nothing),
		cmocka_unit_test(a_target_asks_for_no_queues),
		cmocka_unit_test(qps_outlive_the_cqs_that_they_do_not_use),
		cmocka_unit_test(objects_of_another_context_are_refused),
	};

	return RIG_RUN(tests);
}
