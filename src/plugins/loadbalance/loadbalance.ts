/**
 * Shuffles the addresses in answers, to spread clients that take the first one over all of them.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import { isResponse, wholeAnswerOf } from '../../chain/whole-answer.ts';
import { RCODE, type ResourceRecord, TYPE } from '../../wire/types.ts';

/** @param random from 0 to below 1 */
export function createLoadbalanceHandler(random: () => number = Math.random): Handler {
  return {
    name: 'loadbalance',
    role: 'other',
    questions: NO_QUESTIONS,
    // Readers rotate sets of addresses.
    answers: 'modifiers',
    async handle(query, next) {
      const answer = await next(query);
      const { type } = query.question;
      return type === TYPE.AXFR || type === TYPE.IXFR ? answer : shuffleAnswer(answer, random);
    },
  };
}

function shuffleAnswer(answer: Answer, random: () => number): Answer {
  if (answer.kind === 'drop' || !isResponse(answer)) return answer;
  const whole = wholeAnswerOf(answer);
  if (whole.rcode !== RCODE.NOERROR) return answer;
  return {
    ...whole,
    answers: arrange(whole.answers, random),
    authorities: arrange(whole.authorities, random),
    additionals: arrange(whole.additionals, random),
  };
}

/** Aliases first, since they lead to the others; then records that are not shuffled; then addresses and mail servers. */
function arrange(records: readonly ResourceRecord[], random: () => number): readonly ResourceRecord[] {
  if (records.length < 2) return records;
  const groups: Record<Group, ResourceRecord[]> = { aliases: [], rest: [], addresses: [], exchanges: [] };
  for (const record of records) groups[groupOf(record)].push(record);
  const { aliases, rest, addresses, exchanges } = groups;
  return [...aliases, ...rest, ...shuffle(addresses, random), ...shuffle(exchanges, random)];
}

type Group = 'aliases' | 'rest' | 'addresses' | 'exchanges';

function groupOf({ data }: ResourceRecord): Group {
  if (data.kind === 'CNAME') return 'aliases';
  if (data.kind === 'A' || data.kind === 'AAAA') return 'addresses';
  return data.kind === 'MX' ? 'exchanges' : 'rest';
}

function shuffle(records: ResourceRecord[], random: () => number): readonly ResourceRecord[] {
  for (let at = records.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [one, two] = [records[at], records[other]];
    if (one === undefined || two === undefined) continue;
    records[at] = two;
    records[other] = one;
  }
  return records;
}
