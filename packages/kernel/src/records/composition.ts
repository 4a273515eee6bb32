/**
 * The records of an answer while they are composed: octets that follow a question, in memory of the reader's own.
 *
 * It is bounded by what the response may carry: a record that does not fit is left out, with all after it. Names in
 * record data are never compressed (RFC 2782); owners are pointers.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import type { ComposedRecords } from '../table/composer.ts';

const LARGEST = 65_536;
/** Octets of a record before its data when its owner is a pointer. */
const FIXED_OCTETS = 12;
/** A pointer holds 14 bits (RFC 1035 section 4.1.4). */
const FARTHEST_POINTER = 0x3fff;

export class Composition implements ComposedRecords {
  readonly octets = new Uint8Array(LARGEST);
  readonly view = new DataView(this.octets.buffer);
  length = 0;
  answers = 0;
  additionals = 0;
  /** Whether a record of the answer section was left out. */
  isCut = false;
  /** Whether a record of the additional section was left out. */
  isWithoutAdditionals = false;
  /** Seconds: the TTL of the next records. */
  ttl = 0;
  #limit = 0;
  /** Where the first record lies in the message. */
  #origin = 0;
  /** Where the record that is being written begins. */
  #begun = 0;
  /** Where the last target was written, in the message. */
  targetAt = 0;

  /**
   * Begins an answer.
   *
   * @param origin where the first record lies in the message
   * @param limit octets that all records may have
   */
  begin(origin: number, limit: number, ttl: number): void {
    this.#origin = origin;
    this.#limit = limit;
    this.ttl = ttl;
    this.restart();
  }

  /** Removes all records. */
  restart(): void {
    this.length = 0;
    this.answers = 0;
    this.additionals = 0;
    this.isCut = false;
    this.isWithoutAdditionals = false;
  }

  /** Adds an IPv4 address to the answers. @returns whether it fitted */
  addAddress(address: number): boolean {
    if (!this.#fits(FIXED_OCTETS + 4)) return false;
    this.#writeFixed(HEADER_OCTETS, TYPE.A, 4);
    this.#writeWord(address);
    this.answers++;
    return true;
  }

  /** Adds an IPv6 address to the answers. @param at where its 16 octets lie in `from` */
  addLongAddress(from: Uint8Array, at: number): boolean {
    if (!this.#fits(FIXED_OCTETS + 16)) return false;
    this.#writeFixed(HEADER_OCTETS, TYPE.AAAA, 16);
    this.#copy(from, at, 16);
    this.answers++;
    return true;
  }

  /**
   * Adds an SRV record up to its target, of which `targetLength` octets must follow by `append`.
   *
   * @returns whether it fitted with its target
   */
  addService(priority: number, weight: number, port: number, targetLength: number): boolean {
    if (!this.#fits(FIXED_OCTETS + 6 + targetLength)) return false;
    this.#begun = this.length;
    this.#writeFixed(HEADER_OCTETS, TYPE.SRV, 6 + targetLength);
    this.#writeWord((priority << 16) | weight);
    this.view.setUint16(this.length, port);
    this.length += 2;
    this.targetAt = this.#origin + this.length;
    this.answers++;
    return true;
  }

  /** Adds a PTR record up to its target, as `addService`. */
  addPointer(targetLength: number): boolean {
    if (!this.#fits(FIXED_OCTETS + targetLength)) return false;
    this.#begun = this.length;
    this.#writeFixed(HEADER_OCTETS, TYPE.PTR, targetLength);
    this.targetAt = this.#origin + this.length;
    this.answers++;
    return true;
  }

  /** Adds an HTTPS record up to its target, as `addService`. @param restLength octets of the target and the parameters */
  addBinding(priority: number, restLength: number): boolean {
    if (!this.#fits(FIXED_OCTETS + 2 + restLength)) return false;
    this.#writeFixed(HEADER_OCTETS, TYPE.HTTPS, 2 + restLength);
    this.view.setUint16(this.length, priority);
    this.length += 2;
    this.targetAt = this.#origin + this.length;
    this.answers++;
    return true;
  }

  /** Adds a CNAME record. @param at where its target lies in `from` */
  addAlias(from: Uint8Array, at: number, length: number): boolean {
    if (!this.#fits(FIXED_OCTETS + length)) return false;
    this.#writeFixed(HEADER_OCTETS, TYPE.CNAME, length);
    this.#copy(from, at, length);
    this.answers++;
    return true;
  }

  /** Appends octets of a target, or of the parameters behind it. */
  append(from: Uint8Array, at: number, length: number): void {
    this.#copy(from, at, length);
  }

  /** Removes the record that was added last if an earlier one is the same; its target is then that one's. Only while all records are answers. */
  dropIfRepeated(): void {
    const { octets } = this;
    const last = this.#begun;
    const size = this.length - last;
    for (let at = 0; at < last; ) {
      const length = FIXED_OCTETS + (((octets[at + 10] ?? 0) << 8) | (octets[at + 11] ?? 0));
      if (length === size && this.#isEqual(at, last, size)) {
        this.length = last;
        this.targetAt -= last - at;
        this.answers--;
        return;
      }
      at += length;
    }
  }

  /** Adds an IPv4 address to the additional section. @param owner where its name lies in the message */
  addAdditional(owner: number, address: number): boolean {
    if (!this.#beginAdditional(owner, TYPE.A, 4)) return false;
    this.#writeWord(address);
    return true;
  }

  /** Adds an IPv6 address to the additional section. */
  addLongAdditional(owner: number, from: Uint8Array, at: number): boolean {
    if (!this.#beginAdditional(owner, TYPE.AAAA, 16)) return false;
    this.#copy(from, at, 16);
    return true;
  }

  #beginAdditional(owner: number, type: number, length: number): boolean {
    if (this.isCut || this.isWithoutAdditionals) return false;
    const name = owner > FARTHEST_POINTER ? this.#nameLength(owner - this.#origin) : 2;
    if (this.length + FIXED_OCTETS - 2 + name + length > this.#limit) {
      this.isWithoutAdditionals = true;
      return false;
    }
    if (name === 2) this.#writeFixed(owner, type, length);
    else {
      this.#copy(this.octets, owner - this.#origin, name);
      this.#writeRest(type, length);
    }
    this.additionals++;
    return true;
  }

  #fits(length: number): boolean {
    if (this.isCut) return false;
    if (this.length + length <= this.#limit) return true;
    this.isCut = true;
    return false;
  }

  /** Writes the fields before a record's data. @param owner where its name lies in the message */
  #writeFixed(owner: number, type: number, length: number): void {
    this.view.setUint16(this.length, 0xc000 | owner);
    this.length += 2;
    this.#writeRest(type, length);
  }

  #writeRest(type: number, length: number): void {
    const view = this.view;
    const at = this.length;
    view.setInt32(at, (type << 16) | CLASS.IN);
    view.setInt32(at + 4, this.ttl);
    view.setUint16(at + 8, length);
    this.length = at + 10;
  }

  #writeWord(value: number): void {
    this.view.setInt32(this.length, value);
    this.length += 4;
  }

  #copy(from: Uint8Array, at: number, length: number): void {
    const { octets } = this;
    const to = this.length;
    for (let index = 0; index < length; index++) octets[to + index] = from[at + index] ?? 0;
    this.length = to + length;
  }

  #isEqual(one: number, other: number, length: number): boolean {
    const { octets } = this;
    for (let index = 0; index < length; index++)
      if (octets[one + index] !== octets[other + index]) return false;
    return true;
  }

  #nameLength(at: number): number {
    const { octets } = this;
    let end = at;
    while ((octets[end] ?? 0) !== 0) end += (octets[end] ?? 0) + 1;
    return end + 1 - at;
  }
}
