/**
 * The floor: `echo.c`, compiled if a C compiler is installed.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServerProcess } from '../child-process.ts';
import { DnsClient } from '../dns-client.ts';
import { findFreePort } from '../free-port.ts';
import type { Workplace } from '../workplace.ts';
import type { DnsServer } from './server.ts';

export async function startEcho({ root, folder }: Workplace): Promise<DnsServer> {
  const program = join(folder, 'echo');
  await promisify(execFile)('gcc', ['-O2', '-Wall', '-o', program, join(root, 'bench', 'echo.c')]);
  const port = await findFreePort();
  const process = await ServerProcess.start('C echo', program, [String(port)]);
  const client = new DnsClient(port);
  await process.waitUntil(async () => (await client.ask('echo.example', 'A')) !== undefined, 5000, 20);
  client.close();
  return { name: 'C echo (the floor)', process, port };
}
