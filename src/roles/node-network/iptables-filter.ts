/**
 * The rules of a node's cache in iptables: what is missing is set by one call, which waits for the lock of xtables.
 *
 * They would outlive us. A shell beside ours removes them when we end in any way, so that they do not send packets to a port without
 * a server; where it is killed with us, the next process does before it starts to serve.
 */
import type { Clock } from '../../base/clock.ts';
import type { IptablesPrograms } from './iptables-programs.ts';
import { IptablesRules } from './iptables-rules.ts';
import type { PacketFilter } from './packet-filter.ts';
import type { LocalEndpoints, PacketRule } from './packet-rules.ts';
import { RulesWatcher } from './rules-watcher.ts';
import type { RunProgram } from './run-program.ts';

export interface IptablesFilterOptions {
  /** Those of the endpoints that are kept here. */
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
    const [address = ''] = endpoints.addresses;
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
    // Before there are rules that it would have to remove.
    this.#watcher.start();
    await this.#rules.add(missing);
    this.#isSet = true;
    return missing.length > 0;
  }

  async remove(): Promise<void> {
    await this.#rules.remove();
    this.#isSet = false;
    // Where they cannot be removed now, it tries on after our end.
    this.#watcher.stop();
  }

  leave(): void {
    this.#watcher.stop();
  }
}
