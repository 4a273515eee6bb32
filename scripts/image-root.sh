#!/bin/sh
# Makes the root file system of the images from Debian packages of one architecture: image-root.sh ARCHITECTURE FOLDER.
# Packages are extracted and never run, so the architecture need not be the machine's.
#
#   FOLDER/base    the C library and what Node.js needs of it, an init, sleep, licences; no shell
#   FOLDER/shell   a shell and nslookup, for the commands that exechealthz runs
#   FOLDER/network the shell, and the programs that set up the network of a node: ip, nft, iptables
set -eu
architecture=$1
folder=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dpkg --add-architecture "$architecture"
apt-get update -qq

# Debian has /bin, /lib, /lib64 and /sbin in /usr since version 12; packages of older releases have files in both.
merge_usr() {
  for name in bin lib lib64 sbin; do
    mkdir -p "$1/usr/$name"
    [ ! -d "$1/$name" ] || cp -a "$1/$name/." "$1/usr/$name/"
    rm -rf "${1:?}/$name"
  done
}

# Extracts one package into a root, and lists it where scanners of images look for packages.
add_package() {
  root=$1
  package=$2
  mkdir -p "$root"
  (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package:$architecture")
  dpkg-deb --extract "$work/$package"_*.deb "$root"
  mkdir -p "$root/var/lib/dpkg/status.d"
  dpkg-deb --field "$work/$package"_*.deb > "$root/var/lib/dpkg/status.d/$package"
}

gcc_base=$(apt-cache depends "libgcc-s1:$architecture" | sed -n 's/.*Depends: \(gcc-[0-9]*-base\).*/\1/p' | head -n 1)
for package in libc6 libgcc-s1 libstdc++6 "$gcc_base" tini; do add_package "$folder/base" "$package"; done
merge_usr "$folder/base"
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$folder/base/$name"; done
add_package "$folder/shell" busybox-static
merge_usr "$folder/shell"
ln -s busybox "$folder/shell/usr/bin/sh"
ln -s busybox "$folder/shell/usr/bin/nslookup"

# With all libraries that they need beyond the base, zlib1g among them. The programs are chosen by links, which Debian makes at
# installation.
cp -a "$folder/shell" "$folder/network"
libraries=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances "iproute2:$architecture" "nftables:$architecture" "iptables:$architecture" |
  sed -n 's/^\(z*lib[^ :]*\).*/\1/p' | sort -u)
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
cp -R "$work/coreutils/usr/share/doc/coreutils" "$folder/base/usr/share/doc/"

# The licences that packages refer to, and the names of users and groups: root, nobody and those of the system.
add_package "$work/base-files" base-files
mkdir -p "$folder/base/usr/share" "$folder/base/etc"
cp -R "$work/base-files/usr/share/common-licenses" "$folder/base/usr/share/"
cp "$work/base-files/usr/lib/os-release" "$folder/base/etc/os-release"
cp /usr/share/base-passwd/passwd.master "$folder/base/etc/passwd"
cp /usr/share/base-passwd/group.master "$folder/base/etc/group"

mkdir -p "$folder/base/run" "$folder/base/var/run" "$folder/base/root"
mkdir -m 1777 "$folder/base/tmp"
# Neither character sets nor manuals are used.
rm -rf "$folder"/*/usr/lib/*/gconv "$folder"/*/usr/share/man "$folder"/*/usr/share/lintian "$folder"/*/usr/share/gcc
