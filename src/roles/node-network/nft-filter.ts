/**
 * The rules of a node's cache in nftables: one table, set in one transaction; the kernel removes it when its owner ends.
 *
 * A table with the flag `owner` (Linux 5.12) belongs to the netlink socket that made it, here the socket of an `nft -i` that reads
 * our commands. However we end, its input is closed, it ends, and the kernel removes the table. If the whole pod is killed, the
 * table is removed at once.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { PacketFilter } from './packet-filter.ts';
import type { PacketRule } from './packet-rules.ts';
import { RulesWatcher } from './rules-watcher.ts';
import { ProgramError } from './run-program.ts';

/** Milliseconds that `nft` has to execute a command. */
const TIMEOUT = 5_000;
/** Prefix of the table's name. `list tables` prints the name once the table is set. */
const TABLE_PREFIX = 'portolan_node_cache_';

const HOOKS: Readonly<Record<PacketRule['chain'], string>> = {
  PREROUTING: 'prerouting',
  INPUT: 'input',
  OUTPUT: 'output',
};

export class NftFilter implements PacketFilter {
  readonly name = 'nftables';
  readonly #rules: readonly PacketRule[];
  readonly #clock: Clock;
  /** Unique to this process: during an upgrade two processes have their tables. */
  readonly #table = `${TABLE_PREFIX}${randomBytes(4).toString('hex')}`;
  #owner: ChildProcessWithoutNullStreams | undefined;
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
    const owner = spawn('nft', ['-i'], { detached: true, stdio: 'pipe' });
    this.#owner = owner;
    // Start it before the table exists that it may have to remove.
    this.#watch(owner);
    try {
      await this.#makeTable(owner);
    } catch (error) {
      await this.remove();
      throw error;
    }
    return true;
  }

  async remove(): Promise<void> {
    const owner = this.#owner;
    this.#owner = undefined;
    this.#watcher?.stop();
    if (owner === undefined || owner.exitCode !== null || owner.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      owner.once('exit', () => resolve());
      owner.once('error', () => resolve());
      owner.kill('SIGKILL');
    });
  }

  /** Leaves no rules: the table belongs to this process, another process has its own. */
  leave(): void {
    this.#watcher?.stop();
    this.#owner?.kill('SIGKILL');
  }

  #watch(owner: ChildProcessWithoutNullStreams): void {
    if (owner.pid === undefined) return; // It could not be started.
    const watcher = new RulesWatcher({
      removal: [`kill -KILL ${owner.pid}`],
      endpoint: undefined,
      onRemoved: () => {},
      clock: this.#clock,
    });
    this.#watcher = watcher;
    watcher.start();
    owner.once('exit', () => watcher.stop());
  }

  #makeTable(owner: ChildProcessWithoutNullStreams): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(TIMEOUT, () => fail('no reply in time'));
      const fail = (reason: string) => {
        timer.cancel();
        reject(new ProgramError(`nft -i: ${reason}`));
      };
      let output = '';
      owner.stdout.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-4096);
        if (!output.includes(this.#table)) return;
        timer.cancel();
        resolve();
      });
      owner.stderr.setEncoding('utf8').on('data', (text: string) => fail(text.split('\n')[0] ?? text));
      for (const pipe of [owner.stdin, owner.stdout, owner.stderr]) pipe.on('error', () => {});
      owner.on('error', ({ message }) => fail(message));
      owner.once('exit', () => {
        if (this.#owner === owner) this.#owner = undefined;
        fail('ended');
      });
      owner.stdin.write(`${tableText(this.#table, this.#rules)}\nlist tables\n`);
    });
  }
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
