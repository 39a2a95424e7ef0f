/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - shared by the command files. Each cmd_*.c has the commands of one object: attributes in,
 * attributes out, results copied to the object. cmd_ioctl.c passes the commands to the kernel.
 */
#ifndef LIBIBVERBS_CMD_H
#define LIBIBVERBS_CMD_H

#include "libibverbs/private.h"
#include "util/bits.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* Runs a method of the core with the driver's data appended. If the kernel lacks the method, runs
 * the older form; verbs_cmd_run() does not. */
int verbs_cmd_run_core(struct ibv_context *context, uint16_t object, uint16_t method,
		       const struct verbs_attr *attrs, unsigned int nattrs,
		       const struct verbs_udata *udata);

/* Returns whether a method is missing: EPROTONOSUPPORT if the kernel has it in no form, EOPNOTSUPP
 * if the device lacks it. */
static inline bool is_lacking(int err)
{
	return err == EPROTONOSUPPORT || err == EOPNOTSUPP;
}

/* Runs a command through the old write() payload, inside an ioctl. REQ is the payload without its
 * header. RESP may be NULL. An extended COMMAND is ORed with IB_USER_VERBS_CMD_FLAG_EXTENDED. */
int verbs_cmd_run_write(struct ibv_context *context, uint32_t command, const void *req,
			size_t req_len, void *resp, size_t resp_len,
			const struct verbs_udata *udata);

/* Destroys HANDLE. EIO means that the device is gone, and its objects with it: that is success if
 * the program sets RDMAV_ALLOW_DISASSOC_DESTROY, and otherwise an error, as in all releases. */
int verbs_cmd_destroy(struct ibv_context *context, uint16_t object, uint16_t method,
		      uint16_t handle_attr, uint32_t handle);
/* Does what verbs_cmd_destroy() does, and returns the kernel's answer in RESP, which is zeroed
 * first. */
int verbs_cmd_destroy_answered(struct ibv_context *context, uint16_t object, uint16_t method,
			       uint16_t handle_attr, uint32_t handle, uint16_t resp_attr,
			       void *resp, size_t resp_len);

/* Commands that only the library runs, without driver data. */
int verbs_cmd_alloc_async_fd(struct ibv_context *context);
int verbs_cmd_create_comp_channel(struct ibv_context *context, int *fd);
int verbs_cmd_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
			struct ibv_gid_entry *entry);
int verbs_cmd_query_gid_table(struct ibv_context *context, struct ib_uverbs_gid_entry *entries,
			      size_t max_entries, uint64_t *count);
/* Sets *SPEED, in units of 100 Mbit/s. */
int verbs_cmd_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed);
void verbs_cmd_copy_gid_entry(struct ibv_gid_entry *to, const struct ib_uverbs_gid_entry *from);

#endif
