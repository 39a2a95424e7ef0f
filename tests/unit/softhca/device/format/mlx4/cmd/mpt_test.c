/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpt_test.c - memory keys of an mlx4 adapter: a driver's commands, the MPT in the driver's
 * memory, and work requests on keys.
 *
 * Covers: softhca/device/format/mlx4/cmd/mpt.c, softhca/device/format/mlx4/mtt.c,
 * softhca/device/format/mlx4/keys.c, softhca/device/format/mlx4/fast_reg.c
 */
#include <string.h>
#include <unistd.h>

#include "softhca/device/core.h"
#include "vfio_mlx4_rig.h"

static void wrong_keys_are_refused(void **state)
{
	static const struct wrong mpt[] = {
		{ 0, 0x1f << 10 | 1 << 9, BAD_PARAM }, /* a memory window without a region */
		{ 0, 0x3u << 28 | 0x1f << 10 | 1 << 8, BAD_PARAM },
		{ 8, KEY + 1, BAD_PARAM },
		{ 0xc, 1 << 27 | PDN, BAD_PARAM },
		{ 0xc, 1 << 20, BAD_PARAM },
		{ 0x18, 0xffffffff, BAD_PARAM },
		{ 0x30, 6 * 8, BAD_PARAM },
		{ 0x38, 11, BAD_PARAM },
	};

	(void)state;
	set_up();
	REFUSE(SW2HW_MPT, KEY, fill_mpt, mpt);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, 64, 0), BAD_INDEX);
	assert_int_equal(guest(KEYS + KEY * 64)[0], 0);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 0), OK);
	assert_int_equal(guest(KEYS + KEY * 64)[0], 0xf0);
	assert_int_equal(get32(guest(OUT + 8)), KEY);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	/* Software changes the entry in the table and runs SYNC_TPT. */
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	guest(KEYS + KEY * 64)[0] = 0;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), OK);
}

/* A refused key keeps its entry in software ownership, so that the driver can try again. */
static void a_refused_key_stays_with_software(void **state)
{
	(void)state;
	set_up();
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 0), OK);
	fill_mpt();
	put64(in(0x2c), 6 * 8); /* a translation that is not present */
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), BAD_PARAM);
	assert_int_equal(guest(KEYS + KEY * 64)[0], 0xf0);
	put64(guest(MTTS + 6 * 8), DATA | 1);
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), OK);
	memset(guest(KEYS + KEY * 64) + 8, 0x5a, 4);
	fill_mpt();
	/* the index is taken: software must take back the key first */
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), BAD_RES_STATE);
	assert_int_equal(get32(guest(KEYS + KEY * 64 + 8)), 0x5a5a5a5a);
}

/* The device refuses a key if it cannot write the key's MPT entry: the table is not mapped
 * there. */
static void a_key_outside_of_the_table_is_refused(void **state)
{
	(void)state;
	set_up();
	assert_int_equal(command(UNMAP_ICM, ICM_KEYS, 1, 0), OK);
	fill_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, KEY, 0), ICM_ERROR);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), BAD_RESOURCE);
}

enum { LOG_MANY = 13, TAKEN_MAX = 4096 };

static unsigned int bus_reads;
static const struct hca_bus_ops *counted;

static int count_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	bus_reads++;
	return counted->read(bus, segs, nsegs, buf);
}

/* Makes a table of many keys whose pages are all the same one. */
static void set_up_many_keys(void)
{
	enum { PAGES = (64 << LOG_MANY) / 4096 };

	run_firmware();
	give_memory();
	for (unsigned int i = 1; i < PAGES; i++)
		assert_int_equal(map(MAP_ICM, ICM_KEYS + i * 4096, KEYS, 0), OK);
	init_fill();
	in(0xfb)[0] = LOG_MANY;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
}

static void give_and_take(uint32_t n)
{
	fill_mpt();
	put32(in(8), n);
	assert_int_equal(mailbox(SW2HW_MPT, n, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, n, 0), OK);
}

/* SYNC_TPT reads only the keys that software has taken back since the last one, each once, and no
 * more than a limit. */
static void only_so_many_keys_are_looked_at(void **state)
{
	struct hca *hca = rig.device.hca;
	struct hca_bus_ops ops = *hca->config.bus_ops;
	const uint32_t first = 1, last = (1 << LOG_MANY) - 1;

	(void)state;
	set_up_many_keys();
	for (uint32_t n = first; n <= last; n++)
		give_and_take(n);
	give_and_take(last);
	give_and_take(last - 64); /* shares its memory with LAST */
	counted = hca->config.bus_ops;
	ops.read = count_read;
	hca->config.bus_ops = &ops;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	hca->config.bus_ops = counted;
	assert_in_range(bus_reads, 2, TAKEN_MAX);
	guest(KEYS + last % 64 * 64)[0] = 0;
	assert_int_equal(command(SYNC_TPT, 0, 0, 0), OK);
	assert_int_equal(command(HW2SW_MPT, 0, last - 64, 1), OK);
}

enum { REMOTE_READ = 1 << 29, REMOTE_WRITE = 1 << 30 };

static void post_bind(uint32_t wqe, uint32_t rkey, uint32_t lkey, uint32_t access)
{
	put32(guest(wqe + 4), 3);
	put32(guest(wqe + 8), 3 << 2);
	put32(guest(wqe + 16), access);
	put32(guest(wqe + 20), 0);
	put32(guest(wqe + 24), rkey);
	put32(guest(wqe + 28), lkey);
	put64(guest(wqe + 32), DATA + 0x800);
	put64(guest(wqe + 40), 16);
	put32(guest(wqe), 0x18);
}

static void post_write(uint32_t wqe, uint64_t addr, uint32_t rkey)
{
	put32(guest(wqe + 4), 3);
	put32(guest(wqe + 8), 3 << 2);
	put64(guest(wqe + 16), addr);
	put32(guest(wqe + 24), rkey);
	put32(guest(wqe + 32), 4);
	put32(guest(wqe + 36), KEY << 8);
	put64(guest(wqe + 40), DATA);
	put32(guest(wqe), 8);
}

static void a_window_opens_when_it_is_bound(void **state)
{
	uint32_t rkey = WINDOW << 8 | 5;

	(void)state;
	set_up();
	make_queues_and_key();
	put32(in(8), WINDOW);
	put32(in(0xc), PDN);
	assert_int_equal(mailbox(SW2HW_MPT, WINDOW, 0), OK);
	connect_qps();
	memcpy(guest(DATA), "said", 4);
	post_bind(RINGS, rkey, KEY << 8, REMOTE_WRITE);
	post_write(RINGS + 64, DATA + 0x80c, rkey);
	post_write(RINGS + 128, DATA + 0x80d, rkey); /* past the end */
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31], 0x58);
	assert_int_equal(cqe(1)[31], 0x48);
	assert_int_equal(cqe(2)[31], 0x5e);
	assert_memory_equal(guest(DATA + 0x80c), "said", 4);
	/* A region cannot go while a window is bound to it: peers would reach freed memory. */
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), REG_BOUND);
	assert_int_equal(command(HW2SW_MPT, 0, WINDOW, 1), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), OK);
}

/* Windows can be bound to regions only, even if a window's context claims to allow it: a chain of
 * windows would have no end. */
static void no_window_leads_to_a_window(void **state)
{
	uint32_t rkey = WINDOW << 8 | 5;

	(void)state;
	set_up();
	make_queues_and_key();
	put32(in(0), 1 << 15); /* a window whose context allows binding */
	put32(in(8), WINDOW);
	put32(in(0xc), PDN);
	assert_int_equal(mailbox(SW2HW_MPT, WINDOW, 0), OK);
	connect_qps();
	post_bind(RINGS, rkey, KEY << 8, REMOTE_READ);
	post_bind(RINGS + 64, rkey, rkey, REMOTE_READ);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	assert_int_equal(cqe(0)[31], 0x58);
	assert_int_equal(cqe(1)[31], 0x5e);
	assert_int_equal(command(HW2SW_MPT, 0, WINDOW, 1), OK);
	assert_int_equal(command(HW2SW_MPT, 0, KEY, 1), OK);
}

enum { FAST_MTT = 8 * 8, FAST_ENTRIES = 2, LIST = DATA + 0x100, FAST_START = 0x12345678ff0 };

static void fill_fast_mpt(void)
{
	put32(in(0), 3u << 28 | 1 << 17 | 1 << 8);
	put32(in(8), WINDOW);
	put32(in(0xc), 1 << 28 | 1 << 27 | 3 << 24 | PDN);
	put64(in(0x2c), FAST_MTT);
	put32(in(0x34), FAST_ENTRIES);
}

static void wrong_keys_for_registration_are_refused(void **state)
{
	static const struct wrong mpt[] = {
		/* the key is not free, so a request cannot register it */
		{ 0, 1 << 17 | 1 << 8, BAD_PARAM },
		/* free, without access rights */
		{ 0xc, 3 << 24 | PDN, BAD_PARAM },
		{ 0, 3u << 28 | 1 << 9 | 1 << 8, BAD_PARAM }, /* the key has no translations */
		{ 0x30, FAST_MTT + 4, BAD_PARAM },
		{ 0x34, 0, BAD_PARAM },
		{ 0x34, 1 << 17, BAD_PARAM },
	};

	(void)state;
	set_up();
	REFUSE(SW2HW_MPT, WINDOW, fill_fast_mpt, mpt);
	assert_int_equal(command(HW2SW_MPT, 0, WINDOW, 1), OK);
}

/* Posts a registration of LENGTH bytes over two pages that are not adjacent, from the last 16 bytes
 * of the first. */
static void post_register(uint32_t wqe, uint32_t rkey, uint32_t length)
{
	put32(guest(wqe + 4), 4);
	put32(guest(wqe + 8), 3 << 2 | 1 << 7);
	put32(guest(wqe + 16), REMOTE_WRITE | 3 << 27);
	put32(guest(wqe + 20), rkey);
	put64(guest(wqe + 24), LIST);
	put64(guest(wqe + 32), FAST_START);
	put64(guest(wqe + 40), length);
	put64(guest(wqe + 48), 12); /* page size 4 KiB, no offset */
	put64(guest(wqe + 56), 0);
	put32(guest(wqe), 0x19);
}

static void post_invalidate(uint32_t wqe, uint32_t rkey)
{
	put32(guest(wqe + 4), 3);
	put32(guest(wqe + 8), 3 << 2 | 1 << 7);
	memset(guest(wqe + 16), 0, 32);
	put32(guest(wqe + 24), rkey);
	put32(guest(wqe), 0x1b);
}

static void set_up_registration(void)
{
	set_up();
	make_queues_and_key();
	fill_fast_mpt();
	assert_int_equal(mailbox(SW2HW_MPT, WINDOW, 0), OK);
	put64(guest(LIST), SRQ | 1);
	put64(guest(LIST + 8), AUX | 1);
	put64(guest(LIST + 16), AUX | 1); /* longer than the key's translation table */
	connect_qps();
	memcpy(guest(DATA), "said", 4);
}

static void run_sends(void)
{
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
}

static void a_request_registers_pages(void **state)
{
	uint32_t rkey = WINDOW << 8 | 5;

	(void)state;
	set_up_registration();
	post_register(RINGS, rkey, 0x20);
	post_write(RINGS + 64, FAST_START + 14, rkey);
	post_invalidate(RINGS + 128, rkey);
	post_register(RINGS + 192, rkey + 1, 0x20); /* then only this variant is valid */
	post_write(RINGS + 256, FAST_START, rkey + 1);
	post_write(RINGS + 320, FAST_START, rkey);
	run_sends();
	assert_int_equal(cqe(0)[31], 0x59);
	assert_int_equal(cqe(1)[31], 0x48);
	assert_int_equal(cqe(2)[31], 0x5b);
	assert_int_equal(cqe(3)[31], 0x59);
	assert_int_equal(cqe(4)[31], 0x48);
	assert_int_equal(cqe(5)[31], 0x5e);
	assert_memory_equal(guest(SRQ + 0xffe), "sa", 2);
	assert_memory_equal(guest(AUX), "id", 2);
	assert_memory_equal(guest(SRQ + 0xff0), "said", 4);
	assert_memory_equal(guest(MTTS + FAST_MTT), guest(LIST), 16);
	assert_int_equal(command(HW2SW_MPT, 0, WINDOW, 1), OK);
}

static void nothing_is_written_by_a_key_that_was_taken_away(void **state)
{
	uint32_t rkey = WINDOW << 8 | 5;

	(void)state;
	set_up_registration();
	post_register(RINGS, rkey, 0x20);
	post_invalidate(RINGS + 64, rkey);
	post_write(RINGS + 128, FAST_START, rkey);
	run_sends();
	assert_int_equal(cqe(1)[31], 0x5b);
	assert_int_equal(cqe(2)[31], 0x5e);
	assert_int_equal(guest(SRQ + 0xff0)[0], 0);
}

/* Changes one word of a valid request; each change must be refused. */
static void wrong_registrations_are_refused(void **state)
{
	static const struct {
		uint32_t at, value;
	} wrong[] = {
		{ 20, KEY << 8 },          /* this key is a plain region */
		{ 20, (WINDOW + 1) << 8 }, /* no such key */
		{ 28, LIST + 4 },          /* not aligned */
		{ 24, 0x100 },             /* not in the guest's memory */
		{ 44, 0x1011 },            /* longer than the list */
		{ 44, 0 },
		{ 40, 0xffffffff },
		{ 48, 1 },
		{ 52, 11 },
		{ 52, 32 },
		{ 4, 3 }, /* WQE too short */
	};

	(void)state;
	set_up_registration();
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		own_rings();
		post_register(RINGS, WINDOW << 8, 0x20);
		put32(guest(RINGS + wrong[i].at), wrong[i].value);
		run_sends();
		if (cqe(i)[31] != 0x5e)
			fail_msg("word %u as 0x%x", wrong[i].at, wrong[i].value);
		assert_int_equal(command(TO_RST, 0, QPN, 2), OK);
		to_rts(QPN, false, QPN + 1, 0);
	}
	put64(guest(LIST + 8), AUX); /* not present */
	own_rings();
	post_register(RINGS, WINDOW << 8, 0x20);
	run_sends();
	assert_int_equal(cqe(sizeof(wrong) / sizeof(wrong[0]))[31], 0x5e);
}

static void a_key_in_use_is_not_registered_again(void **state)
{
	(void)state;
	set_up_registration();
	post_register(RINGS, WINDOW << 8, 0x20);
	post_register(RINGS + 64, WINDOW << 8 | 1, 0x20);
	run_sends();
	assert_int_equal(cqe(0)[31], 0x59);
	assert_int_equal(cqe(1)[31], 0x5e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_keys_are_refused),
		TEST(a_refused_key_stays_with_software),
		TEST(a_key_outside_of_the_table_is_refused),
		TEST(only_so_many_keys_are_looked_at),
		TEST(a_window_opens_when_it_is_bound),
		TEST(no_window_leads_to_a_window),
		TEST(wrong_keys_for_registration_are_refused),
		TEST(a_request_registers_pages),
		TEST(nothing_is_written_by_a_key_that_was_taken_away),
		TEST(wrong_registrations_are_refused),
		TEST(a_key_in_use_is_not_registered_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
