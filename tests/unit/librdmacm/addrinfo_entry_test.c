/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_entry_test.c - copies that belong to an entry, and that a list is freed with all it has.
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/addrinfo_entry.c"
#include "tests/unit/heap.h"

static const struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = 7 };

static int heap_setup(void **state)
{
	(void)state;
	heap_begin();
	return 0;
}

static int heap_check(void **state)
{
	(void)state;
	assert_int_equal(heap.blocks, 0);
	return 0;
}

static void nothing_is_copied_to_nothing(void **state)
{
	char byte = 1;
	void *to = &byte;
	size_t len = 5;

	(void)state;
	assert_int_equal(rdmacm_addrinfo_copy(&to, &len, NULL, 1), 0);
	assert_null(to);
	assert_int_equal(len, 0);
	to = &byte;
	len = 5;
	assert_int_equal(rdmacm_addrinfo_copy(&to, &len, &byte, 0), 0);
	assert_null(to);
	assert_int_equal(len, 0);
	assert_int_equal(heap.blocks, 0);
}

static void a_copy_is_of_the_same_bytes(void **state)
{
	void *to = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(rdmacm_addrinfo_copy(&to, &len, &addr, sizeof(addr)), 0);
	assert_ptr_not_equal(to, &addr);
	assert_int_equal(len, sizeof(addr));
	assert_memory_equal(to, &addr, sizeof(addr));
	free(to);
	to = &len;
	heap_fail_at(1);
	assert_int_equal(rdmacm_addrinfo_copy(&to, &len, &addr, sizeof(addr)), ENOMEM);
	assert_null(to);
	assert_int_equal(len, 0);
}

static void an_entry_has_a_source_and_a_destination(void **state)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));

	(void)state;
	assert_non_null(info);
	assert_int_equal(
		rdmacm_addrinfo_put_source(info, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_memory_equal(info->ai_src_addr, &addr, sizeof(addr));
	assert_int_equal(info->ai_src_len, sizeof(addr));
	assert_null(info->ai_dst_addr);
	assert_int_equal(rdmacm_addrinfo_put_destination(info, (const struct sockaddr *)&addr, 4),
			 0);
	assert_memory_equal(info->ai_dst_addr, &addr, 4);
	assert_int_equal(info->ai_dst_len, 4);
	rdma_freeaddrinfo(info);
}

static void an_entry_without_memory_has_no_address(void **state)
{
	struct rdma_addrinfo info = { .ai_src_len = 9, .ai_dst_len = 9 };

	(void)state;
	heap_fail_at(1);
	assert_int_equal(
		rdmacm_addrinfo_put_source(&info, (const struct sockaddr *)&addr, sizeof(addr)),
		ENOMEM);
	assert_null(info.ai_src_addr);
	assert_int_equal(info.ai_src_len, 0);
	heap_fail_at(1);
	assert_int_equal(rdmacm_addrinfo_put_destination(&info, (const struct sockaddr *)&addr,
							 sizeof(addr)),
			 ENOMEM);
	assert_null(info.ai_dst_addr);
	assert_int_equal(info.ai_dst_len, 0);
}

static void a_list_is_freed_with_all_it_has(void **state)
{
	struct rdma_addrinfo *list = NULL;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rdma_addrinfo *info = calloc(1, sizeof(*info));

		assert_non_null(info);
		info->ai_next = list;
		info->ai_src_addr = malloc(16);
		info->ai_dst_addr = malloc(16);
		info->ai_src_canonname = malloc(16);
		info->ai_dst_canonname = malloc(16);
		info->ai_route = malloc(16);
		info->ai_connect = malloc(16);
		list = info;
	}
	assert_int_equal(heap.blocks, 21);
	rdma_freeaddrinfo(list);
	assert_int_equal(heap.blocks, 0);
	rdma_freeaddrinfo(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, heap_setup, heap_check)
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_copied_to_nothing),
		TEST(a_copy_is_of_the_same_bytes),
		TEST(an_entry_has_a_source_and_a_destination),
		TEST(an_entry_without_memory_has_no_address),
		TEST(a_list_is_freed_with_all_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
