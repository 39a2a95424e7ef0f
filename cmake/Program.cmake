# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rdmakit_install_program(rping): the program, and the shell's completion for it. All completions are one file, of which each
# program has a copy, since packages with some of the programs have to be whole.
include(GNUInstallDirs)

function(rdmakit_install_program program)
	install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	install(FILES "${PROJECT_SOURCE_DIR}/cmake/completion.bash" RENAME ${program}
		DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endfunction()
