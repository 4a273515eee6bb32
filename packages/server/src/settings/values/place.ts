/**
 * Reads where a port is to be opened: at one address, or at all.
 */
import type { ValueReader } from './value-reader.ts';

export interface Place {
  /** An IP address; undefined: all addresses. */
  readonly address: string | undefined;
  /** 0 to 65535; 0: any free port. */
  readonly port: number;
}

const PORT = { min: 0, max: 65_535, of: 'a port' };

/** `PORT`, or `ADDRESS:PORT` to listen on one address only. */
export function readPlace(read: ValueReader, flag: string, text: string): Place {
  const parts = /^(.*):([^:\]]*)$/.exec(text);
  const address = parts?.[1] === undefined ? undefined : read.address(flag, parts[1]);
  return { address, port: read.integer(flag, parts === null ? text : parts[2], PORT, 0) };
}
