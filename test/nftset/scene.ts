/**
 * A machine whose packet filter lets clients connect only to addresses in sets, an upstream server with a name for each address, and
 * clients that connect as soon as they have an answer.
 */
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { onTestFinished } from 'vitest';
import { Node } from '../node-cache/namespace.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

const CLIENT = fileURLToPath(new URL('./connect-after-look-up.mjs', import.meta.url));

/** All addresses of these networks are addresses of the machine. */
const NETWORKS = ['198.18.0.0/15', 'fd00:53::/32'] as const;

const RULES = `
table inet filter {
  set allowed { type ipv4_addr; flags timeout; }
  set allowed6 { type ipv6_addr; flags interval, timeout; }
  set permanent { type ipv4_addr; }
  chain output {
    type filter hook output priority 0; policy accept;
    tcp dport 8080 ip daddr @allowed accept
    tcp dport 8080 ip6 daddr @allowed6 accept
    tcp dport 8080 reject with tcp reset
  }
}`;

/** \`a-17-4.example.com.\` has the address 198.18.17.4; so have such names in other domains. */
const UPSTREAM = `
  template IN A {
    match ^a-(?P<high>[0-9]+)-(?P<low>[0-9]+)[.]
    answer "{{ .Name }} 300 IN A 198.18.{{ .Group.high }}.{{ .Group.low }}"
    fallthrough
  }
  template IN A {
    match ^alias-(?P<high>[0-9]+)-(?P<low>[0-9]+)[.]
    answer "{{ .Name }} 300 IN CNAME cdn.example.net."
    answer "cdn.example.net. 300 IN A 198.19.{{ .Group.high }}.{{ .Group.low }}"
  }
  template IN AAAA {
    match ^a-(?P<high>[0-9]+)-(?P<low>[0-9]+)[.]
    answer "{{ .Name }} 300 IN AAAA fd00:53::{{ .Group.high }}:{{ .Group.low }}"
  }`;

export interface Outcome {
  readonly allowed: number;
  readonly refused: number;
  readonly failed: number;
}

/** How clients look up. */
export interface Looking {
  readonly family?: 4 | 6;
  /** Look-ups on their way at once. */
  readonly width?: number;
}

export class Machine {
  readonly node: Node;
  /** The port of the upstream server on 127.0.0.1. */
  readonly upstream: number;

  private constructor(node: Node, upstream: number) {
    this.node = node;
    this.upstream = upstream;
  }

  /** Until the test is over. */
  static async create(): Promise<Machine> {
    const node = await Node.create();
    onTestFinished(async () => {
      await endAllPrograms();
      node.end();
    });
    for (const network of NETWORKS) await node.run('ip', 'route', 'add', 'local', network, 'dev', 'lo');
    const machine = new Machine(node, await findFreePort());
    await machine.nft(RULES);
    const folder = await makeTemporaryFolder();
    const text = `.:${machine.upstream} {\n bind 127.0.0.1\n${UPSTREAM}\n}\n`;
    const { through } = node;
    const program = runPortolan(['coredns', '-conf', await folder.write('Corefile', text)], { through });
    await waitUntil(
      'the upstream server',
      () => program.output.includes('linux/') || program.ended !== undefined,
    );
    if (program.ended !== undefined)
      throw new Error(`no upstream server: ${program.output}${program.errors}`);
    return machine;
  }

  /** Changes the rules, as a file of nft says. */
  async nft(rules: string): Promise<void> {
    await this.node.run('nft', rules);
  }

  /** The addresses in a set. */
  async list(set: string): Promise<readonly string[]> {
    const text = await this.node.run('nft', '--json', 'list', 'set', 'inet', 'filter', set);
    return readElements(JSON.parse(text)).toSorted();
  }

  /** What becomes of clients that look the names up at a server, and connect. */
  async connect(
    port: number,
    names: readonly string[],
    { family = 4, width = 8 }: Looking = {},
  ): Promise<Outcome> {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('names', names.join('\n'));
    const words = [String(port), file, String(family), String(width)];
    return JSON.parse(await this.node.run(process.execPath, CLIENT, ...words)) as Outcome; // The script above.
  }
}

/** Names with addresses of their own. @param count 1 to 65,536 */
export function listNames(count: number, domain: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => `a-${index >> 8}-${index & 0xff}.${domain}`);
}

type Element = string | { readonly elem: { readonly val: string } };

/** The elements in nft's JSON. */
function readElements(listing: {
  readonly nftables: readonly { readonly set?: { readonly elem?: readonly Element[] } }[];
}): readonly string[] {
  const elements = listing.nftables.flatMap(({ set }) => set?.elem ?? []);
  return elements.map((element) => (typeof element === 'string' ? element : element.elem.val));
}
