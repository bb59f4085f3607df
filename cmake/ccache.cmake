# ccache, where it is found and may write: a user without a home would be left without a build.
find_program(LOCKSTEP_CCACHE ccache DOC "Compiler cache, used when found")
if(LOCKSTEP_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  execute_process(COMMAND "${LOCKSTEP_CCACHE}" --get-config cache_dir OUTPUT_VARIABLE cache_dir
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${cache_dir}/tmp" RESULT_VARIABLE refused
                  OUTPUT_QUIET ERROR_QUIET)
  if(NOT refused)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${LOCKSTEP_CCACHE}")
  endif()
endif()
