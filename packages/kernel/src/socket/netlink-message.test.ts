import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeAttribute,
  encodeNest,
  encodeNetlinkMessage,
  encodeTextAttribute,
  NLMSG_ERROR,
  parseAttributes,
  parseNetlinkMessages,
  readNetlinkError,
} from './netlink-message.ts';

const hex = (octets: Uint8Array) => Buffer.from(octets).toString('hex');

describe('messages of netlink', () => {
  it('have a header, and a body that is padded', () => {
    const message = { type: 0x0a0c, flags: 0x401, sequence: 7, body: Uint8Array.of(1, 2, 3, 4, 5) };
    expect(hex(encodeNetlinkMessage(message))).toBe(
      '15000000' + '0c0a0104' + '07000000' + '00000000' + '0102030405000000',
    );
  });

  it('are read one after the other as they were written', () => {
    const messages = fc.record({
      type: fc.nat(0xffff),
      flags: fc.nat(0xffff),
      sequence: fc.nat(0xffff_ffff),
      body: fc.uint8Array({ maxLength: 40 }),
    });
    fc.assert(
      fc.property(fc.array(messages), (written) => {
        const datagram = Buffer.concat(written.map((message) => encodeNetlinkMessage(message)));
        expect([...parseNetlinkMessages(datagram)]).toEqual(written);
      }),
    );
  });

  it('end where a datagram is cut, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        const bodies = [...parseNetlinkMessages(octets)].map(({ body }) => body.length);
        expect(bodies.reduce((sum, length) => sum + 16 + length, 0)).toBeLessThanOrEqual(octets.length);
      }),
    );
  });

  it('say an error as a negative number', () => {
    const message = { type: NLMSG_ERROR, flags: 0, sequence: 1, body: Uint8Array.of(0xfe, 0xff, 0xff, 0xff) };
    expect(readNetlinkError(message)).toBe(2);
    expect(readNetlinkError({ ...message, body: new Uint8Array(4) })).toBe(0);
    expect(readNetlinkError({ ...message, body: new Uint8Array(2) })).toBe(0);
  });
});

describe('attributes of netlink', () => {
  it('have a length, a type and a value that is padded', () => {
    expect(hex(encodeTextAttribute(1, 'filter'))).toBe('0b000100' + '66696c7465720000');
    expect(hex(encodeNest(3, encodeAttribute(1, Uint8Array.of(9))))).toBe(
      '0c000380' + '05000100' + '09000000',
    );
  });

  it('are read by their types, without the flags in them', () => {
    const octets = Buffer.concat([
      encodeNest(3, encodeAttribute(1, Uint8Array.of(9))),
      encodeTextAttribute(2, 'a'),
    ]);
    const values = parseAttributes(octets);
    expect([...values.keys()]).toEqual([3, 2]);
    expect(parseAttributes(values.get(3) ?? new Uint8Array()).get(1)).toEqual(Uint8Array.of(9));
  });

  it('end where octets are cut, whatever they hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        for (const value of parseAttributes(octets).values())
          expect(value.length).toBeLessThanOrEqual(octets.length - 4);
      }),
    );
  });
});
