/**
 * The answers of names of hosts files in the form of the table, made directly from octets: a file may have a million names.
 */
import type { AnswerBody } from '../../table/types.ts';
import { TYPE, type WireName } from '../../wire/types.ts';
import { reuseMemory, writeAddressOctets, writePointer } from '../../zone/direct-body.ts';
import type { HostAddress, HostNames } from './host-names.ts';

export type Answers = ReadonlyMap<number, AnswerBody>;

export class HostAnswers {
  readonly #hosts: HostNames;
  /** The last shared answers: lists of blocked names have one address for many names. */
  #shared: { readonly record: number; readonly answers: Answers } | undefined;

  constructor(hosts: HostNames) {
    this.#hosts = hosts;
  }

  /** By type; valid until the next call. */
  of(name: WireName): Answers {
    const pointer = this.#hosts.pointer(name);
    const shared = pointer === undefined ? this.#hosts.sharedAddress(name) : 0;
    if (shared !== 0 && shared === this.#shared?.record) return this.#shared.answers;
    reuseMemory();
    const answers = new Map<number, AnswerBody>();
    const addresses = this.#hosts.addressesOf(name);
    addFamily(answers, TYPE.A, 4, addresses);
    addFamily(answers, TYPE.AAAA, 16, addresses);
    if (pointer !== undefined) answers.set(TYPE.PTR, writePointer(pointer.ttl, pointer.target));
    if (shared !== 0) this.#shared = { record: shared, answers: copyOf(answers) };
    return answers;
  }
}

/** Answers in memory of their own. */
function copyOf(answers: Answers): Answers {
  return new Map([...answers].map(([type, body]) => [type, { ...body, bytes: body.bytes.slice() }]));
}

/** If TTLs differ, the lowest counts (RFC 2181 section 5.2). */
function addFamily(
  answers: Map<number, AnswerBody>,
  type: number,
  length: number,
  addresses: readonly HostAddress[],
): void {
  const ofFamily = addresses.filter(({ octets }) => octets.length === length);
  if (ofFamily.length === 0) return;
  const ttl = ofFamily.reduce((min, each) => Math.min(min, each.ttl), Number.POSITIVE_INFINITY);
  const octets = ofFamily.map((each) => each.octets);
  answers.set(type, writeAddressOctets(type, ttl, octets));
}
