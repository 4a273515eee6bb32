/**
 * Whether the kernel takes batches of packets from this process. The C library always has `recvmmsg` and `sendmmsg`, but a strict seccomp
 * profile or a sandbox may refuse them.
 *
 * A socket sends a packet to itself by a batch, and receives by one. Only a refused call counts: where there is no loopback interface, or
 * a packet filter drops the packet, nothing is known, and batches fail no more than other calls do.
 */
import { encodeSocketAddress } from './addresses.ts';
import { bindDescriptor, closeDescriptor, openDescriptor } from './descriptor.ts';
import { batchesAvailable, libc } from './libc.ts';
import { EAGAIN, MSG_DONTWAIT, SOCK_DGRAM } from './linux.ts';
import { MessageRow } from './message-row.ts';

export type BatchVerdict = true | { readonly reason: string };

const LOOPBACKS = ['127.0.0.1', '::1'];
const PACKET = Uint8Array.of(0);

let verdict: BatchVerdict | undefined;

/** Whether batches work on this machine, for this process; tried once. @returns `true`, or the reason why not */
export function batchesWork(): BatchVerdict {
  verdict ??= tryBatches();
  return verdict;
}

function tryBatches(): BatchVerdict {
  const available = batchesAvailable();
  return available === true ? probeBatches() : available;
}

function probeBatches(): BatchVerdict {
  for (const address of LOOPBACKS) {
    const fd = openOwnPeer(address);
    if (fd === undefined) continue;
    try {
      return probeSocket(fd);
    } finally {
      closeDescriptor(fd);
    }
  }
  return true;
}

/** Opens a socket that is connected to itself; undefined: the machine has no such address. */
function openOwnPeer(address: string): number | undefined {
  try {
    const endpoint = { address, port: 0 };
    const bound = bindDescriptor(openDescriptor(endpoint, SOCK_DGRAM), endpoint, 'udp', 'alone');
    const peer = encodeSocketAddress(bound.endpoint);
    if (libc().connect(bound.fd, peer, peer.length) === 0) return bound.fd;
    closeDescriptor(bound.fd);
    return undefined;
  } catch {
    return undefined;
  }
}

function probeSocket(fd: number): BatchVerdict {
  const row = new MessageRow(1, PACKET.length, 'connected');
  row.setLength(0, PACKET.length);
  let refusal = 0;
  row.send(fd, 1, {
    skips(_, errno) {
      refusal = errno;
      return true;
    },
  });
  // Refused as a batch only, not by the network.
  if (refusal !== 0 && libc().send(fd, PACKET, PACKET.length, MSG_DONTWAIT) === PACKET.length)
    return { reason: `sendmmsg: ${libc().errorName(refusal)}` };
  const received = row.receive(fd, MSG_DONTWAIT);
  return received < 0 && -received !== EAGAIN ? { reason: `recvmmsg: ${libc().errorName(-received)}` } : true;
}
