/**
 * The rules of a node's cache in nftables: one table, set in one transaction, that the kernel removes when its owner ends.
 *
 * A table with the flag `owner` (Linux 5.12) belongs to the netlink socket that made it, here that of an `nft -i` which reads our
 * commands: however we end, its input is closed, it ends, and the table is gone. When all of the pod is killed, it is gone at once.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { PacketFilter } from './packet-filter.ts';
import type { PacketRule } from './packet-rules.ts';
import { RulesWatcher } from './rules-watcher.ts';
import { ProgramError } from './run-program.ts';

/** Milliseconds until `nft` must have carried out a command. */
const TIMEOUT = 5_000;
/** What ends the output of a command, as `list tables` of a family without tables would not. */
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
  /** Of this process alone: during an upgrade two of them have their tables. */
  readonly #table = `${TABLE_PREFIX}${randomBytes(4).toString('hex')}`;
  #owner: ChildProcessWithoutNullStreams | undefined;
  /** Where the server hangs, the table would stand on. */
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
    // Before there is a table that it would have to end.
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

  /** The table is of this process alone: another one has its own. */
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
      owner.stdin.on('error', () => {});
      owner.once('error', ({ message }) => fail(message));
      owner.once('exit', () => {
        if (this.#owner === owner) this.#owner = undefined;
        fail('ended');
      });
      owner.stdin.write(`${tableText(this.#table, this.#rules)}\nlist tables\n`);
    });
  }
}

/** One line: `nft -i` carries out a line as one transaction. */
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
