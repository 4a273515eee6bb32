#!/bin/sh
# Builds a Debian package from the layers of the images, in which the npm packages of the architecture are:
#
#   build-deb.sh ARCHITECTURE VERSION LAYERS OUTPUT
#
# LAYERS is the folder of image-layers.sh. The same layers make the same package, octet by octet.
set -eu
umask 022
architecture=$1
version=$2
layers=$3
output=$4
# The time that npm gives all files of its packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-499162500}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/usr/lib" "$root/usr/bin" "$root/usr/lib/systemd/system" "$root/usr/share/man/man1" \
  "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" "$root/usr/share/doc/portolan" \
  "$root/etc/default" "$root/DEBIAN"
cp -R "$layers/portolan/opt/portolan" "$root/usr/lib/portolan"
rm "$root/usr/lib/portolan/run-node-cache.sh"
sed -i '1s|.*|#!/usr/bin/node|' "$root/usr/lib/portolan/dist/portolan.js"
ln -s ../lib/portolan/dist/portolan.js "$root/usr/bin/portolan"

portolan() { node "$root/usr/lib/portolan/dist/portolan.js" "$@"; }
portolan man | gzip -9n > "$root/usr/share/man/man1/portolan.1.gz"
portolan completion bash > "$root/usr/share/bash-completion/completions/portolan"
portolan completion zsh > "$root/usr/share/zsh/vendor-completions/_portolan"
# The flags are in a file that an upgrade leaves alone.
portolan systemd serve |
  sed -e '/^# Made by/d' -e 's|^ExecStart=.*|EnvironmentFile=/etc/default/portolan\nExecStart=/usr/bin/portolan serve $PORTOLAN_FLAGS|' \
    > "$root/usr/lib/systemd/system/portolan.service"
cat > "$root/etc/default/portolan" <<'FLAGS'
# Flags of `portolan serve`; see portolan(1). Without a cluster, --example serves example names.
PORTOLAN_FLAGS="--example --dns-bind-address=127.0.0.1 --snapshot=/var/lib/portolan/snapshot"
FLAGS
mv "$root/usr/lib/portolan/LICENSE" "$root/usr/share/doc/portolan/copyright"

printf '/etc/default/portolan\n' > "$root/DEBIAN/conffiles"
cat > "$root/DEBIAN/control" <<CONTROL
Package: portolan
Version: $version
Architecture: $architecture
Maintainer: The Portolan authors <portolan@localhost>
Section: net
Priority: optional
Depends: nodejs (>= 20.19), libc6, libstdc++6
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: DNS server of a Kubernetes cluster
 It serves the zone of a cluster, forwards and caches other names, and reads
 Corefiles and the options of dnsmasq.
CONTROL
# The service is neither enabled nor started: port 53 may be in use, and resolv.conf is not changed.
cat > "$root/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
SCRIPT
cp "$root/DEBIAN/postinst" "$root/DEBIAN/postrm"
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/postrm"
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --uniform-compression -Zxz --build "$root" "$output" >/dev/null
