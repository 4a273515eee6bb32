/**
 * Notes for the log at start about settings that behave differently than users may expect.
 */
import type { DnsmasqPlan } from '../settings/dnsmasq-plan.ts';
import type { Note } from '../settings/findings.ts';

/** Ports below this one need root or a capability. */
const FIRST_FREE_PORT = 1024;

/** @param isRoot whether the process is root now and will drop it */
export function notesOnPlan(
  { upstreams, listen, process, nftset }: DnsmasqPlan,
  isRoot: boolean,
): readonly Note[] {
  const notes: Note[] = [];
  if (upstreams.portLimit > 1)
    notes.push({
      where: '--port-limit',
      text: 'It has no effect: every query has a port of its own choice.',
    });
  const leavesRoot = isRoot && process.mode !== 'debug' && ![undefined, 'root'].includes(process.user);
  if (leavesRoot && nftset.length > 0)
    notes.push({
      where: '--nftset',
      text: 'The process stays root, since no thread of another user may change sets. In a container, NET_ADMIN is all it needs.',
    });
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
