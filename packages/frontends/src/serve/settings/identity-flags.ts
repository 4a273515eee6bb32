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
      'RFC 5001; `dig +nsid` shows it. `hostname`, and the flag without a value, is the name of the host: that of the pod. Queries that ask for it are answered by the main thread, all others as without the flag.',
    group: LISTEN,
  },
  {
    name: 'hide-identity',
    value: 'none',
    help: 'refuse queries for hostname.bind and id.server (class CHAOS)',
    details: 'Without it the answer is the name of the host, which says which replica answers.',
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
      'RFC 9462. Without it the question is forwarded, and the answer of an upstream server may lead clients past this one. See [encrypted DNS](../how-to/encrypted-dns.md).',
    group: LISTEN,
  },
] as const satisfies readonly Flag[];
