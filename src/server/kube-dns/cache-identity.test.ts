import { describe, expect, it } from 'vitest';
import { makeQuery, told } from '../../../test/support/queries.ts';
import type { ResolverPlan } from '../../config/resolver/plan.ts';
import { CLASS } from '../../wire/types.ts';
import { createCacheIdentity } from './cache-identity.ts';

const RESOLVER: ResolverPlan = {
  ...{ upstreams: { kind: 'none' }, policy: 'sequential', stubDomains: [], hosts: [], notes: [] },
  ...{ cacheOctets: 16 * 2 ** 20, cacheEntries: undefined, dnsmasq: undefined },
};

function ask(name: string, resolver = RESOLVER) {
  const handler = createCacheIdentity({
    ...{ version: '1.2.3', ttl: 30, resolver },
    // Of each only what is told.
    table: () => ({ insertions: 5, evictions: 2 }) as never,
    queries: () => ({ byTypeAndRcode: [{ type: 1, rcode: 0, count: 10 }] }) as never,
    outside: () => ({ remembering: { misses: 3 }, forward: { upstreams: [] } }) as never,
  });
  return handler(makeQuery(name, 'TXT', CLASS.CH), () => ({ kind: 'drop' }));
}

describe('what the pod says of its cache', () => {
  it.each([
    ['cachesize.bind.', '65536'],
    ['insertions.bind.', '5'],
    ['evictions.bind.', '2'],
    ['misses.bind.', '3'],
    ['hits.bind.', '7'],
  ])('%s', async (name, count) => {
    expect(told(await ask(name))).toEqual(['records', `${name} 0 CH TXT "${count}"`]);
  });

  it('has the bound of answers, where there is one', async () => {
    const bounded = await ask('cachesize.bind.', { ...RESOLVER, cacheEntries: 1000 });
    expect(told(bounded)).toEqual(['records', 'cachesize.bind. 0 CH TXT "1000"']);
  });

  it('names itself', async () => {
    expect(told(await ask('version.bind.'))).toEqual(['records', 'version.bind. 30 CH TXT "portolan-1.2.3"']);
  });
});
