/**
 * A file of dnsmasq options for `portolan serve --dnsmasq-conf`. Options for names, servers and the cache apply. Options for sockets
 * and the process do not, and a note reports them.
 *
 * The defaults are those of `serve`, not of dnsmasq.
 */
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import type { DnsmasqPlan } from '../../dnsmasq/settings/dnsmasq-plan.ts';
import { readDnsmasqOptions } from '../../dnsmasq/settings/read-configuration.ts';
import type { ConfigSources } from '../../dnsmasq/settings/sources.ts';

export interface DnsmasqConf {
  readonly plan: DnsmasqPlan;
  /** The maximum number of cached answers, if the file sets it. */
  readonly cacheEntries: number | undefined;
  /** Whole sentences, each with its position. */
  readonly notes: readonly string[];
}

/** Detects whether the file sets a cache size, which would override this improbable value (one below the maximum). */
const NO_CACHE_SIZE = 4_999_999;

export function readDnsmasqConf(
  read: ValueReader,
  path: string,
  sources: ConfigSources,
): DnsmasqConf | undefined {
  // Skip `/etc/hosts`: its names belong to this machine, not to the cluster.
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

/** Names the flag that the user gave instead of dnsmasq's option. */
function asOfFlag(problem: Problem): Problem {
  return problem.where === '--conf-file' ? { ...problem, where: '--dnsmasq-conf' } : problem;
}

/** Options without effect, by the settings that they change. */
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
