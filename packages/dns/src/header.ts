/**
 * The first twelve octets of a message (RFC 1035 section 4.1.1; AD and CD: RFC 4035 section 3.1.6 and 3.2.2).
 */
import type { Header } from './types.ts';

export const HEADER_OCTETS = 12;

/** A number of 16 bits, as most fields of a message are, read in place. Octets beyond the end count as 0. */
export function uint16At(packet: Uint8Array, at: number): number {
  return ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
}

/** The flags of the third and fourth octet, as one 16-bit number. */
const FLAG = { QR: 0x8000, AA: 0x0400, TC: 0x0200, RD: 0x0100, RA: 0x0080, AD: 0x0020, CD: 0x0010 } as const;

/** @param flags The third and fourth octet as one number. */
export function readHeader(id: number, flags: number): Header {
  return {
    id,
    response: (flags & FLAG.QR) !== 0,
    opcode: (flags >> 11) & 15,
    authoritative: (flags & FLAG.AA) !== 0,
    truncated: (flags & FLAG.TC) !== 0,
    recursionDesired: (flags & FLAG.RD) !== 0,
    recursionAvailable: (flags & FLAG.RA) !== 0,
    authenticData: (flags & FLAG.AD) !== 0,
    checkingDisabled: (flags & FLAG.CD) !== 0,
    rcode: flags & 15,
  };
}

/** The third and fourth octet as one number. */
export function headerFlags(header: Header): number {
  return (
    (header.response ? FLAG.QR : 0) |
    ((header.opcode & 15) << 11) |
    (header.authoritative ? FLAG.AA : 0) |
    (header.truncated ? FLAG.TC : 0) |
    (header.recursionDesired ? FLAG.RD : 0) |
    (header.recursionAvailable ? FLAG.RA : 0) |
    (header.authenticData ? FLAG.AD : 0) |
    (header.checkingDisabled ? FLAG.CD : 0) |
    (header.rcode & 15)
  );
}
