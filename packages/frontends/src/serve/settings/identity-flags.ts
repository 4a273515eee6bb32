/**
 * The flags of `portolan serve` about what the server says of itself to clients. The names are those of Unbound.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { LISTEN } from './client-flags.ts';

/** The value of `--nsid` for the name of the host. */
export const HOST_NAME = 'hostname';

export const IDENTITY_FLAGS = [
  {
    name: 'nsid',
    valueName: 'text',
    value: { kind: 'text', of: 'an identity' },
    defaultNote: 'none',
    impliedValue: HOST_NAME,
    help: 'identity of the server for clients that ask for it (NSID), or hostname',
    details:
      '`hostname`, or no value: the name of the host, which is that of the pod. The main thread answers queries that ask for it.',
    group: LISTEN,
  },
  {
    name: 'hide-identity',
    value: 'none',
    help: 'refuse queries for hostname.bind and id.server (class CHAOS)',
    details: 'Else the answer is the name of the host.',
    group: LISTEN,
  },
  {
    name: 'hide-version',
    value: 'none',
    help: 'refuse queries for version.bind and version.server (class CHAOS)',
    group: LISTEN,
  },
  {
    name: 'discovery',
    value: 'none',
    help: 'tell clients that look for encrypted resolvers (resolver.arpa) that there are none',
    details:
      'Else the answer of an upstream server may lead clients past this one. See [encrypted DNS](../how-to/encrypted-dns.md).',
    group: LISTEN,
  },
] as const satisfies readonly Flag[];
