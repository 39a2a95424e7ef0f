/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - softhca, a ConnectX adapter in software.
 */
#include <stdlib.h>

#include "softhca/front/control.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/run.h"
#include "softhca/front/vfio-user/server.h"
#include "softhca/log.h"
#include "softhca/options.h"

int main(int argc, char **argv)
{
	struct options options;

	if (options_parse(argc, argv, &options))
		return 2;
	log_set_level(options.verbose > 1 ? LOG_DETAIL : options.verbose ? LOG_NOTE : LOG_ERROR);
	switch (options.command) {
	case COMMAND_RUN:
		return run_program(&options);
	case COMMAND_SERVE:
		return daemon_serve(&options);
	case COMMAND_PCI:
		return pci_serve(&options);
	case COMMAND_FAULT:
		return control_send(&options);
	default:
		options_print_help();
		return EXIT_SUCCESS;
	}
}
