/**
 * Converts the ConfigMap of kube-dns to an equivalent Corefile.
 */
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { type ConfigText, decodeConfigText } from '@portolan/kubernetes/config-map/config-texts.ts';
import {
  CONFIG_KEYS,
  EMPTY_CONFIG,
  type KubeDnsConfig,
  readKubeDnsConfig,
  type StubDomain,
} from '@portolan/server/settings/config-map/config-map.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';

export interface Conversion {
  readonly corefile: string;
  /** Settings that are lost or change: `KEY: WHAT`. */
  readonly notices: readonly string[];
}

/** @param data The values of the ConfigMap by key. */
export function convertKubeDnsConfig(data: ReadonlyMap<string, string>): Conversion {
  const notices = [...data.keys()]
    .filter((key) => !CONFIG_KEYS.some((known) => known === key))
    .map((key) => `${key}: not a key of the kube-dns ConfigMap`);
  const texts = [...data].map(([key, text]): [string, ConfigText] => [
    key,
    decodeConfigText(Buffer.from(text)),
  ]);
  const checked = readKubeDnsConfig(new Map(texts));
  // kube-dns ignores an invalid ConfigMap.
  const config = checked.kind === 'good' ? checked.value : EMPTY_CONFIG;
  if (checked.kind === 'bad') notices.push(...checked.problems.map(describeRefusal));
  const served = config.stubDomains.filter(({ servers }) => servers.length > 0);
  notices.push(...listNotices(config));
  const blocks = served.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)).map(stubBlock);
  return { corefile: [rootBlock(config.upstreams), ...blocks].join('\n'), notices };
}

function listNotices({ stubDomains, federations }: KubeDnsConfig): readonly string[] {
  const names = stubDomains.flatMap(({ servers }) =>
    servers.flatMap(({ host }) => (host.kind === 'name' ? [host.name.slice(0, -1)] : [])),
  );
  const empty = stubDomains.filter(({ servers }) => servers.length === 0);
  return [
    ...names.map((name) => `stubDomains: "${name}" is a host name: forward takes it from CoreDNS 1.14.4 on`),
    ...empty.map(
      ({ domain }) =>
        `stubDomains: "${domain.slice(0, -1)}" has no servers, dropped: it had no effect in kube-dns too`,
    ),
    ...(federations.length > 0 ? ['federations: not available in CoreDNS since 1.7.0, dropped'] : []),
  ];
}

function describeRefusal({ where, fault, value }: Problem): string {
  return `${where}: ${describeFault(fault, value)}: the ConfigMap was without effect in kube-dns too`;
}

function describeFault(fault: string, value: string | undefined): string {
  if (fault === 'not JSON') return 'not valid JSON';
  if (fault === 'too many servers') return 'more than three entries';
  if (fault === 'not a domain') return `"${value ?? ''}" is no valid domain name`;
  return value === undefined ? fault : `"${value}" is ${fault}`;
}

function rootBlock(upstreams: readonly UpstreamAddress[]): string {
  const servers = upstreams.length === 0 ? '/etc/resolv.conf' : upstreams.map(showServer).join(' ');
  return `.:53 {
    errors
    health {
        lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus :9153
    forward . ${servers} {
        max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`;
}

function stubBlock({ domain, servers }: StubDomain): string {
  return `${domain.slice(0, -1)}:53 {
    errors
    cache 30
    loop
    forward . ${servers.map(showServer).join(' ')}
}
`;
}

const DNS_PORT = 53;

function showServer({ host, port }: UpstreamAddress): string {
  const shown = host.kind === 'name' ? host.name.slice(0, -1) : host.address;
  if (port === DNS_PORT) return shown;
  return formatSocketAddress({ address: shown, port });
}
