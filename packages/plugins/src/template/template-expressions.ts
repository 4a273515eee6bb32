/**
 * Variables and conditions of templates: expressions over the query and the groups of its match.
 */
import { isBuiltInName } from '@portolan/corefile/expression/built-ins/built-ins.ts';
import type { EnvironmentTypes } from '@portolan/corefile/expression/check/checker.ts';
import type { EnvironmentValues } from '@portolan/corefile/expression/run/run.ts';
import { OPERATOR_WORDS } from '@portolan/corefile/expression/syntax/lexer.ts';
import { fromOctets, toOctets } from '@portolan/corefile/expression/text/octets.ts';
import {
  ANY,
  functionType,
  type GoType,
  POINTER_TO_ANY,
  STRING,
} from '@portolan/corefile/expression/types/go-type.ts';
import { EvaluationError } from '@portolan/corefile/expression/values/budget.ts';
import type { ExpressionValue } from '@portolan/corefile/expression/values/value.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import {
  createEnvironment,
  createQueryFunctions,
  QUERY_TYPES,
  type QueryFunction,
} from '../view/query-functions.ts';
import type { TemplateRule } from './options.ts';
import type { TemplateMatch } from './template-data.ts';

export const TEMPLATE_TYPES: EnvironmentTypes = new Map([
  ...QUERY_TYPES,
  ['group', functionType([ANY], STRING)],
]);

const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'nil']);

/** Whether a variable cannot have a name. @param types of the environment, and of the variables so far */
export function isReservedName(name: string, types: EnvironmentTypes): boolean {
  return types.has(name) || isBuiltInName(name) || LITERALS.has(name) || OPERATOR_WORDS.has(name);
}

/** The type of a variable for the expressions behind it. */
export function variableType(type: GoType): GoType {
  return type.kind === 'unknown' || type.kind === 'nil' ? POINTER_TO_ANY : type;
}

/** Functions whose values depend only on the question. Answers made with others are for one client alone. */
const OF_QUESTION: ReadonlySet<string> = new Set(['name', 'type', 'class', 'incidr']);

const NO_VARIABLES: EnvironmentValues = new Map();

/**
 * @returns the values of a rule's variables; undefined: a condition is not met; `failed`: an expression has no value, which is
 * SERVFAIL even with fallthrough, as in CoreDNS
 */
type EvaluateRule = (
  rule: TemplateRule,
  query: Query,
  match: TemplateMatch,
) => EnvironmentValues | undefined | 'failed';

/** For one handler. */
export function createRuleEvaluation(clock: Clock): EvaluateRule {
  let current: { readonly query: Query; readonly match: TemplateMatch } | undefined;
  const now = () => {
    if (current === undefined) throw new TypeError('no query');
    return current;
  };
  const functions = new Map<string, QueryFunction>([
    ...[...createQueryFunctions(() => now().query)].map(([name, call]) => {
      const noted: QueryFunction = (args) => {
        // Whoever reads the client keeps the answer from all others.
        now().query.dependOnClient();
        return call(args);
      };
      return [name, OF_QUESTION.has(name) ? call : noted] as const;
    }),
    ['group', ([name = null]) => toOctets(findGroup(now().match, name))],
  ]);
  const environment = new Map(createEnvironment(TEMPLATE_TYPES, functions));
  const readClock = () => {
    // Later the answer is another one.
    now().query.forbidStoring();
    return clock.now();
  };
  return (rule, query, match) => {
    if (rule.variables.length === 0 && rule.conditions.length === 0) return NO_VARIABLES;
    current = { query, match };
    try {
      return evaluateWith(rule, environment, readClock);
    } catch (error) {
      if (error instanceof EvaluationError) return 'failed';
      throw error;
    } finally {
      current = undefined;
    }
  };
}

/** @param environment has the variables only meanwhile: no function has the name of one @throws EvaluationError */
function evaluateWith(
  { variables, conditions }: TemplateRule,
  environment: Map<string, ExpressionValue>,
  now: () => number,
): EnvironmentValues | undefined {
  const values = new Map<string, ExpressionValue>();
  try {
    for (const { name, expression } of variables) {
      const value = expression.evaluate(environment, now);
      environment.set(name, value);
      values.set(name, value);
    }
    return conditions.every(({ evaluate }) => evaluate(environment, now) === true) ? values : undefined;
  } finally {
    for (const { name } of variables) environment.delete(name);
  }
}

/** A group by its name or number; empty if there is none. */
function findGroup({ groups, groupNames }: TemplateMatch, name: ExpressionValue): string {
  if (typeof name === 'bigint') return groups[Number(name)] ?? '';
  if (typeof name !== 'string') return '';
  const text = fromOctets(name);
  const number = groupNames.get(text) ?? (/^(?:0|[1-9]\d*)$/.test(text) ? Number(text) : undefined);
  return number === undefined ? '' : (groups[number] ?? '');
}
