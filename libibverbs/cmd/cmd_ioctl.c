/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_ioctl.c - converts a list of attributes to an RDMA_VERBS_IOCTL, and copies back what the
 * kernel created.
 *
 * No other file knows the ioctl's layout (rdma/rdma_user_ioctl_cmds.h). Values of up to 8 bytes are
 * in the attribute itself, larger ones are passed by address; handles and descriptors are returned
 * in the attribute itself.
 */
#include "cmd/cmd.h"
#include "cmd/cmd_legacy.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

union ioctl_cmd {
	struct ib_uverbs_ioctl_hdr hdr;
	char room[sizeof(struct ib_uverbs_ioctl_hdr) +
		  VERBS_CMD_MAX_ATTRS * sizeof(struct ib_uverbs_attr)];
};

/* A struct verbs_attr has the kernel's layout, so it is copied as a whole; the kernel reads the low
 * byte of how as the flags. */
static_assert(sizeof(struct verbs_attr) == sizeof(struct ib_uverbs_attr), "an attribute");
static_assert(offsetof(struct verbs_attr, len) == offsetof(struct ib_uverbs_attr, len), "len");
static_assert(offsetof(struct verbs_attr, how) == offsetof(struct ib_uverbs_attr, flags), "flags");
static_assert(offsetof(struct verbs_attr, elem) == offsetof(struct ib_uverbs_attr, attr_data),
	      "elem");
static_assert(offsetof(struct verbs_attr, value) == offsetof(struct ib_uverbs_attr, data), "data");
static_assert((int)VERBS_ATTR_MUST == (int)UVERBS_ATTR_F_MANDATORY, "how");
/* A struct verbs_short is the kernel's header followed by attributes, so that it need not be
 * copied. */
static_assert(offsetof(struct verbs_short, object) ==
		      offsetof(struct ib_uverbs_ioctl_hdr, object_id),
	      "object");
static_assert(offsetof(struct verbs_short, method) ==
		      offsetof(struct ib_uverbs_ioctl_hdr, method_id),
	      "method");
static_assert(offsetof(struct verbs_short, count) ==
		      offsetof(struct ib_uverbs_ioctl_hdr, num_attrs),
	      "count");
static_assert(offsetof(struct verbs_short, driver) ==
		      offsetof(struct ib_uverbs_ioctl_hdr, driver_id),
	      "driver");
static_assert(offsetof(struct verbs_short, attrs) == sizeof(struct ib_uverbs_ioctl_hdr), "attrs");

/* Puts up to 8 bytes into the attribute: at the start of the data word, whatever length and byte
 * order, with the rest zero. */
static void put_input(struct ib_uverbs_attr *to, const struct verbs_attr *from)
{
	const void *data = (const void *)(uintptr_t)from->value;

	to->data = 0;
	if (from->len == sizeof(uint32_t))
		memcpy(&to->data, data, sizeof(uint32_t));
	else if (from->len == sizeof(uint64_t))
		memcpy(&to->data, data, sizeof(uint64_t));
	else
		memcpy(&to->data, data, from->len);
}

static void put_value(struct ib_uverbs_attr *to, const struct verbs_attr *from)
{
	const uint32_t low = (uint32_t)from->value;

	if (from->len == sizeof(low))
		memcpy(&to->data, &low, sizeof(low));
}

/* Writes an attribute for the kernel. Returns whether the kernel returns a value in it. */
static inline bool put_attr(struct ib_uverbs_attr *to, const struct verbs_attr *from)
{
	const enum verbs_attr_kind kind = verbs_attr_kind(from);

	memcpy(to, from, sizeof(*to));
	to->flags &= UVERBS_ATTR_F_MANDATORY;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && kind == VERBS_ATTR_VALUE)
		put_value(to, from);
	if (kind < VERBS_ATTR_IN)
		return false;
	if (kind == VERBS_ATTR_IN) {
		if (from->len <= sizeof(to->data))
			put_input(to, from);
		return false;
	}
	to->data = 0;
	return true;
}

static void take_back(const struct ib_uverbs_attr *from, const struct verbs_attr *to)
{
	if (verbs_attr_kind(to) == VERBS_ATTR_NEW_HANDLE)
		*(uint32_t *)(uintptr_t)to->value = (uint32_t)from->data;
	else if (verbs_attr_kind(to) == VERBS_ATTR_NEW_FD)
		*(int *)(uintptr_t)to->value = (int)from->data_s64;
}

struct given {
	unsigned int count;
	const struct ib_uverbs_attr *from;
	const struct verbs_attr *to;
};

static inline void put_attrs(union ioctl_cmd *cmd, const struct verbs_attr *attrs,
			     unsigned int nattrs, struct given *given)
{
	struct ib_uverbs_attr *to = &cmd->hdr.attrs[cmd->hdr.num_attrs];

	for (const struct verbs_attr *from = attrs; from < attrs + nattrs; from++) {
		if (verbs_attr_kind(from) == VERBS_ATTR_SKIP)
			continue;
		assert(to < &cmd->hdr.attrs[VERBS_CMD_MAX_ATTRS]);
		if (put_attr(to, from))
			*given = (struct given){ given->count + 1, to, from };
		to++;
	}
	cmd->hdr.num_attrs = (uint16_t)(to - cmd->hdr.attrs);
}

static unsigned int take_attrs_back(const union ioctl_cmd *cmd, unsigned int first,
				    const struct verbs_attr *attrs, unsigned int nattrs)
{
	for (unsigned int i = 0; i < nattrs; i++)
		if (verbs_attr_kind(&attrs[i]) != VERBS_ATTR_SKIP)
			take_back(&cmd->hdr.attrs[first++], &attrs[i]);
	return first;
}

static unsigned int udata_to_attrs(const struct verbs_udata *udata, struct verbs_attr uhw[2])
{
	unsigned int n = 0;

	if (udata->req_len)
		uhw[n++] = verbs_attr_in(UVERBS_ATTR_UHW_IN, udata->req, udata->req_len);
	if (udata->resp_len) {
		memset(udata->resp, 0, udata->resp_len);
		uhw[n++] = verbs_attr_out(UVERBS_ATTR_UHW_OUT, udata->resp, udata->resp_len);
	}
	return n;
}

static void log_command(const struct ib_uverbs_ioctl_hdr *hdr, int ret)
{
	verbs_debug("uverbs object 0x%x method 0x%x, %u attributes: %s", hdr->object_id,
		    hdr->method_id, hdr->num_attrs, ret ? strerror(ret) : "ok");
}

/* Handles the result of an ioctl. EINTR means that a signal arrived before the command started, so
 * the ioctl is repeated. CMD begins with the header. */
static int __attribute__((cold, noinline)) finish_ioctl(int fd, void *cmd, int ret)
{
	struct ib_uverbs_ioctl_hdr hdr;

	while (ret == EINTR)
		ret = ioctl(fd, RDMA_VERBS_IOCTL, cmd) < 0 ? errno : 0;
	memcpy(&hdr, cmd, sizeof(hdr));
	log_command(&hdr, ret);
	return ret;
}

static inline int send_ioctl(int fd, void *cmd)
{
	int ret = ioctl(fd, RDMA_VERBS_IOCTL, cmd) < 0 ? errno : 0;

	return ret || verbs_log_on(VERBS_LOG_DEBUG) ? finish_ioctl(fd, cmd, ret) : 0;
}

static inline int run_ioctl(int fd, union ioctl_cmd *cmd)
{
	cmd->hdr.length = sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->hdr.attrs[0]);
	return send_ioctl(fd, cmd);
}

static inline void command_begin(union ioctl_cmd *cmd, struct ibv_context *context, uint16_t object,
				 uint16_t method)
{
	cmd->hdr = (struct ib_uverbs_ioctl_hdr){
		.object_id = object,
		.method_id = method,
		.driver_id = to_priv(context)->driver_id,
	};
}

static int run_with_udata(const struct cmd_call *call, uint16_t object, uint16_t method)
{
	const struct verbs_udata *udata = call->udata;
	struct verbs_attr uhw[2];
	union ioctl_cmd cmd;
	unsigned int nuhw, at;
	struct given given = { 0 };
	int ret;

	command_begin(&cmd, call->context, object, method);
	nuhw = udata_to_attrs(udata, uhw);
	put_attrs(&cmd, call->attrs, call->nattrs, &given);
	put_attrs(&cmd, uhw, nuhw, &given);
	put_attrs(&cmd, udata->attrs, udata->nattrs, &given);
	ret = run_ioctl(call->context->cmd_fd, &cmd);
	if (ret || !given.count)
		return ret;
	if (given.count == 1) {
		take_back(given.from, given.to);
		return 0;
	}
	at = take_attrs_back(&cmd, 0, call->attrs, call->nattrs);
	take_attrs_back(&cmd, at + nuhw, udata->attrs, udata->nattrs);
	return 0;
}

static inline int run_plain(struct ibv_context *context, uint16_t object, uint16_t method,
			    const struct verbs_attr *attrs, unsigned int nattrs)
{
	struct given given = { 0 };
	union ioctl_cmd cmd;
	int ret;

	command_begin(&cmd, context, object, method);
	put_attrs(&cmd, attrs, nattrs, &given);
	ret = run_ioctl(context->cmd_fd, &cmd);
	if (ret || !given.count)
		return ret;
	if (given.count == 1)
		take_back(given.from, given.to);
	else
		take_attrs_back(&cmd, 0, attrs, nattrs);
	return 0;
}

static int run_native(const struct cmd_call *call, uint16_t object, uint16_t method)
{
	return call->udata ? run_with_udata(call, object, method)
			   : run_plain(call->context, object, method, call->attrs, call->nattrs);
}

/* Runs the older form of a command, after the kernel has refused the method, and records that the
 * kernel lacks the method. If the older form also returns EPROTONOSUPPORT, perhaps the kernel only
 * lacks an attribute, so nothing is recorded. */
static int run_older(const struct cmd_call *call, uint16_t object, uint16_t method)
{
	const struct cmd_legacy *legacy = verbs_cmd_legacy_find(object, method);
	int ret = legacy ? legacy->run(call) : EPROTONOSUPPORT;

	if (ret != EPROTONOSUPPORT)
		__atomic_fetch_or(&to_priv(call->context)->legacy, legacy->bit, __ATOMIC_RELAXED);
	return ret;
}

static uint32_t kernel_lacks(struct ibv_context *context)
{
	return __atomic_load_n(&to_priv(context)->legacy, __ATOMIC_RELAXED);
}

/* Tries the method first, unless the kernel is known to lack it. */
static int run_call(const struct cmd_call *call, uint16_t object, uint16_t method)
{
	const uint32_t lacking = kernel_lacks(call->context);
	const struct cmd_legacy *legacy = lacking ? verbs_cmd_legacy_find(object, method) : NULL;
	int ret;

	if (legacy && lacking & legacy->bit)
		return legacy->run(call);
	ret = run_native(call, object, method);
	return ret == EPROTONOSUPPORT ? run_older(call, object, method) : ret;
}

int verbs_cmd_run_core(struct ibv_context *context, uint16_t object, uint16_t method,
		       const struct verbs_attr *attrs, unsigned int nattrs,
		       const struct verbs_udata *udata)
{
	const struct cmd_call call = { context, attrs, nattrs, udata };

	return run_call(&call, object, method);
}

VERBS_EXPORT int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			       const struct verbs_attr *attrs, unsigned int nattrs)
{
	return run_plain(context, object, method, attrs, nattrs);
}

VERBS_EXPORT int verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
				     struct verbs_short *cmd, unsigned int nattrs)
{
	assert(nattrs <= VERBS_SHORT_MAX_ATTRS);
	cmd->length =
		(uint16_t)(offsetof(struct verbs_short, attrs) + nattrs * sizeof(*cmd->attrs));
	cmd->object = object;
	cmd->method = method;
	cmd->count = (uint16_t)nattrs;
	cmd->zero = 0;
	cmd->driver = to_priv(context)->driver_id;
	cmd->none = 0;
	return send_ioctl(context->cmd_fd, cmd);
}

/* ---- frequent commands of the core
 *
 * Programs register memory and destroy objects at run time, too. These two commands are built
 * directly in the kernel's layout. They are converted to a list of attributes only if the kernel
 * turns out to lack a method.
 */

/* Adds an attribute whose data, a value or an address, is already in the kernel's form. */
static inline void short_add(union ioctl_cmd *cmd, uint16_t id, uint64_t data, size_t len)
{
	cmd->hdr.attrs[cmd->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id,
		.len = (uint16_t)len,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

/* Adds input data: up to 8 bytes are stored in the attribute itself, at its start. */
static inline void short_add_in(union ioctl_cmd *cmd, uint16_t id, const void *data, size_t len)
{
	uint64_t value = (uintptr_t)data;

	if (len <= sizeof(value)) {
		value = 0;
		if (len == sizeof(value))
			memcpy(&value, data, sizeof(value));
		else
			memcpy(&value, data, len);
	}
	short_add(cmd, id, value, len);
}

static inline void short_add_udata(union ioctl_cmd *cmd, const struct verbs_udata *udata)
{
	if (udata->req_len)
		short_add_in(cmd, UVERBS_ATTR_UHW_IN, udata->req, udata->req_len);
	if (!udata->resp_len)
		return;
	memset(udata->resp, 0, udata->resp_len);
	short_add(cmd, UVERBS_ATTR_UHW_OUT, (uintptr_t)udata->resp, udata->resp_len);
}

/* Runs a short write command. UDATA, which may be NULL, has a payload and a response, but no
 * attributes. */
static inline int run_short_write(struct ibv_context *context, uint32_t command, const void *req,
				  size_t req_len, void *resp, size_t resp_len,
				  const struct verbs_udata *udata)
{
	union ioctl_cmd cmd;

	command_begin(&cmd, context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	short_add_in(&cmd, UVERBS_ATTR_CORE_IN, req, req_len);
	if (resp)
		short_add(&cmd, UVERBS_ATTR_CORE_OUT, (uintptr_t)resp, resp_len);
	short_add(&cmd, UVERBS_ATTR_WRITE_CMD, command, sizeof(uint64_t));
	if (udata)
		short_add_udata(&cmd, udata);
	return run_ioctl(context->cmd_fd, &cmd);
}

/* Runs a write command as a list of attributes. ASKED: the kernel has just refused the method. */
static int __attribute__((noinline))
run_listed_write(struct ibv_context *context, uint32_t command, const void *req, size_t req_len,
		 void *resp, size_t resp_len, const struct verbs_udata *udata, bool asked)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_in(UVERBS_ATTR_CORE_IN, req, req_len),
		resp ? verbs_attr_out(UVERBS_ATTR_CORE_OUT, resp, resp_len) : verbs_attr_skip(),
		verbs_attr_u64(UVERBS_ATTR_WRITE_CMD, command),
	};
	const struct cmd_call call = { context, attrs, ARRAY_SIZE(attrs), udata };

	return (asked ? run_older : run_call)(&call, UVERBS_OBJECT_DEVICE,
					      UVERBS_METHOD_INVOKE_WRITE);
}

int verbs_cmd_run_write(struct ibv_context *context, uint32_t command, const void *req,
			size_t req_len, void *resp, size_t resp_len,
			const struct verbs_udata *udata)
{
	bool asked = false;
	int ret;

	if (!(udata && udata->nattrs) && !kernel_lacks(context)) {
		ret = run_short_write(context, command, req, req_len, resp, resp_len, udata);
		if (ret != EPROTONOSUPPORT)
			return ret;
		asked = true;
	}
	return run_listed_write(context, command, req, req_len, resp, resp_len, udata, asked);
}

static int destroy_result(struct ibv_context *context, int ret)
{
	return ret == EIO && to_priv(context)->lost_is_destroyed ? 0 : ret;
}

struct destroy_call {
	uint16_t object, method, handle_attr, resp_attr;
	uint32_t handle;
	void *resp;
	size_t resp_len;
};

static inline int run_short_destroy(struct ibv_context *context, const struct destroy_call *destroy)
{
	union ioctl_cmd cmd;

	command_begin(&cmd, context, destroy->object, destroy->method);
	short_add(&cmd, destroy->handle_attr, destroy->handle, 0);
	if (destroy->resp)
		short_add(&cmd, destroy->resp_attr, (uintptr_t)destroy->resp, destroy->resp_len);
	return run_ioctl(context->cmd_fd, &cmd);
}

static int __attribute__((noinline))
run_listed_destroy(struct ibv_context *context, const struct destroy_call *destroy, bool asked)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(destroy->handle_attr, destroy->handle),
		destroy->resp ? verbs_attr_out(destroy->resp_attr, destroy->resp, destroy->resp_len)
			      : verbs_attr_skip(),
	};
	const struct cmd_call call = { context, attrs, ARRAY_SIZE(attrs), NULL };

	return (asked ? run_older : run_call)(&call, destroy->object, destroy->method);
}

static inline int run_destroy(struct ibv_context *context, const struct destroy_call *destroy)
{
	bool asked = false;
	int ret;

	if (!kernel_lacks(context)) {
		ret = run_short_destroy(context, destroy);
		if (ret != EPROTONOSUPPORT)
			return ret ? destroy_result(context, ret) : 0;
		asked = true;
	}
	ret = run_listed_destroy(context, destroy, asked);
	return destroy_result(context, ret);
}

int verbs_cmd_destroy(struct ibv_context *context, uint16_t object, uint16_t method,
		      uint16_t handle_attr, uint32_t handle)
{
	const struct destroy_call destroy = {
		.object = object,
		.method = method,
		.handle_attr = handle_attr,
		.handle = handle,
	};

	return run_destroy(context, &destroy);
}

int verbs_cmd_destroy_answered(struct ibv_context *context, uint16_t object, uint16_t method,
			       uint16_t handle_attr, uint32_t handle, uint16_t resp_attr,
			       void *resp, size_t resp_len)
{
	const struct destroy_call destroy = {
		object, method, handle_attr, resp_attr, handle, resp, resp_len,
	};

	memset(resp, 0, resp_len);
	return run_destroy(context, &destroy);
}
