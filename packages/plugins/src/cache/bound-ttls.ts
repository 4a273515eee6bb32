/**
 * Bounds the TTLs sent to clients, however long an answer is cached.
 */
import type { ResourceRecord } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';

/** @param most seconds; the cached form of the answer keeps its own TTLs */
export function boundTtls(answer: Answer, most: number): Answer {
  if (answer.kind !== 'forwarded') return answer;
  const bound = (record: ResourceRecord) => (record.ttl <= most ? record : { ...record, ttl: most });
  const { answers, authorities, additionals } = answer;
  return {
    ...answer,
    answers: answers.map(bound),
    authorities: authorities.map(bound),
    additionals: additionals.map(bound),
  };
}
