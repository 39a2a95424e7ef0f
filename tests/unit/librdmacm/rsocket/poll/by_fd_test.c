/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects by descriptor.
 *
 * Covers: librdmacm/rsocket/poll/by_fd.h
 */
#include "tests/unit/libibverbs/unit.h"

#include <stdbool.h>
#include <stdlib.h>

static bool no_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	return no_memory ? NULL : __real_realloc(old, size);
}

#include "librdmacm/rsocket/poll/by_fd.h"

static void objects_stay_when_the_map_grows(void **state)
{
	static const int fds[] = { 0, 3, 63, 64, 127, 128, 5000 };
	struct by_fd map = { 0 };
	char objects[ARRAY_SIZE(fds)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		assert_null(by_fd_find(&map, fds[i]));
		assert_int_equal(by_fd_reserve(&map, fds[i]), 0);
		by_fd_set(&map, fds[i], &objects[i]);
		for (size_t j = 0; j <= i; j++)
			assert_ptr_equal(by_fd_find(&map, fds[j]), &objects[j]);
	}
	for (int fd = -1, found = 0; fd < 10000; fd++) {
		found += by_fd_find(&map, fd) != NULL;
		assert_true(fd < 9999 || found == ARRAY_SIZE(fds));
	}
	by_fd_set(&map, 63, NULL);
	assert_null(by_fd_find(&map, 63));
	free(map.objects);
}

static void without_memory_the_map_stays(void **state)
{
	struct by_fd map = { 0 };

	(void)state;
	assert_int_equal(by_fd_reserve(&map, 0), 0);
	by_fd_set(&map, 0, &map);
	no_memory = true;
	assert_int_equal(by_fd_reserve(&map, 1000), ENOMEM);
	assert_int_equal(by_fd_reserve(&map, 1), 0);
	no_memory = false;
	assert_ptr_equal(by_fd_find(&map, 0), &map);
	assert_null(by_fd_find(&map, 1000));
	free(map.objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_stay_when_the_map_grows),
		cmocka_unit_test(without_memory_the_map_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
