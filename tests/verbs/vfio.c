/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio.c - an adapter that a program drives itself: the files of VFIO and what their requests
 * refuse, and a library on top of them.
 *
 * Covers: softhca/front/process/vfio/, softhca/front/process/discovery/sysfs_pci.c,
 * providers/mlx5/vfio/
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/pd.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

#define ADDRESS "5fca:02:00.0"
#define DEVICE  "/sys/bus/pci/devices/" ADDRESS

enum { PAGE = 4096 };

static struct {
	int container, group, device;
} vfio;

static int request(int fd, unsigned long number, void *argument)
{
	errno = 0;
	return ioctl(fd, number, argument) < 0 ? errno : 0;
}

static void open_files(void)
{
	vfio.container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	vfio.group = open("/dev/vfio/1000", O_RDWR | O_CLOEXEC);
	MUST(vfio.container >= 0 && vfio.group >= 0);
}

static void close_files(void)
{
	if (vfio.device > 0)
		close(vfio.device);
	close(vfio.group);
	close(vfio.container);
	vfio.device = 0;
}

static void container_attach(void)
{
	MUST(!request(vfio.group, VFIO_GROUP_SET_CONTAINER, &vfio.container));
	MUST(!request(vfio.container, VFIO_SET_IOMMU, (void *)VFIO_TYPE1v2_IOMMU));
}

static void open_device(void)
{
	open_files();
	container_attach();
	vfio.device = ioctl(vfio.group, VFIO_GROUP_GET_DEVICE_FD, ADDRESS);
	MUST(vfio.device >= 0);
}

static void the_device_is_in_sysfs(void)
{
	char target[256] = "";

	say_check(!access(DEVICE "/vendor", R_OK), "the device is there");
	say_check(readlink(DEVICE "/iommu_group", target, sizeof(target) - 1) > 0 &&
			  !strcmp(strrchr(target, '/'), "/1000"),
		  "it has a group");
	memset(target, 0, sizeof(target));
	say_check(readlink(DEVICE "/driver", target, sizeof(target) - 1) > 0 &&
			  !strcmp(strrchr(target, '/'), "/vfio-pci"),
		  "its driver is vfio-pci");
	say_check(!access("/sys/kernel/iommu_groups/1000/devices/" ADDRESS "/vendor", R_OK),
		  "the group has it");
}

static void files_are_opened_in_order(void)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	int other;

	open_files();
	say_check(ioctl(vfio.container, VFIO_GET_API_VERSION) == VFIO_API_VERSION, "version");
	say_check(ioctl(vfio.container, VFIO_CHECK_EXTENSION, VFIO_TYPE1_IOMMU) == 1, "type 1");
	say_check(!ioctl(vfio.container, VFIO_CHECK_EXTENSION, VFIO_SPAPR_TCE_IOMMU), "no other");
	say_check(open("/dev/vfio/1000", O_RDWR) < 0 && errno == EBUSY, "a group is opened once");
	say_check(open("/dev/vfio/1001", O_RDWR) < 0 && errno == ENOENT, "no other group");
	say_check(request(vfio.container, VFIO_SET_IOMMU, (void *)VFIO_TYPE1_IOMMU) == EINVAL,
		  "no IOMMU without a group");
	say_check(!request(vfio.group, VFIO_GROUP_GET_STATUS, &status) &&
			  status.flags == VFIO_GROUP_FLAGS_VIABLE,
		  "in no container");
	say_check(request(vfio.group, VFIO_GROUP_GET_DEVICE_FD, ADDRESS) == EINVAL,
		  "no device without a container");
	other = open("/dev/null", O_RDWR);
	say_check(request(vfio.group, VFIO_GROUP_SET_CONTAINER, &other) == EINVAL, "no container");
	close(other);
	other = -1;
	say_check(request(vfio.group, VFIO_GROUP_SET_CONTAINER, &other) == EBADF, "no file");
	container_attach();
	say_check(!request(vfio.group, VFIO_GROUP_GET_STATUS, &status) &&
			  status.flags & VFIO_GROUP_FLAGS_CONTAINER_SET,
		  "in a container");
	say_check(request(vfio.group, VFIO_GROUP_SET_CONTAINER, &vfio.container) == EINVAL,
		  "in one already");
	say_check(request(vfio.group, VFIO_GROUP_GET_DEVICE_FD, "0000:00:00.0") == ENODEV,
		  "another device");
	say_check(request(vfio.group, VFIO_IOMMU_GET_INFO, &status) == ENOTTY,
		  "a request of another file");
	close_files();
}

static void a_group_stays_while_its_device_is_open(void)
{
	open_device();
	say_check(request(vfio.group, VFIO_GROUP_UNSET_CONTAINER, NULL) == EBUSY,
		  "it stays in its container");
	close(vfio.group);
	vfio.group = open("/dev/vfio/1000", O_RDWR | O_CLOEXEC);
	say_check(vfio.group < 0 && errno == EBUSY, "its device is open still");
	close(vfio.device);
	vfio.device = 0;
	vfio.group = open("/dev/vfio/1000", O_RDWR | O_CLOEXEC);
	say_check(vfio.group >= 0, "the device is closed");
	say_check(request(vfio.group, VFIO_GROUP_UNSET_CONTAINER, NULL) == EINVAL,
		  "it has left its container");
	close_files();
	open_device();
	close(vfio.device);
	vfio.device = 0;
	say_check(!request(vfio.group, VFIO_GROUP_UNSET_CONTAINER, NULL),
		  "taken out as soon as the device is closed");
	close_files();
}

static int map(uint64_t iova, void *memory, uint64_t size, uint32_t flags)
{
	struct vfio_iommu_type1_dma_map map = { .argsz = sizeof(map),
						.flags = flags,
						.vaddr = (uintptr_t)memory,
						.iova = iova,
						.size = size };

	return request(vfio.container, VFIO_IOMMU_MAP_DMA, &map);
}

static int unmap(uint64_t iova, uint64_t size, uint64_t *unmapped)
{
	struct vfio_iommu_type1_dma_unmap unmap = { .argsz = sizeof(unmap),
						    .iova = iova,
						    .size = size };
	int ret = request(vfio.container, VFIO_IOMMU_UNMAP_DMA, &unmap);

	*unmapped = unmap.size;
	return ret;
}

static void memory_is_mapped_by_pages(void)
{
	enum { RW = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE };
	char *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t unmapped;

	open_files();
	say_check(map(PAGE, memory, PAGE, RW) == EINVAL, "no IOMMU yet");
	container_attach();
	say_check(!map(PAGE, memory, 2 * PAGE, RW), "two pages");
	say_check(map(2 * PAGE, memory, PAGE, RW) == EEXIST, "mapped already");
	say_check(map(8 * PAGE + 1, memory, PAGE, RW) == EINVAL, "no whole page");
	say_check(map(8 * PAGE, memory + 1, PAGE, RW) == EINVAL, "unaligned memory");
	say_check(map(8 * PAGE, memory, PAGE, 0) == EINVAL, "no access");
	say_check(map(8 * PAGE, memory, PAGE, RW | 1u << 30) == EINVAL, "an unknown flag");
	say_check(map(0xfee00000, memory, PAGE, RW) == EINVAL, "addresses of interrupts");
	say_check(map(1ull << 48, memory, PAGE, RW) == EINVAL, "beyond the IOMMU's addresses");
	say_check(map(8 * PAGE, (void *)((uintptr_t)memory | 1ull << 48), PAGE, RW) == EFAULT,
		  "an address of no program");
	munmap(memory + 3 * PAGE, PAGE);
	say_check(map(8 * PAGE, memory, 4 * PAGE, RW) == EFAULT, "memory that is not there");
	say_check(unmap(PAGE, PAGE, &unmapped) == EINVAL, "a part of a mapping");
	say_check(!unmap(0, 16 * PAGE, &unmapped) && unmapped == 2 * PAGE, "all of it");
	say_check(!unmap(0, 16 * PAGE, &unmapped) && !unmapped, "nothing is left");
	close_files();
}

static void the_iommu_tells_its_addresses(void)
{
	struct vfio_iommu_type1_info info = { .argsz = sizeof(info) };
	struct vfio_iommu_type1_info_cap_iova_range *range;
	uint8_t *all;

	open_files();
	container_attach();
	say_check(!request(vfio.container, VFIO_IOMMU_GET_INFO, &info), "without room");
	say_check(info.argsz > sizeof(info) && info.flags == VFIO_IOMMU_INFO_PGSIZES &&
			  info.iova_pgsizes & PAGE,
		  "pages, and how much room all takes");
	all = calloc(1, info.argsz);
	MUST(all);
	memcpy(all, &info.argsz, sizeof(info.argsz));
	say_check(!request(vfio.container, VFIO_IOMMU_GET_INFO, all), "with room");
	memcpy(&info, all, sizeof(info));
	say_check(info.flags & VFIO_IOMMU_INFO_CAPS, "capabilities");
	range = (void *)(all + info.cap_offset);
	say_check(range->header.id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE &&
			  range->nr_iovas == 2 && range->iova_ranges[0].end == 0xfedfffff,
		  "ranges of addresses");
	free(all);
	close_files();
}

static uint32_t config_read(uint64_t config, uint32_t at, unsigned int bytes)
{
	uint32_t value = 0;

	MUST(pread(vfio.device, &value, bytes, (off_t)(config + at)) == (ssize_t)bytes);
	return le32toh(value);
}

static void the_device_has_regions(void)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct vfio_region_info region = { .argsz = sizeof(region) };
	struct vfio_irq_info irq = { .argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX };
	const uint16_t master = htole16(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	uint32_t *bar, value;
	uint64_t config;

	open_device();
	say_check(!request(vfio.device, VFIO_DEVICE_GET_INFO, &info) &&
			  info.flags == (VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET),
		  "a PCI device");
	region.index = VFIO_PCI_CONFIG_REGION_INDEX;
	say_check(!request(vfio.device, VFIO_DEVICE_GET_REGION_INFO, &region) &&
			  region.size == PAGE && !(region.flags & VFIO_REGION_INFO_FLAG_MMAP),
		  "configuration space");
	config = region.offset;
	say_check(config_read(config, PCI_VENDOR_ID, 2) == 0x15b3, "its vendor");
	say_check(pwrite(vfio.device, &master, 2, (off_t)(config + PCI_COMMAND)) == 2 &&
			  config_read(config, PCI_COMMAND, 2) == le16toh(master),
		  "bus mastering");
	say_check(pread(vfio.device, &value, 4, (off_t)config + PAGE) < 0 && errno == EINVAL,
		  "nothing behind it");
	region.index = VFIO_PCI_BAR0_REGION_INDEX;
	say_check(!request(vfio.device, VFIO_DEVICE_GET_REGION_INFO, &region) &&
			  region.flags & VFIO_REGION_INFO_FLAG_MMAP,
		  "registers that can be mapped");
	bar = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, vfio.device,
		   (off_t)region.offset);
	say_check(bar != MAP_FAILED && be32toh(bar[0]) >> 16, "firmware's version in a mapping");
	say_check(pread(vfio.device, &value, 4, (off_t)region.offset) == 4 && value == bar[0],
		  "and by a read");
	region.index = VFIO_PCI_NUM_REGIONS;
	say_check(request(vfio.device, VFIO_DEVICE_GET_REGION_INFO, &region) == EINVAL,
		  "no further region");
	say_check(!request(vfio.device, VFIO_DEVICE_GET_IRQ_INFO, &irq) && irq.count == 64,
		  "vectors");
	say_check(!request(vfio.device, VFIO_DEVICE_RESET, NULL) &&
			  !config_read(config, PCI_COMMAND, 2),
		  "a reset ends bus mastering");
	munmap(bar, PAGE);
	close_files();
}

static bool reaches_the_device(int fd)
{
	struct vfio_region_info region = { .argsz = sizeof(region),
					   .index = VFIO_PCI_CONFIG_REGION_INDEX };
	uint16_t vendor = 0;

	MUST(fd >= 0 && !request(fd, VFIO_DEVICE_GET_REGION_INFO, &region));
	MUST(pread(fd, &vendor, 2, (off_t)region.offset) >= 0);
	close(fd);
	return le16toh(vendor) == 0x15b3;
}

static void descriptors_can_be_copied(void)
{
	open_device();
	say_check(reaches_the_device(dup(vfio.device)), "dup");
	say_check(reaches_the_device(fcntl(vfio.device, F_DUPFD_CLOEXEC, 0)), "F_DUPFD_CLOEXEC");
	close_files();
}

static int set_vectors(uint32_t flags, uint32_t start, uint32_t count, int fd)
{
	uint8_t bytes[sizeof(struct vfio_irq_set) + sizeof(fd)];
	struct vfio_irq_set set = { .argsz = sizeof(bytes),
				    .flags = flags,
				    .index = VFIO_PCI_MSIX_IRQ_INDEX,
				    .start = start,
				    .count = count };

	memcpy(bytes, &set, sizeof(set));
	memcpy(bytes + sizeof(set), &fd, sizeof(fd));
	return request(vfio.device, VFIO_DEVICE_SET_IRQS, bytes);
}

static void interrupts_are_eventfds(void)
{
	enum { TRIGGER = VFIO_IRQ_SET_ACTION_TRIGGER, FD = VFIO_IRQ_SET_DATA_EVENTFD | TRIGGER };
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), blocking = eventfd(0, EFD_CLOEXEC);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	open_device();
	say_check(!set_vectors(FD, 63, 1, fd), "the last vector");
	say_check(set_vectors(FD, 64, 1, fd) == EINVAL, "beyond it");
	say_check(set_vectors(FD, 63, 2, fd) == EINVAL, "across the end");
	say_check(set_vectors(FD, 0, 2, fd) == EINVAL, "a request that is too short");
	say_check(set_vectors(FD, 0, 1, 99999) == EBADF, "no descriptor");
	say_check(set_vectors(FD, 0, 1, null) == EINVAL, "no eventfd");
	say_check(!set_vectors(FD, 62, 1, blocking) && !(fcntl(blocking, F_GETFL) & O_NONBLOCK),
		  "an eventfd keeps its flags");
	say_check(!set_vectors(FD, 63, 1, -1), "taken away");
	say_check(set_vectors(VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE, 0, 1, 0) == ENOTTY,
		  "no mask");
	say_check(!set_vectors(VFIO_IRQ_SET_DATA_NONE | TRIGGER, 0, 0, 0), "none at all");
	close(null);
	close(blocking);
	close(fd);
	close_files();
}

static void run_files(void)
{
	the_device_is_in_sysfs();
	files_are_opened_in_order();
	memory_is_mapped_by_pages();
	the_iommu_tells_its_addresses();
	the_device_has_regions();
	descriptors_can_be_copied();
	interrupts_are_eventfds();
}

static struct ibv_context *open_context(void)
{
	struct mlx5dv_vfio_context_attr attr = { .pci_name = ADDRESS };
	struct ibv_device **list = SAY_PTR(mlx5dv_get_vfio_device_list(&attr), "list");
	struct ibv_context *ctx;

	MUST(list && list[0]);
	ctx = SAY_PTR(ibv_open_device(list[0]), "open");
	MUST(ctx);
	ibv_free_device_list(list);
	return ctx;
}

static void refuse_lists(void)
{
	a_group_stays_while_its_device_is_open();
	struct mlx5dv_vfio_context_attr attr = { .pci_name = ADDRESS, .flags = 1u << 30 };

	SAY_PTR(mlx5dv_get_vfio_device_list(&attr), "list, unknown flag");
	attr = (struct mlx5dv_vfio_context_attr){ .pci_name = ADDRESS, .comp_mask = 1 };
	SAY_PTR(mlx5dv_get_vfio_device_list(&attr), "list, comp_mask");
	attr = (struct mlx5dv_vfio_context_attr){ .pci_name = "nonsense" };
	SAY_PTR(mlx5dv_get_vfio_device_list(&attr), "list, no address");
	attr = (struct mlx5dv_vfio_context_attr){ .pci_name = "5fcb:77:00.0" };
	SAY_PTR(mlx5dv_get_vfio_device_list(&attr), "list, no device");
}

static void use_memory(struct ibv_context *ctx)
{
	char *memory = aligned_alloc(PAGE, 2 * PAGE);
	struct ibv_pd *pd = SAY_PTR(ibv_alloc_pd(ctx), "pd");
	struct mlx5dv_pd number = { 0 };
	struct mlx5dv_obj obj = { .pd = { .in = pd, .out = &number } };
	struct mlx5dv_devx_umem *umem;
	struct ibv_mr *mr;

	MUST(pd && memory);
	SAY_RET(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), "init_obj, pd");
	say_check(number.pdn, "the number of the pd");
	mr = SAY_PTR(ibv_reg_mr(pd, memory, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE), "mr");
	say_check(mr && mr->lkey && mr->length == 2 * PAGE, "its key");
	umem = SAY_PTR(mlx5dv_devx_umem_reg(ctx, memory, PAGE, IBV_ACCESS_LOCAL_WRITE), "umem");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd, in use");
	if (umem)
		SAY_RET(mlx5dv_devx_umem_dereg(umem), "umem_dereg");
	if (mr)
		SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd");
	free(memory);
}

static void use_commands(struct ibv_context *ctx)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct mlx5dv_devx_obj *obj;
	uint32_t eqn = 0;

	SAY_RET(mlx5dv_devx_query_eqn(ctx, 0, &eqn), "query_eqn");
	say_check(eqn, "the number of the library's event queue");
	SAY_RET(mlx5dv_devx_query_eqn(ctx, 1, &eqn), "query_eqn, another vector");
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PD);
	obj = SAY_PTR(mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)), "object");
	say_check(fld_get(out, ALLOC_PD_OUT_PD), "its number");
	if (obj)
		SAY_RET(mlx5dv_devx_obj_destroy(obj), "destroy");
	fld_set(in, CMD_IN_OPCODE, 0xfff);
	SAY_RET(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)), "no command");
}

static void use_eq(struct ibv_context *ctx)
{
	enum { LOG_SIZE = 8 };
	struct mlx5dv_devx_uar *uar =
		SAY_PTR(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC), "uar");
	struct mlx5dv_devx_msi_vector *msi =
		SAY_PTR(mlx5dv_devx_alloc_msi_vector(ctx), "msi vector");
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *context = fld_at(in, CREATE_EQ_IN_EQC);
	struct mlx5dv_devx_eq *eq;

	MUST(uar && msi);
	say_check(msi->vector > 0 && msi->fd >= 0, "a vector of its own");
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	fld_set(context, EQC_LOG_EQ_SIZE, LOG_SIZE);
	fld_set(context, EQC_UAR_PAGE, uar->page_id);
	fld_set(context, EQC_INTR, (uint32_t)msi->vector);
	eq = SAY_PTR(mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out)), "eq");
	say_check(eq && eq->vaddr && fld_get(out, CREATE_EQ_OUT_EQ_NUMBER), "its ring and number");
	if (eq)
		SAY_RET(mlx5dv_devx_destroy_eq(eq), "destroy_eq");
	SAY_RET(mlx5dv_devx_free_msi_vector(msi), "free_msi_vector");
	mlx5dv_devx_free_uar(uar);
}

static void refuse_eqs(struct ibv_context *ctx)
{
	enum { TOO_LARGE = 31 };
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	SAY_PTR(mlx5dv_devx_create_eq(ctx, in, PRM_CMD_IN_SIZE, out, sizeof(out)), "eq, short");
	fld_set(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_LOG_EQ_SIZE), TOO_LARGE);
	SAY_PTR(mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out)), "eq, too large");
}

/* Keys for memory whose addresses lie elsewhere in the pages that the adapter sees it in. */
static void use_other_addresses(struct ibv_context *ctx)
{
	enum { LARGE = 2 << 20, LARGE_PAGE = 1 << 16 };
	char *memory = aligned_alloc(LARGE_PAGE, LARGE + LARGE_PAGE);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_mr *mr;

	MUST(pd && memory);
	mr = SAY_PTR(ibv_reg_mr_iova(pd, memory, LARGE, PAGE, IBV_ACCESS_LOCAL_WRITE), "iova");
	MUST(!mr || !ibv_dereg_mr(mr));
	mr = SAY_PTR(ibv_reg_mr(pd, memory + PAGE, LARGE, IBV_ACCESS_LOCAL_WRITE), "large mr");
	MUST(!mr || !ibv_dereg_mr(mr));
	SAY_PTR(ibv_reg_mr_iova(pd, memory, PAGE, 1, IBV_ACCESS_LOCAL_WRITE), "unaligned iova");
	SAY_PTR(ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_MW_BIND), "mr, for windows");
	SAY_PTR(mlx5dv_devx_umem_reg(ctx, memory, PAGE, 1u << 19), "umem, unknown access");
	SAY_PTR(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF), "uar of BlueFlame");
	MUST(!ibv_dealloc_pd(pd));
	free(memory);
}

static void use_all_vectors(struct ibv_context *ctx)
{
	struct mlx5dv_devx_msi_vector *all[64];
	unsigned int count = 0;

	while (count < 64 && (all[count] = mlx5dv_devx_alloc_msi_vector(ctx)))
		count++;
	say_check(count == 63 && errno == ENOSPC, "vectors have an end");
	while (count)
		MUST(!mlx5dv_devx_free_msi_vector(all[--count]));
}

/* The reset at the close frees them, so the next open finds all. */
static void use_all_uars(struct ibv_context *ctx)
{
	enum { MORE_THAN_ALL = 600 };
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	unsigned int count = 0;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_UAR);
	while (count < MORE_THAN_ALL &&
	       !mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)))
		count++;
	say_check(count > 400 && count < MORE_THAN_ALL, "UARs have an end");
	say_check(fld_get(out, CMD_OUT_STATUS) == PRM_STAT_LIM_ERR, "the limit is reached");
}

static void refuse_verbs(struct ibv_context *ctx)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port = { 0 };

	SAY_RET(ibv_query_device(ctx, &attr), "query_device");
	SAY_RET(ibv_query_port(ctx, 1, &port), "query_port");
	SAY_PTR(ibv_create_cq(ctx, 1, NULL, NULL, 0), "create_cq");
}

static void run_library(void)
{
	struct ibv_context *ctx;

	refuse_lists();
	for (int i = 0; i < 2; i++) {
		ctx = open_context();
		say_check(mlx5dv_vfio_get_events_fd(ctx) >= 0, "a descriptor of events");
		SAY_RET(mlx5dv_vfio_process_events(ctx), "process_events");
		use_memory(ctx);
		use_commands(ctx);
		use_eq(ctx);
		refuse_eqs(ctx);
		use_other_addresses(ctx);
		use_all_vectors(ctx);
		use_all_uars(ctx);
		refuse_verbs(ctx);
		SAY_RET(ibv_close_device(ctx), "close");
	}
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "files", run_files }, { "library", run_library } };

	return topics_main(topics, 2, argc, argv);
}
