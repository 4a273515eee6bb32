/**
 * The command line and the environment of SkyDNS.
 */
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import { parseGoBoolean } from '@portolan/server/settings/flags/go-flags.ts';
import { readProgramFlags } from '@portolan/server/settings/flags/program-flags.ts';
import { HISTORY_FLAGS } from '@portolan/server/settings/history/history-flags.ts';
import { LOSS_FLAGS } from '@portolan/server/settings/losses/read-losses.ts';
import { OWN_DASHBOARD_FLAGS } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import { QUERY_LOG_FLAGS, STATS_FLAG } from '@portolan/server/settings/query-log/query-log-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';

const COUNT = { kind: 'integer', min: 0, max: 2 ** 31 - 1, of: 'a number' } as const;
const TEXT = { kind: 'text', of: 'a text' } as const;
const FILE = { kind: 'file' } as const;

/** Without the klog flags. Parentheses hold the names of environment variables. */
export const SKYDNS_FLAGS = [
  {
    name: 'domain',
    valueName: 'domain',
    value: TEXT,
    default: 'skydns.local.',
    help: 'domain of the records (SKYDNS_DOMAIN)',
  },
  {
    name: 'addr',
    valueName: 'ip:port',
    value: TEXT,
    default: '127.0.0.1:53',
    help: 'address to listen on (SKYDNS_ADDR)',
  },
  {
    name: 'nameservers',
    valueName: 'ip:port,…',
    value: TEXT,
    defaultNote: 'those of /etc/resolv.conf',
    help: 'servers for names outside the domain (SKYDNS_NAMESERVERS)',
  },
  {
    name: 'blocks-extra',
    valueName: 'file',
    value: FILE,
    help: 'further plugins, in the syntax of a Corefile',
  },
  ...HISTORY_FLAGS,
  ...OWN_DASHBOARD_FLAGS,
  ...QUERY_LOG_FLAGS,
  STATS_FLAG,
  { name: 'no-rec', value: 'none', help: 'forward nothing: names outside the domain get SERVFAIL' },
  {
    name: 'machines',
    valueName: 'url,…',
    value: TEXT,
    default: 'http://127.0.0.1:2379',
    help: 'members of etcd (ETCD_MACHINES)',
  },
  {
    name: 'etcd3',
    value: 'none',
    help: 'use version 3 of the API of etcd; version 2, the default, is deprecated',
  },
  {
    name: 'tls-key',
    valueName: 'file',
    value: FILE,
    help: 'key of the client certificate for etcd (ETCD_TLSKEY)',
  },
  { name: 'tls-pem', valueName: 'file', value: FILE, help: 'client certificate for etcd (ETCD_TLSPEM)' },
  {
    name: 'ca-cert',
    valueName: 'file',
    value: FILE,
    help: 'authorities of the certificates of etcd (ETCD_CACERT)',
  },
  { name: 'username', valueName: 'name', value: TEXT, help: 'user of etcd (ETCD_USERNAME)' },
  { name: 'password', valueName: 'text', value: TEXT, help: 'password of the user (ETCD_PASSWORD)' },
  {
    name: 'path-prefix',
    valueName: 'path',
    value: TEXT,
    default: 'skydns',
    help: 'first part of all keys (SKYDNS_PATH_PREFIX)',
  },
  { name: 'local', valueName: 'name', value: TEXT, help: 'name whose records local.dns.<domain> has' },
  {
    name: 'hostmaster',
    valueName: 'address',
    value: TEXT,
    default: 'hostmaster@skydns.local.',
    help: 'mail address in the SOA record',
  },
  {
    name: 'ndots',
    valueName: 'number',
    value: COUNT,
    default: '2',
    help: 'labels that a name must have to be forwarded (SKYDNS_NDOTS)',
  },
  {
    name: 'rtimeout',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '2s',
    help: 'time to wait for a server',
  },
  {
    name: 'round-robin',
    valueName: 'true|false',
    value: { kind: 'choice', choices: ['true', 'false'] },
    default: 'true',
    impliedValue: 'true',
    help: 'vary the order of addresses in answers',
  },
  {
    name: 'ns-rotate',
    valueName: 'true|false',
    value: { kind: 'choice', choices: ['true', 'false'] },
    default: 'true',
    impliedValue: 'true',
    help: 'ask any of the servers first, instead of the first',
  },
  {
    name: 'stubzones',
    value: 'none',
    help: 'forward the zones below dns/stub of the domain to their servers',
  },
  {
    name: 'rcache',
    valueName: 'number',
    value: COUNT,
    default: '0',
    help: 'cached answers at most; 0: as many as have room',
  },
  {
    name: 'rcache-ttl',
    valueName: 'seconds',
    value: COUNT,
    default: '60',
    help: 'maximum time in the cache, where -rcache is not 0',
  },
  {
    name: 'scache',
    valueName: 'number',
    value: COUNT,
    default: '10000',
    help: 'accepted, without effect: nothing is signed',
  },
  { name: 'dnssec', valueName: 'file', value: FILE, help: 'refused: Portolan does not sign' },
  { name: 'systemd', value: 'none', help: 'refused: sockets of systemd are not taken over (SKYDNS_SYSTEMD)' },
  {
    name: 'healthz-port',
    valueName: 'port',
    value: { kind: 'integer', min: 0, max: 65_535, of: 'a port' },
    default: '0',
    help: 'HTTP port of /readiness and /metrics; 0: none',
  },
  {
    name: 'snapshot',
    valueName: 'file',
    value: FILE,
    help: 'keep the keys in this file, for a start without etcd',
    details: 'A file of another prefix, of other members or of another cluster is reported and not used.',
  },
  {
    name: 'snapshot-max-age',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '24h',
    help: 'age up to which a snapshot is used; 0: any age',
  },
  ...LOSS_FLAGS,
  { name: 'verbose', value: 'none', help: 'log more' },
  { name: 'version', value: 'none', help: 'print the version' },
] as const satisfies readonly Flag[];

/** Environment variables by the flags that they set. */
const VARIABLES: ReadonlyMap<string, string> = new Map<string, string>([
  ['domain', 'SKYDNS_DOMAIN'],
  ['addr', 'SKYDNS_ADDR'],
  ['nameservers', 'SKYDNS_NAMESERVERS'],
  ['machines', 'ETCD_MACHINES'],
  ['tls-key', 'ETCD_TLSKEY'],
  ['tls-pem', 'ETCD_TLSPEM'],
  ['ca-cert', 'ETCD_CACERT'],
  ['username', 'ETCD_USERNAME'],
  ['password', 'ETCD_PASSWORD'],
  ['path-prefix', 'SKYDNS_PATH_PREFIX'],
  ['ndots', 'SKYDNS_NDOTS'],
  ['systemd', 'SKYDNS_SYSTEMD'],
]);

export type SkyDnsFlagReader = FlagReader<typeof SKYDNS_FLAGS>;

export type SkyDnsFlagsReading =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'flags'; readonly read: SkyDnsFlagReader; readonly problems: Problem[] };

const REMEDY = "See 'portolan skydns --help' for those there are.";

/** @param words the arguments after the command */
export function readSkyDnsFlags(words: readonly string[], environment: Environment): SkyDnsFlagsReading {
  const flags = readProgramFlags(words, SKYDNS_FLAGS, { dashes: '-', remedy: REMEDY });
  if (flags.kind !== 'flags') return flags;
  const { given } = flags;
  const { problems } = flags.read;
  const texts = (name: string): readonly string[] => {
    const own = given.all(name).filter((text) => text !== '');
    const variable = readVariable(environment, VARIABLES.get(name) ?? '') ?? '';
    if (own.length > 0 || variable === '') return own;
    return name === 'systemd' ? [String(parseGoBoolean(variable) ?? false)] : [variable];
  };
  const read = new FlagReader(SKYDNS_FLAGS, texts, '-', problems);
  return { kind: 'flags', read, problems };
}
