/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - softhca, a ConnectX adapter in software.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/front/control.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/run.h"
#include "softhca/front/vfio-user/server.h"
#include "softhca/log.h"
#include "softhca/net/hosts.h"
#include "softhca/options.h"
#include "softhca/strict.h"

enum { STATUS_REPORTED = 99 };

static int open_reports(struct options *options)
{
	char who[STRICT_WHO_MAX] = "softhca";
	size_t len = 0;
	int ret;

	if (!options->strict)
		return 0;
	for (char **word = options->program; word && *word && len < sizeof(who); word++)
		len += snprintf(who + len, sizeof(who) - len, "%s%s", len ? " " : "", *word);
	ret = strict_open(options->strict_path, who, &options->reports);
	if (ret)
		log_error("strict: %s: %s", options->strict_path, strerror(ret));
	return ret;
}

static int run_command(const struct options *options)
{
	switch (options->command) {
	case COMMAND_RUN:
		return run_program(options);
	case COMMAND_SERVE:
		return daemon_serve(options);
	case COMMAND_PCI:
		return pci_serve(options);
	case COMMAND_FAULT:
		return control_send(options);
	case COMMAND_HOSTS:
		return hosts_print(options->network_path, stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	case COMMAND_VERSION:
		puts("softhca " RDMAKIT_VERSION);
		return EXIT_SUCCESS;
	default:
		options_print_help(options, stdout);
		return EXIT_SUCCESS;
	}
}

int main(int argc, char **argv)
{
	struct options options;
	int status;

	if (options_parse(argc, argv, &options))
		return 2;
	log_set_level(options.verbose > 1 ? LOG_DETAIL : options.verbose ? LOG_NOTE : LOG_ERROR);
	if (open_reports(&options))
		return EXIT_FAILURE;
	status = run_command(&options);
	/* With a file of reports, its reader decides which ones are errors, so the exit status does
	 * not. */
	if (!status && !options.strict_path && strict_count(options.reports))
		status = STATUS_REPORTED;
	strict_close(options.reports);
	return status;
}
