/**
 * The answer of a zone file to a question, as plugin/file of CoreDNS 1.14.7 gives it: RFC 1034 section 4.3.2 with wildcards
 * (RFC 4592) and DNAME (RFC 6672). Positive answers carry the name servers of the zone in the authority section.
 *
 * Aliases are followed inside the zone; for names elsewhere the whole server is asked.
 */
import { isWithin, joinName, labelsBelow, ROOT, toKey, toParent, tryParseName } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  type Question,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { ZoneAnswerRules } from './zone-answer-rules.ts';
import type { ZoneName } from './zone-name.ts';
import type { ZoneNames } from './zone-names.ts';

/** `nonterminal`: only names below the name have records. */
/** And `yxdomain`: a DNAME makes a name that is too long. */
export type FileResult =
  | 'success'
  | 'nodata'
  | 'nonterminal'
  | 'nxdomain'
  | 'yxdomain'
  | 'delegation'
  | 'servfail';

export interface FileAnswer {
  readonly result: FileResult;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
  /** Whether answers are missing: the response has no room for them, or others have left them out. Default: no. */
  readonly isCut?: boolean;
  /** The wildcard that made it. */
  readonly wildcard?: NameKey;
}

/** Asks the whole server a question about another name. */
export type LookUpElsewhere = (question: Question) => Promise<ElsewhereAnswer>;

export type ElsewhereAnswer = Pick<FileAnswer, 'result' | 'answers' | 'authorities' | 'isCut'>;

export interface FileQuestion {
  readonly question: Question;
  /** Whether the client wants signatures. */
  readonly isSigned: boolean;
  readonly rules: ZoneAnswerRules;
  /** How many records a response may have. Default: any number. */
  readonly maxRecords?: number;
  /** Chooses the record that a cut set of addresses starts at, from 0 to below `count`. Default: the first. */
  readonly pick?: ((count: number) => number) | undefined;
}

const SERVFAIL: FileAnswer = { result: 'servfail', answers: [], authorities: [], additionals: [] };

export class FileLookUp {
  readonly #zone: ZoneNames;
  readonly #elsewhere: LookUpElsewhere;
  readonly #isSigned: boolean;
  readonly #rules: ZoneAnswerRules;
  readonly #question: Question;
  readonly #asked: FileQuestion;

  constructor(zone: ZoneNames, asked: FileQuestion, elsewhere: LookUpElsewhere) {
    this.#zone = zone;
    this.#asked = asked;
    this.#question = asked.question;
    this.#isSigned = asked.isSigned;
    this.#rules = asked.rules;
    this.#elsewhere = elsewhere;
  }

  async answer(): Promise<FileAnswer> {
    const { name, type } = this.#question;
    const key = toKey(name);
    if (this.#zone.soa === undefined) return SERVFAIL;
    if (key === this.#zone.origin && type === TYPE.NS) {
      const nameservers = this.#nameservers();
      return this.#positive(nameservers, [], this.#findNameServerAddresses(nameservers));
    }
    const above = await this.#passCuts(key);
    if (above !== undefined) return above;
    const found = this.#zone.find(key);
    if (found?.hasRecords === true || key === this.#zone.origin) return this.#answerAt(found, undefined);
    const wildcard = found === undefined ? this.#findWildcard(key) : undefined;
    if (wildcard !== undefined) return { ...(await this.#answerAt(wildcard, name)), wildcard: wildcard.name };
    return this.#negative(found === undefined ? 'nxdomain' : 'nonterminal', undefined);
  }

  /** Delegations and DNAMEs on the way from the apex down to the name. */
  async #passCuts(key: NameKey): Promise<FileAnswer | undefined> {
    for (const name of this.#namesDownTo(key)) {
      const at = this.#zone.find(name);
      if (at === undefined) continue;
      const [dname] = at.records(TYPE.DNAME);
      if (dname?.data.kind === 'DNAME' && name !== key) return this.#substitute(at, dname);
      if (name === this.#zone.origin) continue;
      const delegation = this.#delegationAt(at, key);
      if (delegation !== undefined) return delegation;
    }
    return undefined;
  }

  /** From the apex on. */
  #namesDownTo(key: NameKey): readonly NameKey[] {
    const names: NameKey[] = [];
    for (let at: NameKey | undefined = key; at !== undefined; at = toParent(at)) {
      names.unshift(at);
      if (at === this.#zone.origin) break;
    }
    return names;
  }

  #delegationAt(at: ZoneName, key: NameKey): FileAnswer | undefined {
    const nameservers = at.records(TYPE.NS);
    if (nameservers.length === 0 || (this.#question.type === TYPE.DS && at.name === key)) return undefined;
    return {
      result: 'delegation',
      answers: [],
      authorities: [...nameservers, ...this.#findDelegationSecurity(at)],
      additionals: this.#findNameServerAddresses(nameservers),
    };
  }

  /** The DS records of a delegation, or the proof that there are none. */
  #findDelegationSecurity(at: ZoneName): readonly ResourceRecord[] {
    if (!this.#isSigned) return [];
    const signers = at.signed(TYPE.DS, true);
    return signers.length > 0 ? signers : (this.#zone.denial?.ofDelegation(at.name) ?? []);
  }

  /** What shows that a name has no records of the type, or only those of a wildcard. */
  #findDenialProof(name: NameKey): readonly ResourceRecord[] {
    if (!this.#isSigned || !isWithin(name, this.#zone.origin)) return [];
    return this.#zone.denial?.of(name, this.#question.type) ?? [];
  }

  async #substitute(at: ZoneName, dname: ResourceRecord): Promise<FileAnswer> {
    const { name, type } = this.#question;
    const alias = synthesise(toKey(name), at.name, dname);
    const dnames = at.signed(TYPE.DNAME, this.#isSigned);
    // RFC 6672 section 2.2.
    if (alias === undefined) return { ...this.#positive(dnames, []), result: 'yxdomain' };
    const isCircle = toKey(alias.target) === toKey(name);
    if (isCircle && !this.#rules.endsCircles) return SERVFAIL;
    const record: ResourceRecord = {
      name: toKey(name),
      class: CLASS.IN,
      ttl: dname.ttl,
      data: { kind: 'CNAME', target: alias.target },
    };
    const isLast = type === TYPE.CNAME || isCircle;
    const followed = isLast
      ? this.#positive([record], this.#serversFor([record]))
      : await this.#follow([record]);
    const answers = this.#join(dnames, followed.answers);
    return { ...followed, answers };
  }

  /** @param owner of records that a wildcard synthesises; undefined: the name itself was found */
  async #answerAt(at: ZoneName | undefined, owner: AbsoluteName | undefined): Promise<FileAnswer> {
    const { type } = this.#question;
    const own = (records: readonly ResourceRecord[]) =>
      owner === undefined ? records : records.map((record) => ({ ...record, name: toKey(owner) }));
    const aliases = type === TYPE.CNAME ? [] : (at?.signed(TYPE.CNAME, this.#isSigned) ?? []);
    const expansion = owner === undefined ? [] : this.#findDenialProof(toKey(owner));
    if (aliases.length > 0) {
      const followed = await this.#follow(own(aliases));
      return { ...followed, authorities: joinRecords(followed.authorities, expansion) };
    }
    const records = at?.signed(type, this.#isSigned) ?? [];
    if (records.length === 0) return this.#negative('nodata', at);
    const { maxRecords = records.length } = this.#asked;
    if (records.length > maxRecords)
      return { ...this.#positive(own(this.#cut(records, maxRecords)), []), isCut: true };
    if (type === TYPE.SOA && at?.name === this.#zone.origin)
      return this.#positive(own(records), this.#nameservers());
    return this.#positive(
      own(records),
      [...this.#nameservers(), ...expansion],
      this.#findAdditionalRecords(records),
    );
  }

  /** @param aliases a CNAME, and perhaps its signatures */
  async #follow(aliases: readonly ResourceRecord[]): Promise<FileAnswer> {
    const { type } = this.#question;
    const answers = [...aliases];
    const passed = new Set([toKey(this.#question.name)]);
    let target = findAliasTarget(aliases);
    for (let step = 0; target !== undefined && step <= this.#rules.maxAliases; step += 1) {
      const key = toKey(target);
      if (this.#rules.endsCircles && passed.has(key)) return this.#positive(answers, []);
      passed.add(key);
      const cut = this.#cutAbove(key);
      if (cut !== undefined) return { ...cut, answers };
      const at = this.#zone.find(key);
      const isOfApex = key === this.#zone.origin && type === TYPE.SOA;
      if (at?.hasRecords !== true || type === TYPE.NS || isOfApex) return this.#goElsewhere(answers, target);
      const further = at.signed(TYPE.CNAME, this.#isSigned);
      const last = further.length > 0 ? further : at.signed(type, this.#isSigned);
      answers.push(...last);
      const proof = last.length === 0 ? this.#findDenialProof(key) : [];
      // The last name has no such records (RFC 2308 section 2.2). Questions for ANY get the alias only, which denies nothing.
      if (proof.length > 0 || (last.length === 0 && this.#rules.deniesBehindAliases && type !== TYPE.ANY))
        return this.#positive(answers, [...this.#soa(), ...proof]);
      target = findAliasTarget(further);
    }
    return this.#positive(answers, this.#serversFor(answers), this.#findAdditionalRecords(answers));
  }

  #cutAbove(key: NameKey): FileAnswer | undefined {
    for (const name of this.#namesDownTo(key)) {
      const at = name === this.#zone.origin ? undefined : this.#zone.find(name);
      const delegation = at && this.#delegationAt(at, key);
      if (delegation !== undefined) return delegation;
    }
    return undefined;
  }

  async #goElsewhere(answers: readonly ResourceRecord[], target: AbsoluteName): Promise<FileAnswer> {
    const {
      result,
      answers: more,
      authorities: theirs,
      isCut = false,
    } = await this.#elsewhere({
      ...this.#question,
      name: target,
    });
    const all = this.#join(answers, more);
    const isNegative = result === 'nxdomain' || result === 'nodata';
    // The SOA record of the zone of the last name, which may be another one.
    const denial = this.#rules.trustsOtherZones ? theirs.filter(({ data }) => data.kind === 'SOA') : [];
    const authorities = [
      ...(denial.length > 0 ? denial : isNegative ? this.#soa() : this.#serversFor(all)),
      ...this.#findDenialProof(toKey(target)),
    ];
    return { result, answers: all, authorities, additionals: this.#findAdditionalRecords(all), isCut };
  }

  /** The name servers of the zone, if the last name of an answer is in it: they say nothing of names elsewhere. */
  #serversFor(answers: readonly ResourceRecord[]): readonly ResourceRecord[] {
    const last = answers.findLast(({ data }) => data.kind === 'CNAME')?.data;
    const isElsewhere = last?.kind === 'CNAME' && !isWithin(toKey(last.target), this.#zone.origin);
    return isElsewhere && this.#rules.trustsOtherZones ? [] : this.#nameservers();
  }

  /** Records in a circle of aliases are there once, if circles end. */
  #join(ones: readonly ResourceRecord[], others: readonly ResourceRecord[]): readonly ResourceRecord[] {
    return this.#rules.endsCircles ? joinRecords(ones, others) : [...ones, ...others];
  }

  /** The wildcard right below the closest encloser (RFC 4592 section 3.3.1). */
  #findWildcard(key: NameKey): ZoneName | undefined {
    for (let name = toParent(key); name !== undefined; name = toParent(name)) {
      if (this.#zone.find(name) !== undefined) return this.#zone.find(toKey(joinName('*', name)));
      if (name === this.#zone.origin) return undefined;
    }
    return undefined;
  }

  #positive(
    answers: readonly ResourceRecord[],
    authorities: readonly ResourceRecord[],
    additionals: readonly ResourceRecord[] = [],
  ): FileAnswer {
    return { result: 'success', answers, authorities, additionals };
  }

  #negative(result: 'nodata' | 'nonterminal' | 'nxdomain', at: ZoneName | undefined): FileAnswer {
    const { denial } = this.#zone;
    // A zone that is signed only here and there: what its file has.
    const partial = denial === undefined && this.#isSigned ? (at?.signed(TYPE.NSEC, true) ?? []) : [];
    const authorities = [...this.#soa(), ...partial, ...this.#findDenialProof(toKey(this.#question.name))];
    return { result, answers: [], authorities, additionals: [] };
  }

  #cut(records: readonly ResourceRecord[], count: number): readonly ResourceRecord[] {
    const { type } = this.#question;
    const isRotated = type === TYPE.A || type === TYPE.AAAA;
    const start = isRotated ? (this.#asked.pick?.(records.length) ?? 0) : 0;
    const first = records.slice(start, start + count);
    return [...first, ...records.slice(0, count - first.length)];
  }

  #soa(): readonly ResourceRecord[] {
    return this.#zone.apex.signed(TYPE.SOA, this.#isSigned);
  }

  #nameservers(): readonly ResourceRecord[] {
    return this.#zone.apex.signed(TYPE.NS, this.#isSigned);
  }

  #findNameServerAddresses(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
    return this.#addresses(records.flatMap(({ data }) => (data.kind === 'NS' ? [data.target] : [])));
  }

  /** The addresses that the zone has of the names in an answer (RFC 1035 section 3.3, RFC 2782, RFC 9460). */
  #findAdditionalRecords(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
    if (!records.some(({ data }) => targetFor(data) !== undefined)) return [];
    const find = () => {
      const addresses = this.#addresses(records.flatMap((record) => this.#targetFor(record)));
      return [...addresses, ...records.flatMap(({ data }) => this.#findAliasedBindings(data))];
    };
    // Signatures come with the addresses.
    return this.#isSigned ? find() : this.#zone.onceFor(records, find);
  }

  #targetFor({ name, data }: ResourceRecord): readonly AbsoluteName[] {
    const target = targetFor(data);
    if (target === undefined) return [];
    // RFC 9460 section 2.5.2: the owner itself.
    return target === ROOT && isServiceMode(data) && this.#rules.followsBindings ? [name] : [target];
  }

  /** The records that the alias of a service binding leads to (RFC 9460 section 4.1). */
  #findAliasedBindings(data: RecordData): readonly ResourceRecord[] {
    if ((data.kind !== 'SVCB' && data.kind !== 'HTTPS') || isServiceMode(data)) return [];
    if (!this.#rules.followsBindings) return [];
    return this.#zone.find(toKey(data.target))?.signed(TYPE[data.kind], this.#isSigned) ?? [];
  }

  #addresses(names: readonly AbsoluteName[]): readonly ResourceRecord[] {
    return [...new Set(names.map(toKey))].flatMap((name) => {
      const at = this.#zone.find(name);
      return [TYPE.A, TYPE.AAAA].flatMap((type) => at?.signed(type, this.#isSigned) ?? []);
    });
  }
}

const isServiceMode = (data: RecordData): boolean =>
  (data.kind === 'SVCB' || data.kind === 'HTTPS') && data.priority > 0;

/** The name whose addresses a client will need next. */
function targetFor(data: RecordData): AbsoluteName | undefined {
  if (data.kind === 'MX') return data.exchange;
  return data.kind === 'SRV' || data.kind === 'SVCB' || data.kind === 'HTTPS' ? data.target : undefined;
}

/** The records of both, each once: one DNAME may have made several aliases. */
function joinRecords(
  one: readonly ResourceRecord[],
  other: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const joined = new Map<ResourceRecord | string, ResourceRecord>();
  for (const record of [...one, ...other]) joined.set(keyOfAlias(record) ?? record, record);
  return [...joined.values()];
}

/** What tells aliases apart; undefined for other records, which are the same objects. */
function keyOfAlias({ name, data }: ResourceRecord): string | undefined {
  return data.kind === 'CNAME' || data.kind === 'DNAME' ? `${data.kind} ${toKey(name)}` : undefined;
}

function findAliasTarget(aliases: readonly ResourceRecord[]): AbsoluteName | undefined {
  const [first] = aliases;
  return first?.data.kind === 'CNAME' ? first.data.target : undefined;
}

/** The alias that a DNAME makes of a name below its owner (RFC 6672 section 2.2); undefined if it is too long. */
function synthesise(
  name: AbsoluteName,
  owner: NameKey,
  { data }: ResourceRecord,
): { readonly target: AbsoluteName } | undefined {
  if (data.kind !== 'DNAME') return undefined;
  const target = tryParseName(
    `${labelsBelow(name, owner).join('.')}.${data.target === ROOT ? '' : data.target}`,
  );
  return target && { target };
}
