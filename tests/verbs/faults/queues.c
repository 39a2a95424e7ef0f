/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - lives of queues: of CQs, SRQs, QPs of every type, and the objects that steer packets
 * to them.
 *
 * Covers: providers/mlx5/cq.c, providers/mlx5/srq.c, providers/mlx5/qp/, providers/mlx5/wq.c,
 * providers/mlx4/cq.c, providers/mlx4/srq.c, providers/mlx4/qp.c, providers/mlx4/wq.c,
 * libibverbs/cmd/cmd_legacy.c, util/alloc.h
 */
#include <endian.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>

#include "faults.h"

static void live_cq(struct life *l)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
					   .moderate = { 1, 1 } };
	struct ibv_comp_channel *channel =
		KEEP(l, ibv_create_comp_channel(l->rig.ctx), ibv_destroy_comp_channel);
	struct ibv_cq *cq;

	if (!channel)
		return;
	cq = KEEP(l, ibv_create_cq(l->rig.ctx, 16, NULL, channel, 0), ibv_destroy_cq);
	if (cq && OK(l, ibv_req_notify_cq(cq, 0)) && OK(l, ibv_resize_cq(cq, 100)))
		OK(l, ibv_modify_cq(cq, &attr));
}

static void live_cq_ex(struct life *l)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN | IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};

	KEEP(l, ibv_create_cq_ex(l->rig.ctx, &attr), ibv_destroy_cq);
}

/* Direct verbs' CQ has wide entries, which are written whole, and runs. */
static void live_cq_dv(struct life *l)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct mlx5dv_cq_init_attr dv = { .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE |
						       MLX5DV_CQ_INIT_ATTR_MASK_FLAGS |
						       MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
					  .cqe_comp_res_format = MLX5DV_CQE_RES_FORMAT_HASH,
					  .flags = MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD,
					  .cqe_size = 128 };

	KEEP(l, mlx5dv_create_cq(l->rig.ctx, &attr, &dv), ibv_destroy_cq);
}

static void change_srq(struct life *l, struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	if (OK(l, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT)))
		OK(l, ibv_query_srq(srq, &attr));
}

static void live_srq(struct life *l)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr_ex qp = { .qp_type = IBV_QPT_RC, .comp_mask = IBV_QP_INIT_ATTR_PD };

	qp.pd = life_pd(l);
	if (!qp.pd || !(qp.srq = KEEP(l, ibv_create_srq(qp.pd, &attr), ibv_destroy_srq)))
		return;
	change_srq(l, qp.srq);
	if (!l->calls_failed && (qp.send_cq = qp.recv_cq = life_cq(l)))
		life_qp(l, &qp);
}

static struct ibv_xrcd *open_domain(struct life *l)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1,
					   .oflags = O_CREAT };

	return KEEP(l, ibv_open_xrcd(l->rig.ctx, &attr), ibv_close_xrcd);
}

static void live_xrc_srq(struct life *l)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 8, .max_sge = 1 },
					     .comp_mask =
						     IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
						     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
					     .srq_type = IBV_SRQT_XRC };
	struct ibv_srq *srq;

	if (!(attr.pd = life_pd(l)) || !(attr.xrcd = open_domain(l)) || !(attr.cq = life_cq(l)))
		return;
	srq = KEEP(l, ibv_create_srq_ex(l->rig.ctx, &attr), ibv_destroy_srq);
	if (srq)
		change_srq(l, srq);
}

static bool lacks_tm(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr)
{
	(void)ctx;
	return !attr->tm_caps.max_num_tags;
}

static void live_tm_srq(struct life *l)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 8, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.tm_cap = { .max_num_tags = 16, .max_ops = 16 },
	};

	if ((attr.pd = life_pd(l)) && (attr.cq = life_cq(l)))
		KEEP(l, ibv_create_srq_ex(l->rig.ctx, &attr), ibv_destroy_srq);
}

static void live_qp(struct life *l, enum ibv_qp_type type, uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = type,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .send_ops_flags = send_ops };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr now;
	struct ibv_qp *qp;

	if (send_ops)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = life_cq(l)))
		return;
	attr.recv_cq = attr.send_cq;
	qp = life_qp(l, &attr);
	if (qp && life_connect(l, qp))
		OK(l, ibv_query_qp(qp, &now, IBV_QP_STATE | IBV_QP_CAP, &init));
}

static void live_rc(struct life *l)
{
	live_qp(l, IBV_QPT_RC, 0);
}

static void live_rc_ex(struct life *l)
{
	live_qp(l, IBV_QPT_RC, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE);
}

static void live_uc(struct life *l)
{
	live_qp(l, IBV_QPT_UC, 0);
}

static void live_uc_ex(struct life *l)
{
	live_qp(l, IBV_QPT_UC, IBV_QP_EX_WITH_SEND);
}

static void live_ud(struct life *l)
{
	live_qp(l, IBV_QPT_UD, 0);
}

static void live_ud_ex(struct life *l)
{
	live_qp(l, IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
}

static void live_xrc_send(struct life *l)
{
	live_qp(l, IBV_QPT_XRC_SEND, 0);
}

static void live_xrc_send_ex(struct life *l)
{
	live_qp(l, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND);
}

static void live_xrc_recv(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	struct ibv_qp_open_attr open = { .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						      IBV_QP_OPEN_ATTR_TYPE,
					 .qp_type = IBV_QPT_XRC_RECV };
	struct ibv_qp *qp;

	if (!(attr.xrcd = open_domain(l)) || !(qp = life_qp(l, &attr)) || !life_connect(l, qp))
		return;
	open.xrcd = attr.xrcd;
	open.qp_num = qp->qp_num;
	KEEP(l, ibv_open_qp(l->rig.ctx, &open), ibv_destroy_qp);
}

static struct ibv_qp *life_dc(struct life *l, struct ibv_qp_init_attr_ex *attr,
			      struct mlx5dv_qp_init_attr *mlx5)
{
	attr->qp_type = IBV_QPT_DRIVER;
	mlx5->comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DC;
	return KEEP(l, mlx5dv_create_qp(l->rig.ctx, attr, mlx5), ibv_destroy_qp);
}

static void live_dct(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct mlx5dv_qp_init_attr mlx5 = { .dc_init_attr.dc_type = MLX5DV_DCTYPE_DCT };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT,
				  .port_num = RIG_PORT,
				  .path_mtu = IBV_MTU_1024,
				  .ah_attr = { .is_global = 1, .port_num = RIG_PORT } };
	struct ibv_qp *qp;

	to.ah_attr.grh.dgid = l->rig.gid;
	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)) ||
	    !(attr.srq = KEEP(l, ibv_create_srq(attr.pd, &srq), ibv_destroy_srq)) ||
	    !(qp = life_dc(l, &attr, &mlx5)) ||
	    !OK(l, ibv_modify_qp(qp, &to,
				 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS)))
		return;
	to.qp_state = IBV_QPS_RTR;
	OK(l, ibv_modify_qp(qp, &to,
			    IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU));
}

static void live_dci(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD |
							 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					    .send_ops_flags = IBV_QP_EX_WITH_SEND,
					    .cap = { .max_send_wr = 4, .max_send_sge = 1 } };
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS,
					    .dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI,
							      .dci_streams = { 1, 1 } } };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT,
				  .port_num = RIG_PORT,
				  .path_mtu = IBV_MTU_1024 };
	struct ibv_qp *qp;

	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)) ||
	    !(qp = life_dc(l, &attr, &mlx5)) ||
	    !OK(l, ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)))
		return;
	to.qp_state = IBV_QPS_RTR;
	if (!OK(l, ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PATH_MTU)))
		return;
	to.qp_state = IBV_QPS_RTS;
	OK(l, ibv_modify_qp(qp, &to,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN));
}

/* These QPs receive messages out of order, or copy memory and configure keys: each queries the
 * device's capabilities, and INIT passes the QP's features to the device. */
static void life_dv(struct life *l, uint32_t flags, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD |
							 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					    .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
					    .cap = { 4, 4, 1, 1, 0 } };
	struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS |
						       MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					  .create_flags = flags,
					  .send_ops_flags = ops };
	struct ibv_qp *qp;

	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)))
		return;
	qp = KEEP(l, mlx5dv_create_qp(l->rig.ctx, &attr, &dv), ibv_destroy_qp);
	if (qp)
		life_connect(l, qp);
}

static void live_early(struct life *l)
{
	life_dv(l, 1 << 7 /* MLX5DV_QP_CREATE_OOO_DP */, 0);
}

static void live_copies(struct life *l)
{
	life_dv(l, MLX5DV_QP_CREATE_SIG_PIPELINING,
		MLX5DV_QP_EX_WITH_MEMCPY | MLX5DV_QP_EX_WITH_MKEY_CONFIGURE);
}

static void live_multicast(struct life *l)
{
	const union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 7 } };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_UD,
					    .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_qp *qp;

	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)) ||
	    !(qp = life_qp(l, &attr)) || !OK(l, ibv_attach_mcast(qp, &group, 0xc000)))
		return;
	if (!OK(l, ibv_detach_mcast(qp, &group, 0xc000)))
		MUST(!ibv_detach_mcast(qp, &group, 0xc000));
}

static void live_ece(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_ece ece;
	struct ibv_qp *qp;

	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)) ||
	    !(qp = life_qp(l, &attr)) || !OK(l, ibv_query_ece(qp, &ece)) || !ece.vendor_id ||
	    !OK(l, ibv_set_ece(qp, &ece)))
		return;
	life_connect(l, qp);
}

const struct life_kind life_queues[] = {
	{ "cq", .live = live_cq },
	{ "cq-ex", .live = live_cq_ex },
	{ "cq-dv", .live = live_cq_dv },
	{ "srq", .live = live_srq },
	{ "xrc-srq", .live = live_xrc_srq },
	{ "tm-srq", .live = live_tm_srq, .lacks = lacks_tm },
	{ "rc", .live = live_rc },
	{ "rc-ex", .live = live_rc_ex },
	{ "uc", .live = live_uc },
	{ "uc-ex", .live = live_uc_ex },
	{ "ud", .live = live_ud },
	{ "ud-ex", .live = live_ud_ex },
	{ "xrc-send", .live = live_xrc_send },
	{ "xrc-send-ex", .live = live_xrc_send_ex },
	{ "xrc-recv", .live = live_xrc_recv },
	{ "dct", .live = live_dct },
	{ "dci", .live = live_dci },
	{ "early", .live = live_early },
	{ "copies", .live = live_copies },
	{ "multicast", .live = live_multicast },
	{ "ece", .live = live_ece },
	{},
};

static struct ibv_flow *frames_steer(struct life *l, struct ibv_qp *qp)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .size = sizeof(rule), .num_of_specs = 1, .port = RIG_PORT },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			 .size = sizeof(rule.eth),
			 .val.dst_mac = { 2, 0, 0, 0, 0, 9 },
			 .mask.dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } },
	};

	return KEEP(l, ibv_create_flow(qp, &rule.attr), ibv_destroy_flow);
}

/* Counters count for a flow. */
static void live_counters(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RAW_PACKET,
					    .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_counter_attach_attr attach = { .counter_desc = IBV_COUNTER_PACKETS };
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_flow_spec_eth eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(eth) };
	struct ibv_flow_spec_counter_action count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
						      .size = sizeof(count) };
	struct {
		struct ibv_flow_attr attr;
		uint8_t specs[sizeof(eth) + sizeof(count)];
	} rule = { .attr = { .size = sizeof(rule), .num_of_specs = 2, .port = RIG_PORT } };
	struct ibv_counters *counters =
		KEEP(l, ibv_create_counters(l->rig.ctx, &init), ibv_destroy_counters);
	uint64_t value;
	struct ibv_qp *qp;

	if (!counters || !OK(l, ibv_attach_counters_point_flow(counters, &attach, NULL)) ||
	    !(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)) ||
	    !(qp = life_qp(l, &attr)) || !life_connect(l, qp))
		return;
	count.counters = counters;
	memcpy(rule.specs, &eth, sizeof(eth));
	memcpy(rule.specs + sizeof(eth), &count, sizeof(count));
	if (KEEP(l, ibv_create_flow(qp, &rule.attr), ibv_destroy_flow))
		OK(l, ibv_read_counters(counters, &value, 1, 0));
}

static void live_raw(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RAW_PACKET,
					    .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_qp *qp;

	if (!(attr.pd = life_pd(l)) || !(attr.send_cq = attr.recv_cq = life_cq(l)) ||
	    !(qp = life_qp(l, &attr)) || !life_connect(l, qp))
		return;
	frames_steer(l, qp);
}

static struct ibv_wq *make_wq(struct life *l, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = pd, .cq = cq
	};
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct ibv_wq *wq = KEEP(l, ibv_create_wq(l->rig.ctx, &attr), ibv_destroy_wq);

	return wq && OK(l, ibv_modify_wq(wq, &ready)) ? wq : NULL;
}

static void live_strides(struct life *l)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1 };
	struct mlx5dv_wq_init_attr dv = { .comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
					  .striding_rq_attrs = { 6, 9, 1 } };
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct ibv_wq *wq;

	if (!(attr.pd = life_pd(l)) || !(attr.cq = life_cq(l)))
		return;
	wq = KEEP(l, mlx5dv_create_wq(l->rig.ctx, &attr, &dv), ibv_destroy_wq);
	if (wq)
		OK(l, ibv_modify_wq(wq, &ready));
}

/* The table has one queue, as an mlx4 adapter requires consecutive numbers in a longer one. */
static void live_rss(struct life *l)
{
	static uint8_t key[40] = { 1, 2, 3 };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.rx_hash_conf = { IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key,
				  IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 },
	};
	struct ibv_rwq_ind_table_init_attr table = { .log_ind_tbl_size = 0 };
	struct ibv_wq *wq;
	struct ibv_qp *qp;
	struct ibv_cq *cq;

	if (!(attr.pd = life_pd(l)) || !(cq = life_cq(l)) || !(wq = make_wq(l, attr.pd, cq)))
		return;
	table.ind_tbl = &wq;
	attr.rwq_ind_tbl =
		KEEP(l, ibv_create_rwq_ind_table(l->rig.ctx, &table), ibv_destroy_rwq_ind_table);
	if (!attr.rwq_ind_tbl)
		return;
	qp = KEEP(l, ibv_create_qp_ex(l->rig.ctx, &attr), ibv_destroy_qp);
	if (qp)
		frames_steer(l, qp);
}

const struct life_kind life_raw[] = {
	{ "counters", .live = live_counters, .eth_only = true },
	{ "raw", .live = live_raw, .eth_only = true },
	{ "rss", .live = live_rss, .eth_only = true },
	{ "strides", .live = live_strides, .eth_only = true },
	{},
};
