#!/usr/bin/env bash
# Claims about the wrapper script ./lockstep on machines that we don't have: each runs the script in a copy of
# an empty tree, with a PATH that holds the basic tools and stand-ins for dpkg, apt-get, sudo, CMake and ninja.
# The stand-ins are told what to pretend by variables, and note what they were asked to do in $calls.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
unset LOCKSTEP_PRESET LOCKSTEP_BUILD_DIR  # ours, when run by ./lockstep test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

all_packages=(g++ cmake ninja-build libfmt-dev catch2 libcli11-dev nlohmann-json3-dev tao-pegtl-dev libxxhash-dev
  libtomlplusplus-dev libz3-dev libcpp-httplib-dev)

# ---- stand-ins ---------------------------------------------------------------------------------------------

mkdir "$work/basics"
for tool in bash env readlink mkdir flock grep sed awk cat rm tail touch cp sleep basename dirname tr paste cksum nproc chmod true; do
  ln -s "$(type -P "$tool")" "$work/basics/$tool"
done

# stand_in NAME < SCRIPT
stand_in() {
  { printf '#!/usr/bin/env bash\n'; cat; } >"$work/stand-ins/$1"
  chmod +x "$work/stand-ins/$1"
}

mkdir "$work/stand-ins"
# Knows the commit `then`, which has spec/memory/mine.hpp and nothing else.
stand_in git <<'END'
case "$3" in
  rev-parse) [[ $4 == --git-dir || ${*: -1} == "then^{commit}" ]] && echo 1234567890 ;;
  cat-file) [[ $5 == 1234567890:spec/memory/mine.hpp ]] ;;
  show)
    printf '%s\n' 'namespace lockstep::mine {' 'using mine::State;' \
      'struct Info { static constexpr std::string_view name = "mine"; };' '}  // namespace lockstep::mine'
    ;;
esac
END
stand_in id <<'END'
echo "$user_id"
END
stand_in sudo <<'END'
[[ $sudo_works == yes ]] || exit 1
shift  # -n
echo "sudo" >>"$calls"
exec "$@"
END
stand_in dpkg <<'END'
# dpkg --compare-versions A ge B
[[ $(printf '%s\n%s\n' "$4" "$2" | sort -V | head -n 1) == "$4" ]]
END
stand_in dpkg-query <<'END'
# The last argument of a query for one package; of the query for Boosts, the last two.
if [[ ${*: -1} == libboost* ]]; then
  for boost in $(<"$boosts"); do echo "installed $boost"; done
  exit 0
fi
grep -qxF -- "${*: -1}" "$installed" || exit 1
echo installed
END
stand_in apt-cache <<'END'
printf 'libboost-dev:\n  Installed: (none)\n  Candidate: %s\n' "$boost_candidate"
END
stand_in apt-get <<'END'
case "$*" in
  -s*) if [[ -n $would_remove ]]; then printf 'Remv %s [1.0]\n' $would_remove; fi ;;
  update) echo "update" >>"$calls" ;;
  install*)
    echo "apt-get $*" >>"$calls"
    [[ $install_works == yes ]] || { echo "E: no such luck"; exit 100; }
    for package in "${@:4}"; do
      case $package in
        libboost-dev) echo "$boost_candidate" >>"$boosts" ;;
        libboost*) package=${package#libboost}; echo "${package%-dev}.0" >>"$boosts" ;;
        *) echo "$package" >>"$installed" ;;
      esac
    done
    ;;
esac
END
stand_in cmake <<'END'
while (($# > 0)); do
  case $1 in
    -S) root=$2 ;;
    -B) build=$2 ;;
    -DLOCKSTEP_WITH=*) with=" with ${1#*=}" ;;
  esac
  shift
done
echo "cmake$with" >>"$calls"
[[ $configure_works == yes ]] || { echo "CMake Error: these packages are missing"; exit 1; }
if [[ -n $with && $system_works != yes ]]; then
  printf -- '-- Found\nCMake Error at %s/add_system.cmake:5 (message):\n' "$root"
  printf '  my.hpp: error: no namespace\n    do so\n\nCall Stack (most recent call first):\n  add_system.cmake:9\n'
  exit 1
fi
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' "$root" "$build" >"$build/CMakeCache.txt"
touch "$build/build.ninja"
END
stand_in ninja <<'END'
echo "ninja ${*:3}" >>"$calls"
if [[ $2 == */with/* && $compiles != yes ]]; then
  for unit in concrete timed; do
    cat <<LOG
FAILED: my.$unit.o
/usr/bin/c++ -I$tree -c my.$unit.cpp
In file included from my.$unit.cpp:2:
$author/my.hpp: In instantiation of 'void lockstep::my::Protocol<K>::rules() const':
$tree/checker/explore/adaptor.hpp:61:14:   required from 'class lockstep::CompiledModel<lockstep::my::Protocol<K> >'
$author/my.hpp:7:10: error: could not convert 's.busy' from '$unit<$(printf '%0200d' 0)<A, B> >::Bool' to 'bool'
    7 |       if (s.busy) return;
      |          ^~~~~~
      |          $unit
In file included from $author/my.hpp:3:
$tree/spec/kernel/rules.hpp:9:1: note: candidate is elsewhere
    9 | void candidate();
      | ^~~~
$tree/spec/kernel/rules.hpp:20:1: error: no match for this rule
   20 | void rule();
      | ^~~~
LOG
  done
  exit 1
fi
if [[ $build_works != yes ]]; then
  printf '[1/2] Building good.o\ngood.cpp: warning: noise\n[2/2] Building bad.o\nFAILED: bad.o\nbad.cpp: error: no\n'
  exit 1
fi
sleep "$build_takes" &
trap 'kill $!; exit 130' INT
wait
mkdir -p "$2/bin"
printf '#!/usr/bin/env bash\necho "ran: $*"\nexit 3\n' >"$2/bin/lockstep"
cp "$2/bin/lockstep" "$2/bin/bench-explore"
chmod +x "$2"/bin/*
END
stand_in ctest <<'END'
echo "ctest $*" >>"$calls"
echo "100% tests passed, 0 tests failed out of 7"
exit "$ctest_status"
END
for tool in sort head; do ln -s "$(type -P "$tool")" "$work/stand-ins/$tool"; done

# ---- one claim ---------------------------------------------------------------------------------------------

failed=0
claims=0

# A fresh tree on a Debian 12 machine that has everything, as root.
claim() {
  what=$1
  claims=$((claims + 1))
  tree=$work/$claims/tree
  mkdir -p "$tree/bench"
  cp "$here/../../lockstep" "$here/../../CMakePresets.json" "$tree/"
  touch "$tree/bench/explore.cpp"
  export calls=$work/$claims/calls installed=$work/$claims/installed boosts=$work/$claims/boosts
  export user_id=0 sudo_works=no boost_candidate=1.74.0.3 would_remove='' install_works=yes configure_works=yes
  export build_works=yes build_takes=0 ctest_status=0 system_works=yes compiles=yes
  export tree author=$work/$claims/author
  mkdir -p "$author"
  touch "$author/my.hpp" "$author/other.hpp"
  path=$work/stand-ins:$work/basics
  : >"$calls"
  printf '%s\n' "${all_packages[@]}" >"$installed"
  echo 1.81.0-5 >"$boosts"
}

# run ARGUMENTS...: runs the script; then $status, $out, $err and $did (the calls) tell.
run() {
  : >"$calls"
  status=0
  PATH=$path "$tree/lockstep" "$@" >"$work/out" 2>"$work/err" || status=$?
  out=$(<"$work/out")
  err=$(<"$work/err")
  did=$(<"$calls")
}

# check CONDITION...: a test(1) expression.
check() {
  if ! [ "$@" ]; then
    failed=$((failed + 1))
    printf 'FAILED: %s\n  check: %s\n  status %s\n  stdout: %s\n  stderr: %s\n  calls: %s\n' \
      "$what" "$*" "$status" "$out" "$err" "$did"
  fi
}

# says TEXT: stderr holds the text. did TEXT: a call holds it. did_not TEXT.
says() { check -n "$(grep -F -- "$1" <<<"$err")"; }
# Nothing but what goes on, where that took more than a moment.
said_nothing() { check -z "$(grep -v -x -e 'lockstep: configuring' -e 'lockstep: building.*' <<<"$err")"; }
called() { check -n "$(grep -F -- "$1" <<<"$did")"; }
called_not() { check -z "$(grep -F -- "$1" <<<"$did")"; }

# ---- the claims --------------------------------------------------------------------------------------------

claim "a first run configures, builds the command alone and runs it with its arguments and status"
run litmus --all "two words"
check "$out" = "ran: litmus --all two words"
check "$status" -eq 3
check "$did" = $'cmake\nninja lockstep'
said_nothing

claim "a second run neither asks for packages nor configures"
run list
: >"$installed"
run list
check "$did" = "ninja lockstep"

claim "what proves and what simulates is built when it is asked for"
run prove german
check "$out" = "ran: prove german"
called "ninja lockstep lockstep-prove"
run sim copy
called "ninja lockstep lockstep-sim"

claim "a moved tree is configured afresh"
run list
mv "$tree" "$tree-moved"
tree=$tree-moved
run list
check "$did" = $'cmake\nninja lockstep'

claim "from another folder, through a symbolic link, the arguments' folder stays the caller's"
ln -s "$tree/lockstep" "$work/link"
status=0
out=$(cd / && PATH=$path "$work/link" here 2>&1) || status=$?
rm "$work/link"
check "$out" = "ran: here"

claim "root on a bare machine: updates once, installs everything in one command, then builds"
: >"$installed"
: >"$boosts"
run list
check "$status" -eq 3
says "installing with apt-get"
called "apt-get install -y --no-install-recommends ${all_packages[*]} libboost1.81-dev"
check "$(grep -c '^update$' <<<"$did")" -eq 1

claim "only what lacks is installed, from a default Boost that is new enough"
sed -i '/catch2/d' "$installed"
: >"$boosts"
boost_candidate=1.83.0.2
run list
called "apt-get install -y --no-install-recommends catch2 libboost-dev"

claim "a Boost that is too old counts as none; the newer one may take its place"
echo 1.74.0.3 >"$boosts"
would_remove="libboost-dev libboost1.74-dev"
run list
says "an older Boost makes way: libboost-dev libboost1.74-dev"
called "apt-get install -y --no-install-recommends libboost1.81-dev"
check "$status" -eq 3

claim "nothing but an older Boost is ever removed"
echo 1.74.0.3 >"$boosts"
would_remove="libboost1.74-dev someones-work"
run list
says "someones-work"
says "sudo apt-get install --no-install-recommends libboost1.81-dev"
called_not "apt-get install"
check "$status" -eq 2

claim "a user with sudo installs through it"
sed -i '/cmake/d' "$installed"
user_id=1000 sudo_works=yes
run list
called "sudo"
called "apt-get install -y --no-install-recommends cmake"
check "$status" -eq 3

claim "a user without sudo is given the one command to run"
sed -i '/ninja-build/d' "$installed"
user_id=1000
run list
says "sudo apt-get update && sudo apt-get install --no-install-recommends ninja-build"
check "$status" -eq 2
check -z "$did"
check -z "$out"

claim "a failed installation shows what apt-get said, and the command"
sed -i '/ninja-build/d' "$installed"
install_works=no
run list
says "E: no such luck"
says "--no-install-recommends ninja-build"
check "$status" -eq 2
called_not cmake

claim "elsewhere than on Debian the tools at hand are used"
rm -rf "$work/elsewhere"
cp -r "$work/stand-ins" "$work/elsewhere"
rm "$work"/elsewhere/{dpkg,dpkg-query,apt-get,apt-cache}
path=$work/elsewhere:$work/basics
run list
check "$status" -eq 3

claim "elsewhere than on Debian, without CMake, the packages are named"
rm "$work/elsewhere/cmake"
path=$work/elsewhere:$work/basics
run list
says "this is not Debian or Ubuntu"
says "libz3-dev"
check "$status" -eq 2

claim "where configuring fails, its message is shown, and the next run tries again"
configure_works=no
run list
says "CMake Error: these packages are missing"
check "$status" -eq 2
configure_works=yes
run list
check "$status" -eq 3

claim "a failed build shows the failed step alone, on stderr, with status 2"
build_works=no
run list
says "bad.cpp: error: no"
check -z "$(grep noise <<<"$err")"
check -z "$out"
check "$status" -eq 2

claim "an interrupt during the build ends with 130"
build_takes=30
setsid env --default-signal=INT PATH="$path" "$tree/lockstep" list >"$work/out" 2>"$work/err" &
wrapper=$!
while ! grep -q ninja "$calls"; do sleep 0.05; done
kill -INT "$wrapper"
status=0
wait "$wrapper" || status=$?
check "$status" -eq 130

claim "two at once: one builds, the other waits its turn, both run"
build_takes=1
PATH=$path "$tree/lockstep" first >"$work/first" 2>&1 &
run second
wait || true
check "$out" = "ran: second"
check -n "$(grep -F 'ran: first' "$work/first")"
check -n "$(grep -hF 'waiting for another build' "$work/first" "$work/err")"

claim "test builds the tests too, hands on arguments, and passes"
run test -R litmus
called "ninja lockstep lockstep-prove lockstep-sim lockstep-view lockstep_tests"
called "ctest --test-dir $tree/build --output-on-failure --no-tests=error --parallel $(nproc) -R litmus"
check "$out" = "100% tests passed, 0 tests failed out of 7"
check "$status" -eq 0

claim "test fails with status 1"
ctest_status=8
run test
check "$status" -eq 1

claim "bench builds and runs one benchmark"
run bench explore --quick
called "ninja bench-explore"
check "$out" = "ran: --quick"

claim "an unknown benchmark is answered with those that there are"
run bench explroe
says "one of: explore"
check "$status" -eq 2
check -z "$did"

claim "a preset has a folder of its own; LOCKSTEP_BUILD_DIR overrides it"
export LOCKSTEP_PRESET=asan
run list
check -x "$tree/build-asan/bin/lockstep"
LOCKSTEP_BUILD_DIR=$work/elsewhere-built run list
check -x "$work/elsewhere-built/bin/lockstep"
LOCKSTEP_PRESET=asam run list
says "no preset \`asam\`"
check "$status" -eq 2
unset LOCKSTEP_PRESET

claim "a header outside the tree: the command is built, then the one that has its system, in a folder of its own"
run --with "$author/my.hpp" check my
check "$did" = $'cmake\nninja lockstep\n'"cmake with $author/my.hpp"$'\nninja lockstep'
check "$out" = "ran: check my"
check "$status" -eq 3
said_nothing
run --with="$author/my.hpp" check my
check "$did" = $'ninja lockstep\nninja lockstep'
run list
check "$did" = "ninja lockstep"

claim "several headers, by paths from the caller's folder"
cd "$author"
run --with my.hpp --with ../author/other.hpp list
cd "$here"
called "cmake with $author/my.hpp;$author/other.hpp"
check "$out" = "ran: list"

claim "an option of the command that is called --with is the command's"
run progress two-wait --with waiters=2
check "$out" = "ran: progress two-wait --with waiters=2"

claim "a header that is not there ends before anything is built"
run --with "$author/absent.hpp" check absent
says "$author/absent.hpp: error: there is no such header"
check "$status" -eq 2
check -z "$did"
run --with
says "--with needs a header"
check "$status" -eq 2

claim "a system as it was is a header outside the tree, with a name and a namespace of its own"
mkdir -p "$tree/spec/memory"
echo 'static constexpr std::string_view name = "mine";' >"$tree/spec/memory/mine.hpp"
run compare mine@then/variant mine --on sc,mine@then
version=$tree/build/versions/mine-1234567890/mine_at_1234567890.hpp
called "cmake with $version"
called_not "$version;"
check "$out" = "ran: compare mine@1234567890/variant mine --on sc,mine@1234567890"
check "$(<"$version")" = 'namespace lockstep::mine_at_1234567890 {
using mine_at_1234567890::State;
struct Info { static constexpr std::string_view name = "mine@1234567890"; };
}  // namespace lockstep::mine_at_1234567890'
run litmus you@home --on mine@then
check "$out" = "ran: litmus you@home --on mine@1234567890"

claim "a version that git does not have is told so before anything is built"
mkdir -p "$tree/spec/memory"
echo 'static constexpr std::string_view name = "mine";' >"$tree/spec/memory/mine.hpp"
echo 'static constexpr std::string_view name = "new";' >"$tree/spec/memory/new.hpp"
run check mine@thne
says "git knows no commit \`thne\`"
check "$status" -eq 2
check -z "$did"
run check new@then
says "spec/memory/new.hpp is not in that commit"
check "$status" -eq 2

claim "what is watched is a header of the tree that has a system"
mkdir -p "$tree/spec/memory"
echo 'static constexpr std::string_view name = "mine";' >"$author/mine.hpp"
run watch
says "usage: ./lockstep watch HEADER"
check "$status" -eq 2
run watch "$author/mine.hpp"
says "has no system of this tree"
check "$status" -eq 2

claim "tests and benchmarks have no system more"
run --with "$author/my.hpp" test
says "not for \`test\`"
check "$status" -eq 2
check -z "$did"

claim "a header that is no system is told so without CMake's own words, and the next run tries again"
system_works=no
run --with "$author/my.hpp" check my
says "my.hpp: error: no namespace"
says "do so"
check -z "$(grep -e 'Call Stack' -e 'CMake Error' -e add_system -e Found <<<"$err")"
check -z "$out"
check "$status" -eq 2
system_works=yes
run --with "$author/my.hpp" check my
check "$status" -eq 3

claim "a system that does not compile is shown what it wrote, once for all units, and errors elsewhere without sources"
compiles=no
run --with "$author/my.hpp" check my
check "$(head -n -1 <<<"$err")" = "$author/my.hpp:7:10: error: could not convert 's.busy' from 'concrete::Bool' to 'bool'
    7 |       if (s.busy) return;
      |          ^~~~~~
$tree/spec/kernel/rules.hpp:20:1: error: no match for this rule"
check -n "$(tail -n 1 <<<"$err" | grep -F "all it said is in $tree/build/with/my-")"
check -z "$out"
check "$status" -eq 2

claim "a folder that cannot be written is said so, with the way out"
touch "$tree/build"
run list
says "set LOCKSTEP_BUILD_DIR"
check "$status" -eq 2

if ((failed > 0)); then
  echo "$failed checks failed in $claims claims"
  exit 1
fi
echo "$claims claims hold"
