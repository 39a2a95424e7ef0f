/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_pairs.c - pages on queue pairs, and on their requests.
 *
 * Covers: libibverbs/verbs_qp.c, providers/mlx5/qp/, providers/mlx5/qp/extra.c
 */
#include <fcntl.h>

#include "errors.h"

enum { SGES = 40, MANY = 2000 };

static struct ibv_sge sges_of[SGES];

static struct ibv_sge *bed_sges(struct bed *bed)
{
	for (int i = 0; i < SGES; i++)
		sges_of[i] = (struct ibv_sge){ (uintptr_t)bed->buf, 8, bed->mr->lkey };
	return sges_of;
}

static struct ibv_xrcd *xrcd_open(struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1,
					   .oflags = O_CREAT };
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &attr);

	MUST(xrcd);
	return xrcd;
}

/* ---- ibv_create_qp ---- */

CASE(ibv_create_qp, EINVAL, "A member of cap is above the adapter's limit")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.cap.max_send_wr = bed->rig.device.max_qp_wr + 1;
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, EINVAL, "a completion queue is missing")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.send_cq = NULL;
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, EINVAL, "a completion queue is missing")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.recv_cq = NULL;
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, EINVAL, "srq is set for a type that does not take receives from one")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.srq = bed_srq(bed);
	attr.qp_type = IBV_QPT_XRC_SEND;
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, EINVAL, "qp_type is not a type")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.qp_type = 77;
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, EOPNOTSUPP, "The device does not support the type")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.qp_type = IBV_QPT_RAW_PACKET; /* on InfiniBand */
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, ENOENT, "pd belongs to another context")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	return OBJ(ibv_create_qp(bed->other_pd, &attr));
}

CASE(ibv_create_qp, ENOENT, "A completion queue, srq or pd belongs to another context")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.recv_cq = bed->other_cq;
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, ENOENT, "A completion queue, srq or pd belongs to another context")
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	attr.srq = ibv_create_srq(bed->other_pd, &srq);
	MUST(attr.srq);
	return OBJ(ibv_create_qp(bed->pd, &attr));
}

CASE(ibv_create_qp, EBUSY, "qp is attached to multicast groups or has flows")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_UD);
	union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 1 } };

	bed_to_init(qp);
	MUST(!ibv_attach_mcast(qp, &group, 0xc001));
	return RET(ibv_destroy_qp(qp));
}

CASE(ibv_create_qp, ENOMEM, "There is no memory for the rings")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);

	return NO_MEMORY(OBJ(ibv_create_qp(bed->pd, &attr)));
}

CASE(ibv_create_qp, ENOMEM, "the adapter has no queue pair left")
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);
	int ret = 0;

	attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
	for (int i = 0; i < MANY && !ret; i++)
		ret = OBJ(ibv_create_qp(bed->pd, &attr));
	return ret;
}

CASE(ibv_create_qp_ex, EINVAL, "As for ibv_create_qp(3)")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.cap.max_recv_sge = 10000;
	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

CASE(ibv_create_qp_ex, EINVAL, "comp_mask or create_flags has a bit that the type does not take")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.comp_mask |= 1 << 30;
	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

CASE(ibv_create_qp_ex, EINVAL, "comp_mask or create_flags has a bit that the type does not take")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_CVLAN_STRIPPING;
	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

CASE(ibv_create_qp_ex, EOPNOTSUPP, "The type does not support all of send_ops_flags")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.qp_type = IBV_QPT_UD;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

CASE(ibv_create_qp_ex, EOPNOTSUPP, "of type IBV_QPT_XRC_RECV")
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD |
							 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					    .xrcd = xrcd_open(bed->ctx),
					    .send_ops_flags = IBV_QP_EX_WITH_SEND };

	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

CASE(ibv_create_qp_ex, ENOENT, "An object belongs to another context")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.pd = bed->other_pd;
	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

CASE(ibv_create_qp_ex, ENOMEM, "There is no memory for the rings")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	return NO_MEMORY(OBJ(ibv_create_qp_ex(bed->ctx, &attr)));
}

CASE(ibv_create_qp_ex, ENOMEM, "or the adapter has no queue pair left")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	int ret = 0;

	attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
	for (int i = 0; i < MANY && !ret; i++)
		ret = OBJ(ibv_create_qp_ex(bed->ctx, &attr));
	return ret;
}

CASE(ibv_modify_qp, EINVAL, "The queue pair cannot go from its state to qp_state")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	return RET(ibv_modify_qp(bed->rc, &attr, IBV_QP_STATE));
}

CASE(ibv_modify_qp, EINVAL, "attr_mask lacks an attribute")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	return RET(ibv_modify_qp(bed->rc, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

CASE(ibv_modify_qp, EINVAL, "has one that the step does not accept")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	return RET(ibv_modify_qp(bed->rc, &attr,
				 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS | IBV_QP_SQ_PSN));
}

CASE(ibv_modify_qp, EINVAL, "a value is out of range")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 9 };

	return RET(ibv_modify_qp(bed->rc, &attr,
				 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS));
}

CASE(ibv_modify_qp, EINVAL, "a value is out of range")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RC);
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_attr attr;
	int mask = rig_qp_attr(&bed->rig, &conf, qp->qp_num, IBV_QPS_RTR, &attr);

	bed_to_init(qp);
	attr.path_mtu = 9;
	return RET(ibv_modify_qp(qp, &attr, mask));
}

CASE(ibv_query_qp, EOPNOTSUPP, "attr_mask selects an attribute that cannot be queried")
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return RET(ibv_query_qp(bed->rc, &attr, 1 << 28, &init));
}

CASE(ibv_set_ece, EOPNOTSUPP, "vendor_id is 0")
{
	struct ibv_ece ece = { 0 };

	return RET(ibv_set_ece(bed->rc, &ece));
}

CASE(ibv_set_ece, EINVAL, "vendor_id names another vendor")
{
	struct ibv_ece ece = { .vendor_id = 1, .options = 1 };

	return RET(ibv_set_ece(bed->rc, &ece));
}

CASE(ibv_set_ece, EINVAL, "comp_mask is not 0")
{
	struct ibv_ece ece = { .vendor_id = 0x2c9, .options = 1, .comp_mask = 1 };

	return RET(ibv_set_ece(bed->rc, &ece));
}

CASE_ON(ON_MLX4, ibv_set_ece, EOPNOTSUPP, "the kernel has no such options")
{
	struct ibv_ece ece = { .vendor_id = 0x2c9, .options = 1 };

	return RET(ibv_set_ece(bed->rc, &ece));
}

CASE_ON(ON_MLX4, ibv_query_ece, EOPNOTSUPP, "The provider does not support such options")
{
	struct ibv_ece ece;

	return RET(ibv_query_ece(bed->rc, &ece));
}

static void raw_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	for (attr.qp_state = IBV_QPS_RTR; attr.qp_state <= IBV_QPS_RTS; attr.qp_state++)
		MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

static struct ibv_qp *raw_rts(struct bed *bed)
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RAW_PACKET);

	raw_to_rts(qp);
	return qp;
}

CASE_ON(ON_ROCE, ibv_modify_qp_rate_limit, EINVAL, "comp_mask is not 0")
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 100000, .comp_mask = 1 };

	return RET(ibv_modify_qp_rate_limit(raw_rts(bed), &attr));
}

CASE_ON(ON_ROCE, ibv_modify_qp_rate_limit, EINVAL, "a burst is set without a rate")
{
	struct ibv_qp_rate_limit_attr attr = { .max_burst_sz = 1000 };

	return RET(ibv_modify_qp_rate_limit(raw_rts(bed), &attr));
}

CASE_ON(ON_ROCE, ibv_modify_qp_rate_limit, EINVAL, "the rate is out of range")
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 0xffffffff };

	return RET(ibv_modify_qp_rate_limit(raw_rts(bed), &attr));
}

CASE_ON(ON_ROCE, ibv_modify_qp_rate_limit, EINVAL, "qp is not in RTS")
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 100000 };

	return RET(ibv_modify_qp_rate_limit(bed_qp(bed, IBV_QPT_RAW_PACKET), &attr));
}

CASE_ON(ON_ROCE, ibv_modify_qp_rate_limit, ENOSPC,
	"The device supports no further rate beside those in use")
{
	struct ibv_qp_rate_limit_attr attr;
	int ret = 0;

	for (uint32_t i = 0; i < 140 && !ret; i++) {
		attr = (struct ibv_qp_rate_limit_attr){ .rate_limit = 100000 + 1000 * i };
		ret = RET(ibv_modify_qp_rate_limit(raw_rts(bed), &attr));
	}
	return ret;
}

CASE(ibv_modify_qp_rate_limit, EINVAL, "the device does not limit the rate of such a queue pair")
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 100000 };

	return RET(ibv_modify_qp_rate_limit(bed_rts(bed), &attr));
}

CASE_ON(ON_MLX4, ibv_modify_qp_rate_limit, EOPNOTSUPP, "The provider does not limit rates")
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 100000 };

	return RET(ibv_modify_qp_rate_limit(bed_rts(bed), &attr));
}

static struct ibv_qp_open_attr open_attr(struct bed *bed)
{
	return (struct ibv_qp_open_attr){ .comp_mask = IBV_QP_OPEN_ATTR_NUM |
						       IBV_QP_OPEN_ATTR_XRCD |
						       IBV_QP_OPEN_ATTR_TYPE,
					  .qp_num = 0x123456,
					  .qp_type = IBV_QPT_XRC_RECV,
					  .xrcd = xrcd_open(bed->ctx) };
}

CASE(ibv_open_qp, EINVAL, "comp_mask lacks a bit")
{
	struct ibv_qp_open_attr attr = open_attr(bed);

	attr.comp_mask &= ~IBV_QP_OPEN_ATTR_NUM;
	return OBJ(ibv_open_qp(bed->ctx, &attr));
}

CASE(ibv_open_qp, EINVAL, "the domain has no such queue pair")
{
	struct ibv_qp_open_attr attr = open_attr(bed);

	return OBJ(ibv_open_qp(bed->ctx, &attr));
}

CASE(ibv_open_qp, EOPNOTSUPP, "comp_mask has an unknown bit")
{
	struct ibv_qp_open_attr attr = open_attr(bed);

	attr.comp_mask |= 1 << 20;
	return OBJ(ibv_open_qp(bed->ctx, &attr));
}

CASE(ibv_open_qp, ENOMEM, "There is no memory")
{
	struct ibv_qp_open_attr attr = open_attr(bed);
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					    .xrcd = attr.xrcd };
	struct ibv_qp *qp = ibv_create_qp_ex(bed->ctx, &init);

	MUST(qp);
	attr.qp_num = qp->qp_num;
	return NO_MEMORY(OBJ(ibv_open_qp(bed->ctx, &attr)));
}

CASE(ibv_open_xrcd, EINVAL, "comp_mask lacks a bit")
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1 };

	return OBJ(ibv_open_xrcd(bed->ctx, &attr));
}

static struct ibv_xrcd_init_attr of_file(int oflags)
{
	return (struct ibv_xrcd_init_attr){ .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
					    .oflags = oflags };
}

CASE(ibv_open_xrcd, EINVAL, "the domain exists and oflags has O_EXCL")
{
	struct ibv_xrcd_init_attr attr = of_file(O_CREAT);

	MUST(ibv_open_xrcd(bed->ctx, &attr));
	attr.oflags = O_CREAT | O_EXCL;
	return OBJ(ibv_open_xrcd(bed->ctx, &attr));
}

CASE(ibv_open_xrcd, EAGAIN, "The domain does not exist, and oflags lacks O_CREAT")
{
	struct ibv_xrcd_init_attr attr = of_file(0);

	attr.fd = open("/", O_RDONLY | O_CLOEXEC);
	return OBJ(ibv_open_xrcd(bed->ctx, &attr));
}

CASE(ibv_open_xrcd, EBADF, "fd is not an open descriptor")
{
	struct ibv_xrcd_init_attr attr = of_file(O_CREAT);

	attr.fd = 9999;
	return OBJ(ibv_open_xrcd(bed->ctx, &attr));
}

CASE(ibv_open_xrcd, EOPNOTSUPP, "comp_mask has an unknown bit")
{
	struct ibv_xrcd_init_attr attr = of_file(O_CREAT);

	attr.comp_mask |= 1 << 20;
	return OBJ(ibv_open_xrcd(bed->ctx, &attr));
}

CASE(ibv_open_xrcd, ENOMEM, "There is no memory")
{
	struct ibv_xrcd_init_attr attr = of_file(O_CREAT);

	return NO_MEMORY(OBJ(ibv_open_xrcd(bed->ctx, &attr)));
}

CASE(ibv_open_xrcd, EBUSY,
     "this context still has shared receive queues or queue pairs in the domain")
{
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					    .xrcd = xrcd_open(bed->ctx) };

	MUST(ibv_create_qp_ex(bed->ctx, &init));
	return RET(ibv_close_xrcd(init.xrcd));
}

/* ---- posting ---- */

static struct ibv_send_wr send_wr(struct bed *bed)
{
	return (struct ibv_send_wr){ .sg_list = bed_sges(bed),
				     .num_sge = 1,
				     .opcode = IBV_WR_SEND };
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return RET(ibv_post_send(qp, wr, &bad));
}

static int post_recv(struct bed *bed, struct ibv_qp *qp, int num_sge)
{
	struct ibv_recv_wr wr = { .sg_list = bed_sges(bed), .num_sge = num_sge }, *bad;

	return RET(ibv_post_recv(qp, &wr, &bad));
}

CASE(ibv_post_send, ENOMEM, "the queue pair is not in RTS or a later state")
{
	struct ibv_send_wr wr = send_wr(bed);

	return post_send(bed->rc, &wr);
}

CASE(ibv_post_send, ENOMEM, "the queue pair is not in RTS or a later state")
{
	struct ibv_send_wr wr = send_wr(bed);
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RC);

	bed_to_init(qp);
	return post_send(qp, &wr);
}

CASE(ibv_post_send, ENOMEM, "num_sge is above max_send_sge")
{
	struct ibv_send_wr wr = send_wr(bed);

	wr.num_sge = SGES;
	return post_send(bed_rts(bed), &wr);
}

CASE(ibv_post_send, EINVAL, "The type of the queue pair does not have the opcode")
{
	struct ibv_send_wr wr = send_wr(bed);

	wr.opcode = IBV_WR_TSO;
	return post_send(bed_rts(bed), &wr);
}

CASE_ON(ON_ROCE, ibv_post_send, EINVAL, "a frame or binding is malformed")
{
	struct ibv_send_wr wr = send_wr(bed);
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct ibv_qp *qp;

	attr.qp_type = IBV_QPT_RAW_PACKET;
	attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	attr.max_tso_header = 64;
	qp = ibv_create_qp_ex(bed->ctx, &attr);
	MUST(qp);
	raw_to_rts(qp);
	wr.opcode = IBV_WR_TSO;
	wr.tso.mss = 1000; /* and no header */
	return post_send(qp, &wr);
}

CASE(ibv_post_send, EOPNOTSUPP, "or the type of the queue pair")
{
	struct ibv_send_wr wr = send_wr(bed);
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_UD);

	bed_to_rts_ud(qp);
	wr.opcode = IBV_WR_LOCAL_INV;
	return post_send(qp, &wr);
}

CASE(ibv_post_send, ENOSYS, "or the type of the queue pair")
{
	struct ibv_send_wr wr = send_wr(bed);
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_UD);

	bed_to_rts_ud(qp);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	return post_send(qp, &wr);
}

CASE(ibv_post_send, ENOMEM, "The send queue is full")
{
	struct ibv_send_wr wr = send_wr(bed);
	struct ibv_qp *qp = bed_rts(bed);
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = post_send(qp, &wr);
	return ret;
}

CASE(ibv_post_send, ENOMEM, "inline data are longer than max_inline_data")
{
	struct ibv_send_wr wr = send_wr(bed);

	sges_of[0].length = 20000;
	wr.send_flags = IBV_SEND_INLINE;
	return post_send(bed_rts(bed), &wr);
}

CASE(ibv_post_recv, EINVAL, "The queue is in state RESET")
{
	return post_recv(bed, bed->rc, 1);
}

CASE(ibv_post_recv, EINVAL, "num_sge is above the limit that it was created with")
{
	return post_recv(bed, bed_rts(bed), SGES);
}

CASE(ibv_post_recv, ENOMEM, "The receive queue is full")
{
	struct ibv_qp *qp = bed_rts(bed);
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = post_recv(bed, qp, 1);
	return ret;
}

/* ---- ibv_wr_* ---- */

static struct ibv_qp_ex *qp_ex(struct bed *bed, enum ibv_qp_type type, uint64_t ops, bool rts)
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp;

	attr.qp_type = type;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = ops;
	qp = ibv_create_qp_ex(bed->ctx, &attr);
	MUST(qp);
	if (rts)
		rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	return ibv_qp_to_qp_ex(qp);
}

CASE(ibv_wr_post, EINVAL, "The queue pair is not in RTS")
{
	struct ibv_qp_ex *qp = qp_ex(bed, IBV_QPT_RC, IBV_QP_EX_WITH_SEND, false);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, bed->mr->lkey, (uintptr_t)bed->buf, 8);
	return RET(ibv_wr_complete(qp));
}

CASE_ON(ON_ROCE, ibv_wr_post, EINVAL, "or a request is malformed")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct ibv_qp_ex *qp;

	attr.qp_type = IBV_QPT_RAW_PACKET;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	attr.max_tso_header = 64;
	MUST(qp = ibv_qp_to_qp_ex(ibv_create_qp_ex(bed->ctx, &attr)));
	raw_to_rts(&qp->qp_base);
	ibv_wr_start(qp);
	ibv_wr_send_tso(qp, bed->buf, 8, 1000); /* less than an Ethernet header */
	ibv_wr_set_sge(qp, bed->mr->lkey, (uintptr_t)bed->buf, 2000);
	return RET(ibv_wr_complete(qp));
}

CASE(ibv_wr_post, ENOMEM, "a list has more elements than max_send_sge")
{
	struct ibv_qp_ex *qp = qp_ex(bed, IBV_QPT_RC, IBV_QP_EX_WITH_SEND, true);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, SGES, bed_sges(bed));
	return RET(ibv_wr_complete(qp));
}

CASE(ibv_wr_post, ENOMEM, "The send queue has no room for the batch")
{
	struct ibv_qp_ex *qp = qp_ex(bed, IBV_QPT_RC, IBV_QP_EX_WITH_SEND, true);

	ibv_wr_start(qp);
	for (int i = 0; i < MANY; i++) {
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, bed->mr->lkey, (uintptr_t)bed->buf, 8);
	}
	return RET(ibv_wr_complete(qp));
}

CASE(ibv_wr_post, ENOMEM, "inline data are longer than max_inline_data")
{
	struct ibv_qp_ex *qp = qp_ex(bed, IBV_QPT_RC, IBV_QP_EX_WITH_SEND, true);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, bed->buf, 20000);
	return RET(ibv_wr_complete(qp));
}

CASE(ibv_wr_post, EOPNOTSUPP, "the type does not support one of the operations")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	return OBJ(ibv_create_qp_ex(bed->ctx, &attr));
}

static int group_attach(struct ibv_qp *qp, uint8_t first)
{
	union ibv_gid group = { .raw = { first, 0x12, [15] = 7 } };

	return RET(ibv_attach_mcast(qp, &group, 0xc001));
}

CASE(ibv_attach_mcast, EINVAL, "gid is not a multicast GID")
{
	return group_attach(bed_qp(bed, IBV_QPT_UD), 0x01);
}

CASE(ibv_attach_mcast, EINVAL, "qp has another type")
{
	return group_attach(bed->rc, 0xff);
}

CASE(ibv_attach_mcast, EINVAL, "qp is not attached to the group")
{
	union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 9 } };

	return RET(ibv_detach_mcast(bed_qp(bed, IBV_QPT_UD), &group, 0xc001));
}

CASE(ibv_attach_mcast, ENOMEM, "The device supports no further group")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_UD);
	int ret = 0;

	for (uint32_t i = 0; i < 100000 && !ret; i++) {
		union ibv_gid group = { .raw = { 0xff, 0x12 } };

		memcpy(group.raw + 8, &i, sizeof(i));
		ret = RET(ibv_attach_mcast(qp, &group, 0xc001));
	}
	return ret;
}

CASE(ibv_attach_mcast, ENOMEM, "or the group no further queue pair")
{
	int ret = 0;

	for (int i = 0; i < 250 && !ret; i++)
		ret = group_attach(bed_qp(bed, IBV_QPT_UD), 0xff);
	return ret;
}
