import { parseName } from '@portolan/dns/name.ts';
import { expect, it } from 'vitest';
import { CaseSupport, mixCase, repeatsCase, restoreCase } from './name-case.ts';
import { type QueryMessage, repeatsQuestion, writeQuery } from './query-message.ts';

const queryFor = (name: string): QueryMessage =>
  writeQuery(
    {
      name: parseName(name),
      type: 1,
      class: 1,
      dnssecOk: false,
      checkingDisabled: false,
      recursionDesired: true,
    },
    1232,
  );

const readQuestionName = ({ octets, questionEnd }: QueryMessage) =>
  Buffer.from(octets.subarray(12, questionEnd)).toString('latin1');

it('changes the case of letters, each by chance, and nothing else', () => {
  const query = queryFor('www.example-1.com.');
  const seen = Array.from({ length: 500 }, () => mixCase(query));
  for (const mixed of seen) {
    expect(readQuestionName(mixed).toLowerCase()).toBe(readQuestionName(query));
    expect(mixed.octets.subarray(mixed.questionEnd)).toEqual(query.octets.subarray(query.questionEnd));
  }
  for (const [place, letter] of [...'www.example-1.com'].entries()) {
    const upper = seen.filter((mixed) => readQuestionName(mixed)[place + 1] === letter.toUpperCase()).length;
    // Within 11 standard deviations of half of 500.
    if (/[a-z]/.test(letter)) expect(Math.abs(upper - 250)).toBeLessThan(123);
  }
});

it('leaves alone what has no letters to tell apart', () => {
  for (const name of ['.', '1.2.3.', 'a.'] as const) {
    const query = queryFor(name);
    expect(mixCase(query)).toBe(query);
  }
});

it('tells a reply in the same case from one in another, and gives it the case of the client', () => {
  const query = queryFor('Www.Example.com.');
  const mixed = mixCase(query);
  const reply = new Uint8Array([9, 9, ...mixed.octets]);
  expect(repeatsCase(reply, 2, mixed)).toBe(true);
  restoreCase(reply, 2, query);
  expect(reply).toEqual(new Uint8Array([9, 9, ...query.octets]));
  reply[2 + 13] = (reply[2 + 13] ?? 0) ^ 0x20;
  expect(repeatsCase(reply, 2, query)).toBe(false);
  expect(repeatsQuestion(reply, 2, reply.length - 2, query)).toBe(true);
});

it('a server is sent plain names when three names in a row came back in another case', () => {
  const support = new CaseSupport();
  const one = queryFor('one.example.');
  for (let turn = 0; turn < 10; turn += 1) support.noteChanged(mixCase(one), 0);
  expect(support.isUsed(0)).toBe(true);
  support.noteChanged(queryFor('two.example.'), 0);
  support.noteKept();
  for (const name of ['three.example.', 'four.example.']) support.noteChanged(queryFor(name), 0);
  expect(support.isUsed(0)).toBe(true);
  support.noteChanged(queryFor('five.example.'), 1000);
  expect(support.isUsed(1000)).toBe(false);
  expect(support.isUsed(1000 + 10 * 60_000)).toBe(true);
});
