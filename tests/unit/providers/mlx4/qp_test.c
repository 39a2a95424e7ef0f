/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_test.c - attributes that a QP or a CQ of this adapter cannot have: the error, and the line of
 * the log that names the attribute.
 *
 * Covers: providers/mlx4/qp.c, providers/mlx4/cq.c
 */
#include "rig.h"

#include <errno.h>

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

/* Members that the mask does not name count for nothing. */
static void what_the_mask_lacks_is_not_looked_at(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_init_attr_ex attr = attr_of(rig, IBV_QPT_RC);
	struct verbs_qp *vqp;

	(void)state;
	provider_id_clear(&rig->ctx->common.ids, RIG_QPN); /* the next QP gets the same number */
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

/* ---- CQs ---- */

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
		cmocka_unit_test(a_cq_has_what_the_adapter_has),
	};

	log_to_memory();
	return RIG_RUN(tests);
}
