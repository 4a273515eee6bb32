/**
 * Interfaces for parsers of hosts files. Front ends define the format: the rules of dnsmasq differ from others'.
 */
import type { WireName } from '../../wire/types.ts';

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

/** Takes a file in consecutive pieces, then `end`. */
export interface HostsReader {
  push(octets: Uint8Array): void;
  end(): void;
}

export interface HostsFormat {
  /** Starts reading a file. */
  open(visitor: HostsVisitor): HostsReader;
  /** Whether a file with this name in a folder of hosts files is a hosts file. */
  isHostsFile(name: string): boolean;
}
