/**
 * The Corefile of a node's cache: a template with variables, filled in with addresses and with what the ConfigMap of kube-dns
 * says, as `node-cache` of kubernetes-sigs/node-local-dns does.
 *
 * https://github.com/kubernetes-sigs/node-local-dns/tree/master/cmd/node-cache
 */

export interface CorefileInputs {
  /** The texts of `-localip`, at least one. */
  readonly localAddresses: readonly string[];
  /** The address of the Service in front of the cluster's DNS; undefined: it is not known. */
  readonly clusterDns: string | undefined;
  /** The port of stub domains, as given. */
  readonly port: string;
  /** Where `prometheus` listens, as given. */
  readonly prometheusAddress: string;
  /** Servers as the ConfigMap writes them; none: those of resolv.conf. */
  readonly upstreams: readonly string[];
  /** Servers by domain, as the ConfigMap writes them. */
  readonly stubDomains: ReadonlyMap<string, readonly string[]>;
}

export interface RenderedCorefile {
  readonly text: string;
  /** What stands for the upstream servers in it. */
  readonly upstreams: string;
  /** Whether a block that forwards to the ConfigMap's upstream servers may still force TCP, since it is not written as expected. */
  readonly mayForceTcp: boolean;
}

const UPSTREAM_SERVERS = '__PILLAR__UPSTREAM__SERVERS__';
const CLUSTER_DNS = '__PILLAR__CLUSTER__DNS__';
const LOCAL_DNS = '__PILLAR__LOCAL__DNS__';
/** Filled in by the installer, or empty. */
const DNS_SERVER = '__PILLAR__DNS__SERVER__';
const PROMETHEUS_ENDPOINT = '__PROMETHEUS__ENDPOINT__';

/** How the template of kubernetes/kubernetes forces TCP. Servers of a ConfigMap are asked by UDP, since they need not be the cluster's. */
const FORCED_TCP = `\n    forward . ${UPSTREAM_SERVERS} {\n            force_tcp\n    }\n`;

const RESOLV_CONF = '/etc/resolv.conf';
/** What the original writes for a Service that it does not find; CoreDNS refuses it as a server. */
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
    // An endpoint is one address, in brackets if it has colons; the original writes all addresses there, without brackets.
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

/** Always in the same order, so that the same settings give the same file. */
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
