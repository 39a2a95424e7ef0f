/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices, contexts, PDs, MRs and AHs of a program that was built with release 1.0.
 */
#include "tests/unit/libibverbs/unit.h"

#include "tests/unit/libibverbs/fake_device.h"
#include "libibverbs/compat/verbs_1_0.h"
#include "tests/unit/libibverbs/compat/refusal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ibv_context *verbs_compat_real_context(struct ibv_context *context);
struct old_device **get_device_list_1_0(int *num_devices);
void free_device_list_1_0(struct old_device **list);
const char *get_device_name_1_0(struct old_device *device);
struct old_context *open_device_1_0(struct old_device *device);
int close_device_1_0(struct old_context *context);
struct old_pd *alloc_pd_1_0(struct old_context *context);
int dealloc_pd_1_0(struct old_pd *pd);
struct old_mr *reg_mr_1_0(struct old_pd *pd, void *addr, size_t length, int access);
int dereg_mr_1_0(struct old_mr *mr);
struct old_ah *create_ah_1_0(struct old_pd *pd, struct ibv_ah_attr *attr);
int destroy_ah_1_0(struct old_ah *ah);

static int allocations = -1; /* that succeed before one fails; any number below 0 */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return allocations && allocations-- ? __real_calloc(n, size) : NULL;
}

static struct verbs_device vdevs[2];
static int lists, asked; /* lists of devices that live; how often a device was held */
static struct ibv_context real_context = { .cmd_fd = 5, .async_fd = 6, .num_comp_vectors = 7 };
static struct ibv_pd real_pd = { .context = &real_context, .handle = 0x21 };
static struct ibv_mr real_mr = { .handle = 0x61, .lkey = 0x62, .rkey = 0x63 };
static struct ibv_ah real_ah;

struct ibv_device **__wrap_ibv_get_device_list(int *num);
void __wrap_ibv_free_device_list(struct ibv_device **list);
void __wrap_verbs_device_get(struct verbs_device *vdev);
struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device);
int __wrap_ibv_close_device(struct ibv_context *context);
struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *context);
int __wrap_ibv_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *__wrap_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
int __wrap_ibv_dereg_mr(struct ibv_mr *mr);
struct ibv_ah *__wrap_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int __wrap_ibv_destroy_ah(struct ibv_ah *ah);

struct ibv_device **__wrap_ibv_get_device_list(int *num)
{
	static struct ibv_device *list[3] = { &vdevs[0].device, &vdevs[1].device, NULL };

	if (!refusal)
		lists++;
	*num = 2;
	return made_or_refused(list);
}

void __wrap_ibv_free_device_list(struct ibv_device **list)
{
	assert_non_null(list);
	lists--;
}

void __wrap_verbs_device_get(struct verbs_device *vdev)
{
	(void)vdev;
	asked++;
}

struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device)
{
	real_context.device = device;
	return made_or_refused(&real_context);
}

int __wrap_ibv_close_device(struct ibv_context *context)
{
	assert_ptr_equal(context, &real_context);
	return refusal;
}

struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *context)
{
	assert_ptr_equal(context, &real_context);
	return made_or_refused(&real_pd);
}

int __wrap_ibv_dealloc_pd(struct ibv_pd *pd)
{
	assert_ptr_equal(pd, &real_pd);
	return refusal;
}

struct ibv_mr *__wrap_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	assert_ptr_equal(pd, &real_pd);
	assert_ptr_equal(addr, vdevs);
	assert_int_equal(length, 3);
	assert_int_equal(access, IBV_ACCESS_REMOTE_READ);
	return made_or_refused(&real_mr);
}

int __wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	assert_ptr_equal(mr, &real_mr);
	return refusal;
}

struct ibv_ah *__wrap_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	assert_ptr_equal(pd, &real_pd);
	assert_int_equal(attr->dlid, 9);
	return made_or_refused(&real_ah);
}

int __wrap_ibv_destroy_ah(struct ibv_ah *ah)
{
	assert_ptr_equal(ah, &real_ah);
	return refusal;
}

/* First of all, as no device needs a wrapper later. */
static void no_list_is_made_without_memory(void **state)
{
	int num = 7;

	(void)state;
	for (int left = 0; left < 3; left++) {
		allocations = left;
		assert_fails_with(ENOMEM, get_device_list_1_0(&num));
		allocations = -1;
		assert_int_equal(num, 0);
		assert_int_equal(lists, 0);
	}
	refusal = EMFILE;
	num = 7;
	assert_fails_with(EMFILE, get_device_list_1_0(&num));
	assert_int_equal(num, 0);
}

static void a_device_has_one_wrapper_for_ever(void **state)
{
	struct old_device **list, **again, *first, *second;
	int num = 0;

	(void)state;
	strcpy(vdevs[0].device.name, "fake_0");
	strcpy(vdevs[1].device.name, "fake_1");
	list = get_device_list_1_0(&num);
	assert_int_equal(num, 2);
	assert_null(list[2]);
	assert_string_equal(get_device_name_1_0(list[0]), "fake_0");
	assert_string_equal(get_device_name_1_0(list[1]), "fake_1");
	first = list[0];
	second = list[1];
	free_device_list_1_0(list);
	again = get_device_list_1_0(NULL);
	assert_ptr_equal(again[0], first);
	assert_ptr_equal(again[1], second);
	free_device_list_1_0(again);
	assert_int_equal(lists, 0);
	assert_int_equal(asked, 2);
}

static struct old_context *make_context(void)
{
	struct old_device device = { .real = &vdevs[1].device };

	return open_device_1_0(&device);
}

static struct ibv_context *real_of(struct old_context *context)
{
	return verbs_compat_real_context((void *)context);
}

static void a_context_is_known_from_opening_to_closing(void **state)
{
	struct old_context *first = make_context(), *second = make_context();

	(void)state;
	assert_ptr_equal(real_context.device, &vdevs[1].device);
	assert_true(first->cmd_fd == 5 && first->async_fd == 6 && first->num_comp_vectors == 7);
	assert_non_null(first->ops.post_send);
	assert_ptr_equal(real_of(first), &real_context);
	assert_ptr_equal(real_of(second), &real_context);
	assert_ptr_equal(verbs_compat_real_context(&real_context), &real_context);
	refusal = EBUSY;
	assert_int_equal(close_device_1_0(first), EBUSY);
	assert_ptr_equal(real_of(first), &real_context);
	refusal = 0;
	assert_int_equal(close_device_1_0(first), 0);
	assert_ptr_equal(real_of(first), first);
	assert_ptr_equal(real_of(second), &real_context);
	assert_int_equal(close_device_1_0(second), 0);
	assert_ptr_equal(real_of(second), second);
}

static struct old_context old_context = { .real = &real_context };
static struct old_pd old_pd = { .context = &old_context, .real = &real_pd };

static struct old_mr *make_mr(void)
{
	return reg_mr_1_0(&old_pd, vdevs, 3, IBV_ACCESS_REMOTE_READ);
}

static struct old_ah *make_ah(void)
{
	return create_ah_1_0(&old_pd, &(struct ibv_ah_attr){ .dlid = 9 });
}

static void what_cannot_be_made_says_why(void **state)
{
	(void)state;
	allocations = 0;
	assert_fails_with(ENOMEM, make_context());
	assert_fails_with(ENOMEM, alloc_pd_1_0(&old_context));
	assert_fails_with(ENOMEM, make_mr());
	assert_fails_with(ENOMEM, make_ah());
	allocations = -1;
	refusal = EPERM;
	assert_fails_with(EPERM, make_context());
	assert_fails_with(EPERM, alloc_pd_1_0(&old_context));
	assert_fails_with(EPERM, make_mr());
	assert_fails_with(EPERM, make_ah());
}

/* After a refusal the objects are used, which sanitizers would see of one that is freed. */
static void a_wrapper_shows_what_was_made_and_stays_when_it_is_not_destroyed(void **state)
{
	struct old_pd *pd = alloc_pd_1_0(&old_context);
	struct old_mr *mr = make_mr();
	struct old_ah *ah = make_ah();

	(void)state;
	refusal = EBUSY;
	assert_int_equal(destroy_ah_1_0(ah), EBUSY);
	assert_int_equal(dereg_mr_1_0(mr), EBUSY);
	assert_int_equal(dealloc_pd_1_0(pd), EBUSY);
	refusal = 0;
	assert_true(pd->context == &old_context && pd->handle == 0x21 && pd->real == &real_pd);
	assert_true(mr->context == &old_context && mr->pd == &old_pd && mr->real == &real_mr);
	assert_true(mr->handle == 0x61 && mr->lkey == 0x62 && mr->rkey == 0x63);
	assert_true(ah->context == &old_context && ah->pd == &old_pd && ah->real == &real_ah);
	assert_int_equal(destroy_ah_1_0(ah) | dereg_mr_1_0(mr) | dealloc_pd_1_0(pd), 0);
}

static int let_succeed(void **state)
{
	(void)state;
	refusal = 0;
	allocations = -1;
	return 0;
}

#define CALL_TEST(fn) cmocka_unit_test_setup(fn, let_succeed)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CALL_TEST(no_list_is_made_without_memory),
		CALL_TEST(a_device_has_one_wrapper_for_ever),
		CALL_TEST(a_context_is_known_from_opening_to_closing),
		CALL_TEST(what_cannot_be_made_says_why),
		CALL_TEST(a_wrapper_shows_what_was_made_and_stays_when_it_is_not_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
