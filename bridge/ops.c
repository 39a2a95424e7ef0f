/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ops.c - the host's table of operations. Calls through slots of a context go straight to the
 * provider: libibverbs/ops.c writes those slots. For the others the host calls our public functions
 * where their contract is the same, and the functions below where it is not.
 */
#include "bridge/host.h"

/* Imports the host's verbs_set_ops() as host_set_ops(), because libibverbs/ops.c defines the former
 * name as well. */
__asm__(".symver host_set_ops, verbs_set_ops@" HOST_NODE);

/* Programs of these releases pass a struct that ends before active_speed_ex, a member of a later
 * release, so the call must not write it. */
#if HOST_NUMBER < 65
#define PORT_ATTR_SIZE offsetof(struct ibv_port_attr, active_speed_ex)
#else
#define PORT_ATTR_SIZE sizeof(struct ibv_port_attr)
#endif

static int port_query(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
	return verbs_result(get_ops(context)->query_port(context, port_num, attr, PORT_ATTR_SIZE));
}

static int mr_rereg(struct host_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access)
{
	struct verbs_mr *vmr = (struct verbs_mr *)mr;

	return verbs_result(get_ops(vmr->mr.context)
				    ->rereg_mr(vmr, flags, pd, addr, length, (unsigned int)access));
}

static int mr_dereg(struct host_mr *mr)
{
	return ibv_dereg_mr((struct ibv_mr *)mr);
}

static void channel_count(struct ibv_comp_channel *channel, int add)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt += add;
	pthread_mutex_unlock(&channel->context->mutex);
}

/* Creates a CQ with a NULL cq_context, because the host sets cq_context afterwards. */
static struct ibv_cq *cq_create(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq *cq = ibv_create_cq(context, cqe, NULL, channel, comp_vector);

	if (cq)
		channel_count(channel, -1);
	return cq;
}

static struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq = verbs_create_cq_ex(context, attr);

	if (cq)
		channel_count(attr->channel, -1);
	return cq;
}

static int cq_destroy(struct ibv_cq *cq)
{
	struct ibv_comp_channel *channel = cq->channel;
	int err;

	/* Count first, as another thread may free the channel once its last CQ is gone. */
	channel_count(channel, 1);
	err = ibv_destroy_cq(cq);
	if (err)
		channel_count(channel, -1);
	return err;
}

static void cq_event(struct ibv_cq *cq)
{
	get_ops(cq->context)->cq_event(cq);
}

static struct ibv_ah *ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah;
	int err = get_ops(pd->context)->create_ah(pd, attr, &ah);

	return err ? fail_null(err) : ah;
}

static int ah_destroy(struct ibv_ah *ah)
{
	return verbs_result(get_ops(ah->context)->destroy_ah(ah));
}

static int qp_query_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	return get_ops(qp->context)->query_qp_data_in_order(qp, op, flags);
}

static const struct host_context_ops of_calls = {
	.query_device_ex = verbs_query_device_ex,
	.query_port = port_query,
	.free_context = bridge_context_free,
	.alloc_pd = ibv_alloc_pd,
	.dealloc_pd = ibv_dealloc_pd,
	.import_pd = ibv_import_pd,
	.unimport_pd = ibv_unimport_pd,
	.reg_mr = ibv_reg_mr_iova,
	.reg_dmabuf_mr = ibv_reg_dmabuf_mr,
	.rereg_mr = mr_rereg,
	.dereg_mr = mr_dereg,
	.import_mr = ibv_import_mr,
	.unimport_mr = ibv_unimport_mr,
	.import_dm = ibv_import_dm,
	.unimport_dm = ibv_unimport_dm,
	.create_cq = cq_create,
	.create_cq_ex = cq_create_ex,
	.resize_cq = ibv_resize_cq,
	.destroy_cq = cq_destroy,
	.cq_event = cq_event,
	.create_qp = ibv_create_qp,
	.create_qp_ex = verbs_create_qp_ex,
	.modify_qp = ibv_modify_qp,
	.query_qp = ibv_query_qp,
	.destroy_qp = ibv_destroy_qp,
	.set_ece = ibv_set_ece,
	.query_ece = ibv_query_ece,
	.query_qp_data_in_order = qp_query_data_in_order,
	.attach_mcast = ibv_attach_mcast,
	.detach_mcast = ibv_detach_mcast,
	.create_ah = ah_create,
	.destroy_ah = ah_destroy,
	.create_srq = ibv_create_srq,
	.create_srq_ex = verbs_create_srq_ex,
	.modify_srq = ibv_modify_srq,
	.query_srq = ibv_query_srq,
	.destroy_srq = ibv_destroy_srq,
#if HOST_NUMBER >= 65
	.query_port_speed = ibv_query_port_speed,
	.alloc_buf = ibv_alloc_buf,
	.free_buf = ibv_free_buf,
	.alloc_dmah = ibv_alloc_dmah,
	.dealloc_dmah = ibv_dealloc_dmah,
	.reg_mr_ex = ibv_reg_mr_ex,
	.dm_export_dmabuf_fd = ibv_dm_export_dmabuf_fd,
	.query_comp_cntr_caps = _ibv_query_comp_cntr_caps,
	.create_comp_cntr = ibv_create_comp_cntr,
	.destroy_comp_cntr = ibv_destroy_comp_cntr,
	.set_comp_cntr = ibv_set_comp_cntr,
	.inc_comp_cntr = ibv_inc_comp_cntr,
	.read_comp_cntr = ibv_read_comp_cntr,
	.set_err_comp_cntr = ibv_set_err_comp_cntr,
	.inc_err_comp_cntr = ibv_inc_err_comp_cntr,
	.read_err_comp_cntr = ibv_read_err_comp_cntr,
	.qp_attach_comp_cntr = ibv_qp_attach_comp_cntr,
#endif
};

/* SLOT(slot, name): the operations that the host writes into slots of a context, by their name in
 * the host's table. libibverbs/ops.c has already filled the slots. In the table these operations
 * come first, in alphabetical order. */
#define SLOTS(SLOT)                                                        \
	SLOT(vctx->advise_mr, advise_mr)                                   \
	SLOT(vctx->alloc_dm, alloc_dm)                                     \
	SLOT(vctx->context.ops.alloc_mw, alloc_mw)                         \
	SLOT(vctx->alloc_null_mr, alloc_null_mr)                           \
	SLOT(vctx->alloc_parent_domain, alloc_parent_domain)               \
	SLOT(vctx->alloc_td, alloc_td)                                     \
	SLOT(vctx->attach_counters_point_flow, attach_counters_point_flow) \
	SLOT(vctx->context.ops.bind_mw, bind_mw)                           \
	SLOT(vctx->close_xrcd, close_xrcd)                                 \
	SLOT(vctx->create_counters, create_counters)                       \
	SLOT(vctx->ibv_create_flow, create_flow)                           \
	SLOT(vctx->create_flow_action_esp, create_flow_action_esp)         \
	SLOT(vctx->create_rwq_ind_table, create_rwq_ind_table)             \
	SLOT(vctx->create_wq, create_wq)                                   \
	SLOT(vctx->context.ops.dealloc_mw, dealloc_mw)                     \
	SLOT(vctx->dealloc_td, dealloc_td)                                 \
	SLOT(vctx->destroy_counters, destroy_counters)                     \
	SLOT(vctx->ibv_destroy_flow, destroy_flow)                         \
	SLOT(vctx->destroy_flow_action, destroy_flow_action)               \
	SLOT(vctx->destroy_rwq_ind_table, destroy_rwq_ind_table)           \
	SLOT(vctx->destroy_wq, destroy_wq)                                 \
	SLOT(vctx->free_dm, free_dm)                                       \
	SLOT(vctx->get_srq_num, get_srq_num)                               \
	SLOT(vctx->modify_cq, modify_cq)                                   \
	SLOT(vctx->modify_flow_action_esp, modify_flow_action_esp)         \
	SLOT(vctx->modify_qp_rate_limit, modify_qp_rate_limit)             \
	SLOT(vctx->modify_wq, modify_wq)                                   \
	SLOT(vctx->open_qp, open_qp)                                       \
	SLOT(vctx->open_xrcd, open_xrcd)                                   \
	SLOT(vctx->context.ops.poll_cq, poll_cq)                           \
	SLOT(vctx->context.ops.post_recv, post_recv)                       \
	SLOT(vctx->context.ops.post_send, post_send)                       \
	SLOT(vctx->post_srq_ops, post_srq_ops)                             \
	SLOT(vctx->context.ops.post_srq_recv, post_srq_recv)               \
	SLOT(vctx->query_rt_values, query_rt_values)                       \
	SLOT(vctx->read_counters, read_counters)                           \
	SLOT(vctx->reg_dm_mr, reg_dm_mr)                                   \
	SLOT(vctx->context.ops.req_notify_cq, req_notify_cq)

/* Installs our operations and verifies the slots, as a host whose table has one operation more or
 * less moves all later operations to wrong slots. */
int bridge_ops_install(struct verbs_context *vctx)
{
	struct host_context_ops table = of_calls;
	bool same = true;

#define TAKE_SLOT(slot, name) table.name = slot, slot = NULL;
	SLOTS(TAKE_SLOT)
	host_set_ops(to_host_context(vctx), &table);
#define COMPARE_SLOT(slot, name) same &= slot == table.name;
	SLOTS(COMPARE_SLOT)
	if (same)
		return 0;
	verbs_error("open_device %s: refused: this libibverbs takes another table of operations "
		    "than " HOST_NODE " has",
		    vctx->context.device->name);
	return EPROTO;
}
