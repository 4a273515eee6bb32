/**
 * The settings of SkyDNS, from its flags and environment, and from the JSON of the key `config` in etcd, which wins.
 */

import { splitAddress } from '@portolan/corefile/directive/go-values.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { parseKey, tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { parseEndpoint } from '@portolan/etcd/source/client/endpoints.ts';
import type { EtcdSettings } from '@portolan/etcd/source/client/settings.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import type { LossRule } from '@portolan/kernel/base/losses.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { parseUpstream, type UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { SnapshotSettings } from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type { SkyDnsMetricsPlan } from '@portolan/server/plan/server-plan.ts';
import { readHistory } from '@portolan/server/settings/history/read-history.ts';
import { readLosses } from '@portolan/server/settings/losses/read-losses.ts';
import {
  type OwnDashboardPlan,
  readOwnDashboard,
} from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import { readQueryLog } from '@portolan/server/settings/query-log/read-settings.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import type { SkyDnsFlagReader } from './skydns-flags.ts';

export interface SkyDnsSettings {
  readonly etcd: EtcdSettings;
  readonly version: 2 | 3;
  readonly prefix: string;
  readonly domain: NameKey;
  readonly listen: { readonly address: string; readonly port: number };
  readonly local: NameKey | undefined;
  readonly hostmaster: NameKey;
  /** Undefined: the nameservers of resolv.conf. */
  readonly nameservers: readonly UpstreamAddress[] | undefined;
  readonly noRecursion: boolean;
  readonly ndots: number;
  /** Milliseconds. */
  readonly readTimeout: number;
  readonly roundRobin: boolean;
  readonly rotatesServers: boolean;
  readonly followsStubZones: boolean;
  /** 0: limited by memory only. */
  readonly cacheEntries: number;
  /** Seconds. */
  readonly cacheTtl: number;
  readonly ttl: number;
  readonly minTtl: number;
  readonly priority: number;
  readonly metrics: SkyDnsMetricsPlan | undefined;
  readonly healthzPort: number;
  readonly snapshot: SnapshotSettings | undefined;
  readonly isVerbose: boolean;
  /** A file of further plugins in Corefile syntax; undefined: none. */
  readonly blocksExtra: string | undefined;
  /** Whether queries are always counted for `top`. */
  readonly keepsStatistics: boolean;
  /** Undefined: queries are not logged. */
  readonly queryLog: QueryLogPlan | undefined;
  /** When keys that etcd has lost are kept. Undefined: never. */
  readonly losses: LossRule | undefined;
  /** What is remembered of failures and changes; undefined: nothing. */
  readonly history: HistoryPlan | undefined;
  /** Undefined: the server shows no dashboard. */
  readonly dashboard: OwnDashboardPlan | undefined;
}

export type SettingsReading =
  | { readonly kind: 'good'; readonly settings: SkyDnsSettings }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] };

const DEFAULT_TTL = 3600;
const DEFAULT_MIN_TTL = 60;
const DEFAULT_PRIORITY = 10;
const NANOSECONDS = 1e6;

/** @returns the settings, or all problems of the flags */
export function readSettings(read: SkyDnsFlagReader, environment: Environment): SettingsReading {
  refuseFlags(read);
  const settings: SkyDnsSettings = {
    etcd: readEtcd(read),
    version: read.isOn('etcd3') ? 3 : 2,
    prefix: read.value('path-prefix'),
    ttl: DEFAULT_TTL,
    minTtl: DEFAULT_MIN_TTL,
    priority: DEFAULT_PRIORITY,
    domain: readName(read, '-domain', read.value('domain')),
    listen: readListen(read, '-addr', read.value('addr')),
    local:
      read.value('local') === undefined ? undefined : readName(read, '-local', read.value('local') ?? ''),
    hostmaster: readName(read, '-hostmaster', read.value('hostmaster').replaceAll('@', '.')),
    nameservers: readServers(read, '-nameservers', read.value('nameservers')?.split(',')),
    noRecursion: read.isOn('no-rec'),
    ndots: read.value('ndots') || 2,
    readTimeout: read.value('rtimeout') || 2000,
    roundRobin: read.value('round-robin') === 'true',
    rotatesServers: read.value('ns-rotate') === 'true',
    followsStubZones: read.isOn('stubzones'),
    cacheEntries: read.value('rcache'),
    cacheTtl: read.value('rcache-ttl') || 60,
    metrics: readMetrics(read, environment),
    healthzPort: read.value('healthz-port'),
    snapshot: readSnapshot(read),
    isVerbose: read.isOn('verbose'),
    blocksExtra: read.value('blocks-extra'),
    keepsStatistics: read.isOn('stats'),
    history: readHistory(read),
    dashboard: readOwnDashboard(read),
    queryLog: readQueryLog(read, 'json'),
    losses: readLosses(read),
  };
  const { problems } = read;
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'good', settings };
}

function readSnapshot(read: SkyDnsFlagReader): SnapshotSettings | undefined {
  const file = read.value('snapshot');
  const maxAge = read.value('snapshot-max-age');
  read.requireWith('snapshot-max-age', 'snapshot', 'name a file with');
  return file === undefined ? undefined : { file, maxAge, maxAgeName: '-snapshot-max-age' };
}

function refuseFlags(read: SkyDnsFlagReader): void {
  if (read.isGiven('dnssec'))
    read.addProblem(
      '-dnssec',
      'Portolan does not sign answers',
      read.text('dnssec'),
      'Take it out. A zone that must be signed needs a server that signs, such as Knot DNS or BIND.',
    );
  if (read.isOn('systemd'))
    read.addProblem(
      '-systemd',
      'sockets of systemd are not taken over',
      undefined,
      'Take it out, and name an address with -addr.',
    );
}

function readEtcd(read: SkyDnsFlagReader): EtcdSettings {
  const endpoints = read
    .value('machines')
    .split(',')
    .flatMap((text) => {
      const endpoint = parseEndpoint(text.trim());
      if (endpoint === undefined)
        read.addProblem(
          '-machines',
          'not the URL of a member of etcd',
          text,
          'Give one such as http://192.0.2.1:2379.',
        );
      return endpoint ?? [];
    });
  const key = read.value('tls-key');
  const certificate = read.value('tls-pem');
  const authority = read.value('ca-cert');
  const username = read.value('username');
  const password = read.value('password');
  return {
    endpoints,
    tls: {
      ...(key !== undefined && { key }),
      ...(certificate !== undefined && { certificate }),
      ...(authority !== undefined && { authority }),
    },
    ...(username !== undefined && password !== undefined && { credentials: { username, password } }),
  };
}

/** Collects problems of values. */
type Complaints = Pick<SkyDnsFlagReader, 'addProblem'>;

/** Replace wrong values; settings with problems are never used. */
const NO_NAME = parseKey('invalid.');
const NO_PLACE = { address: '192.0.2.1', port: 53 };

function readName(read: Complaints, where: string, text: string): NameKey {
  const name = tryParseKey(text);
  if (name === undefined) read.addProblem(where, 'not a domain name', text, 'Give one such as skydns.local.');
  return name ?? NO_NAME;
}

function readListen(read: Complaints, where: string, text: string): SkyDnsSettings['listen'] {
  const split = splitAddress(text);
  const { host, port } = split.kind === 'good' ? split.value : { host: '', port: '' };
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (parseAddress(host) !== undefined && number >= 1 && number <= 65_535)
    return { address: host, port: number };
  read.addProblem(where, 'not an IP address with a port', text, 'Give both, as in 127.0.0.1:53.');
  return NO_PLACE;
}

function readServers(
  read: Complaints,
  where: string,
  texts: readonly string[] | undefined,
): readonly UpstreamAddress[] | undefined {
  return texts?.map((text) => parseUpstream(formatSocketAddress(readListen(read, where, text))));
}

function readMetrics(read: Complaints, environment: Environment): SkyDnsMetricsPlan | undefined {
  const { PROMETHEUS_PORT = '', PROMETHEUS_PATH, PROMETHEUS_NAMESPACE, PROMETHEUS_SUBSYSTEM } = environment;
  if (PROMETHEUS_PORT === '') return undefined;
  const port = /^\d{1,5}$/.test(PROMETHEUS_PORT) ? Number(PROMETHEUS_PORT) : 0;
  if (port < 1 || port > 65_535)
    read.addProblem('PROMETHEUS_PORT', 'not a port', PROMETHEUS_PORT, 'Give a number from 1 to 65535.');
  return {
    address: undefined,
    port,
    path: PROMETHEUS_PATH || '/metrics',
    namespace: PROMETHEUS_NAMESPACE || 'skydns',
    subsystem: PROMETHEUS_SUBSYSTEM || 'skydns',
  };
}

/** @returns undefined for a value of a wrong type */
type ReadSetting = (value: unknown, read: Complaints) => Partial<SkyDnsSettings> | undefined;

/** The fields of the key `config`, by lower-case name. */
const CONFIG_FIELDS: ReadonlyMap<string, ReadSetting> = new Map<string, ReadSetting>([
  ['dns_addr', (value, read) => readText(value, (text) => ({ listen: readListen(read, 'dns_addr', text) }))],
  ['domain', (value, read) => readText(value, (text) => ({ domain: readName(read, 'domain', text) }))],
  ['local', (value, read) => readText(value, (text) => ({ local: readName(read, 'local', text) }))],
  [
    'hostmaster',
    (value, read) =>
      readText(value, (text) => ({ hostmaster: readName(read, 'hostmaster', text.replaceAll('@', '.')) })),
  ],
  [
    'dnssec',
    (value, read) => {
      if (value !== '')
        read.addProblem('dnssec', 'Portolan does not sign answers', String(value), 'Take it out.');
      return {};
    },
  ],
  [
    'systemd',
    (value, read) => {
      if (value === true)
        read.addProblem('systemd', 'sockets of systemd are not taken over', undefined, 'Take it out.');
      return typeof value === 'boolean' ? {} : undefined;
    },
  ],
  ['round_robin', (value) => parseFlag(value, (roundRobin) => ({ roundRobin }))],
  ['ns_rotate', (value) => parseFlag(value, (rotatesServers) => ({ rotatesServers }))],
  ['no_rec', (value) => parseFlag(value, (noRecursion) => ({ noRecursion }))],
  [
    'nameservers',
    (value, read) => {
      if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return undefined;
      const nameservers = readServers(read, 'nameservers', value);
      return value.length === 0 || nameservers === undefined ? {} : { nameservers };
    },
  ],
  // Go encodes a duration in nanoseconds.
  [
    'read_timeout',
    (value) => readNumber(value, (nanoseconds) => ({ readTimeout: nanoseconds / NANOSECONDS })),
  ],
  ['priority', (value) => readNumber(value, (priority) => ({ priority }))],
  ['ttl', (value) => readNumber(value, (ttl) => ({ ttl }))],
  ['min_ttl', (value) => readNumber(value, (minTtl) => ({ minTtl }))],
  ['rcache', (value) => readNumber(value, (cacheEntries) => ({ cacheEntries }))],
  ['rcache_ttl', (value) => readNumber(value, (cacheTtl) => ({ cacheTtl }))],
  ['scache', (value) => readNumber(value, () => ({}))],
  ['ndot', (value) => readNumber(value, (ndots) => ({ ndots }))],
  ['ndots', (value) => readNumber(value, (ndots) => ({ ndots }))],
]);

/** Applies the key `config` to the settings. @param complaints collects problems */
export function applyConfig(settings: SkyDnsSettings, json: string, complaints: Complaints): SkyDnsSettings {
  let config: unknown;
  try {
    config = JSON.parse(json);
  } catch {
    config = undefined;
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    complaints.addProblem('config', 'not a JSON object', json.slice(0, 100), 'Correct the key in etcd.');
    return settings;
  }
  let changed = settings;
  for (const [name, value] of Object.entries(config)) {
    const read = CONFIG_FIELDS.get(name.toLowerCase());
    if (read === undefined || value === null) continue;
    const change = read(value, complaints);
    if (change === undefined)
      complaints.addProblem(
        `config ${name}`,
        'not a value of its type',
        JSON.stringify(value),
        'Correct the key in etcd.',
      );
    changed = { ...changed, ...change };
  }
  return changed;
}

type SettingsChange = Partial<SkyDnsSettings>;

/** An empty text or 0 keeps the current value. @returns undefined for a value of a wrong type */
function readText(value: unknown, change: (text: string) => SettingsChange): SettingsChange | undefined {
  if (typeof value !== 'string') return undefined;
  return value === '' ? {} : change(value);
}

function parseFlag(value: unknown, change: (flag: boolean) => SettingsChange): SettingsChange | undefined {
  return typeof value === 'boolean' ? change(value) : undefined;
}

function readNumber(value: unknown, change: (number: number) => SettingsChange): SettingsChange | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined;
  return value === 0 ? {} : change(value);
}
