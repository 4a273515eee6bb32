/**
 * Hosts files: each line has an address and its names; `#` begins a comment.
 *
 * Files can have a million names, so they are parsed in pieces, octet by octet, and only an incomplete line is buffered. A wrong line
 * is reported and skipped.
 */
import { isMappedAddress } from '@portolan/dns/address.ts';
import { readUsualAddress } from '@portolan/dns/address-octets.ts';
import { MAX_LABEL_OCTETS } from '@portolan/dns/label.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { HostsManner, HostsVisitor, HostsWarning } from './hosts-manner.ts';

/** The maximum length of a line in octets. Longer lines are skipped, so that a file without newlines does not fill the memory. */
const MAX_IN_LINE = 1 << 20;
/** Names of at most so many octets are parsed without conversion to a string. */
const MAX_PLAIN = 250;

const NEWLINE = 0x0a;
const HASH = 0x23;
const DOT = 0x2e;
const SPACE = 0x20;

/** Octets that are literal in a name: lower-case letters, digits, hyphen and underscore. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, octet) =>
  /[a-z0-9_-]/.test(String.fromCharCode(octet)) ? 1 : 0,
);

/** Blanks: tab, vertical tab, form feed, carriage return and space. */
const isBlank = (octet: number | undefined): boolean =>
  octet === SPACE || (octet !== undefined && octet >= 0x09 && octet <= 0x0d && octet !== NEWLINE);

/** Parses a file piece by piece: call `push` for each piece, then `end`. */
export class HostsReader {
  readonly #manner: HostsManner;
  readonly #visitor: HostsVisitor;
  #unfinished: Uint8Array = new Uint8Array();
  #isSkipping = false;
  #line = 1;
  /** The previous address that was not of a usual form. */
  #lastText: Uint8Array = new Uint8Array();
  #lastAddress: Uint8Array | undefined;
  /** The current line: the octets and where it starts and ends in them. */
  #octets: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;
  /** Created once for all lines, since files can have a million of them. */
  readonly #readNow = () => this.#readLine(this.#octets, this.#start, this.#end);
  /** Reused for each plain name. */
  readonly #name = new Uint8Array(MAX_PLAIN + 2);
  /** Views of it, by their length: making a view costs more than reading the name. */
  readonly #nameViews: Uint8Array[] = [];
  /** Reused for each address of a usual form. */
  readonly #address = new Uint8Array(16);
  readonly #ipv4 = this.#address.subarray(0, 4);

  constructor(manner: HostsManner, visitor: HostsVisitor) {
    this.#manner = manner;
    this.#visitor = visitor;
  }

  push(piece: Uint8Array): void {
    const octets = this.#unfinished.length === 0 ? piece : join(this.#unfinished, piece);
    let start = 0;
    for (let end = octets.indexOf(NEWLINE); end >= 0; end = octets.indexOf(NEWLINE, start)) {
      this.#finishLine(octets, start, end);
      start = end + 1;
    }
    // Copy the rest: the caller may reuse the memory of the piece.
    this.#unfinished = this.#isSkipping ? new Uint8Array() : octets.slice(start);
    if (this.#unfinished.length <= MAX_IN_LINE) return;
    this.#reportOverlong(this.#unfinished);
    this.#unfinished = new Uint8Array();
    this.#isSkipping = true;
  }

  end(): void {
    this.#finishLine(this.#unfinished, 0, this.#unfinished.length);
    this.#unfinished = new Uint8Array();
  }

  #finishLine(octets: Uint8Array, start: number, end: number): void {
    if (end - start > MAX_IN_LINE && !this.#isSkipping) this.#reportOverlong(octets.subarray(start, end));
    else if (!this.#isSkipping) {
      this.#octets = octets;
      this.#start = start;
      this.#end = end;
      this.#visitor.line(this.#line, this.#readNow);
    }
    this.#isSkipping = false;
    this.#line += 1;
  }

  #readLine(octets: Uint8Array, start: number, end: number): void {
    if (this.#manner.words === 'text' && !isAscii(octets, start, end)) {
      this.#readText(toText(octets.subarray(start, end)));
      return;
    }
    let address: Uint8Array | undefined;
    for (let at = start; at < end; ) {
      const octet = octets[at];
      if (octet === HASH) return;
      if (isBlank(octet)) {
        at += 1;
        continue;
      }
      const first = at;
      while (at < end && octets[at] !== HASH && !isBlank(octets[at])) at += 1;
      if (address === undefined) {
        address = this.#readAddress(octets, first, at);
        if (address === undefined) return;
      } else this.#readName(address, octets, first, at);
    }
  }

  /** @returns undefined if it is not an address, which is reported */
  #readAddress(octets: Uint8Array, start: number, end: number): Uint8Array | undefined {
    const length = readUsualAddress(octets, start, end, this.#address);
    if (length === 4) return this.#ipv4;
    if (length === 16 && !isMappedAddress(this.#address, 0)) return this.#address;
    if (!isEqual(octets, start, end, this.#lastText)) {
      this.#lastText = octets.slice(start, end);
      this.#lastAddress = this.#manner.readAddress(toCharacters(this.#lastText));
    }
    if (this.#lastAddress === undefined && this.#manner.reportsAddresses)
      this.#report('address', toCharacters(octets.subarray(start, end)));
    return this.#lastAddress;
  }

  /** Reads a line whose words are text. */
  #readText(line: string): void {
    const [first = '', ...words] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    const address = this.#manner.readAddress(first);
    if (address === undefined) {
      if (this.#manner.reportsAddresses) this.#report('address', first);
      return;
    }
    for (const word of words) this.#readWord(address, word);
  }

  #readName(address: Uint8Array, octets: Uint8Array, start: number, end: number): void {
    const plain = end - start > MAX_PLAIN ? undefined : this.#plainName(octets, start, end);
    if (plain !== undefined) {
      const [firstLabel = 0] = plain;
      this.#visitor.host(address, plain, firstLabel === end - start);
      return;
    }
    this.#readWord(address, toCharacters(octets.subarray(start, end)));
  }

  #readWord(address: Uint8Array, word: string): void {
    const reading = this.#manner.readName(word);
    if (reading.kind === 'name') this.#visitor.host(address, reading.name, !word.includes('.'));
    else if (reading.warning !== undefined) this.#report(reading.warning, word);
  }

  /** The name in wire form if all its octets are plain, as in nearly all names. */
  #plainName(octets: Uint8Array, start: number, end: number): WireName | undefined {
    const name = this.#name;
    // Drop an optional final dot.
    const last = octets[end - 1] === DOT ? end - 1 : end;
    let length = 0;
    for (let at = start; at <= last; at += 1) {
      const octet = at === last ? DOT : (octets[at] ?? 0);
      const place = at - start + 1;
      if (octet !== DOT) {
        if (IS_PLAIN[octet] !== 1 || length === MAX_LABEL_OCTETS) return undefined;
        name[place] = octet;
        length += 1;
      } else {
        if (length === 0) return undefined;
        name[place - length - 1] = length;
        length = 0;
      }
    }
    name[last - start + 1] = 0;
    const size = last - start + 2;
    const view = this.#nameViews[size] ?? name.subarray(0, size);
    this.#nameViews[size] = view;
    return view as WireName; // Labels with length octets, up to the root.
  }

  #reportOverlong(octets: Uint8Array): void {
    this.#report('overlong', `${toCharacters(octets.subarray(0, 100))}...`);
  }

  /** @param word as the manner has words */
  #report(kind: string, word: string): void {
    const value = this.#manner.words === 'text' ? word : toText(Buffer.from(word, 'latin1'));
    const warning: HostsWarning = { line: this.#line, kind, value };
    this.#visitor.warning(warning);
  }
}

/** Uses a plain `Uint8Array`: subarrays of a `Buffer` are slower to create. */
function join(one: Uint8Array, other: Uint8Array): Uint8Array {
  const octets = new Uint8Array(one.length + other.length);
  octets.set(one);
  octets.set(other, one.length);
  return octets;
}

function isEqual(octets: Uint8Array, start: number, end: number, other: Uint8Array): boolean {
  if (end - start !== other.length) return false;
  for (let index = 0; index < other.length; index += 1)
    if (octets[start + index] !== other[index]) return false;
  return true;
}

function isAscii(octets: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if ((octets[at] ?? 0) > 0x7f) return false;
  return true;
}

/** One character for each octet. */
function toCharacters(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
}

function toText(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('utf8');
}
