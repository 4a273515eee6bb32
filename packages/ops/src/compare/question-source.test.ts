import { parseQuery } from '@portolan/dns/query.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeQuestion, readListLine, textOfQuestion } from './asked-question.ts';
import { boundedLines } from './bounded-lines.ts';
import { LeftOut, questionsOfLines } from './question-source.ts';

async function* splitIntoChunks(octets: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

async function read(
  text: string,
  size = 7,
): Promise<{ readonly questions: readonly string[]; readonly leftOut: LeftOut }> {
  const leftOut = new LeftOut();
  const questions: string[] = [];
  for await (const question of questionsOfLines(
    splitIntoChunks(Buffer.from(text), size),
    readListLine,
    leftOut,
  ))
    questions.push(textOfQuestion(question));
  return { questions, leftOut };
}

it('reads names and types, and leaves comments out', async () => {
  const { questions, leftOut } = await read('# a\n\n; b\nwww.example\nwww.example. aaaa\r\n_x._tcp.a SRV');
  expect(questions).toEqual(['www.example. A', 'www.example. AAAA', '_x._tcp.a. SRV']);
  expect(leftOut.count).toBe(0);
});

it('counts lines with faults, names the first, and goes on', async () => {
  const { questions, leftOut } = await read('a..b\nx AXFR\nx NOTYPE\nx A y\nx\n');
  expect(questions).toEqual(['x. A']);
  expect(leftOut.count).toBe(4);
  expect(leftOut.first).toMatch(/^line 1: not a name/);
});

it('leaves out a line without end, and keeps none of it', async () => {
  const { questions, leftOut } = await read(`${'a'.repeat(20_000)}\nx`, 4096);
  expect(questions).toEqual(['x. A']);
  expect(leftOut.first).toBe('line 1: more than 16384 octets');
});

it('cuts lines alike, however they come', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'ä'), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (all, size) => {
      const lines: string[] = [];
      for await (const line of boundedLines(splitIntoChunks(Buffer.from(all), size), 1000, () => {}))
        lines.push(line);
      const expected = all.split('\n');
      expect(lines).toEqual(expected.at(-1) === '' ? expected.slice(0, -1) : expected);
    }),
  );
});

it('writes queries that a server reads', () => {
  const question = readListLine('www.example AAAA');
  if (question === undefined) throw new Error('no question');
  const asked = { ...question, edns: { udpSize: 1232, dnssecOk: true } };
  const parsed = parseQuery(encodeQuestion(asked, 77));
  expect(parsed).toMatchObject({ kind: 'query', question: { name: 'www.example.', type: 28 } });
});
