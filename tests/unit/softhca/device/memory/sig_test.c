/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig_test.c - reports of a wrong signature: only the queue pair whose transfer found it gets a
 * CQE.
 *
 * Covers: softhca/device/memory/sig.c, softhca/device/queue/sig_report.c,
 * softhca/device/memory/psv.c, softhca/device/format/mlx5/cmd/psv.c
 */
#include "pair.h"
#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "signed_key.h"
#include "util/bits.h"

enum { PAGE = 4096, OP_SET_PSV = 0x20, OP_UMR = 0x25 };

static void expect_signature_error(struct flat_cq *cq, const struct mkey *mkey)
{
	const uint8_t *cqe = flat_poll(cq);

	assert_non_null(cqe);
	assert_int_equal(fld_get(cqe, CQE_OPCODE), CQE_OP_SIG_ERR);
	assert_int_equal(fld_get(cqe, SIG_ERR_MKEY), mkey->key);
}

static void expect_nothing_untold(void)
{
	assert_true(LIST_EMPTY(&flat.hca[0]->sig_failed));
	assert_true(LIST_EMPTY(&flat.hca[1]->sig_failed));
}

static void a_datagram_is_told_with_its_receive(void **state)
{
	static const struct flat_qp_attr ud = { .st = PRM_QP_ST_UD, .qkey = 0x1234 };
	struct mkey *mkey;

	(void)state;
	pair(&ud, PAGE);
	mkey = signed_key(1, GUARD_NONE, GUARD_DIF_CRC, to, 2 * SIGNED_BLOCK, rkey);
	flat_recv(b, to, 2 * SIGNED_UNIT, mkey->key);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av(a, b, b->n, ud.qkey, NULL);
	flat_data(a, from, 2 * SIGNED_UNIT - 40, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 1000);
	expect_signature_error(b->recv_cq, mkey);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	expect_nothing_untold();
	unpair();
}

/* An atomic on the end of a block makes the responder read, and check, the whole block, as the
 * signature covers all of it. */
static void an_atomic_is_told_to_its_target(void **state)
{
	struct mkey *mkey;

	(void)state;
	pair(NULL, PAGE);
	mkey = signed_key(1, GUARD_DIF_CRC, GUARD_NONE, to, SIGNED_UNIT, rkey);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to + SIGNED_BLOCK - 8, mkey->key);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	expect_signature_error(b->recv_cq, mkey);
	expect_nothing_untold();
	unpair();
}

enum { FLIP_BYTES = 2 * SIGNED_UNIT, FLIP_STEP = 37 };

static void flip_bit(unsigned int n, unsigned int bit)
{
	char text[32];

	snprintf(text, sizeof(text), "flip:%u+%u", n, bit);
	assert_int_equal(fault_add(flat.fault, text, flat.now), 0);
}

static void expect_offset(const struct mkey *mkey, unsigned int bit)
{
	expect_signature_error(b->recv_cq, mkey);
	assert_int_equal(mkey->sig_state.error.offset, bit / 8 / SIGNED_UNIT * SIGNED_UNIT);
	expect_nothing_untold();
}

/* The sender makes signatures: a bit that flips behind that step, or before the receiver's check,
 * is reported to the receiver. */
static void a_bit_that_flips_on_the_wire_is_told(void **state)
{
	struct mkey *out, *in;

	(void)state;
	pair(NULL, PAGE);
	for (unsigned int bit = 0; bit < 8 * FLIP_BYTES; bit += FLIP_STEP) {
		out = signed_key(0, GUARD_NONE, GUARD_DIF_CRC, from, PAGE, lkey);
		in = signed_key(1, GUARD_NONE, GUARD_DIF_CRC, to, PAGE, rkey);
		flip_bit(bit % 2 + 1, bit);
		flat_ctrl(a, OP_WRITE, SIGNALED, 0);
		flat_raddr(a, to, in->key);
		flat_data(a, from, FLIP_BYTES, out->key);
		flat_post(a);
		flat_ring(a);
		flat_run(LONG / 1000);
		flat_expect_done(a->send_cq, REQ, (uint16_t)a->newest);
		expect_offset(in, bit);
	}
	unpair();
}

/* The receiver makes and checks signatures at its own memory. */
static void a_bit_that_flips_in_memory_is_told(void **state)
{
	struct mkey *mkey;

	(void)state;
	pair(NULL, PAGE);
	for (unsigned int bit = 0; bit < 8 * FLIP_BYTES; bit += FLIP_STEP) {
		mkey = signed_key(1, GUARD_DIF_CRC, GUARD_NONE, to, PAGE, rkey);
		flip_bit(bit % 2 + 1, bit);
		write_to(to, mkey->key, from, 2 * SIGNED_BLOCK);
		flat_run(LONG / 1000);
		flat_expect_done(a->send_cq, REQ, (uint16_t)a->newest);
		flat_expect_empty(b->recv_cq);
		flat_ctrl(a, OP_READ, SIGNALED, 0);
		flat_raddr(a, to, mkey->key);
		flat_data(a, from + 2 * SIGNED_BLOCK, 2 * SIGNED_BLOCK, lkey);
		flat_post(a);
		flat_ring(a);
		flat_run(LONG / 1000);
		flat_expect_done(a->send_cq, REQ, (uint16_t)a->newest);
		expect_offset(mkey, bit);
	}
	unpair();
}

/* Flips concern signed data only, as nothing would detect one elsewhere, and other transfers do not
 * count. */
static void only_signed_data_is_damaged(void **state)
{
	(void)state;
	pair(NULL, PAGE);
	fault_add(flat.fault, "flip:100%", flat.now);
	write_to(to, rkey, from, PAGE);
	flat_run(LONG / 1000);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from, PAGE);
	unpair();
}

static struct psv *psv_of(const struct mkey *mkey)
{
	return res_get(&flat.hca[1]->psvs, mkey->sig.mem.psv);
}

static struct pd *other_pd(struct hca *hca)
{
	return res_get(&hca->pds, flat_simple(hca, PRM_OP_ALLOC_PD, 0, PRM_STAT_OK));
}

static void psv_is_not_set(struct mkey *mkey)
{
	psv_of(mkey)->set = false;
}

static void psv_is_another_domains(struct mkey *mkey)
{
	psv_of(mkey)->pd->users--;
	psv_of(mkey)->pd = other_pd(flat.hca[1]);
	psv_of(mkey)->pd->users++;
}

static void psv_is_gone(struct mkey *mkey)
{
	psv_remove(flat.hca[1], psv_of(mkey));
}

static void psv_never_was(struct mkey *mkey)
{
	mkey->sig.mem.psv = 0xffffff;
}

static void a_key_without_its_psv_moves_nothing(void **state)
{
	void (*const happens[])(struct mkey * mkey) = { psv_is_not_set, psv_is_another_domains,
							psv_is_gone, psv_never_was };
	struct mkey *mkey;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(happens); i++) {
		pair(NULL, PAGE);
		mkey = signed_key(1, GUARD_DIF_CRC, GUARD_NONE, to, SIGNED_UNIT, rkey);
		happens[i](mkey);
		write_to(to, mkey->key, from, SIGNED_BLOCK);
		flat_run(LONG / 1000);
		flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_OP);
		assert_int_equal(flat.mem[to + 1], 0);
		expect_nothing_untold();
		unpair();
	}
}

static void a_foreign_psv_is_not_set(void **state)
{
	enum { MW_BIND = 0x06, START = 0x1234 };
	struct psv *psv;
	uint8_t seg[PSV_SEG_SIZE] = { 0 };

	(void)state;
	pair(NULL, PAGE);
	assert_int_equal(psv_add(flat.hca[0], other_pd(flat.hca[0]), &psv), 0);
	flat_ctrl(a, OP_SET_PSV, SIGNALED, 0);
	fld_set(seg, SET_PSV_N, psv->n);
	fld_set(seg, SET_PSV_SIGNATURE, START);
	flat_segment(a, seg, sizeof(seg));
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 1000);
	flat_expect_error(a->send_cq, REQ_ERR, 0, MW_BIND);
	assert_false(psv->set);
	assert_true(psv->start != START);
	unpair();
}

/* Keys do not compute on a list that a UMR reads, as software wrote its plain bytes. A strict
 * adapter executes the UMR later, when the CQ may lack room for an error. */
static void a_list_is_not_computed(void **state)
{
	struct flat_umr umr = { { 0 }, { 0 } };
	struct mkey *mkey;
	uint32_t key;

	(void)state;
	pair(NULL, PAGE);
	key = flat_free_mkey(flat.hca[1], flat.pd[1], PRM_MKEY_MODE_KLMS, 4 * SIGNED_BLOCK / 16);
	mkey = signed_key(1, GUARD_DIF_CRC, GUARD_NONE, to, SIGNED_UNIT, rkey);
	fld_set(umr.ctrl, UMR_XLT_OCTOWORDS, SIGNED_BLOCK / 16);
	fld_set(umr.ctrl, UMR_MKEY_MASK, 1ull << UMR_LR);
	flat_ctrl(b, OP_UMR, SIGNALED, key);
	flat_umr(b, &umr);
	flat_data(b, to, SIGNED_BLOCK, mkey->key);
	flat_post(b);
	flat_ring(b);
	((struct cq *)res_get(&flat.hca[1]->cqs, b->send_cq->n))->status = 1;
	flat_run(LONG / 1000);
	assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
	assert_false(mkey->sig_count.happened);
	expect_nothing_untold();
	unpair();
}

#define IB(test) cmocka_unit_test_setup_teardown(test, flat_setup, flat_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IB(a_datagram_is_told_with_its_receive),
		IB(an_atomic_is_told_to_its_target),
		IB(a_list_is_not_computed),
		IB(a_key_without_its_psv_moves_nothing),
		IB(a_foreign_psv_is_not_set),
		IB(a_bit_that_flips_on_the_wire_is_told),
		IB(a_bit_that_flips_in_memory_is_told),
		IB(only_signed_data_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
