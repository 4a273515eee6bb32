/**
 * Packets that the kernel dropped because the receive buffer of a UDP socket was full, by socket.
 *
 * The kernel's drops depend on the machine: on its buffers, and on how soon it schedules a thread. Tests subtract them, so that they
 * judge only packets that the server received.
 */
import { readFileSync } from 'node:fs';

interface UdpSocket {
  readonly address: string;
  readonly port: number;
  readonly drops: number;
}

const fromHex = (text: string) =>
  Array.from({ length: 4 }, (_, index) => Number.parseInt(text.slice(6 - 2 * index, 8 - 2 * index), 16));

/** The sockets of IPv4 of this network namespace, with what each of them has dropped. */
function readSockets(): readonly UdpSocket[] {
  const lines = readFileSync('/proc/net/udp', 'utf8').trim().split('\n').slice(1);
  return lines.map((line) => {
    const fields = line.trim().split(/\s+/);
    const [address = '', port = ''] = fields[1]?.split(':') ?? [];
    return {
      address: fromHex(address).join('.'),
      port: Number.parseInt(port, 16),
      drops: Number(fields.at(-1)),
    };
  });
}

/** What the sockets for which `counts` holds have dropped since they were opened. */
export function readKernelDrops(counts: (socket: UdpSocket) => boolean): number {
  return readSockets()
    .filter(counts)
    .reduce((sum, { drops }) => sum + drops, 0);
}
