/**
 * The flags of `portolan shadow`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader, type FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import {
  COMPARISON_FLAGS,
  type ComparisonPlan,
  readComparison,
  readServer,
  type ServerPlace,
} from '../../compare/settings/compare-flags.ts';

export const SHADOW_FLAGS = [
  {
    name: 'server',
    valueName: 'address',
    value: { kind: 'text', of: 'an address' },
    help: 'server that runs today, as 10.96.0.10 or tcp://[::1]:53',
    group: 'Server',
  },
  {
    name: 'corefile',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'Corefile of that server; flags of kube-dns may follow after -- in its place',
    group: 'Server',
  },
  {
    name: 'kubeconfig',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'as the Corefile or the flags of kube-dns say',
    help: 'kubeconfig of the cluster, which is only read',
    group: 'Server',
  },
  {
    name: 'manifests',
    valueName: 'folder',
    value: { kind: 'folder' },
    help: 'folder with the objects of the cluster, in place of an API server',
    group: 'Server',
  },
  {
    name: 'log',
    valueName: 'file',
    value: { kind: 'file' },
    help: "output of CoreDNS's log plugin, in the format common or combined; - is standard input",
    group: 'Questions',
  },
  {
    name: 'dnstap',
    valueName: 'place',
    value: { kind: 'text', of: 'a path or an address' },
    help: 'Unix socket to make, or tcp://ADDRESS:PORT to listen on, to which servers send dnstap',
    group: 'Questions',
  },
  {
    name: 'pcap',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'capture of tcpdump, as pcap or pcapng; - is standard input',
    group: 'Questions',
  },
  {
    name: 'pcap-port',
    valueName: 'port',
    value: { kind: 'integer', min: 1, max: 65_535, of: 'a port' },
    default: '53',
    help: 'port of the queries in the capture',
    group: 'Questions',
  },
  {
    name: 'questions',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'file with lines NAME [TYPE]; - is standard input',
    group: 'Questions',
  },
  ...COMPARISON_FLAGS,
] as const satisfies readonly Flag[];

export type ShadowFlags = FlagsOf<typeof SHADOW_FLAGS>;

export interface ShadowPlan extends ComparisonPlan {
  readonly server: ServerPlace;
  readonly own: {
    readonly corefile?: string;
    readonly kubeDns?: readonly string[];
    readonly kubeconfig?: string;
    readonly manifests?: string;
  };
  readonly source: QuestionSourcePlan;
}

/** Files: `-` is standard input. */
export type QuestionSourcePlan =
  | { readonly kind: 'log' | 'questions'; readonly file: string }
  | { readonly kind: 'pcap'; readonly file: string; readonly port: number }
  | { readonly kind: 'dnstap'; readonly place: TapPlace };

export type TapPlace =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly address: string; readonly port: number };

/** @param words arguments of kube-dns */
export function planFromShadowFlags(flags: ShadowFlags, words: readonly string[]): Checked<ShadowPlan> {
  const read = createFlagReader(SHADOW_FLAGS, flags);
  const server = readServer(read, '--server', flags.server ?? '');
  const plan = readComparison(flags, read.problems);
  const source = readSource(read, flags);
  if ((flags.corefile !== undefined) === words.length > 0)
    read.addProblem(
      ...(['--corefile', 'one configuration is needed', flags.corefile] as const),
      'Give --corefile, or the flags of kube-dns after --.',
    );
  const { problems } = read;
  if (problems.length > 0 || server === undefined || source === undefined) return { kind: 'bad', problems };
  const { corefile, kubeconfig, manifests } = flags;
  const own = {
    ...(corefile === undefined ? { kubeDns: words } : { corefile }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(manifests !== undefined && { manifests }),
  };
  return { kind: 'good', value: { ...plan, server, own, source } };
}

function readSource(
  read: FlagReader<typeof SHADOW_FLAGS>,
  flags: ShadowFlags,
): QuestionSourcePlan | undefined {
  const { log, dnstap, pcap, questions } = flags;
  const given = [log, dnstap, pcap, questions].filter((each) => each !== undefined);
  const port = read.value('pcap-port');
  if (given.length !== 1 || given[0] === '') {
    const remedy = 'Give one of --log, --dnstap, --pcap and --questions.';
    read.addProblem('questions', 'one source is needed', given.join(' '), remedy);
    return undefined;
  }
  if (log !== undefined) return { kind: 'log', file: log };
  if (pcap !== undefined) return { kind: 'pcap', file: pcap, port };
  if (questions !== undefined) return { kind: 'questions', file: questions };
  const place = readTapPlace(read, dnstap ?? '');
  return place && { kind: 'dnstap', place };
}

function readTapPlace(read: ValueReader, text: string): TapPlace | undefined {
  if (!text.startsWith('tcp://')) return { kind: 'unix', path: text.replace(/^unix:\/\//, '') };
  const place = readServer(read, '--dnstap', text);
  return place && { kind: 'tcp', address: place.address, port: place.port };
}
