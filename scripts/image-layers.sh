#!/bin/sh
# Makes the layers of the images, but for Node.js, from Debian packages and the npm package of Portolan:
#
#   image-layers.sh ARCHITECTURE PACKAGE FOLDER [NODE]
#
# PACKAGE is the unpacked npm package. Packages are extracted and never run, so the architecture need not be the machine's, and nobody has
# to be root. The Debian release is that of the image, whatever the machine has; apt keeps its lists in a folder of its own.
#
# NODE is the Node.js of the image, if this machine runs it. It writes the code caches, with which servers start faster: without it there
# are none. The same Node.js writes the same octets.
#
#   FOLDER/base     the C library and what Node.js needs of it, an init, sleep, licences; no shell
#   FOLDER/shell    a shell and nslookup, for the commands that exechealthz runs
#   FOLDER/network  the shell, and the programs that set up the network of a node: ip, nft, iptables
#   FOLDER/portolan the program with its npm packages, and the names that it is called by
#
# DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR name other mirrors, such as a day of https://snapshot.debian.org/.
set -eu
umask 022
architecture=$1
package_folder=$(realpath "$2")
mkdir -p "$3"
folder=$(realpath "$3")
node=${4:-}
release=trixie

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The keys of Debian's package debian-archive-keyring, whose file has another ending since version 13.
keyring=
for file in /usr/share/keyrings/debian-archive-keyring.pgp /usr/share/keyrings/debian-archive-keyring.gpg; do
  [ ! -e "$file" ] || keyring=${keyring:-$file}
done
[ -n "$keyring" ] || { echo "no keys of Debian: /usr/share/keyrings/debian-archive-keyring.gpg. Install debian-archive-keyring." >&2; exit 1; }

mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
: > "$work/apt/status"
main=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
security=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
cat > "$work/apt/sources.list" <<SOURCES
deb [signed-by=$keyring] $main $release main
deb [signed-by=$keyring] $main $release-updates main
deb [signed-by=$keyring] $security $release-security main
SOURCES
cat > "$work/apt/apt.conf" <<SETTINGS
Dir::State "$work/apt";
Dir::State::Lists "$work/apt/lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt";
Dir::Etc::SourceList "$work/apt/sources.list";
Dir::Etc::SourceParts "-";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
SETTINGS
export APT_CONFIG="$work/apt/apt.conf"
apt-get update -qq

# Debian has /bin, /lib, /lib64 and /sbin in /usr since version 12; some packages still have files in both.
merge_usr() {
  for name in bin lib lib64 sbin; do
    mkdir -p "$1/usr/$name"
    [ ! -d "$1/$name" ] || cp -a "$1/$name/." "$1/usr/$name/"
    rm -rf "${1:?}/$name"
  done
}

# Extracts one downloaded package into a root, and lists it where scanners of images look for packages.
add_package() {
  root=$1
  package=$2
  mkdir -p "$root"
  dpkg-deb --extract "$work/$package"_*.deb "$root"
  mkdir -p "$root/var/lib/dpkg/status.d"
  dpkg-deb --field "$work/$package"_*.deb > "$root/var/lib/dpkg/status.d/$package"
}

# A pipe would hide that apt-cache fails.
apt-cache depends libgcc-s1 > "$work/needs"
gcc_base=$(sed -n 's/.*Depends: \(gcc-[0-9]*-base\).*/\1/p' "$work/needs" | head -n 1)
# All libraries that the programs of a node need, zlib1g among them.
apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances iproute2 nftables iptables > "$work/needs"
libraries=$(sed -n 's/^\(z*lib[^ :]*\).*/\1/p' "$work/needs" | sort -u)
# In one go: each start of apt reads its lists.
# shellcheck disable=SC2086 # a list of words
(cd "$work" && apt-get download -qq libc6 libgcc-s1 libstdc++6 "$gcc_base" tini busybox-static iproute2 nftables iptables \
  coreutils base-files base-passwd $libraries)
for package in libc6 libgcc-s1 libstdc++6 "$gcc_base" tini; do add_package "$folder/base" "$package"; done
merge_usr "$folder/base"
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$folder/base/$name"; done
add_package "$folder/shell" busybox-static
merge_usr "$folder/shell"
ln -s busybox "$folder/shell/usr/bin/sh"
ln -s busybox "$folder/shell/usr/bin/nslookup"

# The programs are chosen by links, which Debian makes at installation.
cp -a "$folder/shell" "$folder/network"
for package in iproute2 nftables iptables $libraries; do
  [ -e "$folder/base/var/lib/dpkg/status.d/$package" ] || add_package "$folder/network" "$package"
done
merge_usr "$folder/network"
for program in iptables ip6tables; do
  for part in '' -save -restore; do ln -sf xtables-nft-multi "$folder/network/usr/sbin/$program$part"; done
done

# The hooks of our manifests call `sleep`; nothing else of its package is used.
add_package "$work/coreutils" coreutils
merge_usr "$work/coreutils"
cp "$work/coreutils/usr/bin/sleep" "$folder/base/usr/bin/sleep"
mkdir -p "$folder/base/usr/share/doc"
cp -R "$work/coreutils/usr/share/doc/coreutils" "$folder/base/usr/share/doc/"

# The licences that packages refer to, and the names of users and groups: root, nobody and those of the system.
add_package "$work/base-files" base-files
add_package "$work/base-passwd" base-passwd
mkdir -p "$folder/base/usr/share" "$folder/base/etc"
cp -R "$work/base-files/usr/share/common-licenses" "$folder/base/usr/share/"
cp "$work/base-files/usr/lib/os-release" "$folder/base/etc/os-release"
cp "$work/base-passwd/usr/share/base-passwd/passwd.master" "$folder/base/etc/passwd"
cp "$work/base-passwd/usr/share/base-passwd/group.master" "$folder/base/etc/group"

mkdir -p "$folder/base/run" "$folder/base/var/run" "$folder/base/root"
mkdir -m 1777 "$folder/base/tmp"
# Neither character sets nor manuals are used.
rm -rf "$folder"/*/usr/lib/*/gconv "$folder"/*/usr/share/man "$folder"/*/usr/share/lintian "$folder"/*/usr/share/gcc

# koffi comes as one package per platform, ready built: the one of the image, not of this machine. Without the optional peer dependency,
# which only kubeconfigs of people need (57 MB): a pod has a token.
program="$folder/portolan/opt/portolan"
mkdir -p "$program" "$folder/portolan/usr/local/bin" "$folder/portolan/usr/sbin"
case "$architecture" in amd64) cpu=x64 ;; *) cpu="$architecture" ;; esac
cp "$package_folder/package.json" "$program/"
cp "$package_folder/dist/package-lock.json" "$program/"
# The packages of the repository are in the bundles.
(cd "$program" && npm pkg delete workspaces)
(cd "$program" && npm ci --silent --omit=dev --os=linux --cpu="$cpu" --libc=glibc --ignore-scripts --no-audit --no-fund)
rm -f "$program/package-lock.json" "$program/node_modules/.package-lock.json"
for name in LICENSE dist deploy examples; do cp -R "$package_folder/$name" "$program/"; done
rm "$program/dist/package-lock.json"
# Those there are for the Node.js of the build.
rm -f "$program"/dist/*.cache "$program"/dist/*.cache.*
[ -z "$node" ] || "$node" "$package_folder/scripts/code-caches/write-code-caches.mjs" "$program/dist"
cp "$package_folder/scripts/run-node-cache.sh" "$program/"
# There is no `env` in the image, so the first line of the program names its interpreter.
sed -i '1s|.*|#!/usr/local/bin/node|' "$program/dist/portolan.js"
# The names that the program is called by, where the images of kube-dns have them: it looks at the last part.
ln -s /opt/portolan/dist/portolan.js "$folder/portolan/usr/local/bin/portolan"
ln -s /opt/portolan/dist/portolan.js "$folder/portolan/usr/sbin/dnsmasq"
for name in kube-dns coredns node-cache dnsmasq-nanny sidecar exechealthz skydns kube2sky cluster-proportional-autoscaler; do
  ln -s /opt/portolan/dist/portolan.js "$folder/portolan/$name"
done
