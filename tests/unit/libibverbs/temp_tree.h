/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * temp_tree.h - a directory of small files for one test program, removed after it.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_TEMP_TREE_H
#define TESTS_UNIT_LIBIBVERBS_TEMP_TREE_H

/* Makes a new directory under TMPDIR as the root of the tree, and returns its path. */
const char *tree_make(void);
void tree_put(const char *path, const char *text);
char *tree_get(const char *path);
void tree_remove(void);

#endif
