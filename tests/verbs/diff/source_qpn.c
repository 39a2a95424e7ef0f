/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * source_qpn.c - UD QPs that send with the number of another QP (IBV_QP_CREATE_SOURCE_QPN), as
 * programs do beside IP over InfiniBand: rights, valid and invalid arguments, and datagrams whose
 * receiver must see the other QP's number.
 *
 * Covers: softhca/device/eth/underlay.c, providers/mlx5/qp/extra.c,
 * softhca/front/process/uverbs/qp/qp.c
 */
#include "diff.h"

#define QKEY  0x11223344
#define GRH   40
#define BYTES 200
#define ROOM  4096

struct source {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq, *recv_cq;
	struct ibv_qp *other,
		*receiver; /* datagrams seem to come from the one, and go to the other */
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint8_t buf[2 * ROOM];
};

static struct ibv_qp_init_attr_ex underlay_attr(const struct source *s)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = { 16, 8, 3, 2, 64 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = s->pd,
		.create_flags = IBV_QP_CREATE_SOURCE_QPN,
		.source_qpn = s->other->qp_num,
	};
}

static void try_create(struct source *s, struct ibv_qp_init_attr_ex attr, const char *what)
{
	struct ibv_qp *qp = SAY_PTR(ibv_create_qp_ex(s->rig->ctx, &attr), "create %s", what);

	if (qp)
		MUST(!ibv_destroy_qp(qp));
}

static void try_others(struct source *s)
{
	struct ibv_qp_init_attr_ex attr = underlay_attr(s);

	attr.create_flags |= IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	try_create(s, attr, "with another flag");
	attr.create_flags = IBV_QP_CREATE_SOURCE_QPN | IBV_QP_CREATE_CVLAN_STRIPPING;
	try_create(s, attr, "with a flag of frames");
	attr = underlay_attr(s);
	attr.qp_type = IBV_QPT_RC;
	try_create(s, attr, "RC");
	attr.qp_type = IBV_QPT_UC;
	try_create(s, attr, "UC");
	attr = underlay_attr(s);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	try_create(s, attr, "for ibv_wr");
	attr = underlay_attr(s);
	attr.cap.max_send_sge = 1000;
	try_create(s, attr, "with too many SGEs");
	attr = underlay_attr(s);
	attr.cap.max_recv_wr = 0;
	try_create(s, attr, "that only sends");
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = RIG_PORT, .qkey = QKEY };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

static void datagrams_open(struct ibv_qp *qp)
{
	MUST(!to_state(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	MUST(!to_state(qp, IBV_QPS_RTR, 0));
	MUST(!to_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN));
}

static void underlay_open(struct source *s)
{
	SAY_RET(to_state(s->qp, IBV_QPS_INIT, IBV_QP_PORT), "INIT with a port");
	SAY_RET(to_state(s->qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		"INIT as any");
	SAY_RET(to_state(s->qp, IBV_QPS_INIT, 0), "INIT");
	SAY_RET(to_state(s->qp, IBV_QPS_RTR, 0), "RTR");
	SAY_RET(to_state(s->qp, IBV_QPS_RTS, IBV_QP_SQ_PSN), "RTS with a PSN");
	SAY_RET(to_state(s->qp, IBV_QPS_RTS, 0), "RTS");
}

static void post_receive(struct source *s)
{
	struct ibv_sge sge = { (uintptr_t)s->buf + ROOM, ROOM, s->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(s->buf + ROOM, 0, ROOM);
	MUST(!ibv_post_recv(s->receiver, &wr, &bad));
}

static int datagram_post(struct source *s, enum ibv_wr_opcode opcode, unsigned int flags,
			 struct ibv_sge *sges, int count)
{
	struct ibv_send_wr wr = { .wr_id = 7,
				  .sg_list = sges,
				  .num_sge = count,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED | flags },
			   *bad;

	wr.wr.ud.ah = s->ah;
	wr.wr.ud.remote_qpn = s->receiver->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return ibv_post_send(s->qp, &wr, &bad);
}

static void tell_arrival(struct source *s, const char *what, uint32_t length)
{
	struct ibv_wc wc;

	MUST(rig_poll(s->cq, 1, &wc) == 1);
	say("%s: sent: %s", what, ibv_wc_status_str(wc.status));
	if (wc.status)
		return;
	MUST(rig_poll(s->recv_cq, 1, &wc) == 1);
	say("%s: %s, %u bytes", what, ibv_wc_status_str(wc.status), wc.byte_len);
	say_check(wc.src_qp == s->other->qp_num, "%s: it seems to come from the other QP", what);
	say_check(!memcmp(s->buf, s->buf + ROOM + GRH, length), "%s: the payload came", what);
}

/* LENGTHS end with a 0. */
static void datagram(struct source *s, const char *what, unsigned int flags,
		     const uint32_t *lengths)
{
	struct ibv_sge sges[3];
	uint32_t total = 0;
	int count = 0, ret;

	for (; lengths[count]; total += lengths[count++])
		sges[count] =
			(struct ibv_sge){ (uintptr_t)s->buf + total, lengths[count], s->mr->lkey };
	post_receive(s);
	ret = datagram_post(s, IBV_WR_SEND, flags, sges, count);
	SAY_RET(ret, "post %s", what);
	if (!ret) {
		tell_arrival(s, what, total);
		return;
	}
	MUST(!to_state(s->receiver, IBV_QPS_RESET, 0));
	datagrams_open(s->receiver);
}

static void datagrams(struct source *s)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, BYTES, s->mr->lkey };

	for (unsigned int i = 0; i < BYTES; i++)
		s->buf[i] = (uint8_t)(i * 7 + 1);
	datagram(s, "one SGE", 0, (uint32_t[]){ BYTES, 0 });
	datagram(s, "the header alone", 0, (uint32_t[]){ 4, 0 });
	datagram(s, "a header by itself", 0, (uint32_t[]){ 4, BYTES - 4, 0 });
	datagram(s, "three SGEs", 0, (uint32_t[]){ 20, 60, BYTES - 80, 0 });
	datagram(s, "inline", IBV_SEND_INLINE, (uint32_t[]){ 50, 0 });
	datagram(s, "inline of two", IBV_SEND_INLINE, (uint32_t[]){ 30, 20, 0 });
	datagram(s, "inline with a short first", IBV_SEND_INLINE, (uint32_t[]){ 10, 30, 0 });
	datagram(s, "less than a header", 0, (uint32_t[]){ 3, 0 });
	datagram(s, "a header in two SGEs", 0, (uint32_t[]){ 2, BYTES - 2, 0 });
	for (int i = 0; i < 20; i++)
		datagram(s, "around the ring", i % 2 ? IBV_SEND_INLINE : 0,
			 (uint32_t[]){ 24, 10 + i, 0 });
	SAY_RET(datagram_post(s, IBV_WR_SEND_WITH_IMM, 0, &sge, 1), "post with an immediate");
	SAY_RET(datagram_post(s, IBV_WR_SEND, IBV_SEND_IP_CSUM, &sge, 1), "post with checksums");
}

static struct ibv_qp *datagram_qp(struct source *s, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 4, 32, 1, 1, 0 }, .qp_type = IBV_QPT_UD
	};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &attr);

	MUST(qp);
	datagrams_open(qp);
	return qp;
}

static void source_open(struct rig *rig, struct source *s)
{
	struct ibv_ah_attr address = { .dlid = rig->port.lid, .port_num = RIG_PORT };

	s->rig = rig;
	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET)
		address = (struct ibv_ah_attr){ .is_global = 1,
						.port_num = RIG_PORT,
						.grh = { .dgid = rig->gid, .hop_limit = 1 } };
	MUST(s->pd = ibv_alloc_pd(rig->ctx));
	MUST(s->cq = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	MUST(s->recv_cq = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	MUST(s->mr = ibv_reg_mr(s->pd, s->buf, sizeof(s->buf), IBV_ACCESS_LOCAL_WRITE));
	MUST(s->ah = ibv_create_ah(s->pd, &address));
	s->other = datagram_qp(s, s->cq);
	s->receiver = datagram_qp(s, s->recv_cq);
}

static void source_close(struct source *s)
{
	MUST(!ibv_destroy_qp(s->receiver) && !ibv_destroy_qp(s->other));
	MUST(!ibv_destroy_ah(s->ah) && !ibv_dereg_mr(s->mr));
	MUST(!ibv_destroy_cq(s->recv_cq) && !ibv_destroy_cq(s->cq));
	MUST(!ibv_dealloc_pd(s->pd));
}

static void tell_attributes(struct source *s)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b } };

	SAY_RET(ibv_query_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), "query");
	say("state %d, type %d", attr.qp_state, init.qp_type);
	SAY_RET(ibv_attach_mcast(s->qp, &group, 0xc001), "attach to a group");
}

void diff_ud_source(struct rig *rig)
{
	static struct source s;
	struct ibv_qp_init_attr_ex attr;

	source_open(rig, &s);
	try_others(&s);
	attr = underlay_attr(&s);
	s.qp = SAY_PTR(ibv_create_qp_ex(rig->ctx, &attr), "create");
	if (s.qp) {
		say("cap send %u x %u recv %u x %u", attr.cap.max_send_wr, attr.cap.max_send_sge,
		    attr.cap.max_recv_wr, attr.cap.max_recv_sge);
		underlay_open(&s);
		tell_attributes(&s);
		datagrams(&s);
		SAY_RET(ibv_destroy_qp(s.qp), "destroy");
	}
	source_close(&s);
}
