import { ItemFault } from '@portolan/kernel/base/item-guard.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLogLine } from './log-line.ts';

it('reads the question of a query, in both formats and behind any prefix', () => {
  const common =
    '10.244.1.7:40001 - 4711 "AAAA IN cart.shop.svc.cluster.local. udp 54 false 1232" NOERROR qr,aa,rd 147 0.000311672s';
  for (const line of [
    common,
    `${common} "0"`,
    `[INFO] ${common}`,
    `[pod/coredns-1/coredns] [INFO] ${common}`,
  ])
    expect(readLogLine(line)).toEqual({
      name: 'cart.shop.svc.cluster.local.',
      type: 28,
      class: 1,
      recursionDesired: true,
      authenticData: false,
      checkingDisabled: false,
      edns: { udpSize: 1232, dnssecOk: false },
    });
});

it('asks without an OPT record where the query had none', () => {
  const line = (end: string) => `127.0.0.1:1 - 1 "A IN a. ${end}" NOERROR qr 1 0s`;
  expect(readLogLine(line('udp 20 false 512'))?.edns).toBeUndefined();
  expect(readLogLine(line('tcp 20 false 65535'))?.edns).toBeUndefined();
  expect(readLogLine(line('udp 20 true 512'))?.edns).toEqual({ udpSize: 512, dnssecOk: true });
});

it('takes other lines for what they are', () => {
  expect(readLogLine('[INFO] plugin/reload: Running configuration SHA512 = 1')).toBeUndefined();
  expect(() => readLogLine('1:1 - 1 "NOTYPE IN a. udp 20 false 512" NOERROR qr 1 0s')).toThrow(ItemFault);
  expect(() => readLogLine('1:1 - 1 "A IN a..b. udp 20 false 512" NOERROR qr 1 0s')).toThrow(ItemFault);
});

it('fails on no line with anything but a fault of the item', () => {
  const word = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('A', 'IN', 'udp', 'true', '512', 'a.b.'),
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 7, maxLength: 7 }), (words) => {
      try {
        readLogLine(`x - 1 "${words.join(' ')}" NOERROR`);
      } catch (error) {
        expect(error).toBeInstanceOf(ItemFault);
      }
    }),
  );
});
