/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.c - SRQs with tag matching: granted sizes, operations on the list, and messages with tags.
 *
 * The topic is for InfiniBand only: on RoCE the distribution's library gives its own queue a path
 * without a GRH, and creation fails.
 *
 * Covers: providers/mlx5/tm.c, providers/mlx5/data/tm_done.c, softhca/device/transport/tm.c
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <infiniband/tm_types.h>

#include "diff.h"

enum { BUF = 65536, PIECE = 4096, HEADERS = 32 };

struct ends {
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct ibv_cq *cq; /* the sender's */
	struct ibv_cq_ex *cqx;
	struct ibv_srq *srq;
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	uint8_t *buf; /* of the sender in the first half, the receiver's in the second */
	uint32_t handle[32];
	uint32_t told; /* number of unexpected messages, which each later operation reports */
};

static struct ibv_cq_ex *make_cq(struct rig *rig)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 256, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig->ctx, &attr);

	MUST(cq);
	return cq;
}

static struct ibv_srq *make_srq(struct rig *rig, struct ibv_pd *pd, struct ibv_cq_ex *cq,
				uint32_t max_wr, uint32_t tags, uint32_t ops)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { max_wr, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = pd,
		.cq = ibv_cq_ex_to_cq(cq),
		.tm_cap = { tags, ops },
	};

	return SAY_PTR(ibv_create_srq_ex(rig->ctx, &attr), "create tags %u ops %u", tags, ops);
}

static struct ibv_qp *make_qp(struct ends *tm, bool receiver)
{
	struct ibv_cq *cq = receiver ? ibv_cq_ex_to_cq(tm->cqx) : tm->cq;
	struct ibv_qp_init_attr attr = { .send_cq = cq,
					 .recv_cq = cq,
					 .srq = receiver ? tm->srq : NULL,
					 .cap = { 0, 0, 0, 0, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp;

	if (!receiver)
		attr.cap = (struct ibv_qp_cap){ 16, 16, 1, 1, 0 };
	qp = ibv_create_qp(tm->pd, &attr);
	MUST(qp);
	return qp;
}

static void tm_open(struct rig *rig, struct ends *tm)
{
	tm->conf = rig_conf_default();
	tm->conf.mtu = IBV_MTU_1024;
	MUST(tm->buf = calloc(2, BUF));
	MUST(tm->pd = ibv_alloc_pd(rig->ctx));
	MUST(tm->cq = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	tm->cqx = make_cq(rig);
	MUST(tm->mr =
		     ibv_reg_mr(tm->pd, tm->buf, 2 * BUF, IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
	MUST(tm->srq = make_srq(rig, tm->pd, tm->cqx, 15, 15, 8));
	tm->from = make_qp(tm, false);
	tm->to = make_qp(tm, true);
	rig_qp_to(rig, &tm->conf, tm->from, tm->to->qp_num, IBV_QPS_RTS);
	rig_qp_to(rig, &tm->conf, tm->to, tm->from->qp_num, IBV_QPS_RTS);
	for (int i = 0; i < BUF; i++)
		tm->buf[i] = (uint8_t)(i * 7 + i / 251);
}

static void tm_close(struct ends *tm)
{
	MUST(!ibv_destroy_qp(tm->from));
	MUST(!ibv_destroy_qp(tm->to));
	SAY_RET(ibv_destroy_srq(tm->srq), "destroy");
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(tm->cqx)));
	MUST(!ibv_destroy_cq(tm->cq));
	MUST(!ibv_dereg_mr(tm->mr));
	MUST(!ibv_dealloc_pd(tm->pd));
	free(tm->buf);
}

static int op(struct ends *tm, struct ibv_ops_wr *wr, const char *what)
{
	struct ibv_ops_wr *bad = NULL;
	int ret = SAY_RET(ibv_post_srq_ops(tm->srq, wr, &bad), "%s", what);

	if (ret)
		say("bad_wr is the first: %d", bad == wr);
	return ret;
}

static void list_tell(const struct ends *tm, struct ibv_ops_wr *wr)
{
	if (!tm->told)
		return;
	wr->flags |= IBV_OPS_TM_SYNC;
	wr->tm.unexpected_cnt = tm->told;
}

/* Adds tag N, whose buffer is piece N and has LEN bytes. */
static int tag_add(struct ends *tm, unsigned int n, uint64_t tag, uint64_t mask, uint32_t len,
		   int flags)
{
	struct ibv_sge sge = { (uintptr_t)tm->buf + BUF + n * PIECE, len, tm->mr->lkey };
	struct ibv_ops_wr wr = { .wr_id = 100 + n, .opcode = IBV_WR_TAG_ADD, .flags = flags };
	int ret;

	wr.tm.add.recv_wr_id = 200 + n;
	wr.tm.add.sg_list = &sge;
	wr.tm.add.num_sge = 1;
	wr.tm.add.tag = tag;
	wr.tm.add.mask = mask;
	list_tell(tm, &wr);
	ret = op(tm, &wr, "add");
	tm->handle[n] = wr.tm.handle;
	return ret;
}

static int tag_delete(struct ends *tm, uint32_t handle, int flags)
{
	struct ibv_ops_wr wr = { .wr_id = 300, .opcode = IBV_WR_TAG_DEL, .flags = flags };

	wr.tm.handle = handle;
	list_tell(tm, &wr);
	return op(tm, &wr, "del");
}

static void sync_to(struct ends *tm, uint32_t count)
{
	struct ibv_ops_wr wr = { .wr_id = 400,
				 .opcode = IBV_WR_TAG_SYNC,
				 .flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC };

	tm->told = wr.tm.unexpected_cnt = count;
	op(tm, &wr, "sync");
}

static void say_current(struct ends *tm)
{
	struct ibv_cq_ex *cq = tm->cqx;
	enum ibv_wc_opcode opcode;
	struct ibv_wc_tm_info info = { 0 };

	if (cq->status && cq->status != IBV_WC_TM_ERR && cq->status != IBV_WC_TM_RNDV_INCOMPLETE) {
		say("wr_id %llu status %s", (unsigned long long)cq->wr_id,
		    ibv_wc_status_str(cq->status));
		return;
	}
	opcode = ibv_wc_read_opcode(cq);
	say("wr_id %llu status %s opcode %#x flags %#x", (unsigned long long)cq->wr_id,
	    ibv_wc_status_str(cq->status), opcode, ibv_wc_read_wc_flags(cq));
	if (opcode == IBV_WC_TM_RECV || opcode == IBV_WC_TM_NO_TAG)
		say("byte_len %u", ibv_wc_read_byte_len(cq));
	if (opcode == IBV_WC_TM_RECV && ibv_wc_read_wc_flags(cq) & IBV_WC_TM_MATCH) {
		ibv_wc_read_tm_info(cq, &info);
		say("tag %#llx priv %#x", (unsigned long long)info.tag, info.priv);
	}
}

static void completions_reap(struct ends *tm, int n)
{
	struct ibv_poll_cq_attr attr = { 0 };

	for (; n > 0; n--) {
		int ret = ENOENT;

		for (int tries = 0; ret == ENOENT && tries < 200; tries++) {
			ret = ibv_start_poll(tm->cqx, &attr);
			if (ret == ENOENT)
				rig_settle();
		}
		if (ret) {
			say("nothing came");
			return;
		}
		say_current(tm);
		ibv_end_poll(tm->cqx);
	}
}

static void receive_unexpected(struct ends *tm, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)tm->buf + BUF + 15 * PIECE, PIECE, tm->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(tm->srq, &wr, &bad));
}

/* A message of LEN bytes of data with a header of OP; a rendezvous' are at the end of the sender's
 * half. */
static void send_tagged(struct ends *tm, uint8_t opcode, uint64_t tag, uint32_t len)
{
	bool rndv = opcode == IBV_TMH_RNDV;
	struct ibv_tmh tmh = { .opcode = opcode, .app_ctx = htonl(77), .tag = htobe64(tag) };
	struct ibv_rvh rvh = { .va = htobe64((uintptr_t)tm->buf + BUF / 2),
			       .rkey = htonl(tm->mr->rkey),
			       .len = htonl(len) };
	struct ibv_sge sge = { (uintptr_t)tm->buf, rndv ? HEADERS : sizeof(tmh) + len,
			       tm->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	memcpy(tm->buf, &tmh, sizeof(tmh));
	if (rndv)
		memcpy(tm->buf + sizeof(tmh), &rvh, sizeof(rvh));
	MUST(!ibv_post_send(tm->from, &wr, &bad));
	MUST(rig_poll(tm->cq, 1, &wc) == 1);
	say("sent op %d tag %#llx, %u bytes: %s", opcode, (unsigned long long)tag, len,
	    ibv_wc_status_str(wc.status));
}

static void check_data(struct ends *tm, unsigned int n, uint32_t skip, uint32_t len)
{
	say_check(!memcmp(tm->buf + BUF + n * PIECE, tm->buf + skip, len), "data of tag %u", n);
}

static void expect_fin(struct ends *tm)
{
	struct ibv_wc wc;

	MUST(rig_poll(tm->cq, 1, &wc) == 1);
	say("the sender hears %s of %u bytes, op %d", ibv_wc_status_str(wc.status), wc.byte_len,
	    tm->buf[BUF - PIECE]);
}

static void receive_fin(struct ends *tm)
{
	struct ibv_sge sge = { (uintptr_t)tm->buf + BUF - PIECE, PIECE, tm->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(tm->from, &wr, &bad));
}

static void eager_messages(struct ends *tm)
{
	uint32_t len = 3000;

	tag_add(tm, 0, 5, 0xff, 100, IBV_OPS_SIGNALED);
	tag_add(tm, 1, 5, 0xff, PIECE, 0);
	tag_add(tm, 2, 0, 0, 100, IBV_OPS_SIGNALED);
	completions_reap(tm, 2);
	send_tagged(tm, IBV_TMH_EAGER, 0x1005, 64);
	completions_reap(tm, 1);
	check_data(tm, 0, sizeof(struct ibv_tmh), 64);
	send_tagged(tm, IBV_TMH_EAGER, 5, len);
	completions_reap(tm, 2);
	check_data(tm, 1, sizeof(struct ibv_tmh), len);
	send_tagged(tm, IBV_TMH_EAGER, 6, 0);
	completions_reap(tm, 1);
}

static void unexpected_messages(struct ends *tm)
{
	for (uint64_t i = 0; i < 4; i++)
		receive_unexpected(tm, 500 + i);
	send_tagged(tm, IBV_TMH_NO_TAG, 1, 64);
	send_tagged(tm, IBV_TMH_EAGER, 9, 64);
	completions_reap(tm, 2);
	/* reports a smaller number of unexpected messages than there were */
	tag_add(tm, 3, 9, 0xff, 100, IBV_OPS_SIGNALED);
	completions_reap(tm, 1);
	send_tagged(tm, IBV_TMH_EAGER, 9, 64);
	completions_reap(tm, 1);
	sync_to(tm, 2);
	completions_reap(tm, 1);
	send_tagged(tm, IBV_TMH_EAGER, 9, 64);
	completions_reap(tm, 1);
	send_tagged(tm, IBV_TMH_FIN, 9, 64);
	completions_reap(tm, 1);
}

static void deletions(struct ends *tm)
{
	tag_add(tm, 4, 10, 0xff, 100, IBV_OPS_SIGNALED);
	tag_add(tm, 5, 11, 0xff, 100, IBV_OPS_SIGNALED);
	tag_delete(tm, tm->handle[4], IBV_OPS_SIGNALED);
	completions_reap(tm, 3);
	tag_delete(tm, tm->handle[5], IBV_OPS_SIGNALED);
	tag_add(tm, 6, 12, 0xff, 100, IBV_OPS_SIGNALED);
	completions_reap(tm, 2);
	/* The message consumes the tag before the device receives its removal. */
	send_tagged(tm, IBV_TMH_EAGER, 12, 8);
	rig_settle();
	tag_delete(tm, tm->handle[6], IBV_OPS_SIGNALED);
	rig_settle();
	completions_reap(tm, 2);
}

static void rendezvous(struct ends *tm)
{
	receive_fin(tm);
	tag_add(tm, 7, 20, 0xff, PIECE, IBV_OPS_SIGNALED);
	completions_reap(tm, 1);
	send_tagged(tm, IBV_TMH_RNDV, 20, 4000);
	completions_reap(tm, 2);
	expect_fin(tm);
	check_data(tm, 7, BUF / 2, 4000);
	tag_add(tm, 8, 21, 0xff, 64, IBV_OPS_SIGNALED);
	completions_reap(tm, 1);
	send_tagged(tm, IBV_TMH_RNDV, 21, 4000);
	completions_reap(tm, 1);
	check_data(tm, 8, 0, HEADERS);
}

static void full_list(struct ends *tm)
{
	int n = 0;

	while (n < 20 && !tag_add(tm, 9, 0x100, 0xfff, 100, IBV_OPS_SIGNALED)) {
		completions_reap(tm, 1);
		n++;
	}
	say("added %d", n);
}

static void bad_operations(struct ends *tm)
{
	struct ibv_ops_wr wr = { .opcode = 9 };

	op(tm, &wr, "unknown opcode");
}

void diff_tm(struct rig *rig)
{
	struct ends tm = { 0 };

	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET)
		return;
	tm_open(rig, &tm);
	eager_messages(&tm);
	unexpected_messages(&tm);
	deletions(&tm);
	rendezvous(&tm);
	bad_operations(&tm);
	full_list(&tm);
	tm_close(&tm);
}

void diff_tm_create(struct rig *rig)
{
	static const uint32_t caps[][2] = { { 1, 1 },   { 3, 1 },   { 63, 10 },  { 64, 64 },
					    { 127, 1 }, { 128, 1 }, { 1000, 1 }, { 15, 100000 } };
	struct ibv_device_attr_ex device;
	struct ibv_cq_ex *cq;
	struct ibv_pd *pd;

	MUST(!ibv_query_device_ex(rig->ctx, NULL, &device));
	say("tm_caps header %u tags %u flags %#x ops %u sge %u", device.tm_caps.max_rndv_hdr_size,
	    device.tm_caps.max_num_tags, device.tm_caps.flags, device.tm_caps.max_ops,
	    device.tm_caps.max_sge);
	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET)
		return;
	MUST(pd = ibv_alloc_pd(rig->ctx));
	cq = make_cq(rig);
	for (unsigned int i = 0; i < ARRAY_SIZE(caps); i++) {
		struct ibv_srq *srq = make_srq(rig, pd, cq, 10, caps[i][0], caps[i][1]);

		if (srq)
			SAY_RET(ibv_destroy_srq(srq), "destroy");
	}
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	MUST(!ibv_dealloc_pd(pd));
}
