/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_buf_test.c - ibv_alloc_buf(): its memory, what may be registered of it, and the PD that it
 * is of.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libibverbs/verbs_buf.c"

enum { SIZE = 8192 };

static struct ibv_mr_init_attr asked;

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	static struct ibv_mr mr;

	mr.pd = pd;
	asked = *attr;
	return &mr;
}

static void a_buffer_is_zeroed_memory_of_its_pd(void **state)
{
	struct ibv_buf *buf = NULL;
	struct ibv_pd pd = { 0 };
	uint8_t *addr = ibv_alloc_buf(&pd, SIZE, &buf);

	(void)state;
	assert_non_null(addr);
	assert_ptr_equal(buf->addr, addr);
	assert_int_equal(buf->size, SIZE);
	assert_ptr_equal(buf->pd, &pd);
	assert_int_equal(addr[0], 0);
	addr[SIZE - 1] = 1;
	errno = 0;
	assert_int_equal(ibv_export_buf_dmabuf_fd(buf), -1);
	assert_int_equal(errno, ENODATA);
	ibv_free_buf(buf);
}

static void a_buffer_of_no_or_all_memory_is_none(void **state)
{
	struct ibv_buf *buf = NULL;
	struct ibv_pd pd = { 0 };

	(void)state;
	errno = 0;
	assert_null(ibv_alloc_buf(&pd, 0, &buf));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_alloc_buf(&pd, SIZE_MAX, &buf));
	assert_int_equal(errno, ENOMEM);
	assert_null(buf);
}

/* Ranges begin and end within the buffer; empty ones may be at its end. */
static void a_range_lies_in_the_buffer_of_its_pd(void **state)
{
	static char memory[SIZE + 2];
	static const struct {
		int offset;
		size_t length;
		int err;
	} rows[] = {
		{ 0, SIZE, 0 },
		{ SIZE - 1, 1, 0 },
		{ SIZE, 0, 0 },
		{ 0, SIZE + 1, EINVAL },
		{ 1, SIZE, EINVAL },
		{ SIZE, 1, EINVAL },
		{ -1, 1, EINVAL },
		{ SIZE + 1, 0, EINVAL },
		{ 1, SIZE_MAX, EINVAL },
		{ 0, 1, 0 },
		{ SIZE / 2, SIZE / 2, 0 },
	};
	struct ibv_pd pd = { 0 }, other = { 0 };
	const struct ibv_buf buf = { memory + 1, SIZE, &pd, -1 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *addr = memory + 1 + rows[i].offset;

		assert_int_equal(verbs_buf_check_range(&pd, &buf, addr, rows[i].length),
				 rows[i].err);
		assert_int_equal(verbs_buf_check_range(&other, &buf, addr, rows[i].length), EINVAL);
	}
}

static void a_registration_names_the_buffer(void **state)
{
	static char memory[SIZE];
	struct ibv_pd pd = { 0 };
	struct ibv_buf buf = { memory, SIZE, &pd, -1 };
	const struct ibv_mr *mr = ibv_reg_buf_mr(&pd, &buf, memory + 8, 16, IBV_ACCESS_REMOTE_READ);

	(void)state;
	assert_ptr_equal(mr->pd, &pd);
	assert_ptr_equal(asked.buf, &buf);
	assert_ptr_equal(asked.addr, memory + 8);
	assert_int_equal(asked.length, 16);
	assert_int_equal(asked.access, IBV_ACCESS_REMOTE_READ);
	assert_int_equal(asked.comp_mask, IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_is_zeroed_memory_of_its_pd),
		cmocka_unit_test(a_buffer_of_no_or_all_memory_is_none),
		cmocka_unit_test(a_range_lies_in_the_buffer_of_its_pd),
		cmocka_unit_test(a_registration_names_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
