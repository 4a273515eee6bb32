import { AddressError } from '@portolan/dns/address.ts';
import { PortInUseError } from '@portolan/kernel/socket/socket-error.ts';
import { UnknownInterfaceError } from '@portolan/server/followed-interfaces.ts';
import { expect, it } from 'vitest';
import { IdentityError } from './identity.ts';
import { LogFileError } from './log-file.ts';
import { PidFileError } from './pid-file.ts';
import { describeFailure, toExitCode } from './start-failure.ts';

it.each([
  [new IdentityError('somebody'), 1],
  [new PortInUseError({ address: '127.0.0.1', port: 53 }, 'udp', true), 2],
  [new UnknownInterfaceError('eth9'), 2],
  [new AddressError('x'), 2],
  [new LogFileError('/x', new Error('no')), 3],
  [new PidFileError('/x', new Error('no')), 3],
  [new Error('anything else'), 5],
  ['anything at all', 5],
])('%s ends with %i', (error, code) => {
  expect(toExitCode(error)).toBe(code);
});

it('names no flag that dnsmasq does not have', () => {
  const inUse = new PortInUseError({ address: '127.0.0.1', port: 53 }, 'udp', true);
  expect(describeFailure(inUse)).toBe('port in use: 127.0.0.1:53 (udp). Stop the server that holds it.');
  expect(describeFailure(new UnknownInterfaceError('eth9'))).toContain('unknown interface: eth9');
});
