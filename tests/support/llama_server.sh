#!/usr/bin/env bash
# Fetches llama-server and llama-bench from Debian sid and unpacks them, without root or installing anything:
#   llama_server.sh [DIR]     (build/llama-server)
# DIR/llama-server and DIR/llama-bench then start them with the loader and the C library fetched with
# them. Prints the server's path.
# Exit status 77, with the reason, if they cannot be fetched: no apt, no Debian archive in its sources,
# no network, another processor, or sid has moved on to an untested version.
set -eu

version=1:0.7.0+dfsg-2
ggml=0.27.0-1
packages="llama.cpp-tools=$version libllama0=$version libggml0=$ggml
          libc6 libgcc-s1 libstdc++6 libgomp1 libssl3t64 libzstd1 zlib1g"

into=${1:-build/llama-server}
program=$into/llama-server
not_here() { echo "llama-server $version: $*" >&2; rm -rf "$into.new"; exit 77; }

if [ -x "$program" ]; then echo "$program"; exit 0; fi
[ "$(uname -m)" = x86_64 ] || not_here "is fetched only for x86_64"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || not_here "there is no apt here"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || not_here "there are no Debian keys here ($keyring)"

archive=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/*$') ||
  not_here "apt's sources have no Debian archive"

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

# The best CPU backend that runs here: GGML would look for them where Debian installs them.
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
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/llama" "$here/bin/${0##*/}" "$@"
SCRIPT
chmod +x "$new/llama-server"
ln "$new/llama-server" "$new/llama-bench"
"$new/llama-server" --version >/dev/null 2>&1 || not_here "does not start here"
rm -rf "$new/archives" "$new/lists" "$into"
mv "$new" "$into"
echo "$program"
