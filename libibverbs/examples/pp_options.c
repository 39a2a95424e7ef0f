/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_options.c - the command line of the pingpong programs: a single table for parsing and for the
 * usage text.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pingpong.h"
#include "util/bits.h"

struct option_entry {
	/* a program's name for the option: its letter, or a digit if several options share the
	 * letter */
	char key;
	char letter;
	const char *name;
	const char *help;
	/* Returns false for an invalid value. ARG is NULL for an option without argument. */
	bool (*set)(struct pp_options *options, const char *arg);
	bool has_arg;
};

static bool set_port(struct pp_options *options, const char *arg)
{
	unsigned long port = strtoul(arg, NULL, 0);

	options->port = (unsigned int)port;
	return port <= UINT16_MAX;
}

static bool set_device(struct pp_options *options, const char *arg)
{
	options->device = arg;
	return true;
}

static bool set_ib_port(struct pp_options *options, const char *arg)
{
	long port = strtol(arg, NULL, 0);

	options->ib_port = (unsigned int)port;
	return port >= 1;
}

static bool set_size(struct pp_options *options, const char *arg)
{
	options->size = (unsigned int)strtoul(arg, NULL, 0);
	return true;
}

static bool set_mtu(struct pp_options *options, const char *arg)
{
	long bytes = strtol(arg, NULL, 0);

	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		if (bytes == 128L << mtu) {
			options->mtu = mtu;
			return true;
		}
	}
	return false;
}

static bool set_rx_depth(struct pp_options *options, const char *arg)
{
	options->rx_depth = (unsigned int)strtoul(arg, NULL, 0);
	return true;
}

static bool set_iters(struct pp_options *options, const char *arg)
{
	options->iters = (unsigned int)strtoul(arg, NULL, 0);
	return true;
}

static bool set_sl(struct pp_options *options, const char *arg)
{
	options->sl = (int)strtol(arg, NULL, 0);
	return true;
}

static bool set_gid_index(struct pp_options *options, const char *arg)
{
	options->gid_index = (int)strtol(arg, NULL, 0);
	return true;
}

static bool set_events(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->events = true;
}

static bool set_odp(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->odp = true;
}

static bool set_implicit_odp(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->odp = options->implicit_odp = true;
}

static bool set_prefetch(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->prefetch = true;
}

static bool set_timestamps(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->timestamps = true;
}

static bool set_check(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->check = true;
}

static bool set_device_memory(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->device_memory = true;
}

static bool set_new_send(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->new_send = true;
}

static bool set_num_qp(struct pp_options *options, const char *arg)
{
	options->num_qp = (unsigned int)strtoul(arg, NULL, 0);
	return true;
}

static bool set_clients(struct pp_options *options, const char *arg)
{
	options->num_clients = (unsigned int)strtoul(arg, NULL, 0);
	return true;
}

static bool set_unprotected(struct pp_options *options, const char *arg)
{
	(void)arg;
	return options->unprotected = true;
}

/* All options. The spacing of the usage text must not change, because people compare it. */
static const struct option_entry entries[] = {
	{ 'p', 'p', "port", "=<port>      listen on/connect to port <port> (default 18515)",
	  set_port, true },
	{ 'd', 'd', "ib-dev", "=<dev>     use IB device <dev> (default first device found)",
	  set_device, true },
	{ 'i', 'i', "ib-port", "=<port>   use port <port> of IB device (default 1)", set_ib_port,
	  true },
	{ 's', 's', "size", "=<size>      size of message to exchange (default 4096)", set_size,
	  true },
	{ 'm', 'm', "mtu", "=<size>       path MTU (default 1024)", set_mtu, true },
	{ 'r', 'r', "rx-depth", "=<dep>   number of receives to post at a time (default 500)",
	  set_rx_depth, true },
	{ 'n', 'n', "iters", "=<iters>    number of exchanges (default 1000)", set_iters, true },
	{ 'l', 'l', "sl", "=<sl>          service level value", set_sl, true },
	{ 'e', 'e', "events", "           sleep on CQ events (default poll)", set_events, false },
	{ 'g', 'g', "gid-idx", "=<gid index> local port gid index", set_gid_index, true },
	{ 'o', 'o', "odp", "\t\t    use on demand paging", set_odp, false },
	{ 'O', 'O', "iodp", "\t\t    use implicit on demand paging", set_implicit_odp, false },
	{ 'P', 'P', "prefetch", "\t    prefetch an ODP MR", set_prefetch, false },
	{ 't', 't', "ts", "\t            get CQE with timestamp", set_timestamps, false },
	{ 'c', 'c', "chk", "\t            validate received buffer", set_check, false },
	{ 'j', 'j', "dm", "\t            use device memory", set_device_memory, false },
	{ '1', 'c', "chk", "              validate received buffer", set_check, false },
	{ '2', 's', "size", "=<size>      size of message to exchange (default 2048)", set_size,
	  true },
	{ '3', 'l', "sl", "=<SL>          send messages with service level <SL> (default 0)",
	  set_sl, true },
	{ '4', 'n', "iters", "=<iters>    number of exchanges per QP(default 1000)", set_iters,
	  true },
	{ '5', 'm', "mtu", "=<size>       path MTU (default 2048)", set_mtu, true },
	{ '6', 'c', "clients", "=<n>      number of clients (on server only, default 1)",
	  set_clients, true },
	{ '7', 'n', "num_tests", "=<n>    number of tests per client (default 5)", set_iters,
	  true },
	{ 'q', 'q', "num-qp", "=<num>     number of QPs to use (default 16)", set_num_qp, true },
	{ 'N', 'N', "new_send", "            use new post send WR API", set_new_send, false },
	{ 'U', 'U', "allow-cc-unprotected",
	  "  allow allocation of unprotected/shared\n"
	  "                            memory on CoCo guests",
	  set_unprotected, false },
};

static const struct option_entry *find_entry(const char *keys, int letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (entries[i].letter == letter && strchr(keys, entries[i].key))
			return &entries[i];
	return NULL;
}

static const struct option_entry *find_key(char key)
{
	const struct option_entry *entry = entries;

	while (entry->key != key)
		entry++;
	return entry;
}

static void print_usage(const char *program, const char *keys)
{
	printf("Usage:\n"
	       "  %s            start a server and wait for connection\n"
	       "  %s <host>     connect to server at <host>\n"
	       "\n"
	       "Options:\n",
	       program, program);
	for (; *keys; keys++) {
		const struct option_entry *entry = find_key(*keys);

		printf("  -%c, --%s%s\n", entry->letter, entry->name, entry->help);
	}
}

static void build_getopt(const char *keys, struct option *longs, char *shorts)
{
	for (; *keys; keys++) {
		const struct option_entry *entry = find_key(*keys);

		*longs++ = (struct option){ entry->name, entry->has_arg, NULL, entry->letter };
		*shorts++ = entry->letter;
		if (entry->has_arg)
			*shorts++ = ':';
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

static bool parse_values(int argc, char **argv, const char *keys, struct pp_options *options)
{
	struct option longs[ARRAY_SIZE(entries) + 1];
	char shorts[2 * ARRAY_SIZE(entries) + 1];
	int letter;

	build_getopt(keys, longs, shorts);
	while ((letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_entry *entry = find_entry(keys, letter);

		if (!entry || !entry->set(options, optarg))
			return false;
	}
	if (optind < argc - 1)
		return false;
	options->host = argv[optind]; /* NULL at the end of argv */
	return true;
}

struct pp_options pp_defaults(void)
{
	return (struct pp_options){
		.port = 18515,
		.ib_port = 1,
		.size = 4096,
		.rx_depth = 500,
		.iters = 1000,
		.num_qp = 1,
		.num_clients = 1,
		.mtu = IBV_MTU_1024,
		.gid_index = -1,
		.fill = 0x7b,
	};
}

int pp_parse(int argc, char **argv, const char *keys, struct pp_options *options)
{
	if (!parse_values(argc, argv, keys, options)) {
		print_usage(argv[0], keys);
		return -1;
	}
	if (options->odp && options->device_memory)
		return pp_fail("DM memory region can't be on demand");
	if (options->unprotected && options->odp)
		return pp_fail("CoCo unprotected memory cannot be used with ODP");
	if (options->unprotected && options->device_memory)
		return pp_fail("CoCo unprotected memory cannot be used with device memory");
	if (options->prefetch && !options->odp)
		return pp_fail("prefetch is valid only with on-demand memory region");
	return 0;
}
