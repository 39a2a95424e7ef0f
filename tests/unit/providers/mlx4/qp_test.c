/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_test.c - attributes that a QP or a CQ of this adapter cannot have: the error, and the line of
 * the log that names the attribute. What a QP gets of its capacities and of its port, and its
 * queues as its state changes.
 *
 * Covers: providers/mlx4/qp.c, providers/mlx4/cq.c
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/log_text.h"

enum { MAX_CQE = 1024 }; /* of the rig's device */

static struct ibv_qp_init_attr_ex attr_of(struct rig *rig, enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){ .qp_type = type,
					     .comp_mask = IBV_QP_INIT_ATTR_PD,
					     .pd = &rig->pd.pd,
					     .send_cq = &rig->cq->vcq.cq,
					     .recv_cq = &rig->cq->vcq.cq };
}

/* Fails unless a QP with the attributes, as the statements change them, is refused with ERR. */
#define check_refused(type, err, text, ...)                                                  \
	do {                                                                                 \
		struct ibv_qp_init_attr_ex attr = attr_of(rig, type);                        \
		struct verbs_qp *vqp;                                                        \
                                                                                             \
		__VA_ARGS__;                                                                 \
		log_text();                                                                  \
		assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), err); \
		check_logged(text);                                                          \
	} while (0)

static void a_missing_object_is_named(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_xrcd xrcd = { .xrcd.context = &rig->ctx->vctx.context };

	(void)state;
	check_refused(IBV_QPT_RC, EINVAL, "create_qp: pd is missing: an RC QP needs one",
		      attr.pd = NULL);
	check_refused(IBV_QPT_RC, EINVAL, "pd is missing", attr.comp_mask = 0);
	check_refused(IBV_QPT_UC, EINVAL, "send_cq is missing: a UC QP", attr.send_cq = NULL);
	check_refused(IBV_QPT_UD, EINVAL, "recv_cq is missing: a UD QP", attr.recv_cq = NULL);
	check_refused(IBV_QPT_XRC_SEND, EINVAL, "send_cq is missing: an XRC send QP",
		      attr.send_cq = NULL);
	check_refused(IBV_QPT_XRC_RECV, EINVAL, "xrcd is missing: an XRC receive QP",
		      attr.comp_mask = 0);
	check_refused(IBV_QPT_XRC_RECV, EINVAL, "xrcd is missing: an XRC receive QP",
		      attr.comp_mask = IBV_QP_INIT_ATTR_XRCD);
	check_refused(IBV_QPT_XRC_RECV, EINVAL, "xrcd is missing: an XRC receive QP",
		      (attr.comp_mask = 0, attr.xrcd = &xrcd.xrcd));
	check_refused(IBV_QPT_RAW_PACKET, EINVAL,
		      "rwq_ind_tbl is missing: a spreading raw packet QP",
		      attr.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH);
	check_refused(IBV_QPT_XRC_SEND, EINVAL, "srq is set: an XRC send QP has none",
		      attr.srq = &(struct ibv_srq){ 0 });
	rig_free(rig);
}

static void what_the_adapter_lacks_is_named(void **state)
{
	struct rig *rig = rig_new(NULL);

	(void)state;
	check_refused(IBV_QPT_DRIVER, EOPNOTSUPP, "qp_type is 255", (void)attr);
	check_refused(IBV_QPT_RC, EOPNOTSUPP, "create_qp: comp_mask is 0x9, an RC QP has 0x",
		      attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER);
	check_refused(IBV_QPT_RC, EOPNOTSUPP, "create_flags is 0x2: a UD QP may have",
		      (attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS,
		       attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB));
	check_refused(IBV_QPT_UD, EOPNOTSUPP, "create_flags is 0x3: a UD QP may have",
		      (attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS,
		       attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | 1));
	check_refused(IBV_QPT_UC, EOPNOTSUPP, "send_ops_flags is 0x10, a UC QP has 0x",
		      (attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		       attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ));
	rig_free(rig);
}

/* Members that the mask does not name count for nothing, as programs leave them uninitialised. */
static void what_the_mask_lacks_is_not_looked_at(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_init_attr_ex attr = attr_of(rig, IBV_QPT_RC);
	struct verbs_qp *vqp;

	(void)state;
	/* cleared, as the next QP gets the same number */
	provider_id_clear(&rig->ctx->common.ids, RIG_QPN);
	attr.create_flags = UINT32_MAX;
	attr.send_ops_flags = UINT64_MAX;
	attr.max_tso_header = UINT16_MAX;
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), 0);
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	attr = attr_of(rig, IBV_QPT_UD);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), 0);
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	rig_free(rig);
}

static void a_program_is_told_what_its_queues_hold(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_init_attr_ex attr = attr_of(rig, IBV_QPT_RC);
	struct verbs_qp *vqp;

	(void)state;
	provider_id_clear(&rig->ctx->common.ids, RIG_QPN);
	attr.cap = (struct ibv_qp_cap){
		.max_send_wr = 5, .max_recv_wr = 5, .max_send_sge = 1, .max_recv_sge = 3
	};
	assert_int_equal(mlx4_qp_create(&rig->ctx->vctx.context, &attr, &vqp), 0);
	assert_int_equal(attr.cap.max_recv_wr, 8);
	assert_int_equal(attr.cap.max_recv_sge, 4);
	assert_true(attr.cap.max_send_wr > 5);
	assert_memory_equal(&attr.cap, &to_mqp(&vqp->qp)->cap, sizeof(attr.cap));
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	rig_free(rig);
}

/* Port 2 is of Ethernet. */
static void sums_are_of_frames_and_of_datagrams_on_infiniband(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		uint8_t port;
		bool sums;
	} rows[] = { { IBV_QPT_UD, 1, true },         { IBV_QPT_UD, 2, false },
		     { IBV_QPT_RAW_PACKET, 2, true }, { IBV_QPT_RAW_PACKET, 1, false },
		     { IBV_QPT_RC, 1, false },        { IBV_QPT_RC, 2, false } };

	(void)state;
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const struct rig_options options = { .type = rows[i / 2].type,
						     .port = rows[i / 2].port,
						     .second_port_is_ethernet = true,
						     .checksums = i % 2 };
		struct rig *rig = rig_new(&options);

		assert_int_equal(rig->qp->has_checksums, i % 2 && rows[i / 2].sums);
		assert_int_equal(rig->qp->is_ethernet, options.port == 2);
		assert_int_equal(rig->qp->sl_shift, options.port == 2 ? 29 : 28);
		rig_free(rig);
	}
}

static void move_to(struct rig *rig, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &attr, IBV_QP_STATE), 0);
}

/* Fails unless the adapter owns each slot and each later piece has its stamp, since it prefetches
 * WQEs, and would otherwise take old bytes for a request. */
static void check_ring_is_the_adapters(const struct mlx4_sq *sq)
{
	const uint32_t step = 1u << sq->slot_log;

	for (uint32_t i = 0; i <= sq->wq.mask; i++) {
		const __be32 *slot = (const __be32 *)(sq->buf + (size_t)i * step);

		assert_int_equal(be32toh(slot[0]), 0x80000000);
		assert_int_equal(be32toh(slot[1]), step / 16);
		for (uint32_t at = 64; at < step; at += 64)
			assert_int_equal(be32toh(slot[at / 4]), 0xffffffff);
	}
}

/* The adapter reads no send ring before RTS, so INIT is early enough for what earlier WQEs, or
 * earlier owners of the memory, have left. */
static void init_gives_the_send_ring_to_the_adapter(void **state)
{
	static const struct rig_options sizes[] = { { 0 }, { .max_inline = 128 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct rig *rig = rig_new(&sizes[i]);
		struct mlx4_sq *sq = &rig->qp->sq;

		move_to(rig, IBV_QPS_RESET);
		memset(sq->buf, 0x5a, (size_t)(sq->wq.mask + 1) << sq->slot_log);
		sq->last_long = 7;
		move_to(rig, IBV_QPS_INIT);
		check_ring_is_the_adapters(sq);
		assert_int_equal(sq->last_long, 0 - sq->wq.mask - 1);
		rig_free(rig);
	}
}

static void init_again_leaves_the_send_ring(void **state)
{
	struct rig *rig = rig_new(NULL);
	uint8_t *ring = rig->qp->sq.buf;

	(void)state;
	move_to(rig, IBV_QPS_RESET);
	move_to(rig, IBV_QPS_INIT);
	ring[0] = 0x5a;
	move_to(rig, IBV_QPS_INIT);
	assert_int_equal(ring[0], 0x5a);
	move_to(rig, IBV_QPS_RESET);
	move_to(rig, IBV_QPS_INIT);
	check_ring_is_the_adapters(&rig->qp->sq);
	rig_free(rig);
}

/* Returns what was refused: 1 the send, 2 the receive, 0 nothing. */
static int post_both(struct rig *rig)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr receive = { 0 }, *bad_receive;
	struct ibv_qp *qp = &rig->qp->vqp.qp;

	if (mlx4_post_send(qp, &send, &bad_send))
		return 1;
	return mlx4_post_recv(qp, &receive, &bad_receive) ? 2 : 0;
}

/* A reset empties both queues, as their requests are gone without a completion, and closes them
 * until INIT and RTS. */
static void a_reset_empties_the_queues(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct mlx4_qp *qp = rig->qp;

	(void)state;
	assert_int_equal(post_both(rig), 0);
	assert_int_equal(qp->sq.wq.head, 1);
	assert_int_equal(be32toh(*qp->rq.dbrec), 1);
	move_to(rig, IBV_QPS_RESET);
	assert_int_equal(qp->sq.wq.head, 0);
	assert_int_equal(qp->rq.wq.head, 0);
	assert_int_equal(*qp->rq.dbrec, 0);
	assert_int_equal(post_both(rig), 1);
	qp->sq.opcodes = qp->opcodes;
	assert_int_equal(post_both(rig), 2);
	rig_free(rig);
}

#define WITH_TIMESTAMP IBV_WC_EX_WITH_COMPLETION_TIMESTAMP

static void a_cq_has_what_the_adapter_has(void **state)
{
	static const struct {
		struct ibv_cq_init_attr_ex attr;
		int err;
		const char *text;
	} rows[] = {
		{ { .cqe = MAX_CQE + 1 }, EINVAL, "create_cq: cqe is 1025, limit 1024" },
		{ { .cqe = 1, .wc_flags = 1ull << 40 }, ENOTSUP, "wc_flags is 0x10000000000, sup" },
		{ { .cqe = 1, .wc_flags = WITH_TIMESTAMP | IBV_WC_EX_WITH_SLID },
		  ENOTSUP,
		  "a CQE has its timestamp where others have the SLID and the SL" },
		{ { .cqe = 1, .wc_flags = WITH_TIMESTAMP | IBV_WC_EX_WITH_SL },
		  ENOTSUP,
		  "a CQE has its timestamp where others have the SLID and the SL" },
		{ { .cqe = 1, .comp_mask = 4 }, EINVAL, "comp_mask is 0x4, supported are 0x3" },
		{ { .cqe = 1,
		    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		    .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN },
		  EOPNOTSUPP,
		  "flags is 0x2, supported are 0x1" },
		{ { .cqe = MAX_CQE }, 0, NULL },
		{ { .cqe = 1, .wc_flags = WITH_TIMESTAMP }, 0, NULL },
		{ { .cqe = 1, .wc_flags = IBV_WC_STANDARD_FLAGS }, 0, NULL },
		{ { .cqe = 1, .flags = UINT32_MAX }, 0, NULL },
		{ { .cqe = 1,
		    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		    .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED },
		  0,
		  NULL },
	};
	struct rig *rig = rig_new(NULL);
	struct verbs_cq *vcq;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		log_text();
		assert_int_equal(mlx4_cq_create(&rig->ctx->vctx.context, &rows[i].attr, &vcq),
				 rows[i].err);
		if (rows[i].err)
			check_logged(rows[i].text);
		else
			assert_int_equal(mlx4_cq_destroy(&vcq->cq), 0);
	}
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_object_is_named),
		cmocka_unit_test(what_the_adapter_lacks_is_named),
		cmocka_unit_test(what_the_mask_lacks_is_not_looked_at),
		cmocka_unit_test(a_program_is_told_what_its_queues_hold),
		cmocka_unit_test(sums_are_of_frames_and_of_datagrams_on_infiniband),
		cmocka_unit_test(init_gives_the_send_ring_to_the_adapter),
		cmocka_unit_test(init_again_leaves_the_send_ring),
		cmocka_unit_test(a_reset_empties_the_queues),
		cmocka_unit_test(a_cq_has_what_the_adapter_has),
	};

	log_to_memory();
	return RIG_RUN(tests);
}
