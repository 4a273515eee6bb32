/**
 * The flags of `portolan serve`: the table behind the parser, `--help`, `docs/reference/flags.md`, the man page and shell
 * completions. Flags of kube-dns keep their names.
 */
import { LOG_LEVELS } from '@portolan/kernel/base/log.ts';
import { MAX_READERS } from '@portolan/kernel/table/writer.ts';
import { LOG_FORMATS } from '@portolan/server/plan/query-log-plan.ts';
import { IMPLIED_EVENT_FLAGS } from '@portolan/server/settings/events/event-flags.ts';
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader, type FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import { HISTORY_FLAGS } from '@portolan/server/settings/history/history-flags.ts';
import { LOSS_FLAGS } from '@portolan/server/settings/losses/read-losses.ts';
import { OWN_DASHBOARD_FLAGS } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import {
  CONTROL_FLAGS,
  LOG_GROUP,
  QUERY_LOG_FLAGS,
} from '@portolan/server/settings/query-log/query-log-flags.ts';
import { AUTOSCALE_FLAGS } from './autoscale-flags.ts';
import { CLIENT_FLAGS, LISTEN } from './client-flags.ts';
import { IDENTITY_FLAGS } from './identity-flags.ts';
import { DIALECTS, POD_MODES, POLICIES } from './serve-options.ts';

/** The table has `MAX_READERS` slots; the main thread takes one. */
const MAX_UDP_READERS = MAX_READERS - 1;

const READER_FLAGS = [
  {
    name: 'udp-readers',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: MAX_UDP_READERS, of: 'a number of threads' },
    defaultNote: 'one per core, 1 to 16',
    help: `threads that answer UDP at most, 1 to ${MAX_UDP_READERS}`,
    details:
      'One starts first, others [when they are needed](../how-to/scaling.md#what-more-replicas-bring). A CPU quota counts as that many cores.',
    group: LISTEN,
  },
  {
    name: 'udp-coalesce',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '0',
    help: 'time for which a thread that got a single packet waits for more',
    details: 'As `100us`, up to 10ms. Fewer wake-ups save processor time; answers come that much later.',
    group: LISTEN,
  },
] as const satisfies readonly Flag[];

const ZONE = 'Zone';
const OBJECTS = 'Kubernetes objects';
const EXTERNAL = 'Names outside the cluster';
const POD = 'The kube-dns pod in one process';
const LIFE_CYCLE = 'Start and stop';

const PORT = { kind: 'integer', min: 1, max: 65_535, of: 'a port' } as const;
/** A port, `address:port` or a word; the front end parses it. */
const PLACE = { kind: 'text', of: 'a port, or an address and a port' } as const;
const FILE = { kind: 'file' } as const;
const FOLDER = { kind: 'folder' } as const;
const DURATION = { kind: 'duration' } as const;

export const SERVE_FLAGS = [
  {
    name: 'domain',
    valueName: 'name',
    value: { kind: 'text', of: 'a domain name' },
    default: 'cluster.local.',
    help: 'zone of the cluster',
    details: 'At most 120 characters.',
    group: ZONE,
  },
  {
    name: 'dialect',
    valueName: 'name',
    value: { kind: 'choice', choices: DIALECTS },
    defaultNote: 'coredns; kube-dns with a ConfigMap',
    help: 'server whose answers are given',
    group: ZONE,
  },
  {
    name: 'pods',
    valueName: 'mode',
    value: { kind: 'choice', choices: POD_MODES },
    default: 'insecure',
    help: 'names of pods by their addresses',
    details:
      'As `10-244-1-10.shop.pod.cluster.local`: `disabled`, none; `insecure`, every address in a namespace that exists; `verified`, those of pods, all of which the server watches.',
    group: ZONE,
  },
  {
    name: 'ttl',
    valueName: 'seconds',
    value: { kind: 'integer', min: 0, max: 3600, of: 'a number of seconds' },
    default: '30',
    help: 'TTL of answers, 0 to 3600',
    group: ZONE,
  },
  {
    name: 'endpoint-ranges',
    valueName: 'prefixes',
    value: { kind: 'text', of: 'a list of prefixes' },
    defaultNote: 'all addresses',
    help: 'ranges of pods and nodes',
    details:
      'As in `nodes,192.0.2.0/24`; `nodes` is the ranges of pods and the addresses of all nodes, which the server watches. Endpoints of services without a selector have reverse names only there.',
    group: ZONE,
  },
  {
    name: 'prefer-zone',
    value: 'none',
    help: "headless services: endpoints on the client's node or in its zone",
    details: 'For services that [ask for it](../how-to/answers-by-zone.md). The server watches nodes.',
    group: ZONE,
  },
  {
    name: 'node-name',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a node' },
    defaultNote: "that of the client's address",
    help: 'node of all clients, for --prefer-zone',
    details: 'The server watches only this node.',
    group: ZONE,
  },
  {
    name: 'https-records',
    value: 'none',
    help: 'HTTPS records (RFC 9460) for services with appProtocol https',
    details: 'See [HTTPS records](../how-to/https-records.md).',
    group: ZONE,
  },
  {
    name: 'tenants',
    valueName: 'rule',
    value: { kind: 'text', of: 'a rule' },
    defaultNote: 'all clients see all services',
    help: 'clients see services of their own tenant, and shared ones',
    details:
      '`by-namespace-label:team`: the label `team` of a namespace is its tenant. See [tenants](../how-to/tenants.md).',
    group: ZONE,
  },
  {
    name: 'tenants-seen-by',
    valueName: 'prefixes',
    value: { kind: 'text', of: 'a list of prefixes' },
    defaultNote: 'none',
    help: 'clients that see the services of all tenants, for --tenants',
    details: 'As in `192.0.2.0/28,fd00::7`.',
    group: ZONE,
  },
  ...LOSS_FLAGS,
  {
    name: 'kubecfg-file',
    valueName: 'file',
    value: FILE,
    defaultNote: 'the pod it runs in, else KUBECONFIG, else ~/.kube/config',
    help: 'kubeconfig file',
    group: OBJECTS,
  },
  {
    name: 'context',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a context of the kubeconfig file' },
    defaultNote: 'its current context',
    help: 'context of the kubeconfig file',
    group: OBJECTS,
  },
  {
    name: 'kube-master-url',
    valueName: 'url',
    value: { kind: 'text', of: 'the URL of an API server' },
    defaultNote: 'that of the kubeconfig file',
    help: 'API server',
    details: 'Alone, requests carry no credentials; with a kubeconfig file, it replaces the server there.',
    group: OBJECTS,
  },
  {
    name: 'manifests',
    valueName: 'folder',
    value: FOLDER,
    help: 'serve the objects of a folder of YAML and JSON files, and follow its changes',
    details: 'See [Manifests](#manifests).',
    group: OBJECTS,
  },
  {
    name: 'allow-empty',
    value: 'none',
    help: 'serve an empty zone while the folder of --manifests holds no manifests',
    details: 'Without it the server is unready, and answers SERVFAIL.',
    group: OBJECTS,
  },
  { name: 'example', value: 'none', help: 'serve the bundled example cluster', group: OBJECTS },
  ...IMPLIED_EVENT_FLAGS,
  {
    name: 'upstream',
    valueName: 'server',
    value: { kind: 'text', of: 'a server' },
    repeats: true,
    defaultNote: 'the servers of --resolv-file',
    help: 'upstream server for names outside the cluster: an address, address:port, tls://address#name, https://address#name, or none',
    details:
      'Also `[ipv6]:port`, a name that Portolan looks up itself, or several with commas between them. `none`: such names are refused.',
    group: EXTERNAL,
  },
  {
    name: 'upstream-policy',
    valueName: 'policy',
    value: { kind: 'choice', choices: POLICIES },
    defaultNote: 'sequential',
    help: 'which upstream server is asked first',
    details:
      '`sequential`, `random`, `round-robin`, `fastest` by round-trip time, or `all` at once. The next one is asked when a server is silent or unreachable, or answers SERVFAIL or REFUSED.',
    group: EXTERNAL,
  },
  {
    name: 'trust-ad',
    value: 'none',
    help: 'believe upstream servers that say (AD) that they have validated an answer with DNSSEC',
    details:
      'Clients that set AD or DO get the bit. Only for servers that validate, on a path that no attacker can change.',
    group: EXTERNAL,
  },
  {
    name: 'upstream-mixed-case',
    value: 'none',
    help: 'send names to upstream servers in random case, which forged replies have to guess (0x20)',
    details: 'Over UDP. After a reply in another case, [TCP is used](../explanation/resolver.md).',
    group: EXTERNAL,
  },
  {
    name: 'nameservers',
    valueName: 'list',
    value: { kind: 'text', of: 'a list of servers' },
    help: 'upstream servers as kube-dns takes them, as in 8.8.8.8:53,8.8.4.4',
    details: 'Not together with `--upstream` or `--resolv-file`.',
    group: EXTERNAL,
  },
  {
    name: 'resolv-file',
    valueName: 'file',
    value: FILE,
    defaultNote: '/etc/resolv.conf',
    help: 'file of upstream servers, followed as it changes',
    details:
      'For the stub of systemd-resolved, the servers behind it are asked. Addresses of Portolan are left out, with a warning.',
    group: EXTERNAL,
  },
  {
    name: 'stub-domain',
    valueName: 'domain=server',
    value: { kind: 'text', of: 'a domain and its servers' },
    repeats: true,
    help: 'servers for a domain and its subdomains; without a server its names do not exist',
    details: 'As in `a.example,b.example=10.0.0.1,10.0.0.2:5353`. The longest matching domain wins.',
    group: EXTERNAL,
  },
  {
    name: 'hosts',
    valueName: 'path',
    value: { kind: 'path' },
    repeats: true,
    help: 'hosts file, or folder of hosts files, followed as they change',
    details: 'Its names come [before those of the cluster](local-data.md).',
    group: EXTERNAL,
  },
  {
    name: 'cache-bytes',
    valueName: 'size',
    value: { kind: 'size', min: 0, max: 512 * 2 ** 20 },
    default: '16M',
    help: 'memory for cached answers, up to 512M; 0 turns caching off',
    details: 'A larger cache-size in --dnsmasq-conf raises the default.',
    group: EXTERNAL,
  },
  {
    name: 'dnsmasq-conf',
    valueName: 'file',
    value: FILE,
    help: 'further settings of names, servers and the cache, as options of dnsmasq',
    details: 'See [the options](dnsmasq-options.md).',
    group: EXTERNAL,
  },
  {
    name: 'nftset',
    valueName: '/domain/set',
    value: { kind: 'text', of: 'domains and sets of nftables' },
    repeats: true,
    help: 'put addresses of these domains into sets of nftables before the answers leave',
    details:
      'As in `/example.com/example.org/inet#filter#allowed`. See [sets of nftables](../how-to/nftables-sets.md).',
    group: EXTERNAL,
  },
  {
    name: 'nftset-closed',
    value: 'none',
    help: 'answer SERVFAIL while an address is not in its sets',
    details: 'Else such an answer is sent after 20 ms.',
    group: EXTERNAL,
  },
  {
    name: 'blocks-extra',
    valueName: 'file',
    value: FILE,
    help: 'further plugins, in the syntax of a Corefile',
    details: 'See [further plugins](../how-to/further-plugins.md).',
    group: EXTERNAL,
  },
  {
    name: 'config-map',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a ConfigMap' },
    help: 'serve as the kube-dns pod, with the settings of this ConfigMap',
    details: 'The server needs the rights get and watch for it. It need not exist.',
    group: POD,
  },
  {
    name: 'config-dir',
    valueName: 'folder',
    value: FOLDER,
    help: 'the same, with the settings in a folder that the ConfigMap is mounted in',
    details: 'Not together with `--config-map`.',
    group: POD,
  },
  {
    name: 'config-map-namespace',
    valueName: 'name',
    value: { kind: 'text', of: 'a namespace' },
    default: 'kube-system',
    help: 'namespace of the ConfigMap',
    group: POD,
  },
  {
    name: 'config-period',
    valueName: 'duration',
    value: DURATION,
    default: '10s',
    help: 'interval at which the folder is read where the system reports no changes',
    details: 'Else a change takes effect within a second.',
    group: POD,
  },
  {
    name: 'federations',
    valueName: 'list',
    value: { kind: 'text', of: 'a list of federations' },
    help: 'federations of the cluster and their domains: name=domain, separated by commas',
    details: 'Used while the ConfigMap names none.',
    group: POD,
  },
  {
    name: 'prometheus-port',
    valueName: 'port',
    value: PLACE,
    defaultNote: '10055 with a ConfigMap, else none',
    help: "HTTP port of metrics under SkyDNS's names, or none",
    details:
      '`address:port` binds one address. With a ConfigMap, [`PROMETHEUS_PORT` and its like](metrics.md#the-names-of-kube-dns) count too.',
    group: POD,
  },
  {
    name: 'sidecar-port',
    valueName: 'port',
    value: PLACE,
    defaultNote: '10054 with a ConfigMap, else none',
    help: "HTTP port of the kube-dns sidecar's probes and metrics, or none",
    details:
      '`/healthcheck/kubedns`, `/healthcheck/dnsmasq` and `/metrics`; `address:port` binds one address. Queries of class CHAOS are then answered as by dnsmasq (`hits.bind`).',
    group: POD,
  },
  ...AUTOSCALE_FLAGS,
  {
    name: 'dns-port',
    valueName: 'port',
    value: PORT,
    default: '53',
    help: 'UDP and TCP port',
    group: LISTEN,
  },
  {
    name: 'dns-bind-address',
    valueName: 'ip',
    value: { kind: 'text', of: 'an IP address' },
    repeats: true,
    defaultNote: 'all addresses of both families',
    help: 'address to listen on',
    details: 'Several may be separated by commas.',
    group: LISTEN,
  },
  ...READER_FLAGS,
  ...CLIENT_FLAGS,
  ...IDENTITY_FLAGS,
  {
    name: 'healthz-port',
    valueName: 'port',
    value: PLACE,
    default: '8081',
    help: 'HTTP port of /readyz, /readiness, /healthz and /metrics',
    details:
      '`/readyz` and `/readiness` answer 200, or 503 and the reason. `address:port` binds one address; port 0 takes a free one, which the log names.',
    group: LISTEN,
  },
  {
    name: 'takeover',
    value: 'none',
    help: 'share a port that another process serves, once the cluster is listed',
    details:
      'Else a port in use is an error. The cache is taken over if both processes have the flag and the same settings. A free port is served at the end of the initial sync at the latest.',
    group: LISTEN,
  },
  {
    name: 'initial-sync-timeout',
    valueName: 'duration',
    value: DURATION,
    default: '60s',
    help: 'time until a cluster that is not listed is logged as an error',
    details: 'The server stays unready, keeps trying, and answers SERVFAIL for names that it does not know.',
    group: LIFE_CYCLE,
  },
  {
    name: 'snapshot',
    valueName: 'file',
    value: FILE,
    help: 'keep the last good state in this file, for a start without an API server',
    details:
      'Other names of the zone are SERVFAIL then. A snapshot that is damaged, or of another zone or cluster (by the UID of kube-system), is reported and not used. `<file>.config` has the last good ConfigMap.',
    group: LIFE_CYCLE,
  },
  {
    name: 'snapshot-max-age',
    valueName: 'duration',
    value: DURATION,
    default: '24h',
    help: 'age up to which a snapshot is used; 0: any age',
    details:
      'It counts from when the state was known to be current. The file is replaced each hour at least.',
    group: LIFE_CYCLE,
  },
  {
    name: 'lameduck',
    valueName: 'duration',
    value: DURATION,
    default: '5s',
    help: 'time to serve on, unready, after a stop signal',
    details: 'Then in-flight queries are answered, and the exit code is 0.',
    group: LIFE_CYCLE,
  },
  {
    name: 'drain',
    valueName: 'duration',
    value: DURATION,
    defaultNote: '27s in a pod with a lameduck time, else 0s',
    help: 'time after a stop signal until which the server answers on while queries arrive',
    details:
      'It ends after the lameduck time once no query has arrived for 3 s. Choose it some seconds below the [grace period of the pod](../how-to/rollouts.md).',
    group: LIFE_CYCLE,
  },
  {
    name: 'log-level',
    valueName: 'level',
    value: { kind: 'choice', choices: LOG_LEVELS },
    default: 'info',
    help: 'minimum level of log lines',
    details: '`debug` has a line for each query with its steps, at most 100 in a second.',
    group: LOG_GROUP,
  },
  {
    name: 'log-format',
    valueName: 'format',
    value: { kind: 'choice', choices: LOG_FORMATS },
    defaultNote: 'text on a terminal, else json',
    help: 'format of log lines, written to standard error',
    group: LOG_GROUP,
  },
  ...QUERY_LOG_FLAGS,
  ...CONTROL_FLAGS,
  ...HISTORY_FLAGS,
  ...OWN_DASHBOARD_FLAGS,
] as const satisfies readonly Flag[];

/** As given on the command line, not validated yet. */
export type ServeFlags = FlagsOf<typeof SERVE_FLAGS>;

export type ServeFlagReader = FlagReader<typeof SERVE_FLAGS>;

export function createServeFlagReader(flags: ServeFlags): ServeFlagReader {
  return createFlagReader(SERVE_FLAGS, flags);
}
