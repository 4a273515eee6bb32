/**
 * The answer that a template makes for one query.
 */
import type { EnvironmentValues } from '@portolan/corefile/expression/run/run.ts';
import { extendedError, passedErrors } from '@portolan/dns/extended-error.ts';
import { toKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, type NameKey, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describeAsCoreDns } from '@portolan/sources/zone-files/coredns-words.ts';
import { parseRecord } from '@portolan/sources/zone-files/zone-file.ts';
import type { TemplateRule } from './options.ts';
import { formatClassAndType, makeTemplateData, type TemplateMatch } from './template-data.ts';
import type { MatchLabels, TemplateMetrics } from './template-metrics.ts';
import { type TextTemplate, TextTemplateError } from './text-template/text-template.ts';
import type { TemplateStruct } from './text-template/values.ts';

export interface TemplateAnswerParts {
  readonly query: Query;
  readonly rule: TemplateRule;
  /** The zone of the rule that contains the name. */
  readonly zone: NameKey;
  readonly match: TemplateMatch;
  /** The values of the rule's variables. */
  readonly variables: EnvironmentValues;
  readonly chain: Chain;
  readonly counts: TemplateMetrics;
}

export class TemplateAnswer {
  readonly #parts: TemplateAnswerParts;
  readonly #data: TemplateStruct;
  readonly #labels: MatchLabels;
  readonly #answers: ResourceRecord[] = [];
  #truncated = false;

  constructor(parts: TemplateAnswerParts) {
    const { query, rule, zone, match, variables } = parts;
    const { server, view } = query.site;
    this.#parts = parts;
    this.#data = makeTemplateData(query, rule, { zone, match, variables });
    this.#labels = { server, zone, view, ...formatClassAndType(query, rule) };
  }

  async make(): Promise<Answer> {
    const { query, rule, counts } = this.#parts;
    query.count(counts.matched(this.#labels));
    if (rule.rcode === RCODE.SERVFAIL) return { kind: 'servfail' };
    try {
      for (const template of rule.answer) await this.#addAnswer(this.#fill(template));
      return {
        ...EMPTY_ANSWER,
        rcode: rule.rcode,
        authoritative: true,
        truncated: this.#truncated,
        answers: this.#answers,
        additionals: rule.additional.map((template) => this.#fill(template)),
        authorities: rule.authority.map((template) => this.#fill(template)),
        ...toEdnsFields(rule),
      };
    } catch (error) {
      if (error instanceof TextTemplateError || error instanceof TemplateRecordError)
        return { kind: 'servfail', reason: error.message };
      throw error;
    }
  }

  /** Follows aliases for addresses, but not an alias to itself: CoreDNS follows that one without end. */
  async #addAnswer(record: ResourceRecord): Promise<void> {
    this.#answers.push(record);
    const { question, key } = this.#parts.query;
    const isForAddress = question.type === TYPE.A || question.type === TYPE.AAAA;
    if (!isForAddress || record.data.kind !== 'CNAME' || toKey(record.data.target) === key) return;
    const further = await this.#lookUp(record.data.target);
    if (further === undefined) return;
    this.#answers.push(...further.answers);
    this.#truncated = further.truncated;
  }

  async #lookUp(name: AbsoluteName): Promise<WholeAnswer | undefined> {
    const { query, chain } = this.#parts;
    const further = query.furtherQuery({ ...query.question, name });
    if (further === undefined) return undefined;
    const answer = await chain(further);
    return answer.kind === 'drop' ? undefined : toWholeAnswer(answer);
  }

  /** @throws TextTemplateError, TemplateRecordError */
  #fill(template: TextTemplate): ResourceRecord {
    const { counts } = this.#parts;
    try {
      return fillRecord(template, this.#data);
    } catch (error) {
      counts.failed(error instanceof TextTemplateError ? 'template' : 'record', this.#labels, template);
      throw error;
    }
  }
}

/** The text made by a template is not a record. */
class TemplateRecordError extends Error {
  override readonly name = 'TemplateRecordError';
}

/** @throws TextTemplateError, TemplateRecordError */
function fillRecord(template: TextTemplate, data: TemplateStruct): ResourceRecord {
  // A string in quotation marks may have line breaks, which are not allowed in records of a file.
  const text = template.fill(data).replace(QUOTED, (string) => string.replaceAll('\n', '\\010'));
  const record = parseRecord(text);
  if ('fault' in record) throw new TemplateRecordError(describeAsCoreDns(record));
  return record;
}

const QUOTED = /"(?:[^"\\]|\\.)*"/gs;

function toEdnsFields({ extendedError: reason }: TemplateRule): Pick<WholeAnswer, 'edns' | 'passedErrors'> {
  if (reason === undefined) return {};
  const options = [extendedError(reason.code, reason.text)];
  return { edns: { udpSize: 4096, dnssecOk: true, options }, passedErrors: passedErrors(options) };
}
