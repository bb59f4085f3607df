# What the Python package is built with: the distribution's Python, whatever other lies ahead of it on PATH, since
# pybind11, numpy and pandas are the distribution's, too. -DPython3_EXECUTABLE=... chooses another.
if(NOT DEFINED Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 COMPONENTS Interpreter Development.Module)
set(PYBIND11_NOPYTHON ON)  # its headers alone: Python is found above
find_package(pybind11 QUIET CONFIG)

set(missing "")
if(NOT Python3_FOUND)
  list(APPEND missing python3-dev)
endif()
if(NOT pybind11_FOUND)
  list(APPEND missing pybind11-dev)
endif()
if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "LOCKSTEP_PYTHON needs packages that are missing. On Debian or Ubuntu:\n"
                      "  sudo apt-get install --no-install-recommends ${missing}")
endif()
