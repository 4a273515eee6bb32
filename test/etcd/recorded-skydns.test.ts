/**
 * Compares the rules of SkyDNS with its recorded answers from the same keys, by either version of the API. Differences from both
 * must be in the list here.
 */
import { parseType } from '@portolan/dns/mnemonics.ts';
import { isWithin, parseName, toKey } from '@portolan/dns/name.ts';
import { KeyTree } from '@portolan/etcd/source/names/key-tree.ts';
import { parseServiceRecord } from '@portolan/etcd/source/names/service-record.ts';
import { encodePath, ServiceNames } from '@portolan/etcd/source/names/services.ts';
import { Evaluation } from '@portolan/etcd/source/rules/evaluation.ts';
import { makeSkyDnsRules } from '@portolan/etcd/source/rules/rules.ts';
import { expect, it } from 'vitest';
import {
  answerOutside,
  CASES,
  describeRecord,
  type RecordedAnswer,
  type RecordedCase,
  SKYDNS_CASES,
} from './recorded.ts';

/** Questions whose answers differ, as case and type, by reason. */
const DIFFERENCES: Readonly<Record<string, readonly string[]>> = {
  'a name without keys does not exist (by version 3 SkyDNS never says so)': [
    'a-dots-in-label A',
    'a-double-slash-key A',
  ],
  'a record without a host is no alias of the root, and no service of it': [
    'a-host-empty A',
    'a-host-empty SRV',
    'a-host-missing SRV',
    'external-dns-split A',
    'external-dns-split SRV',
    'txt-one SRV',
    'value-host-null A',
    'value-host-null SRV',
    'value-null A',
    'value-null SRV',
    'wild-cname A',
  ],
  'a value that is no record hides nothing but itself': [
    'apex-bad-neighbour A',
    'apex-key-bad-neighbour A',
    'apex-key-bad-neighbour SRV',
    'value-bad-under-wildcard A',
    'value-empty SRV',
    'value-host-number SRV',
    'value-list SRV',
    'value-mail-string SRV',
    'value-malformed SRV',
    'value-not-json SRV',
    'value-number SRV',
    'value-one-bad A',
    'value-port-fraction SRV',
    'value-port-string SRV',
    'value-string SRV',
    'value-trailing SRV',
  ],
  'an address is no name to point to': ['ptr-address PTR'],
  'it was asked by UDP, and what did not fit was left out': ['a-many A'],
};

const PREFIX = '/skydns/';
const ZONE = toKey(parseName('skydns.test.'));
const REVERSE = ['in-addr.arpa.', 'ip6.arpa.'].map((zone) => toKey(parseName(zone)));
const RCODES = { records: 'NOERROR', nodata: 'NOERROR', nxdomain: 'NXDOMAIN', servfail: 'SERVFAIL' } as const;

const rules = makeSkyDnsRules({ ttl: 3600, priority: 10 });

/** The keys of a case; a lease counts with its time. */
function readKeys({ keys, leases = {} }: RecordedCase): ServiceNames {
  const tree = new KeyTree();
  const seconds = new Map<number, number>();
  for (const [key, value] of Object.entries(keys)) {
    if (!key.startsWith(PREFIX)) continue;
    const path = encodePath(key.slice(PREFIX.length).split('/'));
    const isBad = parseServiceRecord(value) === undefined;
    const { node } = tree.put(path, isBad ? 'bad' : Buffer.from(value));
    seconds.set(node, leases[key] ?? 0);
  }
  return new ServiceNames(tree, { secondsLeft: (node) => seconds.get(node) ?? 0 }, rules);
}

function describe(rcode: string, answer: readonly string[], additional: readonly string[]): string {
  return JSON.stringify([rcode, [...answer].sort(), [...additional].sort()]);
}

it('answers as SkyDNS did', () => {
  const different: string[] = [];
  let equal = 0;
  for (const each of CASES) {
    const recorded = SKYDNS_CASES.find(({ name }) => name === each.name);
    if (recorded === undefined) continue;
    const names = readKeys(each);
    for (const [index, { ask }] of each.steps.entries()) {
      const name = parseName(ask.name);
      const zone = [ZONE, ...REVERSE].find((apex) => isWithin(toKey(name), apex));
      const type = parseType(ask.type);
      // The rest is forwarded, or no matter of these rules.
      if (zone === undefined || type === undefined || ask.class !== undefined) continue;
      if (['SOA', 'ANY'].includes(ask.type) || (zone !== ZONE && ask.type !== 'PTR')) continue;
      const evaluation = new Evaluation(names, (outside) => answerOutside(outside.name, outside.type));
      const answer = rules.answer(evaluation, zone, { name, type });
      const { records, additionals } = answer.kind === 'records' ? answer : { records: [], additionals: [] };
      const got = describe(RCODES[answer.kind], records.map(describeRecord), additionals.map(describeRecord));
      const known = [recorded.both, recorded.v2, recorded.v3].flatMap((answers) => {
        const answered: RecordedAnswer | string | undefined = answers?.[index];
        // Some were not the same each time.
        if (answered === undefined || typeof answered === 'string') return [];
        return describe(answered.rcode, answered.answer, answered.additional);
      });
      if (known.includes(got)) equal += 1;
      else different.push(`${each.name} ${ask.type}`);
    }
  }
  expect(different.sort()).toEqual(Object.values(DIFFERENCES).flat().sort());
  expect(equal).toBeGreaterThan(350);
});
