/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.h - the command line of softhca, parsed.
 */
#ifndef SOFTHCA_OPTIONS_H
#define SOFTHCA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"

#define MAX_FAULTS          32
#define MAX_DEVICES         16
#define MAX_PORTS           2
#define MAX_OPTION_SERVICES 64
#define MAX_ABSENT          16

enum command {
	COMMAND_HELP,
	COMMAND_VERSION,
	COMMAND_RUN,
	COMMAND_SERVE,
	COMMAND_PCI,
	COMMAND_FAULT,
};

struct options {
	enum command command;
	const char *socket_path; /* run: the server to join; serve, pci: where to listen */
	uint32_t devices;
	uint32_t ports;
	uint32_t lag_ports; /* run, serve: that are bonded behind each port; 0: none */
	enum hca_kind kinds[MAX_DEVICES]; /* of the adapters; those behind are as the last */
	unsigned int num_kinds;           /* 0: all are of mlx5 */
	enum hca_link_layer link_layer;
	bool grh_required;
	struct hca_limits limits;
	uint64_t seed;
	uint32_t first_uar; /* run, serve: the number of the first doorbell page, or 0 */
	const char *faults[MAX_FAULTS];
	unsigned int num_faults;
	const char *services[MAX_OPTION_SERVICES]; /* as service_parse() takes them */
	unsigned int num_services;
	const char *absent[MAX_ABSENT]; /* run, serve: paths that programs do not find */
	unsigned int num_absent;
	const struct hca_secrets *secrets; /* run, serve: NULL: keys of data come as they are */
	const char *trace_path;
	const char *network_path; /* directory of the hosts of one network, or NULL */
	const char *pcap_path;
	const char *netdevs[MAX_DEVICES * MAX_PORTS]; /* of the ports, in order */
	unsigned int num_netdevs;
	uint32_t command_timeout_ms; /* pci: how long the driver waits for a command */
	bool once;                   /* pci: end with the first client */
	bool atomics_in_cqe;         /* results of atomics go where those of short READs go */
	/* What an adapter would not do as hoped is reported: to the file at strict_path or, with
	 * that NULL, by the exit status. */
	bool strict;
	const char *strict_path;
	struct strict *reports; /* main()'s; NULL unless strict */
	bool no_memlock;        /* run, serve: RLIMIT_MEMLOCK does not count */
	uint32_t verbose;
	/* An option describes the adapter, so it does not fit one that somebody else serves. */
	bool adapter_options_given;
	char **program; /* NULL-terminated: argv of PROGRAM; fault: the texts */
};

/* Returns 0, or EINVAL after saying on standard error what is wrong. */
int options_parse(int argc, char **argv, struct options *options);
/* Says of which kind the adapter with number INDEX is. */
enum hca_kind options_kind(const struct options *options, unsigned int index);
void options_print_help(void);

#endif
