/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ops.c - the table of provider operations: its defaults, its setter, and the public slots for
 * inline calls.
 *
 * Everything is generated from VERBS_OPS in driver.h, except for the slots that the library itself
 * implements.
 */
#include "libibverbs/private.h"

static int not_supported(const char *name)
{
	verbs_warn("%s: not supported by the provider of this device", name);
	return EOPNOTSUPP;
}

#define DEFAULT_ERRNO(type, name) return verbs_result(not_supported(#name))
#define DEFAULT_NEG(type, name)   return -not_supported(#name)
#define DEFAULT_PTR(type, name)   return fail_null(not_supported(#name))
#define DEFAULT_FD(type, name)    return fail_fd(not_supported(#name))
#define DEFAULT_QUIET(type, name) return (type)0

/* Generated default operations ignore their parameters, which VERBS_OPS names for the reader. */
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

/* Default operations that are the plain kernel commands, because these rarely have driver data. */
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
#define SET_LATE(vctx, name, op) \
	(verbs_context_is_whole(vctx) ? (void)((vctx)->name = (op)) : (void)0)
#define SET_LIB(vctx, name, op) ((void)0)
#define SET_OP(slot, fail, type, name, params)     \
	if (ops->name) {                           \
		priv->ops.name = ops->name;        \
		SET_##slot(vctx, name, ops->name); \
	}

/* Wrappers of operations that programs call directly through public slots. A wrapper also stores
 * the provider's result in errno. Posting and polling have no wrapper, for speed. */
#define EDGES(EDGE)                                                                                \
	EDGE(vctx, query_port, context,                                                            \
	     (struct ibv_context * context, uint8_t port_num, struct ibv_port_attr * attr,         \
	      size_t attr_size),                                                                   \
	     (context, port_num, attr, attr_size))                                                 \
	EDGE(vctx, query_rt_values, context,                                                       \
	     (struct ibv_context * context, struct ibv_values_ex * values), (context, values))     \
	EDGE(vctx, dealloc_td, td->context, (struct ibv_td * td), (td))                            \
	EDGE(vctx, advise_mr, pd->context,                                                         \
	     (struct ibv_pd * pd, enum ibv_advise_mr_advice advice, uint32_t flags,                \
	      struct ibv_sge * sg_list, uint32_t num_sge),                                         \
	     (pd, advice, flags, sg_list, num_sge))                                                \
	EDGE(vctx, free_dm, dm->context, (struct ibv_dm * dm), (dm))                               \
	EDGE(&vctx->context.ops, dealloc_mw, mw->context, (struct ibv_mw * mw), (mw))              \
	EDGE(vctx, modify_cq, cq->context, (struct ibv_cq * cq, struct ibv_modify_cq_attr * attr), \
	     (cq, attr))                                                                           \
	EDGE(vctx, modify_qp_rate_limit, qp->context,                                              \
	     (struct ibv_qp * qp, struct ibv_qp_rate_limit_attr * attr), (qp, attr))               \
	EDGE(vctx, get_srq_num, srq->context, (struct ibv_srq * srq, uint32_t * srq_num),          \
	     (srq, srq_num))                                                                       \
	EDGE(vctx, close_xrcd, xrcd->context, (struct ibv_xrcd * xrcd), (xrcd))                    \
	EDGE(vctx, modify_wq, wq->context, (struct ibv_wq * wq, struct ibv_wq_attr * attr),        \
	     (wq, attr))                                                                           \
	EDGE(vctx, destroy_wq, wq->context, (struct ibv_wq * wq), (wq))                            \
	EDGE(vctx, destroy_rwq_ind_table, table->context, (struct ibv_rwq_ind_table * table),      \
	     (table))                                                                              \
	EDGE(vctx, ibv_destroy_flow, flow->context, (struct ibv_flow * flow), (flow))              \
	EDGE(vctx, modify_flow_action_esp, action->context,                                        \
	     (struct ibv_flow_action * action, struct ibv_flow_action_esp_attr * attr),            \
	     (action, attr))                                                                       \
	EDGE(vctx, destroy_flow_action, action->context, (struct ibv_flow_action * action),        \
	     (action))                                                                             \
	EDGE(vctx, destroy_counters, counters->context, (struct ibv_counters * counters),          \
	     (counters))                                                                           \
	EDGE(vctx, attach_counters_point_flow, counters->context,                                  \
	     (struct ibv_counters * counters, struct ibv_counter_attach_attr * attr,               \
	      struct ibv_flow * flow),                                                             \
	     (counters, attr, flow))                                                               \
	EDGE(vctx, read_counters, counters->context,                                               \
	     (struct ibv_counters * counters, uint64_t * values, uint32_t ncounters,               \
	      uint32_t flags),                                                                     \
	     (counters, values, ncounters, flags))

#define DEFINE_EDGE(slots, name, context_of, params, args)           \
	static int edge_##name params                                \
	{                                                            \
		return verbs_result(get_ops(context_of)->name args); \
	}
EDGES(DEFINE_EDGE)

#define INSTALL_EDGE(slots, name, context_of, params, args) (slots)->name = edge_##name;

static inline void ops_replace(struct verbs_context *vctx, const struct verbs_ops *ops)
{
	struct verbs_ex_private *priv = to_priv(&vctx->context);

	VERBS_OPS(SET_OP)
	EDGES(INSTALL_EDGE)
}

/* Exported for foreign/. Calls in this file go to ops_replace(), because a call of an exported
 * function takes a detour by the PLT. */
VERBS_EXPORT void verbs_ops_replace(struct verbs_context *vctx, const struct verbs_ops *ops)
{
	ops_replace(vctx, ops);
}

VERBS_EXPORT void verbs_set_ops(struct verbs_context *vctx, const struct verbs_ops *ops)
{
	struct verbs_ex_private *priv = to_priv(&vctx->context);

	ops_replace(vctx, ops);
	if (ops->modify_qp && verbs_log_on(VERBS_LOG_WARN))
		verbs_qp_suspect_all(priv);
}

void verbs_ops_set_defaults(struct verbs_context *vctx)
{
	verbs_set_ops(vctx, &default_ops);
	verbs_set_ops(vctx, &plain_commands);
}
