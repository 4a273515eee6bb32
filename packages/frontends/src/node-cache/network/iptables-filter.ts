/**
 * The rules of a node's cache in iptables: one call sets the missing rules and waits for the xtables lock.
 *
 * They would outlive us. A separate shell removes them when we end in any way, so that they do not send packets to a port without
 * a server. If the shell is killed with us, the next process removes them before it starts to serve.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { RunProgram } from '@portolan/kernel/base/run-program.ts';
import { type IptablesPrograms, toIpVersion } from './iptables-programs.ts';
import { IptablesRules } from './iptables-rules.ts';
import type { PacketFilter } from './packet-filter.ts';
import type { LocalEndpoints, PacketRule } from './packet-rules.ts';
import { RulesWatcher } from './rules-watcher.ts';

export interface IptablesFilterOptions {
  /** The rules of the endpoints that are kept here. */
  readonly rules: readonly PacketRule[];
  readonly endpoints: LocalEndpoints;
  readonly run: RunProgram;
  readonly clock: Clock;
}

export class IptablesFilter implements PacketFilter {
  readonly name: string;
  readonly #rules: IptablesRules;
  readonly #watcher: RulesWatcher;
  #isSet = false;

  constructor(programs: IptablesPrograms, { rules, endpoints, run, clock }: IptablesFilterOptions) {
    this.name = programs.program;
    this.#rules = new IptablesRules(programs, rules, run);
    const address = endpoints.addresses.find((each) => toIpVersion(each) === programs.family) ?? '';
    this.#watcher = new RulesWatcher({
      removal: this.#rules.removal,
      endpoint: { address, port: endpoints.dnsPort },
      onRemoved: () => {
        this.#isSet = false;
      },
      clock,
    });
  }

  get isSet(): boolean {
    return this.#isSet;
  }

  async set(): Promise<boolean> {
    const missing = await this.#rules.findMissing();
    // Start it before the rules exist that it may have to remove.
    this.#watcher.start();
    await this.#rules.add(missing);
    this.#isSet = true;
    return missing.length > 0;
  }

  async remove(): Promise<void> {
    await this.#rules.remove();
    this.#isSet = false;
    // Stop it only after the removal: otherwise it tries again after our end.
    this.#watcher.stop();
  }

  leave(): void {
    this.#watcher.stop();
  }
}
