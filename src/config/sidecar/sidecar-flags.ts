/**
 * The flags of kube-dns's sidecar, as that program takes them.
 */
import type { LogLevel } from '../../ground/log.ts';
import { type FlagKinds, type GivenFlags, readGoFlags } from '../go-flags.ts';
import { readLogLevel } from '../klog-flags.ts';
import type { Problem } from '../problem.ts';
import { ValueReader } from '../values.ts';
import {
  type CountsPlan,
  type ProbePlan,
  SIDECAR_DEFAULTS,
  type SidecarHttpPlan,
  type SidecarPlan,
} from './plan.ts';
import { readProbe } from './probe-value.ts';
import { readHost } from './server-place.ts';

export type SidecarReading =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: SidecarPlan; readonly logLevel: LogLevel };

const KINDS: FlagKinds = new Map([
  ...[
    ...['probe', 'dnsmasq-addr', 'dnsmasq-port', 'dnsmasq-poll-interval-ms'],
    ...['prometheus-addr', 'prometheus-namespace', 'prometheus-path', 'prometheus-port'],
  ].map((name) => [name, 'value'] as const),
  ['version', 'switch'],
]);
const REMEDY = "See 'portolan sidecar --help' for those there are.";
const PORT = { least: 1, most: 65_535, of: 'a port' };
/** 0 lets the system choose, for tests and for those who read the log. */
const OWN_PORT = { ...PORT, least: 0 };
const MILLISECONDS = { least: 1, most: 86_400_000, of: 'a number of milliseconds' };
/** What Prometheus takes as the beginning of a name. */
const NAMESPACE = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const PATH = /^\/[A-Za-z0-9._~\-/]*$/;

/** @param words the command line behind the command */
export function readSidecarFlags(words: readonly string[]): SidecarReading {
  const read = new ValueReader();
  const given = readGoFlags(words, { kinds: KINDS, dashes: '--', remedy: REMEDY }, read);
  if (given === 'help') return { kind: 'help' };
  if (given.switch('version') === true) return { kind: 'version' };
  for (const word of [...given.words, ...given.behind])
    read.complain(word, 'unexpected argument', undefined, 'Give flags only.');
  const probes = readProbes(given.all('probe'), read);
  const plan: SidecarPlan = {
    probes,
    dnsmasq: readCounts(given, read),
    http: readHttp(given, probes, read),
  };
  const logLevel = readLogLevel(given, read);
  const { problems } = read;
  return problems.length === 0 ? { kind: 'good', plan, logLevel } : { kind: 'bad', problems };
}

function readProbes(texts: readonly string[], read: ValueReader): readonly ProbePlan[] {
  const probes = new Map<string, ProbePlan>();
  for (const text of texts) {
    const probe = readProbe(text, read);
    if (probe === undefined) continue;
    if (probes.has(probe.label))
      read.complain('--probe, its label', 'given twice', probe.label, 'Give each probe a label of its own.');
    probes.set(probe.label, probe);
  }
  return [...probes.values()];
}

function readCounts(given: GivenFlags, read: ValueReader): CountsPlan {
  const { server, interval, delay } = SIDECAR_DEFAULTS.dnsmasq;
  const host = given.last('dnsmasq-addr') ?? server.host;
  return {
    server: {
      host: readHost('--dnsmasq-addr', host, read) ?? server.host,
      port: read.integer('--dnsmasq-port', given.last('dnsmasq-port'), PORT, server.port),
    },
    interval: read.integer(
      '--dnsmasq-poll-interval-ms',
      given.last('dnsmasq-poll-interval-ms'),
      MILLISECONDS,
      interval,
    ),
    delay,
  };
}

function readHttp(given: GivenFlags, probes: readonly ProbePlan[], read: ValueReader): SidecarHttpPlan {
  const { http } = SIDECAR_DEFAULTS;
  const path = given.last('prometheus-path') ?? http.path;
  const taken = ['/healthz', ...probes.map(({ label }) => `/healthcheck/${label}`)];
  if (!PATH.test(path))
    read.complain('--prometheus-path', 'not a path', path, `Give one such as ${http.path}.`);
  else if (taken.includes(path))
    read.complain('--prometheus-path', 'the path of something else', path, `Give one such as ${http.path}.`);
  const namespace = given.last('prometheus-namespace') ?? http.namespace;
  if (namespace !== '' && !NAMESPACE.test(namespace)) {
    const remedy = 'Use letters, digits and underscores, and no digit in front.';
    read.complain('--prometheus-namespace', 'not the beginning of a name', namespace, remedy);
  }
  const address = given.last('prometheus-addr') ?? http.address;
  return {
    // As in Go, an empty address means all of them.
    address: address === '' ? undefined : read.address('--prometheus-addr', address),
    port: read.integer('--prometheus-port', given.last('prometheus-port'), OWN_PORT, http.port),
    ...{ waitForPort: false, flag: '--prometheus-port', path, namespace },
  };
}
