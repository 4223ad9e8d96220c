#!/usr/bin/env bash
# Fetches llama-server from Debian sid and unpacks it, without root and beside what is installed here:
#   llama_server.sh [DIR]     (build/llama-server)
# DIR/llama-server then starts it through the loader and the C library that it came with. Prints its path.
# Exit status 77, with the reason, where it cannot be had: no apt, no archive of Debian's in its
# sources, no network, another processor, or sid has moved on to a version that this was not tried with.
set -eu

version=1:0.7.0+dfsg-2
ggml=0.27.0-1
packages="llama.cpp-tools=$version libllama0=$version libggml0=$ggml
          libc6 libgcc-s1 libstdc++6 libgomp1 libssl3t64 libzstd1 zlib1g"

into=${1:-build/llama-server}
program=$into/llama-server
not_here() { echo "llama-server $version: $*" >&2; rm -rf "$into.new"; exit 77; }

if [ -x "$program" ]; then echo "$program"; exit 0; fi
[ "$(uname -m)" = x86_64 ] || not_here "is fetched for x86_64 alone"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || not_here "there is no apt here"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || not_here "Debian's keys are not here ($keyring)"

archive=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/*$') ||
  not_here "apt knows no archive of Debian's"

rm -rf "$into.new"
mkdir -p "$into.new/lists/partial" "$into.new/archives/partial"
new=$(cd "$into.new" && pwd)
echo "deb [signed-by=$keyring] $archive sid main" >"$new/sources.list"
: >"$new/status"
apt=(apt-get -qq -o Dir::State::lists="$new/lists" -o Dir::State::status="$new/status"
     -o Dir::Cache::archives="$new/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
     -o Dir::Etc::sourcelist="$new/sources.list" -o Dir::Etc::sourceparts=- -o Acquire::Languages=none
     -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o Acquire::Retries=1
     -o Acquire::http::Timeout=20 -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update >&2 || not_here "Debian sid cannot be reached"
# shellcheck disable=SC2086 # split on purpose
(cd "$new/archives" && "${apt[@]}" download $packages) >&2 || not_here "Debian sid has other versions by now"
for package in "$new"/archives/*.deb; do dpkg-deb -x "$package" "$new/root"; done

# The best of the backends for processors that runs here: GGML looks for them where Debian puts them.
cat >"$new/llama-server" <<'SCRIPT'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)/root/usr
lib=$here/lib/x86_64-linux-gnu
has() { for flag; do grep -qw -- "$flag" /proc/cpuinfo || return 1; done; }
if has amx_int8 avx512_bf16; then cpu=sapphirerapids
elif has avx512_bf16 avx512_vnni; then cpu=zen4
elif has avx512_vnni avx512_vbmi; then cpu=icelake
elif has avx2 fma f16c bmi2; then cpu=haswell
else cpu=x64; fi
export GGML_BACKEND_PATH="$lib/ggml/backends0/libggml-cpu-$cpu.so"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/llama" "$here/bin/llama-server" "$@"
SCRIPT
chmod +x "$new/llama-server"
"$new/llama-server" --version >/dev/null 2>&1 || not_here "does not start here"
rm -rf "$new/archives" "$new/lists" "$into"
mv "$new" "$into"
echo "$program"
