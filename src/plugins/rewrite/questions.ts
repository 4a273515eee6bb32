/**
 * The questions that rules of `rewrite` may change, or whose answers they may change. The matches are too wide if a rule does not
 * state how its names end.
 */
import { covers, type Match, type Questions } from '../../chain/match.ts';
import { CLASS } from '../../wire/types.ts';
import { namesOf } from './name-match.ts';
import type { RewriteRule } from './options.ts';

export function rewrittenQuestions(rules: readonly RewriteRule[]): Questions {
  const matches = rules.flatMap(matchesOf);
  return {
    includes: (name, type) => matches.some((match) => covers(match, name, type)),
    matches: () => matches,
  };
}

const ANY_NAME: Match['name'] = { kind: 'any' };

/** Each rule by itself: later rules see a changed name only if the rule that changed it matched. */
function matchesOf(rule: RewriteRule): readonly Match[] {
  switch (rule.field) {
    case 'type':
      return [{ name: ANY_NAME, types: new Set([rule.from]) }];
    case 'class':
      // Readers answer only class IN, and ask rules are only for class IN.
      return rule.from === CLASS.IN ? [{ name: ANY_NAME, types: 'all' }] : [];
    case 'cname':
    case 'edns0':
      return [{ name: ANY_NAME, types: 'all' }];
    default:
      return [{ name: namesOf(rule.match), types: 'all' }];
  }
}
