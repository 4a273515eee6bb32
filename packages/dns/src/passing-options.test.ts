import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  copyRepeated,
  encodePassedOn,
  isRepeatedOption,
  measurePassedOn,
  measureRepeated,
} from './passing-options.ts';

const options = fc.array(
  fc.record({ code: fc.oneof(fc.nat(20), fc.nat(65_535)), data: fc.uint8Array({ maxLength: 30 }) }),
  { maxLength: 6 },
);

const toWire = ({ code, data }: { readonly code: number; readonly data: Uint8Array }): Uint8Array =>
  Buffer.concat([Buffer.of(code >> 8, code & 0xff, data.length >> 8, data.length & 0xff), data]);

describe('options that pass by', () => {
  it('are those that CoreDNS repeats, and all but those of one hop', () => {
    const codes = Array.from({ length: 70_000 }, (_, code) => code);
    expect(codes.filter(isRepeatedOption)).toEqual([3, 9, 10, 11, 12]);
    const stays = (code: number) => encodePassedOn([{ code, data: Buffer.alloc(0) }]) === undefined;
    expect(codes.slice(0, 0x10000).filter(stays)).toEqual([10, 11, 12]);
  });

  it('are measured and copied in their order, wherever they lie', () => {
    fc.assert(
      fc.property(options, fc.nat(9), (all, before) => {
        const packet = Buffer.concat([
          Buffer.alloc(before, 0xff),
          ...all.map(toWire),
          Buffer.of(0, 10, 0, 0),
        ]);
        const end = packet.length - 4;
        const repeated = Buffer.concat(all.filter(({ code }) => isRepeatedOption(code)).map(toWire));
        const target = Buffer.alloc(2 + repeated.length);
        expect(measureRepeated(packet, before, end)).toBe(repeated.length);
        expect(copyRepeated(packet, before, end, target, 2)).toBe(2 + repeated.length);
        expect(target.subarray(2)).toEqual(repeated);
        const passed = encodePassedOn(all);
        expect(measurePassedOn(packet, before, end)).toBe(passed?.length ?? 0);
        if (passed !== undefined) expect(Buffer.from(passed)).toEqual(packet.subarray(before, end));
      }),
    );
  });
});
