// The `lockstep` command: parses, calls, prints; decides nothing. Each subcommand has a file of its own. This
// is the main function of all executables (command.hpp).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "checker/support/diagnostic.hpp"
#include "checker/support/registration.hpp"
#include "checker/systems/registry.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "cli/completion.hpp"

namespace {

using namespace lockstep;

constexpr int bad_usage = 2;
constexpr int limit_reached = 3;

std::vector<std::string> command_names(const std::vector<cli::Command>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const cli::Command& command : commands) names.push_back(command.app->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App& chosen(const CLI::App& lockstep) {
  const auto subcommands = lockstep.get_subcommands();
  return subcommands.empty() ? lockstep : *subcommands.front();
}

// What CLI11 could not use, with the nearest name where it is an option.
BadInput explain(const CLI::ParseError& error, const CLI::App& lockstep) {
  const CLI::App& app = chosen(lockstep);
  const std::string help = fmt::format("`lockstep {}{}--help` says what there is",
                                       &app == &lockstep ? "" : app.get_name(), &app == &lockstep ? "" : " ");
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return BadInput(error.what(), help);
  const std::vector<std::string> extras = app.remaining();
  const std::string first = extras.empty() ? std::string() : extras.front();
  const std::string name = first.substr(0, first.find('='));
  const std::string near = name.starts_with("--") ? nearest(name, option_names(app)) : std::string();
  return BadInput(
      fmt::format("{} '{}'", name.starts_with("-") ? "unknown option" : "unexpected argument", first),
      near.empty() ? help : fmt::format("did you mean '{}'?", near));
}

// Goes on as the executable beside this one that has the command.
[[noreturn]] void go_on_as(const cli::Command& command, char** argv) {
  const std::string other = cli::path_of_executable(command.elsewhere);
  execv(other.c_str(), argv);
  throw BadInput(fmt::format("cannot run {}: {}", other, std::strerror(errno)),
                 command.elsewhere == "mpi"
                     ? "it is built where Boost.MPI is: libboost-mpi1.81-dev on Debian 12"
                     : fmt::format("`./lockstep {}` builds it", command.app->get_name()));
}

// `lockstep complete WORDS...`, which shells ask: a line for each word that the last one may become.
int complete(const CLI::App& lockstep, const std::vector<cli::Command>& commands, char** argv) {
  std::vector<std::string> words;
  for (char** word = argv + 2; *word != nullptr; ++word) words.emplace_back(*word);
  std::vector<std::string> found;
  if (words.size() < 2) {
    const std::string begun = words.empty() ? std::string() : words.front();
    found = begun.starts_with("-") ? option_names(lockstep) : command_names(commands);
    std::erase_if(found, [&](const std::string& name) { return !name.starts_with(begun); });
  } else {
    const auto asked = std::find_if(commands.begin(), commands.end(), [&](const cli::Command& command) {
      return command.app->get_name() == words.front();
    });
    if (asked == commands.end()) return 0;
    if (!asked->run) go_on_as(*asked, argv);
    words.erase(words.begin());
    found = cli::completions(*asked->app, words);
  }
  for (const std::string& word : found) cli::print_now(word + "\n");
  return 0;
}

int run(int argc, char** argv) {
  CLI::App lockstep{"Lockstep checks GPU memory-system protocols and the programs that run on them."};
  lockstep.name("lockstep");
  lockstep.footer(
      "Examples:\n"
      "  lockstep litmus                              run the quick litmus tests\n"
      "  lockstep conform write-through               run generated ones\n"
      "  lockstep check quick-release                 verify a protocol\n"
      "  lockstep check german --fault NAME           break one on purpose\n"
      "  lockstep replay german.trace.json            fire a counterexample again\n"
      "  lockstep list                                what there is to run\n"
      "\n"
      "Exit status: 0 all as expected, 1 a property fails or a verdict differs,\n"
      "2 bad input, 3 a limit was reached, 130 interrupted.");
  lockstep.require_subcommand(0, 1);
  lockstep.set_version_flag("--version", fmt::format("lockstep {}", headers_version));
  const std::vector<cli::Command> commands = cli::add_commands(lockstep);
  if (argc < 2) {
    cli::print_error(lockstep.help());
    return bad_usage;
  }
  if (std::string_view(argv[1]) == "complete") return complete(lockstep, commands, argv);
  // A mistyped command would otherwise be reported as an argument too many.
  const std::string first = argv[1];
  const std::vector<std::string> names = command_names(commands);
  if (!first.starts_with("-") && std::find(names.begin(), names.end(), first) == names.end()) {
    throw BadInput(fmt::format("unknown command '{}'", first), suggestion(first, names));
  }
  if (cli::is_rank() && first != "check" && !first.starts_with("-"))
    throw BadInput(fmt::format("`{}` is for one process", first), "mpirun is for `lockstep check`");
  for (const cli::Command& command : commands) {
    if (!command.run && command.app->get_name() == first) go_on_as(command, argv);
  }
  try {
    lockstep.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& app = chosen(lockstep);
    cli::print_now(app.help(&app == &lockstep ? "" : "lockstep"));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    cli::print_now(fmt::format("{}\n", version.what()));
    return 0;
  } catch (const CLI::ParseError& error) {
    throw explain(error, lockstep);
  }
  for (const cli::Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return bad_usage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cli::catch_interrupts();
    systems();  // whose list is refused whatever is asked
    return run(argc, argv);
  } catch (const BadInput& error) {
    cli::print_error(error.what());
    return bad_usage;
  } catch (const std::bad_alloc&) {
    cli::print_error(
        "error: this machine has no memory left; --memory sets a limit, and --threads 1 needs least");
    return limit_reached;
  } catch (const std::exception& error) {
    cli::print_error(fmt::format("error: a mistake in Lockstep itself: {}", error.what()));
    return bad_usage;
  }
}
