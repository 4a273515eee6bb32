/**
 * A reply of the common kinds, kept as received octets:
 *
 *     an answer             only aliases that lead from the question's name to its addresses, in this order, and the addresses
 *     a negative answer     NXDOMAIN or NODATA: the aliases, if any, and the SOA record of a zone that contains the name
 *
 * Nearly all replies are of these kinds. Clients and the cache get their records unchanged after the question, so they
 * are not decoded; all other replies are. CoreDNS writes the owner of each record out: such owners become pointers, so that
 * each client finds its own letters there.
 *
 * A raw reply is lent: the next packet overwrites its memory.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { hasExtendedError } from '@portolan/dns/passing-options.ts';
import { areOptionsSound, OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { ReplyNames } from './reply-names.ts';

/** Type, class, TTL and data length, after the owner. */
const FIXED_OCTETS = 10;
const POINTER_OCTETS = 2;
const FIRST_POINTER = 0xc0;
/** From the type. */
const TTL_OFFSET = 4;
const SOA_NUMBERS_OCTETS = 20;
const MAX_TTL = 0x7fff_ffff;
const MAX_RECORDS = 64;
const MAX_ALIASES = 8;
const TRUNCATED = 0x0200;
const AUTHENTIC_DATA = 0x0020;

const names = new ReplyNames();

export class RawReply {
  /** The packet, at `start`. */
  octets: Uint8Array = new Uint8Array();
  start = 0;
  rcode: number = RCODE.NOERROR;
  /** The second word of its header. */
  flags = 0;
  /** Its records without OPT: the first octet after the question, and their length. */
  recordsAt = 0;
  recordsLength = 0;
  answerCount = 0;
  /** 1 for a negative answer, else 0. */
  authorityCount = 0;
  /** The offsets of the TTLs from `recordsAt`, one per record. */
  readonly ttlOffsets = new Uint16Array(MAX_RECORDS + 1);
  /** The addresses: the start from `recordsAt`, the octets of each, and how many. */
  runAt = 0;
  stride = 0;
  addresses = 0;
  /** For a negative answer: the lower of the SOA record's TTL and minimum (RFC 2308 section 5), in seconds. */
  negativeTtl = 0;
  /** Whether the server reports that it has validated the answer. */
  authenticData = false;
  /** Whether it has an OPT record; and where its options lie in `octets`, with their length. */
  hasOpt = false;
  optionsAt = 0;
  optionsLength = 0;
  readonly #chain = new Uint16Array(MAX_ALIASES + 1);
  /** Whether owners of addresses are written out. */
  #isWide = false;
  #compact = new Uint8Array();
  #length = 0;

  /**
   * Reads a packet that repeats a question.
   *
   * @param questionEnd the end of the question, relative to `start`
   * @returns whether it is of these kinds; if not, the object is invalid
   */
  read(
    packet: Uint8Array,
    start: number,
    length: number,
    questionEnd: number,
    type: number,
    dnsClass: number,
  ): boolean {
    this.octets = packet;
    this.start = start;
    this.#length = length;
    this.recordsAt = start + questionEnd;
    const flags = uint16(packet, start + 2);
    this.flags = flags;
    this.rcode = flags & 0x0f;
    this.authenticData = (flags & AUTHENTIC_DATA) !== 0;
    if ((flags & TRUNCATED) !== 0 || (this.rcode !== RCODE.NOERROR && this.rcode !== RCODE.NXDOMAIN))
      return false;
    this.answerCount = uint16(packet, start + 6);
    this.authorityCount = uint16(packet, start + 8);
    if (this.answerCount > MAX_RECORDS || this.authorityCount > 1) return false;
    if (type !== TYPE.A && type !== TYPE.AAAA) return false;
    names.begin(packet, start, length);
    if (names.read(HEADER_OCTETS) !== questionEnd - 4) return false;
    const answersEnd = this.#takeAnswers(questionEnd, type, dnsClass);
    if (answersEnd < 0) return false;
    const isNegative = this.addresses === 0;
    if (isNegative !== (this.authorityCount === 1) || (!isNegative && this.rcode !== RCODE.NOERROR))
      return false;
    const end = isNegative ? this.#takeSoa(answersEnd, dnsClass) : answersEnd;
    this.recordsLength = end - questionEnd;
    if (end < 0 || !this.#takeOpt(end)) return false;
    // Records behind a pointer to another record could not move.
    if (this.#isWide && names.hasPointers) return false;
    if (this.#isWide) this.#narrow(questionEnd);
    return true;
  }

  /** Reads aliases from name to name, and the addresses of the last. @returns the offset after them, or -1 */
  #takeAnswers(from: number, type: number, dnsClass: number): number {
    const dataLength = type === TYPE.A ? 4 : 16;
    let aliases = 0;
    this.#chain[0] = HEADER_OCTETS;
    this.addresses = 0;
    this.#isWide = false;
    let at = from;
    for (let index = 0; index < this.answerCount; index += 1) {
      const fixed = this.#readOwner(at, dnsClass, index, from);
      if (fixed < 0 || !names.isSame(names.name, this.#chain[aliases] ?? 0)) return -1;
      const found = this.#uint16(fixed);
      const end = fixed + FIXED_OCTETS + this.#uint16(fixed + 8);
      if (found === TYPE.CNAME && this.addresses === 0 && aliases < MAX_ALIASES) {
        if (names.read(fixed + FIXED_OCTETS) !== end || this.#wasThere(aliases)) return -1;
        aliases += 1;
        this.#chain[aliases] = names.name;
      } else if (found === type && end - fixed - FIXED_OCTETS === dataLength) {
        this.#isWide ||= fixed - at !== POINTER_OCTETS;
        if (this.addresses === 0) this.runAt = at - from;
        this.addresses += 1;
      } else return -1;
      at = end;
    }
    this.stride = POINTER_OCTETS + FIXED_OCTETS + dataLength;
    this.#chain.fill(HEADER_OCTETS, aliases + 1);
    return at;
  }

  /**
   * Reads a record up to its type.
   *
   * @returns the offset of the type if the record is complete, has the requested class and a valid TTL; else -1
   */
  #readOwner(at: number, dnsClass: number, index: number, from: number): number {
    const fixed = names.read(at);
    if (fixed < 0 || fixed + FIXED_OCTETS > this.#length) return -1;
    this.ttlOffsets[index] = fixed + TTL_OFFSET - from;
    const isSound = this.#uint16(fixed + 2) === dnsClass && this.#uint32(fixed + 4) <= MAX_TTL;
    return isSound && fixed + FIXED_OCTETS + this.#uint16(fixed + 8) <= this.#length ? fixed : -1;
  }

  /** Whether the last name read is already in the alias chain. */
  #wasThere(aliases: number): boolean {
    const target = names.name;
    for (let step = 0; step <= aliases; step += 1)
      if (names.isSame(target, this.#chain[step] ?? 0)) return true;
    return false;
  }

  /** Reads the SOA record of a zone that contains one of the names. @returns the offset after it, or -1 */
  #takeSoa(at: number, dnsClass: number): number {
    const fixed = this.#readOwner(at, dnsClass, this.answerCount, this.recordsAt - this.start);
    if (fixed < 0 || this.#uint16(fixed) !== TYPE.SOA) return -1;
    const zone = names.name;
    if (!this.#chain.some((name) => names.isWithin(name, zone))) return -1;
    const primaryEnd = names.read(fixed + FIXED_OCTETS);
    const mailboxEnd = primaryEnd < 0 ? -1 : names.read(primaryEnd);
    const end = fixed + FIXED_OCTETS + this.#uint16(fixed + 8);
    if (mailboxEnd < 0 || mailboxEnd + SOA_NUMBERS_OCTETS !== end) return -1;
    this.negativeTtl = Math.min(this.#uint32(fixed + 4), this.#uint32(end - 4));
    return end;
  }

  /** Copies the packet with pointers as the owners of its answers. It has no pointers so far. */
  #narrow(questionEnd: number): void {
    const recordsEnd = questionEnd + this.recordsLength;
    if (this.#compact.length < this.#length) this.#compact = new Uint8Array(this.#length);
    const to = this.#compact;
    let end = this.#copy(0, questionEnd, 0);
    let owner = HEADER_OCTETS;
    const aliases = this.answerCount - this.addresses;
    for (let index = 0; index < this.answerCount; index += 1) {
      const fixed = questionEnd + (this.ttlOffsets[index] ?? 0) - TTL_OFFSET;
      if (index === aliases) this.runAt = end - questionEnd;
      to[end] = FIRST_POINTER | (owner >> 8);
      to[end + 1] = owner;
      const data = end + POINTER_OCTETS + FIXED_OCTETS;
      this.ttlOffsets[index] = data - FIXED_OCTETS + TTL_OFFSET - questionEnd;
      end = this.#copy(fixed, fixed + FIXED_OCTETS + this.#uint16(fixed + 8), end + POINTER_OCTETS);
      // The next record belongs to the target of an alias.
      if (index < aliases) owner = data;
    }
    this.recordsLength = end - questionEnd;
    this.optionsAt = end + OPT_OCTETS;
    this.#length = this.#copy(recordsEnd, this.#length, end);
    this.octets = to;
    this.start = 0;
    this.recordsAt = questionEnd;
  }

  /** @returns the end of the copy */
  #copy(from: number, end: number, to: number): number {
    for (let at = from; at < end; at += 1) this.#compact[to + at - from] = this.octets[this.start + at] ?? 0;
    return to + end - from;
  }

  /** Accepts only the end of the packet, or an OPT record without extended errors, which are kept with an answer. */
  #takeOpt(at: number): boolean {
    const count = this.#uint16(10);
    this.hasOpt = count > 0;
    this.optionsLength = 0;
    if (count === 0) return at === this.#length;
    if (count !== 1 || at + OPT_OCTETS > this.#length) return false;
    const length = this.#uint16(at + 9);
    if (at + OPT_OCTETS + length !== this.#length) return false;
    // The root, OPT, no extension of the response code, version 0.
    const isOpt = this.octets[this.start + at] === 0 && this.#uint16(at + 1) === TYPE.OPT;
    if (!isOpt || this.#uint16(at + 5) !== 0) return false;
    if (length === 0) return true;
    const opt = this.start + at;
    this.optionsAt = opt + OPT_OCTETS;
    this.optionsLength = length;
    return areOptionsSound(this.octets, opt) && !hasExtendedError(this.octets, this.optionsAt, length);
  }

  #uint16(at: number): number {
    return uint16(this.octets, this.start + at);
  }

  #uint32(at: number): number {
    return ((this.#uint16(at) << 16) | this.#uint16(at + 2)) >>> 0;
  }
}

function uint16(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
}
