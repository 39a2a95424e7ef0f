/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr_test.c - work requests on memory keys: enabling and changing keys of pages and of KLMs,
 * local and remote invalidation, type 2 windows, refused requests, and the null key.
 *
 * Covers: softhca/device/format/mlx5/umr.c, softhca/device/memory/mkey.c,
 * softhca/device/memory/xlt.c, softhca/device/queue/umr_delay.c
 */
#include "pair.h"
#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/umr.h"
#include "softhca/device/core.h"

enum { OP_UMR = 0x25, PAGE = 4096, BIND_ERROR = 0x06 };

static const uint64_t enable_mask = 1ull << UMR_LEN | 1ull << UMR_PAGE_SIZE |
				    1ull << UMR_START_ADDR | 1ull << UMR_KEY | 1ull << UMR_LR |
				    1ull << UMR_LW | 1ull << UMR_RR | 1ull << UMR_RW |
				    1ull << UMR_FREE | 1ull << UMR_QPN;

/* a QP of the kernel driver */
static const struct flat_qp_attr of_driver = { .fast_reg = true };

static struct flat_umr umr_for(uint32_t key, uint64_t start, uint64_t len, uint64_t mask,
			       uint32_t octowords, uint32_t flags)
{
	struct flat_umr umr = { { 0 }, { 0 } };

	fld_set(umr.ctrl, UMR_FLAGS, flags);
	fld_set(umr.ctrl, UMR_XLT_OCTOWORDS, octowords);
	fld_set(umr.ctrl, UMR_MKEY_MASK, mask);
	fld_set(umr.mkc, MKC_LR, 1);
	fld_set(umr.mkc, MKC_LW, 1);
	fld_set(umr.mkc, MKC_RR, 1);
	fld_set(umr.mkc, MKC_RW, 1);
	fld_set(umr.mkc, MKC_UMR_EN, 1);
	fld_set(umr.mkc, MKC_QPN, 0xffffff);
	fld_set(umr.mkc, MKC_MKEY_7_0, key & 0xff);
	fld_set(umr.mkc, MKC_START_ADDR, start);
	fld_set(umr.mkc, MKC_LEN, len);
	fld_set(umr.mkc, MKC_LOG_PAGE_SIZE, 12);
	return umr;
}

static uint64_t page_list(uint64_t last, unsigned int count)
{
	uint64_t list = flat_alloc(8 * (count + 8), 64);

	for (unsigned int i = 0; i < count; i++)
		fld_set64(flat.mem + list, 8 * i, (last - i * PAGE) | 3);
	return list;
}

static void umr_post(struct flat_qp *qp, uint32_t key, const struct flat_umr *umr)
{
	flat_ctrl(qp, OP_UMR, SIGNALED, key);
	flat_umr(qp, umr);
}

static void umr_go(struct flat_qp *qp)
{
	flat_post(qp);
	flat_ring(qp);
	flat_run(LONG / 1000);
}

/* A KLM holds at most 2 GiB: the length's highest bit is allowed only in 0x80000000. PRM: KLM */
static void long_pieces_are_refused(void **state)
{
	static const uint32_t lengths[] = { UINT32_C(1) << 31, (UINT32_C(1) << 31) + 1,
					    UINT32_MAX };
	struct flat_umr umr;
	uint32_t key;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		pair(NULL, PAGE);
		key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_KLMS, 4);
		umr = umr_for(key, to, 100, enable_mask, 4, UMR_INLINE);
		umr_post(b, key, &umr);
		flat_klm(b, lengths[i], rkey, to);
		umr_go(b);
		if (i)
			flat_expect_error(b->send_cq, REQ_ERR, 0, BIND_ERROR);
		else
			flat_expect_done(b->send_cq, REQ, 0);
		unpair();
	}
}

static void window_bind(uint32_t key, const struct flat_umr *umr, uint32_t base)
{
	umr_post(b, key, umr);
	flat_klm(b, 100, base, to);
	umr_go(b);
}

static uint32_t pair_with_free_key(void)
{
	pair(NULL, PAGE);
	return flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_KLMS, 4);
}

static uint32_t pair_with_window(void)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key, to, 100, enable_mask, 4, UMR_INLINE);

	window_bind(key, &umr, rkey);
	return key;
}

static void write_through(uint32_t key)
{
	write_to(to, key, from, 8);
	flat_run(LONG / 1000);
}

static void unpair_after_refused_write(uint32_t key, uint16_t index)
{
	write_through(key);
	flat_expect_error(a->send_cq, REQ_ERR, index, REMOTE_ACCESS);
	unpair();
}

/* A KSM key may begin within its first page, as UCX' keys for atomics do: translations count from
 * there. */
static void pages_count_from_where_a_key_starts(void **state)
{
	enum { WITHIN = 0x488 };
	struct flat_umr umr;
	uint32_t key;

	(void)state;
	pair(NULL, PAGE);
	key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_KSM, 4);
	umr = umr_for(key, to + WITHIN, PAGE, enable_mask, 4, UMR_INLINE);
	umr_post(b, key, &umr);
	flat_klm(b, 0, rkey, to);
	umr_go(b);
	flat_expect_done(b->send_cq, REQ, 0);
	write_to(to + WITHIN, key, from, 8);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from, 8);
	unpair();
}

/* Registers pages by a list in memory, then replaces a part of the table. */
static void pages_are_registered_by_pointer(void **state)
{
	uint32_t key, dma, list_len = 16 * 8;
	struct flat_umr umr;
	uint64_t list;

	(void)state;
	pair(&of_driver, 16 * PAGE);
	key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_MTT, 64);
	dma = flat_mr(flat.hca[1], flat.pd[1], 0, FLAT_MEM, LOCAL_WRITE);
	list = page_list(to + 15 * PAGE, 16);
	umr = umr_for(key, 0x10000000, 16 * PAGE, enable_mask, 8, UMR_FAIL_IF_NOT_FREE);
	umr_post(b, key, &umr);
	flat_data(b, list, list_len, dma);
	umr_go(b);
	flat_expect_done(b->send_cq, REQ, 0);
	write_to(0x10000000 + 100, key, from, 2 * PAGE);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to + 15 * PAGE + 100, flat.mem + from, PAGE - 100);
	assert_memory_equal(flat.mem + to + 14 * PAGE, flat.mem + from + PAGE - 100, PAGE);

	list = page_list(to + PAGE, 8);
	umr = umr_for(key, 0, 0, 0, 4, UMR_OFFSET_GIVEN | UMR_FAIL_IF_FREE);
	fld_set(umr.ctrl, UMR_XLT_OFFSET_15_0, 4); /* from entry 8 on */
	umr_post(b, key, &umr);
	flat_data(b, list, 64, dma);
	umr_go(b);
	flat_expect_done(b->send_cq, REQ, 3);
	write_to(0x10000000 + 8 * PAGE, key, from, PAGE);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_memory_equal(flat.mem + to + PAGE, flat.mem + from, PAGE);
	unpair();
}

/* Registers a page from its byte 16 on as LEN bytes, with length64, as Linux does for 0 bytes. */
static uint32_t register_with_length64(uint64_t len)
{
	struct flat_umr umr;
	uint32_t key, dma;

	pair(&of_driver, PAGE);
	key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_MTT, 4);
	dma = flat_mr(flat.hca[1], flat.pd[1], 0, FLAT_MEM, LOCAL_WRITE);
	umr = umr_for(key, to + 16, len, enable_mask, 4, UMR_FAIL_IF_NOT_FREE);
	fld_set(umr.mkc, MKC_LENGTH64, 1);
	umr_post(b, key, &umr);
	flat_data(b, page_list(to, 1), 64, dma);
	umr_go(b);
	return key;
}

static void a_key_of_pages_may_have_no_bytes(void **state)
{
	struct flat_umr umr;
	uint32_t key;

	(void)state;
	key = register_with_length64(0);
	flat_expect_done(b->send_cq, REQ, 0);
	/* a later change of another field */
	umr = umr_for(key, 0, 0, 1ull << UMR_QPN, 0, UMR_INLINE);
	umr_post(b, key, &umr);
	umr_go(b);
	flat_expect_done(b->send_cq, REQ, 3);
	write_to(to + 16, key, from, 1);
	flat_run(LONG / 1000);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_ACCESS);
	unpair();
	register_with_length64(1);
	flat_expect_error(b->send_cq, REQ_ERR, 0, BIND_ERROR);
	unpair();
}

/* Fast registration changes the key's variant byte; the pages are inline. */
static void fast_registration_makes_a_new_key(void **state)
{
	uint32_t key, fresh;
	struct flat_umr umr;

	(void)state;
	pair(&of_driver, PAGE);
	key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_MTT, 8);
	fresh = key + 1;
	umr = umr_for(fresh, to, PAGE, enable_mask, 4, UMR_FAIL_IF_NOT_FREE | UMR_INLINE);
	umr_post(b, fresh, &umr);
	flat_klm(b, (uint32_t)(to >> 32), (uint32_t)to | 3, 0);
	flat_klm(b, 0, 0, 0);
	umr_go(b);
	flat_expect_done(b->send_cq, REQ, 0);
	write_to(to, fresh, from, 100);
	write_to(to, key, from, 100);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 1, REMOTE_ACCESS);
	unpair();
}

static void refused_by_users_queue(uint64_t mask, uint32_t octowords)
{
	struct flat_umr umr;
	uint32_t key;

	pair(NULL, PAGE);
	key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_MTT, 8);
	umr = umr_for(key, to, PAGE, mask, octowords, UMR_INLINE);
	umr_post(b, key, &umr);
	flat_klm(b, (uint32_t)(to >> 32), (uint32_t)to | 3, 0);
	flat_klm(b, 0, 0, 0);
	umr_go(b);
	flat_expect_error(b->send_cq, REQ_ERR, 0, BIND_ERROR);
	unpair();
}

/* A QP of a program must not write page addresses, as these reach all memory. */
static void a_users_queue_names_no_pages(void **state)
{
	(void)state;
	refused_by_users_queue(enable_mask, 4);
	refused_by_users_queue(0, 4);
	refused_by_users_queue(1ull << UMR_PAGE_SIZE, 0);
}

static void remote_invalidation_frees_it(void **state)
{
	uint32_t key = pair_with_window();
	struct flat_umr umr;

	(void)state;
	flat_recv(b, to, PAGE, rkey);
	flat_ctrl(a, OP_SEND_INVAL, SIGNALED, key);
	flat_data(a, from, 8, lkey);
	umr_go(a);
	flat_expect_done(b->recv_cq, RESP_SEND_INVAL, 0);
	flat_expect_done(a->send_cq, REQ, 0);
	/* UMR_FAIL_IF_NOT_FREE succeeds: the key is free again */
	umr = umr_for(key, to, 100, enable_mask, 4, UMR_INLINE | UMR_FAIL_IF_NOT_FREE);
	window_bind(key, &umr, rkey);
	flat_expect_done(b->send_cq, REQ, 0);
	flat_expect_done(b->send_cq, REQ, 3);
	unpair();
}

static void local_invalidation_frees_it(void **state)
{
	uint32_t key = pair_with_window();
	struct flat_umr umr = umr_for(key, 0, 0, 1ull << UMR_FREE, 0, UMR_INLINE);

	(void)state;
	fld_set(umr.mkc, MKC_FREE, 1);
	umr_post(b, key, &umr);
	umr_go(b);
	flat_expect_done(b->send_cq, REQ, 0);
	flat_expect_done(b->send_cq, REQ, 3);
	unpair_after_refused_write(key, 0);
}

/* Invalidates KEY as libmlx5 does, with a check that the key belongs to the QP. */
static void invalidate_as_libraries_do(struct flat_qp *qp, uint32_t key)
{
	struct flat_umr umr = umr_for(0, 0, 0, 1ull << UMR_FREE | 1ull << UMR_KEY | 1ull << UMR_QPN,
				      0, UMR_INLINE | UMR_CHECK_QPN | UMR_OFFSET_GIVEN);

	fld_set(umr.mkc, MKC_FREE, 1);
	umr_post(qp, key, &umr);
	umr_go(qp);
}

static uint32_t pair_with_window_of(struct flat_qp **owner)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key, to, 100, enable_mask, 4, UMR_INLINE);

	fld_set(umr.mkc, MKC_QPN, (*owner)->n);
	window_bind(key, &umr, rkey);
	flat_expect_done(b->send_cq, REQ, 0);
	return key;
}

static void a_window_is_invalidated_by_the_qp_that_bound_it(void **state)
{
	uint32_t key;

	(void)state;
	key = pair_with_window_of(&b);
	invalidate_as_libraries_do(b, key);
	flat_expect_done(b->send_cq, REQ, 3);
	unpair_after_refused_write(key, 0);
}

static void another_qp_does_not_invalidate_a_window(void **state)
{
	struct flat_qp *other;
	uint32_t key;

	(void)state;
	key = pair_with_window_of(&b);
	other = flat_qp(1, NULL);
	flat_to(other, a, NULL, PRM_QP_STATE_RTS);
	invalidate_as_libraries_do(other, key);
	flat_expect_error(other->send_cq, REQ_ERR, 0, BIND_ERROR);
	write_through(key);
	flat_expect_done(a->send_cq, REQ, 0);
	test_free(other->send_cq);
	test_free(other->recv_cq);
	test_free(other);
	unpair();
}

/* Any QP may invalidate a KLM key without a QP number. A plain region, or a key with another
 * variant byte, is refused. PRM: UMR control segment, check_qpn */
static void a_key_of_no_qp_is_invalidated_if_it_has_pieces(void **state)
{
	uint32_t key;

	(void)state;
	key = pair_with_window();
	invalidate_as_libraries_do(b, key);
	flat_expect_done(b->send_cq, REQ, 0);
	flat_expect_done(b->send_cq, REQ, 3);
	unpair_after_refused_write(key, 0);

	pair_with_window();
	invalidate_as_libraries_do(b, rkey);
	flat_expect_done(b->send_cq, REQ, 0);
	flat_expect_error(b->send_cq, REQ_ERR, 3, BIND_ERROR);
	unpair();

	key = pair_with_window_of(&b);
	invalidate_as_libraries_do(b, key + 1);
	flat_expect_error(b->send_cq, REQ_ERR, 3, BIND_ERROR);
	unpair();
}

static void a_list_of_pieces_is_one_region(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key, 0x5000, 300, enable_mask, 4, UMR_INLINE);

	(void)state;
	umr_post(b, key, &umr);
	flat_klm(b, 100, rkey, to + 1000);
	flat_klm(b, 50, rkey, to);
	flat_klm(b, 150, rkey, to + 500);
	umr_go(b);
	write_to(0x5000 + 90, key, from, 200);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to + 1090, flat.mem + from, 10);
	assert_memory_equal(flat.mem + to, flat.mem + from + 10, 50);
	assert_memory_equal(flat.mem + to + 500, flat.mem + from + 60, 140);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, 0x5000 + 90, key);
	flat_data(a, from + 2048, 200, lkey);
	umr_go(a);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_memory_equal(flat.mem + from + 2048, flat.mem + from, 200);
	write_to(0x5000 + 299, key, from, 2); /* beyond the end, so it is refused */
	flat_run(LONG / 1000);
	flat_expect_error(a->send_cq, REQ_ERR, 2, REMOTE_ACCESS);
	unpair();
}

static void a_window_into_a_destroyed_region_is_closed(void **state)
{
	uint32_t key = pair_with_window();

	(void)state;
	flat_simple(b->hca, PRM_OP_DESTROY_MKEY, rkey >> 8, PRM_STAT_OK);
	unpair_after_refused_write(key, 0);
}

static void a_key_of_itself_holds_nothing(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key, to, 100, enable_mask, 4, UMR_INLINE);

	(void)state;
	window_bind(key, &umr, key);
	unpair_after_refused_write(key, 0);
}

static void a_window_serves_the_qp_it_is_bound_to(void **state)
{
	uint32_t key = pair_with_free_key();
	struct flat_umr umr = umr_for(key, to, 100, enable_mask, 4, UMR_INLINE);

	(void)state;
	fld_set(umr.mkc, MKC_QPN, b->n);
	window_bind(key, &umr, rkey);
	write_through(key);
	flat_expect_done(a->send_cq, REQ, 0);
	fld_set(umr.mkc, MKC_QPN, b->n + 1);
	window_bind(key, &umr, rkey);
	unpair_after_refused_write(key, 1);
}

static void expect_umr_refused(uint32_t key, const struct flat_umr *umr)
{
	uint32_t own = pair_with_free_key();

	window_bind(key ? key : own, umr, rkey);
	flat_expect_error(b->send_cq, REQ_ERR, 0, BIND_ERROR);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	unpair();
}

static void what_does_not_fit_is_refused(void **state)
{
	uint32_t foreign, stranger;
	struct flat_umr umr;

	(void)state;
	umr = umr_for(0x11, 0, 100, enable_mask, 8, UMR_INLINE); /* longer than the key's table */
	expect_umr_refused(0, &umr);
	umr = umr_for(0x11, 0, 100, enable_mask, 4, UMR_INLINE | UMR_FAIL_IF_FREE);
	expect_umr_refused(0, &umr);
	umr = umr_for(0x11, 0, 100, enable_mask | 1ull << UMR_PD, 4, UMR_INLINE);
	expect_umr_refused(0, &umr);
	umr = umr_for(0x11, 0, 100, enable_mask | 1ull << 60, 4, UMR_INLINE);
	expect_umr_refused(0, &umr);
	umr = umr_for(0x11, 0, 100, enable_mask, 4, UMR_INLINE);
	expect_umr_refused(0xffffff11, &umr);
	stranger = flat_simple(flat.hca[1], PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	foreign = flat_free_mkey(flat.hca[1], stranger, PRM_MKEY_MODE_KLMS, 4);
	expect_umr_refused(foreign, &umr);
	fld_set(umr.mkc, MKC_MKEY_7_0, 0x5a);
	expect_umr_refused(flat_mr(flat.hca[1], flat.pd[1], 4096, 100, ALL_ACCESS),
			   &umr); /* no UMR key */
}

/* Makes a key with room for a BSF; IN_USE sets its bsf_en. */
static uint32_t key_with_room(bool in_use)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 }, out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_FREE, 1);
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS);
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_MKEY_7_0, 0x11);
	fld_set(mkc, MKC_PD, flat.pd[1]);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, 4);
	fld_set(mkc, MKC_BSF_EN, in_use);
	fld_set(mkc, MKC_BSF_OCTWORD_SIZE, BSF_SIZE / 16);
	flat_cmd(flat.hca[1], in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8 | 0x11;
}

/* Posts a UMR with a KLM of 516 bytes and a BSF: a CRC-32C behind each 512 bytes in memory. */
static void post_with_format(uint32_t key, uint64_t mask, uint32_t octowords)
{
	struct flat_umr umr = umr_for(key, 0, 512, enable_mask | mask, 4, UMR_INLINE);
	uint8_t bsf[BSF_SIZE] = { 0 };

	fld_set(umr.ctrl, UMR_BSF_OCTOWORDS, octowords);
	fld_set(umr.mkc, MKC_BSF_EN, 1);
	fld_set(bsf, BSF_KIND, BSF_SIZE_WITH_INLINE);
	fld_set(bsf, BSF_MEM_BS, BSF_BLOCK_512);
	fld_set(bsf, BSF_RAW_SIZE, UINT32_MAX);
	fld_set(bsf, BSF_MEM_FORMAT, BSF_CRC32C | BSF_CRC_REPEAT);
	umr_post(b, key, &umr);
	flat_klm(b, 516, rkey, to);
	for (int i = 0; i < 3; i++)
		flat_klm(b, 0, 0, 0);
	for (uint32_t i = 0; i < octowords; i += sizeof(bsf) / 16)
		flat_segment(b, bsf, sizeof(bsf));
	umr_go(b);
}

static void check_format(bool in_use, uint64_t mask, enum guard guard)
{
	const struct mkey *mkey;
	uint32_t key;

	pair(NULL, PAGE);
	key = key_with_room(in_use);
	post_with_format(key, mask, BSF_SIZE / 16);
	flat_expect_done(b->send_cq, REQ, 0);
	mkey = mkey_find(flat.hca[1], key);
	assert_int_equal(mkey->sig.on, guard != GUARD_NONE);
	assert_int_equal(mkey->sig.mem.guard, guard);
	unpair();
}

/* If bsf_en is set, a UMR can replace the BSF without that bit in its mask. */
static void formats_in_use_are_changed_by_any_request(void **state)
{
	(void)state;
	check_format(true, 0, GUARD_CRC32C);
	check_format(true, 1ull << UMR_BSF_EN, GUARD_CRC32C);
	check_format(false, 1ull << UMR_BSF_EN, GUARD_CRC32C);
}

/* Without bsf_en, the field of the BSF's length means an offset; a strict adapter reports it, as
 * the flag for offsets is missing. */
static void formats_that_are_not_in_use_need_the_bit(void **state)
{
	(void)state;
	check_format(false, 0, GUARD_NONE);
	flat_expect_report("umr.offset");
}

static void more_formats_than_the_key_has_room_for_are_refused(void **state)
{
	(void)state;
	pair(NULL, PAGE);
	post_with_format(key_with_room(true), 0, 2 * BSF_SIZE / 16);
	flat_expect_error(b->send_cq, REQ_ERR, 0, BIND_ERROR);
	unpair();
}

static void umr_waits_for_what_is_before_it(void **state)
{
	struct flat_qp_attr patient = { .rnr_retry = 7 };
	struct flat_umr umr;
	uint32_t key;

	(void)state;
	pair(&patient, PAGE);
	key = flat_free_mkey(flat.hca[0], flat.pd[0], PRM_MKEY_MODE_KLMS, 4);
	umr = umr_for(key, from, 100, enable_mask, 4, UMR_INLINE);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	umr_post(a, key, &umr);
	flat_klm(a, 100, lkey, from);
	flat_post(a);
	flat_ring(a);
	flat_run(1000);
	flat_expect_empty(a->send_cq); /* the peer has no receive yet, so nothing completes */
	flat_recv(b, to, PAGE, rkey);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	unpair();
}

static void the_null_key_swallows_everything(void **state)
{
	uint8_t in[16] = { 0 }, out[32];
	uint32_t key;

	(void)state;
	pair(NULL, PAGE);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_SPECIAL_CONTEXTS);
	flat_cmd(flat.hca[0], in, sizeof(in), out, sizeof(out));
	key = fld_get(out, QUERY_SPECIAL_CONTEXTS_OUT_NULL_MKEY);
	memset(flat.mem + to, 0xff, 100);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 10, lkey);
	flat_data(a, 12345, 10, key);
	flat_data(a, from, 10, lkey);
	umr_go(a);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from, 10);
	assert_int_equal(flat.mem[to + 10], 0);
	assert_int_equal(flat.mem[to + 19], 0);
	assert_memory_equal(flat.mem + to + 20, flat.mem + from, 10);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, 0, 20, key);
	flat_data(a, from + 100, 10, lkey);
	umr_go(a);
	flat_expect_done(a->send_cq, REQ, 2);
	assert_memory_equal(flat.mem + from + 100, flat.mem + from, 10);
	flat_simple(a->hca, PRM_OP_DESTROY_MKEY, key >> 8, PRM_STAT_BAD_RES_ERR);
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(long_pieces_are_refused),
		IB(pages_count_from_where_a_key_starts),
		IB(pages_are_registered_by_pointer),
		IB(a_key_of_pages_may_have_no_bytes),
		IB(fast_registration_makes_a_new_key),
		IB(a_users_queue_names_no_pages),
		IB(remote_invalidation_frees_it),
		IB(local_invalidation_frees_it),
		IB(a_window_is_invalidated_by_the_qp_that_bound_it),
		IB(another_qp_does_not_invalidate_a_window),
		IB(a_key_of_no_qp_is_invalidated_if_it_has_pieces),
		IB(a_list_of_pieces_is_one_region),
		IB(a_window_into_a_destroyed_region_is_closed),
		IB(a_key_of_itself_holds_nothing),
		IB(a_window_serves_the_qp_it_is_bound_to),
		IB(what_does_not_fit_is_refused),
		IB(formats_in_use_are_changed_by_any_request),
		IB(formats_that_are_not_in_use_need_the_bit),
		IB(more_formats_than_the_key_has_room_for_are_refused),
		IB(umr_waits_for_what_is_before_it),
		IB(the_null_key_swallows_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
