#!/usr/bin/env bash
# Installs the Debian packages that are missing. Does nothing, and needs no network, when none is.
#   setup.sh [build] [page] [test] [gpu] [bench] [gallery] [fuzz] [lint]
# The groups wanted; build when none is named.
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

wanted=()
for group in "${@:-build}"; do
  [ -n "${packages[$group]+known}" ] || { echo "setup: no group named '$group'" >&2; exit 2; }
  # shellcheck disable=SC2206 # split on purpose
  wanted+=(${packages[$group]})
done

[ ${#wanted[@]} -gt 0 ] || exit 0

by_hand() {
  printf 'setup: %s. Please install, under the names of your system:\n' "$1"
  printf '  %s\n' "${wanted[@]}"
  echo "Then 'make' builds without any set-up."
  exit 1
} >&2

command -v apt-get >/dev/null || by_hand 'no apt-get here'

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || by_hand 'neither root nor sudo here'
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)

echo "setup: installing ${missing[*]}"
"${apt[@]}" update || echo "setup: some package lists could not be renewed" >&2
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" || by_hand 'apt-get failed'
