/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq_test.c - the command queue as a driver fills it: descriptors, chains of mailboxes, and
 * every error in them. Repeats the layouts as offsets, as an independent check.
 *
 * Covers: softhca/front/pci/cmdq.c, softhca/front/pci/mlx5.c
 */
#include <endian.h>
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "pair.h"
#include "vfio_rig.h"

enum {
	QUEUE = GUEST_BASE,          /* 32 descriptors */
	INPUT = GUEST_BASE + 0x8000, /* mailboxes at intervals of 1 KiB */
	OUTPUT = GUEST_BASE + 0x20000,
	BLOCK = 1024,
	TOKEN = 0x7e,
	/* Offsets in a descriptor */
	IN_LEN = 4,
	IN_PTR = 8,
	IN = 16,
	OUT = 32,
	OUT_PTR = 48,
	OUT_LEN = 56,
	D_TOKEN = 60,
	D_SIGNATURE = 61,
	STATUS_OWN = 63,
	/* Offsets in a mailbox */
	NEXT = 560,
	NUMBER = 568,
	B_TOKEN = 573,
	CONTROL_SIGNATURE = 574,
	SIGNATURE = 575,
	B_SIZE = 576,
};

enum {
	OK = 0,
	BAD_SIGNATURE = 1,
	BAD_TOKEN = 2,
	BAD_NUMBER = 3,
	BAD_OUT_PTR = 4,
	BAD_IN_PTR = 5,
	BAD_IN_LENGTH = 7,
	BAD_OUT_LENGTH = 8,
	RESERVED = 9,
	BAD_DESCRIPTOR = 16
};

static void field_put(uint8_t *at, uint64_t value, int bytes)
{
	while (bytes--)
		*at++ = value >> (8 * bytes);
}

static uint8_t bytes_sum(const uint8_t *at, int len)
{
	uint8_t x = 0;

	while (len--)
		x ^= *at++;
	return x;
}

static uint8_t *entry(unsigned int index)
{
	return guest(QUEUE + 64 * index);
}

static void entry_sign(unsigned int index)
{
	uint8_t *desc = entry(index);

	desc[D_SIGNATURE] = 0;
	desc[D_SIGNATURE] = ~bytes_sum(desc, 64);
}

static void blocks_chain(uint64_t first, unsigned int blocks)
{
	for (unsigned int i = 0; i < blocks; i++) {
		uint8_t *block = guest(first + i * BLOCK);

		memset(block, 0, B_SIZE);
		field_put(block + NEXT, i + 1 < blocks ? first + (i + 1) * BLOCK : 0, 8);
		field_put(block + NUMBER, i, 4);
		block[B_TOKEN] = TOKEN;
	}
}

/* Prepares the command at INDEX with IN and OUT bytes, chains of mailboxes included. */
static void entry_prepare(unsigned int index, uint16_t opcode, uint32_t in, uint32_t out)
{
	uint8_t *desc = entry(index);

	memset(desc, 0, 64);
	desc[0] = 7;
	field_put(desc + IN_LEN, in, 4);
	field_put(desc + OUT_LEN, out, 4);
	field_put(desc + IN, opcode, 2);
	desc[D_TOKEN] = TOKEN;
	if (in > 16)
		field_put(desc + IN_PTR, INPUT, 8);
	if (out > 16)
		field_put(desc + OUT_PTR, OUTPUT, 8);
	blocks_chain(INPUT, 40);
	blocks_chain(OUTPUT, 40);
	desc[STATUS_OWN] = 1;
	entry_sign(index);
}

static int entry_ring(unsigned int index)
{
	bar_put(0x18, 1u << index);
	vfio_run();
	assert_int_equal(entry(index)[STATUS_OWN] & 1, 0);
	assert_int_equal(bytes_sum(entry(index), 64), 0xff);
	return entry(index)[STATUS_OWN] >> 1;
}

static int rig_setup(void **state)
{
	vfio_setup(state);
	bar_put(0x10, 0);
	bar_put(0x14, QUEUE);
	return 0;
}

/* Prepares QUERY_HCA_CAP of the general page: 16 + 4096 bytes of output need nine mailboxes. */
static void prepare_query(void)
{
	entry_prepare(0, PRM_OP_QUERY_HCA_CAP, 16, 16 + PRM_HCA_CAP_SIZE);
}

static void short_commands_need_no_mailbox(void **state)
{
	(void)state;
	entry_prepare(0, PRM_OP_ENABLE_HCA, 16, 16);
	assert_int_equal(entry_ring(0), OK);
	assert_int_equal(entry(0)[OUT], PRM_STAT_OK);
	entry_prepare(31, PRM_OP_ENABLE_HCA, 16, 16);
	assert_int_equal(entry_ring(31), OK);
	assert_int_equal(entry(31)[OUT], PRM_STAT_BAD_SYS_STATE_ERR);
}

static void answers_fill_a_signed_chain(void **state)
{
	(void)state;
	prepare_query();
	assert_int_equal(entry_ring(0), OK);
	assert_int_equal(entry(0)[OUT], PRM_STAT_OK);
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(bytes_sum(guest(OUTPUT + i * BLOCK), B_SIZE), 0xff);
		assert_int_equal(bytes_sum(guest(OUTPUT + i * BLOCK) + 512, 63), 0xff);
	}
	/* outside the chain, so it gets no signature */
	assert_int_equal(guest(OUTPUT + 8 * BLOCK)[SIGNATURE], 0);
}

/* MANAGE_PAGES: the addresses of the input chain come back in the output chain */
static void input_is_gathered_from_the_chain(void **state)
{
	enum { PAGES = 100 };
	unsigned int found = 0;

	(void)state;
	entry_prepare(0, PRM_OP_MANAGE_PAGES, 16 + 8 * PAGES, 16);
	field_put(entry(0) + IN + 6, PRM_PAGES_GIVE, 2);
	field_put(entry(0) + IN + 12, PAGES, 4);
	entry_sign(0);
	for (unsigned int i = 0; i < PAGES; i++)
		field_put(guest(INPUT + i / 64 * BLOCK + i % 64 * 8), 0x1000 * (i + 1), 8);
	assert_int_equal(entry_ring(0), OK);
	assert_int_equal(entry(0)[OUT], PRM_STAT_OK);
	entry_prepare(1, PRM_OP_MANAGE_PAGES, 16, 16 + 8 * PAGES);
	field_put(entry(1) + IN + 6, PRM_PAGES_TAKE, 2);
	field_put(entry(1) + IN + 12, PAGES, 4);
	entry_sign(1);
	assert_int_equal(entry_ring(1), OK);
	for (unsigned int i = 0; i < PAGES; i++) {
		const uint8_t *at = guest(OUTPUT + i / 64 * BLOCK + i % 64 * 8);

		found += (at[5] << 8 | at[6]) >> 4;
	}
	assert_int_equal(found, PAGES * (PAGES + 1) / 2);
}

static void signed_blocks_are_checked(void **state)
{
	uint8_t *block;

	(void)state;
	entry_prepare(0, PRM_OP_NOP, 16 + 512, 16);
	block = guest(INPUT);
	block[CONTROL_SIGNATURE] = ~bytes_sum(block + 512, CONTROL_SIGNATURE - 512);
	block[SIGNATURE] = ~bytes_sum(block, SIGNATURE);
	assert_int_equal(entry_ring(0), OK);
	entry_prepare(0, PRM_OP_NOP, 16 + 512, 16);
	block[SIGNATURE] = 1;
	assert_int_equal(entry_ring(0), BAD_SIGNATURE);
	/* the whole signature is right, the one of the control part is wrong */
	entry_prepare(0, PRM_OP_NOP, 16 + 512, 16);
	block[CONTROL_SIGNATURE] = 0x33;
	block[SIGNATURE] = ~bytes_sum(block, SIGNATURE);
	assert_int_equal(entry_ring(0), BAD_SIGNATURE);
}

static void unsigned_commands_get_unsigned_answers(void **state)
{
	(void)state;
	entry_prepare(0, PRM_OP_NOP, 16, 16 + 512);
	guest(OUTPUT)[SIGNATURE] = 0;
	entry(0)[D_SIGNATURE] = 0;
	bar_put(0x18, 1);
	vfio_run();
	assert_int_equal(entry(0)[STATUS_OWN], OK << 1);
	/* Software that does not sign leaves the answer's signature in its next command */
	assert_int_equal(entry(0)[D_SIGNATURE], 0);
	assert_int_equal(guest(OUTPUT)[SIGNATURE], 0);
}

static void signature_may_be_0_once_software_signs(void **state)
{
	(void)state;
	entry_prepare(0, PRM_OP_NOP, 16, 16);
	assert_int_not_equal(entry(0)[D_SIGNATURE], 0);
	assert_int_equal(entry_ring(0), OK);
	entry_prepare(0, PRM_OP_NOP, 16, 16);
	entry(0)[D_TOKEN] ^= entry(0)[D_SIGNATURE];
	entry(0)[D_SIGNATURE] = 0;
	assert_int_equal(bytes_sum(entry(0), 64), 0xff);
	assert_int_equal(entry_ring(0), OK); /* checks the answer's signature */
	entry_prepare(0, PRM_OP_NOP, 16, 16);
	entry(0)[D_SIGNATURE] = 0;
	assert_int_equal(entry_ring(0), BAD_SIGNATURE);
}

static void wrong_descriptors_get_a_delivery_status(void **state)
{
	(void)state;
	prepare_query();
	entry(0)[D_SIGNATURE] ^= 1;
	assert_int_equal(entry_ring(0), BAD_SIGNATURE);
	prepare_query();
	entry(0)[0] = 6;
	assert_int_equal(entry_ring(0), BAD_DESCRIPTOR);
	prepare_query();
	entry(0)[2] = 1;
	entry_sign(0);
	assert_int_equal(entry_ring(0), RESERVED);
	entry_prepare(0, PRM_OP_NOP, 7, 16);
	assert_int_equal(entry_ring(0), BAD_IN_LENGTH);
	entry_prepare(0, PRM_OP_NOP, CMDQ_MAX_LEN + 1, 16);
	assert_int_equal(entry_ring(0), BAD_IN_LENGTH);
	entry_prepare(0, PRM_OP_NOP, 16, 0xffffffff);
	assert_int_equal(entry_ring(0), BAD_OUT_LENGTH);
}

static void wrong_chains_get_a_delivery_status(void **state)
{
	(void)state;
	prepare_query();
	field_put(entry(0) + OUT_PTR, OUTPUT + 8, 8);
	entry_sign(0);
	assert_int_equal(entry_ring(0), BAD_OUT_PTR);
	prepare_query();
	field_put(entry(0) + OUT_PTR, 0x123456789000, 8);
	entry_sign(0);
	assert_int_equal(entry_ring(0), BAD_OUT_PTR);
	prepare_query();
	field_put(guest(OUTPUT + 3 * BLOCK) + NUMBER, 4, 4);
	assert_int_equal(entry_ring(0), BAD_NUMBER);
	prepare_query();
	guest(OUTPUT + 3 * BLOCK)[B_TOKEN] = TOKEN + 1;
	assert_int_equal(entry_ring(0), BAD_TOKEN);
	prepare_query();
	field_put(guest(OUTPUT + 3 * BLOCK) + NEXT, 0, 8);
	assert_int_equal(entry_ring(0), BAD_OUT_PTR);
	entry_prepare(0, PRM_OP_NOP, 16 + 1024, 16);
	field_put(guest(INPUT) + NEXT, INPUT, 8); /* the chain forms a ring */
	assert_int_equal(entry_ring(0), BAD_NUMBER);
	entry_prepare(0, PRM_OP_NOP, 16 + 1024, 16);
	field_put(guest(INPUT) + NEXT, INPUT + BLOCK + 1, 8);
	assert_int_equal(entry_ring(0), BAD_IN_PTR);
}

static void nothing_is_executed_whose_answer_has_no_room(void **state)
{
	(void)state;
	entry_prepare(0, PRM_OP_ENABLE_HCA, 16, 64);
	field_put(entry(0) + OUT_PTR, 0, 8);
	entry_sign(0);
	assert_int_equal(entry_ring(0), BAD_OUT_PTR);
	entry_prepare(0, PRM_OP_ENABLE_HCA, 16, 16);
	assert_int_equal(entry_ring(0), OK);
	assert_int_equal(entry(0)[OUT], PRM_STAT_OK);
}

static void entries_of_software_are_left_alone(void **state)
{
	uint8_t before[64];

	(void)state;
	entry_prepare(0, PRM_OP_NOP, 16, 16);
	entry(0)[STATUS_OWN] = 0;
	memcpy(before, entry(0), sizeof(before));
	bar_put(0x18, 1);
	vfio_run();
	assert_memory_equal(before, entry(0), sizeof(before));
}

static void one_doorbell_may_start_many(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 32; i++)
		entry_prepare(i, PRM_OP_NOP, 16, 16);
	bar_put(0x18, 0xfffffffe);
	/* Each call of device_progress() executes one command. */
	device_progress(&rig.device, 0);
	assert_int_equal(entry(1)[STATUS_OWN], 0);
	assert_int_equal(entry(2)[STATUS_OWN], 1);
	vfio_run();
	for (unsigned int i = 1; i < 32; i++)
		assert_int_equal(entry(i)[STATUS_OWN], 0);
	assert_int_equal(entry(0)[STATUS_OWN], 1);
}

static void lost_command_keeps_its_owner(void **state)
{
	(void)state;
	assert_int_equal(fault_add(rig.fault, "cmd-timeout", 0), 0);
	entry_prepare(0, PRM_OP_ENABLE_HCA, 16, 16);
	bar_put(0x18, 1);
	vfio_run();
	assert_int_equal(entry(0)[STATUS_OWN], 1);
	entry_prepare(1, PRM_OP_ENABLE_HCA, 16, 16);
	assert_int_equal(entry_ring(1), OK);
	assert_int_equal(entry(1)[OUT], PRM_STAT_OK);
}

/* The second delay is short, and must not end the first. */
static void each_delayed_command_has_its_own_time(void **state)
{
	(void)state;
	fault_set_front(rig.fault, FAULT_VFIO_FRONT);
	assert_int_equal(fault_add(rig.fault, "cmd-late:1+1000000000", 0), 0);
	assert_int_equal(fault_add(rig.fault, "cmd-late:2+1", 0), 0);
	entry_prepare(0, PRM_OP_ENABLE_HCA, 16, 16);
	entry_prepare(1, PRM_OP_ENABLE_HCA, 16, 16);
	bar_put(0x18, 3);
	while (entry(1)[STATUS_OWN] & 1)
		vfio_run();
	assert_int_equal(entry(1)[OUT], PRM_STAT_OK);
	assert_int_equal(entry(0)[STATUS_OWN], 1);
}

static void queue_that_is_unmapped_or_moved_is_not_touched(void **state)
{
	(void)state;
	entry_prepare(0, PRM_OP_NOP, 16, 16);
	bar_put(0x18, 1);
	bar_put(0x14, QUEUE + 0x1000);
	vfio_run();
	assert_int_equal(entry(0)[STATUS_OWN], 1);
	bar_put(0x14, 0x70000000);
	bar_put(0x18, 0xffffffff);
	vfio_run();
	assert_int_equal(entry(0)[STATUS_OWN], 1);
}

/* Runs the device as the event loop does, once. */
static void device_drive(struct hca *adapter)
{
	struct hca *own = rig.device.hca;

	rig.device.hca = rig.device.bar.cmdq.hca = adapter;
	device_progress(&rig.device, flat.now);
	rig.device.hca = rig.device.bar.cmdq.hca = own;
}

static int pair_setup(void **state)
{
	rig_setup(state);
	flat_setup(state);
	pair(NULL, 64);
	return 0;
}

static int pair_teardown(void **state)
{
	unpair();
	flat_teardown(state);
	return vfio_teardown(state);
}

/* Doorbell and command both arrive before the device runs. The request must be sent first, as the
 * command destroys its QP. */
static void doorbell_before_a_command_counts_before_it(void **state)
{
	(void)state;
	write_to(to, rkey, from, 64);
	entry_prepare(0, PRM_OP_DESTROY_QP, 16, 16);
	field_put(entry(0) + IN + 9, a->n, 3);
	entry_sign(0);
	bar_put(0x18, 1);
	device_drive(flat.hca[0]);
	assert_int_equal(entry(0)[STATUS_OWN], OK);
	assert_int_equal(entry(0)[OUT], PRM_STAT_OK);
	flat_run(LONG);
	assert_memory_equal(flat.mem + from, flat.mem + to, 64);
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, rig_setup, vfio_teardown)
	const struct CMUnitTest tests[] = {
		IB(short_commands_need_no_mailbox),
		IB(answers_fill_a_signed_chain),
		IB(input_is_gathered_from_the_chain),
		IB(signed_blocks_are_checked),
		IB(unsigned_commands_get_unsigned_answers),
		IB(signature_may_be_0_once_software_signs),
		IB(wrong_descriptors_get_a_delivery_status),
		IB(wrong_chains_get_a_delivery_status),
		IB(nothing_is_executed_whose_answer_has_no_room),
		IB(entries_of_software_are_left_alone),
		IB(one_doorbell_may_start_many),
		IB(lost_command_keeps_its_owner),
		IB(each_delayed_command_has_its_own_time),
		IB(queue_that_is_unmapped_or_moved_is_not_touched),
		cmocka_unit_test_setup_teardown(doorbell_before_a_command_counts_before_it,
						pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
