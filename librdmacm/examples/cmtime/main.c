/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - measures how long each step in the life of a connection takes. This file parses the
 * options. The options of Debian 12's cmtime are for one client and one server; those of release
 * 65.0, with -C, are for any number of both.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmtime.h"
#include "util/bits.h"

struct cmtime_options options = {
	.port = "7471",
	.connections = 100,
	.retries = 2,
	.timeout_ms = 2000,
	.peers = 2,
	.threads = 1,
	.first_qpn = 1000,
};

static void usage(const char *program)
{
	printf("usage: %s\n"
	       "\t[-s server_address]\n"
	       "\t[-b bind_address]\n"
	       "\t[-c connections]\n"
	       "\t[-p port_number]\n"
	       "\t[-r retries]\n"
	       "\t[-t timeout_ms]\n",
	       program);
	printf("or, clients and servers that a controller keeps in step: %s\n"
	       "\t-C controller_address\n"
	       "\t-B bind_interface or -b bind_address\n"
	       "\t[-L] run as listening server\n"
	       "\t[-c connections] for each client and server\n"
	       "\t[-P num_peers] clients and servers, 2 by default\n"
	       "\t[-p controller_port]\n"
	       "\t[-n num_threads]\n"
	       "\t[-m mimic_qp_delay_us] wait so long instead of using QPs\n"
	       "\t[-q base_qpn] where there are no QPs\n"
	       "\t[-S] sockets, for comparison; of 2 peers\n"
	       "\t[-r retries]\n"
	       "\t[-t timeout_ms]\n",
	       program);
}

/* Each option sets one of the pointers, the destination of its value. */
static const struct {
	int letter;
	const char **word;
	int *number;
	unsigned int *unsigned_number; /* may also be hexadecimal or octal */
	bool *flag;
} known_options[] = {
	{ 's', .word = &options.server },
	{ 'b', .word = &options.local },
	{ 'B', .word = &options.interface },
	{ 'C', .word = &options.controller },
	{ 'p', .word = &options.port },
	{ 'c', .number = &options.connections },
	{ 'r', .number = &options.retries },
	{ 't', .number = &options.timeout_ms },
	{ 'P', .number = &options.peers },
	{ 'n', .number = &options.threads },
	{ 'm', .unsigned_number = &options.delay_us },
	{ 'q', .unsigned_number = &options.first_qpn },
	{ 'L', .flag = &options.listens },
	{ 'S', .flag = &options.sockets },
};

static int take_option(int letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_options); i++) {
		if (known_options[i].letter != letter)
			continue;
		if (known_options[i].word)
			*known_options[i].word = optarg;
		else if (known_options[i].number)
			*known_options[i].number = atoi(optarg);
		else if (known_options[i].unsigned_number)
			*known_options[i].unsigned_number = strtoul(optarg, NULL, 0);
		else
			*known_options[i].flag = true;
		return 0;
	}
	return 1;
}

static bool is_possible(void)
{
	if (!options.controller)
		return !options.listens && !options.sockets && !options.interface;
	return !options.server && !options.local != !options.interface && options.connections > 0 &&
	       options.threads > 0 && options.peers >= 2 &&
	       (!options.sockets || options.peers == 2);
}

static int take_options(int argc, char *argv[])
{
	int option;

	while ((option = getopt(argc, argv, "s:b:B:c:C:Lm:n:p:P:q:r:St:")) != -1)
		if (take_option(option))
			return 1;
	return !is_possible();
}

/* ---- -B: an address of an interface, preferably IPv4 ---- */

static const void *address_in(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET)
		return &((const struct sockaddr_in *)addr)->sin_addr;
	return &((const struct sockaddr_in6 *)addr)->sin6_addr;
}

static int address_of_family(const struct ifaddrs *all, int family)
{
	static char text[INET6_ADDRSTRLEN];

	for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
		if (!at->ifa_addr || at->ifa_addr->sa_family != family ||
		    strcmp(at->ifa_name, options.interface))
			continue;
		options.local = inet_ntop(family, address_in(at->ifa_addr), text, sizeof(text));
		return 0;
	}
	return -1;
}

static int address_of_interface(void)
{
	struct ifaddrs *all;
	int ret;

	if (getifaddrs(&all))
		return complain_errno("getifaddrs");
	ret = address_of_family(all, AF_INET);
	if (ret)
		ret = address_of_family(all, AF_INET6);
	freeifaddrs(all);
	if (ret)
		printf("Failed to find IP address for interface: %s\n", options.interface);
	else
		printf("Picking source address %s for interface %s\n", options.local,
		       options.interface);
	return ret;
}

int main(int argc, char *argv[])
{
	if (take_options(argc, argv)) {
		usage(argv[0]);
		return 1;
	}
	if (!options.controller)
		return cmtime_pair();
	if (options.interface && address_of_interface())
		return 1;
	return cmtime_together() ? 1 : 0;
}
