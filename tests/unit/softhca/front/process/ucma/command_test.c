/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command_test.c - commands that are written to an rdma_cm file: each runs its own function with
 * its own size, and what is refused before that.
 */
#include <string.h>

#include "rig.h"
#include "softhca/front/process/ucma/command.c"

enum { FD = 9, HEADER = sizeof(struct rdma_ucm_cmd_hdr), REFUSED = EDOM };
enum { END = RIG_ADDR + RIG_MEMORY }; /* of the program's memory */
enum { ROOM = sizeof(struct ucma_call) - offsetof(struct ucma_call, create_id) };

static struct {
	struct seccomp_notif notif;
	int stat_error;
	bool is_foreign; /* the descriptor is another file */
	bool other_process, other_credentials;
	int fault_error, run_error;
	bool answers; /* the command's function */
	unsigned int ran;
	const char *function;
	uint8_t payload[ROOM];
	struct ucma_file *file;
	unsigned int answered;
	int failed;
	int64_t returned;
} it;

#define FUNCTION(name)                  \
	int name(struct ucma_call *uc)  \
	{                               \
		it.function = #name;    \
		return command_ran(uc); \
	}

static int command_ran(struct ucma_call *uc)
{
	it.ran++;
	it.file = uc->file;
	memcpy(it.payload, &uc->create_id, ROOM);
	uc->call->answered = it.answers;
	return it.run_error;
}

FUNCTION(ucma_id_create)
FUNCTION(ucma_id_remove)
FUNCTION(ucma_id_bind_ip)
FUNCTION(ucma_id_bind)
FUNCTION(ucma_id_resolve_ip)
FUNCTION(ucma_id_resolve_addr)
FUNCTION(ucma_id_resolve_route)
FUNCTION(ucma_id_query)
FUNCTION(ucma_id_query_route)
FUNCTION(ucma_id_set_option)
FUNCTION(ucma_id_migrate)
FUNCTION(ucma_id_listen)
FUNCTION(ucma_conn_connect)
FUNCTION(ucma_conn_accept)
FUNCTION(ucma_conn_reject)
FUNCTION(ucma_conn_disconnect)
FUNCTION(ucma_conn_init_qp_attr)
FUNCTION(ucma_conn_notify)
FUNCTION(ucma_mcast_join_ip)
FUNCTION(ucma_mcast_join)
FUNCTION(ucma_mcast_leave)
FUNCTION(ucma_service_resolve)
FUNCTION(ucma_event_get)
FUNCTION(ucma_event_write)

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, rig.caller.tid);
	assert_int_equal(fd, FD);
	st->st_ino = 5;
	return it.stat_error;
}

struct ucma_file *ucma_file_find(const struct stat *st)
{
	assert_int_equal(st->st_ino, 5);
	return it.is_foreign ? NULL : &rig.file;
}

bool client_has_thread(const struct client *client, pid_t tid)
{
	assert_ptr_equal(client, rig.file.opener);
	assert_int_equal(tid, rig.caller.tid);
	return !it.other_process;
}

bool credentials_are_of(const struct credentials *credentials, const struct client *client,
			pid_t tid)
{
	assert_ptr_equal(credentials, &rig.file.credentials);
	assert_ptr_equal(client, rig.file.opener);
	assert_int_equal(tid, rig.caller.tid);
	return !it.other_credentials;
}

int fault_command(struct fault *fault)
{
	assert_ptr_equal(fault, rig.adapters[0].fault);
	return it.fault_error;
}

void call_fail(struct call *call, int error)
{
	assert_ptr_equal(call, &rig.caller);
	it.answered++;
	it.failed = error;
}

void call_return(struct call *call, int64_t value)
{
	assert_ptr_equal(call, &rig.caller);
	it.answered++;
	it.returned = value;
}

static int command_begin(void **state)
{
	static uint8_t a_client, a_fault;

	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.file.opener = (struct client *)&a_client;
	rig.adapters[0].fault = (struct fault *)&a_fault;
	rig.caller.daemon = &rig.daemon;
	rig.caller.notif = &it.notif;
	return 0;
}

/* Writes LEN bytes at ADDR. Returns 0 or the errno; checks the number of answers. */
static int write_at(uint64_t addr, uint64_t len)
{
	it.notif.data.args[0] = FD;
	it.notif.data.args[1] = addr;
	it.notif.data.args[2] = len;
	it.answered = it.ran = 0;
	it.failed = 0;
	it.returned = -1;
	it.function = "none";
	rig.caller.answered = false;
	ucma_write(&rig.caller);
	assert_int_equal(it.answered, 1);
	if (!it.failed)
		assert_int_equal(it.returned, len);
	return it.failed;
}

/* Writes a command whose header states IN bytes, of which HAVE are in the program's memory. */
static int write_command(uint32_t command, uint16_t in, size_t have)
{
	const struct rdma_ucm_cmd_hdr hdr = { .cmd = command, .in = in };
	uint8_t *at = rig.memory + RIG_MEMORY - HEADER - have;

	for (size_t i = 0; i < have; i++)
		at[HEADER + i] = (uint8_t)(i + 1);
	memcpy(at, &hdr, HEADER);
	return write_at(END - HEADER - have, HEADER + in);
}

#define ROW(number, member, function)                                                         \
	{                                                                                     \
		RDMA_USER_CM_CMD_##number, sizeof(((struct ucma_call *)0)->member), #function \
	}

static const struct {
	uint32_t command;
	uint16_t size;
	const char *function;
} rows[] = {
	ROW(CREATE_ID, create_id, ucma_id_create),
	ROW(DESTROY_ID, destroy_id, ucma_id_remove),
	ROW(BIND_IP, bind_ip, ucma_id_bind_ip),
	ROW(BIND, bind, ucma_id_bind),
	ROW(RESOLVE_IP, resolve_ip, ucma_id_resolve_ip),
	ROW(RESOLVE_ADDR, resolve_addr, ucma_id_resolve_addr),
	ROW(RESOLVE_ROUTE, resolve_route, ucma_id_resolve_route),
	ROW(QUERY, query, ucma_id_query),
	ROW(QUERY_ROUTE, query, ucma_id_query_route),
	ROW(LISTEN, listen, ucma_id_listen),
	ROW(REJECT, reject, ucma_conn_reject),
	ROW(DISCONNECT, disconnect, ucma_conn_disconnect),
	ROW(INIT_QP_ATTR, init_qp_attr, ucma_conn_init_qp_attr),
	ROW(GET_EVENT, get_event, ucma_event_get),
	ROW(SET_OPTION, set_option, ucma_id_set_option),
	ROW(NOTIFY, notify, ucma_conn_notify),
	ROW(JOIN_IP_MCAST, join_ip_mcast, ucma_mcast_join_ip),
	ROW(JOIN_MCAST, join_mcast, ucma_mcast_join),
	ROW(LEAVE_MCAST, destroy_id, ucma_mcast_leave),
	ROW(MIGRATE_ID, migrate_id, ucma_id_migrate),
	ROW(RESOLVE_IB_SERVICE, resolve_ib_service, ucma_service_resolve),
	ROW(WRITE_CM_EVENT, write_cm_event, ucma_event_write),
};

static void each_command_is_read_in_full_size(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(write_command(rows[i].command, 0, rows[i].size), 0);
		assert_string_equal(it.function, rows[i].function);
		assert_ptr_equal(it.file, &rig.file);
		for (unsigned int j = 0; j < ROOM; j++)
			assert_int_equal(it.payload[j], j < rows[i].size ? (j + 1) & 0xff : 0);
		assert_int_equal(write_command(rows[i].command, 0, rows[i].size - 1), EFAULT);
		assert_int_equal(it.ran, 0);
	}
}

static void an_ece_is_read_if_the_header_has_it(void **state)
{
	static const struct {
		uint32_t command;
		uint16_t old, whole;
		const char *function;
	} both[] = {
		{ RDMA_USER_CM_CMD_CONNECT, offsetof(struct rdma_ucm_connect, ece),
		  sizeof(struct rdma_ucm_connect), "ucma_conn_connect" },
		{ RDMA_USER_CM_CMD_ACCEPT, offsetof(struct rdma_ucm_accept, ece),
		  sizeof(struct rdma_ucm_accept), "ucma_conn_accept" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(both); i++) {
		const uint16_t old = both[i].old, whole = both[i].whole;

		assert_int_equal(write_command(both[i].command, old - 1, whole), EINVAL);
		assert_int_equal(it.ran, 0);
		assert_int_equal(write_command(both[i].command, old, old), 0);
		assert_string_equal(it.function, both[i].function);
		assert_int_equal(it.payload[old - 1], old & 0xff);
		assert_int_equal(it.payload[old], 0);
		assert_int_equal(write_command(both[i].command, whole, whole), 0);
		assert_int_equal(it.payload[whole - 1], whole & 0xff);
		assert_int_equal(write_command(both[i].command, whole, whole - 1), EFAULT);
		assert_int_equal(write_command(both[i].command, ROOM, ROOM), 0);
		assert_int_equal(write_command(both[i].command, ROOM + 8, ROOM), 0);
		assert_int_equal(it.payload[ROOM - 1], ROOM & 0xff);
	}
}

static void unknown_commands_are_refused(void **state)
{
	(void)state;
	assert_int_equal(write_command(RDMA_USER_CM_CMD_GET_OPTION, 0, 64), ENOSYS);
	assert_int_equal(write_command(RDMA_USER_CM_CMD_WRITE_CM_EVENT + 1, 0, 64), EINVAL);
	assert_int_equal(write_command(UINT32_MAX, 0, 64), EINVAL);
	assert_int_equal(it.ran, 0);
}

static void a_header_is_whole_and_true(void **state)
{
	(void)state;
	write_command(RDMA_USER_CM_CMD_DESTROY_ID, 16, 16);
	assert_int_equal(it.ran, 1);
	assert_int_equal(write_at(END - HEADER - 16, HEADER + 17), 0);
	assert_int_equal(write_at(END - HEADER - 16, HEADER + 16), 0);
	assert_int_equal(write_at(END - HEADER - 16, HEADER + 15), EINVAL);
	assert_int_equal(write_at(END - HEADER - 16, HEADER - 1), EINVAL);
	assert_int_equal(write_at(END - HEADER - 16, 0), EINVAL);
	assert_int_equal(write_at(END - HEADER + 1, HEADER), EFAULT);
	assert_int_equal(write_at(END, HEADER - 1), EINVAL);
	assert_int_equal(it.ran, 0);
	write_command(RDMA_USER_CM_CMD_DESTROY_ID, 0, 24);
	assert_int_equal(write_at(END - HEADER - 24, HEADER), 0);
}

static void a_fault_replaces_the_command(void **state)
{
	(void)state;
	it.fault_error = REFUSED;
	assert_int_equal(write_command(RDMA_USER_CM_CMD_DESTROY_ID, 0, 64), REFUSED);
	assert_int_equal(it.ran, 0);
	assert_int_equal(write_command(RDMA_USER_CM_CMD_GET_OPTION, 0, 64), ENOSYS);
}

static void an_error_is_the_commands(void **state)
{
	(void)state;
	it.run_error = REFUSED;
	assert_int_equal(write_command(RDMA_USER_CM_CMD_DESTROY_ID, 0, 64), REFUSED);
	assert_int_equal(it.ran, 1);
}

static void only_the_opener_writes(void **state)
{
	(void)state;
	it.other_process = true;
	assert_int_equal(write_command(RDMA_USER_CM_CMD_DESTROY_ID, 0, 64), EACCES);
	assert_int_equal(it.ran, 0);
	it.other_process = false;
	it.other_credentials = true;
	assert_int_equal(write_command(RDMA_USER_CM_CMD_DESTROY_ID, 0, 64), EACCES);
	assert_int_equal(it.ran, 0);
}

static void other_files_are_the_kernels(void **state)
{
	(void)state;
	write_command(RDMA_USER_CM_CMD_DESTROY_ID, 0, 64);
	it.answered = it.ran = 0;
	it.stat_error = EBADF;
	ucma_write(&rig.caller);
	it.stat_error = 0;
	it.is_foreign = true;
	ucma_write(&rig.caller);
	assert_int_equal(it.answered + it.ran, 0);
}

static void a_command_that_waits_is_answered_later(void **state)
{
	(void)state;
	write_command(RDMA_USER_CM_CMD_GET_EVENT, 0, 64);
	it.answered = 0;
	it.answers = true;
	ucma_write(&rig.caller);
	assert_int_equal(it.ran, 2);
	assert_int_equal(it.answered, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, command_begin)
	const struct CMUnitTest tests[] = {
		CASE(each_command_is_read_in_full_size),
		CASE(an_ece_is_read_if_the_header_has_it),
		CASE(unknown_commands_are_refused),
		CASE(a_header_is_whole_and_true),
		CASE(a_fault_replaces_the_command),
		CASE(an_error_is_the_commands),
		CASE(only_the_opener_writes),
		CASE(other_files_are_the_kernels),
		CASE(a_command_that_waits_is_answered_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
