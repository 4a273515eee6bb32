/**
 * What of a plan is otherwise than its reader may expect, to be said at the start.
 */

import type { DnsmasqPlan } from '../../config/dnsmasq/dnsmasq-plan.ts';
import type { Note } from '../../config/dnsmasq/findings.ts';

/** Ports that only root, or who has its capability, may open. */
const FIRST_FREE_PORT = 1024;

/** @param isRoot whether the process is root now, and will be another user */
export function notesOnPlan({ upstreams, listen, process }: DnsmasqPlan, isRoot: boolean): readonly Note[] {
  const notes: Note[] = [];
  if (upstreams.portLimit > 1)
    notes.push({
      where: '--port-limit',
      text: 'It has no effect: every query has a port of its own choice.',
    });
  const leavesRoot = isRoot && process.mode !== 'debug' && ![undefined, 'root'].includes(process.user);
  const isNarrow = listen.interfaces !== 'all' || listen.addresses.length > 0;
  if (
    leavesRoot &&
    listen.port < FIRST_FREE_PORT &&
    listen.bind !== 'interfaces' &&
    (isNarrow || listen.bind === 'dynamic')
  )
    notes.push({
      where: '--user',
      text: `Addresses that come up later cannot be bound to port ${listen.port} by ${process.user}; --user=root can.`,
    });
  return notes;
}
