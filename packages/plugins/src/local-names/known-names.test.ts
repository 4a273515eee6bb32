import type { AddressRange } from '@portolan/dns/address-range.ts';
import { makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { DEFAULT_PUBLICATION } from '@portolan/kernel/table/types.ts';
import { LocalNames } from '@portolan/sources/local/local-names.ts';
import { hostsOnly } from '@portolan/sources/local/local-plan.ts';
import { makeHostNames } from '@portolan/sources/local/testing/make-host-names.ts';
import { describe, expect, it } from 'vitest';
import { createKnownNamesHandler } from './known-names.ts';

const NETWORKS: readonly AddressRange[] = [
  { address: '10.0.0.1', prefix: 24 },
  // The network of the client in these tests.
  { address: '192.0.2.1', prefix: 24 },
];

function makeHandler(localisesQueries: boolean, hosts: Readonly<Record<string, readonly string[]>>) {
  const lines = Object.entries(hosts).flatMap(([name, all]) =>
    all.map((address) => [name, address] as const),
  );
  const names = makeHostNames(lines);
  const known = new LocalNames({ ...hostsOnly(5), localisesQueries }, names, 0);
  const handler = createKnownNamesHandler({
    publication: DEFAULT_PUBLICATION,
    names: () => known,
    networks: () => NETWORKS,
  });
  return async (name: string, type = 'A') => {
    const query = makeQuery(name, type);
    const answer = await handler.handle(query, () => ({ kind: 'refused' }));
    return { said: told(answer), dependsOnClient: query.clientWasRead };
  };
}

const HOSTS = {
  near: ['10.9.9.9', '192.0.2.7', 'fd00::1'],
  far: ['10.9.9.9', '10.8.8.8'],
  one: ['10.9.9.9'],
};

describe('names that are known', () => {
  it('are told as they were asked for; other names and types are for others', async () => {
    const ask = makeHandler(false, HOSTS);
    expect((await ask('Near')).said).toEqual(['records', 'Near. 5 IN A 10.9.9.9', 'Near. 5 IN A 192.0.2.7']);
    expect((await ask('near', 'TXT')).said).toEqual(['refused']);
    expect((await ask('x.near')).said).toEqual(['refused']);
    expect((await ask('near')).dependsOnClient).toBe(false);
  });

  it('have the addresses of the client`s network alone, where they have some there and that is wanted', async () => {
    const ask = makeHandler(true, HOSTS);
    expect(await ask('near')).toEqual({ said: ['records', 'near. 5 IN A 192.0.2.7'], dependsOnClient: true });
    expect((await ask('near', 'ANY')).said).toEqual([
      'records',
      'near. 5 IN A 192.0.2.7',
      'near. 5 IN AAAA fd00::1',
    ]);
    expect((await ask('far')).said).toHaveLength(3);
    expect(await ask('one')).toEqual({ said: ['records', 'one. 5 IN A 10.9.9.9'], dependsOnClient: false });
  });
});
