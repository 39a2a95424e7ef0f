/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_counters.c - commands on flow counters. Creating a flow determines which events its counters
 * count.
 */
#include "cmd/cmd.h"

#include <string.h>

VERBS_EXPORT int verbs_cmd_create_counters(struct ibv_context *context,
					   const struct ibv_counters_init_attr *attr,
					   struct verbs_counters *vcounters,
					   const struct verbs_udata *udata)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, &vcounters->handle),
	};
	int ret;

	if (attr->comp_mask) {
		verbs_warn("ibv_create_counters: comp_mask 0x%x: no bit has a meaning",
			   attr->comp_mask);
		return EOPNOTSUPP;
	}
	ret = verbs_cmd_run_core(context, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE,
				 attrs, ARRAY_SIZE(attrs), udata);
	if (ret) {
		verbs_warn("ibv_create_counters on %s: %s", context->device->name, strerror(ret));
		return ret;
	}
	vcounters->counters.context = context;
	return 0;
}

VERBS_EXPORT int verbs_cmd_destroy_counters(struct verbs_counters *vcounters)
{
	int ret = verbs_cmd_destroy(vcounters->counters.context, UVERBS_OBJECT_COUNTERS,
				    UVERBS_METHOD_COUNTERS_DESTROY,
				    UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, vcounters->handle);

	if (ret)
		verbs_warn("ibv_destroy_counters: counters %u: %s%s", vcounters->handle,
			   strerror(ret),
			   ret == EBUSY ? ": destroy the flows that they count first" : "");
	return ret;
}

/* Reads counters without driver data. */
static int read_plain(const struct verbs_counters *vcounters, uint64_t *values, uint32_t ncounters,
		      uint32_t flags)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_handle(UVERBS_ATTR_READ_COUNTERS_HANDLE, vcounters->handle);
	cmd.attrs[1] = verbs_short_out(UVERBS_ATTR_READ_COUNTERS_BUFF, values,
				       ncounters * sizeof(*values));
	cmd.attrs[2] = verbs_short_u32(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags);
	return verbs_cmd_run_short(vcounters->counters.context, UVERBS_OBJECT_COUNTERS,
				   UVERBS_METHOD_COUNTERS_READ, &cmd, 3);
}

static int read_with_udata(const struct verbs_counters *vcounters, uint64_t *values,
			   uint32_t ncounters, uint32_t flags, const struct verbs_udata *udata)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(UVERBS_ATTR_READ_COUNTERS_HANDLE, vcounters->handle),
		verbs_attr_out(UVERBS_ATTR_READ_COUNTERS_BUFF, values, ncounters * sizeof(*values)),
		verbs_attr_u32(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags),
	};

	return verbs_cmd_run_core(vcounters->counters.context, UVERBS_OBJECT_COUNTERS,
				  UVERBS_METHOD_COUNTERS_READ, attrs, ARRAY_SIZE(attrs), udata);
}

VERBS_EXPORT int verbs_cmd_read_counters(struct verbs_counters *vcounters, uint64_t *values,
					 uint32_t ncounters, uint32_t flags,
					 const struct verbs_udata *udata)
{
	const uint32_t most = UINT16_MAX / sizeof(*values);
	int ret;

	if (ncounters > most) {
		verbs_warn("ibv_read_counters: ncounters %u: must be at most %u", ncounters, most);
		return EINVAL;
	}
	ret = udata ? read_with_udata(vcounters, values, ncounters, flags, udata)
		    : read_plain(vcounters, values, ncounters, flags);
	if (ret)
		verbs_warn("ibv_read_counters: counters %u ncounters %u flags 0x%x: %s%s",
			   vcounters->handle, ncounters, flags, strerror(ret),
			   ret == EINVAL ? ": they must be attached to points, and to a flow" : "");
	return ret;
}
