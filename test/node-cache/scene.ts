/**
 * A node with a template and a ConfigMap, on which node-cache is started, and its clients.
 */

import { join } from 'node:path';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, beforeEach } from 'vitest';
import { endAllPrograms, type RunOptions, runPortolan } from '../support/portolan.ts';
import { mayMakeNodes, Node } from './namespace.ts';

export const LINK_LOCAL = '169.254.20.10';
export const SERVICE = '10.96.0.10';
/** What is served unless a test writes another one. */
export const TEMPLATE = '.:36053 {\n    bind __PILLAR__LOCAL__DNS__\n    whoami\n}\n';

export class Scene {
  readonly node: Node;
  readonly folder: TemporaryFolder;

  constructor(node: Node, folder: TemporaryFolder) {
    this.node = node;
    this.folder = folder;
  }

  /** @param options with a command that runs the program within the node, as `through` of a program */
  readonly run = (
    addresses: string,
    flags: readonly string[],
    { inside = [], ...options }: RunOptions & { readonly inside?: readonly string[] } = {},
  ): Program => {
    const fixed = ['-localip', addresses, '-dns.port', '36053', '-health-port', '36080'];
    const at = (name: string) => join(this.folder.path, name);
    const files = ['-conf', at('Corefile'), '-basecorefile', at('Corefile.base')];
    const metrics = ['-metrics-listen-address', '127.0.0.1:36353'];
    return runPortolan(['node-cache', ...fixed, ...files, ...metrics, ...flags], {
      ...options,
      through: [...this.node.through, ...inside],
    });
  };

  /** What comes of a query: `answered` by whoami, `answered by the cluster`, `refused`, or `silence`. */
  readonly ask = (address: string, through: readonly string[] = []): Promise<string> =>
    this.node.run(...through, process.execPath, '-e', SEND_AND_RECEIVE, address, '36053');

  readonly fetch = (url: string): Promise<string> => this.node.run(process.execPath, '-e', FETCH, url);

  /** The addresses of a name, as dig prints them. */
  readonly dig = async (address: string, name: string): Promise<string> =>
    (await this.node.run('dig', '+short', '+tries=1', `@${address}`, name)).trim();
}

/** A scene for each test of the file. */
export function useScene(): () => Scene {
  let scene: Scene | undefined;
  beforeEach(async () => {
    if (!mayMakeNodes) return;
    scene = new Scene(await Node.create(), await makeTemporaryFolder());
    await scene.folder.write('Corefile.base', TEMPLATE);
  });
  afterEach(async () => {
    await endAllPrograms();
    scene?.node.end();
  });
  return () => {
    if (scene === undefined) throw new Error('no scene yet');
    return scene;
  };
}

/** Sends a query of type A, which whoami answers with additional records, and the cluster with an address. */
const SEND_AND_RECEIVE = `
const [address, port] = process.argv.slice(1);
const socket = require('node:dgram').createSocket('udp4');
let isDone = false;
const end = (word) => { if (isDone) return; isDone = true; process.stdout.write(word); clearTimeout(timer); socket.close(); };
const timer = setTimeout(() => end('silence'), 2000);
socket.on('message', (reply) => end(reply[7] === 1 ? 'answered by the cluster' : 'answered'));
socket.on('error', () => end('refused'));
// An address that the node does not have yet is told by both.
socket.connect(Number(port), address, (error) => {
  if (error) end('refused');
  else socket.send(Buffer.from('000101000001000000000000016100000100' + '01', 'hex'));
});
`;

const FETCH = `fetch(process.argv[1]).then(async (reply) => process.stdout.write(await reply.text()));`;
