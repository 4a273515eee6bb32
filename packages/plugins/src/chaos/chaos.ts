/**
 * Answers questions of class CHAOS for TXT, from texts by name.
 */
import {
  CLASS,
  type Handler,
  type Next,
  NO_QUESTIONS,
  type Query,
  type ResourceRecord,
  TYPE,
} from '@portolan/plugin';

/** The records of a name: the strings of each. */
export type ChaosRecords = readonly (readonly Uint8Array[])[];

export interface ChaosAnswers {
  readonly constants: ReadonlyMap<string, ChaosRecords>;
  /** TTL of constants, in seconds. */
  readonly ttl: number;
  /** Read for each question; their TTL is 0. */
  readonly counts: ReadonlyMap<string, () => ChaosRecords>;
  /** Whether type ANY gets the same records. */
  readonly answersAny: boolean;
  /** Whether answers have the AA bit. */
  readonly authoritative: boolean;
  /** What all further questions of the class get. `next`: the answer of the next handler. */
  readonly further: 'notimp' | 'next';
}

/** Passes on other classes. */
export function createChaosHandler(answers: ChaosAnswers): Handler {
  const { authoritative, further } = answers;
  const handle = (query: Query, next: Next) => {
    if (query.question.class !== CLASS.CH) return next(query);
    const records = findRecords(answers, query);
    if (records !== undefined) return { kind: 'records', records, additionals: [], authoritative } as const;
    return further === 'notimp' ? ({ kind: 'notimp' } as const) : next(query);
  };
  return {
    name: 'chaos',
    role: 'other',
    questions: NO_QUESTIONS,
    answers: 'unchanged',
    answersClasses: 'chaos',
    handle,
  };
}

function findRecords(
  { constants, ttl, counts, answersAny }: ChaosAnswers,
  { question: { name, type }, key }: Query,
): readonly ResourceRecord[] | undefined {
  if (type !== TYPE.TXT && !(answersAny && type === TYPE.ANY)) return undefined;
  const constant = constants.get(key);
  const found = constant ?? counts.get(key)?.();
  return found?.map((strings) => ({
    name,
    class: CLASS.CH,
    ttl: constant === undefined ? 0 : ttl,
    data: { kind: 'TXT', strings },
  }));
}

/** A record of one string, which is cut after 255 octets. */
export function cutString(text: Uint8Array): readonly Uint8Array[] {
  return [text.subarray(0, MAX_OCTETS)];
}

/** Maximum length of one string in a TXT record. */
const MAX_OCTETS = 255;
