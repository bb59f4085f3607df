# Writes what an installation has of the command beside the command: a manual page for it and for each subcommand
# (with help2man, where there is one) and completion for shells. All of it is what the command says of itself.
#   cmake -D COMMAND=bin/lockstep -D VERSION=1.2.3 -D HELP2MAN=/usr/bin/help2man -D INTO=folder -P manual.cmake
function(ask variable)
  execute_process(COMMAND "${COMMAND}" ${ARGN} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${INTO}")
set(shells bash zsh fish)
set(files bash-completion/completions/lockstep zsh/vendor-completions/_lockstep fish/vendor_completions.d/lockstep.fish)
foreach(shell file IN ZIP_LISTS shells files)
  ask(script completion ${shell})
  file(WRITE "${INTO}/${file}" "${script}")
endforeach()

if(NOT HELP2MAN)
  message(STATUS "No manual pages: help2man is not installed")
  return()
endif()

# page NAME WHAT COMMAND: its examples stay lines.
function(page name what command)
  execute_process(COMMAND "${HELP2MAN}" --no-info --no-discard-stderr "--version-string=${VERSION}" "--name=${what}"
                          "${command}"
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "(\n\\.SH EXAMPLES\n\\.IP\n)(([^.\n][^\n]*\n)+)" "\\1.nf\n\\2.fi\n" text "${text}")
  file(WRITE "${INTO}/man/man1/${name}.1" "${text}")
endfunction()

page(lockstep "check, prove and simulate GPU memory-system protocols" "${COMMAND}")
ask(help --help)
ask(names complete "")
string(REGEX MATCHALL "[^\n]+" names "${names}")
foreach(name IN LISTS names)
  string(REGEX MATCH "\n  ${name} +([^\n]+)" found "${help}")
  page(lockstep-${name} "${CMAKE_MATCH_1}" "${COMMAND} ${name}")
endforeach()
