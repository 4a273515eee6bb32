/**
 * Reads the flags of `portolan serve` for names outside the cluster to a plan.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { defaultRule, type ForwardRule, type RuleMatch } from '@portolan/kernel/forward/forward-plan.ts';
import {
  parseUpstream,
  type UpstreamAddress,
  UpstreamAddressError,
} from '@portolan/kernel/forward/upstream-address.ts';
import { computeCacheOctets } from '@portolan/kernel/plan/cache-octets.ts';
import { isOfKubernetes } from '@portolan/kubernetes/names/labels.ts';
import { readNameserver } from '@portolan/server/settings/values/nameservers.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import type { DnsmasqPlan } from '../../dnsmasq/settings/dnsmasq-plan.ts';
import type { ConfigSources } from '../../dnsmasq/settings/sources.ts';
import { readDnsmasqConf } from './dnsmasq-conf.ts';
import type { ServeFlagReader } from './serve-flags.ts';
import type { ResolverPlan, UpstreamsChoice } from './serve-options.ts';

const DEFAULT_RESOLV_FILE = '/etc/resolv.conf';

/** @param domain the cluster domain */
export function readResolver(read: ServeFlagReader, domain: NameKey, sources: ConfigSources): ResolverPlan {
  const path = read.value('dnsmasq-conf');
  const conf = path === undefined ? undefined : readDnsmasqConf(read, path, sources);
  const fallback = POLICY_OF[conf?.plan.upstreams.choice ?? 'preferred'];
  return {
    upstreams: readUpstreams(read, conf?.plan),
    policy: read.value('upstream-policy') ?? fallback,
    trustsAd: read.isOn('trust-ad'),
    mixesCase: read.isOn('upstream-mixed-case'),
    stubDomains: read.texts('stub-domain').flatMap((text) => readStubDomain(read, text, domain) ?? []),
    hosts: read
      .texts('hosts')
      .flatMap((path) => read.nonEmpty('--hosts', path, 'the path of a file or folder') ?? []),
    cacheOctets: readCacheOctets(read, conf?.cacheEntries ?? 0),
    dnsmasq: conf?.plan,
    cacheEntries: conf?.cacheEntries,
    notes: conf?.notes ?? [],
  };
}

/** A file that asks for more answers than fit gets the memory for them, unless the flag says how much. */
function readCacheOctets(read: ServeFlagReader, entries: number): number {
  const octets = read.value('cache-bytes');
  return read.isGiven('cache-bytes') ? octets : Math.max(octets, computeCacheOctets(entries));
}

/** Sequential, unless dnsmasq options say otherwise: users order server lists on purpose. */
const POLICY_OF = { preferred: 'sequential', 'in-order': 'sequential', all: 'all' } as const;

function readUpstreams(read: ServeFlagReader, dnsmasq: DnsmasqPlan | undefined): UpstreamsChoice {
  const nameservers = read.text('nameservers');
  if (nameservers !== undefined) return { kind: 'servers', servers: readNameservers(read, nameservers) };
  const path = read.value('resolv-file');
  if (!read.isGiven('upstream')) {
    if (path !== undefined) return { kind: 'resolv-file', path };
    if (dnsmasq === undefined) return { kind: 'resolv-file', path: DEFAULT_RESOLV_FILE };
    const [first] = dnsmasq.upstreams.resolvFiles;
    return first === undefined ? { kind: 'none' } : { kind: 'resolv-file', path: first };
  }
  if (path !== undefined)
    read.addProblem('--resolv-file', 'has no effect beside --upstream', path, 'Leave one of the two out.');
  const texts = splitLists(read.texts('upstream'));
  if (texts.includes('none')) {
    if (texts.length > 1)
      read.addProblem('--upstream', 'given together with others', 'none', 'Leave it out, or the others.');
    return { kind: 'none' };
  }
  return { kind: 'servers', servers: texts.flatMap((text) => readServer(read, '--upstream', text) ?? []) };
}

function readNameservers(read: ServeFlagReader, text: string): readonly UpstreamAddress[] {
  for (const name of ['upstream', 'resolv-file'] as const)
    if (read.isGiven(name)) {
      const value = read.texts(name).join();
      read.addProblem(`--${name}`, 'has no effect with --nameservers', value, 'Leave one of the two out.');
    }
  return text.split(',').flatMap((server) => {
    const address = readNameserver(server);
    const remedy = 'Give addresses, as in 8.8.8.8:53,8.8.4.4.';
    if (address === undefined) read.addProblem('--nameservers', 'not a server', server, remedy);
    return address ?? [];
  });
}

/** Joins repeated flags and comma-separated values. */
function splitLists(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(',')).map((text) => text.trim());
}

function readServer(read: ValueReader, flag: string, text: string): UpstreamAddress | undefined {
  try {
    return parseUpstream(text);
  } catch (error) {
    if (!(error instanceof UpstreamAddressError)) throw error;
    const remedy = 'Give one such as 10.0.0.10, 10.0.0.10:5353 or tls://1.1.1.1#one.one.one.one.';
    read.addProblem(flag, 'not an upstream server', text, remedy);
    return undefined;
  }
}

function readStubDomain(read: ValueReader, text: string, cluster: NameKey): ForwardRule | undefined {
  const flag = '--stub-domain';
  const [domains = '', servers, ...more] = text.split('=');
  if (servers === undefined || more.length > 0) {
    read.addProblem(flag, 'not a domain and its servers', text, 'Give one such as corp.example=10.0.0.10.');
    return undefined;
  }
  const names = splitLists([domains]).flatMap((name) => readStubName(read, name, cluster) ?? []);
  if (servers === '') return { names, target: { kind: 'local-only' } };
  const addresses = splitLists([servers]).flatMap((server) => readServer(read, flag, server) ?? []);
  return { ...defaultRule(addresses), names };
}

function readStubName(read: ValueReader, text: string, cluster: NameKey): RuleMatch | undefined {
  const flag = '--stub-domain';
  const before = read.problems.length;
  const name = read.zone(flag, text, 'corp.example.');
  if (read.problems.length > before) return undefined;
  if (name === cluster || isOfKubernetes(name, cluster)) {
    read.addProblem(flag, "the cluster's own", text, 'Give a domain whose names are not made by Kubernetes.');
    return undefined;
  }
  return { kind: 'domain', name };
}
