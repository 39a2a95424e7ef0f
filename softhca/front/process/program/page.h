/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.h - pages of the machine: their size, and which page is at an address of a program.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_PAGE_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns ENOTSUP, and logs it, if the host's page size is not the adapter's, as a program maps
 * adapter pages itself, at multiples of that size. */
int page_size_check(void);
/* Returns the number of the page at ADDR of process PID, or 0: none yet, or Linux hides it (it
 * tells only root). */
uint64_t page_identity(pid_t pid, uint64_t addr);
/* Returns whether Linux itself can have replaced the page at ADDR, as it would not do with a pinned
 * page. Called when the page has changed. */
bool page_may_move(pid_t pid, uint64_t addr);

#endif
