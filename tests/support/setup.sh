#!/usr/bin/env bash
# Installs the Debian packages that are missing. If none is, does nothing and needs no network.
# Without apt-get it installs nothing, but lists what the build lacks, by its name for dnf or zypper.
#   setup.sh [build] [page] [test] [deep] [gpu] [bench] [gallery] [fuzz] [lint]
# Groups to install; build if none is named. Lists and leaves out packages that this system lacks if the
# build can do without them: Ubuntu has no chromium and, before 24.04, no clang-19.
set -eu

declare -A packages=(
  [build]="gcc make pkg-config libgsl-dev libcsv-dev libxlsxwriter-dev libinih-dev libjansson-dev
           uthash-dev libgcrypt20-dev libunistring-dev zlib1g-dev librandom123-dev libglpk-dev
           libcurl4-openssl-dev libyaml-dev"
  [test]="g++ libcmocka-dev libreoffice-calc python3 python3-uno python3-openpyxl gnumeric
          poppler-utils libopenmpi-dev openmpi-bin chromium libdnnl-dev hunspell hunspell-en-us
          gnupg zsh fish"
  [deep]="slurm-wlm munge rpm debootstrap"
  [page]="npm"
  [gpu]="clang-19 lld-19 llvm-19"
  [bench]="python3-numpy python3-xlsxwriter python3-openpyxl libopenmpi-dev openmpi-bin"
  [gallery]="chromium fonts-dejavu-core fonts-crosextra-carlito"
  [fuzz]="clang libomp-dev"
  [lint]="clang-format clang-tidy clang-tidy-19 cppcheck"
)

# What shows that a package is there where dpkg cannot: its header or its program.
declare -A evidence=(
  [libgsl-dev]=gsl/gsl_rng.h [libcsv-dev]=csv.h [libxlsxwriter-dev]=xlsxwriter.h [libinih-dev]=ini.h
  [libjansson-dev]=jansson.h [uthash-dev]=uthash.h [libgcrypt20-dev]=gcrypt.h
  [libunistring-dev]=unistr.h [zlib1g-dev]=zlib.h [librandom123-dev]=Random123/philox.h
  [libglpk-dev]=glpk.h [libcurl4-openssl-dev]=curl/curl.h [libyaml-dev]=yaml.h
  [libdnnl-dev]=oneapi/dnnl/dnnl.h [libcmocka-dev]=cmocka.h [libopenmpi-dev]=mpi.h [openmpi-bin]=mpirun
  [libreoffice-calc]=soffice [gnumeric]=ssconvert [poppler-utils]=pdftoppm [clang-19]=clang
  [hunspell-en-us]=hunspell [lld-19]=ld.lld [llvm-19]=llvm-objcopy [slurm-wlm]=slurmctld [munge]=munged
  [gnupg]=gpg [rpm]=rpmbuild
)

# Names in Fedora, and in RHEL, Rocky and Alma with EPEL and CRB; then in openSUSE.
declare -A dnf_names=(
  [pkg-config]=pkgconf-pkg-config [g++]=gcc-c++ [libgsl-dev]=gsl-devel [libcsv-dev]=libcsv-devel
  [libxlsxwriter-dev]=libxlsxwriter-devel [libinih-dev]=inih-devel [libjansson-dev]=jansson-devel
  [uthash-dev]=uthash-devel [libgcrypt20-dev]=libgcrypt-devel [libunistring-dev]=libunistring-devel
  [zlib1g-dev]=zlib-devel [librandom123-dev]=Random123-devel [libglpk-dev]=glpk-devel
  [libcurl4-openssl-dev]=libcurl-devel [libyaml-dev]=libyaml-devel
  [libdnnl-dev]=onednn-devel [libcmocka-dev]=libcmocka-devel [libopenmpi-dev]=openmpi-devel [openmpi-bin]=openmpi
  [hunspell-en-us]=hunspell-en-US [clang-19]=clang [lld-19]=lld [llvm-19]=llvm
  [gnupg]=gnupg2 [rpm]=rpm-build
)
declare -A zypper_names=(
  [pkg-config]=pkg-config [libinih-dev]=libinih-devel [libjansson-dev]=libjansson-devel
  [gnupg]=gpg2 [rpm]=rpm-build
)

# Debian's npm is hundreds of packages; any other npm will do.
if command -v npm >/dev/null; then packages[page]=''; fi

# ROCm's compiler will do, from 6.4 on.
rocm=$("${ROCM_PATH:-/opt/rocm}/llvm/bin/clang" -dumpversion 2>/dev/null || true)
if [[ ${rocm%%.*} =~ ^[0-9]+$ ]] && [ "${rocm%%.*}" -ge 19 ]; then packages[gpu]=''; fi

wanted=()
for group in "${@:-build}"; do
  [ -n "${packages[$group]+known}" ] || { echo "setup: no group named '$group'" >&2; exit 2; }
  # shellcheck disable=SC2206 # split on purpose
  wanted+=(${packages[$group]})
done

[ ${#wanted[@]} -gt 0 ] || exit 0

# is_there PACKAGE: as far as a compiler and the shell can tell.
is_there() {
  local sign=${evidence[$1]:-$1}
  case $sign in
    *.h) "${CC:-cc}" -E -include "$sign" -x c /dev/null >/dev/null 2>&1 ;;
    *) command -v "$sign" >/dev/null ;;
  esac
}

# without_apt: lists what is missing, by this system's names. Ends the script.
without_apt() {
  local package tool='' name names=() others=()
  for tool in zypper dnf ''; do
    if [ -z "$tool" ] || command -v "$tool" >/dev/null; then break; fi
  done
  for package in "${wanted[@]}"; do
    if is_there "$package"; then continue; fi
    name=${dnf_names[$package]:-$package}
    if [ "$tool" = zypper ]; then name=${zypper_names[$package]:-$name}; fi
    if [ -z "$tool" ]; then name="$package${evidence[$package]:+ (${evidence[$package]})}"; fi
    if grep -qw -- "$package" <<<"${packages[build]}"; then names+=("$name"); else others+=("$name"); fi
  done
  if [ ${#others[@]} -gt 0 ]; then printf 'setup: left out, as the build can do without: %s\n' "${others[*]}"; fi
  [ ${#names[@]} -gt 0 ] || exit 0
  [ -n "$tool" ] || by_hand 'no apt-get here' "${names[@]}"
  {
    echo 'setup: no apt-get here. Please install what is missing:'
    echo "  sudo $tool install ${names[*]}"
    if [ "$tool" = dnf ]; then
      echo 'On RHEL, Rocky and Alma some of these are in EPEL and CRB, which must be enabled first.'
    fi
    echo "Then 'make' builds without further setup."
  } >&2
  exit 1
}

# by_hand WHY PACKAGE...
by_hand() {
  printf 'setup: %s. Please install, under the names of your system:\n' "$1"
  printf '  %s\n' "${@:2}"
  echo "Then 'make' builds without further setup."
  exit 1
} >&2

command -v apt-get >/dev/null || without_apt

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

"${apt[@]}" update || echo "setup: some package lists could not be updated" >&2

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
[ ${#absent[@]} -eq 0 ] || echo "setup: left out, as this system has no such packages: ${absent[*]}"
