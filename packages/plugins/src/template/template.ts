/**
 * Answers made from templates: for each question that matches, records that are filled in with parts of its name.
 */
import { findClosest, isWithin } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Chain, Handler } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { TemplateOptions, TemplateRule } from './options.ts';
import { questionsOfTemplates } from './questions.ts';
import { TemplateAnswer } from './template-answer.ts';
import type { TemplateMatch } from './template-data.ts';
import { createRuleEvaluation } from './template-expressions.ts';
import { TemplateMetrics } from './template-metrics.ts';

export interface TemplateDependencies {
  /** Answers for the targets of CNAME records that a template makes. */
  readonly chain: Chain;
  readonly metrics: MetricRegistry;
  /** For `now()`. */
  readonly clock: Clock;
}

export function createTemplateHandler(
  { templates }: TemplateOptions,
  { chain, metrics, clock }: TemplateDependencies,
): Handler {
  const counts = new TemplateMetrics(metrics);
  const evaluateRule = createRuleEvaluation(clock);
  return {
    name: 'template',
    role: 'other',
    answers: 'unchanged',
    questions: questionsOfTemplates(templates),
    handle(query, next) {
      for (const rule of templates) {
        const zone = zoneFor(query, rule);
        if (zone === undefined) continue;
        const match = matchName(rule, query.key);
        const variables = match && evaluateRule(rule, query, match);
        if (variables === 'failed') return { kind: 'servfail' };
        if (match !== undefined && variables !== undefined)
          return new TemplateAnswer({ query, rule, zone, match, variables, chain, counts }).make();
        if (!fallsThrough(rule, query.key)) return { kind: 'servfail' };
      }
      return next(query);
    },
  };
}

/** The zone of the rule that contains the question; undefined if the rule does not match. */
function zoneFor({ key, question }: Query, rule: TemplateRule): NameKey | undefined {
  if (!isMatch(question.class, rule.class, CLASS.ANY) || !isMatch(question.type, rule.type, TYPE.ANY))
    return undefined;
  return findClosest(key, (at) => (rule.zones.includes(at) ? at : undefined));
}

function isMatch(asked: number, own: number, any: number): boolean {
  return asked === own || own === any || asked === any;
}

/** Without patterns every name matches, as with `.*`. */
function matchName({ patterns }: TemplateRule, name: NameKey): TemplateMatch | undefined {
  if (patterns.length === 0) return { source: '.*', groups: [name], groupNames: new Map() };
  for (const pattern of patterns) {
    const groups = pattern.match(name);
    if (groups !== undefined) return { source: pattern.source, groups, groupNames: pattern.groupNames };
  }
  return undefined;
}

function fallsThrough({ fallthrough }: TemplateRule, name: NameKey): boolean {
  return fallthrough.some((zone) => isWithin(name, zone));
}
