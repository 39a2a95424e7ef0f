/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - ibv_doctor: finds out what this machine lacks for RDMA, and how to fix it. It only uses
 * the public API, so it can check any libibverbs.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "checks.h"
#include "findings.h"

enum { STATUS_USAGE = 3 };

static bool with_report;

static void print_usage(FILE *out)
{
	fputs("Usage: ibv_doctor [-q] [--report]    find what this machine lacks for RDMA\n"
	      "\n"
	      "Options:\n"
	      "  -q, --quiet    print faults only\n"
	      "  -r, --report   say all that a report of a defect needs, too\n"
	      "  -h, --help     print this and exit\n"
	      "\n"
	      "Exit status: 0 RDMA works, 1 some programs will fail, 2 it works on no port\n",
	      out);
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quiet", no_argument, NULL, 'q' },
		{ "report", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "qrh", options, NULL)) != -1) {
		switch (option) {
		case 'q':
			findings_quiet(true);
			break;
		case 'r':
			with_report = true;
			break;
		case 'h':
			print_usage(stdout);
			exit(EXIT_SUCCESS);
		default:
			print_usage(stderr);
			exit(STATUS_USAGE);
		}
	}
	if (optind < argc) {
		print_usage(stderr);
		exit(STATUS_USAGE);
	}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	if (with_report)
		report_machine();
	check_libraries();
	if (check_kernel()) {
		check_files();
		check_memlock();
		check_adapters();
	}
	check_sleeping_adapters();
	return findings_status();
}
