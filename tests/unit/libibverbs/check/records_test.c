/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of objects that live and of objects that died.
 *
 * Covers: libibverbs/check/records.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/check/check.h"

struct note {
	struct check_record record;
	int value;
};

static struct note *note_add(enum check_kind kind, const void *context, uint64_t id)
{
	struct note *note = verbs_check_add(kind, context, id, sizeof(*note));

	assert_non_null(note);
	return note;
}

static void a_record_is_found_by_kind_context_and_number(void **state)
{
	const int one = 1, two = 2;
	struct note *note = note_add(CHECK_KEY, &one, 7);

	(void)state;
	assert_ptr_equal(verbs_check_find(CHECK_KEY, &one, 7), note);
	assert_null(verbs_check_find(CHECK_KEY, &two, 7));
	assert_null(verbs_check_find(CHECK_KEY, &one, 8));
	assert_null(verbs_check_find(CHECK_CQ, &one, 7));
}

static void a_dead_object_keeps_its_record(void **state)
{
	struct note *note = note_add(CHECK_QP, NULL, 0x1000);

	(void)state;
	assert_ptr_equal(verbs_check_find_live(CHECK_QP, NULL, 0x1000), note);
	check_live(&note->record, false);
	assert_ptr_equal(verbs_check_find(CHECK_QP, NULL, 0x1000), note);
	assert_null(verbs_check_find_live(CHECK_QP, NULL, 0x1000));
}

static void a_new_object_takes_over_a_dead_one_without_its_past(void **state)
{
	struct note *note = note_add(CHECK_QP, NULL, 0x2000);

	(void)state;
	note->value = 5;
	check_live(&note->record, false);
	assert_ptr_equal(note_add(CHECK_QP, NULL, 0x2000), note);
	assert_int_equal(note->value, 0);
	assert_ptr_equal(verbs_check_find_live(CHECK_QP, NULL, 0x2000), note);
}

/* More records than buckets, so that buckets have lists. */
static void records_share_buckets(void **state)
{
	enum { MANY = 40000 };

	(void)state;
	for (int i = 0; i < MANY; i++)
		note_add(CHECK_AH, NULL, (uint64_t)i * 64)->value = i;
	for (int i = 0; i < MANY; i++)
		assert_int_equal(
			((struct note *)verbs_check_find(CHECK_AH, NULL, (uint64_t)i * 64))->value,
			i);
}

static int seen;

static void note_count(const struct check_record *record)
{
	seen += ((const struct note *)record)->value;
}

static void a_walk_sees_what_lives(void **state)
{
	(void)state;
	seen = 0;
	note_add(CHECK_MADE, NULL, 1)->value = 1;
	note_add(CHECK_MADE, NULL, 2)->value = 10;
	note_add(CHECK_SRQ, NULL, 2)->value = 100;
	check_live(&note_add(CHECK_MADE, NULL, 3)->record, false);
	verbs_check_each(CHECK_MADE, note_count);
	assert_int_equal(seen, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_found_by_kind_context_and_number),
		cmocka_unit_test(a_dead_object_keeps_its_record),
		cmocka_unit_test(a_new_object_takes_over_a_dead_one_without_its_past),
		cmocka_unit_test(records_share_buckets),
		cmocka_unit_test(a_walk_sees_what_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
