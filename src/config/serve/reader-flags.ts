/**
 * The flags of `portolan serve` about the threads that answer UDP.
 */
import { MAX_READERS } from '../../table/writer.ts';
import type { Flag } from '../flags/flag.ts';
import { LISTEN } from './client-flags.ts';

/** The table has `MAX_READERS` slots; the main thread takes one. */
const MAX_UDP_READERS = MAX_READERS - 1;

export const READER_FLAGS = [
  {
    name: 'udp-readers',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: MAX_UDP_READERS, of: 'a number of threads' },
    defaultNote: 'one per core, 1 to 16',
    help: `threads that answer UDP at most, 1 to ${MAX_UDP_READERS}`,
    details: 'One is started first, others when they are needed. A CPU quota counts as that many cores.',
    group: LISTEN,
  },
  {
    name: 'udp-coalesce',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '0',
    help: 'time for which a thread that got a single packet waits for more',
    details:
      'As `100us`, up to 10ms: fewer wake-ups take less processor time, and answers come that much later.',
    group: LISTEN,
  },
] as const satisfies readonly Flag[];
