/**
 * The plugin `log` for queries that readers answer. The readers of a listener group write events to rings, which are read here every
 * few milliseconds. Queries that plugins answer are logged by the plugin itself.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { RateLimitedWarnings } from '../base/rate-limited-warning.ts';
import { type GroupPlan, optionsOf, type ServerBlocksPlan } from '../config/server/server-blocks-plan.ts';
import { type QueryEvent, QueryEventReader } from '../listen/query-events/event-reader.ts';
import { EVENT_MODE } from '../listen/query-events/event-ring.ts';
import { QueryEventRings } from '../listen/query-events/event-rings.ts';
import {
  compileEventLines,
  type EventLines,
  joinInfoLines,
  nameOfEvent,
} from '../observe/query-events/coredns-lines.ts';
import { EventLog, type EventSource } from '../observe/query-events/event-log.ts';
import { parentOf } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';

interface LoggedGroup extends EventSource<LoggedRead> {
  readonly rings: QueryEventRings;
  /** By zone; undefined: its block has no `log`. Empty: no block has one. */
  zones: ReadonlyMap<NameKey, EventLines | undefined>;
}

interface LoggedRead {
  readonly event: QueryEvent;
  readonly zones: LoggedGroup['zones'];
}

export class ReaderLog {
  readonly #log: Log;
  readonly #groups = new Map<string, LoggedGroup>();
  readonly #events: EventLog<LoggedRead>;

  constructor(clock: Clock, log: Log) {
    const warnings = new RateLimitedWarnings(log, clock);
    this.#log = log;
    this.#events = new EventLog({
      clock,
      timeOf: ({ event }) => event.received,
      write: (entries) => this.#write(entries),
      dropped: (lines) => warnings.warn('plugin/log: lines left out, since there were too many', { lines }),
    });
  }

  /** Makes the rings for the readers of a group before it listens. */
  open(server: string, count: number): QueryEventRings {
    const rings = new QueryEventRings(count);
    const readers = rings.all.slice(0, count).map((memory) => new QueryEventReader(memory));
    const group: LoggedGroup = {
      ...{ rings, readers, zones: new Map() },
      entryOf: (event) => ({ event, zones: group.zones }),
    };
    this.#groups.set(server, group);
    this.#events.follow(group);
    return rings;
  }

  /** Writes the remaining lines of a group after its readers have ended. */
  close(server: string): void {
    const group = this.#groups.get(server);
    if (group !== undefined) this.#events.leave(group);
    this.#groups.delete(server);
    this.#pollOrRest();
  }

  /** Writes pending lines of readers before the plugin logs a query, to keep the order. */
  catchUp(): void {
    this.#events.catchUp();
  }

  /** The rings of the readers of all groups. */
  get rings(): readonly QueryEventRings[] {
    return Array.from(this.#groups.values(), ({ rings }) => rings);
  }

  /** Whether a group has a block with `log`. */
  isLogged(server: string): boolean {
    return (this.#groups.get(server)?.zones.size ?? 0) > 0;
  }

  /** Logs by the rules of these blocks from now on. */
  follow({ groups, blocks }: Pick<ServerBlocksPlan, 'groups' | 'blocks'>): void {
    this.#events.takeAll();
    for (const plan of groups) {
      const group = this.#groups.get(plan.server);
      if (group === undefined) continue;
      group.zones = linesByZone(plan, blocks);
      group.rings.setReaderMode(group.zones.size === 0 ? EVENT_MODE.OFF : EVENT_MODE.RESPONSES);
      if (group.zones.size === 0) group.rings.consumerEnded();
    }
    this.#pollOrRest();
  }

  #pollOrRest(): void {
    if ([...this.#groups.keys()].some((server) => this.isLogged(server))) this.#events.start();
    else this.#events.rest();
  }

  #write(entries: readonly LoggedRead[]): void {
    const lines = entries.flatMap(({ event, zones }) => lineOf(event, zones) ?? []);
    if (lines.length > 0) this.#log.info(joinInfoLines(lines));
  }
}

/** Empty if no block logs. */
function linesByZone(
  { address = '', sites }: GroupPlan,
  blocks: ServerBlocksPlan['blocks'],
): LoggedGroup['zones'] {
  const zones = new Map<NameKey, EventLines | undefined>();
  for (const { zone, block } of sites) {
    const rules = optionsOf(blocks[block], 'log')?.rules;
    const maxUdpSize = optionsOf(blocks[block], 'bufsize')?.size ?? Number.POSITIVE_INFINITY;
    // The first block of a zone answers its queries.
    if (!zones.has(zone)) zones.set(zone, rules && compileEventLines({ rules, address, maxUdpSize }));
  }
  return [...zones.values()].some((lines) => lines !== undefined) ? zones : new Map();
}

function lineOf(event: QueryEvent, zones: LoggedGroup['zones']): string | undefined {
  const name = zones.size === 0 ? undefined : nameOfEvent(event);
  for (let at = name; at !== undefined && name !== undefined; at = parentOf(at))
    if (zones.has(at)) return zones.get(at)?.write(event, name);
  return undefined;
}
