/**
 * What differs between programs that read hosts files: which words are addresses and names, and what is said of others.
 */
import type { WireName } from '@portolan/dns/types.ts';

/** An invalid address or name in a line, which is skipped. */
export interface HostsWarning {
  /** From 1. */
  readonly line: number;
  readonly kind: string;
  readonly value: string;
}

export interface HostsVisitor {
  /**
   * Called for each name of each line, in the order of the file.
   *
   * @param address 4 or 16 octets; it and the name may be overwritten after the call
   * @param name lower case
   * @param isPlain whether the name has no dot, so that the default domain may be added
   */
  host(address: Uint8Array, name: WireName, isPlain: boolean): void;
  warning(warning: HostsWarning): void;
  /**
   * Runs the read of a line and handles its errors.
   *
   * @param line from 1
   */
  line(line: number, read: () => void): void;
}

export type HostWord =
  | { readonly kind: 'name'; readonly name: WireName }
  /** It is skipped. @property warning the kind of its warning; undefined: it is not worth one */
  | { readonly kind: 'other'; readonly warning: string | undefined };

export interface HostsManner {
  /** The octets of an address, 4 or 16; undefined if the word is no address. */
  readAddress(word: string): Uint8Array | undefined;
  /** Not called for names of lower-case letters, digits, hyphens and underscores, which all programs take alike. */
  readName(word: string): HostWord;
  /** What words are: a character for each octet, or text in UTF-8, in which more characters are blank. */
  readonly words: 'octets' | 'text';
  /** Whether lines whose first word is no address are reported. */
  readonly reportsAddresses: boolean;
  /** Whether a file with this name in a folder of hosts files is a hosts file. */
  isHostsFile(name: string): boolean;
}
