/**
 * The flags of `portolan serve` as the command line shows them. What their values may be is checked in `config/`.
 */
import { Option } from 'commander';
import type { ServeFlagShape } from '../config/kube-dns/kube-dns-flags.ts';
import { findNearest } from '../config/nearest.ts';
import type { Problem } from '../config/problem.ts';

const several = (value: string, before: readonly string[] = []) => [...before, value];

export const SERVE_OPTIONS: readonly Option[] = [
  new Option('--domain <name>', 'the zone of the cluster (default: cluster.local.)'),
  new Option('--dns-port <port>', 'UDP and TCP port (default: 53)'),
  new Option(
    '--dns-bind-address <ip>',
    'address to listen on, once or several times (default: all)',
  ).argParser(several),
  new Option(
    '--kubecfg-file <path>',
    'kubeconfig file (default: the pod it runs in, else KUBECONFIG, else ~/.kube/config)',
  ),
  new Option('--context <name>', 'context of the kubeconfig file (default: its current one)'),
  new Option('--kube-master-url <url>', 'API server (default: the one of the kubeconfig file)'),
  new Option(
    '--manifests <folder>',
    'serve the objects of a folder of YAML and JSON files, and follow its changes',
  ),
  new Option('--example', 'serve the bundled example cluster'),
  new Option(
    '--dialect <name>',
    'which server to answer like: coredns, kube-dns (default: coredns; kube-dns beside a ConfigMap)',
  ),
  new Option('--pods <mode>', 'names of pods: disabled, insecure, verified (default: insecure)'),
  new Option('--ttl <seconds>', 'TTL of answers, 0 to 3600 (default: 30)'),
  new Option(
    '--upstream <server>',
    'who is asked about names outside the cluster, once or several times: an address, address:port, tls://address#name; ' +
      'or none (default: the servers of --resolv-file)',
  ).argParser(several),
  new Option(
    '--nameservers <list>',
    'the same as kube-dns takes it: addresses and their ports with commas between them',
  ),
  new Option(
    '--upstream-policy <policy>',
    'which of several is asked: sequential, random, round-robin, fastest, all (default: sequential)',
  ),
  new Option('--resolv-file <path>', 'servers, followed as they change (default: /etc/resolv.conf)'),
  new Option(
    '--stub-domain <domain=server>',
    'who is asked about a domain and all below it, once or several times; lists with commas; no server: nobody',
  ).argParser(several),
  new Option(
    '--config-map <name>',
    'be the kube-dns pod, and follow stub domains, upstream servers and federations in this ConfigMap',
  ),
  new Option(
    '--config-dir <folder>',
    'the same, with the settings in a folder that the ConfigMap is mounted in',
  ),
  new Option('--config-map-namespace <name>', 'the namespace of the ConfigMap (default: kube-system)'),
  new Option(
    '--config-period <duration>',
    'how often the folder is looked at where the system gives no notice of changes (default: 10s)',
  ),
  new Option(
    '--federations <list>',
    'federations of the cluster and their domains: name=domain, with commas between them',
  ),
  new Option(
    '--hosts <path>',
    'a hosts file, or a folder of them, followed as they change, once or several times',
  ).argParser(several),
  new Option('--cache-bytes <octets>', 'room for cached answers; 0 keeps none (default: 16777216)'),
  new Option('--dnsmasq-conf <file>', 'more about names, servers and the cache, in options of dnsmasq'),
  new Option('--udp-readers <number>', 'threads that answer UDP (default: one per core but one, 1 to 4)'),
  new Option(
    '--healthz-port <port>',
    'HTTP port of /readyz, /readiness, /healthz and /metrics; address:port binds one address (default: 8081)',
  ),
  new Option(
    '--prometheus-port <port>',
    "HTTP port of metrics under SkyDNS's names, or none (default: 10055 beside a ConfigMap, else none)",
  ),
  new Option(
    '--sidecar-port <port>',
    'HTTP port of what the sidecar of kube-dns tells, or none (default: 10054 beside a ConfigMap, else none)',
  ),
  new Option(
    '--initial-sync-timeout <duration>',
    'after this, report it as an error that the cluster is not listed yet (default: 60s)',
  ),
  new Option(
    '--snapshot <file>',
    'keep the last good state here, to start from while there is no API server',
  ),
  new Option('--takeover', 'join a port that another process serves, once the cluster is listed'),
  new Option('--lameduck <duration>', 'serve on for so long after a stop signal (default: 5s)'),
  new Option('--log-level <level>', 'error, warn, info, debug (default: info)'),
  new Option('--log-format <format>', 'text, json (default: text on a terminal, else json)'),
];

/** The same for whoever reads command lines in another manner. */
export const SERVE_FLAG_SHAPES: readonly ServeFlagShape[] = SERVE_OPTIONS.map((option) => ({
  name: option.long?.slice(2) ?? '',
  key: option.attributeName(),
  takes: option.parseArg !== undefined ? 'values' : option.required ? 'value' : 'switch',
}));

const NAMES: readonly string[] = SERVE_OPTIONS.map((option) => option.long?.slice(2) ?? '');
const SWITCHES: readonly string[] = SERVE_OPTIONS.filter((option) => !option.required).map((option) =>
  option.name(),
);

/** Says of every argument that no option took what is wrong with it. */
export function complainOfLeftOver(args: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  let afterFlag = false;
  for (const arg of args) {
    const isFlag = arg.startsWith('-') && arg !== '-';
    if (isFlag) problems.push(complainOfFlag(arg));
    // What follows an unknown flag is most likely its value.
    else if (!afterFlag)
      problems.push({
        where: arg,
        fault: 'unexpected argument',
        value: undefined,
        remedy: 'Give flags only.',
      });
    afterFlag = isFlag && !arg.includes('=');
  }
  return problems;
}

function complainOfFlag(arg: string): Problem {
  const where = arg.split('=')[0] ?? arg;
  const word = where.replace(/^-+/, '');
  if (SWITCHES.includes(word) && arg !== where)
    return {
      where,
      fault: 'takes no value',
      value: arg.slice(where.length + 1),
      remedy: `Give ${where} alone.`,
    };
  const nearest = findNearest(word, NAMES);
  const remedy =
    nearest === undefined ? "See 'portolan serve --help' for those there are." : `Did you mean --${nearest}?`;
  return { where, fault: 'unknown flag', value: undefined, remedy };
}
