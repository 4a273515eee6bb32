/**
 * The flags of `portolan serve` that restrict clients: an access list by prefix, and rate limits.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';

export const LISTEN = 'Listening';

export const CLIENT_FLAGS = [
  {
    name: 'access-control',
    valueName: 'prefix=action',
    value: { kind: 'text', of: 'a prefix and an action' },
    repeats: true,
    help: 'what clients of a prefix get: allow, refuse or drop',
    details:
      'As in `0.0.0.0/0=refuse,10.0.0.0/8=allow`. The longest prefix counts; all other clients are allowed.',
    group: LISTEN,
  },
  {
    name: 'query-rate-limit',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 1_000_000, of: 'a number of queries' },
    defaultNote: 'none',
    help: 'queries over UDP that a client may send in a second',
    group: LISTEN,
  },
  {
    name: 'response-rate-limit',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 1_000_000, of: 'a number of responses' },
    defaultNote: 'none',
    help: 'like responses over UDP that a client may get in a second',
    details:
      'Alike are answers by name and type, NODATA by name, denials and referrals by zone, and all errors.',
    group: LISTEN,
  },
  {
    name: 'rate-limit-slip',
    valueName: 'number',
    value: { kind: 'integer', min: 0, max: 10, of: 'a number' },
    default: '2',
    help: 'of so many queries or responses beyond a limit, one gets a truncated response',
    details: 'Its client asks over TCP, which is not limited; the others get none. 0: none, 1: all.',
    group: LISTEN,
  },
  {
    name: 'rate-limit-prefix',
    valueName: 'bits',
    value: { kind: 'text', of: 'two numbers of bits' },
    default: '32,128',
    help: 'leading bits of IPv4 and IPv6 addresses that are one client for rate limits',
    details: '`24,56` is common for servers that are reachable from the Internet.',
    group: LISTEN,
  },
] as const satisfies readonly Flag[];
