/**
 * Renders the Corefile of a node cache from a template, addresses and the ConfigMap of kube-dns, as `node-cache` of
 * kubernetes-sigs/node-local-dns does.
 *
 * https://github.com/kubernetes-sigs/node-local-dns/tree/master/cmd/node-cache
 */

export interface CorefileInputs {
  /** The addresses of `-localip`; at least one. */
  readonly localAddresses: readonly string[];
  /** The Service address of the cluster's DNS; undefined if unknown. */
  readonly clusterDns: string | undefined;
  /** The port of stub domains, as given. */
  readonly port: string;
  /** Where `prometheus` listens, as given. */
  readonly prometheusAddress: string;
  /** Servers as written in the ConfigMap; empty: those of resolv.conf. */
  readonly upstreams: readonly string[];
  /** Servers by domain, as written in the ConfigMap. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>;
}

export interface RenderedCorefile {
  readonly text: string;
  /** The text that replaced the variable of the upstream servers. */
  readonly upstreams: string;
  /** Whether a block for the ConfigMap's upstream servers may still force TCP because its text differs from the known template. */
  readonly mayForceTcp: boolean;
}

const UPSTREAM_SERVERS = '__PILLAR__UPSTREAM__SERVERS__';
const CLUSTER_DNS = '__PILLAR__CLUSTER__DNS__';
const LOCAL_DNS = '__PILLAR__LOCAL__DNS__';
/** The installer replaces it with an address or with nothing. */
const DNS_SERVER = '__PILLAR__DNS__SERVER__';
const PROMETHEUS_ENDPOINT = '__PROMETHEUS__ENDPOINT__';

/** How the kubernetes/kubernetes template forces TCP. ConfigMap servers may be outside the cluster, so they are queried over UDP. */
const FORCED_TCP = `\n    forward . ${UPSTREAM_SERVERS} {\n            force_tcp\n    }\n`;

const RESOLV_CONF = '/etc/resolv.conf';
/** The original's text for a Service that it does not find; CoreDNS refuses it as a server. */
const UNKNOWN_ADDRESS = '<nil>';

/** An address with a port: `health __PILLAR__LOCAL__DNS__:8080`. */
const LOCAL_ENDPOINT = new RegExp(`(?<!\\[)${LOCAL_DNS}:(?=\\d)`, 'g');
const BRACKETED_ENDPOINT = new RegExp(`\\[${LOCAL_DNS}\\]:(?=\\d)`, 'g');

export function renderCorefile(template: string, inputs: CorefileInputs): RenderedCorefile {
  const { localAddresses, clusterDns = UNKNOWN_ADDRESS, upstreams: servers, prometheusAddress } = inputs;
  const hasOwn = servers.length > 0;
  const upstreams = hasOwn ? servers.join(' ') : RESOLV_CONF;
  const withUdp = hasOwn ? template.replaceAll(FORCED_TCP, `\n    forward . ${upstreams}\n`) : template;
  const [first = ''] = localAddresses;
  const text = withUdp
    .replaceAll(UPSTREAM_SERVERS, upstreams)
    .replaceAll(CLUSTER_DNS, clusterDns)
    // An endpoint needs one address, bracketed if IPv6; the original writes all addresses without brackets.
    .replace(BRACKETED_ENDPOINT, `[${first}]:`)
    .replace(LOCAL_ENDPOINT, first.includes(':') ? `[${first}]:` : `${first}:`)
    .replaceAll(LOCAL_DNS, localAddresses.join(' '))
    .replaceAll(DNS_SERVER, '')
    .replaceAll(PROMETHEUS_ENDPOINT, () => prometheusAddress);
  const blocks = [...inputs.stubDomains]
    .sort(byDomain)
    .map(([domain, own]) => stubBlock(domain, own, inputs));
  return {
    text: text + blocks.join(''),
    upstreams,
    mayForceTcp: hasOwn && withUdp.includes(UPSTREAM_SERVERS),
  };
}

/** A stable order, so that equal settings render equal files. */
function byDomain([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function stubBlock(
  domain: string,
  servers: readonly string[],
  { port, localAddresses }: CorefileInputs,
): string {
  const lines = ['errors', 'cache 30', `bind ${localAddresses.join(' ')}`, `forward . ${servers.join(' ')}`];
  return `\n${domain}:${port} {\n${lines.map((line) => `    ${line}\n`).join('')}}\n`;
}
