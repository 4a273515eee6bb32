/**
 * Messages of netlink (`linux/netlink.h`): a header, and behind the body of each family attributes, which may be nested.
 *
 *     message      0 length  4 type (2)  6 flags (2)  8 sequence number  12 sender  16 body, padded to a multiple of 4
 *     attribute    0 length (2)  2 type (2)  4 value, padded likewise
 */

export const NLM_F_REQUEST = 1;
/** Fail if it exists. */
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;

/** A message with an error number, 0 for none, in answer to a request. */
export const NLMSG_ERROR = 2;

const HEADER_OCTETS = 16;
const ATTRIBUTE_OCTETS = 4;
const NESTED = 0x8000;
/** The upper two bits of an attribute's type are flags. */
const TYPE_MASK = 0x3fff;

export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  /** Of a request, and of the messages that answer it. */
  readonly sequence: number;
  readonly body: Uint8Array;
}

export function encodeNetlinkMessage({ type, flags, sequence, body }: NetlinkMessage): Uint8Array {
  const octets = new Uint8Array(HEADER_OCTETS + pad(body.length));
  const view = new DataView(octets.buffer);
  view.setUint32(0, HEADER_OCTETS + body.length, true);
  view.setUint16(4, type, true);
  view.setUint16(6, flags, true);
  view.setUint32(8, sequence, true);
  octets.set(body, HEADER_OCTETS);
  return octets;
}

/** The messages of a datagram, without one that is cut off. */
export function* parseNetlinkMessages(datagram: Uint8Array): Iterable<NetlinkMessage> {
  const view = viewOctets(datagram);
  for (let at = 0; at + HEADER_OCTETS <= datagram.length; ) {
    const length = view.getUint32(at, true);
    if (length < HEADER_OCTETS || at + length > datagram.length) return;
    yield {
      type: view.getUint16(at + 4, true),
      flags: view.getUint16(at + 6, true),
      sequence: view.getUint32(at + 8, true),
      body: Uint8Array.from(datagram.subarray(at + HEADER_OCTETS, at + length)),
    };
    at += pad(length);
  }
}

/** The error number of a message of type `NLMSG_ERROR`; 0: there is no error. */
export function readNetlinkError({ body }: NetlinkMessage): number {
  return body.length < 4 ? 0 : Math.abs(viewOctets(body).getInt32(0, true));
}

export function encodeAttribute(type: number, value: Uint8Array): Uint8Array {
  const octets = new Uint8Array(ATTRIBUTE_OCTETS + pad(value.length));
  const view = new DataView(octets.buffer);
  view.setUint16(0, ATTRIBUTE_OCTETS + value.length, true);
  view.setUint16(2, type, true);
  octets.set(value, ATTRIBUTE_OCTETS);
  return octets;
}

export function encodeNest(type: number, ...attributes: readonly Uint8Array[]): Uint8Array {
  return encodeAttribute(type | NESTED, Buffer.concat(attributes));
}

/** Text with a zero behind it. */
export function encodeTextAttribute(type: number, text: string): Uint8Array {
  return encodeAttribute(type, Buffer.from(`${text}\0`));
}

/** The values of attributes by their types, without one that is cut off. */
export function parseAttributes(octets: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const values = new Map<number, Uint8Array>();
  const view = viewOctets(octets);
  for (let at = 0; at + ATTRIBUTE_OCTETS <= octets.length; ) {
    const length = view.getUint16(at, true);
    if (length < ATTRIBUTE_OCTETS || at + length > octets.length) break;
    values.set(
      view.getUint16(at + 2, true) & TYPE_MASK,
      Uint8Array.from(octets.subarray(at + ATTRIBUTE_OCTETS, at + length)),
    );
    at += pad(length);
  }
  return values;
}

function pad(length: number): number {
  return Math.ceil(length / 4) * 4;
}

function viewOctets(octets: Uint8Array): DataView {
  return new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
}
