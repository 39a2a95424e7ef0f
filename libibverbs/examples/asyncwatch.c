/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * asyncwatch.c - ibv_asyncwatch: prints the asynchronous events of a device until it is stopped.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

/* Returns the name of an event. This program creates no objects, so only port and device events
 * occur. */
static const char *event_name(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_DEVICE_FATAL:
		return "IBV_EVENT_DEVICE_FATAL";
	case IBV_EVENT_PORT_ACTIVE:
		return "IBV_EVENT_PORT_ACTIVE";
	case IBV_EVENT_PORT_ERR:
		return "IBV_EVENT_PORT_ERR";
	case IBV_EVENT_LID_CHANGE:
		return "IBV_EVENT_LID_CHANGE";
	case IBV_EVENT_PKEY_CHANGE:
		return "IBV_EVENT_PKEY_CHANGE";
	case IBV_EVENT_SM_CHANGE:
		return "IBV_EVENT_SM_CHANGE";
	case IBV_EVENT_CLIENT_REREGISTER:
		return "IBV_EVENT_CLIENT_REREGISTER";
	case IBV_EVENT_GID_CHANGE:
		return "IBV_EVENT_GID_CHANGE";
	default:
		return "unexpected";
	}
}

static void print_usage(const char *program)
{
	printf("Usage:\n"
	       "  %s            start an asyncwatch process\n"
	       "\n"
	       "Options:\n"
	       "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
	       "  -h, --help             print a help text and exit\n",
	       program);
}

static struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
	for (; *list; list++)
		if (!name || !strcmp(ibv_get_device_name(*list), name))
			return *list;
	if (name)
		fprintf(stderr, "IB device %s not found\n", name);
	else
		fprintf(stderr, "No IB devices found\n");
	return NULL;
}

static struct ibv_context *open_context(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	struct ibv_device *device;

	if (!list) {
		perror("Failed to get IB devices list");
		return NULL;
	}
	device = find_device(list, name);
	if (device) {
		context = ibv_open_device(device);
		if (!context)
			fprintf(stderr, "Couldn't get context for %s\n",
				ibv_get_device_name(device));
	}
	ibv_free_device_list(list);
	return context;
}

static int watch_events(struct ibv_context *context)
{
	struct ibv_async_event event;

	printf("%s: async event FD %d\n", ibv_get_device_name(context->device), context->async_fd);
	while (!ibv_get_async_event(context, &event)) {
		printf("  event_type %s (%d), port %d\n", event_name(event.event_type),
		       event.event_type, event.element.port_num);
		ibv_ack_async_event(&event);
	}
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "ib-dev", required_argument, NULL, 'd' },
					       { "help", no_argument, NULL, 'h' },
					       {} };
	const char *name = NULL;
	struct ibv_context *context;
	int letter;

	/* Line-buffered, so that a reader of a pipe sees each line at once. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	while ((letter = getopt_long(argc, argv, "d:h", longs, NULL)) != -1) {
		if (letter == 'd') {
			name = optarg;
			continue;
		}
		print_usage(argv[0]);
		return letter == 'h' ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	context = open_context(name);
	return context ? watch_events(context) : EXIT_FAILURE;
}
