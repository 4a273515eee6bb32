import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEADER_OCTETS } from './header.ts';
import { QueryRecords } from './query-records.ts';

const OPT = '00 0029 04d0 00000000 0000';
const ADDRESS = 'c00c 0001 0001 00000000 0004 7f000001';
/** `k.`, HMAC-SHA256 cut to `hmac.`, 8 octets of time and fudge, a MAC of 2 octets, id, no error, no other data. */
const TSIG_DATA = '04686d6163 00 0000000000000000 0002 abcd 0001 0000 0000';
const TSIG = `016b 00 00fa 00ff 00000000 0018 ${TSIG_DATA}`;
const octets = (...parts: string[]) =>
  Uint8Array.from(Buffer.from(parts.join('').replaceAll(' ', ''), 'hex'));

describe('the records of a query', () => {
  it.each<[string, readonly string[], number, number, boolean, number]>([
    ['none', [], 0, 0, true, 0],
    ['OPT', [OPT], 0, 1, true, 2],
    ['OPT behind others', [ADDRESS, ADDRESS, OPT], 1, 2, true, 34],
    ['no OPT among them', [ADDRESS], 0, 1, true, 0],
    ['an octet behind the last', [OPT, 'ff'], 0, 1, false, 2],
    ['an octet where there are none', ['00'], 0, 0, false, 0],
    ['fewer than said', [OPT], 0, 2, false, 2],
    ['OPT twice', [OPT, OPT], 0, 2, false, 2],
    ['OPT in another section', [OPT], 1, 0, false, 0],
    ['OPT that is not at the root', ['0161 00 0029 04d0 00000000 0000'], 0, 1, false, 0],
    ['options beyond the packet', ['00 0029 04d0 00000000 0001'], 0, 1, false, 0],
    ['a label of an unknown kind', ['4061 00 0001 0001 00000000 0000'], 0, 1, false, 0],
    ['a signature', [TSIG], 0, 1, true, 0],
    ['a signature behind OPT', [OPT, TSIG], 0, 2, true, 2],
    ['a signature that is not the last', [TSIG, OPT], 0, 2, false, 0],
    ['two signatures', [TSIG, TSIG], 0, 2, false, 0],
    ['a signature in another section', [TSIG], 1, 0, false, 0],
    ['a signature without data', ['016b 00 00fa 00ff 00000000 0000'], 0, 1, false, 0],
    ['a MAC beyond the signature', [TSIG.replace('0002 abcd', '0003 abcd')], 0, 1, false, 0],
    ['an octet behind the fields of a signature', [TSIG.replace('0018', '0019'), 'ff'], 0, 1, false, 0],
    ['half a pointer', ['c0'], 0, 1, false, 0],
  ])('with %s', (_, parts, others, additionals, isSound, opt) => {
    const packet = octets('ffff', ...parts);
    const records = new QueryRecords();
    expect(records.read(packet, 2, packet.length, others, additionals)).toBe(isSound);
    expect(records.opt).toBe(opt);
  });

  it('are searched inside the packet alone, whatever its counts say', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: HEADER_OCTETS, maxLength: 200 }), (packet) => {
        const records = new QueryRecords();
        const around = Uint8Array.from([...packet, ...octets(OPT, OPT)]);
        records.search(around, 0, packet.length);
        const { opt } = records;
        records.search(packet, 0, packet.length);
        expect(records.opt).toBe(opt);
        if (opt !== 0) expect(opt + 11).toBeLessThanOrEqual(packet.length);
      }),
      { numRuns: 2000 },
    );
  });
});
