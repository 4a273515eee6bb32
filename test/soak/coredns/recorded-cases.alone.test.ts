/**
 * The recorded cases of CoreDNS 1.14.7, run against the built program: every step gives the recorded result, except for the
 * differences listed with their reasons.
 *
 * One group: `npx vitest run --config vitest.soak.config.ts test/soak/coredns -t 'group metrics'`.
 */
import { DEVIATIONS, type DeviationId, type RestorableId } from '@portolan/kernel/deviations/table.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CaseCluster } from '../../coredns/runner/case-cluster.ts';
import { ProgramPool } from '../../coredns/runner/case-program.ts';
import { compareResults, type Difference } from '../../coredns/runner/compare.ts';
import {
  listGroups,
  type RecordedPair,
  read,
  readGroup,
  type Step,
} from '../../coredns/runner/recorded-case.ts';
import { runCase } from '../../coredns/runner/running-case.ts';

/** A difference that is meant. */
interface KnownDifference {
  /** The name of a case; `*` stands for any end. */
  readonly case: string;
  /** Left out: all of them, and the start. */
  readonly step?: number;
  /** Its row in the table of deviations; left out: the difference is no deviation, and `why` says why it is there. */
  readonly deviation?: DeviationId;
  readonly why?: string;
}

const KNOWN = read<readonly KnownDifference[]>('../known-differences.json');
/** Cases of what we do otherwise on purpose unless a version is named with `-compat`. */
interface StrictCase {
  readonly case: string;
  /** The deviations that the case shows: they alone are restored. Left out: all are. */
  readonly deviations?: readonly RestorableId[];
  /** What shows, where `deviations` do not say it. */
  readonly why?: string;
}

/** The value of `-compat`, by the name of the case. */
const STRICT: ReadonlyMap<string, string> = new Map(
  read<readonly StrictCase[]>('../strict-cases.json').map(({ case: name, deviations }) => [
    name,
    deviations?.join() ?? '1.14',
  ]),
);
/** Names of cases by the plugin that they need and that is not built. */
const LATER = read<Readonly<Record<string, readonly string[]>>>('../later-cases.json');
const later = new Set(Object.values(LATER).flat());

const CASE_MILLISECONDS = 180_000;

let cluster: CaseCluster | undefined;
const programs = new ProgramPool();

beforeAll(async () => {
  cluster = await CaseCluster.start();
});
afterAll(() => programs.end());

/** Plugins that go on with what they have when a Corefile is loaded: answers, zones, counts. */
const KEEPING = /^\s*(?:cache|erratic|secondary)\b/m;

/**
 * Whether a case may begin by a reload of a program that ran others. That is like a start, but for what the process keeps: its flags and
 * environment, its counters, and what it logs only once.
 */
function isReloadable({ spec, expected }: RecordedPair): boolean {
  const { corefile = '', env, stdin, flags = [], steps = [] } = spec;
  const isPlain =
    env === undefined && stdin === undefined && flags.every((flag) => flag.startsWith('-compat'));
  const findKept = ({ metrics, log, signal, exit }: Step) => metrics ?? log ?? signal ?? exit;
  return (
    'ok' in expected.start &&
    isPlain &&
    !KEEPING.test(corefile) &&
    steps.length > 0 &&
    steps.every((step) => findKept(step) === undefined)
  );
}

function isKnown(name: string, { step }: Difference): boolean {
  return KNOWN.some((known) => {
    const isNamed = known.case.endsWith('*') ? name.startsWith(known.case.slice(0, -1)) : name === known.case;
    return isNamed && (known.step === undefined || known.step === step);
  });
}

function describeDifference({ step, what, expected, got }: Difference): string {
  return `[${step ?? 'start'}] ${what}\n  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(got)}`;
}

function strict(spec: RecordedPair['spec'], compat = '1.14'): RecordedPair['spec'] {
  return { ...spec, flags: [`-compat=${compat}`, ...(spec.flags ?? [])] };
}

function isStrict({ flags = [] }: RecordedPair['spec']): boolean {
  return flags.includes('-compat=1.14') || flags.some((flag) => flag.startsWith('-compat=1.13'));
}

function withFlags(spec: RecordedPair['spec']): RecordedPair['spec'] {
  const compat = STRICT.get(spec.name);
  return compat === undefined ? spec : strict(spec, compat);
}

/**
 * What our own forwarder does otherwise unless a version is named with `-compat`: it asks by queries of its own, drops records that do not
 * belong to the question, and asks again over TCP for what is truncated.
 */
function isOfForwarder({ what, expected, got }: Difference): boolean {
  const was = JSON.stringify(expected);
  const is = JSON.stringify(got);
  if (what.startsWith('seen')) return true;
  if (what.endsWith(': authority')) return is === '{"authority":[]}';
  if (is === '{"answer":[]}') return isForeign(what, was);
  return (
    /: answer(, (flags|edns))*$/.test(what) &&
    was.startsWith('{"answer":[]') &&
    !is.startsWith('{"answer":[]')
  );
}

/** A denial that is cached has the minimum of its SOA record as its TTL, if that is lower: another difference without `-compat`. */
function isOfMinimum({ what, expected, got }: Difference): boolean {
  if (!/: (answer, )?authority$/.test(what)) return false;
  const [was, is] = [expected, got].map((part) => JSON.stringify(part).replaceAll(/ \d+ IN /g, ' IN '));
  const [, ttl, minimum] = / (\d+) IN SOA .* (\d+)"/.exec(JSON.stringify(got)) ?? [];
  return was === is && ttl !== undefined && Number(ttl) <= Number(minimum);
}

const isMeant = (difference: Difference): boolean => isOfForwarder(difference) || isOfMinimum(difference);

/** Whether a scripted upstream server has answered with a record of another type than was asked for: `ask a.example. TXT: answer`. */
function isForeign(what: string, answer: string): boolean {
  const [, type] = / ([A-Z]+): answer$/.exec(what) ?? [];
  const types = [...answer.matchAll(/ IN ([A-Z]+) /g)].map(([, each]) => each);
  return type !== undefined && types.length > 0 && types.every((each) => each !== type && each !== 'CNAME');
}

async function check({ spec, expected }: RecordedPair): Promise<void> {
  const surroundings = { cluster, expected, ...(isReloadable({ spec, expected }) && { programs }) };
  const listDifferences = async (flags: RecordedPair['spec']) =>
    compareResults(expected, await runCase(flags, surroundings), isStrict(flags)).filter(
      (difference) => !isKnown(spec.name, difference),
    );
  const ours = await listDifferences(withFlags(spec));
  const strictly = ours.some(isMeant) ? await listDifferences(strict(spec)) : [];
  const unknown = [...ours.filter((difference) => !isMeant(difference)), ...strictly];
  if (unknown.length > 0) throw new Error(['not as recorded', ...unknown.map(describeDifference)].join('\n'));
}

/** Starts without a question: `test/corefile/recorded-starts.test.ts` compares their messages without a process each. */
const STARTS = 'parser-and-start';

function isOnlyStart({ steps = [] }: RecordedPair['spec']): boolean {
  return steps.length === 0;
}

/** Seconds for which a case only waits. */
function countRests({ spec: { steps = [] } }: RecordedPair): number {
  return steps.reduce((sum, { sleep = 0 }) => sum + sleep, 0);
}

/** Those that wait longest begin first, so that none is left with the machine to itself. */
const byRests = (one: RecordedPair, other: RecordedPair): number => countRests(other) - countRests(one);

/** Defines the tests of each group that has cases: those that change what others see, or all others. */
function defineGroups(alone: boolean, define: (name: string, test: () => void) => unknown): void {
  const groups = listGroups().flatMap((group) => {
    const pairs = readGroup(group).filter(
      ({ spec }) =>
        (spec.alone === true) === alone && !later.has(spec.name) && !(group === STARTS && isOnlyStart(spec)),
    );
    const [first, ...others] = pairs.toSorted(byRests);
    return first === undefined ? [] : { group, first, pairs: [first, ...others] };
  });
  for (const { group, pairs } of groups.toSorted((one, other) => byRests(one.first, other.first)))
    define(`group ${group}`, () => {
      for (const pair of pairs) it(pair.spec.name, () => check(pair), CASE_MILLISECONDS);
    });
}

// All groups side by side: while some cases rest, others have the processor.
defineGroups(false, describe.concurrent);
defineGroups(true, describe);

describe('the lists of cases', () => {
  const all = listGroups().flatMap(readGroup);
  const names = new Set(all.map(({ spec }) => spec.name));

  it('name cases that there are', () => {
    const listed = [...later, ...STRICT.keys(), ...KNOWN.map((known) => known.case)].filter(
      (name) => !name.endsWith('*'),
    );
    expect(listed.filter((name) => !names.has(name))).toEqual([]);
  });

  it('say of each difference why it is there', () => {
    const ids = new Set<unknown>(DEVIATIONS.map(({ id }) => id));
    const unexplained = KNOWN.filter(({ deviation, why }) => !(ids.has(deviation) || (why ?? '') !== ''));
    expect(unexplained).toEqual([]);
  });

  it('hold differences in the hundredth part of all steps at most', () => {
    const steps = all.reduce((sum, { spec }) => sum + (spec.steps?.length ?? 0), 0);
    expect(KNOWN.length).toBeLessThanOrEqual(steps / 100);
  });
});
