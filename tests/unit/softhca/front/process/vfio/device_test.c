/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - requests to the file of a VFIO device: what it tells, which interrupts can be
 * set, reads and writes of its regions, faults while a program has it, and which calls take its
 * lock.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/vfio/device.c"

enum { ADDR = 0x1000, DATA = 0x2000, MEMORY = 8192, REFUSED = EDOM, BAR_BYTES = 0x10000 };
enum { NOW = 1000, NEVER_SET = -7, EVENTFD = 60, PIPE = 61, CLOSED = 62 };
enum { OWNER_PID = 4321 };

static struct {
	uint8_t memory[MEMORY]; /* at ADDR */
	uint8_t data[MEMORY];   /* at DATA */
	uint64_t unreadable, unwritable;
	size_t written;
	int64_t returned;
	int failed;
	/* of the device, and whether its lock was held in each call */
	int vectors[PCI_MSIX_VECTORS];
	unsigned int raised[PCI_MSIX_VECTORS];
	unsigned int resets, reads, writes, shows, learns, opens, closes, kicks, scans;
	unsigned int signals, unplugs, deaths, kills;
	int signalled; /* eventfd of the last signal */
	int reset_error, write_error, open_error, file_error, init_error;
	uint32_t region, len;
	uint64_t offset;
	bool is_pending, finds;
	uint64_t next; /* what device_progress() returns */
	uint64_t progress_now;
	unsigned int settles, keeps, puts, holds, releases, frees;
	const struct vfio_file_kind *kind;
	bool cloexec;
	int memfd;
	struct hca_config config;
	uint32_t timeout;
} it;

static struct seccomp_notif notif;
static struct call call = { .notif = &notif };
static struct client owner = { .pid = OWNER_PID };
static struct vfio_file file = { .client = &owner };
static struct fabric *const fabric = (struct fabric *)&it;

/* Checks that the lock of the device is held, or that it is not. */
static void check_lock(bool held)
{
	const int ret = pthread_mutex_trylock(&the_device->lock);

	if (!ret)
		pthread_mutex_unlock(&the_device->lock);
	assert_int_equal(ret, held ? EBUSY : 0);
}

int caller_read(const struct call *of, uint64_t addr, void *buf, size_t len)
{
	const uint8_t *from = addr < DATA ? it.memory + (addr - ADDR) : it.data + (addr - DATA);

	assert_ptr_equal(of, &call);
	check_lock(false);
	memcpy(buf, from, len);
	return addr == it.unreadable ? EFAULT : 0;
}

int caller_write(const struct call *of, uint64_t addr, const void *buf, size_t len)
{
	assert_ptr_equal(of, &call);
	check_lock(false);
	if (addr == it.unwritable)
		return EFAULT;
	memcpy(addr < DATA ? it.memory + (addr - ADDR) : it.data + (addr - DATA), buf, len);
	it.written = len;
	return 0;
}

int caller_fd_copy(const struct call *of, int fd)
{
	assert_ptr_equal(of, &call);
	check_lock(false);
	assert_true(fd >= 0);
	return fd == CLOSED ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 100);
}

bool eventfd_is(int fd)
{
	return lseek(fd, 0, SEEK_CUR) >= 0; /* here, a file stands for an eventfd */
}

void eventfd_signal(int fd)
{
	check_lock(true);
	it.signals++;
	it.signalled = fd;
}

void call_return(struct call *of, int64_t value)
{
	assert_ptr_equal(of, &call);
	it.returned = value;
}

void call_fail(struct call *of, int error)
{
	assert_ptr_equal(of, &call);
	check_lock(false);
	it.failed = error;
}

uint64_t device_region_size(const struct device *device, uint32_t index)
{
	assert_ptr_equal(device, &the_device->device);
	return index == VFIO_PCI_BAR0_REGION_INDEX     ? BAR_BYTES
	       : index == VFIO_PCI_CONFIG_REGION_INDEX ? PCI_CONFIG_SIZE
						       : 0;
}

void device_set_vector(struct device *device, uint32_t vector, int fd)
{
	assert_ptr_equal(device, &the_device->device);
	assert_in_range(vector, 0, PCI_MSIX_VECTORS - 1);
	check_lock(true);
	if (it.vectors[vector] >= 0)
		close(it.vectors[vector]);
	it.vectors[vector] = fd;
}

void device_interrupt(struct device *device, uint32_t vector)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	it.raised[vector]++;
}

int device_reset(struct device *device)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	it.resets++;
	if (!it.reset_error)
		device->unplugged = false;
	return it.reset_error;
}

void device_unplug(struct device *device)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	it.unplugs++;
	device->unplugged = true;
}

void hca_kill(struct hca *hca)
{
	assert_ptr_equal(hca, &it);
	check_lock(true);
	it.deaths++;
}

int kill(pid_t pid, int number)
{
	assert_int_equal(pid, OWNER_PID);
	assert_int_equal(number, SIGKILL);
	check_lock(true);
	it.kills++;
	return 0;
}

void device_read(struct device *device, uint32_t region, uint64_t offset, uint8_t *data,
		 uint32_t len)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	it.reads++;
	it.region = region;
	it.offset = offset;
	it.len = len;
	memset(data, 0xda, len);
}

int device_write(struct device *device, uint32_t region, uint64_t offset, const uint8_t *data,
		 uint32_t len)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	it.writes++;
	it.region = region;
	it.offset = offset;
	it.len = len;
	assert_memory_equal(data, it.data, len);
	return it.write_error;
}

uint64_t device_progress(struct device *device, uint64_t now_ns)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	it.progress_now = now_ns;
	return it.next;
}

static bool is_pending(const struct device *device)
{
	assert_ptr_equal(device, &the_device->device);
	return it.is_pending;
}

static const struct model model = { .is_pending = is_pending };

int device_init(struct device *device, const struct hca_config *config, uint32_t timeout_ms)
{
	device->model = &model;
	it.config = *config;
	it.timeout = timeout_ms;
	return it.init_error;
}

void device_free(struct device *device)
{
	assert_non_null(device);
	it.frees++;
}

int window_open(struct window *window, struct device *device)
{
	assert_ptr_equal(device, &the_device->device);
	check_lock(true);
	if (it.open_error)
		return it.open_error;
	it.opens++;
	window->pages = it.data;
	window->memfd = 55;
	return 0;
}

void window_close(struct window *window)
{
	check_lock(true);
	window->pages = NULL;
	it.closes++;
}

bool window_scan(struct window *window, struct device *device)
{
	assert_ptr_equal(window, &the_device->window);
	assert_ptr_equal(device, &the_device->device);
	assert_non_null(window->pages);
	check_lock(true);
	it.scans++;
	return it.finds;
}

void window_show(struct window *window, struct device *device)
{
	assert_ptr_equal(device, &the_device->device);
	assert_non_null(window->pages);
	check_lock(true);
	it.shows++;
}

void window_learn_uars(struct window *window, struct device *device)
{
	assert_ptr_equal(device, &the_device->device);
	assert_non_null(window->pages);
	check_lock(true);
	it.learns++;
}

int vfio_file_open(struct call *of, const struct vfio_file_kind *kind, int memfd, void *object,
		   bool cloexec)
{
	assert_ptr_equal(of, &call);
	assert_ptr_equal(object, the_device);
	check_lock(false);
	it.kind = kind;
	it.memfd = memfd;
	it.cloexec = cloexec;
	return it.file_error;
}

struct vfio_file *vfio_file_newest(void)
{
	assert_ptr_equal(it.kind, &file_kind);
	check_lock(true);
	return &file;
}

void vfio_files_settle(void)
{
	check_lock(false);
	it.settles++;
}

void vfio_group_keep(void)
{
	it.keeps++;
}

void vfio_group_put(void)
{
	it.puts++;
}

void engine_hold(void)
{
	check_lock(false);
	it.holds++;
}

void engine_release(void)
{
	check_lock(false);
	it.releases++;
}

void engine_kick(void)
{
	check_lock(false);
	it.kicks++;
}

uint64_t engine_now(void)
{
	return NOW + 5;
}

unsigned int fabric_host_number(const struct fabric *of)
{
	assert_ptr_equal(of, fabric);
	return 6;
}

const struct identity *identity_of(enum hca_kind kind, enum hca_link_layer link_layer,
				   enum hca_steering steering)
{
	static const struct identity identity = { .core_driver = "mlx5_core", .subsystem_id = 9 };

	assert_int_equal(kind, HCA_MLX5);
	assert_int_equal(link_layer, HCA_LINK_ETHERNET);
	assert_int_equal(steering, HCA_STEERING_NONE);
	return &identity;
}

static struct {
	const void *remote;
	const struct dma_remote_ops *ops;
	uint64_t iova, size, addr;
	int prot;
	unsigned int clears;
	struct hca_bus_seg seg;
	bool is_write;
	unsigned int puts;
} dma;

int dma_table_map_remote(struct dma_table *table, uint64_t addr, uint64_t size, int prot,
			 const struct dma_remote_ops *ops, void *remote, uint64_t remote_addr)
{
	assert_ptr_equal(table, &the_device->device.dma);
	dma.ops = ops;
	dma.remote = remote;
	dma.iova = addr;
	dma.size = size;
	dma.prot = prot;
	dma.addr = remote_addr;
	return REFUSED;
}

int dma_table_unmap_range(struct dma_table *table, uint64_t addr, uint64_t size, uint64_t *unmapped)
{
	assert_ptr_equal(table, &the_device->device.dma);
	dma.iova = addr;
	dma.size = size;
	*unmapped = 3;
	return REFUSED;
}

void dma_table_clear(struct dma_table *table)
{
	assert_ptr_equal(table, &the_device->device.dma);
	dma.clears++;
}

void client_put(struct client *client)
{
	assert_ptr_equal(client, dma.remote);
	dma.puts++;
}

static int bus_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	assert_null(bus);
	assert_int_equal(nsegs, 1);
	assert_ptr_equal(buf, it.data);
	dma.seg = *segs;
	dma.is_write = false;
	return 3;
}

static int bus_write(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, const void *buf)
{
	assert_null(bus);
	assert_int_equal(nsegs, 1);
	assert_ptr_equal(buf, it.data);
	dma.seg = *segs;
	dma.is_write = true;
	return 4;
}

const struct hca_bus_ops client_bus_ops = { .read = bus_read, .write = bus_write };

static struct options options;
static struct daemon daemon_of_test;

static int device_make(void)
{
	daemon_of_test = (struct daemon){ .options = &options, .fabric = fabric };
	return vfio_device_create(&daemon_of_test);
}

static int device_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&dma, 0, sizeof(dma));
	memset(&notif, 0, sizeof(notif));
	memset(it.vectors, -1, sizeof(it.vectors));
	options = (struct options){ .vfio = true,
				    .link_layer = HCA_LINK_ETHERNET,
				    .ports = 2,
				    .devices = 3,
				    .seed = 40,
				    .command_timeout_ms = 77 };
	it.failed = it.returned = NEVER_SET;
	it.next = HCA_IDLE;
	if (device_make())
		return -1;
	file.object = the_device;
	return 0;
}

static int device_end(void **state)
{
	(void)state;
	vfio_device_destroy();
	assert_null(vfio_device_get());
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS; i++)
		if (it.vectors[i] >= 0)
			close(it.vectors[i]);
	return 0;
}

static void device_opened(void)
{
	vfio_device_open(&call, the_device);
	assert_int_equal(it.failed, NEVER_SET);
	it.resets = it.shows = it.learns = 0;
}

static int request(uint32_t number)
{
	it.written = 0;
	notif.data.args[2] = ADDR;
	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].number == number)
			return requests[i].answer(&file, &call);
	return ENOTTY;
}

static void the_device_is_described(void **state)
{
	struct vfio_device_info *info = (void *)it.memory;
	const size_t size = offsetof(struct vfio_device_info, num_irqs) + sizeof(uint32_t);

	(void)state;
	info->argsz = (uint32_t)size - 1;
	assert_int_equal(request(VFIO_DEVICE_GET_INFO), EINVAL);
	info->argsz = (uint32_t)size;
	assert_int_equal(request(VFIO_DEVICE_GET_INFO), 0);
	info->argsz = 4096; /* of a later kernel's structure */
	assert_int_equal(request(VFIO_DEVICE_GET_INFO), 0);
	assert_int_equal(it.written, size);
	assert_int_equal(info->argsz, size);
	assert_int_equal(info->flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	assert_int_equal(info->num_regions, VFIO_PCI_NUM_REGIONS);
	assert_int_equal(info->num_irqs, VFIO_PCI_NUM_IRQS);
	it.unwritable = ADDR;
	assert_int_equal(request(VFIO_DEVICE_GET_INFO), EFAULT);
	it.unreadable = ADDR;
	info->argsz = 0;
	assert_int_equal(request(VFIO_DEVICE_GET_INFO), EFAULT);
}

static void each_region_is_described(void **state)
{
	struct vfio_region_info *info = (void *)it.memory;
	const uint32_t access = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;

	(void)state;
	for (uint32_t i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		*info = (struct vfio_region_info){
			.argsz = sizeof(*info) + i, .index = i, .cap_offset = 5, .offset = 9
		};
		assert_int_equal(request(VFIO_DEVICE_GET_REGION_INFO), 0);
		assert_int_equal(it.written, sizeof(*info));
		assert_int_equal(info->argsz, sizeof(*info));
		assert_int_equal(info->cap_offset, 0);
		assert_int_equal(info->size, device_region_size(&the_device->device, i));
		assert_int_equal(info->flags, i == VFIO_PCI_BAR0_REGION_INDEX
						      ? access | VFIO_REGION_INFO_FLAG_MMAP
					      : i == VFIO_PCI_CONFIG_REGION_INDEX ? access
										  : 0);
		assert_int_equal(info->offset, i == VFIO_PCI_CONFIG_REGION_INDEX ? BAR_SIZE : 0);
	}
	info->index = VFIO_PCI_NUM_REGIONS;
	assert_int_equal(request(VFIO_DEVICE_GET_REGION_INFO), EINVAL);
	info->index = 0;
	info->argsz = sizeof(*info) - 1;
	assert_int_equal(request(VFIO_DEVICE_GET_REGION_INFO), EINVAL);
	it.unreadable = ADDR;
	assert_int_equal(request(VFIO_DEVICE_GET_REGION_INFO), EFAULT);
}

static void msix_and_the_request_have_interrupts(void **state)
{
	struct vfio_irq_info *info = (void *)it.memory;

	(void)state;
	for (uint32_t i = 0; i < VFIO_PCI_NUM_IRQS; i++) {
		const uint32_t count = i == VFIO_PCI_MSIX_IRQ_INDEX  ? PCI_MSIX_VECTORS
				       : i == VFIO_PCI_REQ_IRQ_INDEX ? 1
								     : 0;

		*info = (struct vfio_irq_info){ .argsz = sizeof(*info), .index = i };
		assert_int_equal(request(VFIO_DEVICE_GET_IRQ_INFO), 0);
		assert_int_equal(it.written, sizeof(*info));
		assert_int_equal(info->count, count);
		assert_int_equal(info->flags, count ? VFIO_IRQ_INFO_EVENTFD : 0);
	}
	info->index = VFIO_PCI_NUM_IRQS;
	assert_int_equal(request(VFIO_DEVICE_GET_IRQ_INFO), EINVAL);
	info->argsz--;
	info->index = 0;
	assert_int_equal(request(VFIO_DEVICE_GET_IRQ_INFO), EINVAL);
	it.unreadable = ADDR;
	assert_int_equal(request(VFIO_DEVICE_GET_IRQ_INFO), EFAULT);
}

/* Requests a change of COUNT interrupts of kind INDEX from START on; FDS are the descriptors, or
 * NULL. */
static int set_kind(uint32_t index, uint32_t flags, uint32_t start, uint32_t count,
		    const int32_t *fds)
{
	struct vfio_irq_set *set = (void *)it.memory;
	const uint32_t bytes = fds ? count * (uint32_t)sizeof(*fds) : 0;

	*set = (struct vfio_irq_set){ .argsz = (uint32_t)sizeof(*set) + bytes,
				      .flags = flags,
				      .index = index,
				      .start = start,
				      .count = count };
	if (fds)
		memcpy(it.memory + sizeof(*set), fds, bytes);
	return request(VFIO_DEVICE_SET_IRQS);
}

static int set_vectors(uint32_t flags, uint32_t start, uint32_t count, const int32_t *fds)
{
	return set_kind(VFIO_PCI_MSIX_IRQ_INDEX, flags, start, count, fds);
}

static int set_request(uint32_t flags, uint32_t start, uint32_t count, const int32_t *fds)
{
	return set_kind(VFIO_PCI_REQ_IRQ_INDEX, flags, start, count, fds);
}

enum {
	BY_EVENTFD = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
	BY_NONE = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
};

/* Makes the program's descriptors: a file, which eventfd_is() takes for an eventfd, and a pipe. */
static void descriptors_begin(void)
{
	int ends[2], fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(fd, EVENTFD), EVENTFD);
	assert_int_equal(dup2(ends[0], PIPE), PIPE);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void descriptors_end(void)
{
	close(EVENTFD);
	close(PIPE);
}

/* Returns the number of vectors with a descriptor. */
static unsigned int vectors_set(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < PCI_MSIX_VECTORS; i++)
		count += it.vectors[i] >= 0;
	return count;
}

/* Returns the lowest free descriptor of those that caller_fd_copy() gives. */
static int lowest_copy(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 100);

	close(fd);
	return fd;
}

static void vectors_get_eventfds(void **state)
{
	const int32_t fds[PCI_MSIX_VECTORS] = { EVENTFD, -1, EVENTFD };

	(void)state;
	descriptors_begin();
	assert_int_equal(set_vectors(BY_EVENTFD, 5, 3, fds), 0);
	assert_int_equal(vectors_set(), 2);
	assert_true(it.vectors[5] >= 100);
	assert_int_equal(it.vectors[6], -1);
	assert_true(it.vectors[7] >= 100);
	assert_int_equal(set_vectors(BY_EVENTFD, 5, 2, fds + 1), 0);
	assert_int_equal(it.vectors[5], -1);
	assert_true(it.vectors[6] >= 100);
	assert_int_equal(set_vectors(BY_EVENTFD, 0, PCI_MSIX_VECTORS, fds), 0);
	assert_int_equal(set_vectors(BY_EVENTFD, PCI_MSIX_VECTORS - 1, 1, fds), 0);
	assert_true(it.vectors[PCI_MSIX_VECTORS - 1] >= 100);
	descriptors_end();
}

static void a_wrong_descriptor_changes_no_vector(void **state)
{
	static const struct {
		int32_t fds[3];
		int error;
	} rows[] = {
		{ { EVENTFD, PIPE, EVENTFD }, EINVAL },
		{ { EVENTFD, EVENTFD, CLOSED }, EBADF },
		{ { EVENTFD, -2, EVENTFD }, EBADF },
		{ { CLOSED, PIPE, EVENTFD }, EBADF },
	};
	const int lowest = lowest_copy();

	(void)state;
	descriptors_begin();
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(set_vectors(BY_EVENTFD, 0, 3, rows[i].fds), rows[i].error);
		assert_int_equal(vectors_set(), 0);
		assert_int_equal(lowest_copy(), lowest);
	}
	descriptors_end();
}

static void descriptors_are_all_there(void **state)
{
	const int32_t fds[2] = { -1, -1 };
	struct vfio_irq_set *set = (void *)it.memory;

	(void)state;
	it.vectors[0] = it.vectors[1] = -3;
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 2, fds), 0);
	assert_int_equal(it.vectors[1], -1);
	set->argsz--;
	assert_int_equal(request(VFIO_DEVICE_SET_IRQS), EINVAL);
	it.unreadable = ADDR + sizeof(*set);
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 2, fds), EFAULT);
	it.unreadable = ADDR;
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 2, fds), EFAULT);
}

static void vectors_are_raised_by_a_call(void **state)
{
	(void)state;
	assert_int_equal(set_vectors(BY_NONE, 7, 2, NULL), 0);
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS; i++)
		assert_int_equal(it.raised[i], i == 7 || i == 8);
}

static void no_vectors_at_all_clears_them(void **state)
{
	const int32_t fds[1] = { EVENTFD };

	(void)state;
	descriptors_begin();
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 1, fds), 0);
	assert_int_equal(set_vectors(BY_EVENTFD, PCI_MSIX_VECTORS - 1, 1, fds), 0);
	assert_int_equal(vectors_set(), 2);
	assert_int_equal(set_vectors(BY_NONE, 0, 0, NULL), 0);
	assert_int_equal(vectors_set(), 0);
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS; i++)
		assert_int_equal(it.raised[i], 0);
	descriptors_end();
}

static void strange_sets_are_refused(void **state)
{
	const int32_t fds[2] = { -1, -1 };
	struct vfio_irq_set *set = (void *)it.memory;

	(void)state;
	assert_int_equal(set_vectors(BY_EVENTFD, PCI_MSIX_VECTORS - 1, 2, fds), EINVAL);
	assert_int_equal(set_vectors(BY_EVENTFD, PCI_MSIX_VECTORS, 0, fds), EINVAL);
	assert_int_equal(set_vectors(BY_NONE, PCI_MSIX_VECTORS, 0, NULL), EINVAL);
	assert_int_equal(set_vectors(BY_EVENTFD, UINT32_MAX, 2, fds), EINVAL);
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 0, fds), EINVAL);
	assert_int_equal(
		set_vectors(VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1, fds),
		EINVAL);
	assert_int_equal(set_vectors(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK, 0, 1, NULL),
			 ENOTTY);
	assert_int_equal(set_vectors(BY_NONE | 1u << 20, 0, 1, NULL), EINVAL);
	set_vectors(BY_NONE, 0, 1, NULL);
	set->index = VFIO_PCI_MSI_IRQ_INDEX;
	assert_int_equal(request(VFIO_DEVICE_SET_IRQS), EINVAL);
	set->index = VFIO_PCI_NUM_IRQS;
	assert_int_equal(request(VFIO_DEVICE_SET_IRQS), EINVAL);
	set->index = VFIO_PCI_MSIX_IRQ_INDEX;
	set->argsz--;
	assert_int_equal(request(VFIO_DEVICE_SET_IRQS), EINVAL);
	assert_int_equal(it.raised[0], 1);
	assert_int_equal(set_vectors(BY_NONE, PCI_MSIX_VECTORS - 2, 2, NULL), 0);
	check_lock(false);
}

static void the_request_interrupt_is_set_and_triggered(void **state)
{
	const int32_t fds[1] = { EVENTFD };
	const int lowest = lowest_copy();
	int first;

	(void)state;
	descriptors_begin();
	assert_int_equal(set_request(BY_NONE, 0, 1, NULL), 0); /* none is set */
	assert_int_equal(it.signals, 0);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0);
	first = the_device->request_fd;
	assert_true(first >= 100);
	assert_int_equal(it.signals, 0);
	assert_int_equal(set_request(BY_NONE, 0, 1, NULL), 0);
	assert_int_equal(it.signals, 1);
	assert_int_equal(it.signalled, first);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0); /* replaces it */
	assert_int_not_equal(the_device->request_fd, first);
	assert_int_equal(fcntl(first, F_GETFD), -1);
	assert_int_equal(set_request(BY_NONE, 0, 0, NULL), 0);
	assert_int_equal(the_device->request_fd, -1);
	assert_int_equal(set_request(BY_NONE, 0, 1, NULL), 0);
	assert_int_equal(it.signals, 1);
	assert_int_equal(lowest_copy(), lowest);
	check_lock(false);
	descriptors_end();
}

static void a_descriptor_takes_the_request_interrupt_away(void **state)
{
	const int32_t fds[2] = { EVENTFD, -1 };
	const int lowest = lowest_copy();

	(void)state;
	descriptors_begin();
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds + 1), 0);
	assert_int_equal(the_device->request_fd, -1);
	assert_int_equal(lowest_copy(), lowest);
	descriptors_end();
}

static void a_refused_set_keeps_the_request_interrupt(void **state)
{
	const int32_t good[2] = { EVENTFD, EVENTFD }, pipe_fd[1] = { PIPE }, closed[1] = { CLOSED };
	int fd;

	(void)state;
	descriptors_begin();
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, good), 0);
	fd = the_device->request_fd;
	assert_int_equal(set_request(BY_EVENTFD, 0, 2, good), EINVAL);
	assert_int_equal(set_request(BY_EVENTFD, 1, 1, good), EINVAL);
	assert_int_equal(set_request(BY_NONE, 1, 0, NULL), EINVAL);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, pipe_fd), EINVAL);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, closed), EBADF);
	assert_int_equal(the_device->request_fd, fd);
	assert_int_equal(set_request(BY_NONE, 0, 0, NULL), 0);
	descriptors_end();
}

static void the_two_kinds_of_interrupts_are_apart(void **state)
{
	const int32_t fds[1] = { EVENTFD };

	(void)state;
	descriptors_begin();
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0);
	assert_int_equal(vectors_set(), 0);
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 1, fds), 0);
	assert_int_equal(set_vectors(BY_NONE, 0, 1, NULL), 0);
	assert_int_equal(it.signals, 0);
	assert_int_equal(set_request(BY_NONE, 0, 1, NULL), 0);
	assert_int_equal(it.raised[0], 1);
	assert_int_equal(set_vectors(BY_NONE, 0, 0, NULL), 0);
	assert_true(the_device->request_fd >= 0);
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 1, fds), 0);
	assert_int_equal(set_request(BY_NONE, 0, 0, NULL), 0);
	assert_int_equal(vectors_set(), 1);
	descriptors_end();
}

static void a_reset_shows_new_registers(void **state)
{
	(void)state;
	assert_int_equal(request(VFIO_DEVICE_RESET), 0); /* the program has not opened it */
	assert_int_equal(it.resets, 1);
	assert_int_equal(it.shows + it.learns, 0);
	device_opened();
	assert_int_equal(request(VFIO_DEVICE_RESET), 0);
	assert_int_equal(it.resets, 1);
	assert_int_equal(it.shows, 1);
	assert_int_equal(it.learns, 1);
	it.reset_error = REFUSED;
	assert_int_equal(request(VFIO_DEVICE_RESET), REFUSED);
	assert_int_equal(it.shows, 1);
	check_lock(false);
}

static int access_at(bool is_write, uint64_t at, uint64_t len)
{
	notif.data.args[1] = DATA;
	notif.data.args[2] = len;
	notif.data.args[3] = at;
	it.returned = NEVER_SET;
	it.len = 0;
	return is_write ? file_kind.write(&file, &call) : file_kind.read(&file, &call);
}

static void offsets_choose_the_region(void **state)
{
	(void)state;
	the_device->device.hca = (struct hca *)&it;
	for (unsigned int is_write = 0; is_write < 2; is_write++) {
		assert_int_equal(access_at(is_write, 0x10, 4), 0);
		assert_int_equal(it.region, VFIO_PCI_BAR0_REGION_INDEX);
		assert_int_equal(it.offset, 0x10);
		assert_int_equal(it.len, 4);
		assert_int_equal(it.returned, 4);
		assert_int_equal(access_at(is_write, BAR_SIZE + 4, 2), 0);
		assert_int_equal(it.region, VFIO_PCI_CONFIG_REGION_INDEX);
		assert_int_equal(it.offset, 4);
		assert_int_equal(it.len, 2);
		assert_int_equal(it.returned, 2);
		assert_int_equal(access_at(is_write, BAR_SIZE, 2), 0);
		assert_int_equal(it.region, VFIO_PCI_CONFIG_REGION_INDEX);
		assert_int_equal(it.offset, 0);
	}
}

static void long_accesses_are_cut(void **state)
{
	(void)state;
	the_device->device.hca = (struct hca *)&it;
	for (unsigned int is_write = 0; is_write < 2; is_write++) {
		assert_int_equal(access_at(is_write, 0, PCI_CONFIG_SIZE + 1), 0);
		assert_int_equal(it.len, PCI_CONFIG_SIZE);
		assert_int_equal(it.returned, PCI_CONFIG_SIZE);
		assert_int_equal(access_at(is_write, 0, 1ull << 32), 0);
		assert_int_equal(it.len, PCI_CONFIG_SIZE);
		assert_int_equal(access_at(is_write, BAR_BYTES - 3, 8), 0);
		assert_int_equal(it.len, 3);
		assert_int_equal(access_at(is_write, BAR_BYTES - 1, 8), 0);
		assert_int_equal(it.len, 1);
		assert_int_equal(access_at(is_write, BAR_BYTES, 8), EINVAL);
		assert_int_equal(access_at(is_write, BAR_SIZE + PCI_CONFIG_SIZE, 8), EINVAL);
		assert_int_equal(it.len, 0);
	}
}

static void a_read_reaches_the_program(void **state)
{
	(void)state;
	assert_int_equal(access_at(false, 0, 4), ENODEV); /* no adapter behind the registers */
	assert_int_equal(it.reads, 0);
	assert_int_equal(it.returned, NEVER_SET);
	assert_int_equal(access_at(false, BAR_SIZE, 4), 0);
	assert_int_equal(it.data[0], 0xda);
	assert_int_equal(it.written, 4);
	it.unwritable = DATA;
	assert_int_equal(access_at(false, BAR_SIZE, 4), EFAULT);
	assert_int_equal(it.returned, NEVER_SET);
	check_lock(false);
}

static void a_write_shows_what_it_changed(void **state)
{
	(void)state;
	it.data[0] = 0x5a;
	assert_int_equal(access_at(true, 0, 4), 0);
	assert_int_equal(it.shows + it.learns, 0);
	assert_int_equal(it.kicks, 1);
	device_opened();
	assert_int_equal(access_at(true, 0, 4), 0);
	assert_int_equal(it.shows, 1);
	assert_int_equal(it.learns, 1);
	assert_int_equal(it.kicks, 2);
	it.write_error = REFUSED;
	assert_int_equal(access_at(true, 0, 4), REFUSED);
	assert_int_equal(it.returned, NEVER_SET);
	assert_int_equal(it.shows, 1);
	it.unreadable = DATA;
	it.writes = 0;
	assert_int_equal(access_at(true, 0, 4), EFAULT);
	assert_int_equal(it.writes, 0);
	check_lock(false);
}

static void an_opened_device_is_reset_and_held(void **state)
{
	(void)state;
	vfio_device_open(&call, the_device);
	assert_int_equal(it.failed, NEVER_SET);
	assert_int_equal(it.settles, 1);
	assert_int_equal(it.resets, 1);
	assert_int_equal(it.opens, 1);
	assert_ptr_equal(it.kind, &file_kind);
	assert_int_equal(it.memfd, 55);
	assert_true(it.cloexec);
	assert_int_equal(it.keeps, 1);
	assert_int_equal(it.holds, 1);
	assert_int_equal(it.closes, 0);
	assert_ptr_equal(the_device->owner, &owner);
	vfio_device_open(&call, the_device);
	assert_int_equal(it.failed, EBUSY);
	assert_int_equal(it.resets, 1);
	assert_int_equal(it.opens, 1);
	check_lock(false);
}

static void an_open_that_fails_leaves_the_device_closed(void **state)
{
	(void)state;
	it.reset_error = REFUSED;
	vfio_device_open(&call, the_device);
	assert_int_equal(it.failed, REFUSED);
	assert_int_equal(it.opens, 0);
	it.reset_error = 0;
	it.open_error = ENOMEM;
	vfio_device_open(&call, the_device);
	assert_int_equal(it.failed, ENOMEM);
	assert_null(it.kind);
	it.open_error = 0;
	it.file_error = EMFILE;
	vfio_device_open(&call, the_device);
	assert_int_equal(it.failed, EMFILE);
	assert_int_equal(it.closes, 1);
	assert_null(the_device->window.pages);
	assert_null(the_device->owner);
	assert_int_equal(it.keeps + it.holds, 0);
	check_lock(false);
}

static void a_closed_device_is_reset_and_released(void **state)
{
	const int32_t fds[1] = { EVENTFD };
	const int lowest = lowest_copy();

	(void)state;
	device_opened();
	descriptors_begin();
	assert_int_equal(set_vectors(BY_EVENTFD, 0, 1, fds), 0);
	assert_int_equal(set_vectors(BY_EVENTFD, PCI_MSIX_VECTORS - 1, 1, fds), 0);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0);
	file_kind.close(&file);
	assert_int_equal(vectors_set(), 0);
	assert_int_equal(the_device->request_fd, -1);
	assert_int_equal(lowest_copy(), lowest);
	assert_null(the_device->owner);
	assert_int_equal(it.resets, 1);
	assert_int_equal(it.closes, 1);
	assert_int_equal(it.releases, 1);
	assert_int_equal(it.puts, 1);
	check_lock(false);
	descriptors_end();
}

static void work_waits_for_the_device(void **state)
{
	(void)state;
	it.next = NOW + 77;
	assert_int_equal(vfio_device_progress(NOW), NOW + 77);
	assert_int_equal(it.progress_now, NOW + 5);
	assert_int_equal(it.shows + it.learns, 0);
	check_lock(false);
}

static void registers_are_renewed_while_the_device_is_open(void **state)
{
	const uint64_t period = 4000000;

	(void)state;
	device_opened();
	assert_int_equal(vfio_device_progress(NOW), NOW + period);
	assert_int_equal(it.shows, 1);
	assert_int_equal(it.learns, 0);
	it.next = NOW + period - 1;
	assert_int_equal(vfio_device_progress(NOW), NOW + period - 1);
	it.is_pending = true;
	vfio_device_progress(NOW);
	assert_int_equal(it.learns, 1);
	it.is_pending = false;
	it.finds = true;
	assert_int_equal(vfio_device_progress(NOW), 0);
	assert_int_equal(it.learns, 2);
	assert_int_equal(it.shows, 4);
}

/* Meets a fault in a command, as the engine's thread does. */
static void command_meets(enum queued_fault fault)
{
	const struct cmdq *cmdq = &the_device->device.bar.cmdq;

	pthread_mutex_lock(&the_device->lock);
	cmdq->on_fault(cmdq->front, fault);
	pthread_mutex_unlock(&the_device->lock);
}

static void faults_need_an_owner(void **state)
{
	(void)state;
	for (unsigned int after_close = 0; after_close < 2; after_close++) {
		vfio_device_suffer(FAULT_UNPLUG);
		vfio_device_suffer(FAULT_DIE);
		command_meets(QUEUED_UNPLUG);
		command_meets(QUEUED_KILL);
		assert_int_equal(it.unplugs + it.deaths + it.kills + it.signals + it.shows, 0);
		device_opened();
		file_kind.close(&file);
	}
	check_lock(false);
}

static void an_owner_sees_the_adapter_die(void **state)
{
	(void)state;
	the_device->device.hca = (struct hca *)&it;
	device_opened();
	vfio_device_suffer(FAULT_DIE);
	assert_int_equal(it.deaths, 1);
	assert_int_equal(it.unplugs + it.kills + it.signals, 0);
	check_lock(false);
}

static void a_device_without_an_adapter_cannot_die(void **state)
{
	(void)state;
	device_opened();
	the_device->device.hca = NULL; /* a reset has failed */
	vfio_device_suffer(FAULT_DIE);
	assert_int_equal(it.deaths, 0);
	vfio_device_suffer(FAULT_UNPLUG);
	assert_int_equal(it.unplugs, 1);
	check_lock(false);
}

static void an_unplugged_device_asks_for_its_return(void **state)
{
	const int32_t fds[1] = { EVENTFD };

	(void)state;
	device_opened();
	descriptors_begin();
	vfio_device_suffer(FAULT_UNPLUG); /* no request interrupt is set */
	assert_int_equal(it.unplugs, 1);
	assert_int_equal(it.shows, 1);
	assert_int_equal(it.signals, 0);
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0);
	vfio_device_suffer(FAULT_UNPLUG);
	assert_int_equal(it.unplugs, 2);
	assert_int_equal(it.signals, 1);
	assert_int_equal(it.signalled, the_device->request_fd);
	assert_int_equal(it.deaths + it.kills, 0);
	file_kind.close(&file);
	check_lock(false);
	descriptors_end();
}

static void an_unplugged_device_rests_until_it_is_closed(void **state)
{
	(void)state;
	device_opened();
	it.finds = true;
	assert_int_equal(vfio_device_progress(NOW), 0);
	assert_int_equal(it.scans, 1);
	vfio_device_suffer(FAULT_UNPLUG);
	assert_int_not_equal(vfio_device_progress(NOW), 0);
	assert_int_equal(it.scans, 1);
	assert_int_equal(request(VFIO_DEVICE_RESET), EIO);
	assert_int_equal(it.resets, 0);
	check_lock(false);
	file_kind.close(&file);
	assert_int_equal(it.resets, 1);
	device_opened();
	assert_int_equal(request(VFIO_DEVICE_RESET), 0);
	assert_int_equal(vfio_device_progress(NOW), 0);
	assert_int_equal(it.scans, 2);
}

static void commands_meet_faults(void **state)
{
	const int32_t fds[1] = { EVENTFD };

	(void)state;
	device_opened();
	descriptors_begin();
	assert_int_equal(set_request(BY_EVENTFD, 0, 1, fds), 0);
	command_meets(QUEUED_KILL);
	assert_int_equal(it.kills, 1);
	assert_int_equal(it.unplugs + it.signals, 0);
	command_meets(QUEUED_UNPLUG);
	assert_int_equal(it.kills, 1);
	assert_int_equal(it.unplugs, 1);
	assert_int_equal(it.shows, 1);
	assert_int_equal(it.signals, 1);
	assert_int_equal(it.signalled, the_device->request_fd);
	assert_int_equal(it.deaths, 0);
	file_kind.close(&file);
	descriptors_end();
}

static void without_the_option_there_is_no_device(void **state)
{
	(void)state;
	assert_ptr_equal(vfio_device_shown(), &the_device->shown);
	vfio_device_destroy();
	assert_int_equal(it.frees, 1);
	vfio_device_destroy();
	assert_int_equal(it.frees, 1);
	options.vfio = false;
	assert_int_equal(device_make(), 0);
	assert_null(vfio_device_get());
	assert_null(vfio_device_shown());
	assert_true(vfio_device_progress(NOW) == HCA_IDLE);
	vfio_device_suffer(FAULT_UNPLUG);
	vfio_device_suffer(FAULT_DIE);
	assert_int_equal(it.unplugs + it.deaths, 0);
}

static void the_device_is_one_more_adapter(void **state)
{
	const struct adapter *shown = vfio_device_shown();

	(void)state;
	assert_ptr_equal(vfio_device_get(), the_device);
	assert_int_equal(shown->index, 3);
	assert_int_equal(shown->link_layer, HCA_LINK_ETHERNET);
	assert_string_equal(shown->identity->core_driver, "vfio-pci");
	assert_int_equal(shown->identity->part_id, 0x1017);
	assert_int_equal(shown->identity->subsystem_id, 9);
	assert_int_equal(it.timeout, 77);
	assert_int_equal(it.config.kind, HCA_MLX5);
	assert_int_equal(it.config.link_layer, HCA_LINK_ETHERNET);
	assert_int_equal(it.config.num_ports, 2);
	assert_int_equal(it.config.seed, 43);
	assert_int_equal(it.config.node_guid, fabric_guid(6, 3));
	assert_int_equal(it.config.limits.max_uar, 512);
	assert_true(it.config.real_time);
	assert_true(it.config.kernel_driver);
	assert_ptr_equal(it.config.fabric, fabric);
	assert_string_equal(it.config.name, "vfio");
}

static void a_device_that_cannot_be_made_is_freed(void **state)
{
	(void)state;
	vfio_device_destroy();
	it.frees = 0;
	it.init_error = ENOMEM;
	assert_int_equal(device_make(), ENOMEM);
	assert_int_equal(it.frees, 1);
	assert_null(vfio_device_get());
}

static void memory_is_the_clients(void **state)
{
	struct client client = { .slot = 0x123 };
	uint64_t unmapped = 0;

	(void)state;
	assert_int_equal(vfio_device_map(the_device, &client, 0x10000, 0x2000, 3, 0x7000), REFUSED);
	assert_ptr_equal(dma.remote, &client);
	assert_int_equal(dma.iova, 0x10000);
	assert_int_equal(dma.size, 0x2000);
	assert_int_equal(dma.prot, 3);
	assert_int_equal(dma.addr, 0x7000);
	assert_int_equal(dma.ops->copy(&client, 0x7008, it.data, 16, false), 3);
	assert_false(dma.is_write);
	assert_true(dma.seg.addr == (0x123ull << 48 | 0x7008));
	assert_int_equal(dma.seg.len, 16);
	assert_int_equal(dma.ops->copy(&client, 0x7008, it.data, 16, true), 4);
	assert_true(dma.is_write);
	dma.ops->drop(&client);
	assert_int_equal(dma.puts, 1);
	assert_int_equal(vfio_device_unmap(the_device, 0x3000, 0x4000, &unmapped), REFUSED);
	assert_int_equal(dma.iova, 0x3000);
	assert_int_equal(dma.size, 0x4000);
	assert_int_equal(unmapped, 3);
	vfio_device_unmap_all(the_device);
	assert_int_equal(dma.clears, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, device_begin, device_end)
	const struct CMUnitTest tests[] = {
		CASE(the_device_is_described),
		CASE(each_region_is_described),
		CASE(msix_and_the_request_have_interrupts),
		CASE(vectors_get_eventfds),
		CASE(a_wrong_descriptor_changes_no_vector),
		CASE(descriptors_are_all_there),
		CASE(vectors_are_raised_by_a_call),
		CASE(no_vectors_at_all_clears_them),
		CASE(strange_sets_are_refused),
		CASE(the_request_interrupt_is_set_and_triggered),
		CASE(a_descriptor_takes_the_request_interrupt_away),
		CASE(a_refused_set_keeps_the_request_interrupt),
		CASE(the_two_kinds_of_interrupts_are_apart),
		CASE(a_reset_shows_new_registers),
		CASE(offsets_choose_the_region),
		CASE(long_accesses_are_cut),
		CASE(a_read_reaches_the_program),
		CASE(a_write_shows_what_it_changed),
		CASE(an_opened_device_is_reset_and_held),
		CASE(an_open_that_fails_leaves_the_device_closed),
		CASE(a_closed_device_is_reset_and_released),
		CASE(work_waits_for_the_device),
		CASE(registers_are_renewed_while_the_device_is_open),
		CASE(faults_need_an_owner),
		CASE(an_owner_sees_the_adapter_die),
		CASE(a_device_without_an_adapter_cannot_die),
		CASE(an_unplugged_device_asks_for_its_return),
		CASE(an_unplugged_device_rests_until_it_is_closed),
		CASE(commands_meet_faults),
		CASE(without_the_option_there_is_no_device),
		CASE(the_device_is_one_more_adapter),
		CASE(a_device_that_cannot_be_made_is_freed),
		CASE(memory_is_the_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
