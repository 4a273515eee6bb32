import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { CLIENT, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { Acl } from './acl.ts';
import type { AclPolicy } from './options.ts';

const passed: Answer = { kind: 'refused' };
const zones = ['example.'].map((name) => toKey(parseName(name)));
const here = { address: CLIENT.address, prefix: 32 };

function judge(policies: readonly AclPolicy[], name = 'a.example.', type = 'A') {
  const { handler } = new Acl({ rules: [{ zones, policies }] }, new MetricRegistry());
  return handler.handle(makeQuery(name, type), () => passed);
}

describe('acl', () => {
  it('blocks with REFUSED and an extended error, and filters with an empty answer and one', async () => {
    expect(await judge([{ action: 'block', types: 'all', clients: 'all' }])).toMatchObject({
      rcode: 5,
      edns: { udpSize: 4096, dnssecOk: true, options: [{ code: 15, data: Buffer.from([0, 15]) }] },
    });
    expect(await judge([{ action: 'filter', types: 'all', clients: 'all' }])).toMatchObject({
      rcode: 0,
      edns: { options: [{ code: 15, data: Buffer.from([0, 17]) }] },
    });
    expect(await judge([{ action: 'drop', types: 'all', clients: 'all' }])).toEqual({ kind: 'drop' });
  });

  it('goes by the first policy that fits', async () => {
    const block: AclPolicy = { action: 'block', types: 'all', clients: 'all' };
    expect(await judge([{ action: 'allow', types: 'all', clients: [here] }, block])).toBe(passed);
    expect(await judge([{ action: 'allow', types: [TYPE.AAAA], clients: [here] }, block])).toMatchObject({
      rcode: 5,
    });
    expect(
      await judge([{ action: 'block', types: 'all', clients: [{ address: '10.0.0.0', prefix: 8 }] }]),
    ).toBe(passed);
  });

  it('leaves other zones alone', async () => {
    expect(await judge([{ action: 'block', types: 'all', clients: 'all' }], 'a.test.')).toBe(passed);
  });

  it('looks at the client only where a policy does', async () => {
    const query = makeQuery('a.example.');
    const makeHandler = (clients: AclPolicy['clients']) =>
      new Acl(
        { rules: [{ zones, policies: [{ action: 'block', types: 'all', clients }] }] },
        new MetricRegistry(),
      ).handler;
    await makeHandler('all').handle(query, () => passed);
    expect(query.clientWasRead).toBe(false);
    await makeHandler([here]).handle(query, () => passed);
    expect(query.clientWasRead).toBe(true);
  });

  it('states the zones and types that it refuses something of', () => {
    const { handler } = new Acl(
      {
        rules: [
          {
            zones,
            policies: [
              { action: 'allow', types: [TYPE.TXT], clients: 'all' },
              { action: 'block', types: [TYPE.AAAA], clients: 'all' },
            ],
          },
        ],
      },
      new MetricRegistry(),
    );
    const { questions } = handler;
    expect([...questions.matches()]).toEqual([
      { name: { kind: 'suffix', name: 'example.' }, types: new Set([TYPE.AAAA]) },
    ]);
    expect(questions.includes(toKey(parseName('a.example.')), TYPE.AAAA)).toBe(true);
    expect(questions.includes(toKey(parseName('a.example.')), TYPE.TXT)).toBe(false);
  });
});
