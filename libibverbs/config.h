/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.h - the configuration directory, whose *.driver files name the providers to load.
 */
#ifndef LIBIBVERBS_CONFIG_H
#define LIBIBVERBS_CONFIG_H

/* Calls on_driver() for each "driver NAME" line of each *.driver file of DIR, in the order of the
 * file names. Logs a warning for any other line, and for a file that cannot be read. For an
 * unreadable file, also calls on_failure() with the errno. */
void verbs_config_read(const char *dir, void (*on_driver)(const char *name),
		       void (*on_failure)(int err));

#endif
