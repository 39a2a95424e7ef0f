/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.h - the configuration directory, whose *.driver files name the providers to load.
 */
#ifndef LIBIBVERBS_CONFIG_H
#define LIBIBVERBS_CONFIG_H

/* Calls on_driver() for each "driver NAME" line of each *.driver file of DIR, in the order of the
 * file names. What cannot be read, or is no such line, costs one log line at level warn;
 * on_failure() is told the errno of each thing that cannot be read. */
void verbs_config_read(const char *dir, void (*on_driver)(const char *name),
		       void (*on_failure)(int err));

#endif
