/**
 * The rules of a node's cache in nftables: one table, set in one transaction; the kernel removes it when its owner ends.
 *
 * A table with the flag `owner` (Linux 5.12) belongs to the netlink socket that made it, here the socket of an `nft -i` that reads
 * our commands. However we end, its input is closed, it ends, and the kernel removes the table. If the whole pod is killed, the
 * table is removed at once.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { killGroup } from '@portolan/kernel/base/process-group.ts';
import { lastLines, ProgramError, startProgram } from '@portolan/kernel/base/run-program.ts';
import type { PacketFilter } from './packet-filter.ts';
import type { PacketRule } from './packet-rules.ts';
import { RulesWatcher } from './rules-watcher.ts';

/** Milliseconds that `nft` has to execute a command. */
const TIMEOUT = 5_000;
const TABLE_PREFIX = 'portolan_node_cache_';
/** Characters of a line, and of what is kept of standard error. */
const MAX_TEXT = 4_096;
/** A command that needs no rights and has one answer, to know that those before it are done. */
const LAST_COMMAND = 'describe ip ttl';
const LAST_ANSWER = 'payload expression';
/** Versions of `nft` with readline may print it before an answer. */
const PROMPTS = /^(?:nft> *)+/;

const HOOKS: Readonly<Record<PacketRule['chain'], string>> = {
  PREROUTING: 'prerouting',
  INPUT: 'input',
  OUTPUT: 'output',
};

/** The program that owns the table. */
type NftProcess = ChildProcessWithoutNullStreams;

export class NftFilter implements PacketFilter {
  readonly name = 'nftables';
  readonly #rules: readonly PacketRule[];
  readonly #clock: Clock;
  /** Unique to this process: during an upgrade two processes have their tables. */
  readonly #table = `${TABLE_PREFIX}${randomBytes(4).toString('hex')}`;
  #owner: NftProcess | undefined;
  /** Needed because the table would remain if the server hangs. */
  #watcher: RulesWatcher | undefined;

  constructor(rules: readonly PacketRule[], clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
  }

  get isSet(): boolean {
    return this.#owner !== undefined;
  }

  async set(): Promise<boolean> {
    // While its owner lives no other program can change the table.
    if (this.#owner !== undefined) return false;
    const owner = startProgram('nft', ['-i'], this.#clock);
    try {
      // Start it before the table exists that it may have to remove.
      this.#watch(owner);
      await this.#makeTable(owner);
    } catch (error) {
      this.#watcher?.stop();
      await end(owner);
      throw error;
    }
    this.#owner = owner;
    owner.once('exit', () => {
      if (this.#owner === owner) this.#owner = undefined;
    });
    return true;
  }

  async remove(): Promise<void> {
    const owner = this.#owner;
    this.#owner = undefined;
    this.#watcher?.stop();
    if (owner !== undefined) await end(owner);
  }

  /** Leaves no rules: the table belongs to this process, another process has its own. */
  leave(): void {
    this.#watcher?.stop();
    if (this.#owner !== undefined) killGroup(this.#owner);
  }

  #watch(owner: NftProcess): void {
    if (owner.pid === undefined) return; // It could not be started.
    const watcher = new RulesWatcher({
      // Its process group, which has a wrapper too.
      removal: [`kill -KILL -${owner.pid}`],
      endpoint: undefined,
      onRemoved: () => {},
      clock: this.#clock,
    });
    this.#watcher = watcher;
    watcher.start();
    owner.once('exit', () => watcher.stop());
  }

  /**
   * `nft -i` goes on after an error, and writes warnings to standard error too: that of a terminal that is not known, for instance. So only
   * its list of tables says whether ours is set.
   */
  async #makeTable(owner: NftProcess): Promise<void> {
    let complaint = '';
    owner.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(-MAX_TEXT);
    });
    owner.stdin.write(`${tableText(this.#table, this.#rules)}\nlist tables\n${LAST_COMMAND}\n`);
    const fault = await this.#readAnswer(owner);
    if (fault === undefined) return;
    await end(owner);
    const reason = lastLines(complaint);
    throw new ProgramError(`nft -i: ${fault}${reason === '' ? '' : `: ${reason}`}`, complaint);
  }

  /** @returns what is wrong; undefined: the table is set */
  #readAnswer(owner: NftProcess): Promise<string | undefined> {
    return new Promise((resolve) => {
      const conclude = (fault: string | undefined) => {
        timer.cancel();
        resolve(fault);
      };
      const timer = this.#clock.after(TIMEOUT, () => conclude(`no answer within ${TIMEOUT / 1_000} s`));
      let rest = '';
      owner.stdout.setEncoding('utf8').on('data', (text: string) => {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop()?.slice(-MAX_TEXT) ?? '';
        const answers = lines.map((line) => line.replace(PROMPTS, '').trimEnd());
        if (answers.includes(`table inet ${this.#table}`)) conclude(undefined);
        else if (answers.some((line) => line.startsWith(LAST_ANSWER))) conclude('the table is not set');
      });
      owner.on('error', ({ message }) => conclude(message));
      owner.once('exit', (code, signal) => conclude(`ended with ${signal ?? `exit status ${code}`}`));
    });
  }
}

/** Ends a program with all that it has started. Never rejects. */
function end(owner: NftProcess): Promise<void> {
  return new Promise((resolve) => {
    const { pid, stdout, stderr, exitCode, signalCode } = owner;
    const hasEnded = exitCode !== null || signalCode !== null;
    killGroup(owner);
    if (pid === undefined || (hasEnded && stdout.closed && stderr.closed)) resolve();
    else owner.once('close', () => resolve());
  });
}

/** One line: `nft -i` executes a line as one transaction. */
function tableText(table: string, rules: readonly PacketRule[]): string {
  const chains = new Map<string, PacketRule[]>();
  for (const rule of rules) {
    const key = `${rule.table} ${rule.chain}`;
    const others = chains.get(key);
    if (others === undefined) chains.set(key, [rule]);
    else others.push(rule);
  }
  const texts = [...chains].map(([key, of]) => chainText(key, of));
  return `table inet ${table} { flags owner; ${texts.join(' ')} }`;
}

function chainText(key: string, rules: readonly PacketRule[]): string {
  const [{ table, chain } = { table: 'raw', chain: 'OUTPUT' } as const] = rules;
  const name = key.toLowerCase().replace(' ', '_');
  const type = `type filter hook ${HOOKS[chain]} priority ${table};`;
  return `chain ${name} { ${type} ${rules.map((rule) => `${ruleText(rule)};`).join(' ')} };`;
}

function ruleText({ protocol, direction, address, port, verdict }: PacketRule): string {
  const [side, end] = direction === 'to' ? ['daddr', 'dport'] : ['saddr', 'sport'];
  const family = address.includes(':') ? 'ip6' : 'ip';
  return `${family} ${side} ${address} ${protocol} ${end} ${port} ${verdict}`;
}
