/** Which addresses have no reverse name, whatever services claim. */

import { parseAddress } from '@portolan/dns/address.ts';
import { expect, it } from 'vitest';
import { isSpecialAddress } from './special-addresses.ts';

const isSpecial = (text: string) => isSpecialAddress(parseAddress(text) ?? new Uint8Array(0));

it.each([
  '127.0.0.1',
  '127.255.255.255',
  '169.254.0.0',
  '169.254.169.254',
  '224.0.0.251',
  '239.255.255.255',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '::1',
  'fe80::1',
  'febf::1',
  'ff02::fb',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
])('%s is special', (text) => {
  expect(isSpecial(text)).toBe(true);
});

it.each([
  '10.96.0.1',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '223.255.255.255',
  '240.0.0.1',
  '100.100.100.201',
  '168.63.129.17',
  '192.0.0.193',
  '::2',
  'fe7f::1',
  'fec0::1',
  'fd00::1',
  'fd00:ec2::253',
  '::ffff:10.0.0.1',
])('%s is not', (text) => {
  expect(isSpecial(text)).toBe(false);
});
