/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cells_test.c - reuse of small objects: each freed cell is handed out once, and a double free
 * aborts the program, as free() does, before two objects share memory.
 *
 * Covers: providers/common/memory/cells.c, providers/common/memory/cells.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/common/memory/cells.h"

enum { SIZE = 48 };

static void *cell_take(struct cells *cells)
{
	return provider_cells_take(cells, "cells_test", SIZE);
}

static void a_cell_is_handed_out_once(void **state)
{
	struct cells cells = { .left = 0 };
	void *first, *second;

	(void)state;
	qlock_init(&cells.lock, true);
	first = cell_take(&cells);
	second = cell_take(&cells);
	assert_true(first && second && first != second);
	provider_cells_give(&cells, first, SIZE);
	provider_cells_give(&cells, second, SIZE);
	first = cell_take(&cells);
	second = cell_take(&cells);
	assert_true(first && second && first != second);
	provider_cells_give(&cells, first, SIZE);
	provider_cells_give(&cells, second, SIZE);
	provider_cells_destroy(&cells);
}

/* An object in use may contain the bytes that mark a free cell, so these prove nothing alone. */
static void an_object_holds_any_bytes(void **state)
{
	struct cells cells = { .left = 0 };
	const void *list = cells_of_size(&cells, SIZE);
	void *object;

	(void)state;
	qlock_init(&cells.lock, true);
	object = cell_take(&cells);
	cell_of(object, SIZE)->given_to = list;
	provider_cells_give(&cells, object, SIZE);
	provider_cells_destroy(&cells);
}

/* A second destroy reads the object's context first, so a freed cell must keep its head. */
static void an_objects_head_outlives_it(void **state)
{
	struct cells cells = { .left = 0 };
	uint64_t *object;

	(void)state;
	if (!cells_are_kept())
		return;
	qlock_init(&cells.lock, true);
	object = cell_take(&cells);
	object[0] = object[1] = UINT64_MAX;
	provider_cells_give(&cells, object, SIZE);
	assert_true(object[0] == UINT64_MAX && object[1] == UINT64_MAX);
	provider_cells_destroy(&cells);
}

/* Frees the first of two cells twice, with the other one in between, so that the head of the free
 * list is another one: the check must look at all of the list. */
static void give_twice(void)
{
	const struct rlimit no_core = { 0, 0 };
	struct cells cells = { .left = 0 };
	void *first, *second;

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGABRT, SIG_DFL);
	qlock_init(&cells.lock, true);
	first = cell_take(&cells);
	second = cell_take(&cells);
	provider_cells_give(&cells, first, SIZE);
	provider_cells_give(&cells, second, SIZE);
	provider_cells_give(&cells, first, SIZE);
	_exit(0);
}

static void a_cell_that_is_given_back_twice_ends_the_program(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (!cells_are_kept())
		return; /* the sanitizer reports it, as each cell is a heap block there */
	child = fork();
	assert_true(child >= 0);
	if (!child)
		give_twice();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_is_handed_out_once),
		cmocka_unit_test(an_object_holds_any_bytes),
		cmocka_unit_test(an_objects_head_outlives_it),
		cmocka_unit_test(a_cell_that_is_given_back_twice_ends_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
