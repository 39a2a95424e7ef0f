/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send_refusals_test.c - requests that ibv_post_send() refuses: the errno and the line of the
 * log of each, alone, in a list, and behind a request that is posted. A request at the limit is
 * posted.
 *
 * Covers: providers/mlx4/data/post_send.c
 */
#include "rig.h"

#include <errno.h>

#include "tests/unit/log_text.h"
#include "util/bits.h"

enum { MAX_WR = 4, MAX_SGE = 2, MAX_INLINE = 32, HEADER = 64 };

struct row {
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
	int num_sge;
	uint32_t lengths[MAX_SGE + 1];
	unsigned int flags;
	int err; /* 0: posted */
	const char *said;
	uint16_t header; /* of a large send */
	bool checksums;
};

#define RC    .type = IBV_QPT_RC
#define UD    .type = IBV_QPT_UD
#define RAW   .type = IBV_QPT_RAW_PACKET
#define WRITE .opcode = IBV_WR_RDMA_WRITE
#define SEND  .opcode = IBV_WR_SEND
#define TSO   .opcode = IBV_WR_TSO

static const struct row rows[] = {
	/* opcodes */
	{ RC, .opcode = IBV_WR_TSO, .num_sge = 1, .err = EINVAL, .said = "opcode is" },
	{ RC, .opcode = 31, .num_sge = 1, .err = EINVAL, .said = "opcode is 31" },
	{ RC, .opcode = 32, .num_sge = 1, .err = EINVAL, .said = "opcode is 32" },
	{ UD, WRITE, .num_sge = 1, .err = EINVAL, .said = "opcode is 0" },
	{ RAW, WRITE, .num_sge = 1, .lengths = { 60 }, .err = EINVAL, .said = "opcode is 0" },
	/* buffers */
	{ RC, WRITE },
	{ RC, WRITE, .num_sge = MAX_SGE, .lengths = { 8, 8 } },
	{ RC, WRITE, .num_sge = MAX_SGE + 1, .err = EINVAL, .said = "num_sge is 3, limit 2" },
	{ RC, SEND, .num_sge = -1, .err = EINVAL, .said = "num_sge is -1, limit 2" },
	{ UD, SEND, .num_sge = MAX_SGE + 1, .err = EINVAL, .said = "num_sge is 3, limit 2" },
	/* inline data */
	{ RC, WRITE, .num_sge = 1, .lengths = { MAX_INLINE }, .flags = IBV_SEND_INLINE },
	{ RC, WRITE, .num_sge = 2, .lengths = { 31, 1 }, .flags = IBV_SEND_INLINE },
	{ RC, WRITE, .flags = IBV_SEND_INLINE },
	{ RC, WRITE, .num_sge = 1, .lengths = { MAX_INLINE + 1 }, .flags = IBV_SEND_INLINE,
	  .err = ENOMEM, .said = "33" },
	{ RC, WRITE, .num_sge = 2, .lengths = { 32, 1 }, .flags = IBV_SEND_INLINE, .err = ENOMEM,
	  .said = "33" },
	{ RC, WRITE, .num_sge = 2, .lengths = { UINT32_MAX, 2 }, .flags = IBV_SEND_INLINE,
	  .err = ENOMEM, .said = "4294967297" },
	{ UD, SEND, .num_sge = 1, .lengths = { MAX_INLINE + 1 }, .flags = IBV_SEND_INLINE,
	  .err = ENOMEM, .said = "33" },
	{ RAW, SEND, .num_sge = 1, .lengths = { MAX_INLINE + 1 }, .flags = IBV_SEND_INLINE,
	  .err = ENOMEM, .said = "33" },
	/* an atomic has a segment more, so it has room for one SGE less */
	{ RC, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .num_sge = 1, .lengths = { 8 } },
	{ RC, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .num_sge = 2, .lengths = { 4, 4 }, .err = EINVAL,
	  .said = "num_sge is 2" },
	{ RC, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .num_sge = 1, .lengths = { 16 },
	  .flags = IBV_SEND_INLINE },
	{ RC, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .num_sge = 1, .lengths = { 17 },
	  .flags = IBV_SEND_INLINE, .err = ENOMEM, .said = "17" },
	/* checksums */
	{ RAW, SEND, .num_sge = 1, .lengths = { 60 }, .flags = IBV_SEND_IP_CSUM,
	  .checksums = true },
	{ RAW, SEND, .num_sge = 1, .lengths = { 20 }, .flags = IBV_SEND_IP_CSUM | IBV_SEND_INLINE,
	  .checksums = true },
	{ RAW, SEND, .num_sge = 1, .lengths = { 60 }, .flags = IBV_SEND_IP_CSUM, .err = EINVAL,
	  .said = "IBV_SEND_IP_CSUM" },
	{ RAW, SEND, .num_sge = 1, .lengths = { 20 }, .flags = IBV_SEND_IP_CSUM | IBV_SEND_INLINE,
	  .err = EINVAL, .said = "IBV_SEND_IP_CSUM" },
	{ UD, SEND, .num_sge = 1, .lengths = { 20 }, .flags = IBV_SEND_IP_CSUM | IBV_SEND_INLINE,
	  .err = EINVAL, .said = "IBV_SEND_IP_CSUM" },
	{ RC, WRITE, .num_sge = 1, .lengths = { 20 }, .flags = IBV_SEND_IP_CSUM | IBV_SEND_INLINE },
	/* frames */
	{ RAW, SEND, .err = EINVAL, .said = "the frame has no bytes" },
	{ RAW, SEND, .num_sge = 2, .err = EINVAL, .said = "the frame has no bytes" },
	{ RAW, SEND, .num_sge = 2, .flags = IBV_SEND_INLINE, .err = EINVAL, .said = "no bytes" },
	{ RAW, SEND, .num_sge = 2, .lengths = { 0, 60 } },
	{ RAW, SEND, .num_sge = 2, .lengths = { 60, 0 } },
	/* large sends: a header has at least the 14 bytes of Ethernet */
	{ RAW, TSO, .num_sge = 1, .lengths = { 60 }, .header = 14 },
	{ RAW, TSO, .num_sge = 1, .lengths = { 60 }, .header = HEADER },
	{ RAW, TSO, .header = HEADER },
	{ RAW, TSO, .num_sge = 1, .lengths = { 60 }, .header = 13, .err = EINVAL,
	  .said = "tso.hdr_sz is 13, must be 14 to 64" },
	{ RAW, TSO, .num_sge = 1, .lengths = { 60 }, .header = HEADER + 1, .err = EINVAL,
	  .said = "tso.hdr_sz is 65, must be 14 to 64" },
	{ RAW, TSO, .num_sge = 1, .lengths = { MAX_INLINE }, .header = 14,
	  .flags = IBV_SEND_INLINE },
	{ RAW, TSO, .num_sge = 1, .lengths = { MAX_INLINE + 1 }, .header = 14,
	  .flags = IBV_SEND_INLINE, .err = ENOMEM, .said = "33" },
};

static uint8_t data[128];
static struct mlx4_ah ah;

static struct rig *rig_for(const struct row *row)
{
	const bool frames = row->type == IBV_QPT_RAW_PACKET;
	struct rig *rig = rig_new(&(struct rig_options){ .type = row->type,
							 .send_wr = MAX_WR,
							 .send_sge = MAX_SGE,
							 .max_inline = MAX_INLINE,
							 .second_port_is_ethernet = frames,
							 .port = frames ? 2 : 1,
							 .checksums = row->checksums,
							 .tso_header = frames ? HEADER : 0 });

	rig->qp->sq.max_sge = MAX_SGE;
	rig->qp->sq.max_inline = MAX_INLINE;
	if (frames)
		rig->qp->max_tso_header = HEADER;
	return rig;
}

static struct ibv_send_wr request(const struct row *row, struct ibv_sge sges[MAX_SGE + 1])
{
	struct ibv_send_wr wr = { .opcode = row->opcode,
				  .sg_list = sges,
				  .num_sge = row->num_sge,
				  .send_flags = row->flags };

	for (int i = 0; i <= MAX_SGE; i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)data, row->lengths[i], 7 };
	if (row->type == IBV_QPT_UD)
		wr.wr.ud.ah = &ah.ah;
	if (row->header) {
		wr.tso.hdr = data;
		wr.tso.hdr_sz = row->header;
		wr.tso.mss = 64;
	}
	return wr;
}

static const struct row *good_of(const struct row *row)
{
	static const struct row good[] = {
		{ RC, SEND, .num_sge = 1, .lengths = { 20 } },
		{ UD, SEND, .num_sge = 1, .lengths = { 20 } },
		{ RAW, SEND, .num_sge = 1, .lengths = { 60 } },
	};
	const struct row *of = good;

	while (of->type != row->type)
		of++;
	return of;
}

/* Posts BEFORE good requests, the row's, and AFTER good ones as one list. */
static void list_post(const struct row *row, int before, int after)
{
	struct ibv_sge sges[3][MAX_SGE + 1];
	struct ibv_send_wr wrs[3], *bad = NULL;
	struct rig *rig = rig_for(row);
	int count = before + 1 + after, ret;

	for (int i = 0; i < count; i++) {
		wrs[i] = request(i == before ? row : good_of(row), sges[i]);
		wrs[i].next = i + 1 < count ? &wrs[i + 1] : NULL;
	}
	log_text();
	ret = mlx4_post_send(&rig->qp->vqp.qp, wrs, &bad);
	if (ret != row->err)
		fail_msg("row %d, %d before, %d after: %d", (int)(row - rows), before, after, ret);
	assert_ptr_equal(bad, ret ? &wrs[before] : NULL);
	assert_int_equal(rig->qp->sq.wq.head, ret ? before : count);
	if (row->said)
		check_logged(row->said);
	else
		assert_string_equal(log_text(), "");
	rig_free(rig);
}

static void each_refusal_has_its_errno(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		list_post(&rows[i], 0, 0);
		list_post(&rows[i], 1, 0);
		list_post(&rows[i], 0, 1);
		list_post(&rows[i], 1, 1);
	}
}

static void a_full_queue_refuses_any_request(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_for(&rows[i]);
		struct ibv_sge sges[MAX_SGE + 1];
		struct ibv_send_wr good = request(good_of(&rows[i]), sges), *bad;
		const uint32_t room = rig->qp->sq.wq.max_post;

		if (rows[i].err) {
			rig_free(rig);
			continue;
		}
		for (uint32_t n = 0; n < room; n++)
			assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &good, &bad), 0);
		good = request(&rows[i], sges);
		log_text();
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &good, &bad), ENOMEM);
		assert_ptr_equal(bad, &good);
		assert_int_equal(rig->qp->sq.wq.head, room);
		check_logged("post_send");
		rig_free(rig);
	}
}

/* Nothing is posted before RTS, whatever the request. */
static void no_opcode_is_allowed_before_rts(void **state)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_for(&rows[i]);
		struct ibv_sge sges[MAX_SGE + 1];
		struct ibv_send_wr wr = request(&rows[i], sges), *bad;

		assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &reset, IBV_QP_STATE), 0);
		log_text();
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
		assert_ptr_equal(bad, &wr);
		assert_int_equal(rig->qp->sq.wq.head, 0);
		check_logged("the QP is in state RESET, must be RTS: connect it by ibv_modify_qp");
		rig_free(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_has_its_errno),
		cmocka_unit_test(a_full_queue_refuses_any_request),
		cmocka_unit_test(no_opcode_is_allowed_before_rts),
	};

	log_to_memory();
	return RIG_RUN(tests);
}
