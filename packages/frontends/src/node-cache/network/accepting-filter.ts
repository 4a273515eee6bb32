/**
 * A packet filter, with ACCEPT rules in iptables where iptables may drop queries of pods: a packet must pass every filter.
 *
 * The rules that keep packets from the Service are in the first filter, nftables if available. They are set last and removed first, so
 * that iptables never drops a query that was taken from the Service. An ACCEPT that outlives us does no harm.
 */
import type { Log } from '@portolan/kernel/base/log.ts';
import { ProgramError } from '@portolan/kernel/base/run-program.ts';
import { findDrop } from './iptables-drops.ts';
import { IptablesFilter, type IptablesFilterOptions } from './iptables-filter.ts';
import { hasTable, type IptablesPrograms, toIpVersion } from './iptables-programs.ts';
import type { PacketFilter } from './packet-filter.ts';

/** Packets of pods do not arrive, although no filter that is read drops them. */
export class BlockedPathError extends ProgramError {}

/** Some rules cannot be read, so it is unknown whether they drop queries of pods. */
export class UnreadRulesError extends ProgramError {}

export interface AcceptingFilterOptions extends IptablesFilterOptions {
  /** Gets all of the rules. */
  readonly filter: PacketFilter;
  /** Variants of iptables that packets also pass. */
  readonly others: readonly IptablesPrograms[];
  /** Whether to set ACCEPT rules there; otherwise only warn. */
  readonly accepts: boolean;
  /**
   * Where packets of pods get no answer although iptables accepts them, before any rule diverts packets; undefined: nowhere, as far as is
   * known. Never rejects.
   */
  readonly findBlocked: () => Promise<string | undefined>;
  readonly log: Log;
}

export class AcceptingFilter implements PacketFilter {
  readonly #options: AcceptingFilterOptions;
  /** By program, the ACCEPT rules in variants that were seen to drop: they stay until the end, even if the drops disappear. */
  readonly #accepting = new Map<string, IptablesFilter>();
  /** Programs with the messages already logged. */
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

  /** The programs of variants with Portolan's ACCEPT rules. */
  get acceptsIn(): ReadonlySet<string> {
    return new Set(this.#accepting.keys());
  }

  /**
   * Looks for drops each time: a firewall may start later, or remove all rules.
   *
   * @throws UnreadRulesError if the rules cannot be read
   * @throws BlockedPathError if packets of pods would get no answer
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
    if (!filter.isSet) await this.#failIfBlocked();
    return (await filter.set()) || wasIncomplete;
  }

  async #failIfBlocked(): Promise<void> {
    const blocked = await this.#options.findBlocked();
    if (blocked === undefined) return;
    const remedy = 'allow port 53 of the local addresses in the packet filter of the node';
    throw new BlockedPathError(`packets of pods get no answer: ${blocked}; ${remedy}`);
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
    const addresses = endpoints.addresses.filter((address) => toIpVersion(address) === programs.family);
    try {
      return findDrop(await run({ program: programs.save, words: ['-t', 'filter'] }), {
        ...endpoints,
        addresses,
      });
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      // The legacy variant has the table, so packets pass it, but it cannot be read without CAP_NET_RAW.
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
