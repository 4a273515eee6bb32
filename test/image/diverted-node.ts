/**
 * A node around the pod of its DNS cache: another pod behind an interface of its own, and kube-proxy's rules for the Service.
 *
 * With these rules a query to the Service's address goes to the DNS of the cluster, unless the cache diverts it.
 */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type Holder, hold } from '../node-cache/namespace.ts';
import { NAME_SERVER, type OriginalPod } from '../originals/original-pod.ts';

const run = promisify(execFile);
const LINK_LOCAL = '169.254.20.10';
const SERVICE = '10.96.0.10';
const METRICS = 'http://127.0.0.1:9353/metrics';
const NODE_END = '10.245.0.1';
const POD_END = '10.245.0.2';
const TRANSLATE = ['udp', 'tcp'].map(
  (protocol) => `ip daddr ${SERVICE} ${protocol} dport 53 dnat to ${NAME_SERVER};`,
);
const KUBE_PROXY = `table ip kube-proxy {
  chain services { type nat hook prerouting priority dstnat; ${TRANSLATE.join(' ')} };
  chain sources { type nat hook postrouting priority srcnat; ip saddr ${POD_END} masquerade; };
}`;

/** Where and how a pod asks. */
export interface AskedPlace {
  readonly server: string;
  readonly transport: '+tcp' | '+notcp';
}

export class DivertedNode {
  readonly #pod: OriginalPod;
  readonly #other: Holder;

  private constructor(pod: OriginalPod, other: Holder) {
    this.#pod = pod;
    this.#other = other;
  }

  /** @param pod with the network of the node */
  static async create(pod: OriginalPod): Promise<DivertedNode> {
    const node = new DivertedNode(pod, await hold(['unshare', '-n']));
    await node.#setUp();
    return node;
  }

  async #setUp(): Promise<void> {
    const { pid } = this.#other;
    const ip = (words: string) => this.#onNode('ip', ...words.split(' '));
    const inside = (words: string) => this.#inPod('ip', ...words.split(' '));
    await ip(`link add other type veth peer name eth0 netns ${pid}`);
    await ip(`address add ${NODE_END}/24 dev other`);
    await ip('link set other up');
    await inside(`address add ${POD_END}/24 dev eth0`);
    await inside('link set eth0 up');
    await inside(`route add default via ${NODE_END}`);
    await this.#onNode('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    await this.#onNode('nft', KUBE_PROXY);
  }

  readonly places: readonly AskedPlace[] = [LINK_LOCAL, SERVICE].flatMap((server) =>
    (['+notcp', '+tcp'] as const).map((transport) => ({ server, transport })),
  );

  /** Waits until the cache has set its rules, and has proven the way of packets. */
  async hasRules(): Promise<void> {
    const isProven = async () => {
      const metrics = await this.#onNode(process.execPath, '-e', FETCH, METRICS);
      return /^portolan_nodecache_rules\{filter="nftables",probe="path"\} 1$/m.test(metrics);
    };
    await waitUntil('the rules of the cache', isProven, { deadline: 60_000 });
  }

  /** @returns what dig prints in the other pod; empty without an answer */
  async ask({ server, transport }: AskedPlace, name: string): Promise<string> {
    const dig = ['dig', `@${server}`, '+short', '+tries=3', '+time=10', transport, name];
    return (await this.#inPod(...dig).catch(() => '')).trim();
  }

  /** The tables of the cache. */
  async tables(): Promise<readonly string[]> {
    return (await this.#onNode('nft', 'list', 'tables')).match(/portolan_node_cache_\w+/g) ?? [];
  }

  /**
   * Kills the server while the other pod asks the Service's address each millisecond.
   *
   * @param first the first process of its container
   * @returns the queries without an answer, and for how long none of those sent was answered, until the Service answers
   */
  async killServer(first: number): Promise<{ readonly lost: number; readonly silence: number }> {
    const output = this.#inPod(process.execPath, '-e', KILL, SERVICE, String(findServer(first)));
    return JSON.parse(await output) as { lost: number; silence: number }; // Our own format.
  }

  end(): void {
    this.#other.end();
  }

  async #onNode(...command: readonly string[]): Promise<string> {
    const [program = '', ...words] = [...this.#pod.through, ...command];
    return (await run(program, words)).stdout;
  }

  async #inPod(...command: readonly string[]): Promise<string> {
    return (await run('nsenter', [`--target=${this.#other.pid}`, '--net', '--', ...command])).stdout;
  }
}

/** The process of Node.js that shares the processes of the container. */
function findServer(first: number): number {
  const readPidNamespace = (pid: number | string) => readlinkSync(`/proc/${pid}/ns/pid`);
  const found = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return (
        readPidNamespace(name) === readPidNamespace(first) &&
        readlinkSync(`/proc/${name}/exe`).endsWith('/node') &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('-localip')
      );
    } catch {
      // It has ended.
      return false;
    }
  });
  if (found === undefined) throw new Error('no server in the container');
  return Number(found);
}

const FETCH =
  'fetch(process.argv[1]).then(async (reply) => process.stdout.write(await reply.text()), () => {});';

/** Asks, kills once 200 are answered, and asks for half a second and until 50 in a row are answered. */
const KILL = `
const [address, pid] = process.argv.slice(1);
const { createSocket } = require('node:dgram');
const query = (id) => Buffer.from(id.toString(16).padStart(4, '0') + '01000001000000000000' + '076f757473696465076578616d706c6500' + '00010001', 'hex');
const sent = new Map(); // By id, in order: when, and whether it was answered.
let id = 0, killed;
const timer = setInterval(() => {
  const socket = createSocket('udp4');
  const own = id++;
  sent.set(own, { at: performance.now(), isAnswered: false });
  socket.on('error', () => {});
  socket.on('message', (reply) => { if (reply[7] > 0) sent.get(own).isAnswered = true; socket.close(); });
  socket.send(query(own), 53, address);
  const all = [...sent.values()];
  const answered = (some) => some.filter(({ isAnswered }) => isAnswered).length;
  if (killed === undefined && answered(all) >= 200) {
    process.kill(Number(pid), 'SIGKILL');
    killed = performance.now();
  }
  if (performance.now() > killed + 60000) throw new Error('no answers any more');
  const late = all.slice(-70, -20);
  if (killed === undefined || late[0].at < killed + 500 || answered(late) < late.length) return;
  clearInterval(timer);
  const lost = all.slice(0, -20).filter(({ isAnswered }) => !isAnswered);
  const first = lost.at(0)?.at ?? 0, last = lost.at(-1)?.at ?? 0;
  process.stdout.write(JSON.stringify({ lost: lost.length, silence: Math.round(last - first) }));
  process.exit();
}, 1);
`;
