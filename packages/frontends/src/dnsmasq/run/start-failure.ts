/**
 * Describes why a server cannot start, with dnsmasq's exit code.
 */

import { AddressError } from '@portolan/dns/address.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { PortInUseError, SocketError } from '@portolan/kernel/socket/socket-error.ts';
import { UnknownInterfaceError } from '@portolan/server/followed-interfaces.ts';
import { EXIT, type ExitCode } from '../settings/exit-codes.ts';
import { IdentityError } from './identity.ts';
import { LogFileError } from './log-file.ts';
import { PidFileError } from './pid-file.ts';

const OF_NETWORK = [PortInUseError, SocketError, AddressError, UnknownInterfaceError];
const OF_FILES = [LogFileError, PidFileError];

export function toExitCode(error: unknown): ExitCode {
  if (OF_NETWORK.some((kind) => error instanceof kind)) return EXIT.BAD_NETWORK;
  if (OF_FILES.some((kind) => error instanceof kind)) return EXIT.BAD_FILE;
  if (error instanceof IdentityError) return EXIT.BAD_CONFIGURATION;
  return EXIT.OTHER;
}

export function describeFailure(error: unknown): string {
  // The error's own remedy names a flag that dnsmasq lacks.
  if (error instanceof PortInUseError)
    return `port in use: ${formatSocketAddress(error.endpoint)} (${error.transport}). Stop the server that holds it.`;
  return describeError(error);
}
