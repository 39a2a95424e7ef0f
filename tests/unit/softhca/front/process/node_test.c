/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node_test.c - kinds of device files: which paths and descriptors are such a file.
 *
 * Covers: softhca/front/process/node.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/sysmacros.h>

#include "softhca/front/process/node.h"

enum { FILES = 3, OPEN_INODE = 7, OPEN_INDEX = 1, SINGLE_INODE = 8 };

static bool many_exists(const struct daemon *daemon, unsigned int index)
{
	assert_null(daemon);
	return index < FILES;
}

static int many_find(const struct stat *st)
{
	return st->st_ino == OPEN_INODE ? OPEN_INDEX : -1;
}

static bool single_exists(const struct daemon *daemon, unsigned int index)
{
	assert_null(daemon);
	return !index;
}

static int single_find(const struct stat *st)
{
	return st->st_ino == SINGLE_INODE ? 0 : -1;
}

static struct node_kind many = {
	.path = "/dev/many",
	.major = 231,
	.first_minor = 192,
	.exists = many_exists,
	.find = many_find,
};

static struct node_kind single = {
	.path = "/dev/many_single",
	.is_single = true,
	.major = 10,
	.first_minor = 120,
	.exists = single_exists,
	.find = single_find,
};

static void assert_node(const struct node *node, const struct node_kind *kind, unsigned int index)
{
	assert_ptr_equal(node->kind, kind);
	assert_int_equal(node->index, index);
}

static void paths(void **state)
{
	static const char *const others[] = {
		"/dev/many", "/dev/many3",        "/dev/many1x",     "/dev/many4294967296",
		"/dev/man",  "/dev/many_single0", "/dev/many_singl", "/dev/many/0",
	};
	struct node node;

	(void)state;
	assert_true(node_of_path(NULL, "/dev/many0", &node));
	assert_node(&node, &many, 0);
	assert_true(node_of_path(NULL, "/dev/many2", &node));
	assert_node(&node, &many, 2);
	assert_true(node_of_path(NULL, "/dev/many_single", &node));
	assert_node(&node, &single, 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(node_of_path(NULL, others[i], &node));
}

static void files(void **state)
{
	struct stat st = { .st_ino = OPEN_INODE };
	struct node node;

	(void)state;
	assert_true(node_of_file(&st, &node));
	assert_node(&node, &many, OPEN_INDEX);
	st.st_ino = SINGLE_INODE;
	assert_true(node_of_file(&st, &node));
	assert_node(&node, &single, 0);
	st.st_ino = 0;
	assert_false(node_of_file(&st, &node));
}

static void numbers(void **state)
{
	struct node node = { &many, OPEN_INDEX };

	(void)state;
	assert_true(node_number(&node) == makedev(231, 193));
	node = (struct node){ &single, 0 };
	assert_true(node_number(&node) == makedev(10, 120));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(files),
		cmocka_unit_test(numbers),
	};

	node_register(&many);
	node_register(&single);
	node_register(&single); /* once more changes nothing */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
