/**
 * UDP in the best way that the machine offers.
 */
import { batchesAvailable } from '../socket/libc.ts';
import { listenByDatagrams } from './datagram.ts';
import type { InstantAnswers } from './types.ts';
import { listenByBatches, MOST_UNANSWERED, type UdpOptions } from './udp.ts';
import type { UdpListener } from './udp-listener.ts';

/**
 * Serves UDP by batches where they can be had, else on the main thread, which the log then says.
 *
 * @param answers the main thread's own, for the second way
 * @throws PortInUseError, SocketError, AddressError; or what kept the reader threads from starting
 */
export function listenOnUdp(options: UdpOptions, answers: InstantAnswers): Promise<UdpListener> {
  const available = batchesAvailable();
  if (available === true) return listenByBatches(options);
  const { reason } = available;
  const mostUnanswered = options.mostUnanswered ?? MOST_UNANSWERED;
  if (options.takeover) {
    options.log.warn('--takeover has no effect: ports cannot be shared without the C library', {});
  }
  return listenByDatagrams({ ...options, answers, reason, mostUnanswered });
}
