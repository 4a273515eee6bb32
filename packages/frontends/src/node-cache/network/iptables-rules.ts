/**
 * The rules of a node's cache in iptables, as node-cache sets them: with comments, at the front of the chains.
 */
import type { RunProgram } from '@portolan/kernel/base/run-program.ts';
import { type IptablesPrograms, toIpVersion } from './iptables-programs.ts';
import type { PacketRule } from './packet-rules.ts';

const COMMENTS = {
  notrack: 'NodeLocal DNS Cache: skip conntrack',
  accept: 'NodeLocal DNS Cache: allow DNS traffic',
} as const;
const TARGETS = { notrack: 'NOTRACK', accept: 'ACCEPT' } as const;
/** Seconds that a call waits for the lock of xtables. */
const LOCK_WAIT = '5';

export class IptablesRules {
  readonly #programs: IptablesPrograms;
  readonly #rules: readonly PacketRule[];
  /** The tables of the rules. Other tables are not read: reading would create them in the legacy variant. */
  readonly #tables: readonly PacketRule['table'][];
  readonly #run: RunProgram;

  /** @param rules of which those of the programs' family count */
  constructor(programs: IptablesPrograms, rules: readonly PacketRule[], run: RunProgram) {
    this.#programs = programs;
    this.#rules = rules.filter(({ address }) => toIpVersion(address) === programs.family);
    this.#tables = [...new Set(this.#rules.map(({ table }) => table))];
    this.#run = run;
  }

  /** The missing rules. @throws ProgramError */
  async findMissing(): Promise<readonly PacketRule[]> {
    const present = await this.#readPresent();
    return this.#rules.filter((rule) => !present.some((line) => isSameRule(line, rule)));
  }

  /** Adds the rules with one call. @throws ProgramError */
  async add(rules: readonly PacketRule[]): Promise<void> {
    await this.#restore(rules.map((rule) => [rule.table, `-I ${formatRule(rule)}`]));
  }

  /**
   * Removes all existing rules with one call, including copies that earlier or killed versions may have left.
   *
   * @returns the number removed
   * @throws ProgramError
   */
  async remove(): Promise<number> {
    const ours = await this.#readOurs();
    await this.#restore(ours.map((rule) => [rule.table, `-D ${formatRule(rule)}`]));
    return ours.length;
  }

  /** Whether any of the rules exists. @throws ProgramError */
  async areThere(): Promise<boolean> {
    return (await this.#readOurs()).length > 0;
  }

  /** Commands of a `RulesWatcher` that remove the rules, with copies. */
  get removal(): readonly string[] {
    const { program } = this.#programs;
    return this.#rules.map(
      (rule) => `repeat ${program} -w ${LOCK_WAIT} -t ${rule.table} -D ${formatRule(rule, "'")}`,
    );
  }

  /** The existing rules, once for each copy. */
  async #readOurs(): Promise<readonly PacketRule[]> {
    const present = await this.#readPresent();
    return this.#rules.flatMap((rule) => present.filter((line) => isSameRule(line, rule)).map(() => rule));
  }

  /** Reads the existing rules, but not those of table `nat`, which may be tens of thousands. */
  async #readPresent(): Promise<readonly SavedRule[]> {
    const { save } = this.#programs;
    const texts = await Promise.all(
      this.#tables.map((table) => this.#run({ program: save, words: ['-t', table] })),
    );
    return texts.flatMap(parseSaved);
  }

  async #restore(commands: readonly (readonly [PacketRule['table'], string])[]): Promise<void> {
    if (commands.length === 0) return;
    const words = ['--noflush', '-w', LOCK_WAIT];
    await this.#run({ program: this.#programs.restore, words, input: restoreInput(commands) });
  }
}

/** `PREROUTING -d 169.254.20.10/32 -p udp ...`: the text after `-I` or `-D`. */
function formatRule(rule: PacketRule, quote = '"'): string {
  const { chain, protocol, direction, address, port, verdict } = rule;
  const [side, end] = direction === 'to' ? ['-d', '--dport'] : ['-s', '--sport'];
  const comment = `${quote}${COMMENTS[verdict]}${quote}`;
  const match = `-p ${protocol} -m ${protocol} ${end} ${port} -m comment --comment ${comment}`;
  return `${chain} ${side} ${address}${hostLength(address)} ${match} -j ${TARGETS[verdict]}`;
}

const hostLength = (address: string): string => (address.includes(':') ? '/128' : '/32');

function restoreInput(commands: readonly (readonly [PacketRule['table'], string])[]): string {
  const tables = [...new Set(commands.map(([table]) => table))];
  const parts = tables.map((table) => {
    const lines = commands.filter(([of]) => of === table).map(([, command]) => command);
    return `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
  });
  return parts.join('');
}

/** A line of `iptables-save`: its table, and its words in any order. */
interface SavedRule {
  readonly table: string;
  readonly words: ReadonlySet<string>;
}

function parseSaved(text: string): readonly SavedRule[] {
  const rules: SavedRule[] = [];
  let table = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1);
    else if (line.startsWith('-A ')) rules.push({ table, words: new Set(splitOptions(line.slice(3))) });
  }
  return rules;
}

/** Options with their values, without an order, since versions of iptables print them in different orders. */
function splitOptions(text: string): readonly string[] {
  const normal = text.replace('-j CT --notrack', '-j NOTRACK');
  const words = normal.match(/"[^"]*"|\S+/g) ?? [];
  const [chain = '', ...rest] = words;
  const pairs = rest.join(' ').split(/ (?=-)/);
  // `-p` implies these options, and some versions do not print them.
  return [chain, ...pairs.filter((pair) => !/^-m (?:tcp|udp|comment)$/.test(pair))];
}

function isSameRule({ table, words }: SavedRule, rule: PacketRule): boolean {
  if (table !== rule.table) return false;
  const own = splitOptions(formatRule(rule));
  return words.size === own.length && own.every((pair) => words.has(pair));
}
