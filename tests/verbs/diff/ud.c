/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ud.c - address handles with valid and invalid attributes, and datagrams by both ways to post: a
 * UD QP that sends to itself.
 *
 * Covers: libibverbs/verbs_ah.c, libibverbs/explain/ah.c, libibverbs/cmd/cmd_ah.c,
 * providers/mlx5/ah/ah.c, providers/mlx5/ah/av.c, providers/mlx4/ah.c,
 * softhca/device/transport/ud.c, softhca/front/process/uverbs/ah.c
 */
#include "diff.h"

#define QKEY  0x11223344
#define GRH   40
#define BYTES 100

struct ud {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buf[4096];
};

static struct ibv_ah_attr address(const struct rig *rig)
{
	struct ibv_ah_attr attr = { .dlid = rig->port.lid, .port_num = RIG_PORT };

	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.is_global = 1;
		attr.grh.dgid = rig->gid;
		attr.grh.hop_limit = 1;
	}
	return attr;
}

static void try_ah(struct ibv_pd *pd, const struct ibv_ah_attr *attr, const char *what)
{
	struct ibv_ah *ah = SAY_PTR(ibv_create_ah(pd, (struct ibv_ah_attr *)attr), "ah %s", what);

	if (ah)
		SAY_RET(ibv_destroy_ah(ah), "ah %s: destroy", what);
}

void diff_ah_values(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_ah_attr good = address(rig), attr;

	MUST(pd);
	try_ah(pd, &good, "good");
	attr = good, attr.port_num = 0;
	try_ah(pd, &attr, "port 0");
	attr = good, attr.port_num = 9;
	try_ah(pd, &attr, "port 9");
	attr = good, attr.is_global = !attr.is_global;
	try_ah(pd, &attr, "is_global the other way");
	attr = good, attr.is_global = 1, attr.grh.sgid_index = 255;
	try_ah(pd, &attr, "sgid_index 255");
	attr = good, attr.sl = 255, attr.static_rate = 255, attr.src_path_bits = 255;
	try_ah(pd, &attr, "large values");
	attr = good, attr.grh.flow_label = UINT32_MAX;
	try_ah(pd, &attr, "flow_label of 32 bits");
	MUST(!ibv_dealloc_pd(pd));
}

static void ud_to_rts(struct ud *ud)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = QKEY };

	SAY_RET(ibv_modify_qp(ud->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		"to INIT");
	attr.qp_state = IBV_QPS_RTR;
	SAY_RET(ibv_modify_qp(ud->qp, &attr, IBV_QP_STATE), "to RTR");
	attr.qp_state = IBV_QPS_RTS;
	SAY_RET(ibv_modify_qp(ud->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "to RTS");
}

static void ud_open(struct rig *rig, struct ud *ud)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { 16, 16, 2, 2, 32 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
	};

	ud->rig = rig;
	MUST(ud->pd = ibv_alloc_pd(rig->ctx));
	MUST(ud->cq = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	MUST(ud->mr = ibv_reg_mr(ud->pd, ud->buf, sizeof(ud->buf), IBV_ACCESS_LOCAL_WRITE));
	attr.send_cq = attr.recv_cq = ud->cq;
	attr.pd = ud->pd;
	MUST(ud->qp = SAY_PTR(ibv_create_qp_ex(rig->ctx, &attr), "create"));
	say("cap send %u x %u recv %u x %u inline %u", attr.cap.max_send_wr, attr.cap.max_send_sge,
	    attr.cap.max_recv_wr, attr.cap.max_recv_sge, attr.cap.max_inline_data);
	ud_to_rts(ud);
}

static void ud_close(struct ud *ud)
{
	MUST(!ibv_destroy_qp(ud->qp));
	MUST(!ibv_dereg_mr(ud->mr));
	MUST(!ibv_destroy_cq(ud->cq));
	MUST(!ibv_dealloc_pd(ud->pd));
}

static void post_recv(struct ud *ud, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)ud->buf + 2048, len, ud->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(ud->qp, &wr, &bad));
}

static void datagrams_report(struct ud *ud, const char *what, int n)
{
	struct ibv_wc wc[4];
	int got = rig_poll(ud->cq, n, wc);

	say("%s: %d completions", what, got);
	/* Two passes, as sent and received come in either order. */
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < got; i++)
			if (!!(wc[i].opcode & IBV_WC_RECV) == pass)
				say_wc(what, &wc[i], ud->qp->qp_num);
	say_check(!memcmp(ud->buf, ud->buf + 2048 + GRH, BYTES) || got < n, "%s: the payload came",
		  what);
}

static void send_post(struct ud *ud, struct ibv_ah *ah, enum ibv_wr_opcode opcode, uint32_t qkey,
		      unsigned int flags, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)ud->buf, len, ud->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = opcode },
			   *bad;

	wr.send_flags = IBV_SEND_SIGNALED | flags;
	wr.imm_data = 0x01020304;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = ud->qp->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	SAY_RET(ibv_post_send(ud->qp, &wr, &bad), "post opcode %d flags 0x%x length %u", opcode,
		flags, len);
}

static void send_wr(struct ud *ud, struct ibv_ah *ah)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(ud->qp);

	ibv_wr_start(qpx);
	qpx->wr_id = 8;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(qpx, 0x0a0b0c0d);
	ibv_wr_set_ud_addr(qpx, ah, ud->qp->qp_num, QKEY);
	ibv_wr_set_sge(qpx, ud->mr->lkey, (uintptr_t)ud->buf, BYTES);
	SAY_RET(ibv_wr_complete(qpx), "wr complete");
}

static void round_trip(struct ud *ud, struct ibv_ah *ah, enum ibv_wr_opcode opcode,
		       const char *what)
{
	memset(ud->buf + 2048, 0, 1024);
	post_recv(ud, 3, 1024);
	if (opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM)
		send_post(ud, ah, opcode, QKEY, 0, BYTES);
	else
		send_wr(ud, ah);
	datagrams_report(ud, what, 2);
}

void diff_ud(struct rig *rig)
{
	struct ibv_ah_attr attr = address(rig);
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct ud ud;

	ud_open(rig, &ud);
	for (int i = 0; i < 2048; i++)
		ud.buf[i] = (uint8_t)(i * 5 + 1);
	MUST(ah = ibv_create_ah(ud.pd, &attr));
	round_trip(&ud, ah, IBV_WR_SEND, "send");
	round_trip(&ud, ah, IBV_WR_SEND_WITH_IMM, "send_imm");
	round_trip(&ud, ah, IBV_WR_DRIVER1, "wr_send_imm");
	send_post(&ud, ah, IBV_WR_SEND, QKEY, IBV_SEND_INLINE, 33 + 4096);
	/* A wrong Q_Key, or no receive: the send completes, and the datagram is dropped
	 * silently. */
	post_recv(&ud, 4, 1024);
	send_post(&ud, ah, IBV_WR_SEND, QKEY + 1, 0, BYTES);
	say("wrong qkey: %d completions", rig_poll(ud.cq, 1, &wc));
	say_wc("wrong qkey", &wc, ud.qp->qp_num);
	say("then %d", rig_drain(ud.cq));
	SAY_RET(ibv_destroy_ah(ah), "destroy_ah");
	ud_close(&ud);
}

/* Datagrams by RoCE v2 that name a flow label or none, each through a handle of its own: the source
 * ports of their packets are in the address vectors, which run-wqes looks at. */
void diff_ud_ports(struct rig *rig)
{
	struct ibv_ah_attr attr = address(rig);
	struct ibv_gid_entry entry;
	struct ibv_ah *ah;
	struct ud ud;

	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return say("RoCE alone has ports");
	ud_open(rig, &ud);
	for (int i = 0; !attr.grh.sgid_index; i++) {
		MUST(!ibv_query_gid_ex(rig->ctx, RIG_PORT, i, &entry, 0));
		attr.grh.sgid_index = entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? i : 0;
		attr.grh.dgid = entry.gid;
	}
	for (int i = 0; i < 16; i++) {
		attr.grh.flow_label = i % 4 ? 0 : 0x12345 + i;
		MUST(ah = ibv_create_ah(ud.pd, &attr));
		round_trip(&ud, ah, IBV_WR_SEND, attr.grh.flow_label ? "label" : "no label");
		MUST(!ibv_destroy_ah(ah));
	}
	ud_close(&ud);
}
