// What each command's file offers to main.cpp: a function that adds the command and says how to run it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace lockstep::cli {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;  // the exit status; throws BadInput
};

Command add_litmus(CLI::App& lockstep);
Command add_generate(CLI::App& lockstep);
Command add_conform(CLI::App& lockstep);
Command add_check(CLI::App& lockstep);
Command add_progress(CLI::App& lockstep);
Command add_prove(CLI::App& lockstep);
Command add_sim(CLI::App& lockstep);
Command add_replay(CLI::App& lockstep);
Command add_explain(CLI::App& lockstep);
Command add_export(CLI::App& lockstep);
Command add_crosscheck(CLI::App& lockstep);
Command add_list(CLI::App& lockstep);

}  // namespace lockstep::cli
