/**
 * Variables and conditions of templates: expressions over the query and the groups of its match.
 */
import { BUILT_IN } from '@portolan/corefile/expression/built-in-functions.ts';
import type { FunctionTypes } from '@portolan/corefile/expression/check-expression.ts';
import { evaluate, type Functions, type Variables } from '@portolan/corefile/expression/evaluate.ts';
import type { Value } from '@portolan/corefile/expression/expression.ts';
import { PatternError } from '@portolan/kernel/base/pattern.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { createQueryFunctions, QUERY_FUNCTIONS } from '../view/query-functions.ts';
import type { TemplateRule } from './options.ts';
import type { TemplateMatch } from './template-data.ts';

export const TEMPLATE_FUNCTIONS: FunctionTypes = new Map([
  ...QUERY_FUNCTIONS,
  ['group', { parameters: ['any'], result: 'string' }] as const,
]);

/** Words of expr-lang: keywords, literals, and built-in functions, also those that we do not have. */
const RESERVED: ReadonlySet<string> = new Set(
  `true false nil not in and or matches contains startsWith endsWith let if else
   all none any one filter map find findIndex findLast findLastIndex count sum groupBy sortBy reduce len type abs ceil
   floor round int float string trim trimPrefix trimSuffix upper lower split splitAfter replace repeat join indexOf
   lastIndexOf hasPrefix hasSuffix max min mean median toJSON fromJSON toBase64 fromBase64 now duration date timezone
   first last get take keys values toPairs fromPairs reverse uniq concat flatten sort bitand bitor bitxor bitnand bitnot
   bitshl bitshr bitushr this`.split(/\s+/),
);

/** Whether a variable cannot have a name. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name) || TEMPLATE_FUNCTIONS.has(name) || BUILT_IN.has(name);
}

/** Functions whose values depend only on the question. Answers made with others are for one client alone. */
const OF_QUESTION: ReadonlySet<string> = new Set(['name', 'type', 'class', 'incidr']);

const NO_VARIABLES: Variables = new Map();

/**
 * @returns the values of a rule's variables; undefined: a condition is not met; `failed`: an expression has no value, which is
 * SERVFAIL even with fallthrough, as in CoreDNS
 */
type EvaluateRule = (
  rule: TemplateRule,
  query: Query,
  match: TemplateMatch,
) => Variables | undefined | 'failed';

/** For one handler. */
export function createRuleEvaluation(): EvaluateRule {
  let current: { readonly query: Query; readonly match: TemplateMatch } | undefined;
  const now = () => {
    if (current === undefined) throw new TypeError('no query');
    return current;
  };
  const functions: Functions = new Map([
    ...[...createQueryFunctions(() => now().query)].map(([name, call]) => {
      const noted = (...args: readonly Value[]) => {
        // Whoever reads the client keeps the answer from all others.
        now().query.dependOnClient();
        return call(...args);
      };
      return [name, OF_QUESTION.has(name) ? call : noted] as const;
    }),
    ['group', (name: Value = null) => findGroup(now().match, name)] as const,
  ]);
  return (rule, query, match) => {
    if (rule.variables.length === 0 && rule.conditions.length === 0) return NO_VARIABLES;
    current = { query, match };
    try {
      return evaluateWith(rule, functions);
    } catch (error) {
      if (error instanceof TypeError || error instanceof PatternError) return 'failed';
      throw error;
    } finally {
      current = undefined;
    }
  };
}

/** @throws TypeError, PatternError */
function evaluateWith({ variables, conditions }: TemplateRule, functions: Functions): Variables | undefined {
  const values = new Map<string, Value>();
  for (const { name, expression } of variables) values.set(name, evaluate(expression, functions, values));
  return conditions.every((condition) => evaluate(condition, functions, values) === true)
    ? values
    : undefined;
}

/** A group by its name or number; empty if there is none. */
function findGroup({ groups, groupNames }: TemplateMatch, name: Value): string {
  const number = typeof name === 'string' ? (groupNames.get(name) ?? Number(name)) : name;
  return typeof number === 'number' ? (groups[number] ?? '') : '';
}
