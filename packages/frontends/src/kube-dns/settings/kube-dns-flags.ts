/**
 * The command line of kube-dns. Its flags are read as the `serve` flags of the same names; other `serve` flags are accepted too.
 */
import { type Environment, expandVariables } from '@portolan/kernel/base/environment.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { toFlagKey, toFlagKinds } from '@portolan/server/settings/flags/flag.ts';
import { type GivenFlags, readGoFlags } from '@portolan/server/settings/flags/go-flags.ts';
import { readLogLevel } from '@portolan/server/settings/flags/klog-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { SERVE_FLAGS, type ServeFlags } from '../../serve/settings/serve-flags.ts';

type ServeFlagName = (typeof SERVE_FLAGS)[number]['name'];

/** Takes a flag from `serve`, with help specific to kube-dns. */
function sameAsServe(name: ServeFlagName, particulars: Partial<Pick<Flag, 'help' | 'details'>> = {}): Flag {
  const flag = SERVE_FLAGS_BY_NAME.get(name);
  if (flag === undefined) throw new TypeError(`no flag of serve: ${name}`);
  return { ...flag, ...particulars };
}

const SERVE_FLAGS_BY_NAME: ReadonlyMap<string, Flag> = new Map(SERVE_FLAGS.map((flag) => [flag.name, flag]));

/** Without the klog flags. */
export const KUBE_DNS_FLAGS: readonly Flag[] = [
  sameAsServe('config-dir', {
    help: 'folder that the ConfigMap of kube-dns is mounted in',
    details: 'See [the ConfigMap of kube-dns](kube-dns-config.md).',
  }),
  sameAsServe('config-map', {
    help: 'ConfigMap of kube-dns on the API server; not together with --config-dir',
  }),
  sameAsServe('config-map-namespace'),
  sameAsServe('config-period'),
  sameAsServe('dns-bind-address'),
  sameAsServe('dns-port'),
  sameAsServe('domain'),
  sameAsServe('federations'),
  sameAsServe('healthz-port', { help: 'HTTP port of /readiness, /readyz, /healthz, /cache and /metrics' }),
  sameAsServe('initial-sync-timeout'),
  sameAsServe('kube-master-url', {
    help: 'API server; variables of the environment are expanded',
    details: `\`$NAME\` and \`$\{NAME}\` stand for variables of the environment.`,
  }),
  sameAsServe('kubecfg-file'),
  sameAsServe('nameservers', { help: 'upstream servers for names outside the zone, before all others' }),
  {
    name: 'profiling',
    value: 'none',
    help: 'accepted, without effect',
    details: '`NODE_OPTIONS=--cpu-prof` writes profiles.',
  },
  { name: 'version', value: 'none', help: 'print the version' },
];

/** `serve` flags that kube-dns lacks. */
export const FURTHER_FLAGS: readonly Flag[] = SERVE_FLAGS.filter(
  ({ name }) => !KUBE_DNS_FLAGS.some((flag) => flag.name === name),
);

export type KubeDnsReading = { readonly kind: 'help' | 'version' } | GivenKubeDnsFlags;

export interface GivenKubeDnsFlags {
  readonly kind: 'flags';
  /** Not validated yet. */
  readonly flags: ServeFlags;
  readonly problems: readonly Problem[];
  /** Flags without effect, and why. */
  readonly notes: readonly string[];
}

const REMEDY = "See 'portolan kube-dns --help' for those there are.";

/**
 * @param words the arguments after the command
 * @param environment for `--kube-master-url`
 */
export function readKubeDnsFlags(words: readonly string[], environment: Environment): KubeDnsReading {
  const read = new ValueReader();
  const kinds = toFlagKinds([...KUBE_DNS_FLAGS, ...FURTHER_FLAGS]);
  const given = readGoFlags(words, { kinds, dashes: '--', remedy: REMEDY }, read);
  if (given === 'help') return { kind: 'help' };
  if (given.switch('version') === true) return { kind: 'version' };
  const verbosity = given.has('v') ? { logLevel: readLogLevel(given.last('v'), read) } : {};
  const masterUrl = given.last('kube-master-url');
  const expanded = masterUrl ? { kubeMasterUrl: expandVariables(masterUrl, environment) } : {};
  const flags = { ...verbosity, ...collectFlags(given), ...expanded };
  return { kind: 'flags', flags, problems: read.problems, notes: listNotes(given) };
}

function collectFlags(given: GivenFlags): ServeFlags {
  const flags = new Map<string, unknown>();
  for (const flag of SERVE_FLAGS) {
    // kube-dns treats a flag with an empty value as not given.
    const values = given.all(flag.name).filter((value) => value !== '');
    if (values.length === 0) continue;
    const key = toFlagKey(flag.name);
    if (flag.value === 'none') flags.set(key, values.at(-1) === 'true');
    else flags.set(key, 'repeats' in flag ? values : values.at(-1));
  }
  // `ServeFlags` derives from the same table, so keys and types match.
  return Object.fromEntries(flags) as ServeFlags;
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
