/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_comp_cntr.c - completion counters, each with a count of completions and one of errors.
 * Without support in kernel or device, a call fails with EOPNOTSUPP.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Runs a command. Returns EOPNOTSUPP if the kernel or the device lacks it. Programs need no other
 * errno, because in both cases they can only go without counters. */
static int cntr_run(struct ibv_context *context, uint16_t object, uint16_t method,
		    const struct verbs_attr *attrs, unsigned int nattrs)
{
	int err = verbs_cmd_run_core(context, object, method, attrs, nattrs, NULL);

	return is_lacking(err) ? EOPNOTSUPP : err;
}

VERBS_EXPORT int _ibv_query_comp_cntr_caps(struct ibv_context *context,
					   struct ibv_comp_cntr_caps *caps, size_t caps_size)
{
	struct ibv_comp_cntr_caps full = {};
	const struct verbs_attr attrs[] = {
		verbs_attr_out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, &full.max_counters,
			       sizeof(full.max_counters)),
		verbs_attr_out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, &full.max_value,
			       sizeof(full.max_value)),
		verbs_attr_out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS,
			       &full.supported_qp_attach_ops, sizeof(full.supported_qp_attach_ops)),
	};
	int err = cntr_run(context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS, attrs,
			   ARRAY_SIZE(attrs));

	if (err) {
		verbs_warn("ibv_query_comp_cntr_caps on %s: %s", context->device->name,
			   strerror(err));
		return verbs_result(err);
	}
	memset(caps, 0, caps_size);
	memcpy(caps, &full, min_of(caps_size, sizeof(full)));
	return 0;
}

static int cntr_create(struct ibv_context *context, const struct ibv_comp_cntr_init_attr *attr,
		       uint32_t *handle)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, handle),
	};
	int err;

	if (!attr) {
		verbs_warn("ibv_create_comp_cntr: attr is NULL");
		return EINVAL;
	}
	if (attr->comp_mask || attr->flags) {
		verbs_warn("ibv_create_comp_cntr: comp_mask 0x%x flags 0x%x: no bit has a meaning",
			   attr->comp_mask, attr->flags);
		return EINVAL;
	}
	/* The kernel's command has no type, because it always counts work requests, so another type
	 * is refused here. */
	if (attr->type != IBV_COMP_CNTR_TYPE_WRS) {
		verbs_warn("ibv_create_comp_cntr: type %d: only IBV_COMP_CNTR_TYPE_WRS can be had",
			   attr->type);
		return EOPNOTSUPP;
	}
	err = cntr_run(context, UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE, attrs,
		       ARRAY_SIZE(attrs));
	if (err)
		verbs_warn("ibv_create_comp_cntr on %s: %s", context->device->name, strerror(err));
	return err;
}

VERBS_EXPORT struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context,
							struct ibv_comp_cntr_init_attr *attr)
{
	struct ibv_comp_cntr *cntr = calloc_for("ibv_create_comp_cntr", 1, sizeof(*cntr));
	int err = cntr ? cntr_create(context, attr, &cntr->handle) : ENOMEM;

	if (err) {
		free(cntr);
		return fail_null(err);
	}
	cntr->context = context;
	return cntr;
}

VERBS_EXPORT int ibv_destroy_comp_cntr(struct ibv_comp_cntr *cntr)
{
	int err = verbs_cmd_destroy(cntr->context, UVERBS_OBJECT_COMP_CNTR,
				    UVERBS_METHOD_COMP_CNTR_DESTROY,
				    UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, cntr->handle);

	if (err) {
		verbs_warn("ibv_destroy_comp_cntr: counter %u: %s%s", cntr->handle, strerror(err),
			   err == EBUSY ? ": destroy the QPs that it is attached to first" : "");
		return verbs_result(err);
	}
	free(cntr);
	return 0;
}

static int cntr_modify(struct ibv_comp_cntr *cntr, const char *call,
		       enum ib_uverbs_comp_cntr_entry entry, enum ib_uverbs_comp_cntr_modify_op op,
		       uint64_t value)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, cntr->handle),
		verbs_attr_u64(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, entry),
		verbs_attr_u64(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, op),
		verbs_attr_u64(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, value),
	};
	int err = cntr_run(cntr->context, UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY,
			   attrs, ARRAY_SIZE(attrs));

	if (err)
		verbs_warn("%s: counter %u value %llu: %s", call, cntr->handle,
			   (unsigned long long)value, strerror(err));
	return err;
}

static int cntr_read(struct ibv_comp_cntr *cntr, const char *call,
		     enum ib_uverbs_comp_cntr_entry entry, uint64_t *value)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, cntr->handle),
		verbs_attr_u64(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, entry),
		verbs_attr_out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, value, sizeof(*value)),
	};
	int err = cntr_run(cntr->context, UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ,
			   attrs, ARRAY_SIZE(attrs));

	if (err)
		verbs_warn("%s: counter %u: %s", call, cntr->handle, strerror(err));
	return err;
}

VERBS_EXPORT int ibv_set_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t value)
{
	return verbs_result(cntr_modify(cntr, "ibv_set_comp_cntr", IB_UVERBS_COMP_CNTR_ENTRY_COMP,
					IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, value));
}

VERBS_EXPORT int ibv_inc_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t amount)
{
	return verbs_result(cntr_modify(cntr, "ibv_inc_comp_cntr", IB_UVERBS_COMP_CNTR_ENTRY_COMP,
					IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, amount));
}

VERBS_EXPORT int ibv_read_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t *value)
{
	return verbs_result(
		cntr_read(cntr, "ibv_read_comp_cntr", IB_UVERBS_COMP_CNTR_ENTRY_COMP, value));
}

VERBS_EXPORT int ibv_set_err_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t value)
{
	return verbs_result(cntr_modify(cntr, "ibv_set_err_comp_cntr",
					IB_UVERBS_COMP_CNTR_ENTRY_ERR,
					IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, value));
}

VERBS_EXPORT int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t amount)
{
	return verbs_result(cntr_modify(cntr, "ibv_inc_err_comp_cntr",
					IB_UVERBS_COMP_CNTR_ENTRY_ERR,
					IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, amount));
}

VERBS_EXPORT int ibv_read_err_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t *value)
{
	return verbs_result(
		cntr_read(cntr, "ibv_read_err_comp_cntr", IB_UVERBS_COMP_CNTR_ENTRY_ERR, value));
}

VERBS_EXPORT int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *cntr,
					 struct ibv_qp_attach_comp_cntr_attr *attr)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, qp->handle),
		verbs_attr_handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, cntr->handle),
		verbs_attr_u32(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, attr->op_mask),
	};
	int err;

	if (attr->comp_mask) {
		verbs_warn("ibv_qp_attach_comp_cntr: comp_mask 0x%x: no bit has a meaning",
			   attr->comp_mask);
		return verbs_result(EINVAL);
	}
	err = cntr_run(qp->context, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR, attrs,
		       ARRAY_SIZE(attrs));
	if (err)
		verbs_warn("ibv_qp_attach_comp_cntr: QP 0x%x counter %u op_mask 0x%x: %s",
			   qp->qp_num, cntr->handle, attr->op_mask, strerror(err));
	return verbs_result(err);
}
