import { parseName } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, denial, record } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createNameResolver } from './name-resolver.ts';

it('finds the addresses of a name by the way of all queries, of both families', async () => {
  const v6 = record('ns.example.', { kind: 'AAAA', address: '2001:db8::1' }, 7);
  const forwarded: Answer = {
    kind: 'forwarded',
    rcode: 0,
    authoritative: false,
    truncated: false,
    authenticData: false,
    memory: undefined,
    answers: [v6],
    authorities: [],
    additionals: [],
  };
  const resolve = createNameResolver(() => ({ question, account }) => {
    expect(account).toBe('');
    return question.type === TYPE.A ? addresses('ns.example.', '192.0.2.1', '192.0.2.2') : forwarded;
  });
  expect(await resolve(parseName('ns.example.'))).toEqual({
    addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    ttl: 7,
  });
});

it('gives none for a name without addresses, to be asked for again soon', async () => {
  const resolve = createNameResolver(() => () => denial('nxdomain'));
  expect(await resolve(parseName('ns.example.'))).toEqual({ addresses: [], ttl: 0 });
});
