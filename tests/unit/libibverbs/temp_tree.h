/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * temp_tree.h - a directory of small files, made for one test program and removed after it.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_TEMP_TREE_H
#define TESTS_UNIT_LIBIBVERBS_TEMP_TREE_H

/* Makes the root of the tree, a new directory under TMPDIR, and returns its path. */
const char *tree_make(void);
/* Write TEXT to the file PATH below the root, making its directories. */
void tree_put(const char *path, const char *text);
/* Returns the contents of a file below the root; the caller frees them. */
char *tree_get(const char *path);
void tree_remove(void);

#endif
