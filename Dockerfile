# syntax=docker/dockerfile:1

# The image of Portolan, and one for each of the images of kube-dns and of its autoscaler:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --target portolan --tag registry.example/portolan:0.2.0 .
#
# Targets: portolan, kube-dns, coredns, node-cache, dnsmasq, dnsmasq-nanny, sidecar, exechealthz, cluster-proportional-autoscaler,
# skydns, kube2sky. They differ in their entry point and share all layers, but for three: coredns has Node.js with a file capability,
# node-cache has the programs for a node's network in addition, and exechealthz has a shell in addition. An old manifest gives arguments
# and no command, so each part has an image of its own there; our manifests name the part in the command and use the first image for all.
#
# Nothing of another platform runs while its images are built, so they need no emulation. Code caches, with which servers start faster, are
# written by the Node.js of the image: only images of the platform that they are built on have them (a builder may have a node for each).

# The newest LTS release of Node.js. Debian, because its builds of Node.js for glibc are of tier 1, those for musl experimental. The
# digest is that of the index of all platforms; docs/how-to/private-registry.md says how to check it and how to take another.
ARG NODE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe

FROM ${NODE} AS node

# The npm package, as `npm pack` makes it.
FROM --platform=$BUILDPLATFORM ${NODE} AS package
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund
RUN npm pack --silent && mkdir /package && tar --extract --strip-components=1 --directory=/package --file=portolan-*.tgz

# Layers are folders in /layers. `portolan image` makes them with the same script, and the images from the statements below.
FROM --platform=$BUILDPLATFORM ${NODE} AS build
ARG TARGETARCH=amd64
ARG BUILDARCH=amd64
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libcap2-bin
COPY --from=package /package/ /package/
RUN if [ "$TARGETARCH" = "$BUILDARCH" ]; then node=node; fi; \
    sh /package/scripts/image-layers.sh "$TARGETARCH" /package /layers "${node:-}"
# Node.js and the init once more, with a file capability. Both have it, or the init would lose it.
COPY --from=node /usr/local/bin/node /layers/capable/usr/local/bin/node
RUN mkdir -p /layers/capable/usr/bin && cp /layers/base/usr/bin/tini /layers/capable/usr/bin/tini
RUN setcap cap_net_bind_service=+ep /layers/capable/usr/local/bin/node cap_net_bind_service=+ep /layers/capable/usr/bin/tini

# There is no shell and no package manager in it. Licences: /usr/share/doc, /usr/share/common-licenses, /usr/local/share/doc/node, and
# /opt/portolan with its node_modules.
FROM scratch AS without-node
COPY --from=build /layers/base/ /
COPY --from=node /usr/local/LICENSE /usr/local/share/doc/node/LICENSE
COPY --from=build /layers/portolan/ /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
ARG VERSION=0.2.0
# The commit, and the public address of the repository.
ARG REVISION=
ARG REPOSITORY=
LABEL org.opencontainers.image.title="Portolan" \
      org.opencontainers.image.description="A DNS server for Kubernetes clusters" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="The authors of Portolan" \
      org.opencontainers.image.url="$REPOSITORY" \
      org.opencontainers.image.source="$REPOSITORY" \
      org.opencontainers.image.documentation="$REPOSITORY"

FROM without-node AS all
COPY --from=node /usr/local/bin/node /usr/local/bin/node

# Each entry is under tini, which as process 1 reaps what children of the program leave behind and passes signals on.

# As root, with what its manifest leaves it, as in the original: it has to open port 53, and an old manifest gives it no other
# way. Where dnsmasq is told to stop with a signal that it does not know, it answers until the end of the grace period, when all
# nodes know that the pod is gone.
FROM all AS dnsmasq
STOPSIGNAL SIGCONT
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/sbin/dnsmasq", "--keep-in-foreground"]

# As root, for the addresses and the packet filter of the node. A shell runs it, which is there a little longer than a server that was
# killed, for its rules to be removed.
FROM all AS node-cache
COPY --from=build /layers/network/ /
ENTRYPOINT ["/usr/bin/tini", "--", "/bin/sh", "/opt/portolan/run-node-cache.sh", "/node-cache"]

FROM all AS dnsmasq-nanny
STOPSIGNAL SIGCONT
ENTRYPOINT ["/usr/bin/tini", "--", "/dnsmasq-nanny"]

FROM all AS skydns
ENTRYPOINT ["/usr/bin/tini", "--", "/skydns"]

# It opens port 53 without root: manifests of CoreDNS add NET_BIND_SERVICE and set no sysctl. The file capability passes it on to the
# program. That holds where privilege escalation is forbidden too, since the container has the capability before it executes the file.
# As with the image of CoreDNS, a container without NET_BIND_SERVICE cannot execute these files. So no other image has them.
FROM without-node AS coredns
COPY --from=build /layers/capable/ /
USER 65532:65532
ENTRYPOINT ["/usr/bin/tini", "--", "/coredns"]

# A number, so that runAsNonRoot can be checked. No capability is on the file of Node.js, so that it runs where all are dropped. Our
# manifests open port 53 by net.ipv4.ip_unprivileged_port_start=0, which Docker and containerd 2 set by themselves.
FROM all AS unprivileged
USER 65532:65532

FROM unprivileged AS kube-dns
ENTRYPOINT ["/usr/bin/tini", "--", "/kube-dns"]

FROM unprivileged AS sidecar
ENTRYPOINT ["/usr/bin/tini", "--", "/sidecar"]

FROM unprivileged AS cluster-proportional-autoscaler
ENTRYPOINT ["/usr/bin/tini", "--", "/cluster-proportional-autoscaler"]

FROM unprivileged AS kube2sky
ENTRYPOINT ["/usr/bin/tini", "--", "/kube2sky"]

# Its checks are commands of a shell, usually nslookup.
FROM unprivileged AS exechealthz
COPY --from=build /layers/shell/ /
ENTRYPOINT ["/usr/bin/tini", "--", "/exechealthz"]

# The last one is what is built where no target is named.
FROM unprivileged AS portolan
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/portolan"]
CMD ["serve"]
