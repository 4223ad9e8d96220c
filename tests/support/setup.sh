#!/usr/bin/env bash
# Installs the Debian packages that are missing. Does nothing, and needs no network, when none is.
#   setup.sh [build] [page] [test] [gpu] [bench] [gallery] [fuzz] [lint]
# The groups wanted; build when none is named. What this system has no package of is named and left
# out, as long as it can be built without: Ubuntu has no chromium, and before 24.04 no clang-19.
set -eu

declare -A packages=(
  [build]="gcc make pkg-config libgsl-dev libcsv-dev libxlsxwriter-dev libinih-dev libjansson-dev
           uthash-dev libgcrypt20-dev libunistring-dev zlib1g-dev librandom123-dev libglpk-dev"
  [test]="g++ libcmocka-dev libreoffice-calc python3 python3-uno python3-openpyxl gnumeric
          poppler-utils libopenmpi-dev openmpi-bin chromium"
  [page]="npm"
  [gpu]="clang-19 lld-19 llvm-19"
  [bench]="python3-numpy python3-xlsxwriter python3-openpyxl libopenmpi-dev openmpi-bin"
  [gallery]="chromium fonts-dejavu-core"
  [fuzz]="clang libomp-dev"
  [lint]="clang-format clang-tidy cppcheck"
)

# Debian's npm is hundreds of packages; any other does as well.
if command -v npm >/dev/null; then packages[page]=''; fi

# ROCm's compiler does as well, since 6.4.
rocm=$("${ROCM_PATH:-/opt/rocm}/llvm/bin/clang" -dumpversion 2>/dev/null || true)
if [[ ${rocm%%.*} =~ ^[0-9]+$ ]] && [ "${rocm%%.*}" -ge 19 ]; then packages[gpu]=''; fi

wanted=()
for group in "${@:-build}"; do
  [ -n "${packages[$group]+known}" ] || { echo "setup: no group named '$group'" >&2; exit 2; }
  # shellcheck disable=SC2206 # split on purpose
  wanted+=(${packages[$group]})
done

[ ${#wanted[@]} -gt 0 ] || exit 0

# by_hand WHY PACKAGE...
by_hand() {
  printf 'setup: %s. Please install, under the names of your system:\n' "$1"
  printf '  %s\n' "${@:2}"
  echo "Then 'make' builds without any set-up."
  exit 1
} >&2

command -v apt-get >/dev/null || by_hand 'no apt-get here' "${wanted[@]}"

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || by_hand 'neither root nor sudo here' "${missing[@]}"
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)

"${apt[@]}" update || echo "setup: some package lists could not be renewed" >&2

offered=() absent=() needed=()
for package in "${missing[@]}"; do
  if apt-cache policy "$package" | grep -q 'Candidate: [^(]'; then
    offered+=("$package")
  else
    absent+=("$package")
    if grep -qw -- "$package" <<<"${packages[build]}"; then needed+=("$package"); fi
  fi
done

if [ ${#offered[@]} -gt 0 ]; then
  echo "setup: installing ${offered[*]}"
  "${apt[@]}" install -y --no-install-recommends "${offered[@]}" ||
    by_hand 'apt-get failed' "${offered[@]}"
fi
[ ${#needed[@]} -eq 0 ] || by_hand 'this system has no packages of these names' "${needed[@]}"
[ ${#absent[@]} -eq 0 ] || echo "setup: left out, for this system has no such packages: ${absent[*]}"
