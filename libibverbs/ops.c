/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ops.c - the table of provider operations: its defaults, its setter, and the public slots that
 * inline calls jump through.
 *
 * All of it is generated from VERBS_OPS in driver.h, but for the slots that the library answers.
 */
#include "private.h"

static int not_supported(const char *name)
{
	verbs_warn("%s: not supported by the provider of this device", name);
	return EOPNOTSUPP;
}

#define DEFAULT_ERRNO(type, name) return not_supported(#name)
#define DEFAULT_NEG(type, name)   return -not_supported(#name)
#define DEFAULT_PTR(type, name)   return fail_null(not_supported(#name))
#define DEFAULT_FD(type, name)    return fail_fd(not_supported(#name))
#define DEFAULT_QUIET(type, name) return (type)0

/* The list names parameters for its reader; a generated default looks at none of them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define DEFAULT_OP(slot, fail, type, name, params) \
	static type default_##name params          \
	{                                          \
		DEFAULT_##fail(type, name);        \
	}
VERBS_OPS(DEFAULT_OP)
#pragma GCC diagnostic pop

#define DEFAULT_MEMBER(slot, fail, type, name, params) .name = default_##name,
static const struct verbs_ops default_ops = { VERBS_OPS(DEFAULT_MEMBER) };

static int stored_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	const struct verbs_srq *vsrq = to_vsrq(srq);

	if (!vsrq->srq_num)
		return not_supported("get_srq_num");
	*srq_num = vsrq->srq_num;
	return 0;
}

/* These commands rarely have driver data: a plain one is the default. */
static const struct verbs_ops plain_commands = {
	.query_port = verbs_cmd_query_port,
	.advise_mr = verbs_cmd_advise_mr,
	.modify_cq = verbs_cmd_modify_cq,
	.attach_mcast = verbs_cmd_attach_mcast,
	.detach_mcast = verbs_cmd_detach_mcast,
	.modify_srq = verbs_cmd_modify_srq,
	.query_srq = verbs_cmd_query_srq,
	.get_srq_num = stored_srq_num,
};

#define SET_OPS(vctx, name, op)  ((vctx)->context.ops.name = (op))
#define SET_VCTX(vctx, name, op) ((vctx)->name = (op))
#define SET_LIB(vctx, name, op)  ((void)0)
#define SET_OP(slot, fail, type, name, params)     \
	if (ops->name) {                           \
		vctx->priv->ops.name = ops->name;  \
		SET_##slot(vctx, name, ops->name); \
	}

VERBS_EXPORT void verbs_set_ops(struct verbs_context *vctx, const struct verbs_ops *ops)
{
	VERBS_OPS(SET_OP)
}

void verbs_ops_set_defaults(struct verbs_context *vctx)
{
	verbs_set_ops(vctx, &default_ops);
	verbs_set_ops(vctx, &plain_commands);
	vctx->query_device_ex = verbs_query_device_ex;
	vctx->create_cq_ex = verbs_create_cq_ex;
	vctx->create_qp_ex = verbs_create_qp_ex;
	vctx->create_srq_ex = verbs_create_srq_ex;
	verbs_old_slots_fill(vctx);
}
