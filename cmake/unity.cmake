# A build from nothing parses the same headers and instantiates the same templates for every source of a folder: taken
# together, several at a time, they compile in about half the time. LOCKSTEP_UNITY=OFF takes each alone, which finds
# headers that nobody includes, and is quicker where one source of an engine is edited again and again.
set(LOCKSTEP_UNITY_SIZE 6)

# lockstep_unity(<target> [EXCEPT <regex>...]): groups a target's sources by folder, but those whose path matches.
function(lockstep_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  if(NOT LOCKSTEP_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/.*\\.cpp$")
  # Units that are made may be replaced by whoever links the archive (lockstep_built_from).
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
  foreach(regex IN LISTS arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "${regex}")
  endforeach()
  set(folders "")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    list(APPEND folders "${name}")
    list(FIND folders "${name}" first)
    list(LENGTH folders last)
    math(EXPR number "(${last} - 1 - ${first}) / ${LOCKSTEP_UNITY_SIZE}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${name}_${number}")
  endforeach()
endfunction()
