import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, type Message, RCODE, TYPE } from '@portolan/dns/types.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { QUERY_HEADER, record } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { createReplyFilter, type ReplyRules } from './reply-rules.ts';

const RULES: ReplyRules = {
  bogusNxdomain: [{ address: '6.6.6.0', prefix: 24 }],
  aliases: [
    { from: { kind: 'range', first: '4.4.4.10', last: '4.4.4.20' }, to: '10.0.0.0', mask: '255.255.255.0' },
    { from: { kind: 'masked', address: '1.2.3.0' }, to: '5.6.7.0', mask: '255.255.255.0' },
  ],
  rebind: { stops: true, allowsLocalhost: true, allowedDomains: [toKey(parseName('okay.example.'))] },
};

const question = (name: string) => ({ name: parseName(name), type: TYPE.A, class: CLASS.IN });

function reply(name: string, addresses: readonly string[], rcode: number = RCODE.NOERROR): Message {
  const answers = addresses.map((address) =>
    record(name, address.includes(':') ? { kind: 'AAAA', address } : { kind: 'A', address }),
  );
  const header = { ...QUERY_HEADER, response: true, authoritative: true, rcode };
  return { header, questions: [question(name)], answers, authorities: [], additionals: [], edns: undefined };
}

const log = new RecordingLog();
const filter = createReplyFilter(RULES, (name) => name === 'known.', log);

function told(
  name: string,
  addresses: readonly string[],
  rcode?: number,
): readonly (string | number | boolean)[] {
  const { header, answers } = filter(question(name), reply(name, addresses, rcode));
  return [header.rcode, header.authoritative, ...answers.map(presentRecord)];
}

describe('rules for replies', () => {
  it('leave alone what they are not about', () => {
    const message = reply('a.', ['8.8.8.8', '127.0.0.1']);
    expect(filter(question('a.'), message)).toBe(message);
    const failure = reply('a.', ['6.6.6.6'], RCODE.SERVFAIL);
    expect(filter(question('a.'), failure)).toBe(failure);
  });

  it('take forged addresses for a name that does not exist', () => {
    expect(told('a.', ['8.8.8.8', '6.6.6.6'])).toEqual([RCODE.NXDOMAIN, false]);
  });

  it('translate addresses, which no server has authority for then', () => {
    expect(told('a.', ['1.2.3.4', '4.4.4.9'])).toEqual([
      0,
      false,
      'a. 30 IN A 5.6.7.4',
      'a. 30 IN A 4.4.4.9',
    ]);
    expect(told('x.okay.example.', ['4.4.4.15'])).toEqual([0, false, 'x.okay.example. 30 IN A 10.0.0.15']);
  });

  it('refuse private addresses, also those that a translation made, and say so', () => {
    expect(told('a.', ['8.8.8.8', '192.168.0.1'])).toEqual([0, true]);
    expect(told('a.', ['4.4.4.15'])).toEqual([0, false]);
    expect(told('a.', ['::ffff:10.0.0.1'])).toEqual([0, true]);
    expect(told('x.okay.example.', ['10.0.0.1'])).toEqual([0, true, 'x.okay.example. 30 IN A 10.0.0.1']);
    expect(log.records.at(-1)).toMatchObject({ level: 'warn', fields: { name: 'a.' } });
  });

  it('never deny the existence of a name that is known', () => {
    expect(told('Known.', [], RCODE.NXDOMAIN)).toEqual([RCODE.NOERROR, true]);
    expect(told('other.', [], RCODE.NXDOMAIN)).toEqual([RCODE.NXDOMAIN, true]);
  });
});
