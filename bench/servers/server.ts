/**
 * The common interface of the compared servers: a process that answers at a port of the loopback address.
 */
import type { ServerProcess } from '../child-process.ts';
import { DnsClient } from '../dns-client.ts';

export interface DnsServer {
  readonly name: string;
  readonly process: ServerProcess;
  readonly port: number;
}

/** One with a port for probes. */
export interface ProbedServer extends DnsServer {
  readonly healthPort: number;
}

const PATIENCE_MILLISECONDS = 30_000;

/** @throws ServerStartError if the server does not answer with a record */
export async function waitUntilAnswers(process: ServerProcess, port: number, name: string): Promise<void> {
  const client = new DnsClient(port);
  const answers = async () => ((await client.ask(name, 'A'))?.length ?? 0) > 0;
  try {
    await process.waitUntil(answers, PATIENCE_MILLISECONDS, 20);
  } finally {
    client.close();
  }
}
