// Catch2 v2's header under its old name, for machines whose package is v3.
#pragma once

#include <catch2/catch_all.hpp>
