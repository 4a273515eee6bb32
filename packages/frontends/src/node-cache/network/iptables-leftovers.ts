/**
 * Rules of a node's cache in iptables without a process: their process was killed together with its watcher, was configured to
 * leave them, or left them to a successor that uses nftables. The original node-cache leaves such rules too.
 */
import { ProgramError, type RunProgram } from '@portolan/kernel/base/run-program.ts';
import { hasTable, type IptablesPrograms } from './iptables-programs.ts';
import { IptablesRules } from './iptables-rules.ts';
import type { PacketRule } from './packet-rules.ts';

export class IptablesLeftovers {
  readonly #installed: readonly IptablesPrograms[];
  readonly #rules: readonly PacketRule[];
  readonly #run: RunProgram;

  constructor(installed: readonly IptablesPrograms[], rules: readonly PacketRule[], run: RunProgram) {
    this.#installed = installed;
    this.#rules = rules;
    this.#run = run;
  }

  /** Whether any variant of iptables has a rule that keeps packets from the Service. An ACCEPT does not. */
  async areThere(): Promise<boolean> {
    for (const programs of this.#installed) if (await this.#areIn(programs, 'raw')) return true;
    return false;
  }

  /**
   * @param acceptsIn programs of the variants whose ACCEPT rules stay
   * @returns the number removed
   * @throws ProgramError if existing rules cannot be removed
   */
  async remove(acceptsIn: ReadonlySet<string> = new Set()): Promise<number> {
    let count = 0;
    for (const programs of this.#installed) {
      const tables = acceptsIn.has(programs.program) ? (['raw'] as const) : (['raw', 'filter'] as const);
      for (const table of tables)
        if (await this.#areIn(programs, table)) count += await this.#rulesIn(programs, table).remove();
    }
    return count;
  }

  /** A variant that the kernel does not support has no rules. */
  async #areIn(programs: IptablesPrograms, table: PacketRule['table']): Promise<boolean> {
    if (!(await hasTable(programs, table))) return false;
    try {
      return await this.#rulesIn(programs, table).areThere();
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      return false;
    }
  }

  #rulesIn(programs: IptablesPrograms, table: PacketRule['table']): IptablesRules {
    const rules = this.#rules.filter((rule) => rule.table === table);
    return new IptablesRules(programs, rules, this.#run);
  }
}
