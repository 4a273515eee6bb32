import { describe, expect, it } from 'vitest';
import { className, opcodeName, parseType, rcodeName, typeName } from './mnemonics.ts';
import { parseName } from './name.ts';
import { presentQuestion, presentRecord } from './present.ts';
import { malformedRecords, sampleRecords } from './testing/sample-records.ts';
import { CLASS, RCODE, TYPE } from './types.ts';

describe('presentRecord', () => {
  it.each([...sampleRecords, ...malformedRecords])('$line', ({ record, line }) => {
    expect(presentRecord(record)).toBe(line);
  });

  it.each([
    [1, '0568322c780268', 'key1="\\005h2,x\\002h"'],
    [1, '0468322c5c', 'alpn="h2\\\\,\\\\\\\\"'],
    [3, '01', 'port="\\001"'],
    [4, '0a0000', 'ipv4hint="\\010\\000\\000"'],
    [6, '', 'ipv6hint'],
  ])('shows parameter %i of %s', (key, hex, shown) => {
    const value = Uint8Array.from(Buffer.from(hex, 'hex'));
    const name = parseName('.');
    const data = { kind: 'HTTPS', priority: 1, target: name, parameters: [{ key, value }] } as const;
    expect(presentRecord({ name, class: CLASS.IN, ttl: 0, data })).toBe(
      `. 0 IN HTTPS 1 . ${shown.replace('key1', 'alpn')}`,
    );
  });
});

describe('presentQuestion', () => {
  it('has name, class and type', () => {
    const question = { name: parseName('Web.example'), type: 65_280, class: 42 };
    expect(presentQuestion(question)).toBe('Web.example. CLASS42 TYPE65280');
  });
});

describe('mnemonics', () => {
  it('name types and are read again', () => {
    for (let type = 0; type <= 0xffff; type += 1) expect(parseType(typeName(type))).toBe(type);
    expect(parseType('aaaa')).toBe(TYPE.AAAA);
    expect(parseType('type28')).toBe(TYPE.AAAA);
  });

  it.each(['', 'NOPE', 'TYPE', 'TYPE65536', 'TYPE-1', 'TYPE1x'])('do not know %j', (text) => {
    expect(parseType(text)).toBeUndefined();
  });

  it('name everything else', () => {
    expect([className(CLASS.CH), className(9)]).toEqual(['CH', 'CLASS9']);
    expect([rcodeName(RCODE.NXDOMAIN), rcodeName(RCODE.BADVERS), rcodeName(23), rcodeName(11)]).toEqual([
      'NXDOMAIN',
      'BADVERS',
      'BADCOOKIE',
      'RCODE11',
    ]);
    expect([opcodeName(5), opcodeName(3)]).toEqual(['UPDATE', 'OPCODE3']);
  });
});
