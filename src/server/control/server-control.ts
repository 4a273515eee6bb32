/**
 * The control socket of a server. What it answers is loaded with the first request, so that it costs a server nothing before.
 */
import type { Log } from '../../base/log.ts';
import type { ControlPlace } from '../../observe/control/control-place.ts';
import { type CarryOut, ControlSocket } from '../../observe/control/control-socket.ts';
import type { ExplainEvents } from '../../observe/query-events/explained-event.ts';
import type { ControlledServer } from './control-verbs.ts';
import { StatisticsKeeper } from './statistics-keeper.ts';

export interface ServerControlOptions extends Omit<ControlledServer, 'statistics'> {
  readonly place: ControlPlace;
  /** For refused requests. */
  readonly messages: Log;
}

export function createServerControl({ place, messages, ...given }: ServerControlOptions): ControlSocket {
  const keeper = new StatisticsKeeper(async () => {
    const { keepStatistics } = await import('./control-verbs.ts');
    return keepStatistics(given);
  });
  given.server.followPlan((plan) => keeper.keep(plan?.keepsStatistics === true));
  const controlled: ControlledServer = { ...given, statistics: () => keeper.current };
  let verbs: Promise<CarryOut> | undefined;
  let explain: Promise<ExplainEvents> | undefined;
  // Also where there is no socket: a query log needs none.
  controlled.server.queryLog.explainBy(async (events) => {
    explain ??= import('./control-verbs.ts').then(({ createEventExplainer }) =>
      createEventExplainer(controlled),
    );
    return await (await explain)(events);
  });
  return new ControlSocket({
    place,
    role: controlled.role,
    async *carryOut(request, signal) {
      verbs ??= import('./control-verbs.ts').then(({ createVerbs }) => createVerbs(controlled));
      yield* (await verbs)(request, signal);
    },
    log: messages,
  });
}
