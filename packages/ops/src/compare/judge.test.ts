import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  differingParts,
  isSameReply,
  type JudgeRules,
  maskNameServer,
  maskSerials,
  RECORDED,
} from './judge.ts';

const EXACT: JudgeRules = { ttl: 0, hasStars: false };
const NEAR: JudgeRules = { ttl: 1, hasStars: false };

const record = fc
  .tuple(
    fc.constantFrom('a.example.', '*.example.', 'b.example.'),
    fc.nat({ max: 3 }),
    fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3'),
  )
  .map(([name, ttl, address]) => `${name} ${ttl * 10} IN A ${address}`);

it('takes sections as sets', () => {
  fc.assert(
    fc.property(fc.array(record), fc.array(fc.nat()), (answer, order) => {
      const shuffled = answer
        .map((each, place) => ({ each, at: order[place] ?? 0 }))
        .toSorted((one, other) => one.at - other.at)
        .map(({ each }) => each);
      for (const rules of [EXACT, NEAR])
        expect(differingParts({ answer }, { answer: shuffled }, rules)).toEqual([]);
    }),
  );
});

it('finds each record that is missing, and each that is there twice', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1 }), (answer) => {
      expect(differingParts({ answer }, { answer: answer.slice(1) }, NEAR)).toEqual(['answer']);
      expect(differingParts({ answer }, { answer: [...answer, ...answer.slice(0, 1)] }, NEAR)).toEqual([
        'answer',
      ]);
    }),
  );
});

it('lets TTLs differ as far as the rules say', () => {
  const at = (ttl: number) => ({ answer: [`a. ${ttl} IN A 10.0.0.1`] });
  expect(differingParts(at(30), at(29), NEAR)).toEqual([]);
  expect(differingParts(at(30), at(29), EXACT)).toEqual(['answer']);
  expect(differingParts(at(30), at(28), NEAR)).toEqual(['answer']);
  expect(differingParts(at(30), at(1), { ...NEAR, ttl: Number.POSITIVE_INFINITY })).toEqual([]);
});

it('takes a star for any text only in recordings', () => {
  const wildcard = { answer: ['*.a. 5 IN A 10.0.0.1'] };
  const other = { answer: ['b.a. 5 IN A 10.0.0.1'] };
  expect(differingParts(wildcard, other, RECORDED)).toEqual([]);
  expect(differingParts(wildcard, other, NEAR)).toEqual(['answer']);
});

it('lets the second reply give a reason where the rules say so', () => {
  const edns = (...options: readonly string[][]) => ({ edns: { udp: 1232, do: false, options } });
  const [none, cookie, reason, other] = [
    edns(),
    edns(['cookie', '01']),
    edns(['ede', '22']),
    edns(['ede', '23']),
  ];
  const allowing = { ...EXACT, allowsReasons: true };
  expect(differingParts(none, reason, allowing)).toEqual([]);
  expect(differingParts(cookie, edns(['ede', '22'], ['cookie', '01']), allowing)).toEqual([]);
  expect(differingParts(none, reason, EXACT)).toEqual(['edns']);
  expect(differingParts(reason, none, allowing)).toEqual(['edns']);
  expect(differingParts(reason, other, allowing)).toEqual(['edns']);
  expect(differingParts(cookie, reason, allowing)).toEqual(['edns']);
});

it('heeds the order of records where it counts', () => {
  const answer = ['a. 5 IN A 10.0.0.1', 'a. 5 IN A 10.0.0.2'];
  const turned = { answer: answer.toReversed() };
  expect(differingParts({ answer, ordered: true }, turned, RECORDED)).toEqual(['answer']);
  expect(isSameReply({ answer }, turned)).toBe(false);
});

it('compares flags and options as sets', () => {
  const edns = (options: readonly string[][]) => ({ edns: { udp: 1232, do: false, options } });
  const [one, other] = [
    ['nsid', 'a'],
    ['ede', '0'],
  ];
  expect(differingParts({ flags: ['aa', 'rd'] }, { flags: ['rd', 'aa'] }, NEAR)).toEqual([]);
  expect(differingParts(edns([one, other]), edns([other, one]), NEAR)).toEqual([]);
  expect(differingParts(edns([one]), {}, NEAR)).toEqual(['edns']);
});

it("masks the serial and the addresses that are a server's own, and those of no service", () => {
  const soa = 'a. 5 IN SOA ns.dns.a. hostmaster.a. 1700000000 7200 1800 86400 5';
  expect(maskSerials(soa, (serial) => serial > 1e9, '{SERIAL}')).toContain(' {SERIAL} 7200');
  expect(maskSerials(soa, () => false)).toBe(soa);
  expect(maskNameServer('ns.dns.cluster.local. 5 IN AAAA ::1')).toBe(
    'ns.dns.cluster.local. 5 IN ADDRESS {HOSTIP}',
  );
  const service = 'ns.dns.svc.cluster.local. 5 IN A 10.96.0.1';
  expect(maskNameServer(service)).toBe(service);
});
