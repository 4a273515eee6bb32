/**
 * What lines of hosts files say. How they are written is for the front end to know: the rules of dnsmasq differ from others'.
 */
import type { WireName } from '../../wire/types.ts';

/** Something in a line that is no address or no name, and is left out. */
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
   * @param address 4 or 16 octets; it and the name may be written over after the call
   * @param name lower case
   * @param isPlain without any dot: the default domain may be added to it
   */
  host(address: Uint8Array, name: WireName, isPlain: boolean): void;
  warning(warning: HostsWarning): void;
  /**
   * Reads a line, whatever the reader throws.
   *
   * @param line from 1
   */
  line(line: number, read: () => void): void;
}

/** Takes a file in pieces, one after the other, and then `end`. */
export interface HostsReader {
  push(octets: Uint8Array): void;
  end(): void;
}

export interface HostsFormat {
  /** Begins to read a file. */
  open(visitor: HostsVisitor): HostsReader;
  /** Whether a file of this name in a folder of hosts files is one of them. */
  isHostsFile(name: string): boolean;
}
