import type { Message, ResourceRecord } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { expect, it } from 'vitest';
import { type AskedQuestion, readListLine } from './asked-question.ts';
import { Comparison, SilentSideError } from './comparison.ts';
import { findDeviation } from './known-deviations.ts';
import type { QueryResponder, QueryResponderReply } from './query-responder.ts';
import { makeReport, renderReport } from './render-report.ts';
import { type Counted, Tally } from './tally.ts';

const FLAGS = {
  id: 0,
  response: true,
  opcode: 0,
  authoritative: true,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
};

function replied(
  question: AskedQuestion,
  header: Partial<Message['header']>,
  addresses: readonly string[],
): QueryResponderReply {
  const answers = addresses.map(
    (address): ResourceRecord => ({ name: question.name, class: 1, ttl: 30, data: { kind: 'A', address } }),
  );
  const { name, type, class: dnsClass } = question;
  const message: Message = {
    header: { ...FLAGS, ...header },
    questions: [{ name, type, class: dnsClass }],
    answers,
    authorities: [],
    additionals: [],
    edns: undefined,
  };
  return { kind: 'replied', message, milliseconds: 1.5 };
}

function makeAnswerer(
  ask: (question: AskedQuestion, byStream: boolean) => QueryResponderReply,
): QueryResponder {
  return { ask: async (question, byStream) => ask(question, byStream), close() {} };
}

async function* makeQuestions(count: number): AsyncGenerator<AskedQuestion> {
  for (let index = 0; index < count; index += 1) {
    const question = readListLine(`n${index}.example`);
    if (question !== undefined) yield question;
  }
}

async function compare(one: QueryResponder, other: QueryResponder, count = 30): Promise<Counted> {
  const tally = new Tally(2);
  const comparison = new Comparison({
    answerers: [one, other],
    sides: ['A', 'B'],
    findDeviation,
    rate: 1e6,
    maxQuestions: 25,
    tally,
    clock: systemClock,
  });
  await comparison.run(makeQuestions(count));
  return tally.count();
}

const plain = makeAnswerer((question) => replied(question, {}, ['10.0.0.1', '10.0.0.2']));

it('counts equal answers, whatever their order, up to the number asked for', async () => {
  const turned = makeAnswerer((question) => replied(question, {}, ['10.0.0.2', '10.0.0.1']));
  expect(await compare(plain, turned)).toMatchObject({ questions: 25, equal: 25, different: 0, kinds: [] });
});

it('counts each kind of difference with its reason and its first examples', async () => {
  const other = makeAnswerer((question) =>
    question.name.startsWith('n1')
      ? replied(question, { rcode: 3 }, [])
      : replied(question, {}, ['10.0.0.1']),
  );
  const counted = await compare(plain, other);
  expect(counted.kinds.map(({ reason, count, examples }) => [reason, count, examples.length])).toEqual([
    ['answer: records only from A', 14, 2],
    ['NOERROR from A, NXDOMAIN from B', 11, 2],
  ]);
  const text = renderReport(
    makeReport({
      sides: ['A', 'B'],
      places: ['one', 'two'],
      counted,
      leftOut: { count: 0, first: undefined },
    }),
  );
  expect(text).toContain('14 x answer: records only from A');
  expect(text).toContain('25 different');
});

it('asks again before it takes an answer that changes for a difference', async () => {
  let turn = 0;
  const changing = makeAnswerer((question) => {
    turn += 1;
    return replied(question, {}, turn % 2 === 0 ? ['10.0.0.1', '10.0.0.2'] : ['10.0.0.9']);
  });
  const counted = await compare(plain, changing, 1);
  expect(counted).toMatchObject({ questions: 1, equalWhenAskedAgain: 1, different: 0 });
});

it('compares over TCP what does not fit', async () => {
  const cut = (kept: string) =>
    makeAnswerer((question, byStream) =>
      byStream
        ? replied(question, {}, ['10.0.0.1', '10.0.0.2'])
        : replied(question, { truncated: true }, [kept]),
    );
  expect(await compare(cut('10.0.0.1'), cut('10.0.0.2'))).toMatchObject({ equal: 25 });
});

it('ends if one side never replies', async () => {
  const silent = makeAnswerer(() => ({ kind: 'failed', reason: 'no reply' }));
  await expect(compare(plain, silent)).rejects.toThrow(SilentSideError);
  const first = makeAnswerer((question) =>
    question.name === 'n3.example.' ? { kind: 'failed', reason: 'no reply' } : replied(question, {}, []),
  );
  const counted = await compare(first, first);
  expect(counted).toMatchObject({ equal: 24, different: 1 });
  expect(counted.kinds).toMatchObject([{ reason: 'no reply from A, no reply from B' }]);
});

it('bounds the kinds that it keeps', () => {
  const tally = new Tally(1);
  const question = readListLine('x');
  if (question === undefined) throw new Error('no question');
  for (let index = 0; index < 1000; index += 1)
    tally.add(question, { kind: 'different', reason: `r${index}`, deviation: undefined, said: ['a', 'b'] });
  const { kinds, different } = tally.count();
  expect(different).toBe(1000);
  expect(kinds).toHaveLength(201);
  expect(kinds[0]).toMatchObject({ reason: 'further kinds of differences', count: 800 });
});
