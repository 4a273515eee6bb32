import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { type Message, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { computeFreshness } from './freshness.ts';

const NAME = parseName('a.example.');
const record = (ttl: number, data: ResourceRecord['data']): ResourceRecord => ({
  name: NAME,
  class: 1,
  ttl,
  data,
});
const address = (ttl: number) => record(ttl, { kind: 'A', address: '192.0.2.1' });
const soa = (ttl: number, minimum: number) =>
  record(ttl, {
    kind: 'SOA',
    primary: NAME,
    mailbox: NAME,
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum,
  });
const ns = (ttl: number) => record(ttl, { kind: 'NS', target: NAME });

type Parts = Partial<Omit<Message, 'header'>> & { readonly rcode?: number; readonly type?: number };

function freshness({ rcode = 0, type = TYPE.A, ...parts }: Parts): number {
  const header = {
    id: 0,
    response: true,
    opcode: 0,
    authoritative: false,
    truncated: false,
    rcode,
    recursionDesired: true,
    recursionAvailable: true,
    authenticData: false,
    checkingDisabled: false,
  };
  const questions = [{ name: NAME, type, class: 1 }];
  const sections = { answers: [], authorities: [], additionals: [], edns: undefined };
  return computeFreshness(encodeMessage({ header, questions, ...sections, ...parts }, {}));
}

describe('the time for which a response is fresh', () => {
  it.each<[string, number, Parts]>([
    ['is the lowest TTL', 20, { answers: [address(60), address(20)] }],
    [
      'is the lowest TTL of all sections',
      7,
      { answers: [address(60)], authorities: [ns(30)], additionals: [address(7)] },
    ],
    ['is an hour at most', 3600, { answers: [address(86_400)] }],
    ['may be none', 0, { answers: [address(0)] }],
    ['of a denial is that of its SOA record', 30, { rcode: RCODE.NXDOMAIN, authorities: [soa(30, 900)] }],
    ['of a denial is the minimum in its SOA record at most', 9, { authorities: [soa(30, 9)] }],
    ['of a failure is short', 5, { rcode: RCODE.SERVFAIL, authorities: [soa(30, 9)] }],
    ['of a referral is short', 5, { authorities: [ns(300)] }],
    ['of an alias to no name is short', 5, { rcode: RCODE.NXDOMAIN, answers: [address(60)] }],
    ['of a response without records is short', 5, {}],
    ['of a transfer is short', 5, { type: TYPE.AXFR, answers: [soa(60, 60)] }],
  ])('%s', (_, seconds, parts) => expect(freshness(parts)).toBe(seconds));

  it('is 0 for octets that are no message', () => expect(computeFreshness(new Uint8Array(5))).toBe(0));
});
