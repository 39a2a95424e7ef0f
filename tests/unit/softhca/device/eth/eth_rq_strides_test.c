/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_rq_strides_test.c - striding receive queues of linked WQEs, as Linux' network driver has
 * them: the device uses WQEs in the order of their links, puts several frames into each, and finds
 * their memory by the UMRs that the driver posted last.
 *
 * Covers: softhca/device/eth/eth_rq.c, softhca/device/format/mlx5/cmd/rq.c,
 * softhca/device/queue/recv_notes.c
 */
#include "eth_rig.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/core.h"
#include "util/bits.h"

enum { OP_UMR = 0x25, PAGE = 4096, LOG_STRIDES = 4, STRIDES = 1 << LOG_STRIDES, STRIDE = 64 };

/* Each WQE owns two pages of the key and uses the first. */
enum { WQES = 1 << ETH_LOG, WQE_PAGES = 2 };

static struct eth_sq_rig *sender, *icosq;
static struct eth_rq_rig *rq;
static uint32_t key;
static uint64_t pages, filler;
static uint8_t frame[1500];

/* Makes a free key for UMR; all its entries point to one filler page until a UMR changes them, as
 * those of mlx5's kernel driver do. */
static uint32_t free_key(void)
{
	enum { OCTOWORDS = WQES * WQE_PAGES / 2 };
	uint8_t in[272 + OCTOWORDS * 16] = { 0 };
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC), *pas = fld_at(in, CREATE_MKEY_IN_PAS);

	fld_set(mkc, MKC_FREE, 1);
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_LW, 1);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_PD, flat.pd[1]);
	fld_set(mkc, MKC_LEN, WQES * WQE_PAGES * PAGE);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, 12);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, OCTOWORDS);
	for (unsigned int i = 0; i < WQES * WQE_PAGES; i++)
		fld_set64(pas, 8 * i, filler | 3);
	return eth_cmd(1, PRM_OP_CREATE_MKEY, in, sizeof(in), PRM_STAT_OK) << 8;
}

static int open_queues(void **state)
{
	flat_setup_roce(state);
	sender = eth_sq(0, eth_td(0));
	icosq = eth_umr_sq(1, true);
	rq = eth_linked_rq(1, LOG_STRIDES);
	eth_catch_all(1, eth_direct_tir(1, eth_td(1), rq->n, 0));
	pages = flat_alloc(WQES * PAGE, PAGE);
	filler = flat_alloc(PAGE, PAGE);
	key = free_key();
	return 0;
}

static int close_queues(void **state)
{
	eth_free_sq(sender);
	eth_free_sq(icosq);
	eth_free_rq(rq);
	return flat_teardown(state);
}

static uint64_t page_of(uint32_t index)
{
	return pages + (uint64_t)index * PAGE;
}

/* Posts a UMR that maps the first page of the WQE at INDEX to PAGE. A UMR changes whole units of 64
 * bytes, so the next entries become the filler page. */
static void map_page(struct eth_sq_rig *sq, uint32_t index, uint64_t page)
{
	uint8_t *wqe = flat.mem + sq->ring + 64 * (sq->pi % WQES), *ctrl = wqe + 16;
	uint8_t *list = ctrl + UMR_CTRL_SIZE + UMR_MKEY_SIZE;

	memset(wqe, 0, 192);
	fld_set(wqe, FLD(0x0, 31, 0), (uint32_t)sq->pi << 8 | OP_UMR);
	fld_set(wqe, FLD(0x4, 31, 0), sq->n << 8 | (128 + 64) / 16);
	fld_set(wqe, FLD(0x8, 31, 0), SIGNALED);
	fld_set(wqe, FLD(0xc, 31, 0), key);
	fld_set(ctrl, UMR_FLAGS, UMR_OFFSET_GIVEN | UMR_INLINE);
	fld_set(ctrl, UMR_XLT_OCTOWORDS, 1);
	fld_set(ctrl, UMR_XLT_OFFSET_15_0, index * WQE_PAGES / 2);
	fld_set(ctrl, UMR_MKEY_MASK, 1ull << UMR_FREE);
	fld_set64(list, 0, page | 3);
	fld_set64(list, 8, filler | 3);
	sq->pi += 3;
	eth_ring_doorbell(sq);
}

static void wqe_post(uint32_t index, uint32_t next)
{
	uint8_t *wqe = flat.mem + rq->ring + 32 * index;

	memset(wqe, 0xff, 2); /* reserved bytes, which the adapter ignores */
	fld_set(wqe, FLD(0x0, 15, 0), next);
	fld_set(wqe + 16, FLD(0x0, 31, 0), STRIDES * STRIDE);
	fld_set(wqe + 16, FLD(0x4, 31, 0), key);
	fld_set64(wqe + 16, 8, (uint64_t)index * WQE_PAGES * PAGE);
	fld_set(flat.mem + rq->dbr, FLD(0x0, 31, 0), ++rq->pi);
}

static uint32_t frame_build(uint32_t payload)
{
	struct eth_flow flow = { .protocol = 17, .sport = payload, .payload = payload };

	return eth_build(&flow, frame);
}

static void frame_send(uint32_t payload)
{
	uint32_t len = frame_build(payload);

	eth_send(sender, frame, len);
}

static void expect_at(uint32_t index, uint32_t first, uint32_t strides, uint32_t payload)
{
	const uint8_t *cqe = flat_poll(rq->cq);

	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), CQE_OP_RESP_SEND);
	assert_int_equal(fld_get(cqe, CQE_WQE_ID), index);
	assert_int_equal(fld_get(cqe, CQE_WQE_COUNTER), first);
	assert_int_equal(fld_get(cqe, CQE_STRIDES), strides);
	assert_int_equal(fld_get(cqe, CQE_FILLER), !payload);
	if (!payload)
		return;
	assert_int_equal(fld_get(cqe, CQE_BYTE_COUNT) & 0xffff, frame_build(payload));
	assert_memory_equal(flat.mem + page_of(index) + (size_t)first * STRIDE, frame,
			    42 + payload);
}

static void wqes_are_used_as_they_are_linked(void **state)
{
	(void)state;
	map_page(icosq, 0, page_of(0));
	map_page(icosq, 5, page_of(5));
	flat_expect_done(icosq->cq, CQE_OP_REQ, 0);
	flat_expect_done(icosq->cq, CQE_OP_REQ, 3);
	wqe_post(0, 5);
	wqe_post(5, 2);
	frame_send(10 * STRIDE - 42);
	frame_send(5 * STRIDE - 42);
	/* fits in two strides, so the one that is left goes to a filler */
	frame_send(2 * STRIDE - 42);
	frame_send(14 * STRIDE - 42);
	expect_at(0, 0, 10, 10 * STRIDE - 42);
	expect_at(0, 10, 5, 5 * STRIDE - 42);
	expect_at(0, 15, 1, 0);
	expect_at(5, 0, 2, 2 * STRIDE - 42);
	expect_at(5, 2, 14, 14 * STRIDE - 42);
	assert_null(flat_poll(rq->cq));
}

/* A reused WQE writes to the page of the last UMR. The page of the former round keeps its bytes, as
 * the program may still read them. */
static void memory_is_what_requests_say(void **state)
{
	(void)state;
	map_page(icosq, 0, page_of(0));
	wqe_post(0, 0);
	frame_send(16 * STRIDE - 42);
	expect_at(0, 0, 16, 16 * STRIDE - 42);
	map_page(icosq, 0, page_of(7));
	memcpy(flat.mem + page_of(9), flat.mem + page_of(0), PAGE);
	wqe_post(0, 1);
	frame_send(16 * STRIDE - 43);
	assert_non_null(flat_poll(rq->cq));
	assert_memory_equal(flat.mem + page_of(7), frame, 16 * STRIDE - 1);
	assert_memory_equal(flat.mem + page_of(9), flat.mem + page_of(0), PAGE);
}

static void what_was_not_mapped_is_the_filler(void **state)
{
	(void)state;
	map_page(icosq, 0, page_of(0)); /* the UMR has made the key valid, so frames have a place */
	wqe_post(0, 3);
	wqe_post(3, 1);
	frame_send(16 * STRIDE - 42);
	frame_send(16 * STRIDE - 43);
	assert_memory_equal(flat.mem + filler, frame, 16 * STRIDE - 1);
}

static void rq_fails(const struct eth_rq_rig *failing)
{
	uint8_t in[32 + 240] = { 0 };

	fld_set(in, FLD(0x8, 31, 28), 1); /* from RDY */
	fld_set(in, FLD(0x8, 23, 0), failing->n);
	fld_set(in + 32, FLD(0x0, 23, 20), 3); /* to ERR */
	eth_cmd(1, PRM_OP_MODIFY_RQ, in, sizeof(in), PRM_STAT_OK);
}

static void expect_flushed(const struct eth_rq_rig *failed, const uint16_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		flat_expect_error(failed->cq, CQE_OP_RESP_ERR, order[i], SYND_FLUSH);
	assert_null(flat_poll(failed->cq));
}

static void linked_wqes_are_flushed_in_their_order(void **state)
{
	static const uint16_t order[] = { 0, 4, 2 };

	(void)state;
	wqe_post(0, 4);
	wqe_post(4, 2);
	wqe_post(2, 1);
	rq_fails(rq);
	expect_flushed(rq, order, ARRAY_SIZE(order));
}

/* The signature covers 48 of the 64 bytes: the segment that ends the scatter list is not signed, as
 * the adapter does not read it. */
enum { SIGNED_WQE = 64, SIGNED = 48, SIGNATURE = 16, SIGNATURE_AT = 4 };

/* Posts a signed WQE: the signature segment, the link to the next WQE, the buffer. Returns the
 * WQE. */
static uint8_t *signed_post(struct eth_rq_rig *to, uint32_t index, uint32_t next)
{
	uint8_t *wqe = flat.mem + to->ring + (size_t)SIGNED_WQE * index, sum = 0xff;

	memset(wqe, 0, SIGNED_WQE);
	fld_set(wqe + SIGNATURE, FLD(0x0, 15, 0), next);
	fld_set(wqe + 32, FLD(0x0, 31, 0), STRIDES * STRIDE);
	fld_set(wqe + 32, FLD(0x4, 31, 0), to->lkey);
	fld_set64(wqe + 32, 8, to->buf + (uint64_t)index * ETH_BUF);
	fld_set(wqe + 48, FLD(0x4, 31, 0), 0x100);
	for (size_t i = 0; i < SIGNED; i++)
		sum ^= wqe[i];
	wqe[SIGNATURE_AT] = (uint8_t)(sum ^ to->n ^ to->n >> 8 ^ to->n >> 16 ^ to->pi);
	fld_set(flat.mem + to->dbr, FLD(0x0, 31, 0), ++to->pi);
	return wqe;
}

static struct eth_rq_rig *signed_rq(void)
{
	const struct eth_rq_attr attr = { .type = PRM_WQ_TYPE_LINKED_STRIDING,
					  .log_strides = LOG_STRIDES,
					  .log_wqe = 6,
					  .signatures = true };
	struct eth_rq_rig *made = eth_rq_of(1, &attr);

	eth_catch_all(1, eth_direct_tir(1, eth_td(1), made->n, 0));
	return made;
}

static void signed_wqes_are_flushed_in_their_order(void **state)
{
	static const uint16_t order[] = { 0, 4, 2 };
	struct eth_rq_rig *made = signed_rq();

	(void)state;
	signed_post(made, 0, 4);
	signed_post(made, 4, 2);
	signed_post(made, 2, 1);
	rq_fails(made);
	expect_flushed(made, order, ARRAY_SIZE(order));
	eth_free_rq(made);
}

/* Linked WQEs behind one with a wrong signature are flushed in the order of their links. */
static void a_wrong_signature_keeps_the_order(void **state)
{
	static const uint16_t order[] = { 3, 5 };
	struct eth_rq_rig *made = signed_rq();

	(void)state;
	signed_post(made, 0, 4);
	signed_post(made, 4, 3)[32 + 15] ^= 1;
	signed_post(made, 3, 5);
	signed_post(made, 5, 6);
	frame_send(STRIDES * STRIDE - 42);
	assert_non_null(flat_poll(made->cq));
	frame_send(STRIDES * STRIDE - 42);
	flat_expect_error(made->cq, CQE_OP_RESP_ERR, 4, SYND_LOCAL_PROT);
	expect_flushed(made, order, ARRAY_SIZE(order));
	eth_free_rq(made);
}

/* The device refuses WQEs of 32 bytes: signature and link leave no room for a buffer. */
static void a_wqe_has_room_for_a_buffer(void **state)
{
	struct eth_rq_attr attr = { .log_strides = LOG_STRIDES,
				    .log_wqe = 4,
				    .signatures = true,
				    .status = PRM_STAT_BAD_PARAM_ERR };
	static const uint32_t types[] = { PRM_WQ_TYPE_LINKED_STRIDING, PRM_WQ_TYPE_CYCLIC_STRIDING,
					  PRM_WQ_TYPE_CYCLIC };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		attr.type = types[i];
		assert_null(eth_rq_of(1, &attr));
	}
	attr.log_wqe = 5;
	attr.type = PRM_WQ_TYPE_LINKED_STRIDING;
	assert_null(eth_rq_of(1, &attr));
	attr.signatures = false;
	attr.log_wqe = 4;
	assert_null(eth_rq_of(1, &attr));
}

static void records_look(void)
{
	flat.now += 300 * NS_PER_MS;
	flat_run(1);
}

/* Flips a bit of a posted WQE for one look of the strict adapter, and restores it. */
static void complete_late(const struct eth_rq_rig *late, uint32_t index, uint32_t at)
{
	uint8_t *byte = flat.mem + late->ring + 32 * index + at;

	*byte ^= 1;
	records_look();
	*byte ^= 1;
	records_look(); /* the report is about the first look */
}

static void record_before_a_buffer(void **state)
{
	(void)state;
	map_page(icosq, 0, page_of(0)); /* the UMR has made the key valid */
	wqe_post(0, 5);
	wqe_post(5, 2);
	complete_late(rq, 5, 16 + 7);
	frame_send(16 * STRIDE - 42);
	frame_send(8 * STRIDE - 42);
	flat_expect_report("record.early");
	frame_send(8 * STRIDE - 42); /* two frames read the WQE, one report is made */
}

static void record_before_a_link(void **state)
{
	(void)state;
	map_page(icosq, 0, page_of(0)); /* the UMR has made the key valid */
	wqe_post(0, 5);
	wqe_post(5, 2);
	complete_late(rq, 0, 1);
	frame_send(16 * STRIDE - 42);
	flat_expect_report("record.early");
	frame_send(16 * STRIDE - 42);
}

static void record_before_a_frame_s_wqe(void **state)
{
	struct eth_rq_rig *plain = eth_rq(1, false);

	(void)state;
	eth_catch_all(1, eth_direct_tir(1, eth_td(1), plain->n, 0));
	eth_recv(plain, ETH_BUF, 3);
	complete_late(plain, 1, 3);
	for (unsigned int i = 0; i < 3; i++)
		frame_send(64);
	flat_expect_report("record.early");
	eth_free_rq(plain);
}

/* A program may rewrite completed WQEs, whether the strict adapter looked at them before or not. */
static void wqes_in_turn_are_no_fault(void **state)
{
	struct eth_rq_rig *plain = eth_rq(1, false);

	(void)state;
	map_page(icosq, 0, page_of(0)); /* the UMR has made the key valid */
	for (uint32_t n = 0; n < 12; n++) {
		wqe_post(n % 4, (n + 1) % 4);
		if (n % 3 == 0)
			records_look();
		frame_send((n % 15 + 1) * STRIDE - 42);
		if (n % 3 == 1)
			records_look();
		frame_send((15 - n % 15) * STRIDE - 42);
		assert_non_null(flat_poll(rq->cq));
		assert_non_null(flat_poll(rq->cq));
	}
	eth_catch_all(1, eth_direct_tir(1, eth_td(1), plain->n, 0));
	for (uint32_t n = 0; n < 3 << ETH_LOG; n++) {
		eth_recv(plain, ETH_BUF - n, 1);
		if (n % 3)
			records_look();
		frame_send(n % 1000);
		assert_non_null(flat_poll(plain->cq));
		assert_non_null(flat_poll(sender->cq));
	}
	eth_free_rq(plain);
}

/* A frame must fit into the strides of a WQE, even if the WQE's buffer is longer, as it may not
 * reach the next WQE's. */
static void a_frame_fits_the_strides(void **state)
{
	(void)state;
	map_page(icosq, 0, page_of(0));
	wqe_post(0, 1);
	fld_set(flat.mem + rq->ring + 16, FLD(0x0, 31, 0), PAGE);
	frame_send(STRIDES * STRIDE - 42 + 1);
	flat_expect_error(rq->cq, CQE_OP_RESP_ERR, 0, SYND_LOCAL_LENGTH);
	assert_null(flat_poll(rq->cq));
}

static void other_queues_change_no_keys(void **state)
{
	struct eth_sq_rig *plain = eth_umr_sq(1, false);

	(void)state;
	map_page(plain, 0, page_of(0));
	flat_expect_error(plain->cq, CQE_OP_REQ_ERR, 0, SYND_LOCAL_QP_OP);
	eth_free_sq(plain);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, open_queues, close_queues)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(wqes_are_used_as_they_are_linked),
		ON(memory_is_what_requests_say),
		ON(what_was_not_mapped_is_the_filler),
		ON(linked_wqes_are_flushed_in_their_order),
		ON(signed_wqes_are_flushed_in_their_order),
		ON(a_wrong_signature_keeps_the_order),
		ON(record_before_a_buffer),
		ON(record_before_a_link),
		ON(record_before_a_frame_s_wqe),
		ON(wqes_in_turn_are_no_fault),
		ON(a_wqe_has_room_for_a_buffer),
		ON(a_frame_fits_the_strides),
		ON(other_queues_change_no_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
