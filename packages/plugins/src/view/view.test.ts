import { readExpression } from '@portolan/corefile/expression/expression.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { matchRange } from '@portolan/dns/address-range.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listRanges, truthFor } from './client-classes.ts';
import { createViewTest } from './judge-view.ts';
import type { ViewOptions } from './options.ts';
import { QUERY_TYPES } from './query-functions.ts';

const makeView = (...conditions: readonly string[]): ViewOptions => ({
  name: 'v',
  conditions: conditions.map((text) => readExpression(text, QUERY_TYPES)),
});

const testView = (view: ViewOptions) => createViewTest(view, new ManualClock());

function makeQuery(address: string): Query {
  const question = { name: parseName('A.example.'), type: TYPE.A, class: CLASS.IN };
  const asked = { header: QUERY_HEADER, question, edns: undefined };
  const site = { server: 'dns://:5300', zone: 'example.', view: '', octets: 27 };
  return new Query(question, asked, { address, port: 4711, transport: 'udp' }, undefined, site);
}

describe('a view', () => {
  it.each([
    ["client_ip() == '192.0.2.1' && port() == '4711'"],
    ["incidr(client_ip(), '192.0.2.0/24')"],
    ["name() == 'a.example.' and type() == 'A' and class() == 'IN'"],
    ["proto() == 'udp' && server_port() == '5300' && server_ip() == '::'"],
    ['bufsize() == 512 and size() == 27 and id() == 4711 and opcode() == 0 and not do()'],
    ["metadata('no/label') == ''"],
  ])('reads the query: %s', (text) => {
    expect(testView(makeView(text))(makeQuery('192.0.2.1'))).toBe(true);
    expect(testView(makeView(`not (${text})`))(makeQuery('192.0.2.1'))).toBe(false);
  });

  it.each([
    ["incidr(client_ip(), 'nonsense')"],
    ["incidr(name(), '10.0.0.0/8')"],
    ['name()'],
    ["name() == 'b.'"],
  ])('is not for a query for which a condition fails, or is not true: %s', (text) => {
    expect(testView(makeView('true', text))(makeQuery('192.0.2.1'))).toBe(false);
  });

  it('reads the clock', () => {
    const clock = new ManualClock();
    const accepts = createViewTest(makeView(`now().UnixMilli() == ${clock.now()}`), clock);
    expect(accepts(makeQuery('192.0.2.1'))).toBe(true);
    clock.advance(1);
    expect(accepts(makeQuery('192.0.2.1'))).toBe(false);
  });

  it('knows which conditions depend only on the address', () => {
    const truths = (...texts: string[]) => [truthFor(makeView(...texts), undefined)];
    expect(truths("incidr(client_ip(), '10.0.0.0/8')")).toEqual([false]);
    expect(truths("client_ip() not in ['10.0.0.1']")).toEqual([true]);
    expect(truths("type() == 'A'")).toEqual(['unknown']);
    expect(truths("type() == 'A'", "client_ip() == '10.0.0.1'")).toEqual([false]);
    expect(truths("true || type() == 'A'")).toEqual([true]);
    expect(truths("incidr(client_ip(), 'nonsense')")).toEqual(['unknown']);
    expect(truths("'text'")).toEqual([false]);
    expect(truths()).toEqual([true]);
  });

  it('is for the clients of a range exactly if it is for each of its addresses', () => {
    const ranges = [
      '10.0.0.0/8',
      '10.1.0.0/16',
      '10.1.2.3/32',
      '0.0.0.0/0',
      '2001:db8::/32',
      '::/0',
      '2001:db8::1/128',
    ];
    const addresses = [
      '10.0.0.1',
      '10.1.9.9',
      '10.1.2.3',
      '192.0.2.1',
      '2001:db8::1',
      '2001:db8::2',
      'fe80::1',
    ];
    const atom = fc.oneof(
      fc.constantFrom(...ranges).map((range) => `incidr(client_ip(), '${range}')`),
      fc.constantFrom(...addresses).map((address) => `client_ip() == '${address}'`),
      fc.subarray(addresses).map((list) => `client_ip() in [${list.map((each) => `'${each}'`).join()}]`),
      fc.constantFrom('true', 'false', "type() == 'A'"),
    );
    const { condition } = fc.letrec<{ condition: string }>((tie) => ({
      condition: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc
          .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
          .map((parts) => `(${parts.join(' ')})`),
        tie('condition').map((inner) => `!${inner.startsWith('(') ? inner : `(${inner})`}`),
        fc
          .tuple(tie('condition'), tie('condition'), tie('condition'))
          .map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(condition, { maxLength: 3 }),
        fc.array(condition, { maxLength: 2 }),
        (own, others) => {
          const view = makeView(...own);
          const all = listRanges([view, makeView(...others)]);
          for (const address of addresses) {
            const octets = parseAddress(address) ?? new Uint8Array();
            const [longest] = all
              .filter((range) => matchRange(range)(octets))
              .toSorted((a, b) => b.prefix - a.prefix);
            const truth = truthFor(view, longest);
            if (truth !== 'unknown')
              expect([address, truth]).toEqual([address, testView(view)(makeQuery(address))]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
