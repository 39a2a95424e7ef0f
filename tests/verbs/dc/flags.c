/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flags.c - flags, masks and operations of mlx5dv_create_qp() for each type of QP, and effects of
 * the flags.
 *
 * Covers: providers/mlx5/dv/qp.c, providers/mlx5/qp/dv.c, providers/mlx5/qp/extra.c
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#include "dc.h"

struct parts {
	struct dc dc;
	int fd;
	struct ibv_xrcd *xrcd;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
};

static void parts_open(struct rig *rig, struct parts *parts)
{
	struct ibv_xrcd_init_attr xrcd = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1,
					   .oflags = O_CREAT };
	struct ibv_rwq_ind_table_init_attr table = { .ind_tbl = &parts->wq };
	struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1 };

	dc_open(rig, &parts->dc);
	MUST(parts->xrcd = ibv_open_xrcd(rig->ctx, &xrcd));
	wq.pd = parts->dc.pd;
	wq.cq = parts->dc.cq;
	parts->wq = ibv_create_wq(rig->ctx, &wq); /* left out on InfiniBand, which has no WQs */
	if (parts->wq)
		MUST(parts->table = ibv_create_rwq_ind_table(rig->ctx, &table));
}

static void parts_close(struct parts *parts)
{
	if (parts->wq)
		MUST(!ibv_destroy_rwq_ind_table(parts->table) && !ibv_destroy_wq(parts->wq));
	MUST(!ibv_close_xrcd(parts->xrcd));
	dc_close(&parts->dc);
}

struct type {
	const char *name;
	void (*fill)(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
		     struct mlx5dv_qp_init_attr *mlx5);
	enum ibv_qp_type type;
};

static void fill_initiator(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
			   struct mlx5dv_qp_init_attr *mlx5)
{
	(void)parts, (void)attr;
	*mlx5 = dc_initiator_attr();
}

static void fill_target(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
			struct mlx5dv_qp_init_attr *mlx5)
{
	attr->cap = (struct ibv_qp_cap){ 0 };
	attr->srq = parts->dc.srq;
	*mlx5 = dc_target_attr(DC_KEY);
}

static void fill_xrc_receive(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
			     struct mlx5dv_qp_init_attr *mlx5)
{
	(void)mlx5;
	*attr = (struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_XRC_RECV,
					      .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					      .xrcd = parts->xrcd };
}

static void fill_receives(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
			  struct mlx5dv_qp_init_attr *mlx5)
{
	(void)parts, (void)mlx5;
	attr->cap.max_recv_wr = 8;
	attr->cap.max_recv_sge = 1;
}

static void fill_rss(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
		     struct mlx5dv_qp_init_attr *mlx5)
{
	static uint8_t key[40];

	(void)mlx5;
	attr->cap = (struct ibv_qp_cap){ 0 };
	attr->send_cq = attr->recv_cq = NULL;
	attr->comp_mask |= IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
	attr->rwq_ind_tbl = parts->table;
	attr->rx_hash_conf = (struct ibv_rx_hash_conf){
		.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
		.rx_hash_key_len = sizeof(key),
		.rx_hash_key = key,
	};
}

/* A receive QP of XRC has no use for flags, but Debian's library accepts them, so they are
 * tried. */
enum { RC = 2, XRC_RECEIVE = 6 };

static const struct type types[] = {
	{ "initiator", fill_initiator, IBV_QPT_DRIVER },
	{ "target", fill_target, IBV_QPT_DRIVER },
	[RC] = { "RC", fill_receives, IBV_QPT_RC },
	{ "UC", fill_receives, IBV_QPT_UC },
	{ "UD", fill_receives, IBV_QPT_UD },
	{ "XRC send", NULL, IBV_QPT_XRC_SEND },
	[XRC_RECEIVE] = { "XRC receive", fill_xrc_receive, IBV_QPT_XRC_RECV },
	{ "raw packet", fill_receives, IBV_QPT_RAW_PACKET },
	{ "RSS", fill_rss, IBV_QPT_RAW_PACKET },
};

static bool type_is_there(const struct parts *parts, const struct type *type)
{
	return type->type != IBV_QPT_RAW_PACKET || parts->table;
}

static void type_attr(const struct parts *parts, const struct type *type,
		      struct ibv_qp_init_attr_ex *attr, struct mlx5dv_qp_init_attr *mlx5)
{
	*attr = dc_attr(&parts->dc);
	*mlx5 = (struct mlx5dv_qp_init_attr){ 0 };
	attr->qp_type = type->type;
	attr->cap = (struct ibv_qp_cap){ .max_send_wr = 8, .max_send_sge = 1 };
	if (type->fill)
		type->fill(parts, attr, mlx5);
}

static void try_create(const struct parts *parts, struct ibv_qp_init_attr_ex *attr,
		       struct mlx5dv_qp_init_attr *mlx5, const char *what)
{
	struct ibv_qp *qp = SAY_PTR(mlx5dv_create_qp(parts->dc.rig->ctx, attr, mlx5),
				    "%s: masks %#x %#llx, flags %#x", what, attr->comp_mask,
				    (unsigned long long)mlx5->comp_mask, mlx5->create_flags);

	if (!qp)
		return;
	say("type %d, CQs %d %d, SRQ %d, state %d", (int)qp->qp_type, qp->send_cq == parts->dc.cq,
	    qp->recv_cq == parts->dc.cq, qp->srq == parts->dc.srq, (int)qp->state);
	SAY_RET(ibv_destroy_qp(qp), "destroy");
}

enum { FLAGS = 8 }; /* the release's flags, and an undefined one */

static uint32_t flag(unsigned int i)
{
	return i < FLAGS - 1 ? 1u << i : 1u << 20;
}

static void try_flags(const struct parts *parts, const struct type *type)
{
	struct mlx5dv_qp_init_attr mlx5;
	struct ibv_qp_init_attr_ex attr;

	for (unsigned int i = 0; i < FLAGS; i++)
		for (unsigned int j = 0; j <= i; j++) {
			type_attr(parts, type, &attr, &mlx5);
			mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
			mlx5.create_flags = flag(i) | flag(j);
			try_create(parts, &attr, &mlx5, type->name);
		}
}

/* Attributes without their bit are ignored, and a PD is always required. */
static void try_masks(const struct parts *parts, const struct type *type)
{
	struct mlx5dv_qp_init_attr mlx5;
	struct ibv_qp_init_attr_ex attr;

	for (uint64_t bit = 1; bit <= 16; bit <<= 1) {
		if (bit == MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS && type->type != IBV_QPT_DRIVER)
			continue; /* see dc_not_ignored() */
		type_attr(parts, type, &attr, &mlx5);
		mlx5.create_flags =
			bit == MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS ? 0 : UINT32_MAX;
		mlx5.comp_mask ^= bit;
		try_create(parts, &attr, &mlx5, type->name);
		attr.comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_PD;
		try_create(parts, &attr, &mlx5, type->name);
	}
}

void dc_create_flags(struct rig *rig)
{
	static struct parts parts;

	parts_open(rig, &parts);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!type_is_there(&parts, &types[i]))
			continue;
		if (i != XRC_RECEIVE)
			try_flags(&parts, &types[i]);
		try_masks(&parts, &types[i]);
	}
	parts_close(&parts);
}

static void try_operations(const struct parts *parts, const struct type *type, uint64_t ops,
			   uint64_t dv_ops)
{
	struct mlx5dv_qp_init_attr mlx5;
	struct ibv_qp_init_attr_ex attr;

	type_attr(parts, type, &attr, &mlx5);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = ops;
	if (dv_ops)
		mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
	mlx5.send_ops_flags = dv_ops;
	say("operations %#llx, %#llx", (unsigned long long)ops, (unsigned long long)dv_ops);
	try_create(parts, &attr, &mlx5, type->name);
}

void dc_create_operations(struct rig *rig)
{
	static struct parts parts;

	parts_open(rig, &parts);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!type_is_there(&parts, &types[i]))
			continue;
		try_operations(&parts, &types[i], 0, 0);
		for (uint64_t bit = 1; bit <= 1 << 12; bit <<= 1)
			try_operations(&parts, &types[i], bit, 0);
		for (uint64_t bit = 1; bit <= 1 << 6; bit <<= 1)
			try_operations(&parts, &types[i], IBV_QP_EX_WITH_SEND, bit);
	}
	parts_close(&parts);
}

/* Each direction needs a CQ, even without a queue. Not compared, as Debian's library crashes
 * without one. */
void dc_absent_queues(struct rig *rig)
{
	static struct parts parts;
	struct mlx5dv_qp_init_attr mlx5;
	struct ibv_qp_init_attr_ex attr;

	parts_open(rig, &parts);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int there = 0; there < 3; there++) {
			type_attr(&parts, &types[i], &attr, &mlx5);
			if (!(there & 1))
				attr.send_cq = NULL;
			if (!(there & 2))
				attr.recv_cq = NULL;
			say_check(!mlx5dv_create_qp(rig->ctx, &attr, &mlx5) &&
					  (errno == EINVAL || errno == ENOENT),
				  "%s: CQs %u", types[i].name, there);
		}
	parts_close(&parts);
}

static void must_refuse(const struct parts *parts, const struct type *type, uint64_t mask,
			uint32_t flags)
{
	struct mlx5dv_qp_init_attr mlx5;
	struct ibv_qp_init_attr_ex attr;

	type_attr(parts, type, &attr, &mlx5);
	mlx5.comp_mask |= mask;
	mlx5.create_flags = flags;
	say_check(!mlx5dv_create_qp(parts->dc.rig->ctx, &attr, &mlx5) && errno == EINVAL,
		  "%s: mask %#llx, flags %#x", type->name, (unsigned long long)mask, flags);
}

void dc_not_ignored(struct rig *rig)
{
	static const uint32_t flags[] = {
		MLX5DV_QP_CREATE_TUNNEL_OFFLOADS,
		MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC,
		MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC,
		MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE | MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE,
		MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE,
	};
	static struct parts parts;

	parts_open(rig, &parts);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type != IBV_QPT_DRIVER && type_is_there(&parts, &types[i]))
			must_refuse(&parts, &types[i], MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS, 0);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		must_refuse(&parts, &types[XRC_RECEIVE], MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
			    flags[i]);
	parts_close(&parts);
}

#define OUT_OF_ORDER (1u << 7) /* MLX5DV_QP_CREATE_OOO_DP, of later releases */

static int early_errno(const struct parts *parts, const struct type *type, uint32_t receives)
{
	struct mlx5dv_qp_init_attr mlx5;
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp *qp;

	type_attr(parts, type, &attr, &mlx5);
	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
	mlx5.create_flags = OUT_OF_ORDER;
	if (receives)
		attr.cap.max_recv_wr = receives;
	qp = mlx5dv_create_qp(parts->dc.rig->ctx, &attr, &mlx5);
	if (!qp)
		return errno;
	MUST(!ibv_destroy_qp(qp));
	return 0;
}

/* The device refuses what it does not support, and more receives than it has. */
void dc_early_refused(struct rig *rig)
{
	static const int expected[] = { 0, 0, 0,          EOPNOTSUPP, EOPNOTSUPP,
					0, 0, EOPNOTSUPP, EOPNOTSUPP };
	static struct parts parts;

	static_assert(ARRAY_SIZE(expected) == ARRAY_SIZE(types), "one for each type");
	parts_open(rig, &parts);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (type_is_there(&parts, &types[i]))
			say_check(early_errno(&parts, &types[i], 0) == expected[i], "%s",
				  types[i].name);
	say_check(early_errno(&parts, &types[RC], rig->device.max_qp_wr) == EINVAL,
		  "as many receives as others have");
	parts_close(&parts);
}

enum { SHORT = 16 };

/* Returns whether completion N of a CQ had its payload inside. The CQ has never held more than
 * one. */
static bool came_in_cqe(struct ibv_cq *cq, uint32_t n)
{
	struct mlx5dv_cq ring;
	struct mlx5dv_obj obj = { .cq = { cq, &ring } };
	const uint8_t *end;

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	end = (const uint8_t *)ring.buf + (size_t)(n + 1) * ring.cqe_size;
	return ((const struct mlx5_cqe64 *)(const void *)end)[-1].op_own &
	       (MLX5_INLINE_SCATTER_32 | MLX5_INLINE_SCATTER_64);
}

static void read_one(struct ibv_qp *qp, const struct ibv_sge *to, uint64_t from, uint32_t rkey)
{
	struct ibv_send_wr wr = { .sg_list = (struct ibv_sge *)(uintptr_t)to,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_READ,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { from, rkey } };
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(qp, &wr, &bad));
}

static struct ibv_qp *scatter_qp(const struct rig_pair *pair, const struct rig_end *end,
				 uint32_t flags)
{
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					    .create_flags = flags };
	struct ibv_qp_init_attr_ex attr = { .send_cq = end->cq,
					    .recv_cq = end->cq,
					    .cap = pair->conf.cap,
					    .qp_type = IBV_QPT_RC,
					    .sq_sig_all = pair->conf.sig_all,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = pair->pd };

	return mlx5dv_create_qp(pair->rig->ctx, &attr, &mlx5);
}

/* End 1 receives a short message, and reads one. */
static void say_scatter(const struct rig_pair *pair, uint32_t flags)
{
	const struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge out = { (uintptr_t)from->buf, SHORT, from->mr->lkey };
	struct ibv_sge in = { (uintptr_t)to->buf, SHORT, to->mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &in, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .sg_list = &out,
				    .num_sge = 1,
				    .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;
	bool right;

	memset(from->buf, 0x5a, SHORT);
	memset(to->buf, 0, 2 * SHORT);
	MUST(!ibv_post_recv(to->qp, &receive, &bad_receive));
	MUST(!ibv_post_send(from->qp, &send, &bad));
	MUST(rig_poll(to->cq, 1, &wc) == 1 && !wc.status);
	right = !memcmp(from->buf, to->buf, SHORT);
	in.addr += SHORT;
	read_one(to->qp, &in, out.addr, from->mr->rkey);
	MUST(rig_poll(to->cq, 1, &wc) == 1 && !wc.status);
	say_check(right && !memcmp(from->buf, to->buf + SHORT, SHORT), "the bytes are there");
	say("flags %#x, all signaled %d: inside were %d %d", flags, pair->conf.sig_all,
	    came_in_cqe(to->cq, 0), came_in_cqe(to->cq, 1));
}

void dc_scatter(struct rig *rig)
{
	static const uint32_t flags[] = { 0, MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
					  MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(flags); i++) {
		struct rig_conf conf = rig_conf_default();
		struct rig_pair pair;

		conf.sig_all = i % 2;
		rig_pair_open(rig, &conf, &pair);
		MUST(!ibv_destroy_qp(pair.end[1].qp));
		MUST(pair.end[1].qp = scatter_qp(&pair, &pair.end[1], flags[i / 2]));
		rig_pair_reconnect(&pair);
		say_scatter(&pair, flags[i / 2]);
		rig_pair_close(&pair);
	}
}
