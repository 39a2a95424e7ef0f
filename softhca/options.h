/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.h - the command line of softhca, parsed.
 */
#ifndef SOFTHCA_OPTIONS_H
#define SOFTHCA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
	COMMAND_HOSTS,
};

struct options {
	enum command command;
	enum command help_on;    /* help: only on this command; COMMAND_HELP: on all */
	const char *socket_path; /* run: server to join; serve, pci: where to listen */
	uint32_t socket_mode;    /* serve, pci: permissions of that socket */
	uint32_t devices;
	uint32_t ports;
	uint32_t lag_ports;               /* run, serve: ports bonded as one; 0: none */
	enum hca_kind kinds[MAX_DEVICES]; /* one for each adapter; further ones are like the last */
	unsigned int num_kinds;           /* 0: all are mlx5 */
	enum hca_link_layer link_layer;
	bool grh_required;
	struct hca_limits limits;
	uint64_t seed;
	uint32_t first_uar; /* run, serve: number of the first doorbell page, or 0 */
	const char *faults[MAX_FAULTS];
	unsigned int num_faults;
	const char *services[MAX_OPTION_SERVICES]; /* texts for service_parse() */
	unsigned int num_services;
	const char *absent[MAX_ABSENT]; /* run, serve: paths to hide from programs */
	unsigned int num_absent;
	/* run, serve: contents of the --crypto file; NULL: data keys are imported as plain text */
	const struct hca_secrets *secrets;
	const char *trace_path;
	const char *network_path; /* directory of the network, or NULL */
	const char *pcap_path;
	const char *netdevs[MAX_DEVICES * MAX_PORTS]; /* interfaces of the ports, in order */
	unsigned int num_netdevs;
	uint32_t command_timeout_ms; /* pci: the driver's timeout for commands */
	bool once;
	bool vfio;           /* run, serve: one more adapter, bound to vfio-pci */
	bool atomics_in_cqe; /* atomic results may be in the CQE, as short READs are */
	/* Report misuse that adapters do not notice: to the file strict_path or, if that is NULL,
	 * by the exit status. */
	bool strict;
	const char *strict_path;
	struct strict *reports;     /* owned by main(); NULL unless strict */
	enum hca_steering steering; /* how software may write table entries */
	bool no_memlock;            /* run, serve: ignore RLIMIT_MEMLOCK */
	uint32_t verbose;
	/* An option describes the adapter, so it must not be combined with a running server. */
	bool adapter_options_given;
	char **program; /* NULL-terminated: argv of PROGRAM; for fault: the texts */
};

/* Parses the command line. Returns 0, or EINVAL after printing the error. */
int options_parse(int argc, char **argv, struct options *options);
enum hca_kind options_kind(const struct options *options, unsigned int index);
void options_print_help(const struct options *options, FILE *out);

#endif
