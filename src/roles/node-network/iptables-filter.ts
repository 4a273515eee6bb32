/**
 * The rules of a node's cache in iptables, as node-cache sets them: at the front of the chains, with comments.
 *
 * All missing rules are set by one call, which waits for the lock of xtables. A program beside ours waits for our end and removes
 * them, so that rules do not send packets to a port without a server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { PacketFilter } from './packet-filter.ts';
import type { PacketRule } from './packet-rules.ts';
import { ProgramError, type RunProgram } from './run-program.ts';

/** The programs of one variant and family. */
export interface IptablesPrograms {
  /** For instance `iptables`, `ip6tables-legacy`. */
  readonly program: string;
  readonly save: string;
  readonly restore: string;
}

const COMMENTS = {
  notrack: 'NodeLocal DNS Cache: skip conntrack',
  accept: 'NodeLocal DNS Cache: allow DNS traffic',
} as const;
const TARGETS = { notrack: 'NOTRACK', accept: 'ACCEPT' } as const;
/** Seconds that a call waits for the lock of xtables. */
const LOCK_WAIT = '5';

export class IptablesFilter implements PacketFilter {
  readonly name: string;
  readonly #programs: IptablesPrograms;
  readonly #rules: readonly PacketRule[];
  readonly #run: RunProgram;
  #watcher: ChildProcess | undefined;

  constructor(programs: IptablesPrograms, rules: readonly PacketRule[], run: RunProgram) {
    this.name = programs.program;
    this.#programs = programs;
    this.#rules = rules;
    this.#run = run;
  }

  async set(): Promise<boolean> {
    const present = await this.#present();
    const missing = this.#rules.filter((rule) => !present.some((line) => isSameRule(line, rule)));
    if (missing.length > 0) await this.#restore(missing.map((rule) => [rule.table, `-I ${textOf(rule)}`]));
    this.#watch();
    return missing.length > 0;
  }

  async remove(): Promise<void> {
    this.#unwatch();
    const present = await this.#present();
    // Copies too: earlier versions, and versions killed in between, may have left some.
    const ours = this.#rules.flatMap((rule) =>
      present.filter((line) => isSameRule(line, rule)).map(() => [rule.table, `-D ${textOf(rule)}`] as const),
    );
    if (ours.length > 0) await this.#restore(ours);
  }

  leave(): void {
    this.#unwatch();
  }

  async #present(): Promise<readonly SavedRule[]> {
    return parseSaved(await this.#run({ program: this.#programs.save, words: [] }));
  }

  async #restore(commands: readonly (readonly [PacketRule['table'], string])[]): Promise<void> {
    const words = ['--noflush', '-w', LOCK_WAIT];
    await this.#run({ program: this.#programs.restore, words, input: restoreInput(commands) });
  }

  /** Starts the program that removes the rules when ours ends in any way: its input is then closed. */
  #watch(): void {
    if (this.#watcher !== undefined) return;
    const removal = this.#rules.map(
      (rule) => `${this.#programs.program} -w ${LOCK_WAIT} -t ${rule.table} -D ${shellTextOf(rule)}`,
    );
    const script = `trap '' INT TERM HUP; while read -r word; do [ "$word" = done ] && exit; done; ${removal.join('; ')}`;
    // In a group of its own: a signal to ours must not end it.
    const watcher = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    watcher.once('exit', () => {
      if (this.#watcher === watcher) this.#watcher = undefined;
    });
    watcher.on('error', () => {});
    watcher.stdin.on('error', () => {});
    watcher.unref();
    this.#watcher = watcher;
  }

  #unwatch(): void {
    this.#watcher?.stdin?.end('done\n');
    this.#watcher = undefined;
  }
}

/** `PREROUTING -d 169.254.20.10/32 -p udp ...`: behind `-I` and `-D`. */
function textOf(rule: PacketRule, quote = '"'): string {
  const { chain, protocol, direction, address, port, verdict } = rule;
  const [side, end] = direction === 'to' ? ['-d', '--dport'] : ['-s', '--sport'];
  const comment = `${quote}${COMMENTS[verdict]}${quote}`;
  const match = `-p ${protocol} -m ${protocol} ${end} ${port} -m comment --comment ${comment}`;
  return `${chain} ${side} ${address}${hostLength(address)} ${match} -j ${TARGETS[verdict]}`;
}

const shellTextOf = (rule: PacketRule): string => textOf(rule, "'");

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
    else if (line.startsWith('-A ')) rules.push({ table, words: new Set(pairsOf(line.slice(3))) });
  }
  return rules;
}

/** Options with their values, the order of which versions of iptables print differently. */
function pairsOf(text: string): readonly string[] {
  const normal = text.replace('-j CT --notrack', '-j NOTRACK');
  const words = normal.match(/"[^"]*"|\S+/g) ?? [];
  const [chain = '', ...rest] = words;
  const pairs = rest.join(' ').split(/ (?=-)/);
  // Implied by `-p`, and not printed by every version.
  return [chain, ...pairs.filter((pair) => !/^-m (?:tcp|udp|comment)$/.test(pair))];
}

function isSameRule({ table, words }: SavedRule, rule: PacketRule): boolean {
  if (table !== rule.table) return false;
  const own = pairsOf(textOf(rule));
  return words.size === own.length && own.every((pair) => words.has(pair));
}

/** The programs of the variant that has the rules of kube-proxy: of two, those of the other one are never looked at by packets first. */
export async function chooseIptables(family: 4 | 6, run: RunProgram): Promise<IptablesPrograms> {
  const base = family === 4 ? 'iptables' : 'ip6tables';
  const variants = ['', '-nft', '-legacy'].map((variant) => programsOf(`${base}${variant}`));
  const counts = await Promise.all(
    variants.map(async ({ save }) => {
      try {
        return (await run({ program: save, words: [] })).split('\n').filter((line) => line.includes('KUBE-'))
          .length;
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        return -1;
      }
    }),
  );
  const best = counts.indexOf(Math.max(...counts));
  const [fallback = programsOf(base)] = variants;
  if (counts.every((count) => count < 0)) throw new ProgramError(`${base}: not installed`);
  return variants[best] ?? fallback;
}

function programsOf(program: string): IptablesPrograms {
  return { program, save: `${program}-save`, restore: `${program}-restore` };
}
