/**
 * Orders the addresses in answers, to spread clients that take the first one over all of them: at random, by weight, or by ranges.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, matchRange } from '@portolan/dns/address-range.ts';
import { RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS, anyName, NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { LoadbalanceOptions } from './options.ts';
import { Weights } from './weights.ts';

/** The order of the records of a section. */
type Arrange = (records: readonly ResourceRecord[]) => readonly ResourceRecord[];

export interface LoadbalanceDependencies {
  /** From 0 to below 1. */
  readonly random?: () => number;
  /** The weights in force; undefined: addresses are shuffled. */
  readonly weights?: (() => Weights) | undefined;
}

export function createLoadbalanceHandler(
  { preferred }: Pick<LoadbalanceOptions, 'preferred'> = { preferred: [] },
  { random = Math.random, weights }: LoadbalanceDependencies = {},
): Handler {
  const ranges = preferred.map(matchRange);
  const isShuffling = weights === undefined;
  const prefers = ranges.length > 0;
  const prefer: Arrange = prefers ? (records) => preferRanges(records, ranges) : (records) => records;
  const weigh: Arrange = (records) => putFirst(records, weights?.() ?? Weights.NONE, random);
  const parts = { name: 'loadbalance', role: 'other', rotates: true } as const;
  if (isShuffling && !prefers)
    return {
      ...parts,
      questions: NO_QUESTIONS,
      // Readers rotate sets of addresses.
      answers: 'modifiers',
      handle: async (query, next) => shuffleAnswer(await next(query), query, random),
    };
  return {
    ...parts,
    // Readers know neither weights nor ranges.
    questions: prefers ? ALL_QUESTIONS : anyName(WEIGHTED_TYPES),
    answers: 'unchanged',
    async handle(query, next) {
      // The next client gets another order.
      query.forbidStoring();
      const answer = await next(query);
      if (isShuffling) return arrangeAnswer(shuffleAnswer(answer, query, random), query, prefer);
      if (!WEIGHTED_TYPES.has(query.question.type)) return arrangeAnswer(answer, query, prefer);
      return arrangeAnswer(answer, query, (records) => prefer(weigh(records)));
    },
  };
}

/** The questions whose answers have weights. */
const WEIGHTED_TYPES: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.SRV]);

function shuffleAnswer(answer: Answer, query: Query, random: () => number): Answer {
  const shuffle: Arrange = (records) => arrange(records, random);
  const shuffled = arrangeAnswer(answer, query, shuffle);
  return shuffled === answer || shuffled.kind !== 'message'
    ? answer
    : { ...shuffled, authorities: shuffle(shuffled.authorities) };
}

/** Changes the order in the answer and additional sections, but not of transfers and errors. */
function arrangeAnswer(answer: Answer, { question: { type } }: Query, order: Arrange): Answer {
  if (type === TYPE.AXFR || type === TYPE.IXFR) return answer;
  if (answer.kind === 'drop' || !isResponse(answer)) return answer;
  const whole = toWholeAnswer(answer);
  if (whole.rcode !== RCODE.NOERROR) return answer;
  return { ...whole, answers: order(whole.answers), additionals: order(whole.additionals) };
}

/** Puts one address first, drawn by its weight. */
function putFirst(
  records: readonly ResourceRecord[],
  weights: Weights,
  random: () => number,
): readonly ResourceRecord[] {
  const { aliases, rest, addresses, exchanges } = groupRecords(records);
  if (addresses.length === 0) return records;
  const all = addresses.map((record) => weights.of(record));
  let drawn = random() * all.reduce((sum, weight) => sum + weight, 0);
  let first = 0;
  while (first < addresses.length - 1 && drawn >= (all[first] ?? 0)) {
    drawn -= all[first] ?? 0;
    first += 1;
  }
  swap(addresses, 0, first);
  return [...aliases, ...rest, ...addresses, ...exchanges];
}

/** Addresses of the first range first, then those of the next one, then all others. CoreDNS puts what is no address last. */
function preferRanges(
  records: readonly ResourceRecord[],
  ranges: readonly AddressMatch[],
): readonly ResourceRecord[] {
  const { aliases, rest, addresses, exchanges } = groupRecords(records);
  const computeRank = ({ data }: ResourceRecord): number => {
    const octets = data.kind === 'A' || data.kind === 'AAAA' ? parseAddress(data.address) : undefined;
    const rank = ranges.findIndex((isWithin) => octets !== undefined && isWithin(octets));
    return rank < 0 ? ranges.length : rank;
  };
  const sorted = addresses.toSorted((one, other) => computeRank(one) - computeRank(other));
  return [...aliases, ...sorted, ...exchanges, ...rest];
}

/** Aliases first, since they lead to the others; then records that are not shuffled; then addresses and mail servers. */
function arrange(records: readonly ResourceRecord[], random: () => number): readonly ResourceRecord[] {
  if (records.length < 2) return records;
  const { aliases, rest, addresses, exchanges } = groupRecords(records);
  return [...aliases, ...rest, ...shuffle(addresses, random), ...shuffle(exchanges, random)];
}

function groupRecords(records: readonly ResourceRecord[]): Record<Group, ResourceRecord[]> {
  const groups: Record<Group, ResourceRecord[]> = { aliases: [], rest: [], addresses: [], exchanges: [] };
  for (const record of records) groups[toGroup(record)].push(record);
  return groups;
}

type Group = 'aliases' | 'rest' | 'addresses' | 'exchanges';

function toGroup({ data }: ResourceRecord): Group {
  if (data.kind === 'CNAME') return 'aliases';
  if (data.kind === 'A' || data.kind === 'AAAA') return 'addresses';
  return data.kind === 'MX' ? 'exchanges' : 'rest';
}

function shuffle(records: ResourceRecord[], random: () => number): readonly ResourceRecord[] {
  for (let at = records.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    swap(records, at, other);
  }
  return records;
}

function swap(records: ResourceRecord[], at: number, other: number): void {
  const one = records[at];
  const two = records[other];
  if (one === undefined || two === undefined) return;
  records[at] = two;
  records[other] = one;
}
