/**
 * The flags of dnsmasq-nanny. Arguments after `--` are dnsmasq options.
 */
import {
  parseUpstream,
  type UpstreamAddress,
  UpstreamAddressError,
} from '@portolan/kernel/forward/upstream-address.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { readProgramFlags } from '@portolan/server/settings/flags/program-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';

export interface NannyPlan {
  readonly configDir: string;
  /** Milliseconds between polls of the folder, if the system does not report changes. */
  readonly syncInterval: number;
  /** Milliseconds between reports of statistics; 0: no reports. */
  readonly logInterval: number;
  /** The server that resolves the names of stub servers inside the cluster domain. */
  readonly kubednsServer: UpstreamAddress;
  readonly dnsmasqWords: readonly string[];
}

export type NannyReading =
  | { readonly kind: 'help' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: NannyPlan; readonly notes: readonly string[] };

/** Without the klog flags. */
export const NANNY_FLAGS = [
  {
    name: 'configDir',
    valueName: 'folder',
    value: { kind: 'folder' },
    default: '/etc/k8s/dns/dnsmasq-nanny',
    help: 'folder that the ConfigMap of kube-dns is mounted in',
  },
  {
    name: 'syncInterval',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '10s',
    help: 'interval at which the folder is read where the system reports no changes',
  },
  {
    name: 'logInterval',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '0s',
    help: 'interval at which statistics are logged; 0 logs none',
  },
  {
    name: 'kubednsServer',
    valueName: 'address',
    value: { kind: 'text', of: 'a server' },
    default: '127.0.0.1:10053',
    help: 'server for names of stub servers in the cluster',
  },
  {
    name: 'restartDnsmasq',
    value: 'none',
    help: 'accepted, not needed: changes take effect without a restart',
  },
  {
    name: 'dnsmasqExec',
    valueName: 'path',
    value: { kind: 'file' },
    help: 'accepted, without effect: no other program is run',
  },
] as const satisfies readonly Flag[];

const REMEDY = 'Options of dnsmasq stand behind --.';
const MANNERS = { dashes: '-', remedy: REMEDY, wordRemedy: REMEDY, leavesBehind: true };

/** @param words the arguments after the command */
export function readNannyFlags(words: readonly string[]): NannyReading {
  const flags = readProgramFlags(words, NANNY_FLAGS, MANNERS);
  if (flags.kind !== 'flags') return flags;
  const { given, read } = flags;
  const { problems } = read;
  const notes: string[] = [];
  if (given.has('dnsmasqExec'))
    notes.push('-dnsmasqExec has no effect: Portolan does the work of dnsmasq itself.');
  if (given.switch('restartDnsmasq') === false)
    notes.push(
      '-restartDnsmasq=false has no effect: changes take effect, and nothing is restarted for them.',
    );
  const plan: NannyPlan = {
    configDir: read.value('configDir'),
    syncInterval: read.value('syncInterval'),
    logInterval: read.value('logInterval'),
    kubednsServer: readServer(read, read.value('kubednsServer')),
    dnsmasqWords: given.behind,
  };
  return problems.length === 0 ? { kind: 'good', plan, notes } : { kind: 'bad', problems };
}

function readServer(read: ValueReader, text: string): UpstreamAddress {
  try {
    return parseUpstream(text);
  } catch (error) {
    if (!(error instanceof UpstreamAddressError)) throw error;
    read.addProblem(
      '-kubednsServer',
      'not a server',
      text,
      'Give an address and port, as in 127.0.0.1:10053.',
    );
    return parseUpstream('127.0.0.1:10053');
  }
}
