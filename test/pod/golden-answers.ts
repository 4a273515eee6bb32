/**
 * The answers of kube-dns for the golden cluster, as a client gets them through a cache in front.
 */
import { isDeepStrictEqual } from 'node:util';
import { KNOWN_DIFFERENCES } from '../golden/known-differences.ts';
import { maskRecords, type RecordedAnswer, readRecorded } from '../golden/recorded-answer.ts';
import type { LayoutName } from './layouts.ts';

/** What of an answer is the same behind a cache: AA is the cache's own matter, and TTLs count down. */
interface HeardAnswer {
  readonly question: string;
  readonly rcode: string;
  readonly records: readonly string[];
}

export function heard(answer: RecordedAnswer): HeardAnswer {
  const { name, type, rcode } = answer;
  const records = [...new Set(maskRecords(answer.answer))].sort();
  const withoutTtl = (line: string) => line.replace(/^(\S+) \S+ /, '$1 ');
  return { question: `${name.toLowerCase()} ${type}`, rcode, records: records.map(withoutTtl) };
}

/** The recorded answers, and the right ones where those were wrong. */
function rightAnswers(): readonly RecordedAnswer[] {
  return readRecorded('kube-dns').map((recorded) => {
    const { name, type } = recorded;
    const difference = KNOWN_DIFFERENCES.find(
      ({ dialects, isAbout }) => dialects.includes('kube-dns') && isAbout(name.toLowerCase(), type, recorded),
    );
    return difference === undefined ? recorded : difference.right(recorded, 'kube-dns');
  });
}

interface FrontDifference {
  readonly layouts: readonly LayoutName[];
  readonly why: string;
  readonly isAbout: (question: string) => boolean;
  /** What is heard instead. @param rights the right answers by their questions */
  readonly instead: (right: HeardAnswer, rights: ReadonlyMap<string, HeardAnswer>) => HeardAnswer;
  /** Whether the right answer may be heard as well. */
  readonly sometimes: boolean;
}

const FRONT_DIFFERENCES: readonly FrontDifference[] = [
  {
    layouts: ['the original dnsmasq between ours'],
    why: 'dnsmasq puts answers together from a CNAME that it was told for addresses and from the SRV records of its target',
    isAbout: (question) => question.endsWith(' SRV'),
    instead: throughAlias,
    sometimes: true,
  },
];

function throughAlias(right: HeardAnswer, rights: ReadonlyMap<string, HeardAnswer>): HeardAnswer {
  const [name] = right.question.split(' ');
  const alias = rights.get(`${name} A`)?.records.find((record) => record.startsWith(`${name} CNAME `));
  const ports = rights.get(`${alias?.split(' ').at(-1)} SRV`);
  if (alias === undefined || ports === undefined) return right;
  return { ...right, records: [alias, ...ports.records].sort() };
}

/** What must be heard at the front port. @param ours decides where two answers are right */
export function expectedAtFront(layout: LayoutName, ours: readonly HeardAnswer[]): readonly HeardAnswer[] {
  const answers = rightAnswers().map(heard);
  const rights = new Map(answers.map((right) => [right.question, right]));
  return answers.map((right, index) => {
    const known = FRONT_DIFFERENCES.find(
      ({ layouts, isAbout }) => layouts.includes(layout) && isAbout(right.question),
    );
    if (known === undefined || (known.sometimes && isDeepStrictEqual(ours[index], right))) return right;
    return known.instead(right, rights);
  });
}
