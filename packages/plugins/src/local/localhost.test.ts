import { presentRecord } from '@portolan/dns/present.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it } from 'vitest';
import { createLocalhostHandler } from './localhost.ts';

const passed: Answer = { kind: 'refused' };

async function ask(name: string, type: string, answersLocalhostPrefix = true): Promise<string> {
  const handler = createLocalhostHandler({ answersLocalhostPrefix }, new MetricRegistry());
  const query = makeQuery(name, type);
  const answer = await handler.handle(query, () => passed);
  const isStated = handler.questions.includes(query.key, query.question.type);
  expect(isStated, 'what is answered is stated').toBe(answer !== passed);
  if (answer === passed || answer.kind === 'drop') return 'passed';
  const { rcode, answers, authorities } = toWholeAnswer(answer);
  return [rcode, ...[...answers, ...authorities].map(presentRecord)].join(' | ');
}

describe('local', () => {
  it.each([
    ['localhost.', 'A', '0 | localhost. 604800 IN A 127.0.0.1'],
    ['LocalHost.', 'AAAA', '0 | LocalHost. 604800 IN AAAA ::1'],
    ['localhost.', 'TXT', '0 | localhost. 604800 IN SOA localhost. root.localhost. 1 0 0 0 604800'],
    ['localhost.', 'NS', '0 | localhost. 604800 IN NS localhost.'],
    ['x.localhost.', 'A', '0 | x.localhost. 604800 IN A 127.0.0.1'],
    ['localhost.example.', 'AAAA', '0 | localhost.example. 604800 IN AAAA ::1'],
    [
      '127.in-addr.arpa.',
      'A',
      '0 | 127.in-addr.arpa. 604800 IN SOA localhost. root.localhost. 1 0 0 0 604800',
    ],
    ['1.0.0.127.in-addr.arpa.', 'PTR', '0 | 1.0.0.127.in-addr.arpa. 604800 IN PTR localhost.'],
    [
      '1.0.0.127.in-addr.arpa.',
      'A',
      '0 | 127.in-addr.arpa. 604800 IN SOA localhost. root.localhost. 1 0 0 0 604800',
    ],
    [
      '2.0.0.127.IN-ADDR.arpa.',
      'PTR',
      '3 | 127.IN-ADDR.arpa. 604800 IN SOA localhost. root.localhost. 1 0 0 0 604800',
    ],
    ['localhostx.example.', 'A', 'passed'],
    ['a.example.', 'A', 'passed'],
  ])('answers %s %s', async (name, type, said) => expect(await ask(name, type)).toBe(said));

  it('leaves localhost in front of other names alone where it is told so', async () => {
    expect(await ask('localhost.example.', 'A', false)).toBe('passed');
    expect(await ask('x.localhost.', 'A', false)).not.toBe('passed');
  });
});
