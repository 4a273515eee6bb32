/**
 * The recorded answers of CoreDNS and kube-dns, question by question, from both the plain chain and the table.
 */
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { type Message, RCODE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { namesWithin } from '@portolan/kernel/chain/match.ts';
import {
  AskableCluster,
  type DialectName,
  question,
} from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { goldenObjects } from './golden-objects.ts';
import { KNOWN_DIFFERENCES, type KnownDifference } from './known-differences.ts';
import {
  findAnswerDifferences,
  type RecordedAnswer,
  readQuestions,
  readRecorded,
  recordMessage,
} from './recorded-answer.ts';

const DIALECTS = ['coredns', 'kube-dns'] as const;

function findKnownDifference(recorded: RecordedAnswer, dialect: DialectName): KnownDifference | undefined {
  const { name, type } = recorded;
  return KNOWN_DIFFERENCES.find(
    ({ dialects, isAbout }) => dialects.includes(dialect) && isAbout(name.toLowerCase(), type, recorded),
  );
}

const REVERSE_NAMES = namesWithin(
  new Set([toKey(parseName('in-addr.arpa.')), toKey(parseName('ip6.arpa.'))]),
);
const REFUSED: Answer = {
  kind: 'forwarded',
  rcode: RCODE.REFUSED,
  authoritative: false,
  truncated: false,
  authenticData: false,
  answers: [],
  authorities: [],
  additionals: [],
  memory: undefined,
};

/** What CoreDNS passed names of the reverse tree on to. */
const refusingUpstream: Handler = {
  name: 'forward',
  role: 'forwarder',
  questions: REVERSE_NAMES,
  answers: 'unchanged',
  handle: (query, next) => (REVERSE_NAMES.includes(query.key, query.question.type) ? REFUSED : next(query)),
};

const asked = ({ name, type }: RecordedAnswer) => question(name, parseType(type) ?? 0);

describe.each(DIALECTS)('recorded answers of %s', (dialect) => {
  const recorded = readRecorded(dialect);
  const cluster = new AskableCluster(dialect, {}, dialect === 'coredns' ? [refusingUpstream] : []);
  const rightAnswers = recorded.map((answer) => {
    const difference = findKnownDifference(answer, dialect);
    return difference === undefined ? answer : difference.right(answer, dialect);
  });

  const differenceFromRight = (index: number, message: Message) => {
    const right = rightAnswers[index];
    if (right === undefined) return { name: 'an answer that was not recorded' };
    const difference = findAnswerDifferences(right, recordMessage(message));
    return Object.keys(difference).length === 0
      ? undefined
      : { ...difference, asked: `${right.name} ${right.type}` };
  };

  beforeAll(() => cluster.list(goldenObjects()));

  it('are all there', () => {
    expect(recorded).toHaveLength(673);
    expect(recorded.map(({ name, type }) => ({ name, type }))).toEqual(readQuestions());
  });

  it('are what the plain chain answers, known differences excepted', async () => {
    const ours = await Promise.all(recorded.map((answer) => cluster.askChain(asked(answer))));
    const differences = ours.map((message, index) => differenceFromRight(index, message));
    expect(differences.filter((difference) => difference !== undefined)).toEqual([]);
  });

  it('are what the table answers, where it does not ask the chain', () => {
    const ours = recorded.map((answer) => cluster.askTable(asked(answer)));
    const differences = ours.map((message, index) => message && differenceFromRight(index, message));
    expect(differences.filter((difference) => difference !== undefined)).toEqual([]);
    expect(ours.filter((message) => message !== undefined).length).toBeGreaterThan(500);
  });

  it.each(KNOWN_DIFFERENCES.filter(({ dialects }) => dialects.includes(dialect)))(
    'differ from ours where they must, by $deviation: $shows',
    (difference) => {
      const concerned = recorded.filter((answer) => findKnownDifference(answer, dialect) === difference);
      expect(concerned.length).toBeGreaterThan(0);
      for (const answer of concerned)
        expect(findAnswerDifferences(answer, difference.right(answer, dialect))).not.toEqual({});
    },
  );
});
