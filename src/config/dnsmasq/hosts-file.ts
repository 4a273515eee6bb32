/**
 * Hosts files: an address and its names on each line, `#` before a comment.
 *
 * Files of a million names are read in pieces, line by line, and nothing is kept but an unfinished line. A line that is wrong
 * is reported and left out; the rest counts.
 */
import type { NameKey } from '../../wire/types.ts';
import { readAddress } from './addresses.ts';
import { readName } from './names.ts';
import { octetsOf, textOfOctets } from './octets.ts';

export interface HostsVisitor {
  /** Called once for each line with an address and a name, in the order of the file. */
  host(line: HostsLine): void;
  warning(warning: HostsWarning): void;
}

export interface HostsLine {
  /** From 1. */
  readonly line: number;
  /** Canonical. */
  readonly address: string;
  /** At least one. */
  readonly names: readonly HostName[];
}

export interface HostName {
  readonly name: NameKey;
  /** Without any dot: a name that `--expand-hosts` adds the domain to. */
  readonly isPlain: boolean;
}

export interface HostsWarning {
  readonly line: number;
  /** An `unaskable` name is one that dnsmasq accepts and that no query can contain. */
  readonly kind: 'address' | 'name' | 'unaskable' | 'overlong';
  readonly value: string;
}

/** Octets of one line; beyond, the line is left out, so that a file without lines does not fill the memory. */
const MAX_IN_LINE = 1 << 20;
const SPACES = /[ \t\v\f\r]+/;

/** Reads a file whose pieces come one after the other: `push` each, then `end`. */
export class HostsFileReader {
  readonly #visitor: HostsVisitor;
  #unfinished = '';
  #isSkipping = false;
  #line = 1;
  /** Lists of blocked names repeat one address. */
  #lastText = '';
  #lastAddress: string | undefined;

  constructor(visitor: HostsVisitor) {
    this.#visitor = visitor;
  }

  push(bytes: Uint8Array): void {
    const text = this.#unfinished + octetsOf(bytes);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#finishLine(text.slice(start, end));
      start = end + 1;
    }
    this.#unfinished = this.#isSkipping ? '' : text.slice(start);
    if (this.#unfinished.length <= MAX_IN_LINE) return;
    this.#reportOverlong(this.#unfinished);
    this.#unfinished = '';
    this.#isSkipping = true;
  }

  end(): void {
    this.#finishLine(this.#unfinished);
    this.#unfinished = '';
  }

  #finishLine(text: string): void {
    if (text.length > MAX_IN_LINE && !this.#isSkipping) this.#reportOverlong(text);
    else if (!this.#isSkipping) this.#readLine(text);
    this.#isSkipping = false;
    this.#line += 1;
  }

  #readLine(text: string): void {
    const comment = text.indexOf('#');
    const words = (comment < 0 ? text : text.slice(0, comment)).split(SPACES);
    const first = words[0] === '' ? 1 : 0;
    const addressText = words[first];
    if (addressText === undefined || addressText === '') return;
    const address = this.#addressOf(addressText);
    if (address === undefined) {
      this.#report('address', addressText);
      return;
    }
    const names: HostName[] = [];
    for (let index = first + 1; index < words.length; index += 1) {
      const word = words[index] ?? '';
      if (word !== '') this.#addName(names, word);
    }
    if (names.length > 0) this.#visitor.host({ line: this.#line, address, names });
  }

  #addressOf(text: string): string | undefined {
    if (text !== this.#lastText) {
      this.#lastText = text;
      this.#lastAddress = readAddress(text);
    }
    return this.#lastAddress;
  }

  #addName(names: HostName[], word: string): void {
    const reading = readName(word);
    if (reading.kind === 'name') names.push({ name: reading.name, isPlain: !word.includes('.') });
    else this.#report(reading.kind === 'bad' ? 'name' : 'unaskable', word);
  }

  #reportOverlong(text: string): void {
    this.#report('overlong', `${text.slice(0, 100)}...`);
  }

  #report(kind: HostsWarning['kind'], value: string): void {
    this.#visitor.warning({ line: this.#line, kind, value: textOfOctets(value) });
  }
}

/** Reads a whole file at once. */
export function readHostsFile(bytes: Uint8Array, visitor: HostsVisitor): void {
  const reader = new HostsFileReader(visitor);
  reader.push(bytes);
  reader.end();
}
