/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rss_test.c - hashes of frames. The Toeplitz hash is compared with the vectors that Microsoft
 * publishes for receive-side scaling ("Verifying the RSS hash calculation"), the XOR with sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/hex.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/rss.h"

enum { ADDRESSES = RSS_SOURCE | RSS_DESTINATION, PORTS = RSS_SOURCE_PORT | RSS_DESTINATION_PORT };

#define KEY                                            \
	"6d5a56da 255b0ec2 4167253d 43a38fb0 d0ca2bcb" \
	"ae7b30b4 77cb2da3 8030f20c 6a42b73b beac01fa"
#define ETH_V4     "020000000001 020000000002 0800 "
#define ETH_V6     "020000000001 020000000002 86dd "
#define TCP        " 00000001 00000002 5010 0000 0000 0000"
#define V4_TCP     ETH_V4 "4500 0028 0000 0000 40 06 0000 "
#define V4_UDP     ETH_V4 "4500 001c 0000 0000 40 11 0000 "
#define V6_TCP     ETH_V6 "60000000 0014 06 40 "

#define ONE        "420995bb a18e6450"
#define ONE_BACK   "a18e6450 420995bb"
#define ONE_PORTS  " 0aea 06e6"
#define BACK_PORTS " 06e6 0aea"
#define TWO        "c75c6f02 41458c53"
#define TWO_PORTS  " 3796 1283"
#define SIX        "3ffe2501 02001fff 00000000 00000007 3ffe2501 02000003 00000000 00000001"

static uint32_t hash_of(const char *hex, enum rss_function function, unsigned int fields,
			bool symmetric)
{
	struct rss rss = { .function = function,
			   .symmetric = symmetric,
			   .types = RSS_OF_IPV4 | RSS_OF_IPV6 | RSS_OF_TCP | RSS_OF_UDP,
			   .fields = fields };
	struct frame frame;
	uint8_t bytes[256];
	uint32_t hash = 0xeeeeeeee;

	from_hex(KEY, rss.key);
	frame_parse(&frame, bytes, from_hex(hex, bytes));
	assert_int_equal(!rss_hash(&frame, &rss, &hash), !hash);
	return hash;
}

static void toeplitz_hashes_are_those_published(void **state)
{
	static const struct {
		const char *frame;
		uint32_t addresses, all;
	} rows[] = { { V4_TCP ONE ONE_PORTS TCP, 0x323e8fc2, 0x51ccc178 },
		     { V4_TCP TWO TWO_PORTS TCP, 0xd718262a, 0xc626b0ea },
		     { V6_TCP SIX ONE_PORTS TCP, 0x2cc18cd5, 0x40207d3d } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(hash_of(rows[i].frame, RSS_TOEPLITZ, ADDRESSES, false),
				 rows[i].addresses);
		assert_int_equal(hash_of(rows[i].frame, RSS_TOEPLITZ, ADDRESSES | PORTS, false),
				 rows[i].all);
	}
}

static void the_xor_is_of_bytes_and_inverted(void **state)
{
	(void)state;
	/* 42 ^ 09 ^ 95 ^ bb is 65, a1 ^ 8e ^ 64 ^ 50 is 1b, and the ports add 0a ^ ea ^ 06 ^ e6 */
	assert_int_equal(hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_XOR8, RSS_SOURCE, false), 0x9a);
	assert_int_equal(hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_XOR8, ADDRESSES, false), 0x81);
	assert_int_equal(hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_XOR8, ADDRESSES | PORTS, false),
			 0x81);
	assert_int_equal(
		hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_XOR8, ADDRESSES | RSS_SOURCE_PORT, false),
		0x61);
}

static void both_ways_hash_alike_where_asked(void **state)
{
	const unsigned int all = ADDRESSES | PORTS;

	(void)state;
	assert_int_equal(hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_TOEPLITZ, all, true),
			 hash_of(V4_TCP ONE_BACK BACK_PORTS TCP, RSS_TOEPLITZ, all, true));
	assert_int_not_equal(hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_TOEPLITZ, all, false),
			     hash_of(V4_TCP ONE_BACK BACK_PORTS TCP, RSS_TOEPLITZ, all, false));
	/* half of a pair has no other way */
	assert_int_not_equal(
		hash_of(V4_TCP ONE ONE_PORTS TCP, RSS_TOEPLITZ, RSS_SOURCE, true),
		hash_of(V4_TCP ONE_BACK BACK_PORTS TCP, RSS_TOEPLITZ, RSS_SOURCE, true));
}

static void what_is_not_selected_is_not_hashed(void **state)
{
	struct rss rss = { .function = RSS_TOEPLITZ, .types = RSS_OF_IPV4, .fields = PORTS };
	struct frame frame;
	uint8_t bytes[256];
	uint32_t hash = 1;

	(void)state;
	frame_parse(&frame, bytes, from_hex(V4_UDP ONE ONE_PORTS " 0008 0000", bytes));
	assert_int_equal(rss_hash(&frame, &rss, &hash), 0); /* UDP is not among the types */
	assert_int_equal(hash, 0);
	rss.types |= RSS_OF_UDP;
	assert_int_not_equal(rss_hash(&frame, &rss, &hash), 0);
	frame_parse(&frame, bytes, from_hex(V6_TCP SIX ONE_PORTS TCP, bytes));
	rss.fields = ADDRESSES;
	assert_int_equal(rss_hash(&frame, &rss, &hash), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(toeplitz_hashes_are_those_published),
		cmocka_unit_test(the_xor_is_of_bytes_and_inverted),
		cmocka_unit_test(both_ways_hash_alike_where_asked),
		cmocka_unit_test(what_is_not_selected_is_not_hashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
