/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * striding.c - verbs-striding: a receive queue of mlx5dv_create_wq() whose requests hold many
 * frames each. The program posts and polls by itself, with plain and with compressed completions.
 *
 * Covers: providers/mlx5/dv/wq.c, softhca/device/eth/eth_rq.c
 */
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/verbs/compressed/reader.h"
#include "util/bits.h"

enum {
	LOG_BYTES = 6,
	LOG_STRIDES = 9,
	WQE_BYTES = 1 << (LOG_BYTES + LOG_STRIDES),
	WQES = 4,
	SENDS = 32,
	FRAME_MAX = 1500,
	FRAME_MIN = 60,
	NEXT_SEGMENT = 16,
	TYPE = 0x88b5, /* for experiments */
	FRAMES = 2000,
};

struct striding {
	struct rig *rig;
	struct ibv_pd *pd;
	struct reader reader;
	struct ibv_wq *wq;
	struct mlx5dv_rwq ring;
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *to, *from;
	struct ibv_cq *from_cq;
	struct ibv_flow *flow;
	struct ibv_mr *mr;
	uint8_t *buf;               /* the WQEs, then a frame for each send */
	uint32_t posted, wqe, used; /* posted WQEs, and the place of the next frame */
	uint32_t shift, fillers;
};

static void own_mac(const struct rig *rig, uint8_t mac[6])
{
	const uint8_t *gid = rig->gid.raw;
	const uint8_t from_gid[6] = { gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15] };

	memcpy(mac, from_gid, 6);
}

static void post_wqe(struct striding *s)
{
	uint32_t slot = s->posted % WQES;
	uint8_t *wqe = (uint8_t *)s->ring.buf + (size_t)slot * s->ring.stride;

	memset(wqe, 0, s->ring.stride);
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(wqe + NEXT_SEGMENT), WQE_BYTES,
			    s->mr->lkey, (uintptr_t)s->buf + (size_t)slot * WQE_BYTES);
	s->posted++;
	__atomic_store_n(s->ring.dbrec, htobe32(s->posted & 0xffff), __ATOMIC_RELEASE);
}

static void wq_open(struct striding *s, bool shift)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = WQES, .max_sge = 1, .pd = s->pd, .cq = s->reader.cq
	};
	struct mlx5dv_wq_init_attr dv = { .comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
					  .striding_rq_attrs = { LOG_BYTES, LOG_STRIDES, shift } };
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct mlx5dv_obj obj;

	MUST(s->wq = mlx5dv_create_wq(s->rig->ctx, &attr, &dv));
	obj = (struct mlx5dv_obj){ .rwq = { s->wq, &s->ring } };
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ));
	say("%u WQEs of %u bytes", s->ring.wqe_cnt, s->ring.stride);
	MUST(s->ring.wqe_cnt == WQES && s->ring.stride == 32);
	MUST(!ibv_modify_wq(s->wq, &ready));
	s->shift = shift ? 2 : 0;
}

static void receiver_open(struct striding *s)
{
	static uint8_t key[40];
	struct ibv_rwq_ind_table_init_attr table = { .ind_tbl = &s->wq };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = s->pd,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = sizeof(key),
				  .rx_hash_key = key },
	};
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = { .attr = { .type = IBV_FLOW_ATTR_NORMAL,
			     .size = sizeof(rule),
			     .num_of_specs = 1,
			     .port = RIG_PORT },
		   .eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) } };

	MUST(s->table = ibv_create_rwq_ind_table(s->rig->ctx, &table));
	attr.rwq_ind_tbl = s->table;
	MUST(s->to = ibv_create_qp_ex(s->rig->ctx, &attr));
	own_mac(s->rig, rule.eth.val.dst_mac);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	MUST(s->flow = ibv_create_flow(s->to, &rule.attr));
}

static void sender_open(struct striding *s)
{
	struct ibv_qp_init_attr attr = { .cap = { SENDS, 0, 1, 0, 0 },
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(s->from_cq = ibv_create_cq(s->rig->ctx, SENDS, NULL, NULL, 0));
	attr.send_cq = attr.recv_cq = s->from_cq;
	MUST(s->from = ibv_create_qp(s->pd, &attr));
	MUST(!ibv_modify_qp(s->from, &state, IBV_QP_STATE | IBV_QP_PORT));
	state.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(s->from, &state, IBV_QP_STATE));
	state.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(s->from, &state, IBV_QP_STATE));
}

static void striding_open(struct rig *rig, uint8_t format, bool shift, struct striding *s)
{
	size_t bytes = WQES * WQE_BYTES + SENDS * FRAME_MAX;

	memset(s, 0, sizeof(*s));
	s->rig = rig;
	MUST(s->pd = ibv_alloc_pd(rig->ctx));
	MUST(s->buf = calloc(1, bytes));
	MUST(s->mr = ibv_reg_mr(s->pd, s->buf, bytes, IBV_ACCESS_LOCAL_WRITE));
	reader_open(&s->reader, rig->ctx, 256, format, 64, false);
	s->reader.striding = true;
	wq_open(s, shift);
	receiver_open(s);
	sender_open(s);
	for (unsigned int i = 0; i < WQES; i++)
		post_wqe(s);
}

static void striding_close(struct striding *s)
{
	MUST(!ibv_destroy_flow(s->flow) && !ibv_destroy_qp(s->to) && !ibv_destroy_qp(s->from));
	MUST(!ibv_destroy_rwq_ind_table(s->table) && !ibv_destroy_wq(s->wq));
	MUST(!ibv_destroy_cq(s->from_cq));
	reader_close(&s->reader);
	MUST(!ibv_dereg_mr(s->mr) && !ibv_dealloc_pd(s->pd));
	free(s->buf);
}

static uint32_t frame_length(uint32_t n)
{
	return FRAME_MIN + n * 37 % (FRAME_MAX - FRAME_MIN);
}

static void fill_frame(const struct striding *s, uint32_t n, uint8_t *frame)
{
	memset(frame, (int)(n * 7 + 1), frame_length(n));
	own_mac(s->rig, frame);
	own_mac(s->rig, frame + 6);
	frame[12] = TYPE >> 8;
	frame[13] = TYPE & 0xff;
	memcpy(frame + 14, &n, sizeof(n));
}

static void send_frames(struct striding *s, uint32_t from, uint32_t count)
{
	struct ibv_send_wr wr[SENDS] = { 0 }, *bad;
	struct ibv_sge sge[SENDS];
	struct ibv_wc wc[SENDS];

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *frame = s->buf + WQES * WQE_BYTES + (size_t)i * FRAME_MAX;

		fill_frame(s, from + i, frame);
		sge[i] = (struct ibv_sge){ (uintptr_t)frame, frame_length(from + i), s->mr->lkey };
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].send_flags = IBV_SEND_SIGNALED;
	}
	MUST(!ibv_post_send(s->from, wr, &bad));
	MUST(rig_poll(s->from_cq, (int)count, wc) == (int)count);
}

static void next_wqe(struct striding *s)
{
	s->wqe++;
	s->used = 0;
	post_wqe(s);
}

/* Takes a filler, which consumes the rest of a WQE; the frame is in the next WQE. */
static bool take_filler(struct striding *s, const struct mlx5_cqe64 *cqe)
{
	uint32_t count = be32toh(cqe->byte_cnt);
	uint32_t left = (1 << LOG_STRIDES) - s->used;

	if (!(count >> 31))
		return false;
	MUST((count >> 16 & 0x7fff) == left && be16toh(cqe->wqe_counter) == s->used);
	s->fillers++;
	next_wqe(s);
	return true;
}

static bool check_frame(struct striding *s, uint32_t n)
{
	uint32_t strides = (frame_length(n) + s->shift + (1 << LOG_BYTES) - 1) >> LOG_BYTES;
	uint8_t expected[FRAME_MAX];
	struct mlx5_cqe64 cqe;
	const uint8_t *frame;
	bool right;

	do
		MUST(reader_wait(&s->reader, &cqe));
	while (take_filler(s, &cqe));
	fill_frame(s, n, expected);
	frame = s->buf + (size_t)(s->wqe % WQES) * WQE_BYTES + (s->used << LOG_BYTES) + s->shift;
	right = be16toh(cqe.wqe_counter) == s->used &&
		be32toh(cqe.byte_cnt) == (strides << 16 | frame_length(n)) &&
		!memcmp(frame, expected, frame_length(n));
	s->used += strides;
	if (s->used == 1 << LOG_STRIDES)
		next_wqe(s);
	return right;
}

static const struct {
	const char *name;
	uint8_t format;
	bool shift;
} kinds[] = {
	{ "plain", 0, false },
	{ "shifted", 0, true },
	{ "hash", MLX5DV_CQE_RES_FORMAT_HASH, false },
	{ "checksum", MLX5DV_CQE_RES_FORMAT_CSUM, false },
	{ "stride", MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX, true },
};

static void frames_share_wqes(struct rig *rig)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint32_t right = 0, n = 0;
		struct striding s;

		striding_open(rig, kinds[i].format, kinds[i].shift, &s);
		for (uint32_t count = 1; n < FRAMES; n += count, count = count % SENDS + 1) {
			send_frames(&s, n, count);
			for (uint32_t j = 0; j < count; j++)
				right += check_frame(&s, n + j);
		}
		say_check(right == n && s.wqe * 20 < n, "%s: %u frames in %u WQEs, %u fillers",
			  kinds[i].name, n, s.wqe + 1, s.fillers);
		say_check(!kinds[i].format == !s.reader.runs, "runs where they were asked for");
		striding_close(&s);
	}
}

static void try_wq(struct striding *s, uint64_t mask, uint32_t bytes, uint32_t strides)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = WQES, .max_sge = 3, .pd = s->pd, .cq = s->from_cq
	};
	struct mlx5dv_wq_init_attr dv = { .comp_mask = mask,
					  .striding_rq_attrs = { bytes, strides, 0 } };
	struct ibv_wq *wq = SAY_PTR(mlx5dv_create_wq(s->rig->ctx, &attr, &dv),
				    "mask %#llx, strides 2^%u of 2^%u bytes",
				    (unsigned long long)mask, strides, bytes);
	struct mlx5dv_rwq ring;
	struct mlx5dv_obj obj = { .rwq = { wq, &ring } };

	if (!wq)
		return;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ));
	say("%u WQEs of %u bytes", ring.wqe_cnt, ring.stride);
	MUST(!ibv_destroy_wq(wq));
}

static void attributes(struct rig *rig)
{
	static const uint32_t bytes[] = { 0, 5, 6, 13, 14 }, strides[] = { 0, 2, 3, 8, 9, 16, 17 };
	struct mlx5dv_context caps = { .comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ };
	struct striding s = { .rig = rig };

	MUST(!mlx5dv_query_device(rig->ctx, &caps));
	say("strides of 2^%u to 2^%u bytes, 2^%u to 2^%u of them, for %#x",
	    caps.striding_rq_caps.min_single_stride_log_num_of_bytes,
	    caps.striding_rq_caps.max_single_stride_log_num_of_bytes,
	    caps.striding_rq_caps.min_single_wqe_log_num_of_strides,
	    caps.striding_rq_caps.max_single_wqe_log_num_of_strides,
	    caps.striding_rq_caps.supported_qpts);
	MUST(s.pd = ibv_alloc_pd(rig->ctx));
	MUST(s.from_cq = ibv_create_cq(rig->ctx, SENDS, NULL, NULL, 0));
	for (uint64_t mask = 0; mask < 4; mask++)
		try_wq(&s, mask, LOG_BYTES, LOG_STRIDES);
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
		for (size_t j = 0; j < ARRAY_SIZE(strides); j++)
			try_wq(&s, 1, bytes[i], strides[j]);
	MUST(!ibv_destroy_cq(s.from_cq) && !ibv_dealloc_pd(s.pd));
}

static void frames_of_ethernet(struct rig *rig)
{
	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET)
		frames_share_wqes(rig);
}

int main(int argc, char **argv)
{
	static const struct rig_topic topics[] = { { "attributes", attributes },
						   { "frames", frames_of_ethernet } };

	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
