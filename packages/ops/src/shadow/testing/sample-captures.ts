/**
 * Captures made octet by octet, for tests.
 */
import { LINK_TYPE } from '../packet-layers.ts';

const words = (size: 2 | 4, ...values: readonly number[]) => {
  const octets = Buffer.alloc(size * values.length);
  for (const [place, value] of values.entries()) octets.writeUIntBE(value, place * size, size);
  return octets;
};

function udp(data: Uint8Array, port: number): Buffer {
  return Buffer.concat([words(2, 40_000, port, 8 + data.length, 0), data]);
}

/** @param fragment the field of fragments */
export function ipv4Packet(data: Uint8Array, port = 53, fragment = 0): Buffer {
  const segment = udp(data, port);
  const header = Buffer.alloc(20);
  header[0] = 0x45;
  header.writeUInt16BE(20 + segment.length, 2);
  header.writeUInt16BE(fragment, 6);
  header[8] = 64;
  header[9] = 17;
  return Buffer.concat([header, segment]);
}

/** With a header of hop-by-hop options. */
export function ipv6Packet(data: Uint8Array, port = 53): Buffer {
  const segment = udp(data, port);
  const header = Buffer.alloc(48);
  header[0] = 0x60;
  header.writeUInt16BE(8 + segment.length, 4);
  header[40] = 17;
  return Buffer.concat([header, segment]);
}

/** Frames of a network packet, by link type. */
export function makeFrames(packet: Buffer): readonly (readonly [linkType: number, frame: Buffer])[] {
  const type = (packet[0] ?? 0) >> 4 === 4 ? 0x0800 : 0x86dd;
  return [
    [LINK_TYPE.ETHERNET, Buffer.concat([Buffer.alloc(12), words(2, type), packet])],
    [LINK_TYPE.ETHERNET, Buffer.concat([Buffer.alloc(12), words(2, 0x8100, 7, type), packet])],
    [LINK_TYPE.LINUX_COOKED, Buffer.concat([Buffer.alloc(14), words(2, type), packet])],
    [LINK_TYPE.LINUX_COOKED_2, Buffer.concat([words(2, type), Buffer.alloc(18), packet])],
    [LINK_TYPE.RAW, packet],
  ];
}

export function encodePcap(
  linkType: number,
  packets: readonly Buffer[],
  order: 'big' | 'little' = 'little',
): Buffer {
  const word = (value: number) => {
    const octets = words(4, value);
    return order === 'big' ? octets : octets.swap32();
  };
  const header = [0xa1b2c3d4, 0, 0, 0, 262_144, linkType].map(word);
  const records = packets.flatMap((packet) => [...[0, 0, packet.length, packet.length].map(word), packet]);
  return Buffer.concat([...header, ...records]);
}

/** One section with one interface, and a block of a kind that nobody knows. */
export function encodePcapng(linkType: number, packets: readonly Buffer[]): Buffer {
  const block = (type: number, ...parts: readonly Buffer[]) => {
    const body = Buffer.concat(parts);
    const padded = Buffer.concat([body, Buffer.alloc((4 - (body.length % 4)) % 4)]);
    const length = words(4, padded.length + 12);
    return Buffer.concat([words(4, type), length, padded, length]);
  };
  return Buffer.concat([
    block(0x0a0d0d0a, words(4, 0x1a2b3c4d, 0x10000, 0xffffffff, 0xffffffff)),
    block(1, words(2, linkType, 0), words(4, 262_144)),
    block(0xbad, words(4, 1)),
    ...packets.map((packet) => block(6, words(4, 0, 0, 0, packet.length, packet.length), packet)),
    ...packets.slice(0, 1).map((packet) => block(3, words(4, packet.length), packet)),
  ]);
}
