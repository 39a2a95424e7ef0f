/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devinfo.c - ibv_devinfo: parses options, and selects the devices to print.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devinfo.h"

struct request {
	const char *device;
	unsigned int port;
	bool names_only;
	bool verbose;
};

static void print_usage(const char *program)
{
	printf("Usage: %s             print the ca attributes\n"
	       "\n"
	       "Options:\n"
	       "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
	       "  -i, --ib-port=<port>   use port <port> of IB device (default all ports)\n"
	       "  -l, --list             print only the IB devices names\n"
	       "  -v, --verbose          print all the attributes of the IB device(s)\n",
	       program);
}

static int parse_options(int argc, char **argv, struct request *request)
{
	static const struct option options[] = {
		{ "ib-dev", required_argument, NULL, 'd' },
		{ "ib-port", required_argument, NULL, 'i' },
		{ "list", no_argument, NULL, 'l' },
		{ "verbose", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "d:i:lv", options, NULL)) != -1) {
		long port;

		switch (option) {
		case 'd':
			request->device = optarg;
			break;
		case 'i':
			port = strtol(optarg, NULL, 0);
			if (port <= 0 || port > INT_MAX)
				return EXIT_FAILURE;
			request->port = (unsigned int)port;
			break;
		case 'l':
			request->names_only = true;
			break;
		case 'v':
			request->verbose = true;
			break;
		default:
			return -1;
		}
	}
	return 0;
}

static void list_names(struct ibv_device **list, int count)
{
	printf("%d HCA%s found:\n", count, count == 1 ? "" : "s");
	for (int i = 0; i < count; i++)
		printf("\t%s\n", ibv_get_device_name(list[i]));
	printf("\n");
}

static int print_one(struct ibv_device **list, const struct request *request)
{
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), request->device))
			return devinfo_print_device(*list, request->port, request->verbose);

	fprintf(stderr, "IB device '%s' wasn't found\n", request->device);
	return -1;
}

/* Prints all devices, even if one fails, so that one bad device hides no others. Returns whether
 * one has failed. */
static int print_all(struct ibv_device **list, const struct request *request)
{
	int ret = 0;

	if (!*list) {
		fprintf(stderr, "No IB devices found\n");
		return -1;
	}
	for (; *list; list++)
		ret |= devinfo_print_device(*list, request->port, request->verbose);
	return ret;
}

int main(int argc, char **argv)
{
	struct request request = { 0 };
	struct ibv_device **list;
	int count;
	int ret = parse_options(argc, argv, &request);

	if (ret) {
		print_usage(argv[0]);
		return ret;
	}
	list = ibv_get_device_list(&count);
	if (!list) {
		perror("Failed to get IB devices list");
		return -1;
	}
	if (request.names_only)
		list_names(list, count);
	else if (request.device)
		ret = print_one(list, &request);
	else
		ret = print_all(list, &request);

	ibv_free_device_list(list);
	return ret;
}
