/**
 * Applies rules of `rewrite` to a response: to each of its records, the last rule first.
 */
import { tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName, EdnsOption, RecordData, ResourceRecord } from '@portolan/dns/types.ts';
import type { Pattern } from '@portolan/kernel/base/pattern.ts';
import type { WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { fillInGroups, replaceName } from './name-match.ts';
import type { RewriteCname } from './options.ts';

export type ResponseChange =
  /** Changes owner names, or names in record data. */
  | { readonly kind: 'name' | 'value'; readonly rename: Rename }
  | { readonly kind: 'ttl'; readonly min: number; readonly max: number }
  | { readonly kind: 'rcode'; readonly from: number; readonly to: number }
  | { readonly kind: 'cname'; readonly rule: RewriteCname; readonly lookUp: LookUp }
  /** Restores an EDNS option; undefined: the query did not have it. */
  | { readonly kind: 'edns'; readonly code: number; readonly former: EdnsOption | undefined };

/** Returns the same name if it does not match. */
export type Rename = (name: string) => string;

/** The response for another name; undefined: the chain gives no response. */
export type LookUp = (name: AbsoluteName) => Promise<WholeAnswer | undefined>;

/** Renames names that are `from`, or end with it after a dot. */
export function renameWithin(from: string, to: string): Rename {
  return (name) => {
    if (name === from) return to;
    const start = name.length - from.length;
    return start > 0 && name[start - 1] === '.' && name.endsWith(from) ? name.slice(0, start) + to : name;
  };
}

export function renameSuffix(from: string, to: string): Rename {
  return (name) => (name.endsWith(from) ? name.slice(0, name.length - from.length) + to : name);
}

export function renamePattern(pattern: Pattern, to: string): Rename {
  return (name) => {
    const groups = pattern.match(name);
    return groups === undefined ? name : fillInGroups(to, groups);
  };
}

/** @param changes in the order of their rules */
export async function changeResponse(
  answer: WholeAnswer,
  changes: readonly ResponseChange[],
): Promise<WholeAnswer> {
  const draft = new ResponseDraft(answer);
  await draft.apply(changes.toReversed());
  return draft.finish();
}

/** A record that several steps change in turn. */
interface Slot {
  record: ResourceRecord;
}

const toSlots = (records: readonly ResourceRecord[]): readonly Slot[] =>
  records.map((record) => ({ record }));

class ResponseDraft {
  readonly #answer: WholeAnswer;
  readonly #authorities: readonly Slot[];
  readonly #additionals: readonly Slot[];
  #answers: readonly Slot[];
  #rcode: number;
  #truncated: boolean;
  #edns: WholeAnswer['edns'];

  constructor(answer: WholeAnswer) {
    this.#answer = answer;
    this.#authorities = toSlots(answer.authorities);
    this.#answers = toSlots(answer.answers);
    this.#additionals = toSlots(answer.additionals);
    this.#rcode = answer.rcode;
    this.#truncated = answer.truncated;
    this.#edns = answer.edns;
  }

  /** Applies all rules to each record in turn, in CoreDNS's order of sections and rules: answers depend on it. */
  async apply(changes: readonly ResponseChange[]): Promise<void> {
    const slots = [...this.#authorities, ...this.#answers, ...this.#additionals];
    for (const slot of slots) for (const change of changes) await this.#applyTo(slot, change);
    // Also for an OPT record, and for a response without any record, which still has a code.
    if (this.#edns === undefined && slots.length > 0) return;
    for (const change of changes) this.#applyToMessage(change);
  }

  finish(): WholeAnswer {
    const listRecords = (slots: readonly Slot[]) => slots.map(({ record }) => record);
    return {
      ...this.#answer,
      rcode: this.#rcode,
      truncated: this.#truncated,
      answers: listRecords(this.#answers),
      authorities: listRecords(this.#authorities),
      additionals: listRecords(this.#additionals),
      ...(this.#edns && { edns: this.#edns }),
    };
  }

  async #applyTo(slot: Slot, change: ResponseChange): Promise<void> {
    const { record } = slot;
    if (change.kind === 'name') slot.record = { ...record, name: renamed(record.name, change.rename) };
    else if (change.kind === 'value')
      slot.record = { ...record, data: changeTarget(record.data, change.rename) };
    else if (change.kind === 'ttl')
      slot.record = { ...record, ttl: Math.min(Math.max(record.ttl, change.min), change.max) };
    else if (change.kind === 'cname') await this.#replaceTarget(record.data, change);
    else this.#applyToMessage(change);
  }

  #applyToMessage(change: ResponseChange): void {
    if (change.kind === 'rcode' && this.#rcode === change.from) this.#rcode = change.to;
    if (change.kind === 'edns' && this.#edns !== undefined)
      this.#edns = { ...this.#edns, options: revertOption(this.#edns.options, change) };
  }

  /** Changes the target of the alias, and replaces the records behind it by the answer for the new target. */
  async #replaceTarget(data: RecordData, change: Extract<ResponseChange, { kind: 'cname' }>): Promise<void> {
    if (data.kind !== 'CNAME') return;
    const target = tryParseName(replaceName(change.rule.match, change.rule.to, data.target) ?? '');
    if (target === undefined) return;
    const further = await change.lookUp(target);
    if (further === undefined) return;
    const kept: Slot[] = [];
    for (const slot of this.#answers) {
      const { data: alias } = slot.record;
      if (alias.kind !== 'CNAME') continue;
      kept.push(slot);
      if (alias.target !== data.target) continue;
      slot.record = { ...slot.record, data: { kind: 'CNAME', target } };
      break;
    }
    this.#answers = [...kept, ...toSlots(further.answers)];
    this.#truncated = further.truncated;
  }
}

export function revertOption(
  options: readonly EdnsOption[],
  { code, former }: Extract<ResponseChange, { kind: 'edns' }>,
): readonly EdnsOption[] {
  const at = options.findIndex((option) => option.code === code);
  if (at < 0) return options;
  return former === undefined ? options.toSpliced(at, 1) : options.with(at, former);
}

function renamed(name: AbsoluteName, rename: Rename): AbsoluteName {
  const text = rename(name);
  return text === name ? name : (tryParseName(text) ?? name);
}

function changeTarget(data: RecordData, rename: Rename): RecordData {
  switch (data.kind) {
    case 'CNAME':
    case 'DNAME':
    case 'NS':
    case 'PTR':
    case 'SRV':
      return { ...data, target: renamed(data.target, rename) };
    case 'MX':
      return { ...data, exchange: renamed(data.exchange, rename) };
    case 'SOA':
      return { ...data, primary: renamed(data.primary, rename) };
    case 'NAPTR':
      return { ...data, replacement: renamed(data.replacement, rename) };
    default:
      return data;
  }
}
