/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature_test.c - signatures of WQEs: those that Debian's libmlx5 writes are right, and a WQE
 * with a changed byte completes in error instead of being executed.
 *
 * Covers: softhca/device/format/mlx5/signature.c, softhca/device/format/mlx5/wqe.c,
 * softhca/device/queue/wqe.h
 */
#include <string.h>

#include "pair.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

/* ---- WQEs as Debian's libmlx5 (release 44) wrote them, with MLX5_QP_SIGNATURE ---- */

/* A SEND of 0x64 bytes, by QP 0x48 */
static const uint8_t debian_send[] = {
	0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x48, 0x02, 0xc3, 0x00, 0x00,
	0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x64, 0x00, 0x01,
	0x01, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xf7, 0xb7, 0xd0, 0x00,
};

/* A receive of 0x400 bytes, WQE 0 of QP 0x48, with spare data segments */
enum { DEBIAN_RECV_LEN = 32 };
static const uint8_t debian_recv[64] = {
	0x00, 0x00, 0x00, 0x00, 0x67, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x7f, 0xff,
	0xff, 0xff, 0xdc, 0x88, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
};

static void a_send_is_signed_with_all_its_bytes(void **state)
{
	uint8_t raw[sizeof(debian_send)];

	(void)state;
	memcpy(raw, debian_send, sizeof(raw));
	assert_true(mlx5_send_is_signed(raw));
	for (size_t at = 0; at < sizeof(raw); at++) {
		if (at == 7)
			/* this byte holds the WQE's size, so another value is another WQE */
			continue;
		raw[at] ^= 0x10;
		assert_false(mlx5_send_is_signed(raw));
		raw[at] ^= 0x10;
	}
}

static void a_receive_is_signed_for_its_place(void **state)
{
	uint8_t raw[sizeof(debian_recv)];

	(void)state;
	memcpy(raw, debian_recv, sizeof(raw));
	assert_true(mlx5_recv_is_signed(raw, sizeof(raw), 0x48, 0));
	assert_false(mlx5_recv_is_signed(raw, sizeof(raw), 0x49, 0));
	assert_false(mlx5_recv_is_signed(raw, sizeof(raw), 0x48, 0x200));
	for (size_t at = 0; at < DEBIAN_RECV_LEN; at++) {
		raw[at] ^= 0x10;
		assert_false(mlx5_recv_is_signed(raw, sizeof(raw), 0x48, 0));
		raw[at] ^= 0x10;
	}
}

static uint8_t xor_of(const uint8_t *bytes, size_t len)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum ^= bytes[i];
	return sum;
}

static uint8_t *newest_send(struct flat_qp *qp)
{
	return flat.mem + qp->sq + 64u * (qp->newest & ((1u << qp->sq_log) - 1));
}

static void sign_send(struct flat_qp *qp)
{
	uint8_t *raw = newest_send(qp);

	fld_set(raw, CTRL_SIGNATURE, 0);
	fld_set(raw, CTRL_SIGNATURE, 0xff ^ xor_of(raw, fld_get(raw, CTRL_DS) * 16));
}

/* Posts a receive whose signature segment and one data segment fill its 32 bytes. Returns its
 * address. */
static uint8_t *put_receive(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t key)
{
	uint8_t *raw = flat.mem + qp->rq + 32u * (qp->rq_pi & ((1u << qp->rq_log) - 1));

	memset(raw, 0, 32);
	fld_set(raw + 16, DATA_LEN, len);
	fld_set(raw + 16, DATA_LKEY, key);
	fld_set(raw + 16, DATA_ADDR, addr);
	raw[RECV_SIGNATURE_AT] =
		(uint8_t)(0xff ^ xor_of(raw, 32) ^ (qp->n & 0xff) ^ (qp->n >> 8 & 0xff) ^
			  (qp->n >> 16) ^ (qp->rq_pi & 0xff) ^ (qp->rq_pi >> 8 & 0xff));
	qp->rq_pi++;
	fld_set(flat.mem + qp->dbr, FLD(0x0, 31, 0), qp->rq_pi);
	return raw;
}

static const struct flat_qp_attr rc = { .signatures = true };
static const struct flat_qp_attr uc = { .signatures = true, .st = PRM_QP_ST_UC };
static const struct flat_qp_attr ud = { .signatures = true, .st = PRM_QP_ST_UD, .qkey = 0x1234 };

static void post_signed_send(const struct flat_qp_attr *attr)
{
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	if (attr->qkey)
		flat_av(a, b, b->n, attr->qkey, NULL);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	sign_send(a);
}

static void what_is_signed_arrives(const struct flat_qp_attr *attr, uint32_t front)
{
	pair(attr, 4096);
	for (int i = 0; i < 300; i++) { /* both bytes of the index are signed: pass 256 */
		put_receive(b, to, 100, rkey);
		post_signed_send(attr);
		flat_ring(a);
		flat_run(LONG / 100);
		flat_expect_done(a->send_cq, REQ, (uint16_t)a->newest);
		flat_expect_done(b->recv_cq, RESP_SEND, (uint16_t)i);
	}
	assert_memory_equal(flat.mem + to + front, flat.mem + from, 8);
	unpair();
}

static void signed_messages_arrive(void **state)
{
	(void)state;
	what_is_signed_arrives(&rc, 0);
	what_is_signed_arrives(&uc, 0);
	what_is_signed_arrives(&ud, 40);
}

static void expect_bad(struct flat_cq *cq, uint8_t opcode)
{
	const uint8_t *cqe = flat.mem + cq->ring;

	flat_expect_error(cq, opcode, 0, LOCAL_QP_OP);
	assert_int_equal(fld_get(cqe, FLD(0x34, 15, 8)), WQE_BAD_SIGNATURE);
}

static void a_send_with_another_byte_is_refused(void **state)
{
	static const unsigned int bytes[] = { 8, 9, 12, 16, 20, 31 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		pair(&rc, 4096);
		put_receive(b, to, 100, rkey);
		post_signed_send(&rc);
		newest_send(a)[bytes[i]] ^= 1;
		flat_ring(a);
		flat_run(LONG / 100);
		expect_bad(a->send_cq, REQ_ERR);
		flat_expect_empty(b->recv_cq);
		unpair();
	}
}

static void send_to_a_bad_receive(const struct flat_qp_attr *attr)
{
	pair(attr, 4096);
	put_receive(b, to, 100, rkey)[31] ^= 1;
	post_signed_send(attr);
	flat_ring(a);
	flat_run(LONG / 100);
	expect_bad(b->recv_cq, RESP_ERR);
	assert_int_equal(flat.mem[to + 1], 0);
}

static void a_receive_with_another_byte_is_refused(void **state)
{
	(void)state;
	send_to_a_bad_receive(&rc);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_OP);
	unpair();
	send_to_a_bad_receive(&uc);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair();
	send_to_a_bad_receive(&ud);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_is_signed_with_all_its_bytes),
		cmocka_unit_test(a_receive_is_signed_for_its_place),
		cmocka_unit_test_setup_teardown(signed_messages_arrive, flat_setup, flat_teardown),
		cmocka_unit_test_setup_teardown(a_send_with_another_byte_is_refused, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(a_receive_with_another_byte_is_refused, flat_setup,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
