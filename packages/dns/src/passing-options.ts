/**
 * EDNS options of a query that pass by without changing its answer, read and copied in place.
 */
import { EXTENDED_ERROR_OPTION } from './extended-error.ts';
import { uint16At } from './header.ts';
import type { Edns } from './types.ts';

/** A bit for each option up to 15. */
type Options = number;

/** Those that CoreDNS sends back as they came: NSID, EXPIRE, COOKIE, TCP keepalive, padding (`supportedOptions` in `request.go`). */
const REPEATED: Options = (1 << 3) | (1 << 9) | (1 << 10) | (1 << 11) | (1 << 12);
/** Those between a client and its server only: COOKIE (RFC 7873), TCP keepalive (RFC 7828), padding (RFC 7830). */
const OF_ONE_HOP: Options = (1 << 10) | (1 << 11) | (1 << 12);
/** Code and length. */
const HEADER_OCTETS = 4;

/** Whether responses under a Corefile repeat the option. */
export function isRepeatedOption(code: number): boolean {
  return isAmong(REPEATED, code);
}

/** Whether the option concerns only the hop from the client to us: queries to servers go without it, and answers do not depend on it. */
function isOfOneHop(code: number): boolean {
  return isAmong(OF_ONE_HOP, code);
}

/** Whether all options concern only one hop. @param at the first octet of the options of an OPT record @param end the octet behind them */
function areOfOneHop(packet: Uint8Array, at: number, end: number): boolean {
  for (let from = at; from < end; from = nextOption(packet, from))
    if (!isOfOneHop(uint16At(packet, from))) return false;
  return true;
}

/**
 * The octets of the options that servers may act on: all of them if one concerns more than this hop, as they came; else 0. Readers and the
 * chain pass on the same ones.
 *
 * @param at as above
 */
export function measurePassedOn(packet: Uint8Array, at: number, end: number): number {
  return areOfOneHop(packet, at, end) ? 0 : end - at;
}

/** Those options as they lie in an OPT record; undefined: none is passed on. */
export function encodePassedOn(options: Edns['options'] = []): Uint8Array | undefined {
  if (options.every(({ code }) => isOfOneHop(code))) return undefined;
  const octets = new Uint8Array(
    options.reduce((length, { data }) => length + HEADER_OCTETS + data.length, 0),
  );
  let at = 0;
  for (const { code, data } of options) {
    octets[at] = code >> 8;
    octets[at + 1] = code;
    octets[at + 2] = data.length >> 8;
    octets[at + 3] = data.length;
    octets.set(data, at + HEADER_OCTETS);
    at += HEADER_OCTETS + data.length;
  }
  return octets;
}

/** Whether one of the options is an extended error. @param length of all, in octets */
export function hasExtendedError(packet: Uint8Array, at: number, length: number): boolean {
  for (let from = at; from < at + length; from = nextOption(packet, from))
    if (uint16At(packet, from) === EXTENDED_ERROR_OPTION) return true;
  return false;
}

/** The octets of the options that responses repeat. @param at as above */
export function measureRepeated(packet: Uint8Array, at: number, end: number): number {
  let octets = 0;
  for (let from = at; from < end; ) {
    const next = nextOption(packet, from);
    if (isRepeatedOption(uint16At(packet, from))) octets += next - from;
    from = next;
  }
  return octets;
}

/** Copies the options that responses repeat, in their order. @param at as above @returns the octet behind the last one copied */
export function copyRepeated(
  packet: Uint8Array,
  at: number,
  end: number,
  target: Uint8Array,
  to: number,
): number {
  let written = to;
  for (let from = at; from < end; ) {
    const next = nextOption(packet, from);
    if (isRepeatedOption(uint16At(packet, from)))
      for (let octet = from; octet < next; octet++) target[written++] = packet[octet] ?? 0;
    from = next;
  }
  return written;
}

function isAmong(options: Options, code: number): boolean {
  return code < 16 && ((options >>> code) & 1) === 1;
}

function nextOption(packet: Uint8Array, at: number): number {
  return at + HEADER_OCTETS + uint16At(packet, at + 2);
}
