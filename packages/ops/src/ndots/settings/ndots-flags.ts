/**
 * The flags of `portolan ndots`.
 */
import { RESOLVER_LIBRARIES, type ResolverLibrary } from '@portolan/server/reasons/search-walk.ts';
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import { CONTROL_FLAGS } from '../../control/settings/control-flags.ts';

const [SOCKET] = CONTROL_FLAGS;
const EVIDENCE = 'What is looked at';
const OUTPUT = 'Output';

export const NDOTS_FLAGS = [
  {
    name: 'for',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '60s',
    group: EVIDENCE,
    help: 'how long questions are counted, before something is said',
  },
  { ...SOCKET, group: EVIDENCE },
  {
    name: 'evidence',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'addresses have no names of workloads',
    group: EVIDENCE,
    help: 'pods, ReplicaSets and Jobs as kubectl get -o json prints them; - is standard input',
    details:
      'Documents `{"portolanQuestions":[…]}` among them have what `portolan control questions --output=json` printed of several servers; then no server is asked.',
  },
  {
    name: 'resolver',
    valueName: 'library',
    value: { kind: 'choice', choices: RESOLVER_LIBRARIES },
    default: 'glibc',
    group: EVIDENCE,
    help: 'resolver library for what would be saved; a change breaks no name under any of them',
  },
  {
    name: 'before',
    valueName: 'file',
    value: { kind: 'file' },
    group: OUTPUT,
    help: 'show what has changed since this output of an earlier run with --output=json',
  },
  {
    name: 'watch',
    value: 'none',
    group: OUTPUT,
    help: 'go on, and show what has changed since the first time',
  },
  {
    name: 'rows',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 1_000, of: 'a number of workloads' },
    default: '20',
    group: OUTPUT,
    help: 'workloads to show, those that waste most',
  },
  {
    name: 'output',
    valueName: 'format',
    value: { kind: 'choice', choices: ['text', 'json', 'kustomize'] },
    default: 'text',
    group: OUTPUT,
    help: 'format of the output; kustomize prints the patches for a kustomization.yaml',
  },
] as const satisfies readonly Flag[];

export type NdotsFlags = FlagsOf<typeof NDOTS_FLAGS>;

export interface NdotsPlan {
  /** For how long questions are counted, as the order `questions` takes it. */
  readonly time: string;
  /** Undefined: that of the only server. */
  readonly socket: string | undefined;
  /** A file with objects. Undefined: none are known. */
  readonly evidence: string | undefined;
  readonly library: ResolverLibrary;
  /** A file with an earlier report. */
  readonly before: string | undefined;
  readonly goesOn: boolean;
  readonly rows: number;
  readonly output: 'text' | 'json' | 'kustomize';
}

export function planFromNdotsFlags(flags: NdotsFlags): Checked<NdotsPlan> {
  const read = createFlagReader(NDOTS_FLAGS, flags);
  const time = read.text('for') ?? '';
  if (read.value('for') === 0) read.addProblem('--for', 'no time', time, 'Give one such as 60s.');
  const value = {
    time,
    socket: read.value('socket'),
    evidence: read.value('evidence'),
    library: read.value('resolver'),
    before: read.value('before'),
    goesOn: read.isOn('watch'),
    rows: read.value('rows'),
    output: read.value('output'),
  };
  return read.problems.length > 0 ? { kind: 'bad', problems: read.problems } : { kind: 'good', value };
}
