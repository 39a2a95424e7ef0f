/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rmpp_test.c - segments of long datagrams belong together if they have one sender. softhca's
 * ports have one GID, so a program cannot send from another one; the test fakes it.
 *
 * Covers: softhca/front/process/umad/rmpp.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ib/sa.h"
#include "softhca/front/process/umad/umad.h"

uint64_t timer_now(void)
{
	return 0;
}

void timer_start(struct timer *timer, uint64_t when)
{
	(void)timer, (void)when;
}

void timer_stop(struct timer *timer)
{
	(void)timer;
}

static unsigned int answers;
static struct hca_datagram last_answer;

void umad_send_datagram(struct adapter *adapter, const struct hca_datagram *datagram)
{
	(void)adapter;
	answers++;
	last_answer = *datagram;
}

enum { LID = 7, QPN = 1, AGENT = 2 };

static uint8_t part[MAD_SIZE];
static struct umad_file file;

static struct gsi_arrival arrival_make(uint32_t segment)
{
	struct gsi_arrival arrival = { .src_qpn = QPN, .bytes = part };

	memset(part, 0, sizeof(part));
	fld_set(part, MAD_CLASS, MAD_CLASS_SA);
	fld_set(part, RMPP_TYPE, RMPP_DATA);
	fld_set(part, RMPP_FLAGS, RMPP_ACTIVE | (segment == 1 ? RMPP_FIRST : RMPP_LAST));
	fld_set(part, RMPP_SEGMENT, segment);
	fld_set(part, RMPP_LENGTH, MAD_SIZE - MAD_HEADER_SIZE - RMPP_HEADER_SIZE);
	arrival.addr.slid = LID;
	arrival.addr.grh = true;
	arrival.addr.sgid[15] = 1;
	return arrival;
}

static bool segment_completes(const struct gsi_arrival *arrival, unsigned int agent)
{
	size_t len = 0;
	uint8_t *whole = umad_rmpp_take(&file, agent, arrival, &len);
	bool is_whole = whole;

	free(whole);
	return is_whole;
}

static int file_begin(void **state)
{
	(void)state;
	file = (struct umad_file){ 0 };
	LIST_INIT(&file.assemblies);
	return 0;
}

static int file_end(void **state)
{
	(void)state;
	umad_rmpp_forget(&file, AGENT, 0);
	umad_rmpp_forget(&file, AGENT + 1, 0);
	return (int)file.assembly_count + (int)file.assembly_bytes;
}

static void parts_of_one_sender_are_one(void **state)
{
	struct gsi_arrival first = arrival_make(1);

	(void)state;
	assert_false(segment_completes(&first, AGENT));
	first = arrival_make(2);
	assert_true(segment_completes(&first, AGENT));
}

static void from_another_gid(struct gsi_arrival *arrival)
{
	arrival->addr.sgid[15]++;
}

static void without_a_gid(struct gsi_arrival *arrival)
{
	arrival->addr.grh = false;
}

static void from_another_lid(struct gsi_arrival *arrival)
{
	arrival->addr.slid++;
}

static void from_another_qp(struct gsi_arrival *arrival)
{
	arrival->src_qpn++;
}

static void of_another_transaction(struct gsi_arrival *arrival)
{
	(void)arrival;
	fld_set(part, MAD_TRANSACTION, 9);
}

static void parts_of_others_are_not(void **state)
{
	static void (*const changes[])(struct gsi_arrival *) = {
		from_another_gid, without_a_gid,          from_another_lid,
		from_another_qp,  of_another_transaction,
	};
	struct gsi_arrival arrival = arrival_make(1);

	(void)state;
	assert_false(segment_completes(&arrival, AGENT));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		arrival = arrival_make(2);
		changes[i](&arrival);
		assert_false(segment_completes(&arrival, AGENT));
	}
	arrival = arrival_make(2);
	assert_false(segment_completes(&arrival, AGENT + 1));
	assert_true(segment_completes(&arrival, AGENT));
}

/* Without a GRH, the GID field may hold bytes of another datagram, so it must not count. */
static void a_gid_that_is_not_there_does_not_count(void **state)
{
	struct gsi_arrival arrival = arrival_make(1);

	(void)state;
	arrival.addr.grh = false;
	assert_false(segment_completes(&arrival, AGENT));
	arrival = arrival_make(2);
	arrival.addr.grh = false;
	arrival.addr.sgid[0] = 1;
	assert_true(segment_completes(&arrival, AGENT));
}

static void answers_go_back_to_the_gid(void **state)
{
	struct gsi_arrival arrival = arrival_make(1);

	(void)state;
	answers = 0;
	assert_false(segment_completes(&arrival, AGENT));
	assert_int_equal(answers, 1);
	assert_true(last_answer.grh);
	assert_memory_equal(last_answer.dgid, arrival.addr.sgid, sizeof(last_answer.dgid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, file_begin, file_end)
		TEST(parts_of_one_sender_are_one),
		TEST(parts_of_others_are_not),
		TEST(a_gid_that_is_not_there_does_not_count),
		TEST(answers_go_back_to_the_gid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
