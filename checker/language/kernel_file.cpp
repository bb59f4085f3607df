#include "checker/language/kernel_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "checker/language/kernel_grammar.hpp"
#include "checker/support/diagnostic.hpp"
#include "checker/support/home.hpp"
#include "checker/support/process.hpp"

namespace lockstep::litmus {
namespace {

using kernels::KernelFile;

class KernelFileReader : public ReaderOfSource, public SyntaxReader {
 public:
  KernelFileReader(const Source& source, KernelFile& into)
      : ReaderOfSource(source), SyntaxReader(source), file_(into) {}

  void size_name(const Word& word) {
    make_known(word);
    file_.sizes.push_back({word, 0, {}});
  }
  void size_number(const Word& word) { file_.sizes.back().standard = source_.constant(word); }
  void size_what(const Word& word) { file_.sizes.back().what = word.text.substr(1, word.text.size() - 2); }

  void graph_name(const Word& word) {
    make_known(word);
    for (const char* of : {"_nodes", "_edges", "_first", "_to", "_weight"}) {
      if (is_known(std::string(word.text) + of))
        source_.fail(word.place,
                     in_quotes(std::string(word.text) + of) + " is of this graph, and declared already");
      of_graphs_.push_back(std::string(word.text) + of);
    }
    file_.graphs.push_back({word, {}});
    kernel_ = {};
  }
  void end_graph() { file_.graphs.back().how = expression(); }

  void begin_array() { file_.arrays.emplace_back(); }
  void qualifier(const Word& word) {
    KernelFile::Array& array = file_.arrays.back();
    static const Names known{"global", "local", "padded", "unchecked", "int"};
    const std::string is = source_.one_of(word, "word for a declaration", known);
    if (is == "local") array.local = true;
    if (is == "padded") array.padded = true;
    if (is == "unchecked") array.unchecked = true;
    if (array.local && (array.padded || array.unchecked))
      source_.fail(word.place, "an array of the work-group's own memory is only local");
  }
  void array_name(const Word& word) {
    make_known(word);
    file_.arrays.back().name = word;
    kernel_ = {};
  }
  void array_size() {
    file_.arrays.back().size = expression();
    kernel_ = {};
  }
  void array_initial(const Word& word) {
    if (file_.arrays.back().local)
      source_.fail(word.place, "an array of a work-group's own memory begins with what was there");
    file_.arrays.back().initial = expression();
  }

  void begin_function() { file_.functions.emplace_back(); }
  void kernel_word() { file_.functions.back().is_kernel = true; }
  void function_name(const Word& word) {
    make_known(word);
    KernelFile::Function& function = file_.functions.back();
    function.name = word;
    if (!function.is_kernel && word.text != "main")
      source_.fail(word.place, "only kernels and main are functions",
                   "kernel void " + std::string(word.text));
    kernel_ = {};
  }
  void parameter(const Word& word) {
    auto& parameters = file_.functions.back().parameters;
    if (!file_.functions.back().is_kernel) source_.fail(word.place, "main has no parameters");
    if (std::any_of(parameters.begin(), parameters.end(), [&](const Word& p) { return p.text == word.text; }))
      source_.fail(word.place, in_quotes(word.text) + " is a parameter twice");
    if (is_known(word.text)) source_.fail(word.place, in_quotes(word.text) + " is declared outside already");
    parameters.push_back(word);
  }
  void end_function() {
    end_body();
    file_.functions.back().syntax = std::move(kernel_);
  }

  // Nothing: all has its place in the file.
  static bool take() { return true; }

 private:
  void make_known(const Word& word) {
    if (is_known(word.text)) source_.fail(word.place, in_quotes(word.text) + " is declared twice");
    known_.push_back(word.text);
  }
  [[nodiscard]] bool is_known(std::string_view name) const {
    return std::find(known_.begin(), known_.end(), name) != known_.end() ||
           std::find(of_graphs_.begin(), of_graphs_.end(), name) != of_graphs_.end();
  }
  KernelFile::Expression expression() {
    const std::size_t root = take_expression();
    return {std::exchange(kernel_, {}), root};
  }

  KernelFile& file_;
  std::vector<std::string_view> known_;
  std::vector<std::string> of_graphs_;  // what graphs are made of
};

}  // namespace

namespace grammar {
namespace {

struct declared_equals : one<'='> {};
struct size_item_name : identifier {};
struct size_item_number : number {};
struct size_item_what : seq<one<'"'>, star<peg::not_one<'"', '\n'>>, one<'"'>> {};
struct end_of_item : semicolon {};
struct size_item : seq<kw<'s', 'i', 'z', 'e'>, cw, must<size_item_name>, cw, must<declared_equals>, cw,
                       must<size_item_number>, cw, opt<size_item_what, cw>, must<end_of_item>> {};

struct graph_item_name : identifier {};
struct graph_item : seq<kw<'g', 'r', 'a', 'p', 'h'>, cw, must<graph_item_name>, cw, must<declared_equals>, cw,
                        must<wanted<expression>>, cw, must<end_of_item>> {};

struct function_kernel : sor<kw<'k', 'e', 'r', 'n', 'e', 'l'>, kw<'_', '_', 'k', 'e', 'r', 'n', 'e', 'l'>> {};
struct void_word : kw<'v', 'o', 'i', 'd'> {};
struct begin_function_item : at<sor<function_kernel, void_word>> {};
struct function_item_name : identifier {};
struct item_parameter_type : kw<'i', 'n', 't'> {};
struct item_parameter_name : identifier {};
struct item_parameter : seq<must<item_parameter_type>, cw, must<item_parameter_name>> {};
struct open_item_parameters : open_parenthesis {};
struct close_item_parameters : close_parenthesis {};
struct item_body : block_statement {};
struct function_item
    : seq<begin_function_item, opt<function_kernel, cw>, must<void_word>, cw, must<function_item_name>, cw,
          must<open_item_parameters>, cw,
          sor<at<close_item_parameters>, seq<item_parameter, star<cw, one<','>, cw, item_parameter>>>, cw,
          must<close_item_parameters>, cw, must<item_body>> {};

struct begin_array_item : at<identifier> {};
struct array_qualifier : identifier {};
struct array_item_name : identifier {};
struct open_array_size : open_bracket {};
struct array_item_size : wanted<expression> {};
struct close_array_size : close_bracket {};
struct array_item_initial : wanted<expression> {};
struct array_item : seq<begin_array_item, plus<at<identifier, cw, identifier_first>, array_qualifier, cw>,
                        must<array_item_name>, cw, must<open_array_size>, cw, must<array_item_size>, cw,
                        must<close_array_size>, cw, opt<declared_equals, cw, must<array_item_initial>, cw>,
                        must<end_of_item>> {};

struct item : sor<size_item, graph_item, function_item, array_item> {};
struct end_of_file : eof {};
struct kernel_file : seq<opt<peg::utf8::bom>, cw, star<not_at<eof>, must<item>, cw>, must<end_of_file>> {};

}  // namespace
}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::item>{"size, graph, an array or a kernel", "such as global int x[n]; or kernel void k() { ... }"};
template <> inline constexpr Expectation expectation<grammar::end_of_file>{"the end of the file"};
template <> inline constexpr Expectation expectation<grammar::declared_equals>{"'='"};
template <> inline constexpr Expectation expectation<grammar::size_item_name>{"the name of a size"};
template <> inline constexpr Expectation expectation<grammar::size_item_number>{"a number"};
template <> inline constexpr Expectation expectation<grammar::end_of_item>{"an operator or ';'"};
template <> inline constexpr Expectation expectation<grammar::graph_item_name>{"the name of a graph"};
template <> inline constexpr Expectation expectation<grammar::void_word>{"void"};
template <> inline constexpr Expectation expectation<grammar::function_item_name>{"the name of a kernel, or main"};
template <> inline constexpr Expectation expectation<grammar::open_item_parameters>{"'('"};
template <> inline constexpr Expectation expectation<grammar::close_item_parameters>{"',' or ')' after a parameter"};
template <> inline constexpr Expectation expectation<grammar::item_parameter_type>{"a parameter", "such as int k; arrays are declared outside, and known to all kernels"};
template <> inline constexpr Expectation expectation<grammar::item_parameter_name>{"the name of a parameter", "arrays are declared outside, and known to all kernels"};
template <> inline constexpr Expectation expectation<grammar::item_body>{"a body in '{' and '}'"};
template <> inline constexpr Expectation expectation<grammar::array_item_name>{"the name of an array"};
template <> inline constexpr Expectation expectation<grammar::open_array_size>{"'['", "such as global int x[n];"};
template <> inline constexpr Expectation expectation<grammar::array_item_size>{"how many elements it has"};
template <> inline constexpr Expectation expectation<grammar::close_array_size>{"an operator or ']'"};
template <> inline constexpr Expectation expectation<grammar::array_item_initial>{"an expression", "of i, the number of the element"};

template <> struct Action<grammar::size_item_name> : Give<&KernelFileReader::size_name> {};
template <> struct Action<grammar::size_item_number> : Give<&KernelFileReader::size_number> {};
template <> struct Action<grammar::size_item_what> : Give<&KernelFileReader::size_what> {};
template <> struct Action<grammar::graph_item_name> : Give<&KernelFileReader::graph_name> {};
template <> struct Action<grammar::graph_item> : Call<&KernelFileReader::end_graph> {};
template <> struct Action<grammar::begin_array_item> : Call<&KernelFileReader::begin_array> {};
template <> struct Action<grammar::array_qualifier> : Give<&KernelFileReader::qualifier> {};
template <> struct Action<grammar::array_item_name> : Give<&KernelFileReader::array_name> {};
template <> struct Action<grammar::array_item_size> : Call<&KernelFileReader::array_size> {};
template <> struct Action<grammar::array_item_initial> : Give<&KernelFileReader::array_initial> {};
template <> struct Action<grammar::begin_function_item> : Call<&KernelFileReader::begin_function> {};
template <> struct Action<grammar::function_kernel> : Call<&KernelFileReader::kernel_word> {};
template <> struct Action<grammar::function_item_name> : Give<&KernelFileReader::function_name> {};
template <> struct Action<grammar::item_parameter_name> : Give<&KernelFileReader::parameter> {};
template <> struct Action<grammar::item_body> : Call<&KernelFileReader::close, Statement::Kind::block, 0U> {};
template <> struct Action<grammar::function_item> : Call<&KernelFileReader::end_function> {};
// clang-format on

}  // namespace lockstep::litmus

namespace lockstep::kernels {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".cl";

fs::path shipped_folder() {
  return shipped("refimpl/kernels");
}

}  // namespace

std::vector<std::string> shipped_kernel_files() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(shipped_folder(), none)) {
    if (entry.path().extension() == ending) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string kernel_file_of(std::string_view name) {
  if (name.ends_with(ending)) return std::string(name);
  return (shipped_folder() / (std::string(name) + std::string(ending))).string();
}

bool names_kernel_file(std::string_view name) {
  if (name.ends_with(ending)) return true;
  const auto shipped = shipped_kernel_files();
  return std::find(shipped.begin(), shipped.end(), name) != shipped.end();
}

std::shared_ptr<const KernelFile> read_kernel_file(const std::string& file) {
  if (std::error_code none; !fs::is_regular_file(file, none))
    throw BadInput("there is no file of kernels '" + file + "'",
                   "those that are shipped: lockstep list kernels");
  const auto read = std::make_shared<KernelFile>();
  read->name = file;
  read->text = read_file(file);
  const litmus::Source source = read->source();
  source.check();
  const std::string_view text = read->text;
  if (text.starts_with("//")) {
    read->what = text.substr(2, text.find('\n') - 2);
    const auto begin = read->what.find_first_not_of(" \t");
    read->what = begin == std::string_view::npos ? "" : read->what.substr(begin);
    while (!read->what.empty() && (read->what.back() == '\r' || read->what.back() == '.'))
      read->what.remove_suffix(1);
  }
  litmus::KernelFileReader reader(source, *read);
  static_cast<void>(litmus::read<litmus::grammar::kernel_file>(source, reader));
  return read;
}

}  // namespace lockstep::kernels
