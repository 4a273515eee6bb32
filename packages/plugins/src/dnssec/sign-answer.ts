/**
 * Adds signatures to the answers of other plugins, and proofs to their denials.
 */
import { groupSets } from '@portolan/dns/dnssec/rrsig.ts';
import { findClosest, ROOT, toKey } from '@portolan/dns/name.ts';
import { RecordDataError } from '@portolan/dns/record-codec.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import {
  type AbsoluteName,
  type NameKey,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { type DeniedName, makeDenialRecord } from './denial-records.ts';
import type { Signer, SigningTally } from './signer.ts';

export interface AnswerSigning {
  readonly question: Question;
  readonly signer: Signer;
  readonly zones: ReadonlySet<NameKey>;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly tally: SigningTally;
  /**
   * Whether an alias that leads to nothing is left without a signature or a proof, and the proof of a delegation is about the name of the
   * question, as in CoreDNS.
   */
  readonly deniesAsCoreDns: boolean;
}

/** @returns the answer itself if nothing in it is to be signed */
export function signAnswer(answer: WholeAnswer, signing: AnswerSigning): WholeAnswer {
  // A part of a set has no signature.
  if (answer.truncated) return answer;
  return new AnswerSigner(answer, signing).sign();
}

class AnswerSigner {
  readonly #answer: WholeAnswer;
  readonly #signing: AnswerSigning;

  constructor(answer: WholeAnswer, signing: AnswerSigning) {
    this.#answer = answer;
    this.#signing = signing;
  }

  sign(): WholeAnswer {
    const { rcode, answers, authorities } = this.#answer;
    const hasSoa = authorities.some(({ data }) => data.kind === 'SOA');
    const isFound = rcode === RCODE.NOERROR && answers.length > 0;
    if (
      hasSoa &&
      (rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN) &&
      !(isFound && !this.#isDeniedBehindAlias())
    )
      return this.#signDenial();
    const isReferral =
      rcode === RCODE.NOERROR && !isFound && authorities.some(({ data }) => data.kind === 'NS');
    return isReferral ? this.#signReferral() : this.#signSets();
  }

  /** Whether the aliases of the answer end at a name that lacks the type. */
  #isDeniedBehindAlias(): boolean {
    const { answers } = this.#answer;
    const { question, deniesAsCoreDns } = this.#signing;
    if (deniesAsCoreDns || question.type === TYPE.CNAME || question.type === TYPE.ANY) return false;
    return answers.every(({ data }) => ALIAS_TYPES.has(typeOfData(data)));
  }

  #signSets(): WholeAnswer {
    const { answers, authorities, additionals } = this.#answer;
    return {
      ...this.#answer,
      answers: this.#withSignatures(answers),
      authorities: this.#withSignatures(authorities),
      additionals: this.#withSignatures(additionals),
    };
  }

  /** The DS records of a delegation are signed, or that it has none. Its NS records belong to the zone below. */
  #signReferral(): WholeAnswer {
    const { authorities } = this.#answer;
    const [first] = authorities;
    const { question, deniesAsCoreDns } = this.#signing;
    const signers = authorities.filter(({ data }) => typeOfData(data) === TYPE.DS);
    const nameserver = authorities.find(({ data }) => data.kind === 'NS');
    if (first === undefined || nameserver === undefined) return this.#answer;
    const name = deniesAsCoreDns ? question.name : nameserver.name;
    const proof =
      signers.length > 0
        ? this.#signSet(signers)
        : this.#prove({ kind: 'delegation', name, type: question.type, ttl: first.ttl });
    return { ...this.#answer, authorities: [...authorities, ...proof] };
  }

  #signDenial(): WholeAnswer {
    const { answers, authorities } = this.#answer;
    const { question, deniesAsCoreDns } = this.#signing;
    const [soa] = authorities;
    // With more records, the plugin that answered has a proof of its own.
    if (soa === undefined || authorities.length > 1) return this.#answer;
    const name = deniesAsCoreDns ? question.name : followAliases(question.name, answers);
    const proof = this.#prove({ kind: 'records', name, type: question.type, ttl: soa.ttl });
    const signed = deniesAsCoreDns ? answers : this.#withSignatures(answers);
    const zone = this.#findZone(toKey(deniesAsCoreDns ? question.name : soa.name));
    const denials = [...authorities, ...this.#signSet([soa], zone), ...proof];
    if (denials.length === 1) return { ...this.#answer, answers: signed };
    const whole = { ...this.#answer, rcode: RCODE.NOERROR, answers: signed, authorities: denials };
    if (question.type !== TYPE.NSEC) return whole;
    // The proof is what was asked for.
    const asked = deniesAsCoreDns ? denials.slice(-2) : [...signed, ...proof];
    return { ...whole, answers: asked, authorities: [] };
  }

  /** An NSEC record behind its signatures; empty for names outside all zones. */
  #prove(denied: Omit<DeniedName, 'zone'>): readonly ResourceRecord[] {
    const zone = this.#findZone(toKey(denied.name));
    const record = zone && makeDenialRecord({ ...denied, zone });
    return record === undefined ? [] : [...this.#signSet([record]), record];
  }

  /** The target of an alias may have come through this plugin, with its signatures: they are there once. */
  #withSignatures(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
    const signatures = groupSets(records).flatMap((set) => this.#signSet(set));
    const known = new Set(records.flatMap(readSignature));
    if (known.size === 0) return [...records, ...signatures];
    const added = signatures.filter((each) => !readSignature(each).some((text) => known.has(text)));
    return [...records, ...added];
  }

  #signSet(
    set: readonly ResourceRecord[],
    zone = this.#findZone(toKey(set[0]?.name ?? ROOT)),
  ): readonly ResourceRecord[] {
    if (zone === undefined) return [];
    const { signer, now, tally } = this.#signing;
    try {
      return signer.sign(set, zone, now, tally);
    } catch (error) {
      // A record of another server that has no wire form: it will not be sent either.
      if (error instanceof RecordDataError) return [];
      throw error;
    }
  }

  #findZone(name: NameKey): NameKey | undefined {
    return findClosest(name, (at) => (this.#signing.zones.has(at) ? at : undefined));
  }
}

/** The owner and the octets of a signature, as a text; empty for other records. */
function readSignature({ name, data }: ResourceRecord): readonly string[] {
  if (data.kind !== 'unknown' || data.type !== TYPE.RRSIG) return [];
  return [`${toKey(name)} ${Buffer.from(data.bytes).toString('latin1')}`];
}

const ALIAS_TYPES: ReadonlySet<number> = new Set([TYPE.CNAME, TYPE.DNAME, TYPE.RRSIG]);

/** The name that the aliases of an answer lead to. */
function followAliases(name: AbsoluteName, answers: readonly ResourceRecord[]): AbsoluteName {
  const targets = new Map(
    answers.flatMap(({ name: owner, data }) => (data.kind === 'CNAME' ? [[toKey(owner), data.target]] : [])),
  );
  let at = name;
  for (let left = targets.size; left > 0; left -= 1) at = targets.get(toKey(at)) ?? at;
  return at;
}
