/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call_test.c - the check of a call's attributes against the table of its method: sizes, reserved
 * fields, tails, handles and descriptors; and how methods read and write them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/uverbs/call.c"

enum { OBJECT = 3, HANDLE = 9 };

static struct uverbs_file file = { .has_context = true };
static struct uverbs_attr defs[2];
static const struct uverbs_method method = { .attrs = defs, .num_attrs = 2 };
static struct uverbs_call uc;
static struct object found;
static uint8_t memory[2 * TAIL_PAGE]; /* of the program: its addresses begin at TAIL_PAGE */
static size_t mapped;

static uint8_t *at(uint64_t addr, size_t len)
{
	return addr >= TAIL_PAGE && addr - TAIL_PAGE + len <= mapped ? memory + addr - TAIL_PAGE
								     : NULL;
}

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	(void)call;
	if (!at(addr, len))
		return EFAULT;
	memcpy(buf, at(addr, len), len);
	return 0;
}

int caller_write(const struct call *call, uint64_t addr, const void *buf, size_t len)
{
	(void)call;
	if (!at(addr, len))
		return EFAULT;
	memcpy(at(addr, len), buf, len);
	return 0;
}

int object_find(const struct uverbs_file *of, uint16_t type, uint32_t handle, void *object)
{
	assert_ptr_equal(of, &file);
	assert_int_equal(type, OBJECT);
	*(struct object **)object = &found;
	return handle == HANDLE ? 0 : ENOENT;
}

int pinned_add(struct client *client, pid_t tid, uint64_t addr, uint64_t len)
{
	(void)client, (void)tid, (void)len;
	return addr == 1 ? EPERM : 0;
}

int pinned_add_record(struct client *client, pid_t tid, uint64_t addr)
{
	return pinned_add(client, tid, addr, 1);
}

int client_check_range(const struct client *client, uint64_t addr, uint64_t len, bool writable)
{
	(void)client;
	assert_int_not_equal(len, 0);
	return addr == 2 || (addr == 3 && writable) ? EFAULT : 0;
}

void event_channel_get(struct event_channel *channel)
{
	(void)channel;
}

struct event_channel *event_channel_find(pid_t tid, const struct uverbs_file *of, int fd,
					 enum channel_kind kind)
{
	(void)tid, (void)of, (void)fd, (void)kind;
	return NULL;
}

static int call_begin(void **state)
{
	(void)state;
	memset(&uc, 0, sizeof(uc));
	memset(memory, 0, sizeof(memory));
	mapped = sizeof(memory);
	defs[0] = (struct uverbs_attr){ .id = 1, .kind = ATTR_IN, .min = 4, .max = 16 };
	defs[1] = (struct uverbs_attr){ .id = 2, .kind = ATTR_HANDLE, .object = OBJECT };
	file.has_context = true;
	uc.method = &method;
	uc.file = &file;
	uc.hdr.num_attrs = 1;
	uc.attr[0] = (struct ib_uverbs_attr){ .attr_id = 1, .len = 4 };
	return 0;
}

static int check_as(enum attr_kind kind, uint16_t min, uint16_t max)
{
	defs[0] = (struct uverbs_attr){
		.id = 1, .kind = kind, .min = min, .max = max, .object = OBJECT
	};
	memset(uc.known, 0, sizeof(uc.known));
	return uc_check_attrs(&uc);
}

static void an_unknown_attribute_may_be_ignored(void **state)
{
	(void)state;
	uc.attr[0].attr_id = 5;
	assert_int_equal(uc_check_attrs(&uc), 0);
	assert_null(uc_attr(&uc, 5));
	uc.attr[0].flags = UVERBS_ATTR_F_MANDATORY;
	assert_int_equal(uc_check_attrs(&uc), EPROTONOSUPPORT);
}

static void an_attribute_comes_once(void **state)
{
	(void)state;
	uc.attr[1] = uc.attr[0];
	uc.hdr.num_attrs = 2;
	assert_int_equal(uc_check_attrs(&uc), EINVAL);
	uc.attr[1].attr_id = 2;
	uc.attr[1].len = 0;
	uc.attr[1].data = HANDLE;
	memset(uc.known, 0, sizeof(uc.known));
	assert_int_equal(uc_check_attrs(&uc), 0);
	assert_ptr_equal(uc_object(&uc, 2), &found);
}

static void a_mandatory_attribute_is_there(void **state)
{
	(void)state;
	assert_int_equal(uc_check_attrs(&uc), 0);
	defs[1].mandatory = true;
	memset(uc.known, 0, sizeof(uc.known));
	assert_int_equal(uc_check_attrs(&uc), EINVAL);
}

static void sizes_have_limits(void **state)
{
	static const struct {
		uint16_t len;
		int in, extensible;
	} rows[] = { { 3, EINVAL, EINVAL }, { 4, 0, 0 }, { 16, 0, 0 }, { 17, EINVAL, EOPNOTSUPP } };

	(void)state;
	memset(memory, 0xff, sizeof(memory));
	uc.attr[0].data = TAIL_PAGE;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uc.attr[0].len = rows[i].len;
		assert_int_equal(check_as(ATTR_IN, 4, 16), rows[i].in);
		assert_int_equal(check_as(ATTR_OUT, 4, 16), rows[i].in);
		assert_int_equal(check_as(ATTR_STRUCT, 4, 16), rows[i].extensible);
	}
	uc.attr[0].len = 4;
	uc.attr[0].attr_data.reserved = 1;
	assert_int_equal(check_as(ATTR_IN, 4, 16), EINVAL);
}

/* A tail is zero, over pages too; nothing behind its end is read. */
static void a_tail_is_zero(void **state)
{
	(void)state;
	uc.attr[0].data = TAIL_PAGE + 8;
	uc.attr[0].len = TAIL_PAGE + 100;
	mapped = TAIL_PAGE + 108;
	assert_int_equal(check_as(ATTR_STRUCT, 4, 16), 0);
	memory[TAIL_PAGE + 107] = 1;
	assert_int_equal(check_as(ATTR_STRUCT, 4, 16), EOPNOTSUPP);
	memory[TAIL_PAGE + 107] = 0;
	memory[8 + 15] = 1; /* known */
	assert_int_equal(check_as(ATTR_STRUCT, 4, 16), 0);
	memory[8 + 16] = 1;
	assert_int_equal(check_as(ATTR_STRUCT, 4, 16), EOPNOTSUPP);
	assert_int_equal(uc_check_tail(&uc, 1, 17), 0);
	assert_true(uc_has_tail(&uc, 1, 16));
	assert_false(uc_has_tail(&uc, 7, 0));
	memory[8 + 16] = 0;
	mapped--;
	assert_int_equal(check_as(ATTR_STRUCT, 4, 16), EFAULT);
}

static void a_constant_has_32_bits_or_64(void **state)
{
	(void)state;
	uc.attr[0].len = 8;
	uc.attr[0].data = UINT32_MAX;
	assert_int_equal(check_as(ATTR_CONST, 8, 8), 0);
	uc.attr[0].data++;
	assert_int_equal(check_as(ATTR_CONST, 8, 8), EINVAL);
	assert_int_equal(check_as(ATTR_CONST64, 8, 8), 0);
}

static void only_the_first_value_of_an_enum_has_data(void **state)
{
	(void)state;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), 0);
	uc.attr[0].len = 9;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), EINVAL);
	uc.attr[0].len = 0;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), EINVAL);
	uc.attr[0].attr_data.enum_data.elem_id = OBJECT - 1;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), 0);
	uc.attr[0].len = 4;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), EINVAL);
	uc.attr[0].len = 0;
	uc.attr[0].attr_data.enum_data.reserved = 1;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), EINVAL);
	uc.attr[0].attr_data.enum_data.elem_id = OBJECT;
	assert_int_equal(check_as(ATTR_ENUM, 4, 8), EOPNOTSUPP);
}

static void a_handle_names_an_object(void **state)
{
	(void)state;
	uc.attr[0].data = HANDLE;
	assert_int_equal(check_as(ATTR_HANDLE, 0, 0), EINVAL); /* a length */
	uc.attr[0].len = 0;
	assert_int_equal(check_as(ATTR_HANDLE, 0, 0), 0);
	assert_int_equal(check_as(ATTR_DESTROY, 0, 0), 0);
	uc.attr[0].data = HANDLE + (1ull << 32);
	assert_int_equal(check_as(ATTR_HANDLE, 0, 0), ENOENT);
	uc.attr[0].data = HANDLE + 1;
	assert_int_equal(check_as(ATTR_HANDLE, 0, 0), ENOENT);
	uc.attr[0].data = HANDLE;
	uc.attr[0].attr_data.reserved = 1;
	assert_int_equal(check_as(ATTR_HANDLE, 0, 0), EINVAL);
}

/* Only a context has new objects; descriptors come without one. */
static void a_new_object_needs_a_context(void **state)
{
	(void)state;
	uc.attr[0].len = 0;
	uc.attr[0].data = HANDLE + 1; /* is not read */
	assert_int_equal(check_as(ATTR_NEW, 0, 0), 0);
	assert_int_equal(check_as(ATTR_NEW_FD, 0, 0), 0);
	file.has_context = false;
	assert_int_equal(check_as(ATTR_NEW, 0, 0), EINVAL);
	assert_int_equal(check_as(ATTR_NEW_FD, 0, 0), 0);
	uc.attr[0].data = HANDLE;
	assert_int_equal(check_as(ATTR_HANDLE, 0, 0), 0);
}

static void a_descriptor_has_32_bits(void **state)
{
	(void)state;
	uc.attr[0].len = 0;
	uc.attr[0].data_s64 = 7;
	assert_int_equal(check_as(ATTR_FD, 0, 0), 0);
	uc.attr[0].data_s64 = -1;
	assert_int_equal(check_as(ATTR_FD, 0, 0), EBADF);
	assert_int_equal(check_as(ATTR_RAW_FD, 0, 0), 0);
	uc.attr[0].data_s64 = 1ll << 31;
	assert_int_equal(check_as(ATTR_FD, 0, 0), EINVAL);
	assert_int_equal(check_as(ATTR_RAW_FD, 0, 0), EINVAL);
}

static void a_list_has_known_handles(void **state)
{
	static const uint32_t handles[3] = { HANDLE, HANDLE, HANDLE + 1 };
	struct object *objects[2];

	(void)state;
	memcpy(&uc.attr[0].data, handles, 8);
	uc.attr[0].len = 8;
	assert_int_equal(check_as(ATTR_HANDLES, 2, 2), 0);
	assert_int_equal(uc_objects(&uc, 1, objects, 2), 2);
	assert_ptr_equal(objects[1], &found);
	assert_int_equal(uc_objects(&uc, 1, objects, 1), 0);
	memcpy(&uc.attr[0].data, handles + 1, 8);
	assert_int_equal(check_as(ATTR_HANDLES, 1, 2), ENOENT);
	uc.attr[0].len = 4;
	assert_int_equal(check_as(ATTR_HANDLES, 1, 2), 0);
	assert_int_equal(check_as(ATTR_HANDLES, 2, 2), EINVAL);
	uc.attr[0].len = 6;
	assert_int_equal(check_as(ATTR_HANDLES, 1, 2), EINVAL);
	uc.attr[0].len = 12;
	assert_int_equal(check_as(ATTR_HANDLES, 1, 2), EINVAL);
}

static void what_is_short_is_filled_with_zeroes(void **state)
{
	uint32_t words[2] = { 1, 1 };

	(void)state;
	uc.attr[0].data = 5;
	assert_int_equal(check_as(ATTR_IN, 4, 16), 0);
	assert_int_equal(uc_in(&uc, 1, words, sizeof(words)), 0);
	assert_int_equal(words[0], 5);
	assert_int_equal(words[1], 0);
	assert_int_equal(uc_in(&uc, 7, words, sizeof(words)), 0);
	assert_int_equal(words[0], 0);
}

static void flags_have_4_bytes_or_8(void **state)
{
	uint64_t flags;

	(void)state;
	assert_int_equal(check_as(ATTR_IN, 1, 16), 0);
	uc.attr[0].data = 3ull | 1ull << 40;
	assert_int_equal(uc_flags(&uc, 1, 3, &flags), 0);
	assert_int_equal(flags, 3);
	assert_int_equal(uc_flags(&uc, 1, 1, &flags), EINVAL);
	uc.attr[0].len = 8;
	assert_int_equal(uc_flags(&uc, 1, 3, &flags), EINVAL);
	uc.attr[0].len = 6;
	assert_int_equal(uc_flags(&uc, 1, UINT64_MAX, &flags), EINVAL);
	assert_int_equal(uc_flags(&uc, 7, 0, &flags), 0);
	assert_int_equal(flags, 0);
}

static void an_answer_is_cut_or_padded(void **state)
{
	static const uint8_t data[4] = { 1, 2, 3, 4 };

	(void)state;
	memset(memory, 0xee, 16);
	uc.attr[0].data = TAIL_PAGE;
	uc.attr[0].len = 3;
	assert_int_equal(check_as(ATTR_OUT, 1, 16), 0);
	assert_int_equal(uc_response_length(&uc, 1, 4), 3);
	assert_int_equal(uc_out(&uc, 1, data, 4), 0);
	assert_memory_equal(memory, "\1\2\3\xee", 4);
	assert_true(uc.attr[0].flags & UVERBS_ATTR_F_VALID_OUTPUT);
	uc.attr[0].len = 8;
	assert_int_equal(uc_out_padded(&uc, 1, data, 4), 0);
	assert_memory_equal(memory, "\1\2\3\4\0\0\0\0\xee", 9);
	mapped = 7;
	assert_int_equal(uc_out_padded(&uc, 1, data, 4), EFAULT);
}

static void memory_is_checked_when_pinned(void **state)
{
	(void)state;
	assert_int_equal(uc_pin(&uc, 5, 100, true), 0);
	assert_int_equal(uc_pin(&uc, 5, 0, true), 0);
	assert_int_equal(uc_pin(&uc, UINT64_MAX, 2, true), EINVAL);
	assert_int_equal(uc_pin(&uc, 1, 2, true), EPERM);
	assert_int_equal(uc_pin(&uc, 2, 2, false), EFAULT);
	assert_int_equal(uc_pin(&uc, 3, 2, false), 0);
	assert_int_equal(uc_pin(&uc, 3, 2, true), EFAULT);
	assert_int_equal(uc_pin_record(&uc, 3, 8), EFAULT);
	assert_int_equal(uc_pin_record(&uc, 1, 8), EPERM);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, call_begin)
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_attribute_may_be_ignored),
		TEST(an_attribute_comes_once),
		TEST(a_mandatory_attribute_is_there),
		TEST(sizes_have_limits),
		TEST(a_tail_is_zero),
		TEST(a_constant_has_32_bits_or_64),
		TEST(only_the_first_value_of_an_enum_has_data),
		TEST(a_handle_names_an_object),
		TEST(a_new_object_needs_a_context),
		TEST(a_descriptor_has_32_bits),
		TEST(a_list_has_known_handles),
		TEST(what_is_short_is_filled_with_zeroes),
		TEST(flags_have_4_bytes_or_8),
		TEST(an_answer_is_cut_or_padded),
		TEST(memory_is_checked_when_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
