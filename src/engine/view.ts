/**
 * A block of handlers as the table has it: the publications that are looked up, and the questions that handlers must see before.
 */
import type { Handler } from '../chain/handler.ts';
import { type Match, NO_QUESTIONS } from '../chain/match.ts';
import { CHAIN_OUTCOME } from '../chain/outcomes.ts';
import type { EnginePlan } from '../config/server/engine-plan.ts';
import type { AskRule, ViewSettings } from '../table/types.ts';
import { encodeName } from '../wire/name.ts';

/** From here on types are questions about the server or the zone; readers answer none of them from nodes (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 249;

/** What of a plan a view is made from. */
type ViewPlan = Pick<EnginePlan, 'recursionAvailable' | 'rotatesAddresses' | 'identity' | 'cluster'>;

/**
 * @param handlers in the order in which they see a query
 * @param plan what readers answer as the first handlers do: other classes and meta types
 */
export function compileView(handlers: readonly Handler[], plan: ViewPlan): ViewSettings {
  const { recursionAvailable, rotatesAddresses, identity, cluster } = plan;
  return {
    publications: handlers.flatMap((handler) => (handler.role === 'publisher' ? [handler.publication] : [])),
    askRules: [...askRulesOf(handlers)],
    recursionAvailable,
    rotatesAddresses,
    otherQuestions: identity === undefined ? 'refused' : 'refused-but-chaos',
    // Where answers are counted by the cluster's domain, what is about the server counts with its names.
    ...(cluster && { refusalOutcomes: { chaos: CHAIN_OUTCOME.ours, others: CHAIN_OUTCOME.others } }),
  };
}

/** What handlers must see before a name that is published behind them is answered from the table. */
function* askRulesOf(handlers: readonly Handler[]): Iterable<AskRule> {
  const lastPublisher = handlers.findLastIndex(({ role }) => role === 'publisher');
  for (const handler of handlers.slice(0, lastPublisher + 1)) {
    const isPublisher = handler.role === 'publisher';
    const questions = isPublisher ? (handler.unpublished ?? NO_QUESTIONS) : handler.questions;
    for (const match of questions.matches()) if (concernsNodes(match)) yield askRuleOf(match);
  }
}

function concernsNodes({ types }: Match): boolean {
  return types === 'all' || [...types].some((type) => type < FIRST_META_TYPE);
}

function askRuleOf({ name, ...others }: Match): AskRule {
  return { name: name.kind === 'any' ? name : { kind: name.kind, name: encodeName(name.name) }, ...others };
}
