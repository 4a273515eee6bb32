import { describe, expect, it } from 'vitest';
import { decodeMessage } from './message.ts';
import { MessageWriter } from './message-writer.ts';
import { parseName } from './name.ts';
import { CLASS, type RecordData, type ResourceRecord, TYPE } from './types.ts';

const header = {
  id: 1,
  response: true,
  opcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: false,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
};

const question = { name: parseName('web.example'), type: TYPE.A, class: CLASS.IN };

function record(name: string, data: RecordData): ResourceRecord {
  return { name: parseName(name), class: CLASS.IN, ttl: 77, data };
}

const address = record('web.example', { kind: 'A', address: '10.0.0.1' });
const alias = record('web.example', { kind: 'CNAME', target: parseName('other.name') });

describe('MessageWriter', () => {
  it('goes back to a mark, with its counts and the names that may be pointed to', () => {
    const writer = new MessageWriter();
    writer.question(question);
    const mark = writer.mark();
    writer.record('answers', alias);
    writer.record('additionals', record('www.other.name', { kind: 'A', address: '10.0.0.2' }));
    writer.rewind(mark);
    expect(writer.length).toBe(mark.position);
    writer.record('authorities', record('other.name', { kind: 'NS', target: parseName('other.name') }));
    expect(decodeMessage(writer.finish(header))).toEqual({
      header,
      questions: [question],
      answers: [],
      authorities: [record('other.name', { kind: 'NS', target: parseName('other.name') })],
      additionals: [],
      edns: undefined,
    });
  });

  it('writes the same after any way to the same mark', () => {
    const writer = new MessageWriter();
    const straight = new MessageWriter();
    const names = Array.from({ length: 200 }, (_, index) =>
      record(`n${index % 50}.d${index % 7}.z`, alias.data),
    );
    for (const name of names) {
      const mark = writer.mark();
      for (const other of names.slice(0, 20)) writer.record('answers', other);
      writer.rewind(mark);
      writer.record('answers', name);
      straight.record('answers', name);
    }
    expect(writer.finish(header)).toEqual(straight.finish(header));
  });

  it('leaves a message alone that has no room for a record', () => {
    const writer = new MessageWriter();
    writer.start(12 + 17 + 16 + 15);
    expect(writer.question(question)).toBe(true);
    expect(writer.record('answers', address)).toBe(true);
    const { length } = writer;
    expect(writer.record('answers', address)).toBe(false);
    expect(writer.length).toBe(length);
    expect(decodeMessage(writer.finish(header)).answers).toEqual([address]);
    writer.limit(length + 16);
    expect(writer.record('answers', address)).toBe(true);
    expect(decodeMessage(writer.finish(header)).answers).toEqual([address, address]);
  });

  it('leaves a message alone when a record cannot be written', () => {
    const writer = new MessageWriter();
    writer.question(question);
    const broken = record('other.name', { kind: 'A', address: 'none' });
    expect(() => writer.record('answers', broken)).toThrow('not an address of its kind: none');
    writer.record('answers', record('other.name', { kind: 'A', address: '10.0.0.1' }));
    expect(decodeMessage(writer.finish(header)).answers).toHaveLength(1);
  });

  it('takes no record that no message can hold', () => {
    const writer = new MessageWriter();
    const huge = { kind: 'unknown', type: 65_280, bytes: new Uint8Array(70_000) } as const;
    const many = { kind: 'TXT', strings: Array.from({ length: 300 }, () => new Uint8Array(255)) } as const;
    expect(writer.record('answers', record('a.b.c', huge))).toBe(false);
    expect(writer.record('answers', record('a.b.c', many))).toBe(false);
    expect(writer.finish(header)).toHaveLength(12);
  });

  it('tells where a TTL stands, and gives out the bytes behind the question', () => {
    const writer = new MessageWriter();
    writer.question(question);
    const behindQuestion = writer.length;
    const offsets = [alias, record('other.name', address.data)].map((answer) => {
      writer.record('answers', answer);
      return writer.ttlOffset - behindQuestion;
    });
    const body = writer.bytesFrom(behindQuestion);
    const view = new DataView(body.buffer);
    expect(offsets.map((offset) => view.getUint32(offset))).toEqual([77, 77]);
    expect(body.subarray(0, 2)).toEqual(Uint8Array.of(0xc0, 12));
  });

  it('forgets the message before', () => {
    const writer = new MessageWriter();
    writer.record('answers', alias);
    writer.start();
    writer.question(question);
    expect(decodeMessage(writer.finish(header))).toMatchObject({ questions: [question], answers: [] });
  });
});
