/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon.h - the process that has the adapters and answers trapped calls.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DAEMON_H
#define SOFTHCA_FRONT_PROCESS_DAEMON_H

#include <stdint.h>

#include "softhca/front/process/discovery/sysfs.h"
#include "softhca/options.h"

struct adapter;
struct fabric;
struct fault;
struct trace;

struct daemon {
	const struct options *options;
	struct fabric *fabric;
	struct fault *fault;
	struct trace *trace;
	struct adapter *adapters[MAX_DEVICES];
	unsigned int num_adapters;
	struct sysfs sysfs;
	unsigned int num_listeners;
};

/* Runs the daemon of one `softhca run`. It serves the calls that RUNNER's connection brings, until
 * no filtered process is left. Returns the exit status. Writes to READY when the adapters exist;
 * closes it without writing if they cannot be created. */
int daemon_run_private(const struct options *options, int runner, int ready);
int daemon_serve(const struct options *options);

#endif
