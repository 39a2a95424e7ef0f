/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command.c - commands written to /dev/infiniband/rdma_cm: checks one, and calls its function.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/fault.h"
#include "softhca/log.h"
#include "util/bits.h"

#define COMMAND(number, member, run) \
	[RDMA_USER_CM_CMD_##number] = { #number, sizeof(((struct ucma_call *)0)->member), run }

/* Sizes of CONNECT and ACCEPT before they had ECE. Linux reads all other commands in full size,
 * whatever length the header states. */
enum {
	OLD_CONNECT = offsetof(struct rdma_ucm_connect, ece),
	OLD_ACCEPT = offsetof(struct rdma_ucm_accept, ece),
};

static const struct {
	const char *name;
	uint16_t size;
	int (*run)(struct ucma_call *uc);
} commands[] = {
	COMMAND(CREATE_ID, create_id, ucma_id_create),
	COMMAND(DESTROY_ID, destroy_id, ucma_id_remove),
	COMMAND(BIND_IP, bind_ip, ucma_id_bind_ip),
	COMMAND(BIND, bind, ucma_id_bind),
	COMMAND(RESOLVE_IP, resolve_ip, ucma_id_resolve_ip),
	COMMAND(RESOLVE_ADDR, resolve_addr, ucma_id_resolve_addr),
	COMMAND(RESOLVE_ROUTE, resolve_route, ucma_id_resolve_route),
	COMMAND(QUERY, query, ucma_id_query),
	COMMAND(QUERY_ROUTE, query, ucma_id_query_route),
	[RDMA_USER_CM_CMD_CONNECT] = { "CONNECT", OLD_CONNECT, ucma_conn_connect },
	COMMAND(LISTEN, listen, ucma_id_listen),
	[RDMA_USER_CM_CMD_ACCEPT] = { "ACCEPT", OLD_ACCEPT, ucma_conn_accept },
	COMMAND(REJECT, reject, ucma_conn_reject),
	COMMAND(DISCONNECT, disconnect, ucma_conn_disconnect),
	COMMAND(INIT_QP_ATTR, init_qp_attr, ucma_conn_init_qp_attr),
	COMMAND(GET_EVENT, get_event, ucma_event_get),
	COMMAND(SET_OPTION, set_option, ucma_id_set_option),
	COMMAND(NOTIFY, notify, ucma_conn_notify),
	COMMAND(JOIN_IP_MCAST, join_ip_mcast, ucma_mcast_join_ip),
	COMMAND(JOIN_MCAST, join_mcast, ucma_mcast_join),
	COMMAND(LEAVE_MCAST, destroy_id, ucma_mcast_leave),
	COMMAND(MIGRATE_ID, migrate_id, ucma_id_migrate),
	COMMAND(RESOLVE_IB_SERVICE, resolve_ib_service, ucma_service_resolve),
	COMMAND(WRITE_CM_EVENT, write_cm_event, ucma_event_write),
};

enum { COMMANDS = ARRAY_SIZE(commands) };

static bool has_ece(uint32_t command)
{
	return command == RDMA_USER_CM_CMD_CONNECT || command == RDMA_USER_CM_CMD_ACCEPT;
}

/* Returns whether the caller may write commands. In Linux, writer and opener must have the same
 * struct cred, so a forked child, which has a copy of the struct, may not. */
static bool may_write(const struct ucma_call *uc)
{
	if (!client_has_thread(uc->file->opener, uc->call->tid)) {
		log_note("rdma_cm: thread %d is not of the process that opened the file",
			 uc->call->tid);
		return false;
	}
	if (credentials_are_of(&uc->file->credentials, uc->file->opener, uc->call->tid))
		return true;
	log_note("rdma_cm: thread %d has other credentials than the one that opened the file",
		 uc->call->tid);
	return false;
}

/* Checks the header as the kernel does, and runs the command. Returns ENOSYS for a command without
 * a row in the table, which the kernel has removed. */
static int run_command(struct ucma_call *uc, uint64_t addr, uint64_t len)
{
	const size_t room = sizeof(*uc) - offsetof(struct ucma_call, create_id);
	size_t size;
	int ret;

	if (len < sizeof(uc->hdr) || caller_read(uc->call, addr, &uc->hdr, sizeof(uc->hdr)))
		return len < sizeof(uc->hdr) ? EINVAL : EFAULT;
	if (uc->hdr.cmd > RDMA_USER_CM_CMD_WRITE_CM_EVENT || uc->hdr.in + sizeof(uc->hdr) > len)
		return EINVAL;
	if (uc->hdr.cmd >= COMMANDS || !commands[uc->hdr.cmd].run)
		return ENOSYS;
	size = commands[uc->hdr.cmd].size;
	if (has_ece(uc->hdr.cmd)) {
		if (uc->hdr.in < size)
			return EINVAL;
		size = uc->hdr.in < room ? uc->hdr.in : room;
	}
	ret = fault_command(uc->call->daemon->adapters[0]->fault);
	if (ret)
		return ret;
	if (caller_read(uc->call, addr + sizeof(uc->hdr), &uc->create_id, size))
		return EFAULT;
	return commands[uc->hdr.cmd].run(uc);
}

void ucma_write(struct call *call)
{
	struct ucma_call uc = { .call = call };
	struct stat st;
	int ret;

	if (client_fd_stat(call->tid, call_arg_int(call, 0), &st))
		return;
	uc.file = ucma_file_find(&st);
	if (!uc.file)
		return;
	ret = may_write(&uc) ? run_command(&uc, call_arg(call, 1), call_arg(call, 2)) : EACCES;
	log_detail("rdma_cm: thread %d: %s: %s", call->tid,
		   uc.hdr.cmd < COMMANDS && commands[uc.hdr.cmd].name ? commands[uc.hdr.cmd].name
								      : "?",
		   strerror(ret));
	if (call->answered)
		return;
	if (ret)
		call_fail(call, ret);
	else
		call_return(call, (int64_t)call_arg(call, 2));
}
