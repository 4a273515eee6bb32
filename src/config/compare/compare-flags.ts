/**
 * The flags of `portolan compare`, and those that it shares with `portolan shadow`.
 */
import { parseUpstream, UpstreamAddressError } from '../../forward/upstream-address.ts';
import { type Flag, type FlagsOf, REPORT_FORMAT } from '../flags/flag.ts';
import type { Checked } from '../values/problem.ts';
import { ValueReader } from '../values/value-reader.ts';

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

export type ComparisonFlags = FlagsOf<typeof COMPARISON_FLAGS>;

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
  const read = new ValueReader();
  const [one, other] = servers.map((text, place) => readServer(read, `server ${'AB'[place]}`, text));
  const plan = readComparison(read, flags);
  const file = read.nonEmpty('--questions', flags.questions, 'a file');
  const { problems } = read;
  if (problems.length > 0 || one === undefined || other === undefined) return { kind: 'bad', problems };
  return { kind: 'good', value: { ...plan, servers: [one, other], file: file === '-' ? undefined : file } };
}

/** Reads the flags of any comparison; wrong ones are problems of `read`. */
export function readComparison(read: ValueReader, flags: ComparisonFlags): ComparisonPlan {
  const rates = { min: 1, max: 100_000, of: 'a number of questions' };
  const counts = { min: 1, max: 1_000_000_000, of: 'a number of questions' };
  const examples = { min: 0, max: 1000, of: 'a number of examples' };
  return {
    rate: read.integer('--rate', flags.rate, rates, 500),
    maxQuestions: read.integer('--count', flags.count, counts, undefined),
    timeout: read.duration('--timeout', flags.timeout, 5000),
    maxExamples: read.integer('--examples', flags.examples, examples, 3),
    acceptsDocumented: flags.acceptDocumented === true,
    output: read.choice('--output', flags.output, ['text', 'json'], 'text'),
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
