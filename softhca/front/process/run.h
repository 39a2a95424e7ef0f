/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run.h - `softhca run`: starts a program with adapters.
 */
#ifndef SOFTHCA_FRONT_PROCESS_RUN_H
#define SOFTHCA_FRONT_PROCESS_RUN_H

struct options;

/* Returns the exit status: PROGRAM's, 128 + signal, 126 or 127 if it cannot be executed, 1 if there
 * is no adapter for it. */
int run_program(const struct options *options);

#endif
