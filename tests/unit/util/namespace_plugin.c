/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * namespace_plugin.c - a library that threads_test.c loads into a namespace of its own, with a copy
 * of the C library.
 */
#include "util/threads.h"

__attribute__((visibility("default"))) bool plugin_has_one_thread(void);

bool plugin_has_one_thread(void)
{
	verbs_threads_look();
	return process_has_one_thread();
}
