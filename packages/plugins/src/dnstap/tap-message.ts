/**
 * Messages of dnstap (dnstap.proto of dnstap.info), in Protocol Buffers.
 */
import { parseAddress } from '@portolan/dns/address.ts';

/** The kinds of messages; the other ones are of resolvers and tools. */
export const TAP_TYPE = {
  CLIENT_QUERY: 5,
  CLIENT_RESPONSE: 6,
  FORWARDER_QUERY: 7,
  FORWARDER_RESPONSE: 8,
} as const;

export interface TapSocket {
  readonly address: string;
  readonly port: number;
}

export interface TapMessage {
  readonly type: (typeof TAP_TYPE)[keyof typeof TAP_TYPE];
  readonly transport: 'udp' | 'tcp';
  /** Who asked; undefined: not known. */
  readonly asker?: TapSocket | undefined;
  /** Who answers. */
  readonly answerer?: TapSocket | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly asked: number;
  readonly answered?: number | undefined;
  /** DNS messages; undefined: left out. */
  readonly query?: Uint8Array | undefined;
  readonly response?: Uint8Array | undefined;
}

/** Of the server, in each message. */
export interface TapFrame {
  readonly identity: string;
  readonly version: string;
  /** Undefined: left out. */
  readonly extra?: string | undefined;
  readonly message: TapMessage;
}

const FRAME_TYPE_MESSAGE = 1;
const FAMILY = { ipv4: 1, ipv6: 2 } as const;
const PROTOCOL = { udp: 1, tcp: 2 } as const;

export function encodeFrame({ identity, version, extra, message }: TapFrame): Uint8Array {
  const fields = new FieldWriter();
  fields.bytes(1, Buffer.from(identity));
  fields.bytes(2, Buffer.from(version));
  if (extra !== undefined) fields.bytes(3, Buffer.from(extra));
  fields.bytes(14, encodeMessage(message));
  fields.number(15, FRAME_TYPE_MESSAGE);
  return fields.octets();
}

function encodeMessage({ type, transport, asker, answerer, asked, answered, query, response }: TapMessage) {
  const from = toAddressOctets(asker);
  const to = toAddressOctets(answerer);
  const family = (to ?? from)?.length === 4 ? FAMILY.ipv4 : FAMILY.ipv6;
  const fields = new FieldWriter();
  fields.number(1, type);
  if ((to ?? from) !== undefined) fields.number(2, family);
  fields.number(3, PROTOCOL[transport]);
  if (from !== undefined) fields.bytes(4, from);
  if (to !== undefined) fields.bytes(5, to);
  if (asker !== undefined) fields.number(6, asker.port);
  if (answerer !== undefined) fields.number(7, answerer.port);
  fields.time(8, asked);
  if (query !== undefined) fields.bytes(10, query);
  if (answered !== undefined) fields.time(12, answered);
  if (response !== undefined) fields.bytes(14, response);
  return fields.octets();
}

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/;

function toAddressOctets(socket: TapSocket | undefined): Uint8Array | undefined {
  return socket && parseAddress(socket.address.replace(/%.*$/, '').replace(MAPPED, ''));
}

const WIRE = { VARINT: 0, DELIMITED: 2, FIXED_32: 5 } as const;
const MILLISECOND_NANOSECONDS = 1e6;

class FieldWriter {
  readonly #pieces: Uint8Array[] = [];

  octets(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  number(field: number, value: number): void {
    this.#pieces.push(varint((field << 3) | WIRE.VARINT), varint(value));
  }

  bytes(field: number, value: Uint8Array): void {
    this.#pieces.push(varint((field << 3) | WIRE.DELIMITED), varint(value.length), value);
  }

  /** Seconds in one field, nanoseconds in the next. */
  time(field: number, milliseconds: number): void {
    const seconds = Math.floor(milliseconds / 1000);
    this.number(field, seconds);
    const nanoseconds = Buffer.alloc(4);
    nanoseconds.writeUInt32LE(Math.floor((milliseconds - seconds * 1000) * MILLISECOND_NANOSECONDS));
    this.#pieces.push(varint(((field + 1) << 3) | WIRE.FIXED_32), nanoseconds);
  }
}

/** @param value an integer from 0 to 2^53 */
function varint(value: number): Uint8Array {
  const octets: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    octets.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  octets.push(rest);
  return Uint8Array.from(octets);
}
