/**
 * A node for `portolan node-cache`: a network namespace of the test's own, in which the program and other programs run.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describeWhere, describeWithTool, hasTool } from '../support/tools.ts';

const TOOLS = ['ip', 'nft', 'iptables', 'nsenter', 'unshare'] as const;

/** Whether this machine allows namespaces, and has what the tests look at them with. */
export const mayMakeNodes =
  TOOLS.every((tool) => hasTool(tool)) && spawnSync('unshare', ['-rn', 'true']).status === 0;

/** `describe`, where nodes can be made. */
export function describeOnNode(name: string, define: () => void): void {
  if (TOOLS.every((tool) => hasTool(tool))) describeWhere(mayMakeNodes, 'unshare -rn', name, define);
  else describeWithTool(TOOLS, name, define);
}

function isWatcher(process: string, network: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${process}/ns/net`) === network &&
      readFileSync(`/proc/${process}/cmdline`, 'utf8').includes('is_served')
    );
  } catch {
    // It has ended.
    return false;
  }
}

/** A process that holds a namespace. */
export interface Holder {
  readonly pid: number;
  readonly end: () => void;
}

/** @param command makes the namespace, and runs the command that is appended to it */
export async function hold(command: readonly string[]): Promise<Holder> {
  // Holds the namespace until its input is closed.
  const script = 'ip link set lo up && echo ready && exec cat';
  const [program = '', ...words] = [...command, 'sh', '-c', script];
  const holder = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  holder.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await waitUntil('the namespace', () => output.includes('ready'));
  const { pid = 0 } = holder;
  return { pid, end: () => void holder.stdin.end() };
}

/** The ends of the pair of interfaces between a node and its pod. */
const POD_ADDRESSES = [
  ['10.244.0.1/24', '10.244.0.2/24'],
  ['fd00:244::1/64', 'fd00:244::2/64'],
] as const;

export class Node {
  readonly #holder: number;
  readonly #ends: (() => void)[];

  private constructor({ pid, end }: Holder) {
    this.#holder = pid;
    this.#ends = [end];
  }

  static async create(): Promise<Node> {
    return new Node(await hold(['unshare', '-rn']));
  }

  /** A pod: a namespace whose packets come in through a pair of interfaces. @returns the command that runs another one in it */
  async addPod(): Promise<readonly string[]> {
    const { pid, end } = await hold([...this.through, 'unshare', '-n']);
    this.#ends.push(end);
    const inside = ['nsenter', `--target=${pid}`, '--net', '--preserve-credentials', '--'];
    await this.run('ip', 'link', 'add', 'pod', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
    for (const [ofNode, ofPod] of POD_ADDRESSES) {
      await this.run('ip', 'addr', 'add', ofNode, 'dev', 'pod', ...withoutDetection(ofNode));
      await this.run(...inside, 'ip', 'addr', 'add', ofPod, 'dev', 'eth0', ...withoutDetection(ofPod));
    }
    await this.run('ip', 'link', 'set', 'pod', 'up');
    await this.run(...inside, 'ip', 'link', 'set', 'eth0', 'up');
    for (const [ofNode] of POD_ADDRESSES)
      await this.run(...inside, 'ip', 'route', 'add', 'default', 'via', ofNode.replace(/\/.*/, ''));
    return inside;
  }

  /** The command that another one is appended to, to run in the namespace. */
  get through(): readonly string[] {
    return ['nsenter', `--target=${this.#holder}`, '--user', '--net', '--preserve-credentials', '--'];
  }

  /** Runs a command there. @returns its output @throws if it fails */
  async run(...command: readonly string[]): Promise<string> {
    const [program = '', ...words] = [...this.through, ...command];
    const { stdout } = await promisify(execFile)(program, words);
    return stdout;
  }

  /** The rules of a family in the order of their chains, as `-A` lines by table: `raw: -A ...`. */
  async iptables(
    program: 'iptables' | 'iptables-nft' | 'iptables-legacy' | 'ip6tables' = 'iptables',
  ): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const table of ['raw', 'filter']) {
      const text = await this.run(`${program}-save`, '-t', table);
      lines.push(...text.split('\n').flatMap((line) => (line.startsWith('-A') ? [`${table}: ${line}`] : [])));
    }
    return lines;
  }

  /** Adds rules of iptables, as `iptables` says them. */
  async addRules(rules: readonly string[]): Promise<void> {
    for (const table of ['raw', 'filter']) {
      const lines = rules.flatMap((rule) =>
        rule.startsWith(`${table}: `) ? rule.slice(table.length + 2) : [],
      );
      const input = `*${table}\n${lines.join('\n')}\nCOMMIT`;
      await this.run('sh', '-c', 'echo "$0" | iptables-restore --noflush', input);
    }
  }

  /** The names of our tables in nftables. */
  async nftables(): Promise<readonly string[]> {
    return [...(await this.run('nft', 'list', 'tables')).matchAll(/portolan_node_cache_\w+/g)].map(
      ([name]) => name,
    );
  }

  /** How many shells watch over rules here. */
  countWatchers(): number {
    const here = readlinkSync(`/proc/${this.#holder}/ns/net`);
    return readdirSync('/proc').filter((process) => /^\d+$/.test(process) && isWatcher(process, here)).length;
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}

/** An IPv6 address is used at once only where nobody else is asked for it first. */
const withoutDetection = (address: string): readonly string[] => (address.includes(':') ? ['nodad'] : []);
