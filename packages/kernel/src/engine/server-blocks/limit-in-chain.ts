/**
 * Applies the rates of a handler in the chain, where only the chain knows which block answers a query.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import type { Clock } from '../../base/clock.ts';
import type { WholeAnswer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS, namesWithin, type Questions } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import { EMPTY_ANSWER, toWholeAnswer } from '../../chain/whole-answer.ts';
import { DEBIT } from '../../listen/rate-limiter.ts';
import { RateChecker } from '../../listen/rate-rules.ts';
import { encodeSocketAddress } from '../../socket/addresses.ts';
import { isLimiting, type LimitedSite, StatedRates } from './block-limits.ts';

const DROPPED = { kind: 'drop' } as const;

/**
 * The handlers of a block, and the rates that they state.
 *
 * @param former rates of the plan before. Those that are the same are taken out of them, and their accounts stay.
 */
export function limitHandlers(
  stated: readonly Handler[],
  site: LimitedSite,
  former: StatedRates[],
  clock: Pick<Clock, 'monotonic'>,
): { readonly handlers: readonly Handler[]; readonly rates: readonly StatedRates[] } {
  const rates: StatedRates[] = [];
  const handlers = stated.map((handler) => {
    if (!isLimiting(handler.limits)) return handler;
    const own = new StatedRates(handler.limits, site, former);
    rates.push(own);
    return limitInChain(handler, own, clock);
  });
  return { handlers, rates };
}

/** The handler, with the questions that its rates hold for while listeners do not apply them: readers leave these to the chain. */
function limitInChain(handler: Handler, rates: StatedRates, clock: Pick<Clock, 'monotonic'>): Handler {
  const limited = namesWithin(new Set(rates.limits.zones));
  const checkers = new Map<string, RateChecker>();
  const checkerAt = (server: string) => {
    const checker = checkers.get(server) ?? new RateChecker(rates.ratesAt(server));
    checkers.set(server, checker);
    return checker;
  };
  const holdsFor = ({ key, question }: Query) => !rates.isByListeners && limited.includes(key, question.type);
  const alsoLimited = (stated: Questions): Questions => ({
    includes: (name, type) =>
      stated.includes(name, type) || (!rates.isByListeners && limited.includes(name, type)),
    *matches() {
      yield* stated.matches();
      if (!rates.isByListeners) yield* limited.matches();
    },
  });
  return {
    ...handler,
    questions: alsoLimited(handler.questions),
    // Readers would not ask for names that the handler publishes.
    ...(handler.role === 'publisher' && { unpublished: alsoLimited(handler.unpublished ?? NO_QUESTIONS) }),
    async handle(query, next) {
      // An explanation is no request.
      if (query.look !== undefined || !holdsFor(query)) return await handler.handle(query, next);
      const { address, port, transport } = query.dependOnClient();
      const client = encodeSocketAddress({ address, port });
      const checker = checkerAt(query.site.server);
      if (checker.countRequest(client, 0, clock.monotonic()) !== DEBIT.WITHIN) return DROPPED;
      const answer = await handler.handle(query, next);
      if (transport !== 'udp' || answer.kind === 'drop') return answer;
      const packet = encodeKind(query, toWholeAnswer(answer));
      const debit = checker.countResponse(client, 0, packet, 0, clock.monotonic());
      if (debit === DEBIT.SLIPS) return { ...EMPTY_ANSWER, truncated: true };
      return debit === DEBIT.EXCEEDED ? DROPPED : answer;
    },
  };
}

/** As much of a response as its count depends on. */
function encodeKind({ question, header }: Query, { rcode, answers, authorities }: WholeAnswer): Uint8Array {
  return encodeMessage({
    header: { ...header, response: true, rcode: rcode & 15 },
    questions: [question],
    answers: answers.slice(0, 1),
    authorities: authorities.slice(0, 1),
    additionals: [],
    edns: undefined,
  });
}
