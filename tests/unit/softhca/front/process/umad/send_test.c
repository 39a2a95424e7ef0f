/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_test.c - datagrams that a program writes: what is refused, what the device gets, and
 * requests that wait for an answer, are repeated, and are given back.
 *
 * Covers: softhca/front/process/umad/send.c, softhca/front/process/umad/smi.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ib/packet.h"
#include "ib/smp.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/umad/umad.h"

enum { AGENT = 3, HI_TID = 0x55, PORT = 2, ROOM = 600, MS = 1000 * 1000 };

static struct {
	struct adapter adapter;
	struct umad_file file;
	uint8_t memory[ROOM]; /* of the program: header and datagram */
	size_t readable;
	uint64_t now, expires;
	struct timer *timer; /* that runs */
	unsigned int sent, kicks, own, forgotten;
	struct hca_datagram datagram;
	uint8_t mad[MAD_SIZE]; /* that was sent */
	struct ib_user_mad_hdr given_hdr;
	size_t given_len;
	unsigned int given;
} it;

uint64_t timer_now(void)
{
	return it.now;
}

void timer_start(struct timer *timer, uint64_t when)
{
	it.timer = timer;
	it.expires = when;
}

void timer_stop(struct timer *timer)
{
	if (it.timer == timer)
		it.timer = NULL;
}

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	assert_null(call);
	if (addr + len > it.readable)
		return EFAULT;
	memcpy(buf, it.memory + addr, len);
	return 0;
}

void hca_send_datagram(struct hca *hca, const struct hca_datagram *datagram)
{
	assert_null(hca);
	it.datagram = *datagram;
	memcpy(it.mad, datagram->payload, sizeof(it.mad));
	it.sent++;
}

void engine_kick(void)
{
	it.kicks++;
}

void umad_take_own(struct adapter *adapter, unsigned int port, const uint8_t mad[MAD_SIZE])
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(port, PORT);
	memcpy(it.mad, mad, sizeof(it.mad));
	it.own++;
}

void umad_rmpp_forget(struct umad_file *file, unsigned int agent, uint64_t transaction)
{
	assert_ptr_equal(file, &it.file);
	assert_int_equal(agent, AGENT);
	assert_int_equal(transaction >> 32, HI_TID);
	it.forgotten++;
}

void umad_file_deliver(struct umad_file *file, const struct ib_user_mad_hdr *hdr, bool failed,
		       const void *bytes, size_t len)
{
	assert_ptr_equal(file, &it.file);
	assert_true(failed);
	assert_memory_equal(bytes, it.mad, len);
	it.given_hdr = *hdr;
	it.given_len = len;
	it.given++;
}

static int umad_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.now = 1000;
	it.adapter.link_layer = HCA_LINK_INFINIBAND;
	it.file.adapter = &it.adapter;
	it.file.port = PORT;
	it.file.has_pkey_index = true;
	it.file.agent[AGENT] = (struct umad_agent){ .used = true, .hi_tid = HI_TID, .qpn = 1 };
	LIST_INIT(&it.file.sends);
	it.readable = sizeof(struct ib_user_mad_hdr) + MAD_SIZE;
	return 0;
}

static int umad_finish(void **state)
{
	(void)state;
	umad_send_end_agent(&it.file, AGENT);
	return (int)it.file.send_count;
}

static struct ib_user_mad_hdr header(void)
{
	struct ib_user_mad_hdr hdr = { .id = AGENT,
				       .timeout_ms = 100,
				       .retries = 1,
				       .qpn = htobe32(0xff000001),
				       .qkey = htobe32(GSI_QKEY),
				       .lid = htobe16(0x1234),
				       .sl = 5,
				       .gid_index = 6,
				       .hop_limit = 7,
				       .traffic_class = 8,
				       .flow_label = htobe32(0x9abcd) };

	hdr.gid[15] = 0x77;
	return hdr;
}

static uint8_t *mad(void)
{
	return it.memory + umad_header_size(&it.file);
}

static void request(uint32_t transaction)
{
	memset(mad(), 0, MAD_SIZE);
	fld_set(mad(), MAD_CLASS, MAD_CLASS_PERFORMANCE);
	fld_set(mad(), MAD_METHOD, MAD_GET);
	fld_set(mad(), FLD(0xc, 31, 0), transaction);
	fld_set(mad(), FLD(0xfc, 31, 0), 0x600d);
}

static int write_as(struct ib_user_mad_hdr hdr, size_t len)
{
	memcpy(it.memory, &hdr, umad_header_size(&it.file));
	return umad_send(NULL, &it.file, 0, umad_header_size(&it.file) + len);
}

static void expect_refused(struct ib_user_mad_hdr hdr, size_t len, int error)
{
	const unsigned int sent = it.sent, own = it.own, waiting = it.file.send_count;

	assert_int_equal(write_as(hdr, len), error);
	assert_int_equal(it.sent, sent);
	assert_int_equal(it.own, own);
	assert_int_equal(it.file.send_count, waiting);
}

static void a_datagram_goes_where_its_header_says(void **state)
{
	struct ib_user_mad_hdr hdr = header();

	(void)state;
	hdr.timeout_ms = 0;
	request(9);
	assert_int_equal(write_as(hdr, MAD_SIZE), 0);
	assert_int_equal(it.sent, 1);
	assert_int_equal(it.kicks, 1);
	assert_int_equal(it.file.send_count, 0);
	assert_int_equal(it.datagram.port, PORT);
	assert_int_equal(it.datagram.dlid, 0x1234);
	assert_int_equal(it.datagram.sl, 5);
	assert_int_equal(it.datagram.dest_qpn, 1);
	assert_int_equal(it.datagram.src_qpn, 1);
	assert_true(it.datagram.qkey == GSI_QKEY);
	assert_int_equal(it.datagram.len, MAD_SIZE);
	assert_false(it.datagram.grh);
	assert_int_equal(it.datagram.gid_index, 0);
	/* the agent's half of the transaction */
	assert_int_equal(fld_get(it.mad, MAD_TRANSACTION_H), HI_TID);
	assert_int_equal(fld_get(it.mad, FLD(0xc, 31, 0)), 9);
	assert_int_equal(fld_get(it.mad, FLD(0xfc, 31, 0)), 0x600d);
	hdr.grh_present = 1;
	assert_int_equal(write_as(hdr, MAD_SIZE), 0);
	assert_true(it.datagram.grh);
	assert_int_equal(it.datagram.gid_index, 6);
	assert_int_equal(it.datagram.hop_limit, 7);
	assert_int_equal(it.datagram.traffic_class, 8);
	assert_int_equal(it.datagram.flow_label, 0x9abcd);
	assert_int_equal(it.datagram.dgid[15], 0x77);
}

static void roce_needs_a_gid(void **state)
{
	struct ib_user_mad_hdr hdr = header();

	(void)state;
	it.adapter.link_layer = HCA_LINK_ETHERNET;
	request(1);
	expect_refused(hdr, MAD_SIZE, EINVAL);
	hdr.grh_present = 1;
	assert_int_equal(write_as(hdr, MAD_SIZE), 0);
	assert_true(it.datagram.grh);
}

static void what_cannot_be_sent_is_refused(void **state)
{
	struct ib_user_mad_hdr hdr = header();
	enum { LEAST = MAD_HEADER_SIZE + RMPP_HEADER_SIZE };

	(void)state;
	request(1);
	expect_refused(hdr, LEAST - 1, EINVAL);
	hdr.id = UMAD_MAX_AGENTS;
	expect_refused(hdr, MAD_SIZE, EINVAL);
	hdr.id = AGENT + 1;
	expect_refused(hdr, MAD_SIZE, EIO);
	hdr = header();
	expect_refused(hdr, MAD_SIZE + 1, EINVAL);
	it.readable--;
	expect_refused(hdr, MAD_SIZE, EFAULT);
	it.readable = umad_header_size(&it.file) - 1;
	expect_refused(hdr, LEAST, EFAULT);
	it.readable = umad_header_size(&it.file) + LEAST;
	assert_int_equal(write_as(hdr, LEAST), 0); /* the rest is zeroes */
	assert_int_equal(fld_get(it.mad, FLD(0xfc, 31, 0)), 0);
}

static void rmpp_is_the_programs_own(void **state)
{
	struct umad_agent *agent = &it.file.agent[AGENT];

	(void)state;
	request(1);
	fld_set(mad(), MAD_CLASS, MAD_CLASS_SA);
	fld_set(mad(), RMPP_FLAGS, RMPP_ACTIVE);
	agent->rmpp_version = 1;
	expect_refused(header(), MAD_SIZE, EOPNOTSUPP);
	agent->user_rmpp = true;
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	request(2);
	agent->user_rmpp = false;
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	request(3);
	fld_set(mad(), RMPP_FLAGS, RMPP_ACTIVE);
	agent->rmpp_version = 0;
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
}

/* Old programs' headers have no P_Key index (ABI before IB_USER_MAD_ENABLE_PKEY), so the datagram
 * begins earlier. */
static void old_headers_are_shorter(void **state)
{
	(void)state;
	it.file.has_pkey_index = false;
	request(1);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	assert_int_equal(it.datagram.dlid, 0x1234);
	assert_int_equal(fld_get(it.mad, FLD(0xfc, 31, 0)), 0x600d);
}

static void answers_are_known_by_method(void **state)
{
	(void)state;
	request(1);
	assert_false(umad_is_answer(mad()));
	fld_set(mad(), MAD_METHOD, MAD_GET | MAD_RESPONSE);
	assert_true(umad_is_answer(mad()));
	fld_set(mad(), MAD_METHOD, MAD_TRAP_REPRESS);
	assert_true(umad_is_answer(mad()));
	fld_set(mad(), MAD_METHOD, MAD_SEND);
	fld_set(mad(), MAD_MODIFIER, 1);
	assert_false(umad_is_answer(mad()));
	fld_set(mad(), MAD_CLASS, MAD_CLASS_BASEBOARD);
	assert_true(umad_is_answer(mad()));
	fld_set(mad(), MAD_MODIFIER, 2);
	assert_false(umad_is_answer(mad()));
}

/* An answer keeps the asker's transaction, as it is matched by that, and waits for nothing. */
static void an_answer_is_sent_as_it_is(void **state)
{
	(void)state;
	request(1);
	fld_set(mad(), MAD_TRANSACTION_H, 0x1111);
	fld_set(mad(), MAD_METHOD, MAD_GET | MAD_RESPONSE);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	assert_int_equal(it.sent, 2);
	assert_int_equal(it.file.send_count, 0);
	assert_int_equal(fld_get(it.mad, MAD_TRANSACTION_H), 0x1111);
}

static void a_transaction_is_in_use_until_it_ends(void **state)
{
	struct umad_send *send;

	(void)state;
	request(1);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	assert_int_equal(it.file.send_count, 1);
	expect_refused(header(), MAD_SIZE, EINVAL);
	request(2);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	request(1);
	fld_set(mad(), MAD_CLASS, MAD_CLASS_DEVICE_MANAGEMENT);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	assert_int_equal(it.file.send_count, 3);
	assert_null(umad_send_find(&it.file, AGENT + 1, it.mad));
	send = umad_send_find(&it.file, AGENT, it.mad);
	assert_non_null(send);
	umad_send_end(send);
	assert_int_equal(it.file.send_count, 2);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	umad_send_end_agent(&it.file, AGENT + 1);
	assert_int_equal(it.file.send_count, 3);
	umad_send_end_agent(&it.file, AGENT);
	assert_int_equal(it.file.send_count, 0);
	assert_null(it.timer);
}

/* Sent once, repeated once, and then given back with its header. */
static void a_request_without_an_answer_is_given_back(void **state)
{
	(void)state;
	request(1);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	assert_true(it.expires == 1000 + 100 * MS);
	it.now = it.expires;
	it.timer->expired(it.timer);
	assert_int_equal(it.sent, 2);
	assert_int_equal(it.given, 0);
	assert_true(it.expires == 1000 + 200 * MS);
	it.timer->expired(it.timer);
	assert_int_equal(it.sent, 2);
	assert_int_equal(it.given, 1);
	assert_int_equal(it.forgotten, 1);
	assert_int_equal(it.given_len, MAD_HEADER_SIZE);
	assert_int_equal(it.given_hdr.id, AGENT);
	assert_int_equal(it.given_hdr.status, ETIMEDOUT);
	assert_int_equal(it.given_hdr.timeout_ms, 100);
	assert_int_equal(it.given_hdr.qpn, htobe32(1));
	assert_int_equal(it.given_hdr.qkey, htobe32(GSI_QKEY));
	assert_int_equal(it.given_hdr.lid, htobe16(0x1234));
	assert_int_equal(it.given_hdr.sl, 5);
	assert_int_equal(it.file.send_count, 0);
	assert_null(it.timer);
}

static void the_number_of_requests_is_limited(void **state)
{
	enum { MOST = 4096 };

	(void)state;
	it.file.failed_count = MOST - 1;
	request(1);
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
	request(2);
	expect_refused(header(), MAD_SIZE, ENOMEM);
	it.file.failed_count--;
	assert_int_equal(write_as(header(), MAD_SIZE), 0);
}

static void directed(unsigned int pointer, unsigned int count, unsigned int first,
		     unsigned int dlid)
{
	request(1);
	fld_set(mad(), MAD_CLASS, MAD_CLASS_DIRECTED);
	fld_set(mad(), SMP_HOP_POINTER, pointer);
	fld_set(mad(), SMP_HOP_COUNT, count);
	fld_set(mad(), SMP_DR_DLID, dlid);
	((uint8_t *)fld_at(mad(), SMP_INITIAL_PATH))[1] = (uint8_t)first;
}

static void a_route_leads_out_of_the_own_port_or_ends_here(void **state)
{
	struct ib_user_mad_hdr hdr = header();

	(void)state;
	directed(0, 1, PORT + 1, LID_PERMISSIVE);
	expect_refused(hdr, MAD_SIZE, EINVAL);
	directed(0, SMP_MAX_HOPS + 1, PORT, LID_PERMISSIVE);
	expect_refused(hdr, MAD_SIZE, EINVAL);
	directed(0, 0, PORT, 5); /* goes on by LIDs, from here */
	expect_refused(hdr, MAD_SIZE, EINVAL);
	directed(0, 1, PORT, LID_PERMISSIVE);
	assert_int_equal(write_as(hdr, MAD_SIZE), 0);
	assert_int_equal(it.sent, 1);
	assert_int_equal(fld_get(it.mad, SMP_HOP_POINTER), 1);
	umad_send_end_agent(&it.file, AGENT);
	directed(0, 0, 0, LID_PERMISSIVE);
	assert_int_equal(write_as(hdr, MAD_SIZE), 0);
	assert_int_equal(it.sent, 1);
	assert_int_equal(it.own, 1);
	assert_int_equal(fld_get(it.mad, SMP_HOP_POINTER), 1);
	assert_int_equal(it.file.send_count, 1); /* waits for its answer all the same */
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, umad_begin, umad_finish)
	const struct CMUnitTest tests[] = {
		CASE(a_datagram_goes_where_its_header_says),
		CASE(roce_needs_a_gid),
		CASE(what_cannot_be_sent_is_refused),
		CASE(rmpp_is_the_programs_own),
		CASE(old_headers_are_shorter),
		CASE(answers_are_known_by_method),
		CASE(an_answer_is_sent_as_it_is),
		CASE(a_transaction_is_in_use_until_it_ends),
		CASE(a_request_without_an_answer_is_given_back),
		CASE(the_number_of_requests_is_limited),
		CASE(a_route_leads_out_of_the_own_port_or_ends_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
