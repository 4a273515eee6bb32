/**
 * A packet filter, and ACCEPT rules in iptables wherever that may drop queries of pods: what one filter accepts another one may drop.
 *
 * What keeps packets from the Service stands in the first filter, which is nftables where there is one. It comes last and goes first, so
 * that no query is taken from the Service that iptables would drop. An ACCEPT that outlives us takes no query from anybody.
 */
import type { Log } from '../../base/log.ts';
import { findDrop } from './iptables-drops.ts';
import { IptablesFilter, type IptablesFilterOptions } from './iptables-filter.ts';
import { hasTable, type IptablesPrograms } from './iptables-programs.ts';
import type { PacketFilter } from './packet-filter.ts';
import { ProgramError } from './run-program.ts';

/** Rules that packets pass cannot be read: whether they drop queries of pods is not known. */
export class UnreadRulesError extends ProgramError {}

export interface AcceptingFilterOptions extends IptablesFilterOptions {
  /** Takes all of the rules. */
  readonly filter: PacketFilter;
  /** Variants of iptables that packets pass beside that filter. */
  readonly others: readonly IptablesPrograms[];
  /** Whether ACCEPT rules are set there; otherwise there is a warning. */
  readonly accepts: boolean;
  readonly log: Log;
}

export class AcceptingFilter implements PacketFilter {
  readonly #options: AcceptingFilterOptions;
  /** By program, in those variants that were seen to drop: they stay until the end, whatever becomes of what drops. */
  readonly #accepting = new Map<string, IptablesFilter>();
  /** Programs with the messages that the log has had of them. */
  readonly #reported = new Set<string>();

  constructor(options: AcceptingFilterOptions) {
    this.#options = options;
  }

  get name(): string {
    return [this.#options.filter.name, ...this.acceptsIn].join(' and ');
  }

  get isSet(): boolean {
    return this.#options.filter.isSet && [...this.#accepting.values()].every(({ isSet }) => isSet);
  }

  /** The programs of variants with ACCEPT rules of ours. */
  get acceptsIn(): ReadonlySet<string> {
    return new Set(this.#accepting.keys());
  }

  /**
   * A firewall may come later, or remove all rules: what drops is looked for each time.
   *
   * @throws UnreadRulesError where it cannot be known
   */
  async set(): Promise<boolean> {
    const { others, filter } = this.#options;
    for (const programs of others) if (!this.#accepting.has(programs.program)) await this.#check(programs);
    let wasIncomplete = false;
    try {
      for (const each of this.#accepting.values()) wasIncomplete = (await each.set()) || wasIncomplete;
    } catch (error) {
      await filter.remove();
      throw error;
    }
    return (await filter.set()) || wasIncomplete;
  }

  async remove(): Promise<void> {
    await this.#options.filter.remove();
    const removals = [...this.#accepting.values()].map((each) => each.remove());
    for (const outcome of await Promise.allSettled(removals))
      if (outcome.status === 'rejected') throw outcome.reason;
  }

  leave(): void {
    this.#options.filter.leave();
    for (const each of this.#accepting.values()) each.leave();
  }

  async #check(programs: IptablesPrograms): Promise<void> {
    const { program } = programs;
    const { accepts, rules } = this.#options;
    const rule = await this.#findDropIn(programs);
    if (rule === undefined) return;
    if (!accepts) {
      const remedy = 'Give --rules=auto, which sets ACCEPT rules there.';
      this.#report(program, 'iptables may drop queries of pods', { rule, remedy });
      return;
    }
    this.#report(program, 'iptables may drop queries of pods: ACCEPT rules are set there', { rule });
    const own = rules.filter(({ verdict }) => verdict === 'accept');
    this.#accepting.set(program, new IptablesFilter(programs, { ...this.#options, rules: own }));
  }

  async #findDropIn(programs: IptablesPrograms): Promise<string | undefined> {
    const { endpoints, run } = this.#options;
    if (!(await hasTable(programs, 'filter'))) return undefined;
    try {
      return findDrop(await run({ program: programs.save, words: ['-t', 'filter'] }), endpoints);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      // The legacy variant has the table, so packets pass it: without CAP_NET_RAW it cannot be read.
      if (this.#options.accepts && programs.tablesFile !== undefined)
        throw new UnreadRulesError(
          `${error.message}; give the container NET_RAW, or --rules=nft where no firewall drops`,
        );
      this.#report(programs.program, 'rules of iptables not read', { reason: error.message });
      return undefined;
    }
  }

  #report(program: string, message: string, fields: Readonly<Record<string, string>>): void {
    const key = `${program} ${message}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#options.log.warn(message, { program, ...fields });
  }
}
