/**
 * Follows aliases: the target goes through all handlers again, so it may lie in any zone, or outside.
 */
import { toKey } from '@portolan/dns/name.ts';
import { RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';

type AliasAnswer = Extract<Answer, { kind: 'alias' }>;

/** Maximum length of an alias chain that is followed for one question. */
const MAX_STEPS = 8;

export function createAliasFollower(log: Log, clock: Clock): Handler {
  const warnings = new RateLimitedWarnings(log, clock);
  const handle: Handler['handle'] = async (query, next) => {
    const first = await next(query);
    if (first.kind !== 'alias') return first;
    const records: ResourceRecord[] = [];
    const seen = new Set([query.key]);
    let current: Answer = first;
    while (current.kind === 'alias') {
      records.push(...current.records);
      const target = toKey(current.target);
      if (seen.has(target) || seen.size > MAX_STEPS) {
        warnings.warn('alias not followed to its end', { name: query.key, target, steps: seen.size });
        return withoutEnd(first, records);
      }
      seen.add(target);
      current = await next(query.about({ ...query.question, name: current.target }));
    }
    return join(first, records, current);
  };
  return { name: 'alias', role: 'other', questions: NO_QUESTIONS, answers: 'chain', handle };
}

/** The answer if the aliases do not lead to one. */
function withoutEnd(first: AliasAnswer, records: readonly ResourceRecord[]): Answer {
  const { authoritative, soa } = first;
  if (first.unanswered === 'nodata') return { kind: 'nodata', aliases: [], soa, authoritative };
  return { kind: 'records', records, additionals: [], authoritative };
}

function join(
  first: AliasAnswer,
  aliases: readonly ResourceRecord[],
  end: Exclude<Answer, AliasAnswer>,
): Answer {
  const { authoritative } = first;
  switch (end.kind) {
    case 'records':
      return { ...end, records: [...aliases, ...end.records], authoritative };
    case 'forwarded':
      // The server of the target refuses; the alias is ours, so we do not.
      if (end.rcode === RCODE.REFUSED) return withoutEnd(first, aliases);
      // The rest of the answer is cached under its own name, not under ours.
      return {
        ...end,
        answers: [...aliases, ...end.answers],
        authoritative,
        // Our alias is not signed.
        authenticData: false,
        memory: undefined,
      };
    case 'nodata':
    case 'nxdomain':
      // RFC 6604 section 3: the code is that of the last name.
      if (first.unanswered === 'alias')
        return { ...end, aliases: [...aliases, ...end.aliases], authoritative };
      return withoutEnd(first, aliases);
    case 'refused':
      return withoutEnd(first, aliases);
    default:
      return end;
  }
}
