/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pci_test.c - configuration space and its VSC gateway, the initialization segment, interrupts,
 * and three kinds of reset.
 *
 * Covers: softhca/front/pci/pci.c, softhca/front/pci/vsc.c,
 * softhca/front/pci/bar.c, softhca/front/pci/device.c
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "vfio_rig.h"

enum { VECTOR = 5, CMDQ_LOW = 0x14, INITIALIZING = 0x1fc };

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

static void it_is_a_connectx(void **state)
{
	(void)state;
	assert_int_equal(config_get(PCI_VENDOR_ID, 4), 0x101715b3);
	assert_int_equal(config_get(PCI_CLASS_DEVICE, 2), 0x0207);
	assert_true(config_get(PCI_STATUS, 2) & PCI_STATUS_CAP_LIST);
	assert_int_not_equal(find_cap(PCI_CAP_ID_PM), 0);
	assert_int_not_equal(find_cap(PCI_CAP_ID_EXP), 0);
	assert_int_not_equal(find_cap(PCI_CAP_ID_MSIX), 0);
	assert_int_not_equal(find_cap(PCI_CAP_ID_VNDR), 0);
	assert_int_equal(find_cap(PCI_CAP_ID_MSI), 0);
	assert_int_equal(config_get(find_cap(PCI_CAP_ID_MSIX) + PCI_MSIX_FLAGS, 2),
			 PCI_MSIX_VECTORS - 1);
}

static void only_writable_bits_change(void **state)
{
	(void)state;
	config_put(PCI_VENDOR_ID, 4, 0);
	assert_int_equal(config_get(PCI_VENDOR_ID, 4), 0x101715b3);
	config_put(PCI_COMMAND, 2, 0xffff);
	assert_int_equal(config_get(PCI_COMMAND, 2),
			 PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
}

static void memory_and_interrupts_need_a_bus_master_with_power(void **state)
{
	uint32_t power = find_cap(PCI_CAP_ID_PM);
	uint8_t byte;

	(void)state;
	assert_int_equal(dma_table_read(&rig.device.dma, GUEST_BASE, &byte, 1), 0);
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	assert_int_equal(dma_table_read(&rig.device.dma, GUEST_BASE, &byte, 1), EFAULT);
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	assert_int_equal(dma_table_read(&rig.device.dma, GUEST_BASE, &byte, 1), 0);
	config_put(power + PCI_PM_CTRL, 2, 3);
	assert_int_equal(dma_table_read(&rig.device.dma, GUEST_BASE, &byte, 1), EFAULT);
	config_put(power + PCI_PM_CTRL, 2, 0);
	assert_int_equal(dma_table_read(&rig.device.dma, GUEST_BASE, &byte, 1), 0);
}

/* A driver takes this semaphore before it resets the adapter. */
static void gateway_gives_a_semaphore_to_one(void **state)
{
	uint32_t vsc = find_cap(PCI_CAP_ID_VNDR), id;

	(void)state;
	id = config_get(vsc + VSC_COUNTER, 4);
	assert_int_not_equal(id, config_get(vsc + VSC_COUNTER, 4));
	config_put(vsc + VSC_SEMAPHORE, 4, id);
	config_put(vsc + VSC_SEMAPHORE, 4, id + 7);
	assert_int_equal(config_get(vsc + VSC_SEMAPHORE, 4), id);

	config_put(vsc + VSC_CONTROL, 4, 7); /* an unknown space */
	assert_int_equal(config_get(vsc + VSC_CONTROL, 4) >> 29, 0);
	config_put(vsc + VSC_CONTROL, 4, VSC_SPACE_SEMAPHORES);
	assert_int_not_equal(config_get(vsc + VSC_CONTROL, 4) >> 29, 0);

	for (uint32_t other = 0; other < 2; other++) {
		config_put(vsc + VSC_DATA, 4, id + other);
		config_put(vsc + VSC_ADDRESS, 4, VSC_FLAG | VSC_SW_RESET);
		assert_int_equal(config_get(vsc + VSC_ADDRESS, 4), VSC_SW_RESET);
		config_put(vsc + VSC_ADDRESS, 4, VSC_SW_RESET);
		assert_int_equal(config_get(vsc + VSC_ADDRESS, 4), VSC_FLAG | VSC_SW_RESET);
		assert_int_equal(config_get(vsc + VSC_DATA, 4), id);
	}
	config_put(vsc + VSC_SEMAPHORE, 4, 0);
	assert_int_equal(config_get(vsc + VSC_SEMAPHORE, 4), 0);
}

static void segment_says_that_all_is_well(void **state)
{
	(void)state;
	assert_int_equal(bar_get(4) >> 16, 5);           /* command interface revision */
	assert_int_equal(bar_get(CMDQ_LOW), 5 << 4 | 6); /* log sizes; nic interface: full */
	assert_int_equal(bar_get(INITIALIZING) >> 31, 0);
	assert_int_equal(bar_get(0x238), 0);
	assert_int_equal(bar_get(0x23c), 0);
	assert_int_equal(bar_get(0xff8), COMMAND_TIMEOUT_MS);
	assert_int_not_equal(bar_get(0xffc), 0);
}

/* The last pages of the BAR; the test checks that the core learns of each write. */
static void memory_keeps_what_is_written_until_a_reset(void **state)
{
	const uint64_t first = BAR_MEMIC, last = BAR_SIZE - 4;

	(void)state;
	assert_int_equal(bar_get(first), 0);
	bar_put(first, 0x12345678);
	bar_put(last, 0x9abcdef0);
	assert_int_equal(bar_get(first), 0x12345678);
	assert_int_equal(bar_get(last), 0x9abcdef0);
	config_put(find_cap(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR);
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_int_equal(bar_get(first), 0);
}

static void health_counter_advances(void **state)
{
	uint32_t first = bar_get(0x1010);

	(void)state;
	for (unsigned int i = 0; i < 100 && bar_get(0x1010) == first; i++)
		usleep(10000);
	assert_int_not_equal(bar_get(0x1010), first);
}

/* Executes ENABLE_HCA, which succeeds only right after a reset. */
static void hca_enable(enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ENABLE_HCA);
	hca_exec(rig.device.hca, in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(out, CMD_OUT_STATUS), expect);
}

static void hot_adapter_warns_and_goes_on(void **state)
{
	(void)state;
	rig.device.bar.syndrome = BAR_SYNDROME_TEMPERATURE;
	assert_int_equal(bar_get(0x238) >> 24, 1 << 3 | 4); /* no request for a reset */
	assert_int_equal(bar_get(0x23c) >> 16 & 0xff, 0x10);
	hca_enable(PRM_STAT_OK);
}

static void dead_adapter_asks_for_a_reset_and_gets_it(void **state)
{
	(void)state;
	hca_enable(PRM_STAT_OK);
	hca_kill(rig.device.hca);
	assert_true(bar_get(0x238) >> 31);
	assert_int_equal(bar_get(0x23c) >> 16 & 0xff, BAR_SYNDROME_FIRMWARE);
	bar_put(CMDQ_LOW, BAR_NIC_SW_RESET << 8);
	hca_enable(PRM_STAT_OK);
	assert_int_equal(bar_get(0x23c), 0);
	assert_int_equal(bar_get(CMDQ_LOW) >> 8 & 7, BAR_NIC_DISABLED);
	/* configuration space has its old contents */
	assert_true(config_get(PCI_COMMAND, 2) & PCI_COMMAND_MASTER);
	bar_put(CMDQ_LOW, GUEST_BASE);
	assert_int_equal(bar_get(CMDQ_LOW) >> 8 & 7, BAR_NIC_FULL);
	assert_int_equal(bar_get(CMDQ_LOW) & ~0xfffu, GUEST_BASE);
}

static void expect_new(void)
{
	hca_enable(PRM_STAT_OK);
	hca_enable(PRM_STAT_BAD_SYS_STATE_ERR);
	assert_int_equal(bar_get(CMDQ_LOW), 5 << 4 | 6);
	assert_int_equal(config_get(PCI_COMMAND, 2), 0);
}

static void both_resets_of_pci_give_a_new_adapter(void **state)
{
	uint32_t control = find_cap(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;

	(void)state;
	hca_enable(PRM_STAT_OK);
	bar_put(CMDQ_LOW, GUEST_BASE);
	config_put(control, 2, PCI_EXP_DEVCTL_BCR_FLR);
	expect_new();
	bar_put(CMDQ_LOW, GUEST_BASE);
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	assert_int_equal(vfio_send(VFU_DEVICE_RESET, "", 0, -1), 0);
	expect_new();
}

static void client_that_goes_leaves_nothing(void **state)
{
	uint8_t byte;

	(void)state;
	assert_int_equal(device_detach(&rig.device), 0);
	assert_int_equal(rig.device.dma.count, 0);
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	assert_int_equal(dma_table_read(&rig.device.dma, GUEST_BASE, &byte, 1), EFAULT);
}

static int set_irqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count, int fd)
{
	const struct vfu_irq_set set = { sizeof(set), flags, index, start, count };

	return vfio_send(VFU_DEVICE_SET_IRQS, &set, sizeof(set), fd);
}

static bool is_raised(int fd)
{
	eventfd_t count = 0;

	return !eventfd_read(fd, &count);
}

static void vectors_are_given_and_taken_away(void **state)
{
	const uint32_t give = VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD;
	const uint32_t none = VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_NONE;
	int fd = eventfd(0, EFD_NONBLOCK);

	(void)state;
	assert_int_equal(set_irqs(give, VFIO_PCI_MSIX_IRQ_INDEX, VECTOR, 1, dup(fd)), 0);
	assert_int_equal(set_irqs(none, VFIO_PCI_MSIX_IRQ_INDEX, VECTOR, 1, -1), 0);
	assert_true(is_raised(fd));
	config_put(PCI_COMMAND, 2, 0);
	rig.device.config.interrupt(&rig.device, VECTOR);
	assert_false(is_raised(fd));
	config_put(PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	rig.device.config.interrupt(&rig.device, VECTOR);
	assert_true(is_raised(fd));
	rig.device.config.interrupt(&rig.device, VECTOR + 1);
	rig.device.config.interrupt(&rig.device, UINT32_MAX);
	assert_int_equal(set_irqs(give, VFIO_PCI_MSIX_IRQ_INDEX, VECTOR, 1, -1), 0);
	rig.device.config.interrupt(&rig.device, VECTOR);
	assert_false(is_raised(fd));
	assert_int_equal(set_irqs(give, VFIO_PCI_MSIX_IRQ_INDEX, PCI_MSIX_VECTORS - 1, 2, dup(fd)),
			 EINVAL);
	assert_int_equal(set_irqs(give, VFIO_PCI_INTX_IRQ_INDEX, 0, 1, dup(fd)), EINVAL);
	close(fd);
}

/* A full eventfd or pipe must not block the device, as all its guests would stand still. */
static void an_interrupt_never_blocks(void **state)
{
	const uint32_t give = VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD;
	int fd = eventfd(0, 0);

	(void)state;
	assert_int_equal(eventfd_write(fd, UINT64_MAX - 1), 0);
	assert_int_equal(set_irqs(give, VFIO_PCI_MSIX_IRQ_INDEX, VECTOR, 1, fd), 0);
	rig.device.config.interrupt(&rig.device, VECTOR);
}

static void messages_that_are_wrong_are_refused(void **state)
{
	struct vfu_region_access access = { 0, VFIO_PCI_CONFIG_REGION_INDEX, 8 };
	struct vfu_version version = { .major = 1 };

	(void)state;
	assert_int_equal(vfio_send(VFU_VERSION, &version, sizeof(version), -1), EINVAL);
	assert_int_equal(vfio_send(VFU_VERSION, &version, 2, -1), EINVAL);
	assert_int_equal(vfio_send(6, "", 0, -1), EOPNOTSUPP);
	assert_int_equal(vfio_send(1000, "", 0, -1), EOPNOTSUPP);
	assert_int_equal(vfio_send(VFU_REGION_READ, &access, sizeof(access) - 1, -1), EINVAL);
	/* the message ends before the data */
	assert_int_equal(vfio_send(VFU_REGION_WRITE, &access, sizeof(access), -1), EINVAL);
	access.offset = PCI_CONFIG_SIZE - 4;
	assert_int_equal(vfio_send(VFU_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access.offset = UINT64_MAX - 3;
	assert_int_equal(vfio_send(VFU_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access = (struct vfu_region_access){ 0, VFIO_PCI_BAR0_REGION_INDEX, VFU_MAX_TRANSFER + 1 };
	assert_int_equal(vfio_send(VFU_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access = (struct vfu_region_access){ 0, VFIO_PCI_ROM_REGION_INDEX, 1 };
	assert_int_equal(vfio_send(VFU_REGION_READ, &access, sizeof(access), -1), EINVAL);
	access = (struct vfu_region_access){ 0, VFIO_PCI_NUM_REGIONS, 1 };
	assert_int_equal(vfio_send(VFU_REGION_READ, &access, sizeof(access), -1), EINVAL);
	assert_int_equal(vfio_map(0, 4096, VFU_DMA_READ_OK, eventfd(0, 0), 0), EINVAL);
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, vfio_setup, vfio_teardown)
	const struct CMUnitTest tests[] = {
		IB(it_is_a_connectx),
		IB(only_writable_bits_change),
		IB(memory_and_interrupts_need_a_bus_master_with_power),
		IB(gateway_gives_a_semaphore_to_one),
		IB(segment_says_that_all_is_well),
		IB(memory_keeps_what_is_written_until_a_reset),
		IB(health_counter_advances),
		IB(hot_adapter_warns_and_goes_on),
		IB(dead_adapter_asks_for_a_reset_and_gets_it),
		IB(both_resets_of_pci_give_a_new_adapter),
		IB(client_that_goes_leaves_nothing),
		IB(vectors_are_given_and_taken_away),
		IB(an_interrupt_never_blocks),
		IB(messages_that_are_wrong_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
