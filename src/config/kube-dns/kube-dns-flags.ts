/**
 * The command line of kube-dns. Its flags mean what the same flags of `serve` mean, so what comes out are those; flags of
 * `serve` that kube-dns never had are taken too.
 */
import { type FlagKinds, type GivenFlags, readGoFlags } from '../go-flags.ts';
import { readLogLevel } from '../klog-flags.ts';
import type { Problem } from '../problem.ts';
import type { ServeFlags } from '../serve-flags.ts';
import { ValueReader } from '../values.ts';

export interface KubeDnsFlag {
  readonly name: string;
  /** Undefined for a switch. */
  readonly argument: string | undefined;
  readonly means: string;
}

const flag = (name: string, argument: string | undefined, means: string): KubeDnsFlag => ({
  ...{ name, argument, means },
});

/** Without those of klog. */
export const KUBE_DNS_FLAGS: readonly KubeDnsFlag[] = [
  flag('config-dir', 'DIR', 'the ConfigMap of kube-dns as files'),
  flag('config-map', 'NAME', 'the same on the API server; not together with --config-dir'),
  flag('config-map-namespace', 'NAME', 'its namespace (default: kube-system)'),
  flag(
    'config-period',
    'DURATION',
    'how often DIR is looked at where the system gives no notice (default: 10s)',
  ),
  flag('dns-bind-address', 'IP', 'address to listen on (default: all)'),
  flag('dns-port', 'PORT', 'UDP and TCP port (default: 53)'),
  flag('domain', 'NAME', 'the zone of the cluster (default: cluster.local.)'),
  flag('federations', 'LIST', 'name=domain, with commas between them; counts while the ConfigMap names none'),
  flag('healthz-port', 'PORT', 'HTTP port of /readiness, /healthz, /cache and /metrics (default: 8081)'),
  flag(
    'initial-sync-timeout',
    'DURATION',
    'until a cluster that is not listed is an error in the log (default: 60s)',
  ),
  flag('kube-master-url', 'URL', 'API server; variables of the environment are filled in'),
  flag('kubecfg-file', 'FILE', 'kubeconfig file (default: the pod it runs in, else as kubectl does)'),
  flag('nameservers', 'LIST', 'who is asked about names outside, before all others (default: see below)'),
  flag('profiling', undefined, 'taken, without effect'),
  flag('version', undefined, 'print the version'),
];

/** A flag of `serve`, as whoever shows it knows it. */
export interface ServeFlagShape {
  readonly name: string;
  /** The key of `ServeFlags`. */
  readonly key: string;
  readonly takes: 'value' | 'switch' | 'values';
}

export type KubeDnsReading = { readonly kind: 'help' | 'version' } | GivenKubeDnsFlags;

export interface GivenKubeDnsFlags {
  readonly kind: 'flags';
  /** Not checked yet: there may be further problems in them. */
  readonly flags: ServeFlags;
  readonly problems: readonly Problem[];
  /** What has no effect, and why. */
  readonly notes: readonly string[];
}

const REMEDY = "See 'portolan kube-dns --help' for those there are.";

/**
 * @param words the command line behind the command
 * @param shapes all flags of `serve`
 * @param environment for `--kube-master-url`
 */
export function readKubeDnsFlags(
  words: readonly string[],
  shapes: readonly ServeFlagShape[],
  environment: Readonly<Record<string, string | undefined>>,
): KubeDnsReading {
  const read = new ValueReader();
  const given = readGoFlags(words, { kinds: kindsOf(shapes), dashes: '--', remedy: REMEDY }, read);
  if (given === 'help') return { kind: 'help' };
  if (given.switch('version') === true) return { kind: 'version' };
  const verbosity = given.has('v') ? { logLevel: readLogLevel(given, read) } : {};
  const masterUrl = given.last('kube-master-url');
  const expanded = masterUrl ? { kubeMasterUrl: expandVariables(masterUrl, environment) } : {};
  const flags = { ...verbosity, ...collectFlags(given, shapes), ...expanded };
  return { kind: 'flags', flags, problems: read.problems, notes: listNotes(given) };
}

function kindsOf(shapes: readonly ServeFlagShape[]): FlagKinds {
  return new Map([
    ...shapes.map(({ name, takes }) => [name, takes === 'switch' ? 'switch' : 'value'] as const),
    ...KUBE_DNS_FLAGS.map(
      ({ name, argument }) => [name, argument === undefined ? 'switch' : 'value'] as const,
    ),
  ]);
}

function collectFlags(given: GivenFlags, shapes: readonly ServeFlagShape[]): ServeFlags {
  const flags: Record<string, unknown> = {};
  for (const { name, key, takes } of shapes) {
    // To kube-dns a flag with nothing in it is one that is not given.
    const values = given.all(name).filter((value) => value !== '');
    if (values.length === 0) continue;
    if (takes === 'switch') flags[key] = values.at(-1) === 'true';
    else flags[key] = takes === 'values' ? values : values.at(-1);
  }
  // The shapes are those of the flags that `serve` fills the same type from.
  return flags as ServeFlags;
}

function listNotes(given: GivenFlags): readonly string[] {
  const notes: string[] = [];
  if (given.switch('profiling') === true)
    notes.push(
      '--profiling has no effect: there is no pprof in Node. Set NODE_OPTIONS=--cpu-prof or --heap-prof for profiles.',
    );
  const words = [...given.words, ...given.behind];
  if (words.length > 0) notes.push(`arguments that are no flags have no effect: ${words.join(' ')}`);
  return notes;
}

/** `$NAME` and `${NAME}`, as Go's `os.ExpandEnv` does. */
function expandVariables(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  return text.replace(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_whole, braced: string | undefined, bare: string | undefined) => environment[braced ?? bare ?? ''] ?? '',
  );
}
