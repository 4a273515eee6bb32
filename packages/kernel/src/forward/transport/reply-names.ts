/**
 * Reads, compares and tracks the names of a message in octets. A pointer is followed only to the start of a known label.
 *
 * `decodeMessage` accepts pointers to any earlier place, even into a TTL. Such a message cannot be copied unchanged,
 * since TTLs count down; a reply with such a pointer is decoded.
 */
import { LOWER_CASE, MAX_LABEL_OCTETS, MAX_NAME_OCTETS } from '@portolan/dns/label.ts';

/** The range of offsets in which names are tracked: that of UDP replies. */
const ROOM = 4096;
const FIRST_POINTER = 0xc0;
const MAX_LABELS = 128;

export class ReplyNames {
  /** The last name read: the offset of its first label, or that of its target if the name is only a pointer. */
  name = 0;
  /** Whether a pointer was read in this message. */
  hasPointers = false;
  #packet: Uint8Array = new Uint8Array();
  #start = 0;
  #length = 0;
  /** By offset: the turn in which a label was seen there, and the octets of the name from there on. */
  readonly #seen = new Uint32Array(ROOM);
  readonly #octets = new Uint8Array(ROOM);
  readonly #labels = new Uint16Array(MAX_LABELS);
  #turn = 0;

  /** Starts another message. Offsets count from its start. */
  begin(packet: Uint8Array, start: number, length: number): void {
    this.#packet = packet;
    this.#start = start;
    this.#length = Math.min(length, ROOM);
    this.hasPointers = false;
    this.#turn = (this.#turn + 1) >>> 0;
    if (this.#turn === 0) {
      this.#seen.fill(0);
      this.#turn = 1;
    }
  }

  /** Reads the name at an offset. @returns the offset after it, or -1 if it cannot be copied unchanged */
  read(at: number): number {
    let labels = 0;
    let position = at;
    let octets = 1;
    for (;;) {
      if (position >= this.#length) return -1;
      const length = this.#packet[this.#start + position] ?? 0;
      if (length === 0) break;
      if (length >= FIRST_POINTER) {
        this.hasPointers = true;
        const target = this.#findTarget(position);
        if (target < 0) return -1;
        this.name = labels === 0 ? target : at;
        return this.#note(labels, this.#octets[target] ?? 0, position) ? position + 2 : -1;
      }
      if (length > MAX_LABEL_OCTETS || labels === MAX_LABELS) return -1;
      this.#labels[labels] = position;
      labels += 1;
      octets += length + 1;
      position += length + 1;
    }
    this.name = at;
    return octets <= MAX_NAME_OCTETS && this.#note(labels, 1, position) ? position + 1 : -1;
  }

  /** Whether two names are the same, ignoring case. */
  isSame(one: number, other: number): boolean {
    let here = this.#resolve(one);
    let there = this.#resolve(other);
    while (here !== there) {
      const length = this.#octetAt(here);
      if (length !== this.#octetAt(there)) return false;
      if (length === 0) return true;
      for (let place = 1; place <= length; place += 1)
        if (LOWER_CASE[this.#octetAt(here + place)] !== LOWER_CASE[this.#octetAt(there + place)])
          return false;
      here = this.#resolve(here + length + 1);
      there = this.#resolve(there + length + 1);
    }
    return true;
  }

  /** Whether a name is another one, or below it. */
  isWithin(name: number, ancestor: number): boolean {
    for (let at = this.#resolve(name); ; at = this.#resolve(at + this.#octetAt(at) + 1)) {
      if (this.isSame(at, ancestor)) return true;
      if (this.#octetAt(at) === 0) return false;
    }
  }

  /** The target of a pointer, if a label was seen there. */
  #findTarget(position: number): number {
    const target = ((this.#octetAt(position) & 0x3f) << 8) | this.#octetAt(position + 1);
    return target < ROOM && this.#seen[target] === this.#turn ? target : -1;
  }

  /** Records the labels just read. @param octets of the rest of the name @param end the place of the rest */
  #note(labels: number, octets: number, end: number): boolean {
    let rest = octets;
    let behind = end;
    for (let label = labels - 1; label >= 0; label -= 1) {
      const at = this.#labels[label] ?? 0;
      rest += behind - at;
      behind = at;
      if (rest > MAX_NAME_OCTETS) return false;
      this.#seen[at] = this.#turn;
      this.#octets[at] = rest;
    }
    return true;
  }

  #resolve(position: number): number {
    let at = position;
    while (this.#octetAt(at) >= FIRST_POINTER) at = ((this.#octetAt(at) & 0x3f) << 8) | this.#octetAt(at + 1);
    return at;
  }

  #octetAt(position: number): number {
    return this.#packet[this.#start + position] ?? 0;
  }
}
