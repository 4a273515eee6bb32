/**
 * Finds queries that the network refused: the kernel keeps packets that an ICMP message came back for.
 */
import { PacketBatch } from '../../socket/batch.ts';
import { MSG_DONTWAIT, MSG_ERRQUEUE } from '../../socket/linux.ts';

/** The first octets of a packet are enough. */
const OCTETS = 64;

export class RefusedQueries {
  readonly #batch = new PacketBatch(OCTETS);

  /** Reads the ids of refused queries from a socket, some at a time. */
  read(fd: number, onRefused: (id: number) => void): void {
    const batch = this.#batch;
    const count = batch.receive(fd, MSG_DONTWAIT | MSG_ERRQUEUE);
    for (let index = 0; index < count; index++) {
      const at = batch.startOf(index);
      if (batch.lengthOf(index) >= 2) onRefused(((batch.octets[at] ?? 0) << 8) | (batch.octets[at + 1] ?? 0));
    }
  }
}
