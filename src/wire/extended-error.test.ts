import { expect, it } from 'vitest';
import { EXTENDED_ERROR, extendedErrorOfCached, withExtendedError } from './extended-error.ts';
import { decodeMessage, encodeMessage } from './message.ts';
import { parseName } from './name.ts';
import { respond } from './query.ts';
import { CLASS, OPCODE, RCODE, TYPE } from './types.ts';

const question = { name: parseName('a.example.'), type: TYPE.A, class: CLASS.IN };
const header = {
  ...{ id: 7, response: false, opcode: OPCODE.QUERY, rcode: 0, authoritative: false, truncated: false },
  ...{ recursionDesired: true, recursionAvailable: false, authenticData: false, checkingDisabled: false },
};
const edns = { version: 0, udpSize: 1232, dnssecOk: true, extendedRcode: 0, options: [] };
const response = (truncated = false) =>
  encodeMessage(respond({ header, question, edns }, { rcode: RCODE.SERVFAIL, truncated }));

it('is an option of the OPT record, and leaves all other parts as they are', () => {
  const { edns: sent, ...others } = decodeMessage(withExtendedError(response(), 512, 22));
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
  const { edns: sent } = decodeMessage(withExtendedError(before, 512, 23, options));
  expect(sent?.options).toEqual([...options, { code: 15, data: Uint8Array.of(0, 23) }]);
});

it('is left out of responses that are cut, or have no room', () => {
  const whole = response();
  expect(withExtendedError(whole, whole.length + 5, 22)).toEqual(whole);
  expect(withExtendedError(whole, whole.length + 6, 22)).toHaveLength(whole.length + 6);
  expect(withExtendedError(response(true), 512, 22)).toEqual(response(true));
});

it('of a cached answer says whether it is a failure, or stale', () => {
  expect(extendedErrorOfCached(RCODE.NOERROR, false)).toBeUndefined();
  expect(extendedErrorOfCached(RCODE.NOERROR, true)).toBe(EXTENDED_ERROR.STALE_ANSWER);
  expect(extendedErrorOfCached(RCODE.NXDOMAIN, true)).toBe(EXTENDED_ERROR.STALE_NXDOMAIN);
  expect(extendedErrorOfCached(RCODE.SERVFAIL, false)).toBe(EXTENDED_ERROR.CACHED_ERROR);
});
