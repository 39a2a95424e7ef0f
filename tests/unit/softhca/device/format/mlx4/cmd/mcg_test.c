/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg_test.c - an mlx4 adapter's management agents and datagrams, and the multicast group table as
 * a driver writes it.
 *
 * Covers: softhca/device/format/mlx4/cmd/mcg.c, softhca/device/format/mlx4/steer.c,
 * softhca/device/format/mlx4/special_wqe.c
 */
#include <string.h>
#include <time.h>

#include "softhca/device/core.h"
#include "vfio_mlx4_rig.h"

/* A GET of NodeInfo */
static void fill_mad(uint8_t *mad)
{
	static const uint8_t head[] = { 1, 1, 1, 1 };

	memcpy(mad, head, sizeof(head));
	mad[17] = 0x11;
}

static void agents_answer(void **state)
{
	(void)state;
	set_up();
	fill_mad(in(0));
	assert_int_equal(mailbox(MAD_IFC, 1, 3), OK);
	assert_int_equal(guest(OUT)[3], 0x81);
	assert_int_equal(guest(OUT)[64 + 2], 1); /* node type: channel adapter */
	fill_mad(in(0));
	assert_int_equal(mailbox(MAD_IFC, 2, 3), BAD_PARAM);
	fill_mad(in(0));
	assert_int_equal(mailbox(MAD_IFC, 1, 8), BAD_OP);
	fill_mad(in(0));
	in(0)[1] = 0x55;
	assert_int_equal(mailbox(MAD_IFC, 1, 3), BAD_PKT);
}

static const uint8_t lrh_to_self[] = { 0x00, 0x02, 0x00, 0x01, 0, 0, 0, 1 };

/* Builds the WQE of a management QP: inline headers, a datagram by pointer, room for the ICRC. */
static void fill_special_wqe(uint32_t wqe, uint32_t dest, uint32_t len)
{
	uint8_t *at = guest(wqe);

	put32(at + 4, 5);
	put32(at + 8, 3 << 2);
	put32(at + 16, 1u << 31 | 28);
	memcpy(at + 20, lrh_to_self, sizeof(lrh_to_self));
	put32(at + 28, 0x6400ffff); /* BTH: UD, SEND */
	put32(at + 32, dest);
	put32(at + 36, 0);
	put32(at + 40, 0x80010000); /* DETH */
	put32(at + 44, 1);
	put32(at + 48, len);
	put32(at + 52, KEY << 8);
	put64(at + 56, DATA);
	put32(at + 64, 1u << 31 | 4);
	put32(at + 68, 0);
}

static void a_management_datagram_arrives(void **state)
{
	uint32_t qpn = SPECIAL + 2, recv_ring = RINGS + 8 * 128; /* QP1 of port 1 */

	(void)state;
	set_up();
	make_queues_and_key();
	assert_int_equal(command(CONF_SPECIAL_QP, 0, SPECIAL + 1, 0), BAD_PARAM);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, SPECIAL, 0), OK);
	special_to_rts(qpn, false, 7);
	assert_int_equal(command(CONF_SPECIAL_QP, 0, 0, 0), BAD_RES_STATE);
	memset(guest(DATA), 0x5c, 256);
	put32(guest(recv_ring), 296);
	put32(guest(recv_ring + 4), KEY << 8);
	put64(guest(recv_ring + 8), DATA + 0x800);
	put32(guest(RECORDS + 0x80), 1);
	fill_special_wqe(RINGS, 1, 256);
	put32(guest(RINGS), 0xa);
	doorbell32(UAR * 0x1000 + 0x14, qpn << 8);
	vfio_run();
	assert_int_equal(get32(cqe(0)) & 0xffffff, qpn);
	assert_int_equal(cqe(0)[31] & 0x5f, 1);
	assert_int_equal(get32(cqe(0) + 4), 0); /* P_Key index */
	assert_int_equal(get32(cqe(0) + 8), 1); /* from QP1, no GRH */
	assert_int_equal(get32(cqe(0) + 0x14), 296);
	assert_memory_equal(guest(DATA + 0x800 + 40), guest(DATA), 256);
	assert_int_equal(cqe(1)[31], 0x4a);
}

static void groups_are_a_table(void **state)
{
	uint32_t hash;

	(void)state;
	set_up();
	memset(in(0), 0xff, 16);
	assert_int_equal(mailbox(MGID_HASH, 0, 0), OK);
	hash = bar_get(HCR + 0x10);
	assert_in_range(hash, 0, 31);
	memset(guest(OUT), 0xee, 4096);
	assert_int_equal(command(READ_MCG, 0, hash, 0), OK);
	assert_int_equal(get32(guest(OUT + 4)), 0);
	put32(in(4), 1);
	memset(in(16), 0xff, 16);
	put32(in(32), QPN);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), OK);
	assert_int_equal(command(READ_MCG, 0, hash, 0), OK);
	assert_int_equal(get32(guest(OUT + 32)), QPN);
	put32(in(4), 249);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), BAD_PARAM);
	put32(in(4), 3u << 30 | 1);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), BAD_PARAM);
	put32(in(0), 64 << 6);
	assert_int_equal(mailbox(WRITE_MCG, hash, 0), BAD_PARAM);
	assert_int_equal(mailbox(WRITE_MCG, 64, 0), BAD_INDEX);
}

static void fill_group(uint32_t first, uint32_t members)
{
	put32(in(4), members);
	memset(in(16), 0xff, 16);
	for (uint32_t i = 0; i < members; i++)
		put32(in(32 + i * 4), first + i);
}

static bool group_has_member(uint32_t qpn)
{
	struct hca *hca = rig.device.hca;
	const struct mcg_member *member;

	LIST_FOREACH(member, &hca->mcg_members, entry)
		if (member->qp == res_get(&hca->qps, qpn))
			return true;
	return false;
}

static void make_members(uint32_t first, uint32_t count)
{
	enum { UD = 3 };

	for (uint32_t i = 0; i < count; i++) {
		fill_qp(first + i, false, UD);
		assert_int_equal(mailbox(RST2INIT, first + i, 0), OK);
	}
}

static uint32_t hash_of_group(void)
{
	memset(in(0), 0xff, 16);
	assert_int_equal(mailbox(MGID_HASH, 0, 0), OK);
	return bar_get(HCR + 0x10);
}

/* A group with one member too many is refused, and the former group stays valid, in the table and
 * for its members: a driver takes a failed command for no change. */
static void a_refused_group_stays_as_it_was(void **state)
{
	enum { FIRST = 0x100, MEMBERS = 240 };
	uint32_t index;

	(void)state;
	set_up();
	make_eq_and_cq();
	make_members(FIRST, MEMBERS + 1);
	index = hash_of_group();
	fill_group(FIRST, 1);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	fill_group(FIRST, MEMBERS + 1);
	assert_int_not_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_int_equal(command(READ_MCG, 0, index, 0), OK);
	assert_int_equal(get32(guest(OUT + 4)), 1);
	assert_true(group_has_member(FIRST));
	for (uint32_t i = 1; i <= MEMBERS; i++)
		assert_false(group_has_member(FIRST + i));
	fill_group(FIRST, MEMBERS);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_true(group_has_member(FIRST + MEMBERS - 1));
}

/* The adapter follows the chain from the hash of the GID to the first entry with that GID. A second
 * entry counts only when the first is gone; an unlinked entry never counts. */
static void a_group_has_one_entry(void **state)
{
	enum { FIRST = 0x100, MEMBERS = 3, SECOND = 40, LOST = 41 };
	uint32_t index;

	(void)state;
	set_up();
	make_eq_and_cq();
	make_members(FIRST, MEMBERS);
	index = hash_of_group();
	fill_group(FIRST + 2, 1);
	assert_int_equal(mailbox(WRITE_MCG, LOST, 0), OK);
	fill_group(FIRST + 1, 1);
	assert_int_equal(mailbox(WRITE_MCG, SECOND, 0), OK);
	fill_group(FIRST, 1);
	put32(in(0), SECOND << 6);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_true(group_has_member(FIRST));
	assert_false(group_has_member(FIRST + 1));
	put32(in(0), SECOND << 6); /* without members, but with a next entry */
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_false(group_has_member(FIRST));
	assert_true(group_has_member(FIRST + 1));
	fill_group(FIRST + 1, 1);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK); /* move it; the old copy stays */
	fill_group(FIRST, 0);
	assert_int_equal(mailbox(WRITE_MCG, SECOND, 0), OK);
	assert_true(group_has_member(FIRST + 1));
	assert_false(group_has_member(FIRST + 2));
}

/* Sets up an adapter and a QP for groups; returns the index where the chain of the group's GID
 * begins. */
static uint32_t group_of_one(uint32_t member)
{
	set_up();
	make_eq_and_cq();
	make_members(member, 1);
	return hash_of_group();
}

/* A chain that forms a ring does not hang the adapter: a guest writes the links, so it may write
 * any. */
static void a_chain_of_groups_may_be_a_ring(void **state)
{
	enum { OTHER = 40, MEMBER = 0x100 };
	const uint32_t index = group_of_one(MEMBER);

	(void)state;
	put32(in(0), OTHER << 6);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	put32(in(0), index << 6);
	assert_int_equal(mailbox(WRITE_MCG, OTHER, 0), OK);
	fill_group(MEMBER, 1);
	assert_int_equal(mailbox(WRITE_MCG, OTHER + 1, 0), OK);
	assert_false(group_has_member(MEMBER));
}

/* Initializes an adapter whose hash has no bits, so that all chains begin at entry 0. */
static void init_without_hash(void)
{
	run_firmware();
	give_memory();
	init_fill();
	in(0xd7)[0] = 0;
	in(0xdb)[0] = 13;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
}

static void write_group(uint32_t index, uint32_t next)
{
	put32(in(0), next << 6);
	put32(in(4), 1);
	put32(in(16), index);
	put32(in(32), QPN);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
}

/* Links the entries FROM to TO into a chain that no other entry leads to. */
static void write_chain(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		write_group(i, i + 1);
	write_group(to, 0);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Links entry 0 to a chain, and returns the least time that the adapter took. */
static uint64_t time_to_link(uint32_t next)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 8; i++) {
		uint64_t begin, took;

		write_group(0, 0);
		begin = cpu_ns();
		write_group(0, next);
		took = cpu_ns() - begin;
		least = took < least ? took : least;
	}
	return least;
}

/* The time of a command grows with the length of a chain, not with its square: 8 times the entries
 * may take 24 times as long, where the square would take 64 times. */
static void a_long_chain_takes_its_length(void **state)
{
	enum { SHORT = 256, LONG = 8 * SHORT, ALLOWED = 24 };
	uint64_t before, after;

	(void)state;
	init_without_hash();
	write_chain(1, SHORT - 1);
	before = time_to_link(1);
	write_group(0, 0);
	write_group(SHORT - 1, SHORT);
	write_chain(SHORT, LONG - 1);
	after = time_to_link(1);
	if (after > ALLOWED * before)
		fail_msg("%llu ns for %d entries, %llu for %d", (unsigned long long)before, SHORT,
			 (unsigned long long)after, LONG);
}

/* If chains meet, their common tail belongs to the chain with the lower start index. */
static void an_entry_is_of_one_chain(void **state)
{
	enum { MEMBER = 0x100, OTHER = 40 };
	const uint32_t index = group_of_one(MEMBER);

	(void)state;
	assert_in_range(index, 1, 30);
	fill_group(MEMBER, 1);
	assert_int_equal(mailbox(WRITE_MCG, OTHER, 0), OK);
	put32(in(0), OTHER << 6);
	assert_int_equal(mailbox(WRITE_MCG, index, 0), OK);
	assert_true(group_has_member(MEMBER));
	put32(in(0), OTHER << 6);
	assert_int_equal(mailbox(WRITE_MCG, index + 1, 0), OK);
	assert_true(group_has_member(MEMBER));
	put32(in(0), OTHER << 6);
	assert_int_equal(mailbox(WRITE_MCG, index - 1, 0), OK);
	assert_false(group_has_member(MEMBER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(agents_answer),
		TEST(a_management_datagram_arrives),
		TEST(groups_are_a_table),
		TEST(a_refused_group_stays_as_it_was),
		TEST(a_group_has_one_entry),
		TEST(a_chain_of_groups_may_be_a_ring),
		TEST(a_long_chain_takes_its_length),
		TEST(an_entry_is_of_one_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
