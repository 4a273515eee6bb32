/**
 * Rules of a node's cache that stand in iptables and belong to no process: of one that was killed together with what watched over it,
 * was told to leave them, or left them to a successor that keeps its own in nftables. The original node-cache leaves such rules too.
 */
import { readFile } from 'node:fs/promises';
import { type IptablesPrograms, variantsOf } from './iptables-programs.ts';
import { IptablesRules } from './iptables-rules.ts';
import type { PacketRule } from './packet-rules.ts';
import { ProgramError, type RunProgram } from './run-program.ts';

export class IptablesLeftovers {
  readonly #rules: readonly PacketRule[];
  readonly #run: RunProgram;

  constructor(rules: readonly PacketRule[], run: RunProgram) {
    this.#rules = rules;
    this.#run = run;
  }

  /** Whether there is a rule in any variant of iptables. */
  async areThere(): Promise<boolean> {
    for (const programs of this.#variants()) if ((await this.#findIn(programs)) !== undefined) return true;
    return false;
  }

  /** @returns how many there were @throws ProgramError if some are there and cannot be removed */
  async remove(): Promise<number> {
    let count = 0;
    // One by one: one name is a link to one of the others.
    for (const programs of this.#variants()) count += (await (await this.#findIn(programs))?.remove()) ?? 0;
    return count;
  }

  #variants(): readonly IptablesPrograms[] {
    return variantsOf(this.#rules[0]?.address.includes(':') ? 6 : 4);
  }

  /** A variant that is not installed, or that the kernel does not have, holds no rules. */
  async #findIn(programs: IptablesPrograms): Promise<IptablesRules | undefined> {
    if (programs.tablesFile !== undefined && !(await listsRaw(programs.tablesFile))) return undefined;
    const rules = new IptablesRules(programs, this.#rules, this.#run);
    try {
      return (await rules.areInRaw()) ? rules : undefined;
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      return undefined;
    }
  }
}

async function listsRaw(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').includes('raw');
}
