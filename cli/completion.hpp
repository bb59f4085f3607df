// Completion of commands in a shell, from the option tables of the commands themselves.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

// What the last word may become, given the words of a command before it, the command's own name left out:
// whole words, or in a list what follows its last comma as well. None where a file is meant, or anything.
std::vector<std::string> completions(const CLI::App& command, const std::vector<std::string>& words);

}  // namespace lockstep::cli
