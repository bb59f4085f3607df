// `lockstep completion`: what a shell has to read to complete commands; it asks `lockstep complete`
// (main.cpp).
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string_view>

#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Shell {
  std::string_view name;
  std::string_view script;
};
constexpr std::array shells{Shell{"bash", R"(_lockstep() {
  local IFS=$'\n'
  COMPREPLY=($(lockstep complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _lockstep lockstep
)"},
                            Shell{"zsh", R"(#compdef lockstep
_lockstep() {
  local -a found
  found=("${(@f)$(lockstep complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  if (( $#found )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _lockstep ]]; then _lockstep; else compdef _lockstep lockstep; fi
)"},
                            Shell{"fish",
                                  "complete -c lockstep -a '(lockstep complete (commandline -opc)[2..-1] "
                                  "(commandline -ct) 2>/dev/null)'\n"}};

}  // namespace

Command add_completion(CLI::App& lockstep) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = lockstep.add_subcommand("completion", "Print what completes commands in a shell");
  app->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  app->footer(
      "Examples:\n"
      "  lockstep completion fish > ~/.config/fish/completions/lockstep.fish\n"
      "  source <(lockstep completion bash)        in ~/.bashrc\n"
      "  source <(lockstep completion zsh)         in ~/.zshrc, after compinit");
  return {app, [shell] {
            std::vector<std::string> names;
            for (const Shell& known : shells) {
              names.emplace_back(known.name);
              if (known.name != *shell) continue;
              print_now(std::string(known.script));
              return 0;
            }
            throw BadInput(fmt::format("there is no completion for '{}'", *shell), suggestion(*shell, names));
          }};
}

}  // namespace lockstep::cli
