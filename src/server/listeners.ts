/**
 * All sockets that answer DNS: UDP by batches or by datagrams, and TCP, on the same addresses.
 */
import { networkInterfaces } from 'node:os';
import type { ListenPlan } from '../config/plan.ts';
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { listenByDatagrams } from '../listen/datagram.ts';
import { listenOnTcp, type TcpCounts, type TcpListener } from '../listen/tcp.ts';
import type { AnswerInOctets, AnswerSlowly, InstantAnswers } from '../listen/types.ts';
import { listenByBatches } from '../listen/udp.ts';
import type { UdpCounts, UdpListener } from '../listen/udp-listener.ts';
import { formatSocketAddress, type SocketAddress } from '../socket/addresses.ts';
import { batchesAvailable } from '../socket/libc.ts';

export interface ListenersOptions {
  readonly plan: ListenPlan;
  readonly table: SharedArrayBuffer;
  /** The main thread's own look-ups. */
  readonly answers: InstantAnswers;
  readonly answerSlowly: AnswerSlowly;
  /** Asked before `answerSlowly`, for what came by batches. */
  readonly answerInOctets: AnswerInOctets;
  /** A reader's thread is gone: its epoch must be evened. */
  readonly onReaderDead: (reader: number) => void;
  /** The built code of a reader thread. */
  readonly readerEntry: URL;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Listeners {
  /** `127.0.0.1:53`, with commas between several. */
  readonly addresses: string;
  readonly udpReaders: number;
  udp(): UdpCounts;
  tcp(): TcpCounts;
  /** Leaves without losing what others of the port could answer, or what was received. */
  stop(): Promise<void>;
}

/** The largest answer by UDP that no path breaks into fragments (what the DNS flag day of 2020 agreed on). */
const UDP_LIMIT = 1232;
/** How long answers that are under way may take when the server stops. */
const GRACE_MILLISECONDS = 2_000;

/**
 * Opens all sockets, or none.
 *
 * @throws PortInUseError, SocketError, AddressError
 */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const { plan, answers, answerSlowly, clock, log } = options;
  const { takeover } = plan;
  const batches = batchesAvailable();
  const native = batches === true;
  if (!native) reportSlowness(batches.reason, takeover, log);
  const addresses = addressesOf(plan);
  const tcp = await listenOnTcp({ addresses, takeover, native, answers, answerSlowly, clock, log });
  try {
    const shared = { addresses, answerSlowly, udpLimit: UDP_LIMIT, clock, log };
    const udp = native
      ? await listenByBatches({ ...shared, ...readersOf(options) })
      : await listenByDatagrams({ ...shared, answers });
    return combine(udp, tcp);
  } catch (error) {
    await tcp.stop(0);
    throw error;
  }
}

function reportSlowness(reason: string, takeover: boolean, log: Log): void {
  log.warn('UDP packets are served one by one, which is slower', { reason });
  if (takeover) log.warn('--takeover has no effect: ports cannot be shared here', { reason });
}

function readersOf({ plan, table, answerInOctets, readerEntry, onReaderDead }: ListenersOptions) {
  const { takeover, udpReaders } = plan;
  const threads = { readers: udpReaders, firstReader: 0, threadEntry: readerEntry, onReaderDead };
  return { takeover, table, answerInOctets, ...threads };
}

function combine(udp: UdpListener, tcp: TcpListener): Listeners {
  return {
    addresses: udp.endpoints.map(formatSocketAddress).join(','),
    udpReaders: udp.count().readers.length,
    udp: () => udp.count(),
    tcp: () => tcp.count(),
    async stop() {
      await Promise.all([udp.stop(GRACE_MILLISECONDS), tcp.stop(GRACE_MILLISECONDS)]);
    },
  };
}

function addressesOf({ addresses, port }: ListenPlan): readonly SocketAddress[] {
  const named = addresses === 'all' ? wildcards() : addresses;
  return named.map((address) => ({ address, port }));
}

/** IPv6 may be switched off, and then nothing can be bound to its wildcard. */
function wildcards(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.some(({ family }) => family === 'IPv6') ? ['0.0.0.0', '::'] : ['0.0.0.0'];
}
