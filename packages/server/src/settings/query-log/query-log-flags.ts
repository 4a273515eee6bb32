/**
 * The flags of the query log, of all servers; and those of the control socket and statistics.
 */
import { LOG_FORMATS, STANDARD_OUTPUT } from '../../plan/query-log-plan.ts';
import type { Flag } from '../flags/flag.ts';

/** The heading in help, shared with the other log flags. */
export const LOG_GROUP = 'Log';

export const QUERY_LOG_FLAGS = [
  {
    name: 'query-log',
    valueName: 'file',
    value: { kind: 'file' },
    impliedValue: STANDARD_OUTPUT,
    defaultNote: 'no query log',
    help: 'log answered queries to a file, or to standard output where none is named',
    details: 'See [Query log](#query-log).',
    group: LOG_GROUP,
  },
  {
    name: 'query-log-format',
    valueName: 'format',
    value: { kind: 'choice', choices: LOG_FORMATS },
    defaultNote: 'that of the log, else text',
    help: 'format of the query log',
    group: LOG_GROUP,
  },
  {
    name: 'query-log-sample',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 1_000_000, of: 'a number of queries' },
    default: '1',
    help: 'log one in so many queries, at random',
    group: LOG_GROUP,
  },
  {
    name: 'query-log-zone',
    valueName: 'name',
    value: { kind: 'text', of: 'a domain name' },
    repeats: true,
    defaultNote: 'all names',
    help: 'log queries for names at or below this one',
    group: LOG_GROUP,
  },
  {
    name: 'query-log-rcode',
    valueName: 'rcode',
    value: { kind: 'text', of: 'a response code' },
    repeats: true,
    defaultNote: 'all response codes',
    help: 'log queries answered with this response code, as in NXDOMAIN',
    group: LOG_GROUP,
  },
  {
    name: 'query-log-client',
    valueName: 'prefix',
    value: { kind: 'text', of: 'an address, or an address and its prefix length' },
    repeats: true,
    defaultNote: 'all clients',
    help: 'log queries of clients with this address prefix, as in 10.244.1.0/24',
    group: LOG_GROUP,
  },
] as const satisfies readonly Flag[];

export const STATS_FLAG = {
  name: 'stats',
  value: 'none',
  help: 'always count queries, so that the first table of top shows the last minutes',
  details: 'See [Statistics](control-socket.md#statistics).',
  group: LOG_GROUP,
} as const satisfies Flag;

export const CONTROL_FLAGS = [
  {
    name: 'control-socket',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'a place that commands in the same container find',
    help: 'Unix socket on which the server answers portolan control, explain, tail, top and doctor; none: no socket',
    details: 'See [The control socket](control-socket.md).',
    group: LOG_GROUP,
  },
  STATS_FLAG,
] as const satisfies readonly Flag[];
