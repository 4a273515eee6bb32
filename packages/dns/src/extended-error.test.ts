import { describe, expect, it } from 'vitest';
import {
  EXTENDED_ERROR,
  extendedError,
  extendedErrorOfCached,
  MAX_PASSED_OCTETS,
  readPassedErrors,
  withExtendedErrors,
} from './extended-error.ts';
import { decodeMessage, encodeMessage } from './message.ts';
import { parseName } from './name.ts';
import { respond } from './query.ts';
import { CLASS, type EdnsOption, OPCODE, RCODE, TYPE } from './types.ts';

const question = { name: parseName('a.example.'), type: TYPE.A, class: CLASS.IN };
const header = {
  id: 7,
  response: false,
  opcode: OPCODE.QUERY,
  rcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
};
const edns = { version: 0, udpSize: 1232, dnssecOk: true, extendedRcode: 0, options: [] };
const response = (truncated = false) =>
  encodeMessage(respond({ header, question, edns }, { rcode: RCODE.SERVFAIL, truncated }));

it('is an option of the OPT record, and leaves all other parts as they are', () => {
  const { edns: sent, ...others } = decodeMessage(withExtendedErrors(response(), 512, { code: 22 }));
  const { edns: _, ...expected } = decodeMessage(response());
  expect(others).toEqual(expected);
  expect(sent).toMatchObject({
    dnssecOk: true,
    udpSize: 1232,
    options: [{ code: 15, data: Uint8Array.of(0, 22) }],
  });
});

it('follows the options that the OPT record has', () => {
  const options = [
    { code: 10, data: Uint8Array.of(1, 2, 3) },
    { code: 12, data: new Uint8Array(0) },
  ];
  const before = encodeMessage({ ...decodeMessage(response()), edns: { ...edns, options } });
  const { edns: sent } = decodeMessage(withExtendedErrors(before, 512, { code: 23 }, options));
  expect(sent?.options).toEqual([...options, { code: 15, data: Uint8Array.of(0, 23) }]);
});

it('is left out of responses that are cut, or have no room', () => {
  const whole = response();
  expect(withExtendedErrors(whole, whole.length + 5, { code: 22 })).toEqual(whole);
  expect(withExtendedErrors(whole, whole.length + 6, { code: 22 })).toHaveLength(whole.length + 6);
  expect(withExtendedErrors(response(true), 512, { code: 22 })).toEqual(response(true));
});

it('of a cached answer says whether it is a failure, or stale', () => {
  expect(extendedErrorOfCached(RCODE.NOERROR, false)).toBeUndefined();
  expect(extendedErrorOfCached(RCODE.NOERROR, true)).toBe(EXTENDED_ERROR.STALE_ANSWER);
  expect(extendedErrorOfCached(RCODE.NXDOMAIN, true)).toBe(EXTENDED_ERROR.STALE_NXDOMAIN);
  expect(extendedErrorOfCached(RCODE.SERVFAIL, false)).toBe(EXTENDED_ERROR.CACHED_ERROR);
});

describe('errors of an upstream server', () => {
  const sentWith = (options: readonly EdnsOption[]) => readPassedErrors({ ...edns, options });
  const optionsIn = (octets: Uint8Array) =>
    decodeMessage(octets).edns?.options.map(({ code, data }) => [
      code,
      ((data[0] ?? 0) << 8) | (data[1] ?? 0),
      Buffer.from(data.subarray(2)).toString(),
    ]);

  it('are passed on behind our own, and name their origin', () => {
    const passed = sentWith([extendedError(9, 'no SEP matching the DS'), extendedError(22)]);
    expect(optionsIn(withExtendedErrors(response(), 512, { code: 13, passed }))).toEqual([
      [15, 13, ''],
      [15, 9, 'upstream: no SEP matching the DS'],
      [15, 22, 'upstream'],
    ]);
  });

  it('are left out one by one if there is no room, and never cut a response', () => {
    const passed = sentWith([extendedError(9, 'text'), extendedError(22)]);
    const whole = response();
    for (let room = 0; room < 60; room += 1) {
      const sent = withExtendedErrors(whole, whole.length + room, { code: 13, passed });
      expect(sent.length).toBeLessThanOrEqual(whole.length + room);
      const count = room < 6 ? 0 : room < 26 ? 1 : room < 40 ? 2 : 3;
      expect(optionsIn(sent)).toHaveLength(count);
    }
    expect(withExtendedErrors(response(true), 512, { passed })).toEqual(response(true));
  });

  it('are bounded: three of different codes, without control characters, each text cut at a character', () => {
    const long = 'é'.repeat(300);
    const passed = sentWith([
      extendedError(9, `a\u0000b\u001b[31mc\u009bd`),
      extendedError(9, 'again'),
      { code: 15, data: Uint8Array.of(7) },
      { code: 10, data: Uint8Array.of(0, 1, 2) },
      extendedError(10, long),
      { code: 15, data: Uint8Array.of(0, 11, 0xff, 0xfe, 0x41) },
      extendedError(12),
    ]);
    expect(optionsIn(withExtendedErrors(response(), 512, { passed }))).toEqual([
      [15, 9, 'upstream: a b [31mc d'],
      [15, 10, `upstream: ${'é'.repeat(27)}`],
      [15, 11, 'upstream: A'],
    ]);
    expect(sentWith([9, 10, 11].map((code) => extendedError(code, long)))?.length).toBeLessThanOrEqual(
      MAX_PASSED_OCTETS,
    );
  });

  it('are undefined if there are none', () => {
    expect(readPassedErrors(undefined)).toBeUndefined();
    expect(sentWith([])).toBeUndefined();
    expect(sentWith([{ code: 10, data: Uint8Array.of(0, 1, 2) }])).toBeUndefined();
  });
});
