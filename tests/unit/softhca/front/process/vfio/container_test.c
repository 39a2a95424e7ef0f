/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * container_test.c - requests to /dev/vfio/vfio: the order in which they are allowed, what the
 * program learns of the IOMMU, and which memory it can map and unmap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/vfio/container.c"

enum { ADDR = 0x1000, MEMORY = 512, REFUSED = EDOM };

static struct {
	uint8_t memory[MEMORY];
	bool unreadable, unwritable;
	size_t written;
	int64_t returned;
	int failed;
	bool closed; /* no file can be opened */
	int client_error, range_error, map_error, unmap_error;
	unsigned int maps, unmaps, clears, clients, cloexecs;
	uint64_t iova, size, vaddr;
	int prot;
	bool writable;
	struct vfio_file file;
} it;

static struct client client;
static struct seccomp_notif notif;
static struct call call = { .notif = &notif };
static struct node_kind *registered;
static bool no_device;
static uint8_t a_device;

int caller_read(const struct call *of, uint64_t addr, void *buf, size_t len)
{
	assert_ptr_equal(of, &call);
	assert_int_equal(addr, ADDR);
	memcpy(buf, it.memory, len);
	return it.unreadable ? EFAULT : 0;
}

int caller_write(const struct call *of, uint64_t addr, const void *buf, size_t len)
{
	assert_ptr_equal(of, &call);
	assert_int_equal(addr, ADDR);
	assert_true(len <= MEMORY);
	memcpy(it.memory, buf, len);
	it.written = len;
	return it.unwritable ? EFAULT : 0;
}

int caller_client(const struct call *of, struct client **out)
{
	assert_ptr_equal(of, &call);
	*out = &client;
	it.clients += !it.client_error;
	return it.client_error;
}

void client_put(struct client *of)
{
	assert_ptr_equal(of, &client);
	it.clients--;
}

int client_check_range(const struct client *of, uint64_t addr, uint64_t len, bool writable)
{
	assert_ptr_equal(of, &client);
	it.vaddr = addr;
	it.size = len;
	it.writable = writable;
	return it.range_error;
}

void call_return(struct call *of, int64_t value)
{
	assert_ptr_equal(of, &call);
	it.returned = value;
}

void call_fail(struct call *of, int error)
{
	assert_ptr_equal(of, &call);
	it.failed = error;
}

struct vfio_device *vfio_device_get(void)
{
	return no_device ? NULL : (struct vfio_device *)&a_device;
}

int vfio_device_map(struct vfio_device *device, struct client *of, uint64_t iova, uint64_t size,
		    int prot, uint64_t addr)
{
	assert_ptr_equal(device, &a_device);
	assert_ptr_equal(of, &client);
	assert_int_equal(size, it.size);
	assert_int_equal(addr, it.vaddr);
	it.iova = iova;
	it.prot = prot;
	it.maps++;
	return it.map_error;
}

int vfio_device_unmap(struct vfio_device *device, uint64_t iova, uint64_t size, uint64_t *unmapped)
{
	assert_ptr_equal(device, &a_device);
	it.iova = iova;
	it.size = size;
	it.unmaps++;
	*unmapped = 0x3000;
	return it.unmap_error;
}

void vfio_device_unmap_all(struct vfio_device *device)
{
	assert_ptr_equal(device, &a_device);
	it.clears++;
}

int vfio_file_open_empty(struct call *of, const struct vfio_file_kind *kind, void *object,
			 bool cloexec)
{
	assert_ptr_equal(of, &call);
	if (it.closed)
		return REFUSED;
	it.file = (struct vfio_file){ .kind = kind, .object = object };
	it.cloexecs += cloexec;
	return 0;
}

struct vfio_file *vfio_file_find(const struct stat *st)
{
	return st->st_ino == 5 ? &it.file : NULL;
}

void node_register(struct node_kind *kind)
{
	registered = kind;
}

static int container_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&notif, 0, sizeof(notif));
	no_device = false;
	vfio_container_start();
	registered->open(&call, 0, 0);
	assert_int_equal(it.failed, 0);
	return 0;
}

static int container_end(void **state)
{
	(void)state;
	it.file.kind->close(&it.file);
	return 0;
}

static struct vfio_container *the_container(void)
{
	return vfio_container_of(&it.file);
}

/* Makes a request with the argument ARG. */
static int request_with(uint32_t number, uint64_t arg)
{
	notif.data.args[2] = arg;
	it.returned = -1;
	for (unsigned int i = 0; i < it.file.kind->num_requests; i++)
		if (it.file.kind->requests[i].number == number)
			return it.file.kind->requests[i].answer(&it.file, &call);
	return ENOTTY;
}

static void iommu_begin(void)
{
	vfio_container_attach(the_container());
	assert_int_equal(request_with(VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), 0);
}

static void iommu_end(void)
{
	vfio_container_detach(the_container());
}

static void the_interface_is_told(void **state)
{
	(void)state;
	assert_int_equal(request_with(VFIO_GET_API_VERSION, 0), 0);
	assert_int_equal(it.returned, VFIO_API_VERSION);
	assert_int_equal(request_with(VFIO_CHECK_EXTENSION, VFIO_TYPE1_IOMMU), 0);
	assert_int_equal(it.returned, 1);
	request_with(VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU);
	assert_int_equal(it.returned, 1);
	request_with(VFIO_CHECK_EXTENSION, VFIO_SPAPR_TCE_IOMMU);
	assert_int_equal(it.returned, 0);
}

static void an_iommu_needs_a_group(void **state)
{
	(void)state;
	assert_int_equal(request_with(VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU), EINVAL);
	assert_false(vfio_container_has_iommu(the_container()));
	vfio_container_attach(the_container());
	assert_int_equal(request_with(VFIO_SET_IOMMU, VFIO_SPAPR_TCE_IOMMU), ENODEV);
	assert_false(vfio_container_has_iommu(the_container()));
	assert_int_equal(request_with(VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU), 0);
	assert_true(vfio_container_has_iommu(the_container()));
	assert_int_equal(the_container()->iommu_type, VFIO_TYPE1_IOMMU);
	assert_int_equal(request_with(VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU), EINVAL);
	iommu_end();
}

static void the_last_group_takes_the_mappings_along(void **state)
{
	struct vfio_container *container = the_container();

	(void)state;
	iommu_begin();
	vfio_container_attach(container);
	vfio_container_detach(container);
	assert_int_equal(it.clears, 0);
	assert_true(vfio_container_has_iommu(container));
	vfio_container_detach(container);
	assert_int_equal(it.clears, 1);
	assert_false(vfio_container_has_iommu(container));
	assert_int_equal(container->users, 1);
}

static void without_an_iommu_nothing_is_mapped(void **state)
{
	(void)state;
	assert_int_equal(request_with(VFIO_IOMMU_GET_INFO, ADDR), EINVAL);
	assert_int_equal(request_with(VFIO_IOMMU_MAP_DMA, ADDR), EINVAL);
	assert_int_equal(request_with(VFIO_IOMMU_UNMAP_DMA, ADDR), EINVAL);
	assert_int_equal(it.maps + it.unmaps, 0);
}

static int info_of(uint32_t argsz)
{
	memset(it.memory, 0xee, sizeof(it.memory));
	memcpy(it.memory, &argsz, sizeof(argsz));
	it.written = 0;
	return request_with(VFIO_IOMMU_GET_INFO, ADDR);
}

static void info_has_as_much_as_fits(void **state)
{
	const struct iommu_info *info = (const struct iommu_info *)it.memory;

	(void)state;
	iommu_begin();
	assert_int_equal(info_of(15), EINVAL);
	assert_int_equal(info_of(16), 0);
	assert_int_equal(it.written, 16);
	assert_int_equal(info->head.argsz, sizeof(*info));
	assert_int_equal(info->head.flags, VFIO_IOMMU_INFO_PGSIZES);
	assert_true(info->head.iova_pgsizes == ~0xfffull);
	assert_int_equal(info_of(sizeof(info->head)), 0);
	assert_int_equal(it.written, sizeof(info->head));
	assert_int_equal(info->head.cap_offset, 0);
	assert_int_equal(info_of(sizeof(*info) - 1), 0);
	assert_int_equal(it.written, sizeof(info->head));
	assert_int_equal(info->head.flags, VFIO_IOMMU_INFO_PGSIZES);
	it.unreadable = true;
	assert_int_equal(info_of(16), EFAULT);
	it.unreadable = false;
	it.unwritable = true;
	assert_int_equal(info_of(16), EFAULT);
	iommu_end();
}

static void info_names_the_usable_addresses(void **state)
{
	const struct iommu_info *info = (const struct iommu_info *)it.memory;

	(void)state;
	iommu_begin();
	for (unsigned int more = 0; more < 2; more++) {
		assert_int_equal(info_of(sizeof(*info) + more), 0);
		assert_int_equal(it.written, sizeof(*info));
		assert_int_equal(info->head.argsz, sizeof(*info));
		assert_int_equal(info->head.flags, VFIO_IOMMU_INFO_PGSIZES | VFIO_IOMMU_INFO_CAPS);
		assert_int_equal(info->head.cap_offset, offsetof(struct iommu_info, iova));
		assert_int_equal(info->iova.header.id, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE);
		assert_int_equal(info->iova.header.version, 1);
		assert_int_equal(info->iova.header.next, offsetof(struct iommu_info, avail));
		assert_int_equal(info->iova.nr_iovas, 2);
		assert_true(info->iova.range[0].start == 0);
		assert_true(info->iova.range[0].end == 0xfedfffff);
		assert_true(info->iova.range[1].start == 0xfef00000);
		assert_true(info->iova.range[1].end == 0xffffffffffff);
		assert_int_equal(info->avail.header.id, VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL);
		assert_int_equal(info->avail.header.version, 1);
		assert_int_equal(info->avail.header.next, 0);
		assert_int_equal(info->avail.avail, 0xffff);
	}
	iommu_end();
}

enum { BOTH = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE };

static int map_of(uint32_t flags, uint64_t vaddr, uint64_t iova, uint64_t size)
{
	const struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map), .flags = flags, .vaddr = vaddr, .iova = iova, .size = size
	};

	memcpy(it.memory, &map, sizeof(map));
	return request_with(VFIO_IOMMU_MAP_DMA, ADDR);
}

static void memory_is_mapped_with_its_rights(void **state)
{
	(void)state;
	iommu_begin();
	assert_int_equal(map_of(BOTH, 0x5000, 0x7000, 0x2000), 0);
	assert_int_equal(it.iova, 0x7000);
	assert_int_equal(it.vaddr, 0x5000);
	assert_int_equal(it.size, 0x2000);
	assert_int_equal(it.prot, PROT_READ | PROT_WRITE);
	assert_true(it.writable);
	assert_int_equal(map_of(VFIO_DMA_MAP_FLAG_READ, 0x5000, 0x7000, 0x2000), 0);
	assert_int_equal(it.prot, PROT_READ);
	assert_false(it.writable);
	assert_int_equal(map_of(VFIO_DMA_MAP_FLAG_WRITE, 0x5000, 0x7000, 0x2000), 0);
	assert_int_equal(it.prot, PROT_WRITE);
	assert_true(it.writable);
	assert_int_equal(it.clients, 3);
	iommu_end();
}

static void odd_memory_is_refused(void **state)
{
	const uint64_t end = 1ull << 48;

	(void)state;
	iommu_begin();
	assert_int_equal(map_of(0, 0x5000, 0x7000, 0x1000), EINVAL);
	assert_int_equal(map_of(BOTH | 4, 0x5000, 0x7000, 0x1000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0x7000, 0), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0x7000, 0x800), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0x7800, 0x1000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5800, 0x7000, 0x1000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0xfee00000, 0x1000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0xfedff000, 0x2000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0xfeeff000, 0x2000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, end, 0x1000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, end - 0x1000, 0x2000), EINVAL);
	assert_int_equal(map_of(BOTH, 0x5000, 0ull - 0x1000, 0x2000), EINVAL);
	assert_int_equal(map_of(BOTH, end, 0x7000, 0x1000), EFAULT);
	assert_int_equal(map_of(BOTH, end - 0x1000, 0x7000, 0x2000), EFAULT);
	assert_int_equal(it.maps, 0);
	assert_int_equal(it.clients, 0);
	assert_int_equal(map_of(BOTH, end - 0x1000, end - 0x1000, 0x1000), 0);
	assert_int_equal(map_of(BOTH, 0, 0xfedff000, 0x1000), 0);
	assert_int_equal(map_of(BOTH, 0, 0xfef00000, 0x1000), 0);
	((struct vfio_iommu_type1_dma_map *)it.memory)->argsz--;
	assert_int_equal(request_with(VFIO_IOMMU_MAP_DMA, ADDR), EINVAL);
	it.unreadable = true;
	assert_int_equal(map_of(BOTH, 0, 0, 0x1000), EFAULT);
	iommu_end();
}

static void a_refused_mapping_keeps_no_process(void **state)
{
	(void)state;
	iommu_begin();
	it.client_error = ESRCH;
	assert_int_equal(map_of(BOTH, 0x5000, 0x7000, 0x1000), ESRCH);
	it.client_error = 0;
	it.range_error = EIO;
	assert_int_equal(map_of(BOTH, 0x5000, 0x7000, 0x1000), EFAULT);
	assert_int_equal(it.maps, 0);
	it.range_error = 0;
	it.map_error = EEXIST;
	assert_int_equal(map_of(BOTH, 0x5000, 0x7000, 0x1000), EEXIST);
	assert_int_equal(it.maps, 1);
	assert_int_equal(it.clients, 0);
	iommu_end();
}

static int unmap_of(uint32_t flags, uint64_t iova, uint64_t size)
{
	const struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap), .flags = flags, .iova = iova, .size = size
	};

	memcpy(it.memory, &unmap, sizeof(unmap));
	it.written = 0;
	return request_with(VFIO_IOMMU_UNMAP_DMA, ADDR);
}

static void the_program_learns_how_much_was_unmapped(void **state)
{
	const struct vfio_iommu_type1_dma_unmap *unmap =
		(const struct vfio_iommu_type1_dma_unmap *)it.memory;

	(void)state;
	iommu_begin();
	assert_int_equal(unmap_of(0, 0x7000, 0x4000), 0);
	assert_int_equal(it.iova, 0x7000);
	assert_int_equal(it.size, 0x4000);
	assert_int_equal(it.written, sizeof(*unmap));
	assert_int_equal(unmap->size, 0x3000);
	assert_int_equal(unmap->iova, 0x7000);
	it.unmap_error = EINVAL;
	assert_int_equal(unmap_of(0, 0x7000, 0x4000), EINVAL);
	assert_int_equal(it.written, 0);
	it.unmap_error = 0;
	it.unwritable = true;
	assert_int_equal(unmap_of(0, 0x7000, 0x4000), EFAULT);
	assert_int_equal(it.unmaps, 3);
	assert_int_equal(unmap_of(1, 0x7000, 0x4000), EINVAL);
	assert_int_equal(unmap_of(0, 0x7000, 0), EINVAL);
	assert_int_equal(unmap_of(0, 0x7800, 0x1000), EINVAL);
	assert_int_equal(unmap_of(0, 0x7000, 0x1800), EINVAL);
	((struct vfio_iommu_type1_dma_unmap *)it.memory)->argsz--;
	assert_int_equal(request_with(VFIO_IOMMU_UNMAP_DMA, ADDR), EINVAL);
	it.unreadable = true;
	assert_int_equal(unmap_of(0, 0x7000, 0x1000), EFAULT);
	assert_int_equal(it.unmaps, 3);
	iommu_end();
}

static void the_file_is_there_with_a_device(void **state)
{
	static const struct vfio_file_kind other;
	struct vfio_file file = it.file;
	struct stat st = { .st_ino = 5 };

	(void)state;
	assert_true(registered->exists(NULL, 0));
	no_device = true;
	assert_false(registered->exists(NULL, 0));
	assert_string_equal(registered->path, "/dev/vfio/vfio");
	assert_true(registered->is_single);
	assert_int_equal(registered->major, 10);
	assert_int_equal(registered->first_minor, 196);
	assert_int_equal(registered->find(&st), 0);
	st.st_ino++;
	assert_int_equal(registered->find(&st), -1);
	st.st_ino--;
	it.file.kind = &other;
	assert_int_equal(registered->find(&st), -1);
	assert_null(vfio_container_of(&it.file));
	it.file = file;
	it.closed = true;
	registered->open(&call, 0, O_CLOEXEC);
	assert_int_equal(it.failed, REFUSED);
	assert_int_equal(it.cloexecs, 0);
	it.closed = false;
	registered->open(&call, 0, O_CLOEXEC | O_RDWR);
	assert_int_equal(it.cloexecs, 1);
	file.kind->close(&file);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, container_begin, container_end)
	const struct CMUnitTest tests[] = {
		CASE(the_interface_is_told),
		CASE(an_iommu_needs_a_group),
		CASE(the_last_group_takes_the_mappings_along),
		CASE(without_an_iommu_nothing_is_mapped),
		CASE(info_has_as_much_as_fits),
		CASE(info_names_the_usable_addresses),
		CASE(memory_is_mapped_with_its_rights),
		CASE(odd_memory_is_refused),
		CASE(a_refused_mapping_keeps_no_process),
		CASE(the_program_learns_how_much_was_unmapped),
		CASE(the_file_is_there_with_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
