# The page in the browser, as one text in the binary. view/page.html is built from the other files of view/ by npm, checked in,
# and held against a fresh build by view/check; nobody who builds Lockstep needs node.
set(LOCKSTEP_PAGE "${PROJECT_SOURCE_DIR}/view/page.html")

# lockstep_page(<variable>): the unit that holds it.
function(lockstep_page variable)
  set(source "${PROJECT_BINARY_DIR}/page.cpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${LOCKSTEP_PAGE}")
  file(READ "${LOCKSTEP_PAGE}" text)
  # A compiler takes 64 KiB of a literal for granted, and more of several one after the other.
  set(LOCKSTEP_PAGE_TEXT "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 16000 part)
    string(APPEND LOCKSTEP_PAGE_TEXT "R\"~page~(${part})~page~\"\n")
    math(EXPR at "${at} + 16000")
  endwhile()
  file(CONFIGURE OUTPUT "${source}" CONTENT [[
// Made of view/page.html.
#include "checker/view/page.hpp"

namespace lockstep::view {

std::string_view page() {
  static constexpr char text[] = @LOCKSTEP_PAGE_TEXT@;
  return {text, sizeof text - 1};
}

}  // namespace lockstep::view
]] @ONLY NEWLINE_STYLE UNIX)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()
