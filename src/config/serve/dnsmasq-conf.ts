/**
 * A file of dnsmasq's options, as `portolan serve --dnsmasq-conf` takes it: what it says of names, servers and the cache
 * holds; what it says of sockets and the process does not, and that is said.
 *
 * Where it says nothing, `serve`'s own defaults hold and not those of dnsmasq.
 */
import type { DnsmasqPlan } from '../dnsmasq/dnsmasq-plan.ts';
import { readDnsmasqOptions } from '../dnsmasq/read-configuration.ts';
import type { ConfigSources } from '../dnsmasq/sources.ts';
import type { Problem } from '../values/problem.ts';
import type { ValueReader } from '../values/value-reader.ts';

export interface DnsmasqConf {
  readonly plan: DnsmasqPlan;
  /** Cached answers at most, if the file says so. */
  readonly cacheEntries: number | undefined;
  /** Whole sentences, each with where it belongs. */
  readonly notes: readonly string[];
}

/** Given before the file, which says something else if it says anything: the largest number but one that there may be. */
const NO_CACHE_SIZE = 4_999_999;

export function readDnsmasqConf(
  read: ValueReader,
  path: string,
  sources: ConfigSources,
): DnsmasqConf | undefined {
  // Names of this machine are its own, not the cluster's.
  const words = ['--no-hosts', `--cache-size=${NO_CACHE_SIZE}`, `--conf-file=${path}`];
  const reading = readDnsmasqOptions(words, sources);
  if (reading.kind === 'bad') read.problems.push(...reading.problems.map(asOfFlag));
  if (reading.kind !== 'good') return undefined;
  const { plan } = reading;
  const notes = [...reading.notes, ...describeUnused(plan, sources)];
  return {
    plan,
    cacheEntries: plan.cache.size === NO_CACHE_SIZE ? undefined : plan.cache.size,
    notes: notes.map(({ where, text }) => `${where}: ${text}`),
  };
}

/** The user gave the file by our flag and not by dnsmasq's option. */
function asOfFlag(problem: Problem): Problem {
  return problem.where === '--conf-file' ? { ...problem, where: '--dnsmasq-conf' } : problem;
}

/** What has no effect: the options by what they change. */
const UNUSED: readonly (readonly [options: string, read: (plan: DnsmasqPlan) => unknown, instead: string])[] =
  [
    ['port', ({ listen }) => listen.port, '--dns-port'],
    [
      'listen-address, interface, except-interface',
      ({ listen: { addresses, interfaces, exceptInterfaces } }) => [addresses, interfaces, exceptInterfaces],
      '--dns-bind-address',
    ],
    ['bind-interfaces, bind-dynamic', ({ listen }) => listen.bind, '--dns-bind-address'],
    ['local-service', ({ listen }) => listen.localService, 'a NetworkPolicy'],
    ['max-tcp-connections', ({ listen }) => listen.maxTcpConnections, 'nothing: there is a bound'],
    ['keep-in-foreground, user, group, pid-file', (plan) => plan.process, 'the pod that it runs in'],
    ['log-facility, log-queries, log-debug', ({ log }) => log, '--log-level'],
    ['no-poll', ({ upstreams }) => upstreams.followsResolvFiles, 'nothing: the file is followed'],
    ['servers-file', ({ upstreams }) => upstreams.serversFile, 'lines of the file itself'],
    ['no-ident', ({ local }) => local.identifies, 'nothing: class CHAOS is refused'],
  ];

function describeUnused(plan: DnsmasqPlan, sources: ConfigSources): { where: string; text: string }[] {
  const bare = readDnsmasqOptions(['--conf-file='], sources);
  if (bare.kind !== 'good') return [];
  const isSame = (field: (plan: DnsmasqPlan) => unknown) =>
    JSON.stringify(field(plan)) === JSON.stringify(field(bare.plan));
  return UNUSED.filter(([, field]) => !isSame(field)).map(([options, , instead]) => ({
    where: '--dnsmasq-conf',
    text: `In portolan serve these have no effect: ${options}. Use ${instead} instead.`,
  }));
}
