import { CLASS } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { metaTypesHandler } from './plugin.ts';

const passed: Answer = { kind: 'drop' };
const next = () => passed;

describe('kinds of question', () => {
  it.each([
    ['A', 'drop'],
    ['TYPE65280', 'drop'],
    ['ANY', 'drop'],
    ['AXFR', 'refused'],
    ['IXFR', 'refused'],
    ['OPT', 'formerr'],
    ['TSIG', 'formerr'],
    ['TKEY', 'notimp'],
    ['MAILA', 'notimp'],
    ['MAILB', 'notimp'],
  ])('%s: %s', async (type, kind) =>
    expect((await metaTypesHandler.handle(makeQuery('a.', type), next)).kind).toBe(kind),
  );

  it.each([CLASS.CH, CLASS.HS, CLASS.NONE, CLASS.ANY, 4711])('of class %i are refused', async (dnsClass) =>
    expect(await metaTypesHandler.handle(makeQuery('a.', 'A', dnsClass), next)).toEqual({ kind: 'refused' }),
  );
});
