/**
 * The control socket of a server. What it answers is loaded with the first request, so that it costs a server nothing before.
 */
import type { Log, LogLevel } from '@portolan/kernel/base/log.ts';
import type { ControlPlace } from '@portolan/server/observe/control/control-place.ts';
import { type CarryOut, ControlSocket } from '@portolan/server/observe/control/control-socket.ts';
import type { ExplainEvents } from '@portolan/server/observe/query-events/explained-event.ts';
import type { ControlledServer, LevelHolder } from './control-verbs.ts';
import { HistoryKeeper } from './history-keeper.ts';
import { changesServer } from './settings/control-order.ts';
import { StatisticsKeeper } from './statistics-keeper.ts';

export interface ServerControlOptions extends Omit<ControlledServer, 'statistics' | 'history'> {
  readonly place: ControlPlace;
  /** For refused requests. */
  readonly messages: Log;
}

export interface ServerControl {
  readonly socket: ControlSocket;
  /** Call it when the server has stopped: writes what is not written yet. */
  stop(): Promise<void>;
}

export function createServerControl({ place, messages, ...given }: ServerControlOptions): ServerControl {
  const keeper = new StatisticsKeeper(async () => {
    const { keepStatistics } = await import('./control-verbs.ts');
    return keepStatistics(given);
  }, messages);
  const history = new HistoryKeeper({ server: given.server, clock: given.clock, log: messages });
  given.server.followPlan((plan) => {
    keeper.keep(plan?.keepsStatistics === true);
    history.keep(plan);
  });
  const log = given.log && new FollowedLevel(given.log, messages, given);
  const controlled: ControlledServer = {
    ...given,
    log,
    statistics: () => keeper.current,
    history: () => history.current,
  };
  let verbs: Promise<CarryOut> | undefined;
  let explain: Promise<ExplainEvents> | undefined;
  // Also where there is no socket: a query log needs none.
  controlled.server.queryLog.explainBy(async (events) => {
    explain ??= import('./control-verbs.ts').then(({ createEventExplainer }) =>
      createEventExplainer(controlled),
    );
    return await (await explain)(events);
  });
  // Under a Corefile, the plugin `debug` has the lines of CoreDNS; those of queries come on request.
  if (controlled.server.plan.queryLines === 'server') log?.follow();
  const socket = new ControlSocket({
    place,
    role: controlled.role,
    changes: ({ verb, words }) => changesServer(verb, words),
    async *carryOut(request, signal) {
      verbs ??= import('./control-verbs.ts').then(({ createVerbs }) => createVerbs(controlled));
      yield* (await verbs)(request, signal);
    },
    log: messages,
  });
  return {
    socket,
    async stop() {
      await socket.stop();
      await history.stop();
    },
  };
}

/** The level of the log. While it is `debug`, queries are logged with their steps. */
class FollowedLevel implements LevelHolder {
  readonly #holder: LevelHolder;
  readonly #log: Log;
  readonly #controlled: Pick<ControlledServer, 'server' | 'clock'>;
  /** Ends what was begun, or will begin. */
  #end: (() => void) | undefined;

  constructor(holder: LevelHolder, log: Log, controlled: Pick<ControlledServer, 'server' | 'clock'>) {
    this.#holder = holder;
    this.#log = log;
    this.#controlled = controlled;
  }

  get level(): LogLevel {
    return this.#holder.level;
  }

  set level(level: LogLevel) {
    this.#holder.level = level;
    this.follow();
  }

  /** Begins or ends the lines of queries. */
  follow(): void {
    if (this.level !== 'debug') {
      this.#end?.();
      this.#end = undefined;
    } else if (this.#end === undefined) {
      const ending = new AbortController();
      this.#end = () => ending.abort();
      void import('./debug-lines.ts').then(({ logQueries }) =>
        logQueries(this.#controlled, this.#log, ending.signal),
      );
    }
  }
}
