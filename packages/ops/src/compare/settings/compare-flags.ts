/**
 * The flags of `portolan compare`, and those that it shares with `portolan shadow`.
 */
import { parseUpstream, UpstreamAddressError } from '@portolan/kernel/forward/upstream-address.ts';
import { type Flag, type FlagsOf, REPORT_FORMAT } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked, Problem } from '@portolan/server/settings/values/problem.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';

export const COMPARISON_FLAGS = [
  {
    name: 'rate',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 100_000, of: 'a number of questions' },
    default: '500',
    help: 'questions in a second at most',
  },
  {
    name: 'count',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 1_000_000_000, of: 'a number of questions' },
    defaultNote: 'all',
    help: 'questions in all at most',
  },
  {
    name: 'timeout',
    valueName: 'time',
    value: { kind: 'duration' },
    default: '5s',
    help: 'time that a server has for a reply',
  },
  {
    name: 'examples',
    valueName: 'number',
    value: { kind: 'integer', min: 0, max: 1000, of: 'a number of examples' },
    default: '3',
    help: 'examples shown of each kind of difference',
  },
  {
    name: 'accept-documented',
    value: 'none',
    help: 'exit with 0 if all differences are documented',
  },
  REPORT_FORMAT,
] as const satisfies readonly Flag[];

export const COMPARE_FLAGS = [
  {
    name: 'questions',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'standard input',
    help: 'file with lines NAME [TYPE], as dnsperf reads them; - is standard input',
  },
  ...COMPARISON_FLAGS,
] as const satisfies readonly Flag[];

export type CompareFlags = FlagsOf<typeof COMPARE_FLAGS>;

export interface ComparisonPlan {
  /** Questions in a second. */
  readonly rate: number;
  readonly maxQuestions: number | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  readonly maxExamples: number;
  readonly acceptsDocumented: boolean;
  readonly output: 'text' | 'json';
}

/** A server to ask. */
export interface ServerPlace {
  readonly transport: 'udp' | 'tcp';
  readonly address: string;
  readonly port: number;
}

export interface ComparePlan extends ComparisonPlan {
  readonly servers: readonly [ServerPlace, ServerPlace];
  /** Undefined: standard input. */
  readonly file: string | undefined;
}

/** @param servers the two arguments */
export function planFromCompareFlags(
  servers: readonly [string, string],
  flags: CompareFlags,
): Checked<ComparePlan> {
  const read = createFlagReader(COMPARE_FLAGS, flags);
  const [one, other] = servers.map((text, place) => readServer(read, `server ${'AB'[place]}`, text));
  const plan = readComparison(flags, read.problems);
  const file = read.nonEmpty('--questions', flags.questions, 'a file');
  const { problems } = read;
  if (problems.length > 0 || one === undefined || other === undefined) return { kind: 'bad', problems };
  return { kind: 'good', value: { ...plan, servers: [one, other], file: file === '-' ? undefined : file } };
}

/** Reads the flags of any comparison. @param problems the list to add problems to */
export function readComparison(flags: FlagsOf<typeof COMPARISON_FLAGS>, problems: Problem[]): ComparisonPlan {
  const read = createFlagReader(COMPARISON_FLAGS, flags, problems);
  return {
    rate: read.value('rate'),
    maxQuestions: read.value('count'),
    timeout: read.value('timeout'),
    maxExamples: read.value('examples'),
    acceptsDocumented: read.isOn('accept-documented'),
    output: read.value('output'),
  };
}

const SERVER_REMEDY = 'Give an address such as 10.96.0.10, 127.0.0.1:5353 or tcp://[::1]:53.';

/** @returns undefined after a problem */
export function readServer(read: ValueReader, where: string, text: string): ServerPlace | undefined {
  try {
    const { transport, host, port, source } = parseUpstream(text);
    if (transport !== 'tls' && transport !== 'https' && host.kind === 'address' && source === undefined)
      return { transport, address: host.address, port };
  } catch (error) {
    if (!(error instanceof UpstreamAddressError)) throw error;
  }
  read.addProblem(where, 'not the address of a server over UDP or TCP', text, SERVER_REMEDY);
  return undefined;
}
