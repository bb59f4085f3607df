#!/usr/bin/env bash
# Claims about the installed package: package_test.sh BUILD SOURCE [LAUNCHER] installs a build below a prefix of its own,
# moves it, builds examples/out-of-tree against it and runs what comes out; then does what docs/writing-a-protocol.md says,
# word by word. Nothing but the examples' own units is compiled, and no network is needed. Prints each claim that fails, with
# what was said.
set -euo pipefail

build=$1
source=$2
launcher=${3-}
unset LOCKSTEP_HOME
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/elsewhere/prefix
failed=0
claims=0

# claim WHAT STATUS COMMAND...: the command ends with that status; $work/said is what it said.
claim() {
  local what=$1 expected=$2 status=0
  shift 2
  claims=$((claims + 1))
  "$@" >"$work/said" 2>&1 || status=$?
  if ((status == expected)); then return; fi
  failed=$((failed + 1))
  printf 'FAILED: %s\n  %s\n  ended with %s instead of %s\n' "$what" "$*" "$status" "$expected"
  sed 's/^/  | /' "$work/said"
}

# says TEXT: so did the last command.
says() {
  claims=$((claims + 1))
  if grep -qF -- "$1" "$work/said"; then return; fi
  failed=$((failed + 1))
  printf 'FAILED: this is not said: %s\n' "$1"
  sed 's/^/  | /' "$work/said"
}

# project FOLDER < CMAKELISTS: configures a project that finds the package, as $work/FOLDER.
project() {
  mkdir -p "$work/$1"
  { printf 'cmake_minimum_required(VERSION 3.21)\nproject(test LANGUAGES CXX)\n'; cat; } >"$work/$1/CMakeLists.txt"
  cmake -G Ninja -S "$work/$1" -B "$work/$1/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
}

# ---- installed, and moved ----------------------------------------------------------------------------------

claim "a build installs" 0 cmake --install "$build" --prefix "$work/prefix"
mkdir "$work/elsewhere"
mv "$work/prefix" "$prefix"
cd "$work"
claim "an installed command finds its tests beside itself, wherever that is" 0 "$prefix/bin/lockstep" list tests
says "Tests in elsewhere/prefix/share/lockstep/litmus"
claim "... its models" 0 env LOCKSTEP_HOME="$work/nowhere" "$prefix/bin/lockstep" litmus mp-agent --model hrf-indirect
claim "... and its machines" 0 "$prefix/bin/lockstep" sim message-passing --on sc --size pairs=1
claim "shells complete the installed command" 0 bash -c \
  "PATH=$prefix/bin:\$PATH; source $prefix/share/bash-completion/completions/lockstep
   COMP_WORDS=(lockstep check ger); COMP_CWORD=2; _lockstep; echo \"\${COMPREPLY[@]}\""
says "german"
mkdir -p "$work/mine/litmus"
cp "$(find "$source/litmus" -name 'mp-agent.litmus')" "$work/mine/litmus/"
claim "LOCKSTEP_HOME comes first" 0 env LOCKSTEP_HOME="$work/mine" "$prefix/bin/lockstep" list tests
says "Tests in mine/litmus"

# ---- the Python package, where it was built ----------------------------------------------------------------

if [[ -d $prefix/lib/python3 ]]; then
  # python CODE: Debian's Python, for which it was made, knows the package by nothing but its place.
  python() {
    env PYTHONPATH="$prefix/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "$1"
  }
  claim "Python finds the package, and the package what comes with it" 0 python 'import lockstep; print(lockstep.home())'
  says "$prefix/share/lockstep"
  claim "... tests and systems" 0 python 'import lockstep; print(lockstep.test("mp-agent").on("quick-release"))'
  says "<lockstep.Run mp-agent on quick-release: complete, 2 outcomes>"
  claim "... models" 0 python 'import lockstep; print(lockstep.test("mp-agent").under("hrf-indirect").status)'
  says "complete"
  claim "... and machines" 0 python 'import lockstep; print(lockstep.simulate("copy", sizes={"words": 256}).right)'
  says "True"
fi

# ---- a system outside the tree -----------------------------------------------------------------------------

claim "the example configures" 0 cmake -G Ninja -S "$source/examples/out-of-tree" -B "$work/example" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
claim "the example builds" 0 ninja -C "$work/example"
msi=$work/example/lockstep
claim "the command has all systems and the example's" 0 "$msi" list systems
for system in sc german write-through cpcoh msi; do says "  $system "; done
claim "litmus tests run on it" 0 "$msi" litmus mp-agent sb-system --on msi
claim "its invariants hold" 0 "$msi" check msi --program false-sharing-agent
says "holds in every reachable state"
claim "its mistake is found" 1 "$msi" check msi --fault acknowledgements-not-awaited --program false-sharing-agent
says "violated: a single writer, or many readers"
claim "it has time" 0 "$msi" sim message-passing --on msi --machine "$source/examples/out-of-tree/machine.toml" \
  --size pairs=1
says "right: all"

# ---- the document on writing a protocol --------------------------------------------------------------------

# What may differ from one run to the next: times, memory, the depth of a search by several threads, widths of columns.
steady() {
  sed -E 's/[0-9.]+ (ns|us|ms|s|kB|MB|GB)\b/# \1/g; s/[0-9.]+ ([kM] )?states a second/# states a second/; s/[0-9.]+ bytes a state/# bytes a state/
    s/depth [0-9]+/depth #/; s/ +/ /g; s/ $//' "$1"
}

# shown COMMAND EXPECTED: the command, typed in $work/walk, prints what a file says, in which `...` stands for any lines; its
# status is 0, or 1 where the verdict that is shown is a bad one.
shown() {
  local command=$1 expected=$2 status=0
  if grep -qE '^ *Verdict +(violated|broken)|^refuted' "$expected"; then status=1; fi
  claim "the document's commands end as they should" "$status" \
    env -C "$work/walk" HOME="$work/home" CMAKE_GENERATOR=Ninja CMAKE_CXX_COMPILER_LAUNCHER="$launcher" bash -c "$command"
  steady "$expected" >"$work/expected"
  steady "$work/said" >"$work/printed"
  claims=$((claims + 1))
  if awk '
    FNR == NR { expected[++n] = $0; next }
    { printed[++m] = $0 }
    END {
      while (m > 0 && printed[m] == "") --m
      at = 1
      for (i = 1; i <= n; ++i) {
        if (expected[i] ~ /^ *\.\.\.$/) { skipping = 1; continue }
        while (skipping && at <= m && printed[at] != expected[i]) ++at
        if (at > m || printed[at] != expected[i]) { print "the document says: " expected[i]; exit 1 }
        ++at
        skipping = 0
      }
      if (!skipping && at <= m) { print "the document does not say: " printed[at]; exit 1 }
    }' "$work/expected" "$work/printed" >"$work/difference"; then
    return
  fi
  failed=$((failed + 1))
  printf 'FAILED: %s: %s prints otherwise\n' "$document" "$command"
  sed 's/^/  /' "$work/difference"
  sed 's/^/  | /' "$work/said"
}

# walk DOCUMENT: types what it shows behind `$ ` in blocks without a language, one command after the other.
walk() {
  local document=$1 line command='' inside='' commands=0
  while IFS= read -r line; do
    if [[ $line == '```'* || (-n $inside && $line == '$ '*) ]]; then
      if [[ -n $command ]]; then shown "$command" "$work/shown"; fi
      command=
      : >"$work/shown"
    fi
    if [[ -z $inside && $line == '```'* ]]; then
      inside=$line
    elif [[ $line == '```' ]]; then
      inside=
    elif [[ $inside == '```' && $line == '$ '* ]]; then
      command=${line#'$ '}
      commands=$((commands + 1))
    elif [[ -n $command ]]; then
      printf '%s\n' "$line" >>"$work/shown"
    fi
  done <"$document"
  claims=$((claims + 1))
  if ((commands > 0)); then return; fi
  failed=$((failed + 1))
  printf 'FAILED: %s shows no command\n' "$document"
}

mkdir "$work/home" "$work/walk"
ln -s "$prefix" "$work/home/lockstep"
walk "$source/docs/writing-a-protocol.md"
my=$work/walk/build/lockstep

# Each mistake is noticed by whoever can notice it.
for fault in sharer-forgotten write-does-not-wait invalidation-overtakes; do
  claim "an explored invariant notices $fault" 1 "$my" check my --program false-sharing-agent --fault "$fault"
  says "violated: a copy is current"
  claim "a proof notices $fault" 1 "$my" prove my --any-size --explore 0 --fault "$fault"
  says "refuted: "
done
claim "a proof notices that no room is asked for" 1 "$my" prove my --any-size --explore 0 --fault room-not-asked-for
says 'refuted: "a queue that is pushed onto has room"'
claim "the other variant is proved, too" 0 "$my" prove my --any-size --explore 0 --variant writes-first
claim "... and holds" 0 "$my" check my/writes-first --program false-sharing-agent

# ---- what is refused ---------------------------------------------------------------------------------------

# refuses FOLDER HEADER TEXT: configuring ends with the text.
refuses() {
  claim "$2 is refused" 1 project "$1" <<<"find_package(Lockstep REQUIRED)
lockstep_add_system($2)"
  says "$3"
}

mkdir "$work/bad"
printf 'namespace lockstep::bare {}\n' >"$work/bad/bare.hpp"
printf 'namespace lockstep::other {\nstruct Info {};\n}\n' >"$work/bad/astray.hpp"
printf 'namespace lockstep::sc {\nstruct Info {};\n}\n' >"$work/bad/sc.hpp"
cp "$work/bad/astray.hpp" "$work/bad/two-words.hpp"
refuses bad absent.hpp "$work/bad/absent.hpp: error: there is no such header"
refuses bad bare.hpp "$work/bad/bare.hpp: error: there is no struct Info in it"
refuses bad astray.hpp "$work/bad/astray.hpp: error: there is no namespace lockstep::astray in it"
refuses bad sc.hpp "$work/bad/sc.hpp: error: lockstep::sc is the namespace of a system that comes with Lockstep"
refuses bad two-words.hpp "$work/bad/two-words.hpp: error: 'two-words' cannot be the name of a namespace"

claim "another version is refused" 1 project version <<<"find_package(Lockstep 0.0.1 REQUIRED)"
says "0.0.1"

# A name is taken, a version is another's: what registers stands for a whole system, which would take long to compile.
register() {
  mkdir -p "$work/$1"
  cat >"$work/$1/it.cpp" <<END
#include "checker/systems/registry.hpp"
static const lockstep::RegisteredSystem registered({$2, "$3", "it.hpp", 1}, nullptr);
END
  claim "$1 builds" 0 project "$1" <<<"find_package(Lockstep REQUIRED)
file(WRITE \${CMAKE_BINARY_DIR}/main.cpp \"\")
lockstep_built_from(home \"\${LOCKSTEP_DATA_DIR}\")
add_executable(it it.cpp \${home})
target_link_libraries(it PRIVATE Lockstep::cli Lockstep::commands Lockstep::concrete Lockstep::full Lockstep::recorded)"
  claim "$1 builds" 0 ninja -C "$work/$1/build"
}
register taken lockstep::headers_version german
claim "a name that is taken is refused, whatever is asked" 2 "$work/taken/build/it" list models
says "two systems are called 'german': 'it.hpp' and 'spec/examples/german.hpp'"
register old '"0.0.9"' old
claim "what was compiled against another version is refused" 2 "$work/old/build/it" list models
says "'it.hpp' was compiled against Lockstep 0.0.9, and this is Lockstep"

if ((failed > 0)); then
  echo "$failed of $claims claims fail"
  exit 1
fi
echo "$claims claims hold"
