/**
 * The flags of `portolan serve` about names outside the cluster, from their texts to a plan.
 */
import { defaultRule, type ForwardRule, type NameMatch } from '../../forward/plan.ts';
import { parseUpstream, type UpstreamAddress, UpstreamAddressError } from '../../forward/upstream-address.ts';
import { isWithin } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { DnsmasqPlan } from '../dnsmasq/plan.ts';
import type { ConfigSources } from '../dnsmasq/sources.ts';
import { readNameserver } from '../kube-dns/nameservers.ts';
import type { ValueReader } from '../values.ts';
import { readDnsmasqConf } from './dnsmasq-conf.ts';
import { POLICIES, type ResolverPlan, type UpstreamsChoice } from './plan.ts';

/** What was given on the command line, unchecked. */
export interface ResolverFlags {
  /** Each one or several servers with commas between them, or `none`. */
  readonly upstream?: readonly string[];
  /** Addresses and their ports with commas between them, as kube-dns takes them. */
  readonly nameservers?: string;
  readonly upstreamPolicy?: string;
  readonly resolvFile?: string;
  /** Each `domain[,domain...]=[server[,server...]]`. */
  readonly stubDomain?: readonly string[];
  /** Each a hosts file or a folder of them. */
  readonly hosts?: readonly string[];
  readonly cacheBytes?: string;
  readonly dnsmasqConf?: string;
}

const DEFAULT_RESOLV_FILE = '/etc/resolv.conf';
const DEFAULT_CACHE_OCTETS = 16 * 2 ** 20;
const CACHE_OCTETS = { least: 0, most: 512 * 2 ** 20, of: 'a number of octets' };

/** @param domain the cluster's own */
export function readResolver(
  read: ValueReader,
  flags: ResolverFlags,
  domain: NameKey,
  sources: ConfigSources,
): ResolverPlan {
  const path = read.text('--dnsmasq-conf', flags.dnsmasqConf, 'the path of a file of dnsmasq options');
  const conf = path === undefined ? undefined : readDnsmasqConf(read, path, sources);
  const fallback = POLICY_OF[conf?.plan.upstreams.choice ?? 'preferred'];
  return {
    upstreams: readUpstreams(read, flags, conf?.plan),
    policy: read.choice('--upstream-policy', flags.upstreamPolicy, POLICIES, fallback),
    stubDomains: (flags.stubDomain ?? []).flatMap((text) => readStubDomain(read, text, domain) ?? []),
    hosts: (flags.hosts ?? []).flatMap(
      (path) => read.text('--hosts', path, 'the path of a file or folder') ?? [],
    ),
    cacheOctets: read.integer('--cache-bytes', flags.cacheBytes, CACHE_OCTETS, DEFAULT_CACHE_OCTETS),
    dnsmasq: conf?.plan,
    cacheEntries: conf?.cacheEntries,
    notes: conf?.notes ?? [],
  };
}

/** In order, unless a file of dnsmasq's options says otherwise: lists of servers are written in an order for a reason. */
const POLICY_OF = { preferred: 'sequential', 'in-order': 'sequential', all: 'all' } as const;

function readUpstreams(
  read: ValueReader,
  flags: ResolverFlags,
  dnsmasq: DnsmasqPlan | undefined,
): UpstreamsChoice {
  const { upstream, resolvFile, nameservers } = flags;
  if (nameservers !== undefined)
    return { kind: 'servers', servers: readNameservers(read, flags, nameservers) };
  const path = read.text('--resolv-file', resolvFile, 'the path of a file like /etc/resolv.conf');
  if (upstream === undefined) {
    if (path !== undefined) return { kind: 'resolv-file', path };
    if (dnsmasq === undefined) return { kind: 'resolv-file', path: DEFAULT_RESOLV_FILE };
    const [first] = dnsmasq.upstreams.resolvFiles;
    return first === undefined ? { kind: 'none' } : { kind: 'resolv-file', path: first };
  }
  if (path !== undefined)
    read.complain('--resolv-file', 'has no effect beside --upstream', path, 'Leave one of the two out.');
  const texts = listOf(upstream);
  if (texts.includes('none')) {
    if (texts.length > 1)
      read.complain('--upstream', 'given together with others', 'none', 'Leave it out, or the others.');
    return { kind: 'none' };
  }
  return { kind: 'servers', servers: texts.flatMap((text) => readServer(read, '--upstream', text) ?? []) };
}

function readNameservers(
  read: ValueReader,
  { upstream, resolvFile }: ResolverFlags,
  text: string,
): readonly UpstreamAddress[] {
  const rivals = { '--upstream': upstream?.join(), '--resolv-file': resolvFile };
  for (const [flag, value] of Object.entries(rivals))
    if (value !== undefined)
      read.complain(flag, 'has no effect beside --nameservers', value, 'Leave one of the two out.');
  return text.split(',').flatMap((server) => {
    const address = readNameserver(server);
    const remedy = 'Give addresses, as in 8.8.8.8:53,8.8.4.4.';
    if (address === undefined) read.complain('--nameservers', 'not a server', server, remedy);
    return address ?? [];
  });
}

/** Several flags, and several values in one with commas between them, are the same. */
function listOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(',')).map((text) => text.trim());
}

function readServer(read: ValueReader, flag: string, text: string): UpstreamAddress | undefined {
  try {
    return parseUpstream(text);
  } catch (error) {
    if (!(error instanceof UpstreamAddressError)) throw error;
    const remedy = 'Give one such as 10.0.0.10, 10.0.0.10:5353 or tls://1.1.1.1#one.one.one.one.';
    read.complain(flag, 'not an upstream server', text, remedy);
    return undefined;
  }
}

function readStubDomain(read: ValueReader, text: string, cluster: NameKey): ForwardRule | undefined {
  const flag = '--stub-domain';
  const [domains = '', servers, ...more] = text.split('=');
  if (servers === undefined || more.length > 0) {
    read.complain(flag, 'not a domain and its servers', text, 'Give one such as corp.example=10.0.0.10.');
    return undefined;
  }
  const names = listOf([domains]).flatMap((name) => readStubName(read, name, cluster) ?? []);
  if (servers === '') return { names, target: { kind: 'local-only' } };
  const addresses = listOf([servers]).flatMap((server) => readServer(read, flag, server) ?? []);
  return { ...defaultRule(addresses), names };
}

function readStubName(read: ValueReader, text: string, cluster: NameKey): NameMatch | undefined {
  const flag = '--stub-domain';
  const before = read.problems.length;
  const name = read.zone(flag, text, 'corp.example.');
  if (read.problems.length > before) return undefined;
  if (name === cluster || isOfKubernetes(name, cluster)) {
    read.complain(flag, "the cluster's own", text, 'Give a domain whose names are not made by Kubernetes.');
    return undefined;
  }
  return { kind: 'domain', name };
}

/** Whether a name lies where names of services and pods stand. */
export function isOfKubernetes(name: NameKey, cluster: NameKey): boolean {
  // Labels before an apex.
  return ['svc', 'pod'].some((label) => isWithin(name, `${label}.${cluster}` as NameKey));
}
