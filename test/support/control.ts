/**
 * Servers with their control sockets, and commands that ask them.
 */

import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { Program } from '@portolan/testing/program.ts';
import { expect } from 'vitest';
import { runPortolan } from './portolan.ts';

/** The abstract name of a server: tests share their PID namespace, so it is not the only server there. */
export function formatSocketName(program: Program, role: string): string {
  const [, namespace = ''] = /\[(\d+)\]/.exec(readlinkSync('/proc/self/ns/pid')) ?? [];
  return `@portolan/control/1/${namespace}/${role}/${program.process.pid ?? 0}`;
}

/** Runs a command that ends by itself. */
export async function runToEnd(...words: readonly string[]) {
  const program = runPortolan(words);
  const { code } = await program.exit;
  return { code, text: program.output, errors: program.errors };
}

/** Serves a block. @param lines its plugins @param zone Default: all names. */
export async function serveCorefile(
  lines: string,
  zone = '.',
  flags: readonly string[] = [],
): Promise<{
  readonly program: Program;
  readonly port: number;
  /** Changes the plugins in the file. */
  readonly write: (lines: string) => void;
}> {
  const { path } = await makeTemporaryFolder();
  const port = await findFreePort();
  const file = join(path, 'Corefile');
  const write = (plugins: string) =>
    writeFileSync(file, `${zone}:${port} {\n  bind 127.0.0.1\n${plugins}\n}\n`);
  write(lines);
  const program = runPortolan(['coredns', '-conf', file, ...flags]);
  await expect.poll(() => program.output, { timeout: 20_000 }).toContain('CoreDNS-');
  return { program, port, write };
}
