/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - what the command files share. A cmd_*.c holds the commands of one object: attributes in,
 * attributes out, results copied to the object. How a command reaches the kernel is cmd_ioctl.c's
 * business.
 */
#ifndef LIBIBVERBS_CMD_H
#define LIBIBVERBS_CMD_H

#include "private.h"
#include "util/bits.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* Runs a method of the core with the driver's data appended. On a kernel that lacks the method it
 * runs the older form, which verbs_cmd_run() does not try. */
int verbs_cmd_run_core(struct ibv_context *context, uint16_t object, uint16_t method,
		       const struct verbs_attr *attrs, unsigned int nattrs,
		       const struct verbs_udata *udata);

/* verbs_cmd_run_core() returns EPROTONOSUPPORT for a method that this kernel has in no form, and
 * the kernel EOPNOTSUPP for one that this device lacks. */
static inline bool is_lacking(int err)
{
	return err == EPROTONOSUPPORT || err == EOPNOTSUPP;
}

/* Runs a method that has no attributes of its own: REQ is the payload that write() once carried,
 * less its header. RESP may be NULL. COMMAND of the extended kind is or-ed with
 * IB_USER_VERBS_CMD_FLAG_EXTENDED. */
int verbs_cmd_run_write(struct ibv_context *context, uint32_t command, const void *req,
			size_t req_len, void *resp, size_t resp_len,
			const struct verbs_udata *udata);

/* Destroys HANDLE. A device that is gone (EIO) took its objects along: that is success for programs
 * that set RDMAV_ALLOW_DISASSOC_DESTROY, and an error for the others, as it always was. */
int verbs_cmd_destroy(struct ibv_context *context, uint16_t object, uint16_t method,
		      uint16_t handle_attr, uint32_t handle);
/* Destroys HANDLE, too, and has the kernel's answer in RESP, which is zeroed first. */
int verbs_cmd_destroy_answered(struct ibv_context *context, uint16_t object, uint16_t method,
			       uint16_t handle_attr, uint32_t handle, uint16_t resp_attr,
			       void *resp, size_t resp_len);

/* The library alone runs these commands; providers have no part in them. */
int verbs_cmd_alloc_async_fd(struct ibv_context *context);
int verbs_cmd_create_comp_channel(struct ibv_context *context, int *fd);
int verbs_cmd_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
			struct ibv_gid_entry *entry);
int verbs_cmd_query_gid_table(struct ibv_context *context, struct ib_uverbs_gid_entry *entries,
			      size_t max_entries, uint64_t *count);
/* *SPEED is in units of 100 Mbit/s. */
int verbs_cmd_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed);
void verbs_cmd_copy_gid_entry(struct ibv_gid_entry *to, const struct ib_uverbs_gid_entry *from);

#endif
