// `lockstep explain`: what a system's rules are, what they read and what they write.
#include "checker/explain/explain.hpp"

#include <fmt/format.h>

#include <memory>

#include "checker/support/diagnostic.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace lockstep::cli {

namespace {

struct Options {
  std::string system;
  ExplainOptions explain;
  bool graph = false;
  bool json = false;
  SystemChoice choice;
};

int run(const Options& options) {
  Subject subject = subject_named(options.system);
  apply_shared(options.choice.shared(), std::span(&subject, 1));
  if (subject.system->describe == nullptr)
    throw BadInput(fmt::format("{} does not describe itself", options.system));
  const recorded::Description description = subject.system->describe(subject.options);
  if (options.json) {
    print_now(explain_json(description, subject.name()) + "\n");
  } else if (options.graph) {
    print_now(explain_graph(description));
  } else {
    print_now(explain_text(description, options.explain));
  }
  return 0;
}

}  // namespace

Command add_explain(CLI::App& lockstep) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      lockstep.add_subcommand("explain", "Show a system's rules, with what each reads and writes");
  app->add_option("SYSTEM", options->system, "A system, or SYSTEM/VARIANT (`lockstep list`)")->required();
  app->add_option("--rule", options->explain.only, "Only rules whose name contains this")->type_name("TEXT");
  app->add_flag("--trees", options->explain.trees, "Guards and actions in full");
  app->add_flag("--graph", options->graph, "Which unit reads and writes which field, for Graphviz");
  options->choice.add_to(*app);
  app->add_flag("--json", options->json, "Print JSON");
  app->footer(
      "Examples:\n"
      "  lockstep explain quick-release\n"
      "  lockstep explain quick-release/as-printed --rule wL1 --trees\n"
      "  lockstep explain write-through --graph | dot -Tsvg > write-through.svg");
  return {app, [options] { return run(*options); }};
}

}  // namespace lockstep::cli
