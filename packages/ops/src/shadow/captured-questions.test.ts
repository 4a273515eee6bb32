import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeQuestion, readListLine, textOfQuestion } from '../compare/asked-question.ts';
import { LeftOut } from '../compare/question-source.ts';
import { CaptureError, CaptureReader } from './capture-reader.ts';
import { questionsOfCapture } from './captured-questions.ts';
import { readDatagram } from './packet-layers.ts';
import { encodePcap, encodePcapng, ipv4Packet, ipv6Packet, makeFrames } from './testing/sample-captures.ts';

function queryFor(line: string): Uint8Array {
  const question = readListLine(line);
  if (question === undefined) throw new Error(`no question: ${line}`);
  return encodeQuestion({ ...question, edns: { udpSize: 1400, dnssecOk: true } }, 1);
}

async function* inPieces(octets: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

async function read(
  capture: Uint8Array,
  size = 11,
): Promise<{ readonly questions: readonly string[]; readonly leftOut: LeftOut }> {
  const leftOut = new LeftOut();
  const questions: string[] = [];
  for await (const question of questionsOfCapture(inPieces(capture, size), 53, leftOut)) {
    expect(question.edns).toEqual({ udpSize: 1400, dnssecOk: true });
    questions.push(textOfQuestion(question));
  }
  return { questions, leftOut };
}

const QUERY = queryFor('www.example AAAA');
const FRAMES = [...makeFrames(ipv4Packet(QUERY)), ...makeFrames(ipv6Packet(QUERY))];

describe('captures', () => {
  it.each(FRAMES)('of link type %i are read in every form', async (linkType, frame) => {
    const expected = { questions: ['www.example. AAAA', 'www.example. AAAA'], leftOut: { count: 0 } };
    expect(await read(encodePcap(linkType, [frame, frame]))).toMatchObject(expected);
    expect(await read(encodePcap(linkType, [frame, frame], 'big'))).toMatchObject(expected);
    expect(await read(encodePcapng(linkType, [frame]))).toMatchObject(expected);
  });

  it('give questions of other ports, fragments, responses and transfers to nobody', async () => {
    const response = Uint8Array.from(QUERY);
    response[2] = (response[2] ?? 0) | 0x80;
    const packets = [
      ipv4Packet(QUERY, 5353),
      ipv4Packet(QUERY, 53, 0x2000),
      ipv4Packet(response),
      ipv4Packet(Buffer.from('not a message')),
      ipv4Packet(QUERY),
    ];
    const { questions, leftOut } = await read(encodePcap(101, packets));
    expect(questions).toEqual(['www.example. AAAA']);
    expect(leftOut.count).toBe(0);
  });

  it('that are cut off count up to there', async () => {
    const whole = encodePcap(101, [ipv4Packet(QUERY), ipv4Packet(QUERY)]);
    const { questions, leftOut } = await read(whole.subarray(0, whole.length - 3));
    expect(questions).toHaveLength(1);
    expect(leftOut.first).toBe('behind packet 1: the capture is cut off');
  });

  it('names a file that is no capture', async () => {
    expect((await read(Buffer.from('Hello, world'))).leftOut.first).toContain('not a pcap or pcapng file');
    expect((await read(Buffer.alloc(0))).leftOut.first).toContain('not a pcap or pcapng file');
  });

  it('keep no record without bound', () => {
    const header = encodePcap(1, []);
    const record = Buffer.alloc(16);
    record.writeUInt32LE(2 ** 31, 8);
    const reader = new CaptureReader();
    expect(() => [...reader.read(Buffer.concat([header, record]))]).toThrow(CaptureError);
  });

  it('of any octets do no harm, however they come', () => {
    const seeds = [encodePcap(1, [ipv4Packet(QUERY)]), encodePcapng(101, [ipv6Packet(QUERY)])];
    const changed = fc
      .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 8 }))
      .map(([seed, changes]) => {
        const octets = Buffer.from(seed);
        for (const [at, value] of changes) if (at < octets.length) octets[at] = value;
        return octets;
      });
    fc.assert(
      fc.property(changed, fc.integer({ min: 1, max: 64 }), (octets, size) => {
        const packetsIn = (pieces: readonly Uint8Array[]) => {
          const reader = new CaptureReader();
          const packets: string[] = [];
          try {
            for (const piece of pieces)
              for (const packet of reader.read(piece)) {
                readDatagram(packet.linkType, packet.octets);
                packets.push(`${packet.linkType} ${Buffer.from(packet.octets).toString('hex')}`);
              }
            reader.end();
          } catch (error) {
            if (!(error instanceof CaptureError)) throw error;
          }
          return packets;
        };
        const pieces = Array.from({ length: Math.ceil(octets.length / size) }, (_, index) =>
          octets.subarray(index * size, (index + 1) * size),
        );
        expect(packetsIn(pieces)).toEqual(packetsIn([octets]));
      }),
    );
  });
});
