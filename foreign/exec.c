/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exec.c - commands that a guest builds itself, attributes that it adds to ours, and its log.
 */
#include "guest.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

static unsigned int attrs_in(const struct guest_buffer *buffer)
{
	return (unsigned int)(buffer->next_attr - buffer->hdr.attrs);
}

int guest_attrs_of(const struct guest_buffer *buffer, struct guest_attrs *attrs)
{
	attrs->count = 0;
	for (; buffer; buffer = buffer->next) {
		if (buffer->bits & GUEST_BUFFER_FAILED)
			return EINVAL;
		for (unsigned int i = 0; i < attrs_in(buffer); i++) {
			const struct ib_uverbs_attr *from = &buffer->hdr.attrs[i];
			struct verbs_attr attr = verbs_attr_u64(from->attr_id, from->data);

			if (attrs->count == GUEST_MAX_ATTRS)
				return EINVAL;
			attr.len = from->len;
			attr.elem = from->attr_data.enum_data.elem_id;
			attrs->attrs[attrs->count++] = from->flags & UVERBS_ATTR_F_MANDATORY
							       ? attr
							       : verbs_attr_optional(attr);
		}
	}
	return 0;
}

/* Returns how many attributes the guest must allocate for a command: NUM of the command's own, and
 * those of the buffers MORE. */
GUEST_CALL(unsigned int, __ioctl_final_num_attrs,
	   (unsigned int num, const struct guest_buffer *more))
{
	for (; more; more = more->next)
		num += attrs_in(more);
	return num;
}

/* Copies the attributes of the buffers chained to CMD to the end of CMD. With BACK, copies the
 * kernel's results from there back to the buffers. */
static int copy_links(struct guest_buffer *cmd, bool back)
{
	struct ib_uverbs_attr *at = cmd->next_attr;

	for (struct guest_buffer *from = cmd->next; from; from = from->next) {
		const unsigned int count = attrs_in(from);

		if (from->bits & GUEST_BUFFER_FAILED || count > (size_t)(cmd->last_attr - at))
			return EINVAL;
		if (back)
			memcpy(from->hdr.attrs, at, count * sizeof(*at));
		else
			memcpy(at, from->hdr.attrs, count * sizeof(*at));
		at += count;
	}
	cmd->hdr.num_attrs = (uint16_t)(at - cmd->hdr.attrs);
	return 0;
}

GUEST_CALL(int, execute_ioctl, (struct ibv_context * context, struct guest_buffer *cmd))
{
	int err = cmd->bits & GUEST_BUFFER_FAILED ? EINVAL : copy_links(cmd, false);

	if (err)
		return guest_result(err);
	cmd->hdr.length =
		(uint16_t)(sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->hdr.attrs[0]));
	cmd->hdr.driver_id = to_priv(context)->driver_id;
	cmd->hdr.reserved1 = 0;
	cmd->hdr.reserved2 = 0;
	do {
		err = ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &cmd->hdr) ? errno : 0;
	} while (err == EINTR);
	verbs_debug("uverbs object 0x%x method 0x%x of the provider: %s", cmd->hdr.object_id,
		    cmd->hdr.method_id, err ? strerror(err) : "ok");
	if (!err)
		copy_links(cmd, true);
	return guest_result(err);
}

int guest_refuse(const char *name)
{
	verbs_warn("%s: not supported for a provider of the distribution", name);
	return EOPNOTSUPP;
}

/* Logs a line of the guest, whose text already names the device. LEVEL has the numbers of enum
 * verbs_log_level. */
GUEST_CALL(__attribute__((format(printf, 3, 4))) void, __verbs_log,
	   (struct host_context * context, uint32_t level, const char *format, ...))
{
	const int saved = errno;
	char text[512];
	va_list args;
	size_t length;

	(void)context;
	if (!verbs_log_on((enum verbs_log_level)level))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	length = strlen(text);
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	verbs_log_write((enum verbs_log_level)level, "%s", text);
	errno = saved;
}

GUEST_CALL(__attribute__((format(printf, 4, 5))) int, ibv_read_ibdev_sysfs_file,
	   (char *buf, size_t size, struct host_sysfs_dev *sysfs, const char *format, ...))
{
	char file[IBV_SYSFS_PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(file, sizeof(file), format, args);
	va_end(args);
	return ibv_read_sysfs_file(sysfs->ibdev_path, file, buf, size);
}
