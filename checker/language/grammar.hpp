// The grammar that all dialects share, for PEGTL: blanks and comments, the head of a test, its initial state,
// its question; and how a grammar is tied to its reader.
//
// A grammar says where words may stand and what was expected where one is missing. Its actions hand each
// word, in the order of the text, to a reader, which knows what words mean. Nothing backtracks over more than
// a few words, comments aside, and nesting is bounded: junk of any kind costs time linear in its length.
#pragma once

#include <stdexcept>
#include <string_view>
#include <tao/pegtl.hpp>
#include <type_traits>

#include "checker/language/test_reader.hpp"

namespace lockstep::litmus {

namespace peg = tao::pegtl;

// What a rule that must match stands for, in "expected ..., found ...", and a remedy.
struct Expectation {
  const char* what = nullptr;
  const char* hint = "";
};
template <typename Rule>
inline constexpr Expectation expectation{};

template <typename Iterator>
SourcePlace place_at(const Iterator& at) {
  return {static_cast<int>(at.line), static_cast<int>(at.column)};
}

namespace grammar {

using peg::at;
using peg::eof;
using peg::identifier;
using peg::identifier_first;
using peg::identifier_other;
using peg::keyword;
using peg::must;
using peg::not_at;
using peg::one;
using peg::opt;
using peg::plus;
using peg::seq;
using peg::sor;
using peg::star;
using peg::string;

// (* which (* nest *) *), matched as a whole or not at all.
struct nested_comment {
  using rule_t = nested_comment;
  using subs_t = peg::empty_list;

  template <typename ParseInput, typename... States>
  static bool match(ParseInput& in, States&&...) {
    const std::string_view text(in.current(), in.size());
    int depth = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const std::string_view two = text.substr(i, 2);
      if (two != "(*" && two != "*)") continue;
      depth += two == "(*" ? 1 : -1;
      ++i;
      if (depth > 0) continue;
      in.bump(i + 1);
      return true;
    }
    return false;
  }
};

struct comment : seq<at<string<'(', '*'>>, must<nested_comment>> {};
struct line_comment : seq<string<'/', '/'>, star<peg::not_one<'\n'>>> {};
struct whole_block_comment : seq<string<'/', '*'>, peg::until<string<'*', '/'>>> {};
struct closed_block_comment : at<whole_block_comment> {};
struct block_comment : seq<at<string<'/', '*'>>, must<closed_block_comment>, whole_block_comment> {};
struct ws : star<sor<plus<peg::space>, line_comment, block_comment, comment>> {};
struct same_line : star<peg::blank> {};

// Matches Rule one level deeper.
template <typename Rule>
struct deeper {
  using rule_t = deeper;
  using subs_t = peg::type_list<Rule>;

  template <peg::apply_mode A, peg::rewind_mode M, template <typename...> class Action,
            template <typename...> class Control, typename ParseInput, typename Reader>
  static bool match(ParseInput& in, Reader& reader) {
    ++reader.nesting;
    reader.check_nesting(place_at(in.iterator()));
    const bool matched = Control<Rule>::template match<A, M, Action, Control>(in, reader);
    --reader.nesting;
    return matched;
  }
};

// Matches nothing, where the reader says so.
template <bool (TestReader::*holds)() const>
struct when {
  using rule_t = when;
  using subs_t = peg::empty_list;

  template <peg::apply_mode, peg::rewind_mode, template <typename...> class, template <typename...> class,
            typename ParseInput, typename Reader>
  static bool match(ParseInput&, Reader& reader) {
    return (reader.*holds)();
  }
};
using loose = when<&TestReader::is_loose>;
using strict = when<&TestReader::is_strict>;
using in_kernels = when<&TestReader::is_kernels>;
using declares = when<&TestReader::may_be_declared>;
using without_question = when<&TestReader::may_have_no_question>;
using nameless = when<&TestReader::may_have_no_name>;
using in_launches = when<&TestReader::is_launches>;
using in_programs = when<&TestReader::is_program>;

struct word : plus<identifier_other> {};
struct number : seq<opt<one<'-'>>, peg::digit, star<identifier_other>> {};
struct equals : one<'='> {};
struct colon : one<':'> {};
struct semicolon : one<';'> {};
struct open_parenthesis : one<'('> {};
struct close_parenthesis : one<')'> {};
struct open_bracket : one<'['> {};
struct close_bracket : one<']'> {};

// "P0:r1", "0:r1", "P0:%total", "x", "[x]", "x[1]" or "[x[1]]".
struct reference_thread : word {};
struct register_name : sor<identifier, seq<one<'%'>, identifier>> {};
struct location_name : identifier {};
struct bracketed_name : identifier {};
struct element_number : number {};
struct element : seq<open_bracket, ws, must<element_number>, ws, must<close_bracket>> {};
struct is_register : at<word, ws, colon> {};
struct register_reference : seq<is_register, reference_thread, ws, colon, ws, must<register_name>> {};
struct bracketed : seq<open_bracket, ws, must<bracketed_name>, ws, opt<element, ws>, must<close_bracket>> {};
struct begin_reference : peg::success {};
struct reference
    : seq<begin_reference, sor<register_reference, bracketed, seq<location_name, opt<ws, element>>>> {};

// The head. In other dialects than HRF anything may stand between the name and the initial state.
struct dialect : plus<sor<identifier_other, one<'-', '+', '.'>>> {};
struct slash : seq<one<'/'>, not_at<one<'/'>>> {};
struct name_end : sor<one<'{', '"'>, string<'/', '/'>, string<'/', '*'>, string<'(', '*'>> {};
struct name_character
    : seq<not_at<name_end>,
          sor<peg::range<'!', '~'>, peg::range<static_cast<char>(0x80), static_cast<char>(0xFF)>>> {};
struct name : plus<name_character> {};
struct doc : seq<one<'"'>, peg::until<one<'"'>>> {};
struct closed_doc : at<doc> {};
struct doc_string : seq<at<one<'"'>>, must<closed_doc>, doc> {};
struct key : identifier {};
struct entry_word : plus<sor<identifier_other, one<'-', '+', '.'>, slash>> {};
struct entry_name : entry_word {};
struct entry_value : entry_word {};
struct entry : seq<entry_name, opt<same_line, colon, same_line, must<entry_value>>> {};
struct end_of_entries : at<same_line, sor<peg::eolf, one<'\r'>, string<'/', '/'>, string<'(', '*'>>> {};

// Claims: Section="words" 1: P0 IN..OUT x2, ...; Meeting="words": P0 HERE GONE, ...; Final="words": x == 2.
struct claim_name : seq<one<'"'>, star<peg::not_one<'"', '\n'>>, one<'"'>> {};
struct capacity : number {};
struct claim_thread : identifier {};
struct first_label : identifier {};
struct second_label : identifier {};
struct two_dots : string<'.', '.'> {};
struct weight_number : number {};
struct weight : seq<one<'x'>, must<weight_number>> {};
struct begin_part : peg::success {};
struct stretch : seq<begin_part, claim_thread, same_line, must<first_label>, same_line, must<two_dots>,
                     same_line, must<second_label>, opt<same_line, weight>> {};
struct participant
    : seq<begin_part, claim_thread, same_line, must<first_label>, same_line, must<second_label>> {};
struct claim_colon : colon {};
struct end_of_claim : end_of_entries {};
template <typename Part>
struct parts : seq<must<claim_colon>, same_line, must<Part>, star<same_line, one<','>, ws, must<Part>>> {};
struct section_word : keyword<'S', 'e', 'c', 't', 'i', 'o', 'n'> {};
struct meeting_word : keyword<'M', 'e', 'e', 't', 'i', 'n', 'g'> {};
struct final_word : keyword<'F', 'i', 'n', 'a', 'l'> {};
template <typename Key>
struct claims_here
    : seq<at<Key, same_line, equals>, Key, same_line, equals, same_line, must<claim_name>, same_line> {};
struct section : seq<claims_here<section_word>, must<capacity>, same_line, parts<stretch>> {};
struct meeting : seq<claims_here<meeting_word>, parts<participant>> {};
struct claimed_value : number {};
struct is_claimed : string<'=', '='> {};
struct final_reference : reference {};
struct final_value : seq<claims_here<final_word>, must<claim_colon>, same_line, must<final_reference>,
                         same_line, must<is_claimed>, same_line, must<claimed_value>> {};
struct claim : seq<strict, sor<section, meeting, final_value>, same_line, must<end_of_claim>> {};

struct our_key : sor<keyword<'T', 'a', 'g', 's'>, keyword<'E', 'x', 'p', 'e', 'c', 't'>,
                     keyword<'R', 'a', 'c', 'e'>, keyword<'P', 'r', 'o', 'g', 'r', 'e', 's', 's'>> {};
struct metadata
    : seq<at<sor<strict, at<our_key>>, identifier, same_line, equals>, key, same_line, equals, same_line,
          must<entry>, star<same_line, one<','>, ws, must<entry>>, same_line, must<end_of_entries>> {};
struct other_metadata : seq<loose, at<identifier, same_line, equals>, identifier, star<peg::not_one<'\n'>>> {
};
struct other_word : seq<loose, not_at<one<'{'>>, sor<word, peg::any>> {};
struct named : sor<seq<nameless, at<sor<peg::eol, one<'{', '"'>>>>, must<name>> {};
struct head : seq<opt<peg::utf8::bom>, ws, must<dialect>, same_line, named, ws,
                  star<sor<doc_string, claim, metadata, other_metadata, other_word>, ws>> {};

// The initial state.
struct block_name : identifier {};
struct bracketed_block_name : identifier {};
struct block_member
    : sor<seq<open_bracket, ws, must<bracketed_block_name>, ws, must<close_bracket>>, block_name> {};
struct begin_block : keyword<'b', 'l', 'o', 'c', 'k'> {};
struct block
    : seq<at<begin_block, ws, sor<identifier_first, one<'['>>>, begin_block, plus<ws, block_member>> {};
struct type_word : identifier {};
struct pointer_star : one<'*'> {};
struct type : seq<at<identifier, ws, star<one<'*'>, ws>,
                     sor<identifier_first, seq<open_bracket, ws, identifier_first>, seq<word, ws, colon>>>,
                  type_word, ws, star<pointer_star, ws>> {};
struct initial_value : number {};
struct initial_address : identifier {};
struct open_list : one<'{'> {};
struct close_list : one<'}'> {};
struct initial_list : seq<open_list, ws, opt<initial_value, star<ws, one<','>, ws, must<initial_value>>>, ws,
                          must<close_list>> {};
struct initial_macro : seq<at<identifier, ws, open_parenthesis>, identifier, ws, open_parenthesis, ws,
                           must<initial_value>, ws, must<close_parenthesis>> {};
struct initial_pointer : seq<loose, opt<one<'&'>>, ws, initial_address> {};
struct initial : sor<initial_value, initial_list, seq<in_kernels, initial_macro>, initial_pointer> {};
struct assigned : sor<seq<equals, ws, must<initial>>, declares> {};
struct begin_assignment : peg::success {};
struct assignment : seq<begin_assignment, star<type>, reference, ws, must<assigned>> {};
struct aliases_word : keyword<'a', 'l', 'i', 'a', 's', 'e', 's'> {};
struct alias_sign : at<sor<one<'@'>, aliases_word>> {};
struct alias_proxy : identifier {};
struct alias_aliases : aliases_word {};
struct alias_name : identifier {};
struct alias_bracketed : identifier {};
struct alias_target : sor<seq<open_bracket, ws, must<alias_bracketed>, ws, must<close_bracket>>, alias_name> {
};
struct plain_name : sor<identifier, seq<open_bracket, ws, identifier, ws, close_bracket>> {};
struct alias : seq<at<plain_name, ws, sor<one<'@'>, seq<aliases_word, ws, sor<identifier_first, one<'['>>>>>,
                   begin_reference, sor<bracketed, location_name>, ws, alias_sign,
                   opt<one<'@'>, ws, must<alias_proxy>, ws>, must<alias_aliases>, ws, must<alias_target>> {};
struct open_brace : one<'{'> {};
struct close_brace : one<'}'> {};
struct end_of_initialisation : sor<semicolon, at<close_brace>> {};
struct initialisation : seq<sor<block, alias, assignment>, ws, must<end_of_initialisation>> {};
struct ssw_word : keyword<'s', 's', 'w'> {};
struct ssw_thread : word {};
struct ssw_brace : one<'{'> {};
struct ssw_close : close_brace {};
struct ssw : seq<ssw_word, plus<peg::space>, must<ssw_thread>, ws, must<ssw_thread>, ws,
                 must<end_of_initialisation>> {};
struct system_synchronizes
    : seq<ssw_brace, ws, star<sor<semicolon, ssw>, ws>, must<ssw_close>, opt<loose, ws, semicolon>> {};
struct initial_state : seq<must<open_brace>, ws, star<sor<semicolon, initialisation>, ws>, must<close_brace>,
                           opt<loose, ws, semicolon>, opt<ws, system_synchronizes>> {};

// Conditions: ~ before /\ before \/.
struct comparison_symbol : sor<string<'=', '='>, string<'!', '='>, string<'<', '='>, string<'>', '='>,
                               one<'='>, one<'<'>, one<'>'>> {};
struct term_number : number {};
struct term_reference : reference {};
struct is_number : at<number, ws, not_at<colon>> {};
struct term : sor<seq<is_number, term_number>, term_reference> {};
struct right_term : term {};
struct comparison : comparison_symbol {};
struct compare : seq<term, ws, must<comparison>, ws, must<right_term>> {};
// What a sequence of launches has shown: "stale", "K1:acquire@C0", "K1:releases == 2", "K1:A@C0 == dirty".
struct begin_fact : peg::success {};
struct fact_launch : word {};
struct fact_name : identifier {};
struct fact_chiplet : identifier {};
struct fact_value : sor<number, identifier> {};
struct fact : seq<begin_fact, opt<at<word, ws, colon>, fact_launch, ws, colon, ws>, must<fact_name>,
                  opt<ws, one<'@'>, ws, must<fact_chiplet>>, opt<ws, comparison, ws, must<fact_value>>> {};
struct truth_true : keyword<'t', 'r', 'u', 'e'> {};
struct truth_false : keyword<'f', 'a', 'l', 's', 'e'> {};
struct disjunction;
struct unary;
struct parenthesised : seq<open_parenthesis, ws, must<deeper<disjunction>>, ws, must<close_parenthesis>> {};
struct negated : sor<parenthesised, deeper<unary>> {};
struct negation : seq<sor<one<'~'>, keyword<'n', 'o', 't'>>, ws, must<negated>> {};
struct unary : sor<negation, parenthesised, truth_true, truth_false,
                   seq<in_launches, at<identifier_other>, fact>, seq<in_programs, compare>> {};
struct and_symbol : sor<string<'/', '\\'>, string<'&', '&'>> {};
struct or_symbol : sor<string<'\\', '/'>, string<'|', '|'>> {};
struct and_next : seq<and_symbol, ws, must<unary>> {};
struct conjunction : seq<unary, star<ws, and_next>> {};
struct or_next : seq<or_symbol, ws, must<conjunction>> {};
struct disjunction : seq<conjunction, star<ws, or_next>> {};
struct enclosed : at<open_parenthesis> {};
struct open_formula : disjunction {};
struct formula
    : sor<seq<strict, must<enclosed>, parenthesised>, seq<must<open_formula>, opt<ws, semicolon>>> {};

struct locations_word : keyword<'l', 'o', 'c', 'a', 't', 'i', 'o', 'n', 's'> {};
struct filter_word : keyword<'f', 'i', 'l', 't', 'e', 'r'> {};
struct exists_word : keyword<'e', 'x', 'i', 's', 't', 's'> {};
struct forall_word : keyword<'f', 'o', 'r', 'a', 'l', 'l'> {};
struct after_program : sor<locations_word, filter_word, exists_word, forall_word, one<'~'>, eof> {};
struct misspelled_word : identifier {};
struct misspelled : seq<at<identifier, ws, open_parenthesis>, misspelled_word> {};

struct observed : reference {};
struct end_of_observed : sor<semicolon, at<close_bracket>> {};
struct observed_list : star<observed, ws, must<end_of_observed>, ws> {};
struct locations : seq<locations_word, ws, must<open_bracket>, ws, observed_list, must<close_bracket>> {};
struct filter : seq<filter_word, ws, formula> {};
struct exists : exists_word {};
struct negated_exists_word : exists_word {};
struct not_exists : seq<one<'~'>, ws, must<negated_exists_word>> {};
struct forall : forall_word {};
struct question : sor<exists, not_exists, forall> {};
struct condition : formula {};
struct no_condition : seq<without_question, eof> {};
struct end_of_test : eof {};

// What follows the program. `Question` is the dialect's own, for what it expects where there is none.
template <typename Question>
struct asked : seq<star<sor<locations, filter>, ws>, sor<no_condition, seq<must<Question>, ws, condition>>,
                   ws, must<end_of_test>> {};

}  // namespace grammar

// clang-format off
template <> inline constexpr Expectation expectation<grammar::nested_comment>{"a comment that ends", "close it with '*)'"};
template <> inline constexpr Expectation expectation<grammar::closed_block_comment>{"a comment that ends", "close it with '*/'"};
template <> inline constexpr Expectation expectation<grammar::dialect>{"a dialect such as HRF"};
template <> inline constexpr Expectation expectation<grammar::name>{"the name of the test after its dialect"};
template <> inline constexpr Expectation expectation<grammar::closed_doc>{"a doc string that ends", "close it with '\"'"};
template <> inline constexpr Expectation expectation<grammar::entry>{"an entry"};
template <> inline constexpr Expectation expectation<grammar::entry_value>{"a value after ':'"};
template <> inline constexpr Expectation expectation<grammar::end_of_entries>{"',' or the end of the line"};
template <> inline constexpr Expectation expectation<grammar::claim_name>{"what is claimed, in quotes"};
template <> inline constexpr Expectation expectation<grammar::capacity>{"how much the section holds", "such as Section=\"one is inside\" 1: P0 IN..OUT"};
template <> inline constexpr Expectation expectation<grammar::claim_colon>{"':'"};
template <> inline constexpr Expectation expectation<grammar::stretch>{"a thread and its labels", "such as P0 IN..OUT"};
template <> inline constexpr Expectation expectation<grammar::participant>{"a thread and its labels", "such as P0 HERE GONE"};
template <> inline constexpr Expectation expectation<grammar::first_label>{"a label"};
template <> inline constexpr Expectation expectation<grammar::second_label>{"a label"};
template <> inline constexpr Expectation expectation<grammar::two_dots>{"'..'"};
template <> inline constexpr Expectation expectation<grammar::weight_number>{"a weight"};
template <> inline constexpr Expectation expectation<grammar::final_reference>{"a location"};
template <> inline constexpr Expectation expectation<grammar::is_claimed>{"'=='"};
template <> inline constexpr Expectation expectation<grammar::claimed_value>{"an integer"};
template <> inline constexpr Expectation expectation<grammar::end_of_claim>{"',' or the end of the line"};
template <> inline constexpr Expectation expectation<grammar::open_brace>{"the initial state in '{' and '}'", "it may be empty: { }"};
template <> inline constexpr Expectation expectation<grammar::close_brace>{"an initialisation or '}'", "initialisations are x = 0; or P0:r0 = 0; or block x y;"};
template <> inline constexpr Expectation expectation<grammar::close_list>{"',' or '}' after an initial value"};
template <> inline constexpr Expectation expectation<grammar::end_of_initialisation>{"';' or '}'"};
template <> inline constexpr Expectation expectation<grammar::alias_proxy>{"generic, surface, texture or constant", "such as y @ generic aliases x"};
template <> inline constexpr Expectation expectation<grammar::alias_aliases>{"aliases", "such as y @ generic aliases x"};
template <> inline constexpr Expectation expectation<grammar::alias_target>{"a location"};
template <> inline constexpr Expectation expectation<grammar::alias_bracketed>{"a location"};
template <> inline constexpr Expectation expectation<grammar::ssw_thread>{"a thread", "such as ssw 0 1"};
template <> inline constexpr Expectation expectation<grammar::ssw_close>{"ssw or '}'", "such as { ssw 0 1; }"};
template <> inline constexpr Expectation expectation<grammar::assigned>{"'='"};
template <> inline constexpr Expectation expectation<grammar::initial>{"an integer"};
template <> inline constexpr Expectation expectation<grammar::initial_value>{"an integer"};
template <> inline constexpr Expectation expectation<grammar::register_name>{"a register"};
template <> inline constexpr Expectation expectation<grammar::bracketed_name>{"a location"};
template <> inline constexpr Expectation expectation<grammar::bracketed_block_name>{"a location"};
template <> inline constexpr Expectation expectation<grammar::element_number>{"the number of an element", "such as x[1]"};
template <> inline constexpr Expectation expectation<grammar::open_bracket>{"'['"};
template <> inline constexpr Expectation expectation<grammar::close_bracket>{"']'"};
template <> inline constexpr Expectation expectation<grammar::end_of_observed>{"';' or ']'"};
template <> inline constexpr Expectation expectation<grammar::negated_exists_word>{"exists after '~'"};
template <> inline constexpr Expectation expectation<grammar::enclosed>{"a condition in parentheses", "such as exists (P0:r0 == 1 /\\ [x] == 2)"};
inline constexpr Expectation a_condition{"a comparison, true, false, '~' or '('", "such as P0:r0 == 1 or [x] != 0"};
template <> inline constexpr Expectation expectation<grammar::deeper<grammar::disjunction>> = a_condition;
template <> inline constexpr Expectation expectation<grammar::open_formula> = a_condition;
template <> inline constexpr Expectation expectation<grammar::negated> = a_condition;
template <> inline constexpr Expectation expectation<grammar::unary> = a_condition;
template <> inline constexpr Expectation expectation<grammar::conjunction> = a_condition;
template <> inline constexpr Expectation expectation<grammar::comparison>{"==, !=, <, <=, > or >="};
template <> inline constexpr Expectation expectation<grammar::right_term>{"a register, a location or an integer"};
template <> inline constexpr Expectation expectation<grammar::fact_name>{"stale, lost, acquire, release, acquires, releases or a structure"};
template <> inline constexpr Expectation expectation<grammar::fact_chiplet>{"a chiplet", "such as C0"};
template <> inline constexpr Expectation expectation<grammar::fact_value>{"a number, or a state such as dirty"};
template <> inline constexpr Expectation expectation<grammar::close_parenthesis>{"/\\, \\/ or ')'"};
template <> inline constexpr Expectation expectation<grammar::end_of_test>{"the end of the file after the condition", "the whole condition stands in one pair of parentheses"};
// clang-format on

// PEGTL's control: a rule that must match and does not is an error with its expectation.
template <typename Rule>
struct Control : peg::normal<Rule> {
  template <typename ParseInput, typename Reader>
  [[noreturn]] static void raise(const ParseInput& in, const Reader& reader) {
    static_assert(expectation<Rule>.what != nullptr, "a rule inside must<> needs an expectation");
    const auto at = in.iterator();
    reader.fail_expected(expectation<Rule>.what, expectation<Rule>.hint, at.byte, place_at(at));
  }
};

// ---- The actions: which words go where ----

template <typename Rule>
struct Action : peg::nothing<Rule> {};

// The class of a member function, which may be one of several that a reader is made of.
template <typename Class, typename Result, typename... Arguments>
Class& as_class_of(Result (Class::*)(Arguments...), std::type_identity_t<Class>& reader) {
  return reader;
}
template <typename Class, typename Result, typename... Arguments>
const Class& as_class_of(Result (Class::*)(Arguments...) const, const std::type_identity_t<Class>& reader) {
  return reader;
}

// Hands the matched word to a function of the reader, with further arguments known here.
template <auto function, auto... arguments>
struct Give {
  template <typename ActionInput, typename Reader>
  static void apply(const ActionInput& in, Reader& reader) {
    (as_class_of(function, reader).*function)(Word{in.string_view(), place_at(in.iterator())}, arguments...);
  }
};

// Calls a function of the reader, with arguments known here.
template <auto function, auto... arguments>
struct Call {
  template <typename Reader>
  static void apply0(Reader& reader) {
    (as_class_of(function, reader).*function)(arguments...);
  }
};

// clang-format off
template <> struct Action<grammar::dialect> : Give<&TestReader::head_word> {};
template <> struct Action<grammar::name> : Give<&TestReader::name> {};
template <> struct Action<grammar::doc> : Give<&TestReader::doc> {};
template <> struct Action<grammar::key> : Give<&TestReader::key> {};
template <> struct Action<grammar::entry_name> : Give<&TestReader::entry_name> {};
template <> struct Action<grammar::entry_value> : Give<&TestReader::entry_value> {};
template <> struct Action<grammar::entry> : Call<&TestReader::end_entry> {};

template <> struct Action<grammar::section_word> : Call<&TestReader::begin_claim, ClaimKind::section> {};
template <> struct Action<grammar::meeting_word> : Call<&TestReader::begin_claim, ClaimKind::meeting> {};
template <> struct Action<grammar::final_word> : Call<&TestReader::begin_claim, ClaimKind::final_value> {};
template <> struct Action<grammar::claim_name> : Give<&TestReader::claim_name> {};
template <> struct Action<grammar::capacity> : Give<&TestReader::claim_number> {};
template <> struct Action<grammar::begin_part> : Call<&TestReader::begin_part> {};
template <> struct Action<grammar::claim_thread> : Give<&TestReader::claim_thread> {};
template <> struct Action<grammar::first_label> : Give<&TestReader::claim_label, 0> {};
template <> struct Action<grammar::second_label> : Give<&TestReader::claim_label, 1> {};
template <> struct Action<grammar::weight_number> : Give<&TestReader::claim_weight> {};
template <> struct Action<grammar::final_reference> : Call<&TestReader::claim_location> {};
template <> struct Action<grammar::claimed_value> : Give<&TestReader::claim_number> {};

template <> struct Action<grammar::begin_reference> : Call<&TestReader::begin_reference> {};
template <> struct Action<grammar::reference_thread> : Give<&TestReader::reference_thread> {};
template <> struct Action<grammar::register_name> : Give<&TestReader::register_name> {};
template <> struct Action<grammar::location_name> : Give<&TestReader::reference_name> {};
template <> struct Action<grammar::bracketed_name> : Give<&TestReader::bracketed_name> {};
template <> struct Action<grammar::element_number> : Give<&TestReader::element> {};
template <> struct Action<grammar::begin_assignment> : Call<&TestReader::begin_initialisation> {};
template <> struct Action<grammar::type_word> : Give<&TestReader::type_word> {};
template <> struct Action<grammar::pointer_star> : Give<&TestReader::pointer_star> {};
template <> struct Action<grammar::initial_value> : Give<&TestReader::initial_value> {};
template <> struct Action<grammar::initial_address> : Give<&TestReader::initial_address> {};
template <> struct Action<grammar::alias_sign> : Give<&TestReader::alias_sign> {};
template <> struct Action<grammar::alias_proxy> : Give<&TestReader::alias_proxy> {};
template <> struct Action<grammar::alias_name> : Give<&TestReader::alias_target, false> {};
template <> struct Action<grammar::alias_bracketed> : Give<&TestReader::alias_target, true> {};
template <> struct Action<grammar::alias> : Call<&TestReader::end_alias> {};
template <> struct Action<grammar::ssw_brace> : Give<&TestReader::check_ssw> {};
template <> struct Action<grammar::ssw_thread> : Give<&TestReader::ssw_thread> {};
template <> struct Action<grammar::assignment> : Call<&TestReader::end_initialisation> {};
template <> struct Action<grammar::begin_block> : Call<&TestReader::begin_block> {};
template <> struct Action<grammar::block_name> : Give<&TestReader::block_member, false> {};
template <> struct Action<grammar::bracketed_block_name> : Give<&TestReader::block_member, true> {};
template <> struct Action<grammar::block> : Call<&TestReader::end_block> {};

template <> struct Action<grammar::misspelled_word> : Give<&TestReader::misspelled_question> {};
template <> struct Action<grammar::observed> : Call<&TestReader::observe> {};
template <> struct Action<grammar::term_reference> : Call<&TestReader::reference_term> {};
template <> struct Action<grammar::term_number> : Give<&TestReader::constant_term> {};
template <> struct Action<grammar::comparison> : Give<&TestReader::comparison> {};
template <> struct Action<grammar::compare> : Call<&TestReader::end_comparison> {};
template <> struct Action<grammar::begin_fact> : Call<&TestReader::begin_fact> {};
template <> struct Action<grammar::fact_launch> : Give<&TestReader::fact_launch> {};
template <> struct Action<grammar::fact_name> : Give<&TestReader::fact_name> {};
template <> struct Action<grammar::fact_chiplet> : Give<&TestReader::fact_chiplet> {};
template <> struct Action<grammar::fact_value> : Give<&TestReader::fact_value> {};
template <> struct Action<grammar::fact> : Call<&TestReader::end_fact> {};
template <> struct Action<grammar::truth_true> : Call<&TestReader::truth, true> {};
template <> struct Action<grammar::truth_false> : Call<&TestReader::truth, false> {};
template <> struct Action<grammar::negation> : Call<&TestReader::negate> {};
template <> struct Action<grammar::and_next> : Call<&TestReader::join, Formula::Kind::and_> {};
template <> struct Action<grammar::or_next> : Call<&TestReader::join, Formula::Kind::or_> {};
template <> struct Action<grammar::filter> : Call<&TestReader::end_filter> {};
template <> struct Action<grammar::exists> : Call<&TestReader::quantifier, Quantifier::exists> {};
template <> struct Action<grammar::not_exists> : Call<&TestReader::quantifier, Quantifier::not_exists> {};
template <> struct Action<grammar::forall> : Call<&TestReader::quantifier, Quantifier::forall> {};
template <> struct Action<grammar::condition> : Call<&TestReader::end_condition> {};
template <> struct Action<grammar::no_condition> : Call<&TestReader::no_condition> {};
// clang-format on

// Reads a whole text by a grammar, with its reader.
template <typename Grammar, typename Reader>
auto read(const Source& source, Reader& reader) {
  peg::memory_input<peg::tracking_mode::eager, peg::eol::lf_crlf, const char*> in(source.text().data(),
                                                                                  source.text().size(), "");
  if (!peg::parse<Grammar, Action, Control>(in, reader)) {
    throw std::logic_error("the grammar gave up without naming an error");
  }
  return reader.take();
}

}  // namespace lockstep::litmus
