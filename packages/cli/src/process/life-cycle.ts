/**
 * The life of a server and its companions, in one order for every role.
 *
 * Start:
 *
 * 1. Companions `start` in their order: what answers health checks and operators comes first, since a server may wait for its cluster.
 * 2. The server starts. A stop signal ends this wait at once.
 * 3. `settle`: the server answers, so the process writes its pid file, drops its rights and prints its banner.
 * 4. Companions `serve` in their order.
 *
 * Stop:
 *
 * 1. Companions `leave` in their order, if the server answered: they hand over their work while it still answers.
 * 2. The server stops: it serves for its lameduck time, finishes its queries and closes its sockets.
 * 3. Companions `stop` in the reverse order. So the last records reach a collector while the control socket still shows what the process
 *    waits for, and the control socket goes last of what an operator sees.
 *
 * Every step of the stop is taken, also after a failed start and after a step that fails.
 */
import type { StopRequest } from './stop-request.ts';

/** A part of a server process beside the server. */
export interface Companion {
  /** Before the server starts. @throws the reason why the process cannot run */
  start?(): Promise<void>;
  /** The server answers queries. The next companion waits, so work that takes time goes on by itself. */
  serve?(): void | Promise<void>;
  /** The server is about to stop, and waits. Not called if it never answered. */
  leave?(): void | Promise<void>;
  /** The server has stopped. Called in any case, also without `start` and `serve`. */
  stop?(): void | Promise<void>;
}

export interface Life {
  readonly server: { start(): Promise<void>; stop(): Promise<void> };
  readonly companions: readonly Companion[];
  readonly stop: StopRequest;
  /** Called once the server answers, before the companions serve. @throws the reason why the process cannot go on */
  readonly settle?: (() => void) | undefined;
}

/**
 * Resolves when all have stopped after a stop signal.
 *
 * @throws the first failure, once all have stopped
 */
export async function runLifeCycle(life: Life): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (step: () => void | Promise<void>) => {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  };
  await attempt(() => liveUntilStopped(life, attempt));
  await attempt(() => life.server.stop());
  for (const companion of life.companions.toReversed()) await attempt(() => companion.stop?.());
  if (failures.length > 0) throw failures[0];
}

async function liveUntilStopped(
  { server, companions, stop, settle }: Life,
  attempt: (step: () => void | Promise<void>) => Promise<void>,
): Promise<void> {
  for (const companion of companions) await companion.start?.();
  const isServing = await stop.race(server.start().then(() => true));
  if (isServing !== true) return;
  settle?.();
  for (const companion of companions) await companion.serve?.();
  await stop.signal;
  for (const companion of companions) await attempt(() => companion.leave?.());
}
