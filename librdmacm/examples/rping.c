/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rping.c - an RDMA ping-pong: the client advertises its source, the server READs it, and WRITEs it
 * back to the sink that the client advertises next.
 *
 * With -P the server serves any number of clients, each in a thread with its own event channel.
 */
#include "rping.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "channel.h"

/* A ping begins with its number, of up to ten digits, and ends with 0. */
#define PING_HEAD "rdma-ping-%d: "
enum { MIN_SIZE = sizeof(PING_HEAD) - 2 + 10, MAX_SIZE = 64 * 1024, RESOLVE_MS = 2000 };

static char next_letter(char c)
{
	return c == 'z' ? 'A' : (char)(c + 1);
}

/* Fills a ping: "rdma-ping-N: ", then letters. The first letter of each ping follows the first
 * letter of the ping before. */
static void fill_ping(struct rping *rping, int number, char first)
{
	int size = rping->options->size;
	int i = snprintf(rping->source, size, PING_HEAD, number);

	for (; i < size - 1; i++) {
		rping->source[i] = first;
		first = next_letter(first);
	}
	rping->source[size - 1] = '\0';
}

static int ping_once(struct rping *rping, int number, char first)
{
	fill_ping(rping, number, first);
	rping->state = RPING_READ_ADV;
	if (rping_send(rping, rping->source, rping->source_mr))
		return -1;
	if (rping_await(rping, RPING_WRITE_ADV))
		return -1;
	if (rping_send(rping, rping->sink, rping->sink_mr))
		return -1;
	if (rping_await(rping, RPING_WRITE_COMPLETE))
		return -1;
	if (rping->options->validate && memcmp(rping->source, rping->sink, rping->options->size)) {
		fprintf(stderr, "data mismatch!\n");
		return -1;
	}
	if (rping->options->verbose)
		printf("ping data: %s\n", rping->sink);
	return 0;
}

static int ping_all(struct rping *rping)
{
	char first = 'A';
	int ret = 0;

	for (int i = 0; !ret && (!rping->options->count || i < rping->options->count); i++) {
		ret = ping_once(rping, i, first);
		first = next_letter(first);
	}
	return ret;
}

static int open_id(struct rping *rping)
{
	rping->channel = channel_open();
	if (!rping->channel)
		exit(errno);
	if (rdma_create_id(rping->channel, &rping->id, rping, RDMA_PS_TCP))
		return complain_errno("rdma_create_id");
	rping_debug(rping, "created cm_id %p\n", (void *)rping->id);
	return 0;
}

static int resolve_server(struct rping *rping)
{
	struct sockaddr *source = NULL;
	struct sockaddr_storage addr = rping->options->addr;

	if (rping->options->has_source)
		source = (struct sockaddr *)&rping->options->source;
	/* sin6_port has the same offset, so this serves both versions of IP */
	((struct sockaddr_in *)&addr)->sin_port = rping->options->port;
	if (rdma_resolve_addr(rping->id, source, (struct sockaddr *)&addr, RESOLVE_MS))
		return complain_errno("rdma_resolve_addr");
	if (rping_await(rping, RPING_ROUTE_RESOLVED))
		return -1;
	rping_debug(rping, "rdma_resolve_addr - rdma_resolve_route successful\n");
	return 0;
}

static int run_connected_client(struct rping *rping)
{
	int ret = rping_connect(rping);

	if (ret) {
		fprintf(stderr, "connect error %d\n", ret);
		return ret;
	}
	ret = ping_all(rping);
	rdma_disconnect(rping->id);
	if (rping->state < RPING_DISCONNECTED)
		rping_await(rping, RPING_DISCONNECTED);
	return ret;
}

static int run_client(struct rping *rping)
{
	int ret = open_id(rping);

	if (!ret)
		ret = resolve_server(rping);
	if (!ret)
		ret = rping_make_queues(rping);
	if (!ret)
		ret = run_connected_client(rping);
	rping_clean(rping);
	return ret;
}

static int pong_once(struct rping *rping)
{
	rping_debug(rping, "server received source adv\n");
	if (rping_transfer(rping, IBV_WR_RDMA_READ))
		return -1;
	rping_debug(rping, "server posted rdma read req \n");
	if (rping_await(rping, RPING_READ_COMPLETE))
		return -1;
	rping_debug(rping, "server received read complete\n");
	if (rping->options->verbose)
		printf("server ping data: %.*s\n", rping->options->size, rping->sink);
	if (rping_send(rping, NULL, rping->sink_mr))
		return -1;
	rping_debug(rping, "server posted go ahead\n");
	if (rping_await(rping, RPING_WRITE_ADV))
		return -1;
	rping_debug(rping, "server received sink adv\n");
	if (rping_transfer(rping, IBV_WR_RDMA_WRITE) || rping_await(rping, RPING_WRITE_COMPLETE))
		return -1;
	rping_debug(rping, "server rdma write complete \n");
	if (rping_send(rping, NULL, rping->sink_mr))
		return -1;
	rping_debug(rping, "server posted go ahead\n");
	return 0;
}

static int pong_all(struct rping *rping)
{
	int ret = 0;

	while (!ret && !rping_await(rping, RPING_READ_ADV))
		ret = pong_once(rping);
	return rping->state == RPING_DISCONNECTED ? 0 : -1;
}

static int serve_connection(struct rping *rping)
{
	int ret;

	rping_debug(rping, "child cma %p\n", (void *)rping->id);
	rping->state = RPING_CONNECT_REQUEST;
	rping->channel = channel_open();
	if (!rping->channel)
		ret = -1;
	else if (rdma_migrate_id(rping->id, rping->channel))
		ret = complain_errno("rdma_migrate_id");
	else
		ret = rping_make_queues(rping);
	if (!ret)
		ret = rping_accept(rping);
	if (ret)
		fprintf(stderr, "connect error %d\n", ret);
	else
		ret = pong_all(rping);
	if (rping->state >= RPING_CONNECTED)
		rdma_disconnect(rping->id);
	rping_clean(rping);
	return ret;
}

static int await_request(struct rping *listener, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;

	*id = NULL;
	while (!*id) {
		if (rdma_get_cm_event(listener->channel, &event))
			return complain_errno("rdma_get_cm_event");
		rping_debug(listener, "cma_event type %s cma_id %p (%s)\n",
			    rdma_event_str(event->event), (void *)event->id, "child");
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			*id = event->id;
		rdma_ack_cm_event(event);
	}
	return 0;
}

static void *serve_in_thread(void *arg)
{
	serve_connection(arg);
	free(arg);
	return NULL;
}

static int serve_one_more(struct rping *listener)
{
	struct rping *rping = calloc(1, sizeof(*rping));
	pthread_t thread;
	int ret = rping ? 0 : complain_errno("no memory for a connection");

	if (!ret)
		ret = await_request(listener, &rping->id);
	if (ret) {
		free(rping);
		return ret;
	}
	rping->options = listener->options;
	errno = pthread_create(&thread, NULL, serve_in_thread, rping);
	if (errno) {
		complain_errno("pthread_create");
		rdma_reject(rping->id, NULL, 0);
		rdma_destroy_id(rping->id);
		free(rping);
		return -1;
	}
	pthread_detach(thread);
	return 0;
}

static int listen_at(struct rping *listener)
{
	struct sockaddr_storage addr = listener->options->addr;

	((struct sockaddr_in *)&addr)->sin_port = listener->options->port;
	if (rdma_bind_addr(listener->id, (struct sockaddr *)&addr))
		return complain_errno("rdma_bind_addr");
	rping_debug(listener, "rdma_bind_addr successful\n");
	rping_debug(listener, "rdma_listen\n");
	return rdma_listen(listener->id, 128) ? complain_errno("rdma_listen") : 0;
}

static int run_server(struct rping *listener)
{
	struct rping rping = { .options = listener->options };
	int ret = open_id(listener);

	if (!ret)
		ret = listen_at(listener);
	while (!ret && listener->options->persistent)
		ret = serve_one_more(listener);
	if (!ret)
		ret = await_request(listener, &rping.id);
	if (!ret)
		ret = serve_connection(&rping);
	rping_clean(listener);
	return ret;
}

static void print_usage(const char *program)
{
	printf("%s -s [-vVd] [-S size] [-C count] [-a addr] [-p port]\n"
	       "%s -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]\n"
	       "\t-c\t\tclient side\n"
	       "\t-I\t\tSource address to bind to for client.\n"
	       "\t-s\t\tserver side.  To bind to any address with IPv6 use -a ::0\n"
	       "\t-v\t\tdisplay ping data to stdout\n"
	       "\t-V\t\tvalidate ping data\n"
	       "\t-d\t\tdebug printfs\n"
	       "\t-S size \tping data size\n"
	       "\t-C count\tping count times\n"
	       "\t-a addr\t\taddress\n"
	       "\t-p port\t\tport\n"
	       "\t-P\t\tpersistent server mode allowing multiple connections\n"
	       "\t-q\t\tuse self-created, self-modified QP\n",
	       program, program);
}

static int take_size(struct rping_options *options, const char *value)
{
	options->size = atoi(value);
	if (options->size >= MIN_SIZE && options->size < MAX_SIZE)
		return 0;
	fprintf(stderr, "Invalid size %d (valid range is %d to %d)\n", options->size, MIN_SIZE,
		MAX_SIZE);
	return EINVAL;
}

static int take_count(struct rping_options *options, const char *value)
{
	options->count = atoi(value);
	if (options->count >= 0)
		return 0;
	fprintf(stderr, "Invalid count %d\n", options->count);
	return EINVAL;
}

static int take_value(struct rping_options *options, int option, const char *value)
{
	switch (option) {
	case 'a':
		return address_of_host(value, &options->addr);
	case 'I':
		options->has_source = true;
		return address_of_host(value, &options->source);
	case 'p':
		options->port = htons((uint16_t)atoi(value));
		return 0;
	case 'S':
		return take_size(options, value);
	default:
		return take_count(options, value);
	}
}

static bool take_flag(struct rping_options *options, int option)
{
	switch (option) {
	case 's':
		options->server = 1;
		return true;
	case 'c':
		options->server = 0;
		return true;
	case 'P':
		return options->persistent = true;
	case 'v':
		return options->verbose = true;
	case 'V':
		return options->validate = true;
	case 'd':
		return options->debug = true;
	case 'q':
		return options->own_qp = true;
	default:
		return false;
	}
}

static int take_options(struct rping_options *options, int argc, char *argv[])
{
	bool usage = false;
	int ret = 0;
	int option;

	opterr = 0;
	while (!usage && (option = getopt(argc, argv, "a:I:Pp:C:S:scvVdq")) != -1) {
		if (strchr("aIpCS", option))
			ret = take_value(options, option, optarg);
		else
			usage = !take_flag(options, option);
		if (ret)
			return ret;
	}
	if (!usage && options->server >= 0)
		return 0;
	print_usage(argv[0]);
	return EINVAL;
}

int main(int argc, char *argv[])
{
	struct rping_options options = {
		.server = -1, .size = 64, .port = htons(7174), .addr = { .ss_family = AF_INET }
	};
	struct rping rping = { .options = &options, .state = RPING_IDLE };
	int ret = take_options(&options, argc, argv);

	if (ret)
		return ret;
	if (options.debug)
		printf("size %d count %d\n", options.size, options.count);
	return options.server ? run_server(&rping) : run_client(&rping);
}
