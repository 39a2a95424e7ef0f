/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registers_test.c - the PCI device of an mlx4 adapter as a driver sets it up: registers, commands
 * through the HCR, memory for tables, and events.
 *
 * Covers: softhca/front/pci/mlx4/, softhca/device/format/mlx4/cmd/cmd.c,
 * softhca/device/format/mlx4/cmd/args.c,
 * softhca/device/format/mlx4/caps.c, softhca/device/format/mlx4/icm.c,
 * softhca/device/format/mlx4/cmd/eq.c, softhca/device/format/mlx4/eqe.c,
 * softhca/device/format/mlx4/driver.c
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "softhca/device/core.h"
#include "vfio_mlx4_rig.h"

static uint32_t find_cap(uint8_t id)
{
	uint32_t at = config_get(PCI_CAPABILITY_LIST, 1);
	unsigned int steps = 0;

	while (at && config_get(at, 1) != id) {
		assert_in_range(++steps, 0, 48);
		at = config_get(at + 1, 1);
	}
	return at;
}

static uint64_t region_bytes(uint32_t index)
{
	struct vfu_region_info info = { .argsz = sizeof(info), .index = index };

	assert_int_equal(vfio_send(VFU_DEVICE_GET_REGION_INFO, &info, sizeof(info), -1), 0);
	memcpy(&info, rig.reply, sizeof(info));
	return info.size;
}

static void it_is_a_connectx_3(void **state)
{
	uint32_t msix = find_cap(PCI_CAP_ID_MSIX);

	(void)state;
	assert_int_equal(config_get(PCI_VENDOR_ID, 4), 0x100315b3);
	assert_int_equal(config_get(PCI_BASE_ADDRESS_0, 4), 0x4);
	assert_int_equal(config_get(PCI_BASE_ADDRESS_2, 4), 0xc);
	assert_int_equal(region_bytes(0), 1 << 20);
	assert_int_equal(region_bytes(1), 0);
	assert_int_equal(region_bytes(2), 16 << 20);
	assert_int_not_equal(msix, 0);
	assert_int_equal(config_get(msix + 4, 4), 0x7c000);
	assert_int_equal(find_cap(PCI_CAP_ID_VNDR), 0);
}

static void one_driver_has_it(void **state)
{
	(void)state;
	assert_int_equal(bar_get(OWNER), 0);
	assert_int_not_equal(bar_get(OWNER), 0);
	bar_put(OWNER, 0);
	assert_int_equal(bar_get(OWNER), 0);
	assert_int_equal(bar_get(SEMAPHORE), 0);
	assert_int_not_equal(bar_get(SEMAPHORE), 0);
}

static void a_register_resets_it(void **state)
{
	(void)state;
	assert_int_equal(bar_get(OWNER), 0);
	assert_int_equal(bar_get(SEMAPHORE), 0);
	run_firmware();
	bar_put(RESET, 2);
	assert_int_equal(command(QUERY_DEV_CAP, 0, 0, 0), OK);
	bar_put(RESET, 1);
	assert_int_equal(bar_get(STATUS), 0);
	assert_int_equal(bar_get(SEMAPHORE), 0);
	assert_int_not_equal(bar_get(OWNER), 0); /* the device is still owned */
	assert_int_equal(command(QUERY_DEV_CAP, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(command(QUERY_FW, 0, 0, 0), OK);
}

static void death_is_in_the_error_buffer(void **state)
{
	(void)state;
	set_up();
	assert_int_equal(bar_get(ERRORS), 0);
	hca_kill(rig.device.hca);
	assert_int_not_equal(bar_get(ERRORS), 0);
	assert_int_equal(command(NOP, 0, 0, 0), 1);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
	bar_put(RESET, 1);
	assert_int_equal(bar_get(ERRORS), 0);
}

static void a_lost_command_stays(void **state)
{
	(void)state;
	fault_add(rig.fault, "cmd-timeout:1", 0);
	command_start(QUERY_FW, 0, 0, 0, 0);
	vfio_run();
	assert_true(bar_get(STATUS) & GO);
}

static void commands_wait_for_their_turn(void **state)
{
	(void)state;
	assert_int_equal(command(QUERY_FW, 0, 0, 0), OK);
	assert_int_equal(get32(guest(OUT)), 2 << 16 | 2); /* number of pages, major */
	assert_int_equal(get32(guest(OUT + 8)) & 0xffff, 3);
	assert_int_equal(command(RUN_FW, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(command(NOP, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(map(MAP_FA, 0, FIRMWARE, 0), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), BAD_SYS_STATE); /* one page is too little */
	assert_int_equal(map(MAP_FA, 0, FIRMWARE + 0x1000, 0), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), OK);
	assert_int_equal(command(RUN_FW, 0, 0, 0), BAD_SYS_STATE);
	assert_int_equal(command(NOP, 0, 0, 0), OK);
	assert_int_equal(mailbox(SW2HW_EQ, EQN, 0), BAD_SYS_STATE);
	assert_int_equal(command(UNMAP_FA, 0, 0, 0), OK);
	assert_int_equal(command(NOP, 0, 0, 0), BAD_SYS_STATE);
}

static void unknown_commands_are_refused(void **state)
{
	static const uint16_t unknown[] = { 0,    1,     2,     5,     0x10,  0x2a, 0x2e, 0x39,
					    0x3a, 0x47,  0x48,  0x52,  0x5a,  0x61, 0x65, 0x68,
					    0x80, 0x203, 0xf00, 0xf0a, 0xff7, 0xff8 };

	(void)state;
	set_up();
	for (unsigned int i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(command(unknown[i], IN, 0, 0), BAD_OP);
}

static void memory_for_tables_is_watched(void **state)
{
	(void)state;
	run_firmware();
	/* refused, as there are no auxiliary pages yet */
	assert_int_equal(map(MAP_ICM, 0, MTTS, 0), ICM_ERROR);
	assert_int_equal(command(SET_ICM_SIZE, 123, 0, 0), BAD_PARAM);
	give_memory();
	assert_int_equal(map(MAP_ICM, ICM_MTT, SRQ, 0), BAD_RES_STATE);
	assert_int_equal(map(MAP_ICM, 0x123, SRQ, 0), BAD_PARAM);
	/* refused, as 0x3000 is no multiple of two pages */
	assert_int_equal(map(MAP_ICM, 0x40000, 0x3000, 1), BAD_PARAM);
	assert_int_equal(mailbox(MAP_ICM, 0, 0), BAD_PARAM);
	assert_int_equal(map(MAP_ICM, 0x40000, 0x4000, 1), OK);
	assert_int_equal(command(UNMAP_ICM, 0x40000, 1, 0), BAD_PARAM);
	assert_int_equal(command(UNMAP_ICM, 0x40000, 64, 0), OK);
	assert_int_equal(map(MAP_ICM, 0x40000, 0x4000, 1), OK);
	assert_int_equal(command(UNMAP_FA, 0, 0, 0), BAD_SYS_STATE);
}

/* The driver keeps the pages of a refused mailbox. */
static void a_refused_mailbox_maps_nothing(void **state)
{
	static const uint64_t last[] = { 0x40000, 1ull << 40 };

	(void)state;
	run_firmware();
	give_memory();
	for (unsigned int i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		put64(in(0), 0x40000);
		put64(in(8), SRQ);
		put64(in(16), 0x41000);
		put64(in(24), DATA);
		put64(in(32), last[i]);
		put64(in(40), SRQ);
		assert_int_not_equal(mailbox(MAP_ICM, 3, 0), OK);
		assert_int_equal(map(MAP_ICM, 0x41000, DATA, 0), OK);
		assert_int_equal(map(MAP_ICM, 0x40000, SRQ, 0), OK);
		assert_int_equal(command(UNMAP_ICM, 0x40000, 2, 0), OK);
	}
	/* refused, as the pages are still mapped */
	assert_int_equal(map(MAP_ICM, ICM_MTT, MTTS, 0), BAD_RES_STATE);
}

static void initialization_is_checked(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} wrong[] = { { 0, 1 },     { 0x17, 2 },  { 0x17, 0x40 }, { 0x58, 0x20 }, { 0x5b, 0x11 },
		      { 0x37, 20 }, { 0x4f, 17 }, { 0x57, 18 },   { 0x87, 8 },    { 0xfb, 21 },
		      { 0xdb, 14 }, { 0xd3, 13 }, { 0xd3, 5 },    { 0xd7, 7 },    { 0x12b, 1 } };

	(void)state;
	run_firmware();
	give_memory();
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		init_fill();
		in(wrong[i].at)[0] = wrong[i].value;
		assert_int_equal(mailbox(INIT_HCA, 0, 0), BAD_PARAM);
	}
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	init_fill();
	assert_int_equal(mailbox(INIT_HCA, 0, 0), BAD_SYS_STATE);
}

static int open_vector(uint32_t vector)
{
	const struct vfu_irq_set set = {
		.argsz = sizeof(set),
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX,
		.start = vector,
		.count = 1,
	};
	int fd = eventfd(0, EFD_NONBLOCK);

	assert_int_equal(vfio_send(VFU_DEVICE_SET_IRQS, &set, sizeof(set), dup(fd)), 0);
	return fd;
}

static uint64_t interrupts(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static void a_command_ends_with_an_event(void **state)
{
	int fd = open_vector(VECTOR);

	(void)state;
	set_up();
	fill_eq();
	assert_int_equal(mailbox(SW2HW_EQ, EQN, 0), OK);
	for (unsigned int i = 0; i < 1 << LOG_EQ; i++)
		assert_int_equal(guest(EQ)[i * 32 + 31], 0x80);
	command_start(NOP, 0, 0x1f, 0, BY_EVENT);
	vfio_run();
	/* no EQ is mapped to these events, so no interrupt comes */
	assert_int_equal(interrupts(fd), 0);
	assert_int_equal(command(MAP_EQ, 1 << 0xa, EQN, 0), OK);
	command_start(NOP, 0, 0x1f, 0, BY_EVENT);
	vfio_run();
	assert_int_equal(interrupts(fd), 1);
	assert_int_equal(guest(EQ)[1], 0xa);
	assert_int_equal(get32(guest(EQ + 4)), TOKEN);
	assert_int_equal(guest(EQ)[31], 0);
	command_start(0x5a, 0, 0, 0, BY_EVENT);
	vfio_run();
	assert_int_equal(interrupts(fd), 0); /* none, as the EQ is not armed */
	assert_int_equal(get32(guest(EQ + 32 + 0xc)), BAD_OP);
	doorbell32(EQN / 4 * 0x1000 + 0x800, 1u << 31 | 1);
	assert_int_equal(interrupts(fd), 1); /* at once, as there is an unread EQE */
	doorbell32(EQN / 4 * 0x1000 + 0x800, 1u << 31 | 2);
	assert_int_equal(interrupts(fd), 0);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), OK);
	assert_int_equal(command(HW2SW_EQ, 0, EQN, 1), BAD_RESOURCE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_a_connectx_3),
		TEST(one_driver_has_it),
		TEST(a_register_resets_it),
		TEST(death_is_in_the_error_buffer),
		TEST(a_lost_command_stays),
		TEST(commands_wait_for_their_turn),
		TEST(unknown_commands_are_refused),
		TEST(memory_for_tables_is_watched),
		TEST(a_refused_mailbox_maps_nothing),
		TEST(initialization_is_checked),
		TEST(a_command_ends_with_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
