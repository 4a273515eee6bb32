/**
 * The rings of events of listener groups under a Corefile, and the rules of `log` for what their readers answer. The plugin itself notes
 * the lines of what other plugins answer.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { findPluginOptions } from '@portolan/kernel/contract/plugin-use.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import type { GroupPlan, ServerBlocksPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { bufsize } from '@portolan/plugins/bufsize/plugin.ts';
import { log } from '@portolan/plugins/log/plugin.ts';
import type { LineRules, LoggedZone } from './observe/query-events/event-lines.ts';
import { COREDNS_NOTES, type LoggedRings } from './observe/query-events/query-log.ts';

export class CorefileLogRings {
  readonly #main: QueryEventRings;
  readonly #changed: (rings: readonly LoggedRings[]) => void;
  /** By the name of the group. */
  readonly #groups = new Map<string, QueryEventRings>();
  /** Those of the plan; groups that no block logs have none. */
  #lines: ReadonlyMap<string, LineRules> = new Map();

  /**
   * @param main the ring of the main thread, for all groups
   * @param changed called with all rings when groups or their rules change
   */
  constructor(main: QueryEventRings, changed: (rings: readonly LoggedRings[]) => void) {
    this.#main = main;
    this.#changed = changed;
  }

  /** Makes the rings for the readers of groups before they listen. @param groups the number of readers, by the name of the group */
  open(groups: ReadonlyMap<string, number>): void {
    for (const [server, readers] of groups) this.#groups.set(server, new QueryEventRings(readers));
    this.#tell();
  }

  /** Call this when the readers of the groups have ended. */
  close(servers: readonly string[]): void {
    const closed = servers.filter((server) => this.#groups.delete(server));
    if (closed.length > 0) this.#tell();
  }

  get rings(): readonly QueryEventRings[] {
    return [...this.#groups.values()];
  }

  /** The rings of a group. The main thread writes there what it answers from the table; undefined: the group is closed. */
  findRings(server: string): QueryEventRings | undefined {
    return this.#groups.get(server);
  }

  /** Logs by the rules of these blocks from now on. */
  follow({ groups, blocks }: Pick<ServerBlocksPlan, 'groups' | 'blocks'>): void {
    this.#lines = new Map(
      groups.flatMap((group) => {
        const lines = makeLineRules(group, blocks);
        return lines === undefined ? [] : [[group.server, lines] as const];
      }),
    );
    this.#tell();
  }

  #tell(): void {
    const groups = Array.from(this.#groups, ([server, rings]) => ({ rings, lines: this.#lines.get(server) }));
    const notes = this.#lines.size === 0 ? undefined : COREDNS_NOTES;
    this.#changed([{ rings: this.#main, lines: notes }, ...groups]);
  }
}

/** Undefined if no block logs. */
function makeLineRules(
  { address = '', sites }: GroupPlan,
  blocks: ServerBlocksPlan['blocks'],
): LineRules | undefined {
  const zones = new Map<NameKey, LoggedZone | undefined>();
  for (const { zone, block } of sites) {
    const rules = findPluginOptions(blocks[block]?.plugins, log)?.rules;
    const maxUdpSize = findPluginOptions(blocks[block]?.plugins, bufsize)?.size ?? Number.POSITIVE_INFINITY;
    // The first block of a zone answers its queries.
    if (!zones.has(zone)) zones.set(zone, rules && { rules, address, maxUdpSize });
  }
  const isLogged = [...zones.values()].some((rules) => rules !== undefined);
  return isLogged ? { kind: 'coredns', zones: [...zones] } : undefined;
}
