/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syndrome_test.c - texts of syndromes: each syndrome of the PRM has its own text, and any other
 * byte has one as well; what to look at depends on the request. All fit into a line of the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/common/syndrome.h"

struct text {
	uint8_t number;
	const char *begin;
};

static void check_texts(const char *(*str)(uint8_t), const struct text *texts, size_t count,
			const char *other)
{
	for (unsigned int number = 0; number <= UINT8_MAX; number++) {
		const char *expected = other, *text = str((uint8_t)number);

		for (size_t i = 0; i < count; i++)
			if (texts[i].number == number)
				expected = texts[i].begin;
		assert_non_null(text);
		assert_memory_equal(text, expected, strlen(expected));
		assert_in_range(strlen(text), 1, 120);
	}
}

/* PRM: CQE with Error, syndrome */
static void each_syndrome_has_its_text(void **state)
{
	static const struct text texts[] = {
		{ 0x01, "local length" },      { 0x02, "local QP operation" },
		{ 0x04, "local protection" },  { 0x05, "flushed" },
		{ 0x06, "memory window" },     { 0x10, "bad response" },
		{ 0x11, "local access" },      { 0x12, "remote invalid request" },
		{ 0x13, "remote access" },     { 0x14, "remote operation" },
		{ 0x15, "transport retries" }, { 0x16, "RNR retries" },
		{ 0x22, "remote aborted" },
	};

	(void)state;
	check_texts(provider_syndrome_str, texts, sizeof(texts) / sizeof(texts[0]),
		    "unknown syndrome");
}

static void each_vendor_syndrome_has_its_text(void **state)
{
	static const struct text texts[] = {
		{ 0x32, "receive buffer too short" },
		{ 0x51, "key not valid" },
		{ 0x52, "local buffer outside" },
		{ 0x6e, "length" },
		{ 0x81, "ACK timeout" },
		{ 0x87, "RNR NAK" },
		{ 0x88, "NAK: remote access" },
		{ 0x89, "NAK: remote operation" },
		{ 0x8a, "NAK: invalid request" },
		{ 0x93, "page fault" },
		{ 0xf5, "send flushed" },
		{ 0xf9, "receive flushed" },
	};

	(void)state;
	check_texts(provider_vendor_syndrome_str, texts, sizeof(texts) / sizeof(texts[0]),
		    "no text for this vendor syndrome");
}

static void a_syndrome_has_a_cure_for_each_kind_that_it_fails(void **state)
{
	static const struct {
		uint8_t syndrome;
		enum request_kind kind;
		const char *has;
	} rows[] = {
		{ 0x01, REQUEST_RECEIVE, "longer than the receive" },
		{ 0x01, REQUEST_DATAGRAM_RECEIVE, "40 bytes" },
		{ 0x01, REQUEST_DATAGRAM, "active_mtu" },
		{ 0x04, REQUEST_SEND, "lkey" },
		{ 0x04, REQUEST_READ, "IBV_ACCESS_LOCAL_WRITE" },
		{ 0x04, REQUEST_RECEIVE, "IBV_ACCESS_LOCAL_WRITE" },
		{ 0x12, REQUEST_SEND, "shorter" },
		{ 0x12, REQUEST_WRITE, "IBV_ACCESS_REMOTE_WRITE" },
		{ 0x12, REQUEST_READ, "max_dest_rd_atomic" },
		{ 0x12, REQUEST_ATOMIC, "IBV_ACCESS_REMOTE_ATOMIC" },
		{ 0x13, REQUEST_WRITE, "IBV_ACCESS_REMOTE_WRITE" },
		{ 0x13, REQUEST_READ, "IBV_ACCESS_REMOTE_READ" },
		{ 0x13, REQUEST_ATOMIC, "IBV_ACCESS_REMOTE_ATOMIC" },
		{ 0x14, REQUEST_SEND, "the peer's log" },
		{ 0x16, REQUEST_SEND, "post a receive" },
		{ 0x16, REQUEST_WRITE_IMM, "immediate" },
		{ 0x04, REQUEST_WRITE_IMM, "which holds all of the buffer" },
		{ 0x12, REQUEST_WRITE_IMM, "IBV_ACCESS_REMOTE_WRITE" },
		{ 0x13, REQUEST_WRITE_IMM, "a live MR or bound MW with IBV_ACCESS_REMOTE_WRITE" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *cure = provider_syndrome_cure(rows[i].syndrome, rows[i].kind);

		assert_non_null(cure);
		assert_non_null(strstr(cure, rows[i].has));
		assert_in_range(strlen(cure), 1, 240);
	}
	assert_null(provider_syndrome_cure(0x22, REQUEST_SEND));
	assert_null(provider_syndrome_cure(0x13, REQUEST_RECEIVE));
	assert_null(provider_syndrome_cure(0x16, REQUEST_WRITE));
	assert_null(provider_syndrome_cure(0x04, REQUEST_OTHER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_syndrome_has_its_text),
		cmocka_unit_test(each_vendor_syndrome_has_its_text),
		cmocka_unit_test(a_syndrome_has_a_cure_for_each_kind_that_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
