/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ucma_strict.c - what /dev/infiniband/rdma_cm says to commands that are wrong.
 *
 * Every command is written with too few bytes, with as many as it has, and with more; for an id
 * that is not there and for one that is new; with and without room for an answer. Then come
 * options, numbers and flags that there are not, and calls of somebody else's. What each comes to
 * is a line, as in uverbs_strict.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "util/bits.h"

enum {
	ROOM = 1024,
	NO_ID = 0x7ffffff,
	NO_COMMAND = 99,
	LONGER = 8,
	PS_TCP = 0x106,
	PS_NONE = 0x42,
	QPT_RC = 2,
	QPT_NONE = 77,
	MANY = 4096,
};

static struct {
	struct rdma_ucm_cmd_hdr hdr;
	uint8_t body[ROOM];
} command;
static uint8_t answer[ROOM];
static int channel;

static void print_result(const char *name, const char *what, int err)
{
	printf("%s: %s: %s\n", name, what, err ? strerrorname_np(err) : "0");
}

static const struct command {
	const char *name;
	uint32_t number;
	uint16_t size;  /* of its fields */
	int16_t id;     /* where the id is among them; below 0: nowhere */
	int16_t answer; /* where the address of the answer is; likewise */
	uint16_t answer_size;
} commands[] = {
#define COMMAND(number, type, id_at, answer_at, answer_size)                               \
	{                                                                                  \
#number, RDMA_USER_CM_CMD_##number, sizeof(struct type), id_at, answer_at, \
			answer_size                                                        \
	}
#define AT(type, field) offsetof(struct type, field)
	COMMAND(CREATE_ID, rdma_ucm_create_id, -1, AT(rdma_ucm_create_id, response),
		sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(DESTROY_ID, rdma_ucm_destroy_id, AT(rdma_ucm_destroy_id, id),
		AT(rdma_ucm_destroy_id, response), sizeof(struct rdma_ucm_destroy_id_resp)),
	COMMAND(BIND_IP, rdma_ucm_bind_ip, AT(rdma_ucm_bind_ip, id), -1, 0),
	COMMAND(RESOLVE_IP, rdma_ucm_resolve_ip, AT(rdma_ucm_resolve_ip, id), -1, 0),
	COMMAND(RESOLVE_ROUTE, rdma_ucm_resolve_route, AT(rdma_ucm_resolve_route, id), -1, 0),
	COMMAND(QUERY_ROUTE, rdma_ucm_query, AT(rdma_ucm_query, id), AT(rdma_ucm_query, response),
		sizeof(struct rdma_ucm_query_route_resp)),
	COMMAND(CONNECT, rdma_ucm_connect, AT(rdma_ucm_connect, id), -1, 0),
	COMMAND(LISTEN, rdma_ucm_listen, AT(rdma_ucm_listen, id), -1, 0),
	COMMAND(ACCEPT, rdma_ucm_accept, AT(rdma_ucm_accept, id), -1, 0),
	COMMAND(REJECT, rdma_ucm_reject, AT(rdma_ucm_reject, id), -1, 0),
	COMMAND(DISCONNECT, rdma_ucm_disconnect, AT(rdma_ucm_disconnect, id), -1, 0),
	COMMAND(INIT_QP_ATTR, rdma_ucm_init_qp_attr, AT(rdma_ucm_init_qp_attr, id),
		AT(rdma_ucm_init_qp_attr, response), sizeof(struct ib_uverbs_qp_attr)),
	COMMAND(GET_EVENT, rdma_ucm_get_event, -1, AT(rdma_ucm_get_event, response),
		sizeof(struct rdma_ucm_event_resp)),
	COMMAND(SET_OPTION, rdma_ucm_set_option, AT(rdma_ucm_set_option, id), -1, 0),
	COMMAND(NOTIFY, rdma_ucm_notify, AT(rdma_ucm_notify, id), -1, 0),
	COMMAND(JOIN_IP_MCAST, rdma_ucm_join_ip_mcast, AT(rdma_ucm_join_ip_mcast, id),
		AT(rdma_ucm_join_ip_mcast, response), sizeof(struct rdma_ucm_create_id_resp)),
	COMMAND(LEAVE_MCAST, rdma_ucm_destroy_id, AT(rdma_ucm_destroy_id, id),
		AT(rdma_ucm_destroy_id, response), sizeof(struct rdma_ucm_destroy_id_resp)),
	COMMAND(MIGRATE_ID, rdma_ucm_migrate_id, AT(rdma_ucm_migrate_id, id),
		AT(rdma_ucm_migrate_id, response), sizeof(struct rdma_ucm_migrate_resp)),
	COMMAND(QUERY, rdma_ucm_query, AT(rdma_ucm_query, id), AT(rdma_ucm_query, response),
		sizeof(struct rdma_ucm_query_addr_resp)),
	COMMAND(BIND, rdma_ucm_bind, AT(rdma_ucm_bind, id), -1, 0),
	COMMAND(RESOLVE_ADDR, rdma_ucm_resolve_addr, AT(rdma_ucm_resolve_addr, id), -1, 0),
	COMMAND(JOIN_MCAST, rdma_ucm_join_mcast, AT(rdma_ucm_join_mcast, id),
		AT(rdma_ucm_join_mcast, response), sizeof(struct rdma_ucm_create_id_resp)),
#undef AT
#undef COMMAND
};

static const struct command *command_of(uint32_t number)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

static void body_put(int at, const void *value, size_t len)
{
	if (at >= 0)
		memcpy(command.body + at, value, len);
}

/* The fields are zero, but for the id and the address of the answer. */
static void command_begin(const struct command *c, uint32_t id)
{
	uint64_t addr = (uintptr_t)answer;

	memset(&command, 0, sizeof(command));
	command.hdr = (struct rdma_ucm_cmd_hdr){ c->number, c->size, c->answer_size };
	body_put(c->id, &id, sizeof(id));
	body_put(c->answer, &addr, sizeof(addr));
}

static int command_write(size_t len)
{
	ssize_t written = write(channel, &command, len);

	if (written < 0)
		return errno;
	return written == (ssize_t)len ? 0 : EMSGSIZE;
}

static int command_run(void)
{
	return command_write(sizeof(command.hdr) + command.hdr.in);
}

static int id_make(uint16_t ps, uint8_t qp_type, uint32_t *id)
{
	struct rdma_ucm_create_id *create = (void *)command.body;
	int err;

	command_begin(command_of(RDMA_USER_CM_CMD_CREATE_ID), 0);
	create->ps = ps;
	create->qp_type = qp_type;
	err = command_run();
	memcpy(id, answer, sizeof(*id));
	return err;
}

static int id_destroy(uint32_t id)
{
	command_begin(command_of(RDMA_USER_CM_CMD_DESTROY_ID), id);
	return command_run();
}

/* With zeroes for fields, none of these does anything but to answer; what was made is destroyed. */
static void command_tried(const struct command *c, const char *what, int err)
{
	uint32_t made;

	print_result(c->name, what, err);
	memcpy(&made, answer, sizeof(made));
	if (!err && c->number == RDMA_USER_CM_CMD_CREATE_ID)
		id_destroy(made);
}

static void lengths_try(const struct command *c)
{
	uint32_t id;

	for (int real = 0; real < 2; real++) {
		const struct {
			const char *name;
			int in;
			uint8_t tail;
			uint16_t out;
		} cases[] = {
			{ "nothing", 0, 0, c->answer_size },
			{ "4 bytes less", c->size - 4, 0, c->answer_size },
			{ "as it should be", c->size, 0, c->answer_size },
			{ "longer by zeroes", c->size + LONGER, 0, c->answer_size },
			{ "longer", c->size + LONGER, 0xff, c->answer_size },
			{ "no room", c->size, 0, 0 },
			{ "little room", c->size, 0, 3 },
			{ "much room", c->size, 0, ROOM },
		};

		for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
			char what[64];

			id = NO_ID;
			if (real && c->id >= 0 && id_make(PS_TCP, QPT_RC, &id))
				print_result(c->name, "an id", EIO);
			command_begin(c, id);
			memset(command.body + c->size, cases[i].tail, LONGER);
			command.hdr.in = cases[i].in;
			command.hdr.out = cases[i].out;
			snprintf(what, sizeof(what), "%s, %s", real ? "an id" : "no id",
				 cases[i].name);
			command_tried(c, what, command_run());
			if (real && c->id >= 0)
				id_destroy(id);
		}
		if (c->id < 0)
			break;
	}
}

/* What write() itself is told: fewer bytes than the header says, or than the header has. */
static void headers_try(void)
{
	const struct command *c = command_of(RDMA_USER_CM_CMD_CREATE_ID);
	char what[64];

	for (unsigned int len = 0; len <= sizeof(command.hdr); len += 2) {
		command_begin(c, 0);
		command.hdr.in = 0;
		snprintf(what, sizeof(what), "%u bytes", len);
		print_result("header", what, command_write(len));
	}
	command_begin(c, 0);
	print_result("header", "one byte less than it says",
		     command_write(sizeof(command.hdr) + c->size - 1));
	command_begin(c, 0);
	print_result("header", "more bytes than it says",
		     command_write(sizeof(command.hdr) + c->size + LONGER));
	id_destroy(*(uint32_t *)(void *)answer);
	for (uint32_t number = 0; number <= 30; number++) {
		if (command_of(number) || number == 23 ||
		    number == 24) /* those are of Linux 6.18 */
			continue;
		command_begin(c, 0);
		command.hdr.cmd = number;
		snprintf(what, sizeof(what), "command %u", number);
		print_result("header", what, command_run());
	}
	command_begin(c, 0);
	command.hdr.cmd = ~0u;
	print_result("header", "command -1", command_run());
	command_begin(c, 0);
	memset(command.body + 8, 0, 8); /* the answer's address */
	print_result("header", "an answer to nowhere", command_run());
}

static void creation_try(void)
{
	static const uint16_t spaces[] = { PS_TCP, 0x111, 0x2, 0x13f, 0x1, 0, PS_NONE, 0xffff };
	static const uint8_t types[] = { QPT_RC, 4, 3, 9, 10, 0, 1, 8, QPT_NONE, 0xff };
	char what[64];
	uint32_t id;

	for (unsigned int i = 0; i < ARRAY_SIZE(spaces); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(types); j++) {
			int err = id_make(spaces[i], types[j], &id);

			snprintf(what, sizeof(what), "port space %#x, type %u", spaces[i],
				 types[j]);
			print_result("create", what, err);
			if (!err)
				id_destroy(id);
		}
}

static int option_set(uint32_t id, uint32_t level, uint32_t name, uint32_t len, const void *value)
{
	struct rdma_ucm_set_option *set = (void *)command.body;

	command_begin(command_of(RDMA_USER_CM_CMD_SET_OPTION), id);
	*set = (struct rdma_ucm_set_option){ (uintptr_t)value, id, level, name, len };
	return command_run();
}

static void options_try(void)
{
	static const uint32_t lengths[] = { 0, 1, 2, 4, 5, 8, MANY + 1 };
	static const uint8_t zeroes[MANY + 8], ones[MANY + 8] = { [0 ... MANY + 7] = 0xff };
	const uint8_t *values[] = { zeroes, ones };
	char what[80];
	uint32_t id;

	for (uint32_t level = 0; level < 3; level++)
		for (uint32_t name = 0; name < 6; name++)
			for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
				for (unsigned int j = 0; j < ARRAY_SIZE(values); j++) {
					int err = id_make(PS_TCP, QPT_RC, &id);

					if (!err)
						err = option_set(id, level, name, lengths[i],
								 values[j]);
					snprintf(what, sizeof(what),
						 "level %u name %u, %u bytes of %#x", level, name,
						 lengths[i], values[j][0]);
					print_result("option", what, err);
					id_destroy(id);
				}
	if (!id_make(PS_TCP, QPT_RC, &id))
		print_result("option", "a value from nowhere", option_set(id, 0, 0, 1, NULL));
	id_destroy(id);
}

static void queries_try(void)
{
	struct rdma_ucm_query *query = (void *)command.body;
	char what[64];
	uint32_t id;

	for (uint32_t option = 0; option < 8; option++) {
		if (option == RDMA_USER_CM_QUERY_IB_SERVICE)
			continue;
		for (uint16_t out = 0; out <= 512; out += 8) {
			if (out % 64 && out != 8 && out != 24)
				continue;
			if (id_make(PS_TCP, QPT_RC, &id))
				return;
			command_begin(command_of(RDMA_USER_CM_CMD_QUERY), id);
			query->option = option;
			command.hdr.out = out;
			snprintf(what, sizeof(what), "option %u, room for %u", option, out);
			print_result("query", what, command_run());
			id_destroy(id);
		}
	}
}

/* Addresses of no family, of no length, and of this host; then a second time. */
static void addresses_try(void)
{
	static const uint16_t families[] = { 0, 2, 10, 27, 99 };
	static const uint16_t lengths[] = { 0, 1, 2, 8, 16, 28, 48, 128, 129 };
	struct rdma_ucm_bind *bind = (void *)command.body;
	char what[64];
	uint32_t id;

	for (unsigned int i = 0; i < ARRAY_SIZE(families); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(lengths); j++) {
			if (id_make(PS_TCP, QPT_RC, &id))
				return;
			command_begin(command_of(RDMA_USER_CM_CMD_BIND), id);
			bind->addr_size = lengths[j];
			memcpy(&bind->addr, &families[i], sizeof(families[i]));
			snprintf(what, sizeof(what), "family %u, %u bytes", families[i],
				 lengths[j]);
			print_result("bind", what, command_run());
			id_destroy(id);
		}
	if (id_make(PS_TCP, QPT_RC, &id))
		return;
	for (int i = 0; i < 2; i++) {
		command_begin(command_of(RDMA_USER_CM_CMD_BIND), id);
		bind->addr_size = 16;
		memcpy(&bind->addr, &families[1], sizeof(families[1]));
		print_result("bind", i ? "any address again" : "any address", command_run());
	}
	command_begin(command_of(RDMA_USER_CM_CMD_BIND), id);
	bind->reserved = 1;
	bind->addr_size = 16;
	memcpy(&bind->addr, &families[1], sizeof(families[1]));
	print_result("bind", "with a reserved field", command_run());
	id_destroy(id);
}

static void strangers_try(void)
{
	struct rdma_ucm_migrate_id *migrate = (void *)command.body;
	int other = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC), mine = channel;
	uint32_t id;

	if (id_make(PS_TCP, QPT_RC, &id))
		return;
	channel = other;
	print_result("another file", "destroys the id", id_destroy(id));
	command_begin(command_of(RDMA_USER_CM_CMD_MIGRATE_ID), id);
	migrate->fd = STDOUT_FILENO;
	print_result("another file", "moves the id from what is no file of ids", command_run());
	command_begin(command_of(RDMA_USER_CM_CMD_MIGRATE_ID), id);
	migrate->fd = 9999;
	print_result("another file", "moves the id from no file", command_run());
	command_begin(command_of(RDMA_USER_CM_CMD_MIGRATE_ID), id);
	migrate->fd = other;
	print_result("another file", "moves the id from itself", command_run());
	command_begin(command_of(RDMA_USER_CM_CMD_MIGRATE_ID), id);
	migrate->fd = mine;
	print_result("another file", "moves the id", command_run());
	print_result("another file", "destroys the id that it has now", id_destroy(id));
	channel = mine;
	close(other);
}

/* A child that was forked has credentials of its own, if only by their address. */
static void child_tries(void)
{
	uint32_t id;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		print_result("a child", "makes an id", id_make(PS_TCP, QPT_RC, &id));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

int main(void)
{
	channel = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (channel < 0) {
		perror("rdma_cm");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	headers_try();
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		lengths_try(&commands[i]);
	creation_try();
	options_try();
	queries_try();
	addresses_try();
	strangers_try();
	child_tries();
	return 0;
}
