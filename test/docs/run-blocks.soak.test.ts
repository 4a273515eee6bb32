/**
 * Runs the shell blocks of the documentation, in the order of each page: what it shows as output is what they print, and the others end
 * without an error. A block that ends in a server leaves it running for the blocks behind it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, expect, it } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { listPages, readShellBlocks, type ShellBlock } from './shell-blocks.ts';

const KUBEADM = `.:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
    }
    forward . 192.0.2.53
    cache 30
}
`;

/** What the reader of a page has, by the name in the folder where the blocks run. `=`: a copy of that folder. */
const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {},
  'docs/how-to/block-lists.md': {},
  'docs/how-to/coming-from-coredns.md': {
    Corefile: KUBEADM.replace('forward', 'proxy'),
    'clusters/one/Corefile': KUBEADM,
  },
  'docs/how-to/coming-from-dnsmasq.md': { 'dnsmasq.conf': 'address=/corp.example/192.0.2.1\n' },
  'docs/how-to/debugging.md': { manifests: '=examples/cluster', Corefile: KUBEADM },
  'docs/how-to/install.md': {},
  'docs/tutorials/corefile-in-ten-minutes.md': { examples: '=examples' },
};
/** Servers that a page expects to run, from a command that is not run here. */
const SERVERS: Readonly<Record<string, string>> = {
  'README.md':
    'portolan serve --example --upstream=none --dns-bind-address=127.0.0.1 --dns-port=5353 --healthz-port=8081\n',
};
/** Ports in the pages. Tests take free ones. */
const HEALTH_PORT = '8081';
const PORTS = ['1053', '5353', HEALTH_PORT];
/** Files of the system in the pages: tests write no file there. */
const SYSTEM_FILES = { '/etc/dnsmasq.conf': 'dnsmasq.conf' };
/** Pages start many processes, one after the other. */
const TIMEOUT = 180_000;
const SERVER = /(?:^|\n)portolan (?:coredns|serve|dnsmasq|node-cache)\b(?!.*--test)[^\n]*\n$/;

const running: ChildProcess[] = [];
afterEach(() => {
  for (const { pid } of running.splice(0))
    if (pid !== undefined)
      try {
        // The group of the shell, so that its server ends as well.
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
});

class Session {
  readonly #folder: string;
  readonly #ports: ReadonlyMap<string, string>;

  constructor(folder: string, ports: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.#ports = ports;
  }

  async run({ text, output, page, line }: ShellBlock): Promise<void> {
    const place = `${page}:${line}`;
    const shell = this.#start(this.#replace(text), output !== undefined);
    if (SERVER.test(text)) {
      await this.#untilServed(text, shell);
      return;
    }
    const { code, printed } = await shell.ended;
    if (output === undefined) expect(code, `${place}: ${printed}`).toBe(0);
    else expect(plain(this.#restore(printed)), place).toBe(plain(output));
  }

  #start(text: string, mayFail: boolean) {
    const env = {
      PATH: `${join(this.#folder, '.bin')}:${process.env['PATH'] ?? ''}`,
      HOME: this.#folder,
      COLUMNS: '100',
    };
    const script = `exec 2>&1\n${mayFail ? '' : 'set -e\n'}${text}`;
    const shell = spawn('bash', ['-c', script], {
      cwd: this.#folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    running.push(shell);
    let printed = '';
    shell.stdout.setEncoding('utf8').on('data', (part: string) => {
      printed += part;
    });
    const ended = new Promise<{ code: number | null; printed: string }>((done) => {
      shell.on('close', (code) => done({ code, printed }));
    });
    return { ended, printed: () => printed };
  }

  async #untilServed(text: string, shell: { printed: () => string }): Promise<void> {
    const port =
      PORTS.find((each) => text.includes(each) || shell.printed().includes(each)) ?? PORTS[0] ?? '';
    await expect
      .poll(() => canConnect(Number(this.#ports.get(port))), { message: shell.printed() })
      .toBe(true);
    if (text.includes(`--healthz-port=${HEALTH_PORT}`))
      await expect
        .poll(() => isReady(Number(this.#ports.get(HEALTH_PORT))), {
          timeout: 30_000,
          message: shell.printed(),
        })
        .toBe(true);
  }

  #replace(text: string): string {
    let replaced = text;
    for (const [port, free] of this.#ports)
      replaced = replaced.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), free);
    for (const [file, own] of Object.entries(SYSTEM_FILES)) replaced = replaced.replaceAll(file, own);
    return replaced;
  }

  #restore(text: string): string {
    let restored = text;
    for (const [port, free] of this.#ports) restored = restored.replaceAll(free, port);
    return restored;
  }
}

/** Output without the number of its blanks, which dig writes by tabs. */
function plain(output: string): string {
  return output
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .join('\n');
}

async function canConnect(port: number): Promise<boolean> {
  return await new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });
}

async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  return response?.ok === true;
}

async function prepare(files: Readonly<Record<string, string>>): Promise<Session> {
  const { path } = await makeTemporaryFolder();
  mkdirSync(join(path, '.bin'));
  const program = join(path, '.bin', 'portolan');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${resolve('dist/portolan.js')} "$@"\n`);
  chmodSync(program, 0o755);
  symlinkSync(process.execPath, join(path, '.bin', 'node'));
  for (const [name, content] of Object.entries(files)) {
    const target = join(path, name);
    mkdirSync(join(target, '..'), { recursive: true });
    if (content.startsWith('=')) cpSync(content.slice(1), target, { recursive: true });
    else writeFileSync(target, content);
  }
  const ports = new Map<string, string>();
  for (const port of PORTS) ports.set(port, String(await findFreePort()));
  return new Session(path, ports);
}

it('runs every block that has no mark', () => {
  const pages = listPages().filter((page) =>
    readShellBlocks(page).some(({ excuse }) => excuse === undefined),
  );
  expect(pages.sort()).toEqual(Object.keys(PAGES).sort());
});

for (const [page, files] of Object.entries(PAGES))
  itWithTool(
    ['bash', 'dig'],
    `runs the blocks of ${page}`,
    async () => {
      const blocks = readShellBlocks(page).filter(({ excuse }) => excuse === undefined);
      expect(blocks.length).toBeGreaterThan(0);
      const session = await prepare(files);
      const server = SERVERS[page];
      if (server !== undefined)
        await session.run({ page, line: 0, text: server, excuse: undefined, output: undefined });
      for (const block of blocks) await session.run(block);
    },
    TIMEOUT,
  );
