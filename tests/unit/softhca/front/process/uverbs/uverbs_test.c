/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_test.c - the process front's tables of uverbs attributes, compared with Linux' sources
 * (tests/lib/kernel/linux_attributes.h): a request that Linux refuses must not pass here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/uverbs/call.c"
#include "softhca/front/process/uverbs/uverbs.c"

enum linux_kind { IN, CONST, STRUCT, ENUM, OUT, HANDLE, HANDLES, NEW, DESTROY, FD, NEW_FD, RAW_FD };

enum { MAY, MUST, LINUX_ANY_OBJECT = ANY_OBJECT };

struct linux_attr {
	const char *method_name, *name;
	uint16_t object, method, id;
	enum linux_kind kind;
	bool must;
	unsigned int min, max, of, kernel;
};

#define KERNEL(major, minor) ((major)*100 + (minor))
#define ATTR(object, method, id, kind, min, max, must, of, kernel) \
	{ #method, #id, object, method, id, kind, must, min, max, of, kernel },

static const struct linux_attr linux_attrs[] = {
#include "tests/lib/kernel/linux_attributes.h"
};

static const enum linux_kind linux_kinds[] = {
	[ATTR_IN] = IN,           [ATTR_CONST] = CONST,     [ATTR_STRUCT] = STRUCT,
	[ATTR_ENUM] = ENUM,       [ATTR_OUT] = OUT,         [ATTR_HANDLE] = HANDLE,
	[ATTR_HANDLES] = HANDLES, [ATTR_DESTROY] = DESTROY, [ATTR_NEW] = NEW,
	[ATTR_FD] = FD,           [ATTR_NEW_FD] = NEW_FD,   [ATTR_RAW_FD] = RAW_FD,
	[ATTR_CONST64] = CONST,
};

/* Methods and attributes that softhca lacks: a program gets the answer of a kernel older than
 * them. */
static const char *const lacking[] = {
	/* CQ and QP rings in kernel-visible memory, for drivers other than mlx5 */
	"UVERBS_ATTR_CREATE_CQ_BUFFER_VA",
	"UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH",
	"UVERBS_ATTR_CREATE_CQ_BUFFER_FD",
	"UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET",
	"UVERBS_ATTR_CREATE_CQ_BUF_UMEM",
	"MLX5_IB_ATTR_CREATE_CQ_DBR_BUF_UMEM",
	"UVERBS_ATTR_CREATE_QP_BUF_UMEM",
	"UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM",
	"UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM",
	"MLX5_IB_ATTR_CREATE_QP_DBR_BUF_UMEM",
	/* Flow tables of an e-switch, which the adapter lacks */
	"MLX5_IB_METHOD_STEERING_ANCHOR_CREATE",
	"MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY",
	"MLX5_IB_ATTR_FLOW_MATCHER_IB_PORT",
};

static bool is_lacking(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++)
		if (!strcmp(name, lacking[i]))
			return true;
	return false;
}

static const struct uverbs_method *method_of(const struct linux_attr *attr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(all_methods); i++)
		for (unsigned int j = 0; j < all_methods[i]->count; j++)
			if (all_methods[i]->method[j].object == attr->object &&
			    all_methods[i]->method[j].method == attr->method)
				return &all_methods[i]->method[j];
	return NULL;
}

static const struct linux_attr *linux_attr_of(const struct uverbs_method *method, uint16_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(linux_attrs); i++)
		if (linux_attrs[i].object == method->object &&
		    linux_attrs[i].method == method->method && linux_attrs[i].id == id)
			return &linux_attrs[i];
	return NULL;
}

static bool has_type(enum linux_kind kind)
{
	return kind == HANDLE || kind == HANDLES || kind == NEW || kind == DESTROY || kind == ENUM;
}

static unsigned int attr_compare(const struct linux_attr *attr, const struct uverbs_attr *here)
{
	if (linux_kinds[here->kind] == attr->kind && here->min == attr->min &&
	    here->max == attr->max && here->mandatory == attr->must &&
	    (!has_type(attr->kind) || here->object == attr->of))
		return 0;
	print_error("%s: kind %d, %u to %u, %s, of %u; here kind %d, %u to %u, %s, of %u\n",
		    attr->name, attr->kind, attr->min, attr->max, attr->must ? "must" : "may",
		    attr->of, linux_kinds[here->kind], here->min, here->max,
		    here->mandatory ? "must" : "may", here->object);
	return 1;
}

static void attributes_are_declared_as_in_linux(void **state)
{
	unsigned int wrong = 0, compared = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(linux_attrs); i++) {
		const struct linux_attr *attr = &linux_attrs[i];
		const struct uverbs_method *method = method_of(attr);
		const struct uverbs_attr *here = method ? find_attr_def(method, attr->id) : NULL;

		if (here) {
			wrong += attr_compare(attr, here);
			compared++;
		} else if (!is_lacking(method ? attr->name : attr->method_name)) {
			print_error("%s %s is not here\n", attr->method_name, attr->name);
			wrong++;
		}
	}
	assert_in_range(compared, 1, ARRAY_SIZE(linux_attrs));
	assert_int_equal(wrong, 0);
}

static void no_attribute_is_here_alone(void **state)
{
	unsigned int alone = 0;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(all_methods); i++)
		for (unsigned int j = 0; j < all_methods[i]->count; j++) {
			const struct uverbs_method *method = &all_methods[i]->method[j];

			for (unsigned int k = 0; k < method->num_attrs; k++) {
				if (linux_attr_of(method, method->attrs[k].id))
					continue;
				print_error("%s: attribute 0x%x is not Linux'\n", method->name,
					    method->attrs[k].id);
				alone++;
			}
		}
	assert_int_equal(alone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_declared_as_in_linux),
		cmocka_unit_test(no_attribute_is_here_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
