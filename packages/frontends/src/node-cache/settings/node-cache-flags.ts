/**
 * The flags of node-cache, NodeLocal DNSCache's program, and Portolan's additions.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { parseDuration } from '@portolan/kernel/base/duration.ts';
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import type { FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { GivenFlags } from '@portolan/server/settings/flags/go-flags.ts';
import { readLogLevel } from '@portolan/server/settings/flags/klog-flags.ts';
import { readProgramFlags } from '@portolan/server/settings/flags/program-flags.ts';
import {
  OWN_DASHBOARD_FLAGS,
  readOwnDashboard,
} from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import { QUERY_LOG_FLAGS } from '@portolan/server/settings/query-log/query-log-flags.ts';
import { readCorefileQueryLog } from '@portolan/server/settings/query-log/read-settings.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { readCompat } from '../../coredns/settings/compat.ts';
import { BLOCKS_EXTRA_FLAG, COMPAT_FLAGS, PLUGIN_FLAG } from '../../coredns/settings/compat-flags.ts';
import type { NodeCachePlan, RulesChoice } from './node-cache-plan.ts';

export type NodeCacheReading =
  | { readonly kind: 'help' | 'version' | 'plugins' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: NodeCachePlan; readonly logLevel: LogLevel };

const PORT = { kind: 'integer', min: 1, max: 65_535, of: 'a port' } as const;

/** Without the klog flags. */
export const NODE_CACHE_FLAGS = [
  {
    name: 'localip',
    valueName: 'addresses',
    value: { kind: 'text', of: 'addresses with commas between them' },
    help: 'addresses that pods send their queries to, with commas between them; of one family, or of both',
  },
  {
    name: 'conf',
    valueName: 'path',
    value: { kind: 'file' },
    default: '/etc/Corefile',
    help: 'Corefile to write and to serve',
  },
  {
    name: 'basecorefile',
    valueName: 'path',
    value: { kind: 'file' },
    default: '/etc/coredns/Corefile.base',
    help: 'template of the Corefile',
  },
  {
    name: 'kubednscm',
    valueName: 'folder',
    value: { kind: 'folder' },
    defaultNote: '/etc/kube-dns if it is there',
    help: 'folder that the ConfigMap of kube-dns is mounted in',
  },
  {
    name: 'upstreamsvc',
    valueName: 'service',
    value: { kind: 'text', of: 'the name of a Service' },
    default: 'kube-dns',
    help: 'Service in front of the DNS of the cluster, whose address is read from the environment',
  },
  {
    name: 'setupinterface',
    value: 'none',
    help: 'create a network interface with the addresses; on unless =false is given',
  },
  {
    name: 'interfacename',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of an interface' },
    default: 'nodelocaldns',
    help: 'name of that interface',
  },
  {
    name: 'setupiptables',
    value: 'none',
    help: 'set rules that keep packets for the addresses off connection tracking; on unless =false is given',
  },
  {
    name: 'rules',
    valueName: 'kind',
    value: { kind: 'choice', choices: ['auto', 'nft', 'iptables', 'none'] },
    default: 'auto',
    help: 'packet filter that gets the rules; auto takes nftables if there is one, else iptables, and has iptables accept what they may drop',
  },
  {
    name: 'syncinterval',
    valueName: 'seconds',
    value: { kind: 'text', of: 'a number of seconds or a duration' },
    default: '60',
    help: 'seconds, or a duration as in 30s, between two checks of rules and interface',
  },
  {
    name: 'metrics-listen-address',
    valueName: 'address',
    value: { kind: 'text', of: 'an address and port' },
    default: '0.0.0.0:9353',
    help: 'address and port of the metrics of set-up errors',
  },
  {
    name: 'prometheus-listen-address',
    valueName: 'address',
    value: { kind: 'text', of: 'an address and port' },
    default: ':9253',
    help: 'address and port of the metrics of DNS, where the template leaves them open',
  },
  {
    name: 'health-port',
    valueName: 'port',
    value: PORT,
    default: '8080',
    help: 'port of the health check, for the rules',
  },
  {
    name: 'setuponly',
    value: 'none',
    help: 'set up the interface, remove rules that nobody needs, and end: for a step before a server without privileges',
  },
  { name: 'skipteardown', value: 'none', help: 'leave rules and interface in place when the program ends' },
  {
    name: 'takeover',
    value: 'none',
    help: 'join ports that another process serves, and take over its cache, for an upgrade without a gap',
  },
  { name: 'dns.port', valueName: 'port', value: PORT, default: '53', help: 'port of DNS' },
  { name: 'p', valueName: 'port', value: PORT, help: 'the same as -dns.port' },
  BLOCKS_EXTRA_FLAG,
  ...COMPAT_FLAGS,
  PLUGIN_FLAG,
  ...OWN_DASHBOARD_FLAGS,
  ...QUERY_LOG_FLAGS,
  { name: 'pidfile', valueName: 'path', value: { kind: 'file' }, help: 'path to write pid file' },
  { name: 'quiet', value: 'none', help: 'quiet mode (no initialization output)' },
  { name: 'plugins', value: 'none', help: 'list installed plugins' },
  { name: 'version', value: 'none', help: 'show version' },
  {
    name: 'corefile',
    valueName: 'path',
    value: { kind: 'file' },
    help: 'accepted, without effect: -conf names the Corefile',
  },
  {
    name: 'reloadwithsignal',
    value: 'none',
    help: 'accepted, not needed: changes take effect without a signal',
  },
] as const satisfies readonly Flag[];

type NodeCacheFlagReader = FlagReader<typeof NODE_CACHE_FLAGS>;

const MANNERS = {
  dashes: '-',
  remedy: 'See portolan node-cache --help.',
  wordRemedy: 'Flags behind it would have no effect: remove it.',
  leavesBehind: true,
};

/** @param words the arguments after the command */
export function readNodeCacheFlags(words: readonly string[]): NodeCacheReading {
  const flags = readProgramFlags(words, NODE_CACHE_FLAGS, MANNERS);
  if (flags.kind !== 'flags') return flags;
  const { given, read } = flags;
  if (given.switch('plugins') === true) return { kind: 'plugins' };
  const { problems } = read;
  const plan = readPlan(given, read);
  const logLevel = readLogLevel(given.last('v'), read);
  return problems.length === 0 ? { kind: 'good', plan, logLevel } : { kind: 'bad', problems };
}

function readPlan(given: GivenFlags, read: NodeCacheFlagReader): NodeCachePlan {
  const compat = readCompat(read, read.shown('compat'), given.last('compat'));
  return {
    localAddresses: readLocalAddresses(given.last('localip') ?? '', read),
    port: read.value('p') ?? read.value('dns.port'),
    healthPort: read.value('health-port'),
    corefile: read.value('conf'),
    template: read.value('basecorefile'),
    configFolder: read.value('kubednscm'),
    upstreamService: read.value('upstreamsvc'),
    interfaceName: given.switch('setupinterface') === false ? undefined : read.value('interfacename'),
    rules: readRules(given, read),
    syncInterval: readInterval(read),
    metricsAddress: read.value('metrics-listen-address'),
    // Inserted as given, as in the original; reading the Corefile reports faults.
    prometheusAddress: read.text('prometheus-listen-address') ?? '',
    setsUpOnly: given.switch('setuponly') ?? false,
    skipsTeardown: given.switch('skipteardown') ?? false,
    blocksExtra: read.value('blocks-extra'),
    compat,
    metricsCompat: read.value('metrics-compat'),
    plugins: given.all('plugin'),
    dashboard: readOwnDashboard(read),
    queryLog: readCorefileQueryLog(read, compat.restored),
    pidFile: read.value('pidfile'),
    isQuiet: given.switch('quiet') ?? false,
    takeover: given.switch('takeover') ?? false,
  };
}

function readRules(given: GivenFlags, read: NodeCacheFlagReader): RulesChoice {
  const rules = read.value('rules');
  return given.switch('setupiptables') === false ? 'none' : rules;
}

const LOCAL_ADDRESS_REMEDY = 'Give addresses as in 169.254.20.10,10.96.0.10.';

function readLocalAddresses(text: string, read: ValueReader): readonly string[] {
  const texts = text.split(',');
  const wrong = texts.find((each) => parseAddress(each) === undefined);
  if (wrong !== undefined) {
    read.addProblem('-localip', 'not an address', wrong, LOCAL_ADDRESS_REMEDY);
    return texts;
  }
  const twice = texts.find((each, index) => texts.indexOf(each) !== index);
  if (twice !== undefined) read.addProblem('-localip', 'address given twice', twice, 'Give it once.');
  return texts;
}

const MIN_INTERVAL = 1000;

/** The original multiplies this duration by a second, so its manifests and users write nanoseconds for seconds. */
function readInterval(read: NodeCacheFlagReader): number {
  const text = read.text('syncinterval') ?? '';
  const seconds = /^(\d{1,7})(?:ns)?$/.exec(text)?.[1];
  const milliseconds = seconds === undefined ? parseDuration(text) : Number(seconds) * 1000;
  if (milliseconds !== undefined && milliseconds >= MIN_INTERVAL) return milliseconds;
  const fault = milliseconds === undefined ? 'neither a number of seconds nor a duration' : 'too short';
  read.addProblem('-syncinterval', fault, text, 'Give at least a second, as in 60 or 1m.');
  return MIN_INTERVAL;
}
