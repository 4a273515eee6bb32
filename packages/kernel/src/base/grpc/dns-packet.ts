/**
 * DNS in gRPC, as CoreDNS has it: the method `coredns.dns.DnsService/Query` takes a `DnsPacket`, and answers with one. Its field 1 is the
 * DNS message.
 */
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import { Cursor, ProtobufError } from '../protobuf-message.ts';
import { HEAD_OCTETS, writeFrameHead } from './grpc-frames.ts';

export const QUERY_METHOD = '/coredns.dns.DnsService/Query';

/** Field 1, with a length before its octets. */
const MESSAGE_TAG = 0x0a;
/** Octets of the tag and of the largest length. */
const MAX_FIELD_HEAD = 4;
/** Octets of a packet: other fields have no room beside the largest message. */
export const MAX_PACKET_OCTETS = MAX_MESSAGE_OCTETS + MAX_FIELD_HEAD;

/** @param message at most 65,535 octets. @returns the packet, as a frame of gRPC */
export function encodeDnsPacket(message: Uint8Array): Buffer {
  const { length } = message;
  const lengthOctets = length < 2 ** 7 ? 1 : length < 2 ** 14 ? 2 : 3;
  const packet = 1 + lengthOctets + length;
  const frame = Buffer.allocUnsafe(HEAD_OCTETS + packet);
  writeFrameHead(frame, packet);
  let at = frame.writeUInt8(MESSAGE_TAG, HEAD_OCTETS);
  for (let rest = length; ; rest >>= 7) {
    at = frame.writeUInt8(rest < 2 ** 7 ? rest : (rest & 0x7f) | 0x80, at);
    if (rest < 2 ** 7) break;
  }
  frame.set(message, at);
  return frame;
}

/**
 * The DNS message of a packet: of several the last one, as Protocol Buffers have it. Empty if it has none.
 *
 * @param packet without the head of its frame; the message is a part of it. @throws ProtobufError
 */
export function decodeDnsPacket(packet: Buffer): Buffer {
  const cursor = new Cursor(packet);
  let message = packet.subarray(0, 0);
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    if (tag < 8) throw new ProtobufError('a field without a number');
    if (tag === MESSAGE_TAG) {
      const end = cursor.readLength();
      message = packet.subarray(cursor.position, end);
      cursor.position = end;
    } else cursor.skip(tag % 8);
  }
  return message;
}
