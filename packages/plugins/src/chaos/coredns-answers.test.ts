import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { expect, it } from 'vitest';
import { createChaosHandler } from './chaos.ts';
import { answerAsCoreDns } from './coredns-answers.ts';
import type { CoreDnsIdentity } from './options.ts';

const passed: Answer = { kind: 'refused' };
const dependencies = { hostName: 'node-1', version: 'v9', authors: ['us'] };

async function ask(
  name: string,
  options: Partial<CoreDnsIdentity> = {},
  type = 'TXT',
  dnsClass: number = CLASS.CH,
) {
  const identity = { kind: 'coredns', version: undefined, authors: undefined, ...options } as const;
  const handler = createChaosHandler(answerAsCoreDns(identity, dependencies));
  const answer = await handler.handle(makeQuery(name, type, dnsClass), () => passed);
  if (answer === passed || answer.kind === 'drop') return 'passed';
  return toWholeAnswer(answer).answers.map(presentRecord).join(' | ');
}

it('tells version, host name and authors', async () => {
  expect(await ask('Version.bind.')).toBe('Version.bind. 0 CH TXT "v9"');
  expect(await ask('version.server.', { version: 'mine' })).toBe('version.server. 0 CH TXT "mine"');
  expect(await ask('id.server.')).toBe('id.server. 0 CH TXT "node-1"');
  expect(await ask('authors.bind.', { authors: ['Ada', 'Grace'] })).toBe(
    'authors.bind. 0 CH TXT "Ada" | authors.bind. 0 CH TXT "Grace"',
  );
});

it('takes backslashes as those of a zone file', async () => {
  expect(await ask('version.bind.', { version: 'a"b\\n\\\\c\\065' })).toBe(
    'version.bind. 0 CH TXT "a\\"bn\\\\cA"',
  );
  expect(await ask('version.bind.', { version: '\\' })).toBe('version.bind. 0 CH TXT ""');
});

it('leaves all other questions alone', async () => {
  expect(await ask('version.bind.', {}, 'A')).toBe('passed');
  expect(await ask('version.bind.', {}, 'TXT', CLASS.IN)).toBe('passed');
  expect(await ask('other.bind.')).toBe('passed');
});
