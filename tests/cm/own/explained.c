/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explained.c - cm-explained: each failing call and each event of failure in librdmacm must log its
 * reason in one line at level warn. Beside each call are the words that the line must contain. The
 * program executes itself again with the log in a file.
 *
 * Covers: librdmacm/explain.c
 */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#define OWN_LOG "CM_EXPLAINED_LOG" /* set in the environment of the second execution */

static struct rdma_event_channel *channel;
static FILE *log_file;

/* Reads the lines logged since the last call. Returns their number, and copies the last one to
 * LINE. */
static int read_log(char *line, size_t size)
{
	int lines = 0;

	*line = 0;
	clearerr(log_file);
	while (fgets(line, (int)size, log_file))
		lines++;
	return lines;
}

static void expect_line(const char *what, const char *reason)
{
	char line[512];
	int lines = read_log(line, sizeof(line));

	say_check(lines == 1 && strstr(line, reason), "%s: one line, with '%s'", what, reason);
	if (lines != 1 || !strstr(line, reason))
		say("%d lines, the last: %s", lines, line);
}

#define REFUSED(call, reason)                                   \
	do {                                                    \
		int refused_ret = (call);                       \
		say_check(refused_ret != 0, "%s fails", #call); \
		expect_line(#call, reason);                     \
	} while (0)

static struct rdma_cm_id *new_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, ps));
	return id;
}

static void addresses(void)
{
	struct sockaddr_in odd = { .sin_family = AF_UNIX }, foreign = cm_loopback(0),
			   here = cm_loopback(7999);
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP), *second = new_id(RDMA_PS_TCP);

	foreign.sin_addr.s_addr = inet_addr("203.0.113.9");
	here.sin_addr.s_addr = inet_addr("198.18.0.1"); /* address of the first port */
	REFUSED(rdma_create_id(channel, &id, NULL, (enum rdma_port_space)0x77),
		"CREATE_ID: Invalid argument");
	REFUSED(rdma_bind_addr(id, (struct sockaddr *)&odd), "address family 1");
	REFUSED(rdma_bind_addr(id, (struct sockaddr *)&foreign), "BIND: Cannot assign");
	REFUSED(rdma_resolve_addr(id, NULL, (struct sockaddr *)&odd, 100), "address family 1");
	REFUSED(rdma_resolve_route(id, 100), "RESOLVE_ROUTE: Invalid argument");
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&here));
	REFUSED(rdma_bind_addr(second, (struct sockaddr *)&here), "BIND: Address already in use");
	REFUSED(rdma_set_option(id, 7, 7, &odd, 1), "SET_OPTION: Function not implemented");
	MUST(!rdma_destroy_id(id) && !rdma_destroy_id(second));
}

static void connections(void)
{
	struct rdma_conn_param param = { .private_data_len = 1 };
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP), *request;
	struct ibv_ece ece = { 0 };

	REFUSED(rdma_connect(id, &param), "not resolved yet");
	REFUSED(rdma_connect(id, NULL), "connected with parameters only");
	REFUSED(rdma_accept(id, &param), "not of a connection request");
	REFUSED(rdma_reject(id, NULL, 3), "3 bytes of private data at NULL");
	REFUSED(rdma_reject(id, NULL, 0), "REJECT: Invalid argument");
	REFUSED(rdma_disconnect(id), "DISCONNECT: Invalid argument");
	REFUSED(rdma_establish(id), "ACCEPT: Invalid argument");
	REFUSED(rdma_notify(id, IBV_EVENT_COMM_EST), "NOTIFY: Invalid argument");
	REFUSED(rdma_get_request(id, &request), "has a channel");
	REFUSED(rdma_set_local_ece(id, &ece), "vendor_id");
	REFUSED(rdma_get_remote_ece(id, NULL), "without a QP");
	REFUSED(rdma_get_cm_event(channel, NULL), "no place");
	REFUSED(rdma_ack_cm_event(NULL), "no event");
	MUST(!rdma_destroy_id(id));
}

static void queues(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr srq = { .attr = { 1, 1, 0 } };
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	REFUSED(rdma_create_qp(id, NULL, &attr), "not bound to a device");
	REFUSED(rdma_create_srq(id, NULL, &srq), "not bound to a device");
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	attr.qp_type = IBV_QPT_UD;
	REFUSED(rdma_create_qp(id, NULL, &attr), "qp_type");
	cm_make_qp(id);
	attr.qp_type = IBV_QPT_RC;
	REFUSED(rdma_create_qp(id, NULL, &attr), "has one already");
	REFUSED(rdma_establish(id), "with a QP on the id");
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

static void groups(void)
{
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = 0x100 };
	struct rdma_cm_id *id = new_id(RDMA_PS_UDP);
	struct sockaddr_in odd = { .sin_family = AF_UNIX }, group = cm_loopback(0);

	group.sin_addr.s_addr = inet_addr("224.1.2.3");
	REFUSED(rdma_join_multicast(id, (struct sockaddr *)&odd, NULL), "address family 1");
	REFUSED(rdma_join_multicast(id, (struct sockaddr *)&group, NULL),
		"JOIN_MCAST: Invalid argument");
	REFUSED(rdma_leave_multicast(id, (struct sockaddr *)&group), "not joined");
	REFUSED(rdma_join_multicast_ex(id, &attr, NULL), "comp_mask 0x100");
	attr.comp_mask = 0;
	REFUSED(rdma_join_multicast_ex(id, &attr, NULL), "comp_mask lacks");
	MUST(!rdma_destroy_id(id));
}

static void resolve_names(void)
{
	struct rdma_addrinfo hints = { .ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_TCP },
			     *info;
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	REFUSED(rdma_getaddrinfo(NULL, NULL, NULL, &info), "nothing is asked for");
	REFUSED(rdma_getaddrinfo("nosuch.invalid", "7471", NULL, &info), "nosuch.invalid 7471");
	REFUSED(rdma_getaddrinfo("127.0.0.1", "7471", &hints, &info),
		"ai_qp_type 4, ai_port_space 0x106");
	hints.ai_flags = RAI_SA;
	REFUSED(rdma_getaddrinfo("127.0.0.1", "7471", &hints, &info), "RAI_SA goes with a service");
	REFUSED(rdma_resolve_addrinfo(id, NULL, "storage", &hints),
		"RESOLVE_IB_SERVICE: Invalid argument");
	REFUSED(rdma_query_addrinfo(id, &info), "nothing was found");
	REFUSED(rdma_write_cm_event(id, RDMA_CM_EVENT_REJECTED, 0, 0),
		"not an event that programs write");
	MUST(!rdma_destroy_id(id));
}

static struct rdma_cm_event *next(int type)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(channel, &event));
	say_check((int)event->event == type, "%s comes", rdma_event_str(type));
	return event;
}

static void expect_event(int type, const char *reason)
{
	rdma_ack_cm_event(next(type));
	expect_line(rdma_event_str(type), reason);
}

static void unreachable(void)
{
	struct sockaddr_in foreign = cm_loopback(1);
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	foreign.sin_addr.s_addr = inet_addr("203.0.113.9");
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&foreign, 100));
	expect_event(RDMA_CM_EVENT_ADDR_ERROR, "No such device (status -19)");
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_TCP, 7998);
	cm_make_qp(id);
	MUST(!rdma_connect(id, &param));
	expect_event(RDMA_CM_EVENT_REJECTED, "no program listens there (status 8)");
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
	id = cm_resolved(channel, RDMA_PS_UDP, 7998);
	cm_make_qp(id);
	MUST(!rdma_connect(id, &param));
	expect_event(RDMA_CM_EVENT_UNREACHABLE, "no program listens there (status 1)");
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

static void rejected(void)
{
	struct rdma_conn_param param = { 0 };
	uint16_t port;
	struct rdma_cm_id *listener = cm_listening(channel, RDMA_PS_TCP, &port), *id, *request;
	struct rdma_cm_event *event;

	id = cm_resolved(channel, RDMA_PS_TCP, port);
	cm_make_qp(id);
	MUST(!rdma_connect(id, &param));
	event = next(RDMA_CM_EVENT_CONNECT_REQUEST);
	request = event->id;
	rdma_ack_cm_event(event);
	MUST(!rdma_reject(request, NULL, 0) && !rdma_destroy_id(request));
	expect_event(RDMA_CM_EVENT_REJECTED, "the other program says no (status 28)");
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id) && !rdma_destroy_id(listener));
}

static void children(void)
{
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP), *of_child;
	struct sockaddr_in here = cm_loopback(0);
	char line[512];
	int status;
	pid_t child = fork();

	MUST(child >= 0);
	if (!child)
		_exit(rdma_bind_addr(id, (struct sockaddr *)&here) != -1 || errno != EACCES);
	MUST(waitpid(child, &status, 0) == child);
	say_check(!status, "a child's call by its parent's channel fails with EACCES");
	expect_line("a child's rdma_bind_addr",
		    "BIND: Permission denied (only the process that has opened a channel, and has "
		    "not changed its user since");
	child = fork();
	MUST(child >= 0);
	if (!child) {
		channel = rdma_create_event_channel();
		_exit(rdma_create_id(channel, &of_child, NULL, RDMA_PS_TCP) != 0);
	}
	MUST(waitpid(child, &status, 0) == child);
	say_check(!status && !read_log(line, sizeof(line)), "by one of its own it does not");
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&here) && !rdma_destroy_id(id));
}

static void connections_of_parents(void)
{
	int listener = rsocket(AF_INET, SOCK_STREAM, 0), socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in here = cm_loopback(7997);
	int server, status;
	pid_t child;

	MUST(listener >= 0 && !rbind(listener, (struct sockaddr *)&here, sizeof(here)));
	MUST(!rlisten(listener, 1) && socket >= 0);
	MUST(!rconnect(socket, (struct sockaddr *)&here, sizeof(here)));
	server = raccept(listener, NULL, NULL);
	MUST(server >= 0);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		rsend(socket, "x", 1, 0);
		_exit(rsend(socket, "x", 1, 0) != -1 || errno != ENOTCONN);
	}
	MUST(waitpid(child, &status, 0) == child);
	say_check(!status, "a child's rsend by its parent's connection fails with ENOTCONN");
	expect_line("a child's rsend, twice", "is of the process that made it");
	MUST(!rclose(socket) && !rclose(server) && !rclose(listener));
}

static const struct topic topics[] = {
	{ "addresses", addresses },
	{ "connections", connections },
	{ "queues", queues },
	{ "groups", groups },
	{ "names", resolve_names },
	{ "unreachable", unreachable },
	{ "rejected", rejected },
	{ "children", children },
	{ "connections-of-parents", connections_of_parents },
};

/* The library reads the name of its log file when it is loaded, so it must be set before: the
 * program executes itself again. */
static void run_with_log(char **argv)
{
	char path[32];
	int fd = memfd_create("log", 0);

	MUST(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	MUST(!setenv("VERBS_LOG", "warn", 1) && !setenv("VERBS_LOG_FILE", path, 1) &&
	     !setenv(OWN_LOG, path, 1));
	execv("/proc/self/exe", argv);
	MUST(!"execv");
}

int main(int argc, char *argv[])
{
	const char *path = getenv(OWN_LOG);
	char line[512];

	TOPICS_CHOOSE(topics, argc, argv);
	if (!path)
		run_with_log(argv);
	MUST(log_file = fopen(path, "r"));
	MUST(channel = rdma_create_event_channel());
	read_log(line, sizeof(line));
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	rdma_destroy_event_channel(channel);
	fclose(log_file);
	return topics_end();
}
