/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * neighbour_test.c - replies to requests for the Ethernet address of an IP address: ARP (RFC 826)
 * and neighbour discovery (RFC 4861). No frame is read beyond its end.
 *
 * Covers: softhca/net/neighbour.c, softhca/inet.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/net/neighbour.h"
#include "tests/unit/hex.h"

static bool find_neighbour(void *owner, const uint8_t gid[16], uint8_t mac[6])
{
	static const uint8_t ipv6[16] = { 0xfe, 0x80, [8] = 0, 2, 0xc9, 0xff, 0xfe, 0x5f, 0, 1 };
	static const uint8_t ipv4[16] = { [10] = 0xff, 0xff, 198, 18, 0, 1 };
	static const uint8_t own[6] = { 2, 0, 0, 0, 0, 1 };

	(void)owner;
	if (memcmp(gid, ipv4, 16) && memcmp(gid, ipv6, 16))
		return false;
	memcpy(mac, own, 6);
	return true;
}

/* Checks the reply to REQUEST, or that there is none if ANSWER is NULL; then that no shorter part
 * of REQUEST has one. */
static void check_answer(const char *request, const char *answer)
{
	uint8_t frame[128] = { 0 }, golden[128], got[NEIGHBOUR_ANSWER_MAX];
	size_t len = from_hex(request, frame);
	size_t got_len = neighbour_answer(frame, len, find_neighbour, NULL, got);

	assert_int_equal(got_len, answer ? from_hex(answer, golden) : 0);
	assert_memory_equal(got, golden, got_len);
	for (size_t i = 0; i < len; i++) {
		uint8_t *exact = malloc(i + 1);

		memcpy(exact, frame, i);
		assert_int_equal(neighbour_answer(exact, i, find_neighbour, NULL, got), 0);
		free(exact);
	}
}

static void arp_requests_are_answered(void **state)
{
	(void)state;
	check_answer("ffffffffffff 020000000009 0806 0001 0800 06 04 0001"
		     "020000000009 c6120909 000000000000 c6120001",
		     "020000000009 020000000001 0806 0001 0800 06 04 0002"
		     "020000000001 c6120001 020000000009 c6120909");
	check_answer("ffffffffffff 020000000009 0806 0001 0800 06 04 0001"
		     "020000000009 c6120909 000000000000 c6120002",
		     NULL);
}

/* scapy computed the checksums. */
static void neighbour_solicitations_are_answered(void **state)
{
	(void)state;
	check_answer("3333ff5f0001 020000000009 86dd 6000000000203aff"
		     "fe800000000000000000000000000009 ff0200000000000000000001ff5f0001"
		     "8700 b1c8 00000000 fe800000000000000002c9fffe5f0001 0101020000000009",
		     "020000000009 020000000001 86dd 6000000000203aff"
		     "fe800000000000000002c9fffe5f0001 fe800000000000000000000000000009"
		     "8800 8751 60000000 fe800000000000000002c9fffe5f0001 0201020000000001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arp_requests_are_answered),
		cmocka_unit_test(neighbour_solicitations_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
