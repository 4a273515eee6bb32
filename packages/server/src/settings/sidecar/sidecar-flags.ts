/**
 * The flags of kube-dns's sidecar, read as that program reads them.
 */
import { tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import { parseUpstream, UpstreamAddressError } from '@portolan/kernel/forward/upstream-address.ts';
import type { Flag } from '../flags/flag.ts';
import type { FlagReader } from '../flags/flag-reader.ts';
import { readLogLevel } from '../flags/klog-flags.ts';
import { readProgramFlags } from '../flags/program-flags.ts';
import type { Problem } from '../values/problem.ts';
import type { ValueReader } from '../values/value-reader.ts';
import {
  type CountsPlan,
  PROBE_TYPES,
  type ProbedServer,
  type ProbePlan,
  SIDECAR_DEFAULTS,
  type SidecarHttpPlan,
  type SidecarPlan,
} from './sidecar-plan.ts';

export type SidecarReading =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: SidecarPlan; readonly logLevel: LogLevel };

/** Without the klog flags. */
export const SIDECAR_FLAGS = [
  {
    name: 'probe',
    valueName: 'label,server,name[,seconds[,type]]',
    value: { kind: 'text', of: 'a probe' },
    repeats: true,
    help: 'query the server for the name at this interval (default: 5 seconds); port 53 unless named; the type is ANY, A, AAAA or SRV (default: ANY)',
  },
  {
    name: 'dnsmasq-addr',
    valueName: 'address',
    value: { kind: 'text', of: 'an address' },
    default: SIDECAR_DEFAULTS.dnsmasq.server.host,
    help: 'dnsmasq whose cache statistics are read',
  },
  {
    name: 'dnsmasq-port',
    valueName: 'port',
    value: { kind: 'integer', min: 1, max: 65_535, of: 'a port' },
    default: String(SIDECAR_DEFAULTS.dnsmasq.server.port),
    help: 'its port',
  },
  {
    name: 'dnsmasq-poll-interval-ms',
    valueName: 'milliseconds',
    value: { kind: 'integer', min: 1, max: 86_400_000, of: 'a number of milliseconds' },
    default: String(SIDECAR_DEFAULTS.dnsmasq.interval),
    help: 'interval at which they are read',
  },
  {
    name: 'prometheus-addr',
    valueName: 'address',
    value: { kind: 'text', of: 'an address' },
    default: SIDECAR_DEFAULTS.http.address,
    help: 'address to listen on for HTTP',
  },
  {
    name: 'prometheus-port',
    valueName: 'port',
    // With 0 the system chooses the port, and the log reports it.
    value: { kind: 'integer', min: 0, max: 65_535, of: 'a port' },
    default: String(SIDECAR_DEFAULTS.http.port),
    help: 'port to listen on for HTTP',
  },
  {
    name: 'prometheus-path',
    valueName: 'path',
    value: { kind: 'text', of: 'a path' },
    default: SIDECAR_DEFAULTS.http.path,
    help: 'HTTP path of the metrics',
  },
  {
    name: 'prometheus-namespace',
    valueName: 'word',
    value: { kind: 'text', of: 'a word' },
    default: SIDECAR_DEFAULTS.http.namespace,
    help: 'prefix of the names of metrics',
  },
  { name: 'version', value: 'none', help: 'print the version' },
] as const satisfies readonly Flag[];

type SidecarFlagReader = FlagReader<typeof SIDECAR_FLAGS>;

const REMEDY = "See 'portolan sidecar --help' for those there are.";
/** A valid start of a Prometheus metric name. */
const NAMESPACE = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const PATH = /^\/[A-Za-z0-9._~\-/]*$/;

/** @param words the arguments after the command */
export function readSidecarFlags(words: readonly string[]): SidecarReading {
  const flags = readProgramFlags(words, SIDECAR_FLAGS, { dashes: '--', remedy: REMEDY });
  if (flags.kind !== 'flags') return flags;
  const { given, read } = flags;
  const { problems } = read;
  const probes = readProbes(read.texts('probe'), read);
  const plan: SidecarPlan = {
    probes,
    dnsmasq: readCounts(read),
    http: readHttp(probes, read),
  };
  const logLevel = readLogLevel(given.last('v'), read);
  return problems.length === 0 ? { kind: 'good', plan, logLevel } : { kind: 'bad', problems };
}

function readProbes(texts: readonly string[], read: ValueReader): readonly ProbePlan[] {
  const probes = new Map<string, ProbePlan>();
  for (const text of texts) {
    const probe = readProbe(text, read);
    if (probe === undefined) continue;
    if (probes.has(probe.label))
      read.addProblem(
        '--probe, its label',
        'given twice',
        probe.label,
        'Give each probe a label of its own.',
      );
    probes.set(probe.label, probe);
  }
  return [...probes.values()];
}

function readCounts(read: SidecarFlagReader): CountsPlan {
  const host = read.text('dnsmasq-addr') ?? '';
  return {
    server: {
      host: readHost('--dnsmasq-addr', host, read) ?? host,
      port: read.value('dnsmasq-port'),
    },
    interval: read.value('dnsmasq-poll-interval-ms'),
    delay: SIDECAR_DEFAULTS.dnsmasq.delay,
  };
}

function readHttp(probes: readonly ProbePlan[], read: SidecarFlagReader): SidecarHttpPlan {
  const path = read.text('prometheus-path') ?? '';
  const taken = ['/healthz', ...probes.map(({ label }) => `/healthcheck/${label}`)];
  if (!PATH.test(path))
    read.addProblem('--prometheus-path', 'not a path', path, 'Give one such as /metrics.');
  else if (taken.includes(path))
    read.addProblem('--prometheus-path', 'the path of something else', path, 'Give one such as /metrics.');
  const namespace = read.text('prometheus-namespace') ?? '';
  if (namespace !== '' && !NAMESPACE.test(namespace)) {
    const remedy = 'Use letters, digits and underscores, and no digit in front.';
    read.addProblem('--prometheus-namespace', 'not the beginning of a name', namespace, remedy);
  }
  const address = read.text('prometheus-addr') ?? '';
  return {
    // As in Go, an empty address means all addresses.
    address: address === '' ? undefined : read.address('--prometheus-addr', address),
    port: read.value('prometheus-port'),
    waitForPort: false,
    flag: '--prometheus-port',
    path,
    namespace,
  };
}

const PROBE = '--probe';
const LABEL = /^[a-zA-Z0-9_]+$/;
const PROBE_EXAMPLE = 'kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV';
const SECONDS = { min: 1, max: 86_400, of: 'a number of seconds' };

/**
 * The value of `--probe`: `label,server,name[,interval[,type]]`, as in `kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV`.
 *
 * @returns undefined for a wrong value, which is reported
 */
function readProbe(text: string, read: ValueReader): ProbePlan | undefined {
  const [label = '', serverText = '', nameText, interval, typeText, ...more] = text.split(',');
  if (nameText === undefined || more.length > 0) {
    const remedy = `Give label,server,name[,interval[,type]], as in ${PROBE_EXAMPLE}.`;
    read.addProblem(PROBE, 'not three to five parts with commas between them', text, remedy);
    return undefined;
  }
  const before = read.problems.length;
  if (!LABEL.test(label))
    read.addProblem(`${PROBE}, its label`, 'not a label', label, 'Use letters, digits and underscores.');
  const server = readServer(`${PROBE}, its server`, serverText, read);
  const name = readName(nameText, read);
  const seconds = read.integer(`${PROBE}, its interval`, interval, SECONDS, 0);
  const type = readType(typeText, read);
  if (server === undefined || name === undefined || type === undefined) return undefined;
  if (read.problems.length > before) return undefined;
  const milliseconds = interval === undefined ? SIDECAR_DEFAULTS.probeInterval : seconds * 1_000;
  return { label, server, name, type, interval: milliseconds };
}

function readName(text: string, read: ValueReader): AbsoluteName | undefined {
  const name = tryParseName(text);
  const remedy = 'Give one such as kubernetes.default.svc.cluster.local.';
  if (name === undefined) read.addProblem(`${PROBE}, its name`, 'not a domain name', text, remedy);
  return name;
}

function readType(text: string | undefined, read: ValueReader): number | undefined {
  if (text === undefined) return SIDECAR_DEFAULTS.probeType;
  const type = PROBE_TYPES.get(text);
  if (type === undefined)
    read.addProblem(`${PROBE}, its type`, 'unknown', text, 'Give ANY, A, AAAA or SRV, in capitals.');
  return type;
}

/** The default port is 53. @returns undefined for a wrong value, which is reported */
function readServer(where: string, text: string, read: ValueReader): ProbedServer | undefined {
  const place = parseProbedServer(text);
  if (place === undefined) {
    const remedy =
      'Give an address or a name, and a port unless it is 53, as in 127.0.0.1:10053 or [::1]:53.';
    read.addProblem(where, 'not a server', text, remedy);
  }
  return place;
}

/** An address or a name without a port. @returns undefined for a wrong value, which is reported */
function readHost(where: string, text: string, read: ValueReader): string | undefined {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const place = parseProbedServer(bare.includes(':') ? `[${bare}]:53` : `${bare}:53`);
  if (place === undefined)
    read.addProblem(where, 'not an address or a name', text, 'Give one such as 127.0.0.1 or ::1.');
  return place?.host;
}

function parseProbedServer(text: string): ProbedServer | undefined {
  // Probes support neither transports nor source addresses.
  if (text.includes('//') || text.includes('@')) return undefined;
  try {
    const { host, port } = parseUpstream(text);
    return { host: host.kind === 'address' ? host.address : host.name.slice(0, -1), port };
  } catch (error) {
    if (error instanceof UpstreamAddressError) return undefined;
    throw error;
  }
}
