/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connections.c - connections [COUNT]: the cost of a connection of librdmacm when COUNT of them
 * (default: 1, 100 and 1000) are made one phase at a time, as cmtime does.
 *
 * A thread of the same process serves. For each number the program prints the microseconds of a
 * connection from its id to its destruction, both ends together, which are mostly softhca's
 * answers, and the costs that the library alone decides: kernel calls (this program's symbols
 * replace those of libc), and the bytes, device contexts and descriptors of the process when all
 * are connected. With COUNT, callgrind's counters cover the connections only.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <valgrind/callgrind.h>

#include "bench/measure.h"
#include "tests/lib/kernel/kernel_calls.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define MOST         1000
#define REPEATS      5 /* runs of 100 connections: readers of the output take the median */
#define RESOLVE_MS   5000
#define UVERBS_MAJOR 231
#define UVERBS_MINOR 192

/* Counts device contexts, by the numbers of their character devices. */
static int count_contexts(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	struct stat st;
	int count = 0;

	MUST(dir);
	while ((entry = readdir(dir)) != NULL)
		count += !fstat(atoi(entry->d_name), &st) && S_ISCHR(st.st_mode) &&
			 major(st.st_rdev) == UVERBS_MAJOR && minor(st.st_rdev) >= UVERBS_MINOR;
	closedir(dir);
	return count;
}

static void create_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	MUST(!rdma_create_qp(id, NULL, &attr));
}

static void id_destroy(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

/* ---- the serving thread: answers until as many ids as CLIENTS will bring have come and gone */

struct server {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	int clients;
};

static void serve_one(struct server *s, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	struct rdma_cm_id *id = event->id;
	enum rdma_cm_event_type type = event->event;

	MUST(!rdma_ack_cm_event(event));
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		create_qp(id);
		MUST(!rdma_accept(id, &param));
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		id_destroy(id);
		s->clients--;
		break;
	default:
		break;
	}
}

static void *serve_clients(void *arg)
{
	struct server *s = arg;
	struct rdma_cm_event *event;

	while (s->clients) {
		MUST(!rdma_get_cm_event(s->channel, &event));
		serve_one(s, event);
	}
	return NULL;
}

static void server_open(struct server *s)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	MUST(s->channel = rdma_create_event_channel());
	MUST(!rdma_create_id(s->channel, &s->listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(s->listener, (struct sockaddr *)&any));
	MUST(!rdma_listen(s->listener, MOST));
}

struct client {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id[MOST];
	struct sockaddr_in to;
	int n;
};

static void event_await(struct client *c, enum rdma_cm_event_type type)
{
	for (int i = 0; i < c->n; i++) {
		struct rdma_cm_event *event;

		MUST(!rdma_get_cm_event(c->channel, &event));
		while (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT && event->event != type) {
			MUST(!rdma_ack_cm_event(event));
			MUST(!rdma_get_cm_event(c->channel, &event));
		}
		MUST(event->event == type);
		MUST(!rdma_ack_cm_event(event));
	}
}

/* Each function runs for all ids before the next starts, so that the parts of many ids overlap. The
 * peers' parts are in those that wait for events. */
static void create_ids(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_create_id(c->channel, &c->id[i], NULL, RDMA_PS_TCP));
}

static void resolve_addrs(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_resolve_addr(c->id[i], NULL, (struct sockaddr *)&c->to, RESOLVE_MS));
	event_await(c, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void resolve_routes(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_resolve_route(c->id[i], RESOLVE_MS));
	event_await(c, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void create_qps(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		create_qp(c->id[i]);
}

static void connect_all(struct client *c)
{
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 7 };

	for (int i = 0; i < c->n; i++)
		MUST(!rdma_connect(c->id[i], &param));
	event_await(c, RDMA_CM_EVENT_ESTABLISHED);
}

static void disconnect_all(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_disconnect(c->id[i]));
	event_await(c, RDMA_CM_EVENT_DISCONNECTED);
}

static void destroy_all(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		id_destroy(c->id[i]);
}

static const struct phase {
	const char *name;
	void (*run)(struct client *c);
} phases[] = {
	{ "create id", create_ids },         { "resolve address", resolve_addrs },
	{ "resolve route", resolve_routes }, { "create QP", create_qps },
	{ "connect", connect_all },          { "disconnect", disconnect_all },
	{ "destroy", destroy_all },
};

/* Returns the CPU time of the process, in user and kernel mode, of both threads. */
static double cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec;
}

enum { PHASES = ARRAY_SIZE(phases), CONNECTED = PHASES - 2 };

struct costs {
	double start, cpu_start, us[PHASES], total_us, cpu_us;
	long bytes, writes, ioctls;
	int contexts, fds;
};

/* Runs the phases from FROM up to TO, and records the time of each. */
static void run_phases(struct client *c, int from, int to, struct costs *costs)
{
	for (int i = from; i < to; i++) {
		double start = now_us();

		phases[i].run(c);
		costs->us[i] = now_us() - start;
	}
}

static void note_resources(struct costs *costs)
{
	costs->bytes = kernel_calls_bytes_in_use() - costs->bytes;
	costs->contexts = count_contexts();
	costs->fds = rig_count_fds();
}

static void cost_print(int n, const char *what, double value)
{
	printf("%d: %s\t%.1f\n", n, what, value);
}

static void costs_report(int n, const struct costs *costs)
{
	cost_print(n, "microseconds each", costs->total_us / n);
	cost_print(n, "microseconds of CPU each", costs->cpu_us / n);
	for (int i = 0; n == MOST && i < PHASES; i++)
		printf("%d: microseconds each, %s\t%.1f\n", n, phases[i].name, costs->us[i] / n);
	cost_print(n, "rdma_cm calls each", (double)costs->writes / n);
	cost_print(n, "ioctls each", (double)costs->ioctls / n);
	cost_print(n, "bytes each", (double)costs->bytes / n);
	cost_print(n, "contexts", costs->contexts);
	cost_print(n, "descriptors", costs->fds);
	fflush(stdout);
}

static void clock_start(struct costs *costs)
{
	costs->start = now_us();
	costs->cpu_start = cpu_us();
}

static void clock_stop(struct costs *costs)
{
	costs->total_us += now_us() - costs->start;
	costs->cpu_us += cpu_us() - costs->cpu_start;
}

/* Reads the counters when all are connected, as the reading itself is not to be timed. */
static void measure_client(struct client *c, struct server *s, struct costs *costs)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, serve_clients, s));
	costs->bytes = kernel_calls_bytes_in_use();
	kernel_calls.writes = kernel_calls.ioctls = 0;
	CALLGRIND_ZERO_STATS;
	clock_start(costs);
	run_phases(c, 0, CONNECTED, costs);
	clock_stop(costs);
	note_resources(costs);
	clock_start(costs);
	run_phases(c, CONNECTED, PHASES, costs);
	MUST(!pthread_join(thread, NULL));
	clock_stop(costs);
	CALLGRIND_DUMP_STATS;
	costs->writes = kernel_calls.writes;
	costs->ioctls = kernel_calls.ioctls;
	costs_report(c->n, costs);
}

static void connections_measure(int n)
{
	static struct client c;
	struct server s = { .clients = n };
	struct costs costs = { 0 };

	c.n = n;
	/* before the clock is read, as one library finds its devices here and another one when an
	 * id needs a device */
	clock_start(&costs);
	server_open(&s);
	MUST(c.channel = rdma_create_event_channel());
	clock_stop(&costs);
	c.to = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = rdma_get_src_port(s.listener),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	measure_client(&c, &s, &costs);
	MUST(!rdma_destroy_id(s.listener));
	rdma_destroy_event_channel(s.channel);
	rdma_destroy_event_channel(c.channel);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;

	if (count > 0 && count <= MOST) {
		/* not counted, as the first connection also pays for what stays */
		connections_measure(1);
		connections_measure(count);
		return 0;
	}
	connections_measure(1);
	for (int i = 0; i < REPEATS; i++)
		connections_measure(100);
	connections_measure(MOST);
	return 0;
}
