/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem_test.c - user memory: the page size that is picked, the list of pages in the device's
 * command, what is refused, and what is undone when a later step fails.
 */
#include <errno.h>

#include "attrs.h"
#include "softhca/front/process/uverbs/devx/umem.c"

enum { SLOT = 3, UID = 7, FD = 0, REFUSED = EDOM, NOT_MAPPED = ENODEV };

#define BUS        ((uint64_t)SLOT << 48)
#define FILE_START 0x7f0000003000ull
#define FILE_BUS   (5ull << 48)

static struct {
	int access_error, map_error;
	uint64_t access;
	unsigned int maps, unmaps;
	uint64_t offset, length;
	bool writable, pinned;
} it;

int mr_check_access(const struct uverbs_call *uc, uint64_t access)
{
	assert_ptr_equal(uc, &rig.call);
	it.access = access;
	return it.access_error;
}

int dmabuf_map(const struct call *call, int fd, uint64_t offset, uint64_t length, bool writable,
	       bool pinned, struct dmabuf *dmabuf)
{
	assert_ptr_equal(call, rig.call.call);
	assert_int_equal(fd, FD);
	if (it.map_error)
		return it.map_error;
	it.maps++;
	it.offset = offset;
	it.length = length;
	it.writable = writable;
	it.pinned = pinned;
	dmabuf->map = &it;
	dmabuf->bus = FILE_BUS;
	dmabuf->start = FILE_START;
	return 0;
}

void dmabuf_unmap(struct dmabuf *dmabuf)
{
	it.unmaps += dmabuf->map != NULL;
	dmabuf->map = NULL;
}

static int umem_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.client.slot = SLOT;
	rig.file.uid = UID;
	return 0;
}

static int umem_end(void **state)
{
	rig_end(state);
	assert_int_equal(it.maps, it.unmaps);
	return 0;
}

static int reg(uint64_t addr, uint64_t length, uint64_t access)
{
	rig_in(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, &addr, sizeof(addr));
	rig_in(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, &length, sizeof(length));
	rig_in(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, &access, sizeof(access));
	return umem_reg(&rig.call);
}

static int reg_of_file(uint64_t offset, uint64_t length, int64_t fd)
{
	rig_in(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, &fd, sizeof(fd));
	return reg(offset, length, 0);
}

static void allow_pages(uint64_t sizes)
{
	rig_in(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, &sizes, sizeof(sizes));
}

static uint8_t *context(void)
{
	return fld_at(rig.command, CREATE_UMEM_IN_UMEM);
}

static uint64_t entry(unsigned int i)
{
	return fld_get64(fld_at(context(), UMEM_MTT), (size_t)i * 8);
}

static unsigned int page_shift(void)
{
	return PAGE_SHIFT + (unsigned int)fld_get(context(), UMEM_LOG_PAGE_SIZE);
}

static void check_nothing_made(void)
{
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(it.maps, it.unmaps);
}

static void pages_of_memory_are_listed(void **state)
{
	uint32_t id;

	(void)state;
	assert_int_equal(reg(0x10000123, 0x2000, IB_UVERBS_ACCESS_LOCAL_WRITE), 0);
	assert_int_equal(rig.command_len, PRM_CREATE_UMEM_IN_SIZE + 3 * 8);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_UMEM);
	assert_int_equal(fld_get(rig.command, CMD_IN_UID), UID);
	assert_int_equal(fld_get(context(), UMEM_LOG_PAGE_SIZE), 0);
	assert_int_equal(fld_get(context(), UMEM_PAGE_OFFSET), 0x123);
	assert_int_equal(fld_get(context(), UMEM_NUM_OF_MTT), 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(entry(i) == (BUS | (0x10000000 + i * 0x1000) | 3));
	memcpy(&id, rig_out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, sizeof(id)), sizeof(id));
	assert_int_equal(id, rig.number);
	assert_true(rig_has_out(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE));
	assert_int_equal(rig.pins[0].addr, 0x10000123);
	assert_int_equal(rig.pins[0].len, 0x2000);
	assert_true(rig.pins[0].writable);
	assert_int_equal(it.access, IB_UVERBS_ACCESS_LOCAL_WRITE);
}

static void the_last_byte_ends_the_list(void **state)
{
	(void)state;
	assert_int_equal(reg(0x10001000, 0x1000, 0), 0);
	assert_int_equal(fld_get(context(), UMEM_NUM_OF_MTT), 1);
	assert_int_equal(reg(0x10001001, 0x1000, 0), 0);
	assert_int_equal(fld_get(context(), UMEM_NUM_OF_MTT), 2);
	assert_int_equal(fld_get(context(), UMEM_PAGE_OFFSET), 1);
	assert_int_equal(reg(0x10001fff, 1, 0), 0);
	assert_int_equal(fld_get(context(), UMEM_NUM_OF_MTT), 1);
}

static void rights_follow_the_access_flags(void **state)
{
	(void)state;
	assert_int_equal(reg(0x1000, 1, IB_UVERBS_ACCESS_REMOTE_READ), 0);
	assert_true(entry(0) == (BUS | 0x1000 | MTT_READ));
	assert_false(rig.pins[0].writable);
	assert_int_equal(reg(0x1000, 1, IB_UVERBS_ACCESS_REMOTE_WRITE), 0);
	assert_true(entry(0) == (BUS | 0x1000 | MTT_READ | MTT_WRITE));
	assert_true(rig.pins[1].writable);
	assert_int_equal(reg(0x1000, 1, IB_UVERBS_ACCESS_RELAXED_ORDERING), 0);
	assert_int_equal(reg(0x1000, 1, IB_UVERBS_ACCESS_MW_BIND), EINVAL);
	assert_int_equal(reg(0x1000, 1, 1ull << 40), EINVAL);
	it.access_error = REFUSED;
	assert_int_equal(reg(0x1000, 1, 0), REFUSED);
	assert_int_equal(rig.commands, 3);
}

/* A page above 4 KiB lies wholly in the memory. */
static void the_largest_page_that_fits_is_picked(void **state)
{
	static const struct {
		uint64_t start, length;
		unsigned int shift;
	} rows[] = {
		{ 0x40000000, 0x1000, 12 },   { 0x40000000, 0x2000, 13 },
		{ 0x40000000, 0x200000, 21 }, { 0x40000000, 0x1ff000, 12 },
		{ 0x40000000, 0x6000, 13 },   { 0x40001000, 0x200000, 12 },
		{ 0x40002000, 0x4000, 13 },   { 0x40000004, 0x200000, 12 },
		{ 0x40000000, 0x2001, 12 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t in_pages = rows[i].length >> rows[i].shift;

		assert_int_equal(reg(rows[i].start, rows[i].length, 0), 0);
		assert_int_equal(page_shift(), rows[i].shift);
		assert_int_equal(fld_get(context(), UMEM_NUM_OF_MTT),
				 in_pages + (rows[i].length + (rows[i].start & 0xfff) >
					     in_pages << rows[i].shift));
		assert_true(entry(0) == (BUS | (rows[i].start & ~0xfffull) | MTT_READ));
	}
}

static void pages_are_of_sizes_that_the_program_allows(void **state)
{
	static const struct {
		uint64_t sizes, length;
		unsigned int shift; /* 0: refused */
	} rows[] = {
		{ 1 << 12, 0x200000, 12 },
		{ 1 << 12 | 1 << 16, 0x200000, 16 },
		{ 1 << 12 | 1 << 21, 0x200000, 21 },
		{ 1 << 12 | 1 << 22, 0x200000, 12 },
		{ 1 << 12 | 1 << 21, 0x1f0000, 12 }, /* not 64 KiB, which would fit */
		{ 1 << 13 | 1 << 21, 0x1fe000, 13 },
		{ 1 << 21, 0x1f0000, 0 },
		{ 1 << 16, 0x11000, 0 },
		{ 1 << 22, 0x200000, 0 },
		{ 1 << 11, 0x200000, 0 },
		{ 0, 0x200000, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		allow_pages(rows[i].sizes);
		assert_int_equal(reg(0x40000000, rows[i].length, 0), rows[i].shift ? 0 : EINVAL);
		if (rows[i].shift)
			assert_int_equal(page_shift(), rows[i].shift);
	}
}

static void a_page_has_at_most_31_bits_above_4_kib(void **state)
{
	(void)state;
	assert_int_equal(reg(1ull << 45, 1ull << 45, 0), 0);
	assert_int_equal(page_shift(), LOG_PAGE_MAX);
	assert_int_equal(fld_get(context(), UMEM_NUM_OF_MTT), 4);
	assert_true(entry(1) == (BUS | 1ull << 45 | 1ull << LOG_PAGE_MAX | MTT_READ));
}

static void ranges_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(reg(0x1000, 0, 0), EINVAL);
	assert_int_equal(reg(0x1000, UINT64_MAX - 0xfff, 0), EINVAL);
	assert_int_equal(reg(0x1000, UINT64_MAX, 0), EINVAL);
	assert_int_equal(rig.pinned, 0);
	rig.pin_error = REFUSED;
	assert_int_equal(reg(0x1000, 1, 0), REFUSED);
	check_nothing_made();
	assert_int_equal(rig.commands, 0);
}

static void a_files_memory_is_mapped(void **state)
{
	(void)state;
	assert_int_equal(reg_of_file(0x3000, 0x1000, FD), 0);
	assert_int_equal(it.offset, 0x3000);
	assert_int_equal(it.length, 0x1000);
	assert_true(it.pinned);
	assert_false(it.writable);
	assert_int_equal(rig.pinned, 0);
	assert_true(entry(0) == (FILE_BUS | FILE_START | MTT_READ));
	assert_int_equal(reg_of_file(0, 0x1000, -1), EBADF);
	it.map_error = NOT_MAPPED;
	assert_int_equal(reg_of_file(0, 0x1000, FD), NOT_MAPPED);
	it.map_error = 0;
	rig.command_error = REFUSED;
	assert_int_equal(reg_of_file(0, 0x1000, FD), REFUSED);
	assert_int_equal(it.unmaps, 1);
	rig.command_error = 0;
}

static void descriptor_0_is_a_file(void **state)
{
	struct umem_request req;
	const int64_t fd = 0;

	(void)state;
	rig_in(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, &fd, sizeof(fd));
	assert_int_equal(read_request(&rig.call, &req), 0);
	assert_int_equal(req.fd, 0);
	rig_without(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);
	assert_int_equal(read_request(&rig.call, &req), 0);
	assert_int_equal(req.fd, -1);
}

static void a_program_without_commands_has_none(void **state)
{
	(void)state;
	rig.file.uid = 0;
	assert_int_equal(reg(0x1000, 1, 0), EINVAL);
	assert_int_equal(rig.made, 0);
}

static void attributes_are_read(void **state)
{
	static const uint16_t ids[] = { MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR,
					MLX5_IB_ATTR_DEVX_UMEM_REG_LEN,
					MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS,
					MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP };

	(void)state;
	for (unsigned int i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		rig.in_refused = ids[i];
		assert_int_equal(reg(0x1000, 1, 0), EFAULT);
	}
	assert_int_equal(rig.made, 0);
}

static void a_failed_answer_destroys_it(void **state)
{
	(void)state;
	rig.out_refused = MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID;
	assert_int_equal(reg(0x1000, 1, 0), EFAULT);
	assert_int_equal(rig.last_released, rig.number);
	assert_int_equal(rig.released, 1);
	check_nothing_made();
}

static void memory_is_freed_unless_it_is_used(void **state)
{
	uint32_t handle;

	(void)state;
	assert_int_equal(reg_of_file(0, 0x1000, FD), 0);
	memcpy(&handle, rig_out(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, sizeof(handle)), sizeof(handle));
	rig_in_object(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, rig.objects[handle]);
	rig.command_error = REFUSED;
	assert_int_equal(umem_dereg(&rig.call), REFUSED);
	assert_int_equal(it.unmaps, 0);
	rig.command_error = 0;
	assert_int_equal(umem_dereg(&rig.call), 0);
	assert_int_equal(rig.last_released, rig.number);
	check_nothing_made();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, umem_begin, umem_end)
	const struct CMUnitTest tests[] = {
		CASE(pages_of_memory_are_listed),
		CASE(the_last_byte_ends_the_list),
		CASE(rights_follow_the_access_flags),
		CASE(the_largest_page_that_fits_is_picked),
		CASE(pages_are_of_sizes_that_the_program_allows),
		CASE(a_page_has_at_most_31_bits_above_4_kib),
		CASE(ranges_do_not_wrap),
		CASE(a_files_memory_is_mapped),
		CASE(descriptor_0_is_a_file),
		CASE(a_program_without_commands_has_none),
		CASE(attributes_are_read),
		CASE(a_failed_answer_destroys_it),
		CASE(memory_is_freed_unless_it_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
