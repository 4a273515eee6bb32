/**
 * The flags of dnsmasq-nanny, as Go programs take them: `-name value`, `-name=value`, with one dash or two. What stands behind
 * `--` is for dnsmasq.
 */
import { parseUpstream, type UpstreamAddress, UpstreamAddressError } from '../../forward/upstream-address.ts';
import { findNearest } from '../nearest.ts';
import type { Problem } from '../problem.ts';
import { ValueReader } from '../values.ts';

export interface NannyPlan {
  readonly configDir: string;
  /** Milliseconds between two looks at the folder, where the system gives no notice of changes. */
  readonly syncInterval: number;
  /** Milliseconds between two reports of statistics; 0 makes none. */
  readonly logInterval: number;
  /** Who is asked for the addresses of stub servers whose names lie in the cluster. */
  readonly kubednsServer: UpstreamAddress;
  readonly dnsmasqWords: readonly string[];
}

export type NannyReading =
  | { readonly kind: 'help' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: NannyPlan; readonly notes: readonly string[] };

const OWN_FLAGS: ReadonlyMap<string, 'value' | 'switch'> = new Map([
  ...['configDir', 'syncInterval', 'logInterval', 'kubednsServer', 'dnsmasqExec'].map(
    (name) => [name, 'value'] as const,
  ),
  ['restartDnsmasq', 'switch'],
]);
/** Of the log library of Kubernetes: taken as they come, since every deployment gives some. */
const KLOG_FLAGS: ReadonlyMap<string, 'value' | 'switch'> = new Map([
  ...['v', 'vmodule', 'stderrthreshold', 'log_dir', 'log_file', 'log_file_max_size', 'log_backtrace_at'].map(
    (name) => [name, 'value'] as const,
  ),
  ...[
    'logtostderr',
    'alsologtostderr',
    'add_dir_header',
    'skip_headers',
    'skip_log_headers',
    'one_output',
  ].map((name) => [name, 'switch'] as const),
]);
const ALL_FLAGS = new Map([...OWN_FLAGS, ...KLOG_FLAGS]);
const TRUTHS: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSEHOODS: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** @param words the command line behind the command */
export function readNannyFlags(words: readonly string[]): NannyReading {
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  const read = new ValueReader();
  const given = collectFlags(own, read);
  if (given === 'help') return { kind: 'help' };
  const notes: string[] = [];
  if (given.has('dnsmasqExec'))
    notes.push('-dnsmasqExec has no effect: Portolan does the work of dnsmasq itself.');
  if (given.get('restartDnsmasq') === 'false')
    notes.push(
      '-restartDnsmasq=false has no effect: changes are taken in, and nothing is restarted for them.',
    );
  const plan: NannyPlan = {
    configDir: given.get('configDir') ?? '/etc/k8s/dns/dnsmasq-nanny',
    syncInterval: read.duration('-syncInterval', given.get('syncInterval'), 10_000),
    logInterval: read.duration('-logInterval', given.get('logInterval'), 0),
    kubednsServer: readServer(read, given.get('kubednsServer') ?? '127.0.0.1:10053'),
    dnsmasqWords: end < 0 ? [] : words.slice(end + 1),
  };
  const { problems } = read;
  return problems.length === 0 ? { kind: 'good', plan, notes } : { kind: 'bad', problems };
}

function collectFlags(words: readonly string[], read: ValueReader): ReadonlyMap<string, string> | 'help' {
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, name = '', inline] = /^--?([^=-][^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === 'help' || name === 'h') return 'help';
    const takes = ALL_FLAGS.get(name);
    if (takes === undefined) complainOfWord(read, word, name);
    else if (takes === 'switch') given.set(name, readSwitch(read, name, inline ?? 'true'));
    else if (inline !== undefined) given.set(name, inline);
    else if (at + 1 < words.length) {
      at += 1;
      given.set(name, words[at] ?? '');
    } else read.complain(`-${name}`, 'its value is missing', undefined, `Give one, as in -${name}=VALUE.`);
  }
  return given;
}

function complainOfWord(read: ValueReader, word: string, name: string): void {
  if (name === '') {
    read.complain(word, 'unexpected argument', undefined, 'Options of dnsmasq stand behind --.');
    return;
  }
  const nearest = findNearest(name, [...ALL_FLAGS.keys()]);
  const remedy = nearest === undefined ? 'Options of dnsmasq stand behind --.' : `Did you mean -${nearest}?`;
  read.complain(`-${name}`, 'unknown flag', undefined, remedy);
}

function readSwitch(read: ValueReader, name: string, text: string): string {
  if (FALSEHOODS.includes(text)) return 'false';
  if (!TRUTHS.includes(text))
    read.complain(`-${name}`, 'neither true nor false', text, 'Give one of the two.');
  return 'true';
}

function readServer(read: ValueReader, text: string): UpstreamAddress {
  try {
    return parseUpstream(text);
  } catch (error) {
    if (!(error instanceof UpstreamAddressError)) throw error;
    read.complain('-kubednsServer', 'not a server', text, 'Give an address and port, as in 127.0.0.1:10053.');
    return parseUpstream('127.0.0.1:10053');
  }
}
