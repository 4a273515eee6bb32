/**
 * The exit code of dnsmasq for what kept a server from starting.
 */
import { EXIT, type ExitCode } from '../../config/dnsmasq/exit-codes.ts';
import { PortInUseError, SocketError } from '../../socket/socket-error.ts';
import { AddressError } from '../../wire/address.ts';
import { UnknownInterfaceError } from './dnsmasq-listeners.ts';
import { IdentityError } from './identity.ts';
import { LogFileError } from './log-file.ts';
import { PidFileError } from './pid-file.ts';

const OF_NETWORK = [PortInUseError, SocketError, AddressError, UnknownInterfaceError];
const OF_FILES = [LogFileError, PidFileError];

export function exitCodeOf(error: unknown): ExitCode {
  if (OF_NETWORK.some((kind) => error instanceof kind)) return EXIT.BAD_NETWORK;
  if (OF_FILES.some((kind) => error instanceof kind)) return EXIT.BAD_FILE;
  if (error instanceof IdentityError) return EXIT.BAD_CONFIGURATION;
  return EXIT.OTHER;
}
