/**
 * The data for a template: the question, the match, and more of the query if a template asks for it.
 */
import type { EnvironmentValues } from '@portolan/corefile/expression/run/run.ts';
import { fromOctets } from '@portolan/corefile/expression/text/octets.ts';
import { Budget } from '@portolan/corefile/expression/values/budget.ts';
import { isSlice } from '@portolan/corefile/expression/values/describe-value.ts';
import { formatValue } from '@portolan/corefile/expression/values/format-value.ts';
import { type ExpressionValue, GoMap } from '@portolan/corefile/expression/values/value.ts';
import { knownClassName, knownTypeName } from '@portolan/dns/mnemonics.ts';
import { CLASS, type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { PatternGroups } from '@portolan/kernel/base/pattern.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { TemplateRule } from './options.ts';
import type { TemplateMap, TemplateStruct, TemplateValue } from './text-template/values.ts';

/** A pattern, and the parts of the name that it matched. */
export interface TemplateMatch {
  readonly source: string;
  readonly groups: PatternGroups;
  readonly groupNames: ReadonlyMap<string, number>;
}

/** What a rule found in a question. */
export interface MatchedRule {
  /** The zone of the rule that contains the name. */
  readonly zone: NameKey;
  readonly match: TemplateMatch;
  /** The values of the rule's variables. */
  readonly variables: EnvironmentValues;
}

export function makeTemplateData(
  query: Query,
  rule: TemplateRule,
  { zone, match, variables }: MatchedRule,
): TemplateStruct {
  const { key } = query;
  const { class: dnsClass, type } = formatClassAndType(query, rule);
  return {
    kind: 'struct',
    typeName: '*template.templateData',
    fields: {
      Zone: zone,
      Name: key,
      Regex: match.source,
      Match: match.groups.map((group) => group ?? ''),
      Group: toGroupMap(match),
      Class: dnsClass,
      Type: type,
      Message: () => toMessageStruct(query),
      Question: toQuestionStruct(query),
      // Only answers of templates that name the client depend on the client.
      Remote: () => query.dependOnClient().address,
      Var: {
        kind: 'map',
        entries: new Map([...variables].map(([name, value]) => [name, toTemplateValue(value)])),
      },
      Meta: ([label]) => readMetadata(query, label),
    },
  };
}

/** In templates, as in Go, nil has no value. Times and durations are texts. */
function toTemplateValue(value: ExpressionValue): TemplateValue {
  if (value === null) return undefined;
  if (typeof value === 'string') return fromOctets(value);
  if (typeof value !== 'object') return value;
  if (isSlice(value)) return value.items.map(toTemplateValue);
  if (!(value instanceof GoMap)) return fromOctets(formatValue(value, new Budget()));
  const entries = Array.from(value.entries(), ({ key, value: each }) => {
    const name = fromOctets(formatValue(key, new Budget()));
    return [name, toTemplateValue(each)] as const;
  });
  return { kind: 'map', entries: new Map(entries) };
}

/** The answer is not stored: facts may differ between clients. */
function readMetadata(query: Query, label: TemplateValue): TemplateValue {
  query.forbidStoring();
  return typeof label === 'string' ? (query.metadata(label) ?? '') : '';
}

/** Names of the class and type, or empty strings. For questions for ANY, those of the rule. */
export function formatClassAndType(
  { question }: Query,
  rule: TemplateRule,
): { readonly class: string; readonly type: string } {
  const dnsClass = question.class === CLASS.ANY ? rule.class : question.class;
  const type = question.type === TYPE.ANY ? rule.type : question.type;
  return { class: knownClassName(dnsClass) ?? '', type: knownTypeName(type) ?? '' };
}

function toGroupMap({ groups, groupNames }: TemplateMatch): TemplateMap {
  const entries = new Map<string, TemplateValue>();
  for (const [number, group] of groups.entries()) entries.set(String(number), group ?? '');
  for (const [name, number] of groupNames) entries.set(name, groups[number] ?? '');
  return { kind: 'map', entries };
}

function toQuestionStruct({ question }: Query): TemplateStruct {
  return {
    kind: 'struct',
    typeName: '*dns.Question',
    fields: { Name: question.name, Qtype: question.type, Qclass: question.class },
  };
}

/** The answer is not stored: the header of the message differs between clients. */
function toMessageStruct(query: Query): TemplateStruct {
  query.forbidStoring();
  const { header } = query;
  return {
    kind: 'struct',
    typeName: '*dns.Msg',
    fields: {
      Id: header.id,
      Response: header.response,
      Opcode: header.opcode,
      Authoritative: header.authoritative,
      Truncated: header.truncated,
      RecursionDesired: header.recursionDesired,
      RecursionAvailable: header.recursionAvailable,
      AuthenticatedData: header.authenticData,
      CheckingDisabled: header.checkingDisabled,
      Rcode: header.rcode,
      Question: [toQuestionStruct(query)],
    },
  };
}
