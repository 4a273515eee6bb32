# syntax=docker/dockerfile:1

# The image of Portolan, and one for each of the images of kube-dns:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --target portolan --tag registry.example/portolan:0.1.0 .
#
# Targets: portolan, kube-dns, dnsmasq, dnsmasq-nanny, sidecar, exechealthz. They differ in their entry alone and share all layers. An old
# manifest gives arguments and no command, so there each part has an image of its own; our manifests name the part in the
# command and use the first for all.
#
# Nothing runs on the platform of the image while it is built, so other platforms need no emulation.

# The newest LTS release of Node.js. Debian since its builds of Node.js for glibc are of tier 1, those for musl experimental.
ARG NODE=node:24.21.0-trixie-slim
ARG BASE=debian:13.7-slim
# One static file: what exechealthz is told to run is nslookup with address:port, which Debian's does not take.
ARG BUSYBOX=busybox:1.37.0-musl

FROM ${NODE} AS node
FROM ${BUSYBOX} AS busybox

FROM --platform=$BUILDPLATFORM ${NODE} AS build
ARG TARGETARCH=amd64
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs && rm dist/*.map
# koffi comes as one package per platform, ready built: the one of the image, not of this machine. Without what only kubeconfigs of
# people need (60 MB): a pod has a token.
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu="$TARGETARCH" ;; esac && \
    set -- --omit=dev --os=linux --cpu="$cpu" --libc=glibc --ignore-scripts --no-audit --no-fund && \
    npm ci "$@" && npm uninstall @kubernetes/client-node "$@"
# The names that the program is called by, where the images of kube-dns have them: it looks at the last part.
RUN mkdir -p /image/opt/portolan /image/usr/local/bin /image/usr/sbin && \
    cp -R package.json LICENSE dist deploy examples node_modules /image/opt/portolan/ && \
    ln -s /opt/portolan/dist/portolan.js /image/usr/local/bin/portolan && \
    ln -s /opt/portolan/dist/portolan.js /image/usr/sbin/dnsmasq && \
    for name in kube-dns dnsmasq-nanny sidecar exechealthz; do \
      ln -s /opt/portolan/dist/portolan.js "/image/$name"; \
    done && \
    ln -s busybox /image/usr/local/bin/nslookup

FROM ${BASE} AS all
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=busybox /bin/busybox /usr/local/bin/busybox
COPY --from=build /image/ /

# As root, with what its manifest leaves it, as in the original: it has to open port 53, and an old manifest gives it no other
# way. Where dnsmasq is told to stop with a signal that it does not know, it answers until the end of the grace period, when all
# nodes know that the pod is gone.
FROM all AS dnsmasq
STOPSIGNAL SIGCONT
ENTRYPOINT ["/usr/sbin/dnsmasq", "--keep-in-foreground"]

FROM all AS dnsmasq-nanny
STOPSIGNAL SIGCONT
ENTRYPOINT ["/dnsmasq-nanny"]

# A number, so that runAsNonRoot can be checked. There is no capability on the file of Node.js: with one, it cannot be executed
# at all in a container that drops all capabilities, and where privilege escalation is forbidden the capability is not given.
# Port 53 is opened by the pod's net.ipv4.ip_unprivileged_port_start=0, which Docker and containerd 2 set by themselves.
FROM all AS unprivileged
USER 65532:65532

FROM unprivileged AS kube-dns
ENTRYPOINT ["/kube-dns"]

FROM unprivileged AS sidecar
ENTRYPOINT ["/sidecar"]

FROM unprivileged AS exechealthz
ENTRYPOINT ["/exechealthz"]

# The last one is what is built where no target is named.
FROM unprivileged AS portolan
ENTRYPOINT ["/usr/local/bin/portolan"]
CMD ["serve"]
