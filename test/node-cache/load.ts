/**
 * Clients of a node's cache that keep asking while it is disturbed, and their results.
 */
import { join } from 'node:path';
import type { Scene } from './scene.ts';

export interface Load {
  /** Ends it. @returns what it saw, as one line */
  end(): Promise<string>;
}

/**
 * Sends a query each 4 ms, from new ports. It says how many of them had no answer: `0 of 250 lost`.
 *
 * @param times how often a query is sent, a second apart, until it is answered: what a process has received when it is killed is lost
 */
export function startQueries(scene: Scene, address: string, times = 1): Load {
  return startLoad(scene, 'queries', SEND_QUERIES, address, '36053', String(times));
}

/** Asks for these URLs again and again. It says how many connections were refused: `0 of 250 refused`. */
export function startFetches(scene: Scene, urls: readonly string[]): Load {
  return startLoad(scene, 'fetches', FETCH_ALL, ...urls);
}

/** Reads all rules of iptables again and again. It prints the number of Portolan's rules, in rising order: `12`, `0 7 12`. */
export function watchRules(scene: Scene, program = 'iptables'): Load {
  const script = `while [ ! -e "$0" ]; do ${program}-save | grep -c 'NodeLocal DNS Cache'; done | sort -nu | tr '\\n' ' '`;
  const end = join(scene.folder.path, 'end-of-rules');
  return withEnd(scene, 'end-of-rules', scene.node.run('sh', '-c', script, end));
}

function startLoad(scene: Scene, name: string, script: string, ...words: readonly string[]): Load {
  const end = join(scene.folder.path, `end-of-${name}`);
  return withEnd(scene, `end-of-${name}`, scene.node.run(process.execPath, '-e', script, end, ...words));
}

function withEnd(scene: Scene, file: string, output: Promise<string>): Load {
  // A test that fails before ends it with its scene.
  output.catch(() => {});
  return {
    async end() {
      await scene.folder.write(file, '');
      return (await output).trim();
    },
  };
}

const SEND_QUERIES = `
const [end, address, port, times] = process.argv.slice(1);
const { createSocket } = require('node:dgram');
const { existsSync } = require('node:fs');
let sent = 0, answered = 0, open = 0, isEnding = false;
const report = () => isEnding && open === 0 && process.stdout.write(sent - answered + ' of ' + sent + ' lost');
const send = () => {
  if (existsSync(end)) {
    isEnding = true;
    return report();
  }
  sent += 1;
  open += 1;
  const socket = createSocket('udp4');
  const close = () => { clearTimeout(timeout); clearInterval(again); socket.close(); open -= 1; report(); };
  // Long: only an answer that never comes is lost, also on a busy machine.
  const timeout = setTimeout(close, 20000);
  socket.on('error', () => {});
  socket.on('message', () => { answered += 1; close(); });
  const query = Buffer.from('000101000001000000000000016100000100' + '01', 'hex');
  socket.send(query, Number(port), address);
  let left = Number(times) - 1;
  const again = setInterval(() => left-- > 0 && socket.send(query, Number(port), address), 1000);
  setTimeout(send, 4);
};
send();
`;

const FETCH_ALL = `
const [end, ...urls] = process.argv.slice(1);
const { existsSync } = require('node:fs');
(async () => {
  let sent = 0, refused = 0;
  while (!existsSync(end))
    for (const url of urls) {
      sent += 1;
      await fetch(url, { headers: { connection: 'close' } }).then((reply) => reply.text()).catch((error) => {
        if (error.cause?.code === 'ECONNREFUSED') refused += 1;
      });
    }
  process.stdout.write(refused + ' of ' + sent + ' refused');
})();
`;
