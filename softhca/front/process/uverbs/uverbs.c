/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs.c - ioctl calls on uverbs files: finds the method, checks the attributes against its
 * table, and runs it.
 *
 * Refusals and their errnos follow the kernel, as programs probe for features by them.
 * INVOKE_WRITE, which runs commands of the former write() interface, is here too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "softhca/fault.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/log.h"
#include "util/bits.h"

static const struct uverbs_methods invoke_methods;

static const struct uverbs_methods *const all_methods[] = {
	&invoke_methods,
	&device_methods,
	&pd_methods,
	&mr_methods,
	&cq_methods,
	&qp_methods,
	&async_methods,
	&uar_methods,
	&devx_methods,
	&ah_methods,
	&devx_obj_methods,
	&devx_umem_methods,
	&devx_event_methods,
	&devx_async_methods,
	&srq_methods,
	&xrcd_methods,
	&mw_methods,
	&wq_methods,
	&flow_methods,
	&dm_methods,
	&mr_advise_methods,
	&mr_dmabuf_methods,
	&dmah_methods,
	&counters_methods,
	&pp_methods,
	&var_methods,
	&flow_matcher_methods,
	&flow_dv_methods,
	&flow_action_methods,
	&dmabuf_methods,
	&steering_anchor_methods,
};

static const struct uverbs_writes *const all_writes[] = {
	&device_writes, &async_writes,        &pd_writes,        &mr_writes,
	&cq_writes,     &qp_writes,           &qp_modify_writes, &qp_query_writes,
	&ah_writes,     &mcast_writes,        &srq_writes,       &xrcd_writes,
	&mw_writes,     &query_device_writes, &wq_writes,        &flow_writes,
};

enum { DRIVER_NAMESPACE = 1 << UVERBS_ID_NS_SHIFT };

static const struct uverbs_method *find_method(const struct adapter *adapter, uint16_t object,
					       uint16_t id)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(all_methods); i++) {
		for (unsigned int j = 0; j < all_methods[i]->count; j++) {
			const struct uverbs_method *method = &all_methods[i]->method[j];

			if (adapter_is_mlx4(adapter) && (object | id) & DRIVER_NAMESPACE)
				return NULL; /* none, as all methods of drivers are mlx5's */
			if (method->object == object && method->method == id)
				return method->exists && !method->exists(adapter) ? NULL : method;
		}
	}
	return NULL;
}

static const struct uverbs_write *find_write(uint32_t command)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(all_writes); i++)
		for (unsigned int j = 0; j < all_writes[i]->count; j++)
			if (all_writes[i]->write[j].command == command)
				return &all_writes[i]->write[j];
	return NULL;
}

static int read_call(struct uverbs_call *uc, uint64_t addr)
{
	struct uverbs_header *hdr = &uc->hdr;

	if (caller_read(uc->call, addr, hdr, sizeof(*hdr)))
		return EFAULT;
	if (hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(uc->attr[0]))
		return EINVAL;
	if (hdr->num_attrs > UVERBS_MAX_ATTRS)
		return EINVAL;
	if (hdr->reserved1 || hdr->reserved2)
		return EPROTONOSUPPORT;
	return caller_read(uc->call, addr + sizeof(*hdr), uc->attr,
			   hdr->num_attrs * sizeof(uc->attr[0]));
}

static int write_back(struct uverbs_call *uc, uint64_t addr)
{
	return caller_write(uc->call, addr + sizeof(uc->hdr), uc->attr,
			    uc->hdr.num_attrs * sizeof(uc->attr[0]));
}

static bool needs_context(const struct uverbs_method *method)
{
	return !(method->object == UVERBS_OBJECT_DEVICE &&
		 (method->method == UVERBS_METHOD_GET_CONTEXT ||
		  method->method == UVERBS_METHOD_INFO_HANDLES ||
		  method->method == UVERBS_METHOD_INVOKE_WRITE)) &&
	       method->object != UVERBS_OBJECT_ASYNC_EVENT;
}

/* Returns whether the method destroys an object, as only these are allowed after the adapter's
 * death, for cleanup. */
static bool method_destroys(const struct uverbs_method *method)
{
	for (unsigned int i = 0; i < method->num_attrs; i++)
		if (method->attrs[i].kind == ATTR_DESTROY)
			return true;
	return false;
}

static int run_call(struct uverbs_call *uc, uint64_t addr)
{
	int ret = read_call(uc, addr);

	if (ret)
		return ret;
	uc->method = find_method(uc->adapter, uc->hdr.object_id, uc->hdr.method_id);
	if (!uc->method)
		return EPROTONOSUPPORT;
	if (uc->hdr.driver_id != uc->adapter->identity->driver_id)
		return EINVAL;
	if (uc->adapter->dead && !method_destroys(uc->method))
		return EIO;
	ret = fault_command(uc->adapter->fault);
	if (!ret)
		ret = uc_check_attrs(uc);
	if (!ret && needs_context(uc->method) && !uc->file->has_context)
		ret = EINVAL;
	uc->adapter->user = uc->file->uid;
	if (!ret)
		ret = uc->method->run(uc);
	uc->adapter->user = 0;
	if (!ret)
		ret = write_back(uc, addr);
	return ret;
}

static void trace_call(struct uverbs_call *uc, int ret)
{
	const char *result = ret ? strerror(ret) : "ok";
	char unknown[48];
	const char *name = unknown;

	if (!uc->adapter->trace && log_level() < LOG_DETAIL)
		return;
	snprintf(unknown, sizeof(unknown), "object %#x method %#x", uc->hdr.object_id,
		 uc->hdr.method_id);
	if (uc->method)
		name = uc->write ? uc->write->name : uc->method->name;
	trace_line(uc->adapter->trace, "verbs pid=%d %s %s: %s", uc->tid, uc->adapter->name, name,
		   result);
	log_detail("%d: %s %s: %s", uc->tid, uc->adapter->name, name, result);
}

void uverbs_ioctl(struct call *call)
{
	struct uverbs_call uc = { .call = call, .tid = call->tid };
	struct stat st;
	int ret;

	if (client_fd_stat(call->tid, call_arg_int(call, 0), &st))
		return;
	uc.file = uverbs_file_find(&st);
	if (!uc.file)
		return; /* left to the kernel, which returns ENOTTY, as the file is not ours */
	uc.adapter = uc.file->adapter;
	ret = uverbs_call_begin(uc.file, call);
	if (!ret) {
		uc.client = uc.file->caller;
		ret = run_call(&uc, call_arg(call, 2));
		trace_call(&uc, ret);
		uverbs_call_end(uc.file);
	}
	engine_kick();
	if (ret)
		call_fail(call, ret);
	else
		call_return(call, 0);
}

static bool has_list(const struct uverbs_write *write)
{
	const uint32_t command = write->command & ~(uint32_t)IB_USER_VERBS_CMD_FLAG_EXTENDED;

	return command != write->command && (command == IB_USER_VERBS_EX_CMD_CREATE_FLOW ||
					     command == IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL);
}

/* Checks the length of a command. An extended one may be shorter: missing fields are zero. In a
 * longer one the additional bytes must be zero, unless they are a list. */
static int check_write(struct uverbs_call *uc)
{
	const struct uverbs_write *write = uc->write;
	bool grows = write->command & IB_USER_VERBS_CMD_FLAG_EXTENDED && !has_list(write);

	if ((!grows && uc_len(uc, UVERBS_ATTR_CORE_IN) < write->in_size) ||
	    uc_len(uc, UVERBS_ATTR_CORE_OUT) < write->out_size)
		return ENOSPC;
	if (!uc->file->has_context)
		return EINVAL;
	return has_list(write) ? 0 : uc_check_tail(uc, UVERBS_ATTR_CORE_IN, write->in_size);
}

static int invoke_write(struct uverbs_call *uc)
{
	uint32_t command;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_WRITE_CMD, &command, sizeof(command)))
		return EFAULT;
	if (command & ~(uint32_t)(IB_USER_VERBS_CMD_COMMAND_MASK | IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return EINVAL;
	uc->write = find_write(command);
	if (!uc->write)
		return EOPNOTSUPP;
	ret = check_write(uc);
	return ret ? ret : uc->write->run(uc);
}

static const struct uverbs_attr invoke_attrs[] = {
	{ UVERBS_ATTR_WRITE_CMD, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CORE_IN, ATTR_IN, OPTIONAL, 4, ANY_SIZE, 0 },
	{ UVERBS_ATTR_CORE_OUT, ATTR_OUT, OPTIONAL, 0, ANY_SIZE, 0 },
	UHW_ATTRS,
};

static const struct uverbs_method invoke_table[] = {
	METHOD("INVOKE_WRITE", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, invoke_write,
	       invoke_attrs),
};

static const struct uverbs_methods invoke_methods = METHODS(invoke_table);
