/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.h - pages of the machine: their size, and which one is at an address of a program.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PAGE_H
#define SOFTHCA_FRONT_PROCESS_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Refuses a host by ENOTSUP whose pages have another size than an adapter's, and says so: a program
 * maps a page of the adapter's by itself, at a multiple of that size. */
int page_size_check(void);
/* Returns the number of the page that process PID has at ADDR, or 0: none is there yet, or Linux
 * does not tell us (it tells root). */
uint64_t page_identity(pid_t pid, uint64_t addr);
/* Called when the page is another one than before. Returns whether Linux can have exchanged it
 * by itself, which it would not do with a page that an adapter has. */
bool page_may_move(pid_t pid, uint64_t addr);

#endif
