/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer_test.c - messages that describe the PCI device to the client: version, device, regions,
 * interrupts, memory. Each is answered whole, and refused if it is cut or names what is not there.
 *
 * Covers: softhca/front/vfio-user/answer.c, softhca/front/pci/device.c, softhca/front/eventfd.c
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "vfio_rig.h"

/* Copies the reply to a message, which must have LEN bytes. */
static void reply_copy(void *part, size_t len)
{
	assert_int_equal(rig.message.reply_len, len);
	memcpy(part, rig.reply, len);
}

/* A message of one byte less is refused, as is an empty one. */
static void message_cut(enum vfu_command command, const void *part, size_t len)
{
	assert_int_equal(vfio_send(command, part, len - 1, -1), EINVAL);
	assert_int_equal(vfio_send(command, part, 0, -1), EINVAL);
	assert_int_equal(rig.message.reply_len, 0);
}

static void the_version_is_0_with_limits(void **state)
{
	struct vfu_version version = { .minor = 7 };
	const char *json = (const char *)rig.reply + sizeof(version);

	(void)state;
	assert_int_equal(vfio_send(VFU_VERSION, &version, sizeof(version), -1), 0);
	memcpy(&version, rig.reply, sizeof(version));
	assert_true(version.major == 0 && version.minor == 0);
	assert_string_equal(
		json, "{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":1048576}}");
	assert_int_equal(rig.message.reply_len, sizeof(version) + strlen(json) + 1);
	message_cut(VFU_VERSION, &version, sizeof(version));
}

static void the_device_can_be_reset(void **state)
{
	struct vfu_device_info info;

	(void)state;
	assert_int_equal(vfio_send(VFU_DEVICE_GET_INFO, "", 0, -1), 0);
	reply_copy(&info, sizeof(info));
	assert_int_equal(info.argsz, sizeof(info));
	assert_int_equal(info.flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	assert_int_equal(info.num_regions, VFIO_PCI_NUM_REGIONS);
	assert_int_equal(info.num_irqs, VFIO_PCI_NUM_IRQS);
}

/* Returns the size of a region, which must be readable and writable if it has one. */
static uint64_t region(uint32_t index)
{
	struct vfu_region_info info = { .index = index, .cap_offset = 1, .offset = 1 };

	assert_int_equal(vfio_send(VFU_DEVICE_GET_REGION_INFO, &info, sizeof(info), -1), 0);
	reply_copy(&info, sizeof(info));
	assert_int_equal(info.argsz, sizeof(info));
	assert_int_equal(info.index, index);
	assert_int_equal(info.flags,
			 info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0);
	assert_true(info.cap_offset == 0 && info.offset == 0);
	return info.size;
}

static void regions_are_the_bars_and_the_configuration(void **state)
{
	const struct vfu_region_info beyond = { .index = VFIO_PCI_NUM_REGIONS };

	(void)state;
	for (uint32_t i = 0; i < VFIO_PCI_NUM_REGIONS; i++)
		assert_true(region(i) ==
			    (i == VFIO_PCI_CONFIG_REGION_INDEX
				     ? PCI_CONFIG_SIZE
				     : (i < PCI_BARS ? rig.device.model->bar_size[i] : 0)));
	assert_true(region(VFIO_PCI_BAR0_REGION_INDEX) >= 1 << 20);
	assert_int_equal(vfio_send(VFU_DEVICE_GET_REGION_INFO, &beyond, sizeof(beyond), -1),
			 EINVAL);
	assert_int_equal(rig.message.reply_len, 0);
	message_cut(VFU_DEVICE_GET_REGION_INFO, &(struct vfu_region_info){ 0 },
		    sizeof(struct vfu_region_info));
}

static void the_only_interrupts_are_msix(void **state)
{
	struct vfu_irq_info info;

	(void)state;
	for (uint32_t i = 0; i < VFIO_PCI_NUM_IRQS; i++) {
		info = (struct vfu_irq_info){ .index = i };
		assert_int_equal(vfio_send(VFU_DEVICE_GET_IRQ_INFO, &info, sizeof(info), -1), 0);
		reply_copy(&info, sizeof(info));
		assert_int_equal(info.argsz, sizeof(info));
		assert_int_equal(info.index, i);
		assert_int_equal(info.count, i == VFIO_PCI_MSIX_IRQ_INDEX ? PCI_MSIX_VECTORS : 0);
		assert_int_equal(info.flags, info.count ? VFIO_IRQ_INFO_EVENTFD : 0);
	}
	info.index = VFIO_PCI_NUM_IRQS;
	assert_int_equal(vfio_send(VFU_DEVICE_GET_IRQ_INFO, &info, sizeof(info), -1), EINVAL);
	info.index = 0;
	message_cut(VFU_DEVICE_GET_IRQ_INFO, &info, sizeof(info));
}

static int irqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count, int fd)
{
	const struct vfu_irq_set set = {
		.argsz = sizeof(set), .flags = flags, .index = index, .start = start, .count = count
	};

	return vfio_send(VFU_DEVICE_SET_IRQS, &set, sizeof(set), fd);
}

enum {
	MSIX = VFIO_PCI_MSIX_IRQ_INDEX,
	TRIGGER = VFIO_IRQ_SET_ACTION_TRIGGER,
	BY_FD = TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
	BY_NOTHING = TRIGGER | VFIO_IRQ_SET_DATA_NONE,
};

static void vectors_are_set_within_their_number(void **state)
{
	const struct vfu_irq_set set = { .flags = BY_FD, .index = MSIX };

	(void)state;
	assert_int_equal(irqs(VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE, MSIX, 0, 1, -1),
			 EOPNOTSUPP);
	assert_int_equal(irqs(TRIGGER | VFIO_IRQ_SET_DATA_BOOL, MSIX, 0, 1, -1), EOPNOTSUPP);
	assert_int_equal(irqs(BY_FD, VFIO_PCI_INTX_IRQ_INDEX, 0, 1, -1), EINVAL);
	assert_int_equal(irqs(BY_FD, VFIO_PCI_INTX_IRQ_INDEX, 0, 0, -1), 0);
	assert_int_equal(irqs(BY_FD, MSIX, PCI_MSIX_VECTORS, 0, -1), 0);
	assert_int_equal(irqs(BY_FD, MSIX, PCI_MSIX_VECTORS + 1, 0, -1), EINVAL);
	assert_int_equal(irqs(BY_FD, MSIX, PCI_MSIX_VECTORS, 1, -1), EINVAL);
	assert_int_equal(irqs(BY_FD, MSIX, 1, UINT32_MAX, -1), EINVAL);
	assert_int_equal(irqs(BY_FD, MSIX, 0, PCI_MSIX_VECTORS, -1), 0);
	message_cut(VFU_DEVICE_SET_IRQS, &set, sizeof(set));
}

/* A write to others can block. */
static void only_eventfds_are_set(void **state)
{
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(irqs(BY_FD, MSIX, 1, 1, pipes[1]), EINVAL);
	assert_int_equal(rig.device.vector_fd[1], -1);
	close(pipes[0]);
}

/* A message whose second descriptor is wrong leaves the first vector as it was. */
static void vectors_are_set_together_or_not_at_all(void **state)
{
	const struct vfu_irq_set set = {
		.argsz = sizeof(set), .flags = BY_FD, .index = MSIX, .start = 0, .count = 2
	};
	int pipes[2], fds[2] = { eventfd(0, EFD_NONBLOCK) };
	struct message message = {
		.command = VFU_DEVICE_SET_IRQS,
		.body = rig.body,
		.len = sizeof(set),
		.fd = fds,
		.num_fds = 2,
		.reply = rig.reply,
	};

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	fds[1] = pipes[1];
	memcpy(rig.body, &set, sizeof(set));
	assert_int_equal(message_answer(&rig.device, &message), EINVAL);
	assert_int_equal(rig.device.vector_fd[0], -1);
	assert_true(fds[0] >= 0); /* still the message's */
	close(fds[0]);
	close(pipes[0]);
	close(pipes[1]);
}

/* Sets an eventfd for the last vector, triggers, and removes it. */
static void a_vector_is_raised_by_hand_and_removed(void **state)
{
	const uint32_t last = PCI_MSIX_VECTORS - 1;
	int fd = eventfd(0, EFD_NONBLOCK), copy = dup(fd);
	eventfd_t count;

	(void)state;
	assert_true(fd >= 0 && copy >= 0);
	assert_int_equal(irqs(BY_FD, MSIX, last, 1, fd), 0);
	assert_int_equal(rig.device.vector_fd[last], fd);
	assert_int_equal(eventfd_read(copy, &count), -1);
	assert_int_equal(irqs(BY_NOTHING, MSIX, last, 1, -1), 0);
	assert_int_equal(eventfd_read(copy, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(irqs(BY_NOTHING, MSIX, 0, last, -1), 0); /* the others */
	assert_int_equal(eventfd_read(copy, &count), -1);
	assert_int_equal(irqs(BY_NOTHING, MSIX, 0, 0, -1), 0); /* removes all */
	assert_int_equal(rig.device.vector_fd[last], -1);
	close(copy);
}

static void memory_is_unmapped_by_range_or_at_once(void **state)
{
	struct vfu_dma_unmap unmap = { .argsz = sizeof(unmap),
				       .addr = GUEST_BASE,
				       .size = GUEST_MEM };

	(void)state;
	message_cut(VFU_DMA_UNMAP, &unmap, sizeof(unmap));
	message_cut(VFU_DMA_MAP, &(struct vfu_dma_map){ 0 }, sizeof(struct vfu_dma_map));
	assert_int_equal(vfio_send(VFU_DMA_UNMAP, &unmap, sizeof(unmap), -1), 0);
	assert_int_equal(rig.message.reply_len, sizeof(unmap));
	assert_memory_equal(rig.reply, &unmap, sizeof(unmap));
	assert_int_not_equal(vfio_send(VFU_DMA_UNMAP, &unmap, sizeof(unmap), -1), 0);
	assert_int_equal(vfio_map(GUEST_BASE, GUEST_MEM, VFU_DMA_READ_OK, rig.fd, 0), 0);
	assert_int_not_equal(vfio_map(GUEST_BASE, GUEST_MEM, VFU_DMA_READ_OK, rig.fd, 0), 0);
	unmap = (struct vfu_dma_unmap){ .argsz = sizeof(unmap), .flags = VFU_UNMAP_ALL };
	assert_int_equal(vfio_send(VFU_DMA_UNMAP, &unmap, sizeof(unmap), -1), 0);
	assert_int_equal(vfio_map(GUEST_BASE, GUEST_MEM, VFU_DMA_READ_OK, rig.fd, 0), 0);
}

static int access_at(enum vfu_command command, uint32_t index, uint64_t offset, uint32_t count)
{
	struct {
		struct vfu_region_access access;
		uint8_t data[8];
	} body = { .access = { offset, index, count } };

	return vfio_send(command, &body, sizeof(body), -1);
}

static void accesses_end_where_their_region_does(void **state)
{
	const uint64_t bar = region(VFIO_PCI_BAR0_REGION_INDEX);

	(void)state;
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_BAR0_REGION_INDEX, bar - 8, 8), 0);
	assert_int_equal(rig.message.reply_len, sizeof(struct vfu_region_access) + 8);
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_BAR0_REGION_INDEX, bar - 4, 8),
			 EINVAL);
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_BAR0_REGION_INDEX, bar, 0), 0);
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_BAR0_REGION_INDEX, bar + 4, 0),
			 EINVAL);
	assert_int_equal(
		access_at(VFU_REGION_READ, VFIO_PCI_CONFIG_REGION_INDEX, PCI_CONFIG_SIZE - 4, 4),
		0);
	assert_int_equal(
		access_at(VFU_REGION_READ, VFIO_PCI_CONFIG_REGION_INDEX, PCI_CONFIG_SIZE - 4, 8),
		EINVAL);
	assert_int_equal(access_at(VFU_REGION_WRITE, VFIO_PCI_BAR0_REGION_INDEX, bar - 4, 8),
			 EINVAL);
	assert_int_equal(access_at(VFU_REGION_WRITE, VFIO_PCI_BAR0_REGION_INDEX, 0, 9),
			 EINVAL); /* cut */
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_NUM_REGIONS, 0, 0), EINVAL);
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_ROM_REGION_INDEX, 0, 4), EINVAL);
}

/* Without memory for an adapter, only a reset helps, as it tries again. */
static void a_device_without_an_adapter_takes_only_a_reset(void **state)
{
	struct hca *hca = rig.device.hca;

	(void)state;
	rig.device.hca = NULL;
	assert_int_equal(vfio_send(VFU_DEVICE_GET_INFO, "", 0, -1), ENODEV);
	assert_int_equal(access_at(VFU_REGION_READ, VFIO_PCI_BAR0_REGION_INDEX, 0, 4), ENODEV);
	assert_true(device_progress(&rig.device, 0) == HCA_IDLE);
	rig.device.hca = hca;
	assert_int_equal(vfio_send(VFU_DEVICE_RESET, "", 0, -1), 0);
	assert_int_equal(vfio_send(VFU_DEVICE_GET_INFO, "", 0, -1), 0);
}

/* The next client finds neither memory nor vectors of the last one, as these are another
 * program's. */
static void a_client_that_leaves_takes_all_along(void **state)
{
	int fd = eventfd(0, EFD_NONBLOCK);

	(void)state;
	assert_int_equal(irqs(BY_FD, MSIX, 1, 1, fd), 0);
	assert_int_equal(config_get(0x4, 2) & 6, 6);
	assert_int_equal(device_detach(&rig.device), 0);
	assert_int_equal(rig.device.vector_fd[1], -1);
	assert_int_equal(close(fd), -1);
	assert_int_equal(config_get(0x4, 2) & 6, 0);
	assert_false(rig.device.dma.enabled);
	assert_int_equal(vfio_map(GUEST_BASE, GUEST_MEM, VFU_DMA_READ_OK, rig.fd, 0), 0);
}

int main(void)
{
#define BOTH(name)                                                        \
	cmocka_unit_test_setup_teardown(name, vfio_setup, vfio_teardown), \
		cmocka_unit_test_setup_teardown(name, vfio_setup_mlx4, vfio_teardown)
	const struct CMUnitTest tests[] = {
		BOTH(the_version_is_0_with_limits),
		BOTH(the_device_can_be_reset),
		BOTH(regions_are_the_bars_and_the_configuration),
		BOTH(the_only_interrupts_are_msix),
		BOTH(vectors_are_set_within_their_number),
		BOTH(only_eventfds_are_set),
		BOTH(vectors_are_set_together_or_not_at_all),
		BOTH(a_vector_is_raised_by_hand_and_removed),
		BOTH(memory_is_unmapped_by_range_or_at_once),
		BOTH(accesses_end_where_their_region_does),
		BOTH(a_device_without_an_adapter_takes_only_a_reset),
		BOTH(a_client_that_leaves_takes_all_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
