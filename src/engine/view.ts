/**
 * A block of handlers as the table has it: the publications that are looked up, and the questions that handlers must see before.
 */
import { askRulesOf } from '../chain/ask-rules.ts';
import type { Handler } from '../chain/handler.ts';
import { CHAIN_OUTCOME } from '../chain/outcomes.ts';
import type { EnginePlan } from '../config/server/engine-plan.ts';
import type { ViewSettings } from '../table/types.ts';

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
