/**
 * The flags of dnsmasq-nanny. What stands behind `--` is for dnsmasq.
 */
import { parseUpstream, type UpstreamAddress, UpstreamAddressError } from '../../forward/upstream-address.ts';
import { type FlagKinds, readGoFlags } from '../go-flags.ts';
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

const OWN_FLAGS: FlagKinds = new Map([
  ...['configDir', 'syncInterval', 'logInterval', 'kubednsServer', 'dnsmasqExec'].map(
    (name) => [name, 'value'] as const,
  ),
  ['restartDnsmasq', 'switch'],
]);
const MANNERS = { kinds: OWN_FLAGS, dashes: '-', remedy: 'Options of dnsmasq stand behind --.' };

/** @param words the command line behind the command */
export function readNannyFlags(words: readonly string[]): NannyReading {
  const read = new ValueReader();
  const given = readGoFlags(words, MANNERS, read);
  if (given === 'help') return { kind: 'help' };
  for (const word of given.words) read.complain(word, 'unexpected argument', undefined, MANNERS.remedy);
  const notes: string[] = [];
  if (given.has('dnsmasqExec'))
    notes.push('-dnsmasqExec has no effect: Portolan does the work of dnsmasq itself.');
  if (given.switch('restartDnsmasq') === false)
    notes.push(
      '-restartDnsmasq=false has no effect: changes are taken in, and nothing is restarted for them.',
    );
  const plan: NannyPlan = {
    configDir: given.last('configDir') ?? '/etc/k8s/dns/dnsmasq-nanny',
    syncInterval: read.duration('-syncInterval', given.last('syncInterval'), 10_000),
    logInterval: read.duration('-logInterval', given.last('logInterval'), 0),
    kubednsServer: readServer(read, given.last('kubednsServer') ?? '127.0.0.1:10053'),
    dnsmasqWords: given.behind,
  };
  const { problems } = read;
  return problems.length === 0 ? { kind: 'good', plan, notes } : { kind: 'bad', problems };
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
