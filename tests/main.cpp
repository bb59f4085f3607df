// The entry point of all tests; Catch2's own code is compiled here once.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char* argv[]) {
  return Catch::Session().run(argc, argv);
}
