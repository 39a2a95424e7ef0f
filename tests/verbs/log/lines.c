/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines.c - verbs-log: each refused call explains itself in exactly one line at VERBS_LOG=warn,
 * with the call, the field, its value and the limit. A row of the table makes one bad call and
 * lists the words of its line. A word may be anywhere in the line; a number must be a separate
 * word; "a|b" means either; "@name" is replaced by that limit of the device, "@name+1" by one more.
 *
 * Covers: libibverbs/explain/qp.c, util/log.c, providers/mlx5/qp/rules.c, libibverbs/cmd/cmd_flow.c
 * explain_create
 */
#include <ctype.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "log.h"
#include "tests/lib/topics.h"

static int captured;

static bool cq_plain(struct log_rig *l, int cqe, int vector)
{
	return !ibv_create_cq(l->rig.ctx, cqe, NULL, NULL, vector);
}

static bool cq_cqe(struct log_rig *l, long cqe)
{
	return cq_plain(l, cqe, 0);
}

static bool cq_too_large(struct log_rig *l, long more)
{
	return cq_plain(l, l->rig.device.max_cqe + more, 0);
}

static bool cq_vector(struct log_rig *l, long vector)
{
	return cq_plain(l, 16, vector);
}

static bool cq_wc_flags(struct log_rig *l, long bit)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = 1ULL << bit };

	return !ibv_create_cq_ex(l->rig.ctx, &attr);
}

static bool cq_ex_flags(struct log_rig *l, long flags)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					    .flags = flags };

	return !ibv_create_cq_ex(l->rig.ctx, &attr);
}

static bool cq_ex_mask(struct log_rig *l, long mask)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .comp_mask = mask };

	return !ibv_create_cq_ex(l->rig.ctx, &attr);
}

static struct ibv_qp_init_attr qp_attr(struct log_rig *l)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_init_attr attr;

	rig_qp_init_attr(&conf, l->pair.end[0].cq, &attr);
	return attr;
}

static bool qp_send_wr(struct log_rig *l, long more)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	attr.cap.max_send_wr = l->rig.device.max_qp_wr + more;
	return !ibv_create_qp(l->pair.pd, &attr);
}

static bool qp_recv_wr(struct log_rig *l, long more)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	attr.cap.max_recv_wr = l->rig.device.max_qp_wr + more;
	return !ibv_create_qp(l->pair.pd, &attr);
}

static bool qp_send_sge(struct log_rig *l, long value)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	attr.cap.max_send_sge = value;
	return !ibv_create_qp(l->pair.pd, &attr);
}

static bool qp_recv_sge(struct log_rig *l, long value)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	attr.cap.max_recv_sge = value;
	return !ibv_create_qp(l->pair.pd, &attr);
}

static bool qp_inline(struct log_rig *l, long value)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	attr.cap.max_inline_data = value;
	return !ibv_create_qp(l->pair.pd, &attr);
}

static bool qp_type(struct log_rig *l, long value)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	attr.qp_type = (enum ibv_qp_type)value;
	return !ibv_create_qp(l->pair.pd, &attr);
}

/* The QP is to complete to the CQ of another context that has the number of ours, as the kernel
 * could not tell them apart. */
static bool qp_other_context(struct log_rig *l, long send)
{
	struct ibv_qp_init_attr attr = qp_attr(l);
	uint32_t ours = l->pair.end[0].cq->handle;
	struct ibv_cq *cqs[64];
	struct ibv_context *other;
	size_t n = 0;
	bool refused;

	MUST(other = ibv_open_device(l->rig.ctx->device));
	do
		MUST(cqs[n] = ibv_create_cq(other, 1, NULL, NULL, 0));
	while (cqs[n++]->handle != ours && n < 64);
	MUST(cqs[n - 1]->handle == ours);
	*(send ? &attr.send_cq : &attr.recv_cq) = cqs[n - 1];
	refused = !ibv_create_qp(l->pair.pd, &attr) && errno == ENOENT;
	while (n)
		MUST(!ibv_destroy_cq(cqs[--n]));
	MUST(!ibv_close_device(other));
	return refused;
}

static bool qp_no_cq(struct log_rig *l, long send)
{
	struct ibv_qp_init_attr attr = qp_attr(l);

	*(send ? &attr.send_cq : &attr.recv_cq) = NULL;
	return !ibv_create_qp(l->pair.pd, &attr);
}

/* The adapter of Ethernet has two formats of timestamps, one for a QP. */
static bool qp_timestamps(struct log_rig *l, long send)
{
	struct ibv_cq_init_attr_ex day = { .cqe = 16,
					   .wc_flags =
						   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(l->rig.ctx, &day);
	struct ibv_qp_init_attr attr = qp_attr(l);
	bool refused;

	MUST(cq);
	*(send ? &attr.send_cq : &attr.recv_cq) = ibv_cq_ex_to_cq(cq);
	refused = !ibv_create_qp(l->pair.pd, &attr) && errno == EOPNOTSUPP;
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	return refused;
}

static struct ibv_qp_init_attr_ex qp_attr_ex(struct log_rig *l)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = l->pair.end[0].cq,
		.recv_cq = l->pair.end[0].cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = l->pair.pd,
	};
}

static bool qp_send_ops(struct log_rig *l, long bit)
{
	struct ibv_qp_init_attr_ex attr = qp_attr_ex(l);

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = 1ULL << bit;
	return !ibv_create_qp_ex(l->rig.ctx, &attr);
}

static bool qp_comp_mask(struct log_rig *l, long bit)
{
	struct ibv_qp_init_attr_ex attr = qp_attr_ex(l);

	attr.comp_mask |= 1U << bit;
	return !ibv_create_qp_ex(l->rig.ctx, &attr);
}

static bool qp_create_flags(struct log_rig *l, long bit)
{
	struct ibv_qp_init_attr_ex attr = qp_attr_ex(l);

	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = 1U << bit;
	return !ibv_create_qp_ex(l->rig.ctx, &attr);
}

static void set_net_raw(bool may)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];

	MUST(!syscall(SYS_capget, &header, caps));
	caps[0].effective &= ~(1u << CAP_NET_RAW);
	if (may)
		caps[0].effective |= caps[0].permitted & 1u << CAP_NET_RAW;
	MUST(!syscall(SYS_capset, &header, caps));
}

static bool qp_unprivileged(struct log_rig *l, long type)
{
	struct ibv_qp_init_attr attr = qp_attr(l);
	bool refused;

	attr.qp_type = (enum ibv_qp_type)type;
	set_net_raw(false);
	refused = !ibv_create_qp(l->pair.pd, &attr) && errno == EPERM;
	set_net_raw(true);
	return refused;
}

/* Modify the fresh QP from the state before TO with one attribute changed, or with FLIP in the
 * mask. */
static bool qp_modify(struct log_rig *l, enum ibv_qp_state to,
		      void (*change)(struct ibv_qp_attr *, long), long value, int flip)
{
	struct ibv_qp_attr attr;
	int mask;

	rig_qp_to(&l->rig, &l->pair.conf, l->fresh, l->fresh->qp_num, to - 1);
	mask = rig_qp_attr(&l->rig, &l->pair.conf, l->fresh->qp_num, to, &attr);
	if (change)
		change(&attr, value);
	return ibv_modify_qp(l->fresh, &attr, mask ^ flip) != 0;
}

static bool to_init_flip(struct log_rig *l, long flip)
{
	return qp_modify(l, IBV_QPS_INIT, NULL, 0, flip);
}

static bool to_rtr_flip(struct log_rig *l, long flip)
{
	return qp_modify(l, IBV_QPS_RTR, NULL, 0, flip);
}

static bool to_rts_flip(struct log_rig *l, long flip)
{
	return qp_modify(l, IBV_QPS_RTS, NULL, 0, flip);
}

static void set_port(struct ibv_qp_attr *attr, long value)
{
	attr->port_num = value;
}
static void set_pkey(struct ibv_qp_attr *attr, long value)
{
	attr->pkey_index = value;
}
static void set_mtu(struct ibv_qp_attr *attr, long value)
{
	attr->path_mtu = (enum ibv_mtu)value;
}
static void set_dest_rd(struct ibv_qp_attr *attr, long value)
{
	attr->max_dest_rd_atomic = value;
}
static void set_rd(struct ibv_qp_attr *attr, long value)
{
	attr->max_rd_atomic = value;
}

static bool init_port(struct log_rig *l, long value)
{
	return qp_modify(l, IBV_QPS_INIT, set_port, value, 0);
}

static bool init_pkey(struct log_rig *l, long value)
{
	return qp_modify(l, IBV_QPS_INIT, set_pkey, value, 0);
}

static bool rtr_mtu(struct log_rig *l, long value)
{
	return qp_modify(l, IBV_QPS_RTR, set_mtu, value, 0);
}

static bool rtr_dest_rd(struct log_rig *l, long value)
{
	return qp_modify(l, IBV_QPS_RTR, set_dest_rd, value, 0);
}

static bool rts_rd(struct log_rig *l, long value)
{
	return qp_modify(l, IBV_QPS_RTS, set_rd, value, 0);
}

static bool wrong_order(struct log_rig *l, long to)
{
	struct ibv_qp_attr attr;
	int mask =
		rig_qp_attr(&l->rig, &l->pair.conf, l->fresh->qp_num, (enum ibv_qp_state)to, &attr);

	rig_qp_to(&l->rig, &l->pair.conf, l->fresh, 0, IBV_QPS_RESET);
	return ibv_modify_qp(l->fresh, &attr, mask) != 0;
}

/* Posts N copies of one request. Returns whether the list was refused. */
static bool qp_post(struct ibv_qp *qp, struct ibv_send_wr *wr, int n)
{
	static struct ibv_send_wr list[1024];
	struct ibv_send_wr *bad;

	for (int i = 0; i < n; i++) {
		list[i] = *wr;
		list[i].next = i + 1 < n ? &list[i + 1] : NULL;
	}
	return ibv_post_send(qp, list, &bad) != 0;
}

static struct ibv_send_wr write_wr(struct log_rig *l, struct ibv_sge *sges)
{
	struct ibv_send_wr wr = { .sg_list = sges, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE };

	for (int i = 0; i < 64; i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)l->pair.end[0].buf, 1,
					    l->pair.end[0].mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)l->pair.end[1].buf;
	wr.wr.rdma.rkey = l->pair.end[1].mr->rkey;
	return wr;
}

static bool send_sges(struct log_rig *l, long n)
{
	struct ibv_sge sges[64];
	struct ibv_send_wr wr = write_wr(l, sges);

	wr.num_sge = n;
	return qp_post(l->pair.end[0].qp, &wr, 1);
}

static bool send_inline(struct log_rig *l, long len)
{
	struct ibv_sge sges[64];
	struct ibv_send_wr wr = write_wr(l, sges);

	sges[0].length = len;
	wr.send_flags = IBV_SEND_INLINE;
	return qp_post(l->pair.end[0].qp, &wr, 1);
}

static bool send_opcode(struct log_rig *l, long opcode)
{
	struct ibv_sge sges[64];
	struct ibv_send_wr wr = write_wr(l, sges);

	wr.opcode = (enum ibv_wr_opcode)opcode;
	return qp_post(l->pair.end[0].qp, &wr, 1);
}

static bool send_overfull(struct log_rig *l, long n)
{
	struct ibv_sge sges[64];
	struct ibv_send_wr wr = write_wr(l, sges);
	bool refused = qp_post(l->pair.end[0].qp, &wr, n);

	rig_pair_reconnect(&l->pair);
	return refused;
}

static bool recv_list(struct log_rig *l, int num_sge, int n)
{
	static struct ibv_recv_wr list[1024];
	struct ibv_sge sges[64] = { { .length = 0 } };
	struct ibv_recv_wr *bad;
	bool refused;

	for (int i = 0; i < n; i++)
		list[i] = (struct ibv_recv_wr){ .sg_list = sges,
						.num_sge = num_sge,
						.next = i + 1 < n ? &list[i + 1] : NULL };
	refused = ibv_post_recv(l->pair.end[1].qp, list, &bad) != 0;
	rig_pair_reconnect(&l->pair);
	return refused;
}

static bool recv_sges(struct log_rig *l, long n)
{
	return recv_list(l, n, 1);
}

static bool recv_overfull(struct log_rig *l, long n)
{
	return recv_list(l, 1, n);
}

static bool wr_inline(struct log_rig *l, long len)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(l->pair.end[0].qp);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, l->pair.end[0].buf, len);
	return ibv_wr_complete(qpx) != 0;
}

static bool wr_sges(struct log_rig *l, long n)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(l->pair.end[0].qp);
	struct ibv_sge sges[64];

	write_wr(l, sges);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, n, sges);
	return ibv_wr_complete(qpx) != 0;
}

static bool wr_overfull(struct log_rig *l, long n)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(l->pair.end[0].qp);
	struct ibv_sge sges[64];

	write_wr(l, sges);
	ibv_wr_start(qpx);
	for (long i = 0; i < n; i++) {
		ibv_wr_rdma_write(qpx, l->pair.end[1].mr->rkey, (uintptr_t)l->pair.end[1].buf);
		ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, 1);
	}
	return ibv_wr_complete(qpx) != 0;
}

static bool mr_access(struct log_rig *l, long access)
{
	return !ibv_reg_mr(l->pair.pd, l->pair.end[0].buf, 4096, access);
}

static bool mr_unmapped(struct log_rig *l, long length)
{
	return !ibv_reg_mr(l->pair.pd, NULL, length, IBV_ACCESS_LOCAL_WRITE);
}

static bool cq_in_use(struct log_rig *l, long unused)
{
	(void)unused;
	return ibv_destroy_cq(l->pair.end[0].cq) != 0;
}

static bool pd_in_use(struct log_rig *l, long unused)
{
	(void)unused;
	return ibv_dealloc_pd(l->pair.pd) != 0;
}

/* The kernel does not know of it. */
static bool pd_with_key(struct log_rig *l, long flags)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = ibv_alloc_pd(l->rig.ctx),
					      .create_flags = (uint32_t)flags,
					      .max_entries = 4 };
	struct mlx5dv_mkey *mkey = mlx5dv_create_mkey(&attr);
	bool refused = ibv_dealloc_pd(attr.pd) != 0;

	MUST(!mlx5dv_destroy_mkey(mkey) && (!refused || !ibv_dealloc_pd(attr.pd)));
	return refused;
}

static bool channel_in_use(struct log_rig *l, long unused)
{
	(void)unused;
	return ibv_destroy_comp_channel(l->channel) != 0;
}

static bool port_number(struct log_rig *l, long port)
{
	struct ibv_port_attr attr;

	return ibv_query_port(l->rig.ctx, port, &attr) != 0;
}

static bool gid_index(struct log_rig *l, long index)
{
	union ibv_gid gid;

	return ibv_query_gid(l->rig.ctx, RIG_PORT, index, &gid) != 0;
}

static bool pkey_index(struct log_rig *l, long index)
{
	__be16 pkey;

	return ibv_query_pkey(l->rig.ctx, RIG_PORT, index, &pkey) != 0;
}

static const struct log_case cases[] = {
	{ "CQ of 0 entries", cq_cqe, 0, { "create_cq", "cqe", "0", "@max_cqe" } },
	{ "CQ of -1 entries", cq_cqe, -1, { "create_cq", "cqe", "-1|4294967295", "@max_cqe" } },
	{ "CQ too large", cq_too_large, 1, { "create_cq", "cqe", "@max_cqe+1", "@max_cqe" } },
	{ "CQ vector",
	  cq_vector,
	  100000,
	  { "create_cq", "comp_vector", "100000", "@comp_vectors" } },
	{ "CQ vector below 0",
	  cq_vector,
	  -1,
	  { "create_cq", "comp_vector", "-1|4294967295", "@comp_vectors" } },
	{ "CQ wc_flags", cq_wc_flags, 60, { "create_cq", "wc_flags", "0x1000000000000000" } },
	{ "CQ flags", cq_ex_flags, 1 << 20, { "create_cq", "flags", "0x100000" } },
	{ "CQ comp_mask", cq_ex_mask, 1 << 20, { "create_cq", "comp_mask", "0x100000" } },
	{ "QP max_send_wr", qp_send_wr, 1, { "create_qp", "max_send_wr", "@max_qp_wr+1" } },
	{ "QP max_recv_wr", qp_recv_wr, 1, { "create_qp", "max_recv_wr", "@max_qp_wr+1" } },
	{ "QP max_send_sge", qp_send_sge, 1000, { "create_qp", "max_send_sge", "1000" } },
	{ "QP max_recv_sge", qp_recv_sge, 1000, { "create_qp", "max_recv_sge", "1000" } },
	{ "QP max_inline_data", qp_inline, 100000, { "create_qp", "max_inline_data", "100000" } },
	{ "QP type", qp_type, 100, { "create_qp", "qp_type|type", "100" } },
	{ "QP without send CQ", qp_no_cq, 1, { "create_qp", "send_cq", "missing" } },
	{ "QP without receive CQ", qp_no_cq, 0, { "create_qp", "recv_cq", "missing" } },
	{ "QP, other send CQ", qp_other_context, 1, { "create_qp", "send_cq", "another context" } },
	{ "QP, other receive CQ",
	  qp_other_context,
	  0,
	  { "create_qp", "recv_cq", "another context" } },
	{ "QP send_ops_flags",
	  qp_send_ops,
	  60,
	  { "create_qp", "send_ops_flags", "0x1000000000000000" } },
	{ "QP comp_mask", qp_comp_mask, 20, { "create_qp", "comp_mask", "0x100000|0x100001" } },
	{ "QP without the right",
	  qp_unprivileged,
	  IBV_QPT_RAW_PACKET,
	  { "create_qp", "CAP_NET_RAW", "not permitted" } },
	{ "QP create_flags", qp_create_flags, 30, { "create_qp", "create_flags", "0x40000000" } },
	{ "INIT without a port",
	  to_init_flip,
	  IBV_QP_PORT,
	  { "modify_qp", "RESET", "INIT", "IBV_QP_PORT" } },
	{ "INIT with an AV",
	  to_init_flip,
	  IBV_QP_AV,
	  { "modify_qp", "RESET", "INIT", "IBV_QP_AV" } },
	{ "RTR without an AV",
	  to_rtr_flip,
	  IBV_QP_AV,
	  { "modify_qp", "INIT", "RTR", "IBV_QP_AV" } },
	{ "RTR without dest QPN",
	  to_rtr_flip,
	  IBV_QP_DEST_QPN,
	  { "modify_qp", "INIT", "RTR", "IBV_QP_DEST_QPN" } },
	{ "RTS without a timeout",
	  to_rts_flip,
	  IBV_QP_TIMEOUT,
	  { "modify_qp", "RTR", "RTS", "IBV_QP_TIMEOUT" } },
	{ "RTS with a port",
	  to_rts_flip,
	  IBV_QP_PORT,
	  { "modify_qp", "RTR", "RTS", "IBV_QP_PORT" } },
	{ "RESET to RTS", wrong_order, IBV_QPS_RTS, { "modify_qp", "RESET", "RTS" } },
	{ "RESET to RTR", wrong_order, IBV_QPS_RTR, { "modify_qp", "RESET", "RTR" } },
	{ "port_num", init_port, 200, { "modify_qp", "port_num", "200", "@ports" } },
	{ "pkey_index", init_pkey, 60000, { "modify_qp", "pkey_index", "60000" } },
	{ "path_mtu", rtr_mtu, 7, { "modify_qp", "path_mtu", "7" } },
	{ "max_dest_rd_atomic",
	  rtr_dest_rd,
	  255,
	  { "modify_qp", "max_dest_rd_atomic", "255", "@max_rd" } },
	{ "max_rd_atomic", rts_rd, 255, { "modify_qp", "max_rd_atomic", "255", "@max_rd" } },
	{ "entries of a send", send_sges, 60, { "post_send", "num_sge", "60" } },
	{ "inline of a send", send_inline, 5000, { "post_send", "inline", "5000" } },
	{ "opcode of a send", send_opcode, 100, { "post_send", "opcode", "100" } },
	{ "full send queue", send_overfull, 1000, { "post_send", "send queue", "max_send_wr" } },
	{ "entries of a receive", recv_sges, 60, { "post_recv", "num_sge", "60" } },
	{ "full receive queue",
	  recv_overfull,
	  1000,
	  { "post_recv", "receive queue", "max_recv_wr" } },
	{ "inline by ibv_wr", wr_inline, 5000, { "wr_set_inline_data", "inline", "5000" } },
	{ "entries by ibv_wr", wr_sges, 60, { "wr_set_sge_list", "num_sge", "60" } },
	{ "full send queue by ibv_wr",
	  wr_overfull,
	  1000,
	  { "ibv_wr", "send queue", "max_send_wr" } },
	{ "MR access",
	  mr_access,
	  IBV_ACCESS_REMOTE_WRITE,
	  { "reg_mr", "access", "0x2", "LOCAL_WRITE" } },
	{ "MR access, unknown bit", mr_access, 1 << 10, { "reg_mr", "access", "0x400" } },
	{ "MR of unmapped memory", mr_unmapped, 4096, { "reg_mr", "addr", "length", "4096" } },
	{ "CQ in use", cq_in_use, 0, { "destroy_cq", "QP" } },
	{ "PD in use", pd_in_use, 0, { "dealloc_pd", "in use" } },
	{ "PD of a memory key",
	  pd_with_key,
	  MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
	  { "dealloc_pd", "memory keys" } },
	{ "channel in use", channel_in_use, 0, { "destroy_comp_channel", "1", "CQ" } },
	{ "port to query", port_number, 200, { "query_port", "port_num", "200" } },
	{ "GID index", gid_index, 70000, { "query_gid", "index", "70000" } },
	{ "P_Key index", pkey_index, 70000, { "query_pkey", "index", "70000" } },
};

static bool flow_to_rc(struct log_rig *l, long port)
{
	struct ibv_flow_attr attr = { .size = sizeof(attr), .port = (uint8_t)port };

	return !ibv_create_flow(l->fresh, &attr);
}

static const struct log_case flow_case = {
	"flow to an RC QP", flow_to_rc, 1, { "create_flow", "port 1", "RAW_PACKET or UD" }
};

/* Cases on Ethernet only: the kernel refuses, and only the provider knows why. */
static const struct log_case ethernet_cases[] = {
	{ "QP, wall clock of sends",
	  qp_timestamps,
	  1,
	  { "create_qp", "send_cq has", "WALLCLOCK alone" } },
	{ "QP, wall clock of receives",
	  qp_timestamps,
	  0,
	  { "create_qp", "recv_cq has", "WALLCLOCK alone" } },
};

/* "@max_cqe+1" becomes a number; everything else stays. */
static const char *word_resolve(const struct rig *rig, const char *word, char *text, size_t size)
{
	const struct {
		const char *name;
		long value;
	} limits[] = {
		{ "@max_cqe", rig->device.max_cqe },
		{ "@max_qp_wr", rig->device.max_qp_wr },
		{ "@comp_vectors", rig->ctx->num_comp_vectors },
		{ "@ports", rig->device.phys_port_cnt },
		{ "@max_rd", rig->device.max_qp_rd_atom },
		{ "@max_srq_wr", rig->device.max_srq_wr },
		{ "@max_srq_sge", rig->device.max_srq_sge },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		size_t len = strlen(limits[i].name);

		if (strncmp(word, limits[i].name, len))
			continue;
		snprintf(text, size, "%ld", limits[i].value + (word[len] ? atol(word + len) : 0));
		return text;
	}
	return word;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool line_has(const char *line, const char *word, size_t len)
{
	bool number = isdigit((unsigned char)word[0]) || word[0] == '-';

	for (const char *at = line; *at; at++)
		if (!strncasecmp(at, word, len) &&
		    (!number || ((at == line || !in_word(at[-1])) && !in_word(at[len]))))
			return true;
	return false;
}

static bool line_has_either(const char *line, const char *words)
{
	while (true) {
		size_t len = strcspn(words, "|");

		if (line_has(line, words, len))
			return true;
		if (!words[len])
			return false;
		words += len + 1;
	}
}

static int count_lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void forget_lines(void)
{
	MUST(!ftruncate(captured, 0) && lseek(captured, 0, SEEK_SET) == 0);
}

static void check_case_lines(struct log_rig *l, const struct log_case *c, int lines)
{
	char text[8192], number[32];
	bool refused, so_many, all = true;
	ssize_t len;

	forget_lines();
	refused = c->run(l, c->argument);
	len = pread(captured, text, sizeof(text) - 1, 0);
	MUST(len >= 0);
	text[len] = 0;
	so_many = count_lines(text) == lines;
	for (int i = 0; i < MAX_WORDS && c->words[i]; i++) {
		const char *word = word_resolve(&l->rig, c->words[i], number, sizeof(number));

		if (!line_has_either(text, word)) {
			say("%s: the line lacks: %s", c->name, word);
			all = false;
		}
	}
	if (!say_check(refused && so_many && all, "%s, %s, %d lines", c->name,
		       refused ? "refused" : "ACCEPTED", count_lines(text)))
		printf("%s", text);
}

static void check_case(struct log_rig *l, const struct log_case *c)
{
	check_case_lines(l, c, 1);
}

static void log_rig_open(struct log_rig *l)
{
	struct rig_conf conf = rig_conf_default();

	rig_open(&l->rig);
	conf.send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
	rig_pair_open(&l->rig, &conf, &l->pair);
	MUST(l->channel = ibv_create_comp_channel(l->rig.ctx));
	MUST(l->channel_cq = ibv_create_cq(l->rig.ctx, 1, NULL, l->channel, 0));
	MUST(l->fresh = rig_qp_create(l->pair.pd, &conf, l->pair.end[0].cq));
}

static void log_rig_close(struct log_rig *l)
{
	MUST(!ibv_destroy_qp(l->fresh));
	MUST(!ibv_destroy_cq(l->channel_cq));
	MUST(!ibv_destroy_comp_channel(l->channel));
	rig_pair_close(&l->pair);
	rig_close(&l->rig);
}

/* The level is read when the library is loaded or first used, so it has to be there when this
 * program starts. */
static void run_with_level(char **argv)
{
	const char *level = getenv("VERBS_LOG");

	if (level && !strcmp(level, "warn"))
		return;
	setenv("VERBS_LOG", "warn", 1);
	unsetenv("VERBS_LOG_FILE");
	execv("/proc/self/exe", argv);
	MUST(!"execv");
}

static void all_cases(void)
{
	struct log_rig l;

	log_rig_open(&l);
	forget_lines();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&l, &cases[i]);
	if (l.rig.port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		check_case(&l, &flow_case);
		for (size_t i = 0; i < ARRAY_SIZE(ethernet_cases); i++)
			check_case_lines(&l, &ethernet_cases[i], 2);
	}
	for (const struct log_case *c = object_cases; c->name; c++)
		check_case(&l, c);
	for (const struct log_case *c = failure_cases; c->name; c++)
		check_case(&l, c);
	forget_lines();
	log_rig_close(&l);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "log", all_cases } };

	run_with_level(argv);
	captured = memfd_create("log", MFD_CLOEXEC);
	MUST(captured >= 0 && dup2(captured, STDERR_FILENO) >= 0);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
