# Files as texts in the binary: the page in the browser, and the search that goes with exports for graphics processors.
# view/page.html is built from the other files of view/ by npm, checked in, and held against a fresh build by view/check;
# nobody who builds Lockstep needs node.

# lockstep_text(<variable> <file> <header> <function>): a unit that defines the function, which the header declares and
# which returns what the file holds.
function(lockstep_text variable file header function)
  get_filename_component(name "${file}" NAME)
  set(source "${PROJECT_BINARY_DIR}/texts/${name}.cpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
  file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
  # A compiler takes 64 KiB of a literal for granted, and more of several one after the other.
  set(LOCKSTEP_TEXT "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 16000 part)
    string(APPEND LOCKSTEP_TEXT "R\"~text~(${part})~text~\"\n")
    math(EXPR at "${at} + 16000")
  endwhile()
  file(CONFIGURE OUTPUT "${source}" CONTENT [[
// Made of @file@.
#include "@header@"

std::string_view @function@() {
  static constexpr char text[] = @LOCKSTEP_TEXT@;
  return {text, sizeof text - 1};
}
]] @ONLY NEWLINE_STYLE UNIX)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()
