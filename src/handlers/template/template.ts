/**
 * Answers made from templates: for each question that fits one, records that are filled in with parts of its name.
 */
import type { Answer, WholeAnswer } from '../../chain/answer.ts';
import type { Chain, Handler } from '../../chain/handler.ts';
import type { Query } from '../../chain/query.ts';
import { EMPTY_ANSWER, wholeAnswerOf } from '../../chain/whole-answer.ts';
import { describeAsCoreDns } from '../../sources/zone-files/coredns-words.ts';
import { parseRecord } from '../../sources/zone-files/zone-file.ts';
import { extendedError } from '../../wire/extended-error.ts';
import { isWithin, parentOf, toKey } from '../../wire/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '../../wire/types.ts';
import type { TemplateOptions, TemplateRule } from './options.ts';
import { questionsOfTemplates } from './questions.ts';
import { type NameMatch, templateDataOf } from './template-data.ts';
import { type TextTemplate, TextTemplateError } from './text-template/text-template.ts';
import type { TemplateStruct } from './text-template/values.ts';

/** @param chain answers for the targets of CNAME records that a template makes */
export function createTemplateHandler({ templates }: TemplateOptions, chain: Chain): Handler {
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
        if (match !== undefined)
          return answerByRule(rule, query, templateDataOf(query, rule, zone, match), chain);
        if (!fallsThrough(rule, query.key)) return { kind: 'servfail' };
      }
      return next(query);
    },
  };
}

/** The zone of the rule that a question of its class and type lies in; nothing if the rule is not for it. */
function zoneFor({ key, question }: Query, rule: TemplateRule): NameKey | undefined {
  if (!isOf(question.class, rule.class, CLASS.ANY) || !isOf(question.type, rule.type, TYPE.ANY))
    return undefined;
  return closestZone(key, rule.zones);
}

function isOf(asked: number, own: number, any: number): boolean {
  return asked === own || own === any || asked === any;
}

function closestZone(name: NameKey, zones: readonly NameKey[]): NameKey | undefined {
  for (let at: NameKey | undefined = name; at !== undefined; at = parentOf(at))
    if (zones.includes(at)) return at;
  return undefined;
}

/** Without patterns every name fits, as if by `.*`. */
function matchName({ patterns }: TemplateRule, name: NameKey): NameMatch | undefined {
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

async function answerByRule(
  rule: TemplateRule,
  query: Query,
  data: TemplateStruct,
  chain: Chain,
): Promise<Answer> {
  if (rule.rcode === RCODE.SERVFAIL) return { kind: 'servfail' };
  try {
    const { answers, truncated } = await fillAnswers(rule.answer, query, data, chain);
    return {
      ...EMPTY_ANSWER,
      rcode: rule.rcode,
      authoritative: true,
      truncated,
      answers,
      additionals: rule.additional.map((template) => fillRecord(template, data)),
      authorities: rule.authority.map((template) => fillRecord(template, data)),
      ...ednsOf(rule),
    };
  } catch (error) {
    if (error instanceof TextTemplateError || error instanceof TemplateRecordError)
      return { kind: 'servfail', reason: error.message };
    throw error;
  }
}

/** Aliases are followed for addresses. */
async function fillAnswers(
  templates: readonly TextTemplate[],
  query: Query,
  data: TemplateStruct,
  chain: Chain,
): Promise<{ readonly answers: readonly ResourceRecord[]; readonly truncated: boolean }> {
  const { type } = query.question;
  const isForAddress = type === TYPE.A || type === TYPE.AAAA;
  const answers: ResourceRecord[] = [];
  let truncated = false;
  for (const template of templates) {
    const record = fillRecord(template, data);
    answers.push(record);
    if (!isForAddress || record.data.kind !== 'CNAME') continue;
    // CoreDNS follows an alias to itself without end.
    if (toKey(record.data.target) === query.key) continue;
    const further = await lookUp(record.data.target, query, chain);
    if (further === undefined) continue;
    answers.push(...further.answers);
    truncated = further.truncated;
  }
  return { answers, truncated };
}

async function lookUp(name: AbsoluteName, query: Query, chain: Chain): Promise<WholeAnswer | undefined> {
  const further = query.furtherQuery({ ...query.question, name });
  if (further === undefined) return undefined;
  const answer = await chain(further);
  return answer.kind === 'drop' ? undefined : wholeAnswerOf(answer);
}

/** What a template has made is not a record. */
class TemplateRecordError extends Error {
  override readonly name = 'TemplateRecordError';
}

/** @throws TextTemplateError, TemplateRecordError */
function fillRecord(template: TextTemplate, data: TemplateStruct): ResourceRecord {
  // A string in quotation marks may hold line breaks, which records of a file have no place for.
  const text = template.fill(data).replace(QUOTED, (string) => string.replaceAll('\n', '\\010'));
  const record = parseRecord(text);
  if ('fault' in record) throw new TemplateRecordError(describeAsCoreDns(record));
  return record;
}

const QUOTED = /"(?:[^"\\]|\\.)*"/gs;

function ednsOf({ extendedError: reason }: TemplateRule): Pick<WholeAnswer, 'edns'> {
  if (reason === undefined) return {};
  return { edns: { udpSize: 4096, dnssecOk: true, options: [extendedError(reason.code, reason.text)] } };
}
