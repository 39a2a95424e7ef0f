/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ops.c - the guest's table of operations, as ours.
 *
 * Operations of a public slot have the same prototype on both sides, so posting and polling go from
 * the program straight to the guest. The others return an object or an error in another way, and
 * have a function here.
 */
#include "guest.h"

#include <dlfcn.h>

/* Queries a port. Guests of some releases fill in a struct that ends before active_speed_ex, so the
 * call gets a zeroed struct, and the result is copied. */
static int op_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_size)
{
	struct ibv_port_attr full = { 0 };
	int err = guest_table(context)->query_port(context, port_num, &full);

	if (!err)
		memcpy(attr, &full, min_of(attr_size, sizeof(full)));
	return err;
}

static int op_alloc_pd(struct ibv_context *context, struct ibv_pd **pd)
{
	errno = 0;
	*pd = guest_table(context)->alloc_pd(context);
	if (!*pd)
		return guest_error();
	(*pd)->context = context;
	return 0;
}

static int op_import_pd(struct ibv_context *context, uint32_t handle, struct ibv_pd **pd)
{
	errno = 0;
	*pd = guest_table(context)->import_pd(context, handle);
	if (!*pd)
		return guest_error();
	(*pd)->context = context;
	return 0;
}

/* Creates an address handle. A guest may create it without the command that would fill in context
 * and pd, so this function sets them. */
static int op_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	errno = 0;
	*ah = guest_table(pd->context)->create_ah(pd, attr);
	if (!*ah)
		return guest_error();
	(*ah)->context = pd->context;
	(*ah)->pd = pd;
	return 0;
}

static int made_mr(struct ibv_pd *pd, struct ibv_mr *mr, struct verbs_mr **vmr)
{
	if (!mr)
		return guest_error();
	mr->context = pd->context;
	mr->pd = pd;
	*vmr = to_vmr(mr);
	return 0;
}

static int op_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		     unsigned int access, struct verbs_mr **vmr)
{
	/* Guests leave this to the library: SIZE_MAX on demand means all memory. */
	if (access & IBV_ACCESS_ON_DEMAND && length == SIZE_MAX && addr)
		return EINVAL;
	errno = 0;
	return made_mr(pd, guest_table(pd->context)->reg_mr(pd, addr, length, iova, (int)access),
		       vmr);
}

static int op_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			    int fd, unsigned int access, struct verbs_mr **vmr)
{
	errno = 0;
	return made_mr(
		pd,
		guest_table(pd->context)->reg_dmabuf_mr(pd, offset, length, iova, fd, (int)access),
		vmr);
}

static int op_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		       size_t length, unsigned int access)
{
	return guest_table(vmr->mr.context)
		->rereg_mr((struct host_mr *)vmr, flags, pd, addr, length, (int)access);
}

static int op_dereg_mr(struct verbs_mr *vmr)
{
	return guest_table(vmr->mr.context)->dereg_mr((struct host_mr *)vmr);
}

#if HOST_NUMBER >= 65
static int op_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
			struct verbs_mr **vmr)
{
	struct ibv_mr_init_attr copy = *attr;

	errno = 0;
	return made_mr(pd, guest_table(pd->context)->reg_mr_ex(pd, &copy), vmr);
}
#endif

static int op_import_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr)
{
	errno = 0;
	return made_mr(pd, guest_table(pd->context)->import_mr(pd, handle), vmr);
}

static void op_unimport_mr(struct verbs_mr *vmr)
{
	guest_table(vmr->mr.context)->unimport_mr(&vmr->mr);
}

static int op_import_dm(struct ibv_context *context, uint32_t handle, struct ibv_dm **dm)
{
	errno = 0;
	*dm = guest_table(context)->import_dm(context, handle);
	return *dm ? 0 : guest_error();
}

static int op_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			struct verbs_cq **vcq)
{
	struct ibv_cq *cq;

	errno = 0;
	cq = guest_table(context)->create_cq(context, (int)attr->cqe, attr->channel,
					     (int)attr->comp_vector);
	if (!cq)
		return guest_error();
	cq->cq_context = attr->cq_context;
	*vcq = (struct verbs_cq *)cq;
	return 0;
}

/* Creates a CQ with the guest's extended call, whatever its attributes are: only that call makes a
 * CQ that supports ibv_start_poll(). Fills the public slot. */
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq;

	if (!guest_table(context)->create_cq_ex)
		return fail_null(guest_refuse("create_cq_ex"));
	cq = guest_table(context)->create_cq_ex(context, attr);
	if (cq)
		cq->cq_context = attr->cq_context;
	return cq;
}

/* Moves the mark of a QP with ibv_wr_*(), because in release 44 it lies where our struct has
 * wr_flush. Nothing else of the guest's struct lies where our library looks for the mark. */
static void mark_qp_ex(struct ibv_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_qp *vqp = to_vqp(qp);

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return;
	if ((uintptr_t)vqp->qp_ex.wr_flush != VERBS_QP_HAS_EX)
		return;
	vqp->qp_ex.wr_flush = NULL;
	vqp->ex = VERBS_QP_HAS_EX;
}

static struct ibv_qp *create_basic_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *ex)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = ex->qp_context,
		.send_cq = ex->send_cq,
		.recv_cq = ex->recv_cq,
		.srq = ex->srq,
		.cap = ex->cap,
		.qp_type = ex->qp_type,
		.sq_sig_all = ex->sq_sig_all,
	};
	struct ibv_qp *qp = guest_table(context)->create_qp(ex->pd, &attr);

	if (qp)
		ex->cap = attr.cap;
	return qp;
}

static int op_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			struct verbs_qp **vqp)
{
	const struct host_context_ops *table = guest_table(context);
	struct ibv_qp *qp;

	errno = 0;
	if (table->create_qp && attr->comp_mask == IBV_QP_INIT_ATTR_PD) {
		qp = create_basic_qp(context, attr);
	} else {
		if (!table->create_qp_ex)
			return guest_refuse("create_qp_ex");
		qp = table->create_qp_ex(context, attr);
		if (qp)
			mark_qp_ex(qp, attr);
	}
	if (!qp)
		return guest_error();
	*vqp = to_vqp(qp);
	return 0;
}

static struct ibv_srq *create_basic_srq(struct ibv_context *context,
					struct ibv_srq_init_attr_ex *ex)
{
	struct ibv_srq_init_attr attr = { .srq_context = ex->srq_context, .attr = ex->attr };
	struct ibv_srq *srq = guest_table(context)->create_srq(ex->pd, &attr);

	if (srq)
		ex->attr = attr.attr;
	return srq;
}

static int op_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			 struct verbs_srq **vsrq)
{
	const struct host_context_ops *table = guest_table(context);
	const bool is_basic =
		!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type == IBV_SRQT_BASIC;
	struct ibv_srq *srq;

	errno = 0;
	if (table->create_srq && is_basic)
		srq = create_basic_srq(context, attr);
	else if (table->create_srq_ex)
		srq = table->create_srq_ex(context, attr);
	else
		return guest_refuse("create_srq_ex");
	if (!srq)
		return guest_error();
	*vsrq = to_vsrq(srq);
	return 0;
}

/* Refuses, if the guest has no get_srq_num. Our library's default cannot replace it: it reads the
 * number from struct verbs_srq, which a guest's SRQ lacks. */
static int op_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	(void)srq;
	(void)srq_num;
	return guest_refuse("get_srq_num");
}

/* Operations with the same name and prototype in our table and the guest's */
#define SAME(OP)                       \
	OP(query_device_ex)            \
	OP(query_rt_values)            \
	OP(dealloc_pd)                 \
	OP(unimport_pd)                \
	OP(alloc_td)                   \
	OP(dealloc_td)                 \
	OP(alloc_parent_domain)        \
	OP(advise_mr)                  \
	OP(alloc_null_mr)              \
	OP(alloc_dm)                   \
	OP(free_dm)                    \
	OP(unimport_dm)                \
	OP(reg_dm_mr)                  \
	OP(alloc_mw)                   \
	OP(bind_mw)                    \
	OP(dealloc_mw)                 \
	OP(poll_cq)                    \
	OP(req_notify_cq)              \
	OP(cq_event)                   \
	OP(modify_cq)                  \
	OP(resize_cq)                  \
	OP(destroy_cq)                 \
	OP(post_send)                  \
	OP(post_recv)                  \
	OP(modify_qp)                  \
	OP(query_qp)                   \
	OP(destroy_qp)                 \
	OP(set_ece)                    \
	OP(query_ece)                  \
	OP(query_qp_data_in_order)     \
	OP(modify_qp_rate_limit)       \
	OP(open_qp)                    \
	OP(attach_mcast)               \
	OP(detach_mcast)               \
	OP(destroy_ah)                 \
	OP(post_srq_recv)              \
	OP(post_srq_ops)               \
	OP(modify_srq)                 \
	OP(query_srq)                  \
	OP(destroy_srq)                \
	OP(get_srq_num)                \
	OP(open_xrcd)                  \
	OP(close_xrcd)                 \
	OP(create_wq)                  \
	OP(modify_wq)                  \
	OP(destroy_wq)                 \
	OP(create_rwq_ind_table)       \
	OP(destroy_rwq_ind_table)      \
	OP(create_flow_action_esp)     \
	OP(modify_flow_action_esp)     \
	OP(destroy_flow_action)        \
	OP(create_counters)            \
	OP(destroy_counters)           \
	OP(attach_counters_point_flow) \
	OP(read_counters)

/* Operations for which this file has a function op_*() */
#define OTHER(OP)         \
	OP(query_port)    \
	OP(alloc_pd)      \
	OP(import_pd)     \
	OP(create_ah)     \
	OP(reg_mr)        \
	OP(reg_dmabuf_mr) \
	OP(rereg_mr)      \
	OP(dereg_mr)      \
	OP(import_mr)     \
	OP(unimport_mr)   \
	OP(import_dm)

/* Number of operations in the guest's table */
#define TABLE_SLOTS (sizeof(struct host_context_ops) / sizeof(void (*)(void)))

/* Copies the non-NULL operations of FROM to TO. A guest may install some operations at first, and
 * replace or add others later. */
static void merge(struct host_context_ops *to, const struct host_context_ops *from)
{
	void (*slots[2][TABLE_SLOTS])(void);

	memcpy(slots[0], to, sizeof(slots[0]));
	memcpy(slots[1], from, sizeof(slots[1]));
	for (size_t i = 0; i < TABLE_SLOTS; i++)
		if (slots[1][i])
			slots[0][i] = slots[1][i];
	memcpy(to, slots[0], sizeof(slots[0]));
}

/* Operations that a guest may leave to a command of the library, by the command's name behind
 * "ibv_cmd_" */
static const struct {
	const char *name;
	size_t slot;
} places[] = {
#define PLACE(name) { #name, offsetof(struct host_context_ops, name) / sizeof(void (*)(void)) },
	SAME(PLACE) OTHER(PLACE)
};

static size_t place_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!strcmp(places[i].name, name))
			return places[i].slot;
	return TABLE_SLOTS;
}

/* Returns the name of a command of the library that is in the slot of another operation, or NULL.
 * In a table of another release, the slots lie elsewhere. */
static const char *misplaced_in(const struct host_context_ops *from)
{
	static const char prefix[] = "ibv_cmd_";
	void *slots[TABLE_SLOTS];
	Dl_info info;
	size_t place;

	memcpy(slots, from, sizeof(slots));
	for (size_t i = 0; i < TABLE_SLOTS; i++) {
		if (!slots[i] || !dladdr(slots[i], &info) || info.dli_saddr != slots[i] ||
		    !info.dli_sname || strncmp(info.dli_sname, prefix, strlen(prefix)))
			continue;
		place = place_of(info.dli_sname + strlen(prefix));
		if (place != i && place < TABLE_SLOTS)
			return info.dli_sname;
	}
	return NULL;
}

GUEST_CALL(void, verbs_set_ops,
	   (struct host_context * context, const struct host_context_ops *from))
{
	struct host_context_ops *table = guest_table(&context->context);
	struct verbs_ops ops = { .get_srq_num = op_get_srq_num };
	const char *misplaced = misplaced_in(from);

	if (misplaced) {
		guest_driver_of(&context->context)->misplaced = misplaced;
		return;
	}
	merge(table, from);
#define TAKE_SAME(name)  \
	if (table->name) \
		ops.name = table->name;
	SAME(TAKE_SAME)
#define TAKE_OTHER(name) \
	if (table->name) \
		ops.name = op_##name;
	OTHER(TAKE_OTHER)
	ops.ibv_create_flow = table->create_flow;
	ops.ibv_destroy_flow = table->destroy_flow;
	if (table->create_cq)
		ops.create_cq = op_create_cq;
	if (table->create_qp || table->create_qp_ex)
		ops.create_qp = op_create_qp;
	if (table->create_srq || table->create_srq_ex)
		ops.create_srq = op_create_srq;
#if HOST_NUMBER >= 65
	if (table->reg_mr_ex)
		ops.reg_mr_ex = op_reg_mr_ex;
	if (table->dm_export_dmabuf_fd)
		ops.dm_export_dmabuf_fd = table->dm_export_dmabuf_fd;
#endif
	verbs_ops_replace(guest_to_vctx(context), &ops);
	context->create_cq_ex = create_cq_ex;
}
