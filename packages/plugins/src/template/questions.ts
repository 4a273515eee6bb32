/**
 * The questions that templates may answer, or reject because no pattern matches.
 */
import { isWithin } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, TYPE } from '@portolan/dns/types.ts';
import { findLiteralSuffix } from '@portolan/kernel/base/literal-suffix.ts';
import {
  isWithinAny,
  type Match,
  type NameMatch,
  namesEndingWith,
  type Questions,
} from '@portolan/kernel/chain/match.ts';
import type { TemplateRule } from './options.ts';

export function questionsOfTemplates(templates: readonly TemplateRule[]): Questions {
  // Readers answer only class IN, and ask rules are only for class IN.
  const rules = templates.filter((rule) => rule.class === CLASS.IN || rule.class === CLASS.ANY);
  const zones = rules.map((rule) => new Set(rule.zones));
  const matches = rules.flatMap(listMatches);
  return {
    includes: (name, type) =>
      rules.some((rule, index) => isWithinAny(name, zones[index] ?? NO_ZONES) && concerns(rule, name, type)),
    matches: () => matches,
  };
}

const NO_ZONES: ReadonlySet<NameKey> = new Set();

/** @param name within the zones of the rule */
function concerns(rule: TemplateRule, name: NameKey, type: number): boolean {
  if (!isOfType(rule, type)) return false;
  const fallsThrough = rule.fallthrough.some((zone) => isWithin(name, zone));
  return !fallsThrough || rule.patterns.length === 0 || rule.patterns.some((pattern) => pattern.test(name));
}

function isOfType(rule: TemplateRule, type: number): boolean {
  return rule.type === TYPE.ANY || type === TYPE.ANY || type === rule.type;
}

function listMatches(rule: TemplateRule): readonly Match[] {
  const types = rule.type === TYPE.ANY ? 'all' : new Set([rule.type, TYPE.ANY]);
  const names = rule.zones.flatMap((zone) => namesIn(zone, rule));
  return names.map((name) => ({ name, types }));
}

/** The names of a zone that a rule may answer. */
function namesIn(zone: NameKey, { patterns, fallthrough }: TemplateRule): readonly NameMatch[] {
  const whole: NameMatch = { kind: 'suffix', name: zone };
  const fallsThrough = fallthrough.some((from) => isWithin(zone, from));
  if (!fallsThrough || patterns.length === 0) return [whole];
  return patterns.flatMap(({ source }) => {
    const suffix = findLiteralSuffix(source);
    const match = suffix === undefined ? whole : namesEndingWith(suffix);
    if (match.kind === 'any' || isWithin(zone, match.name)) return [whole];
    return isWithin(match.name, zone) ? [match] : [];
  });
}
