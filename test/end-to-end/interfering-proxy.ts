/**
 * A proxy before an API server that changes each object just before a write to it, so that the write conflicts. It refuses
 * watches.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { afterFile } from '../support/after-file.ts';
import type { ApiAnswer } from './object-writer.ts';

export interface InterferingProxy {
  readonly url: string;
  /** Writes that came too late. */
  readonly conflicts: () => number;
}

/**
 * @param forward asks the API server
 * @param interfere called before each of the first writes
 * @param times how many of them
 */
export async function startInterferingProxy(
  forward: (method: string, path: string, body: string | undefined) => Promise<ApiAnswer>,
  interfere: () => Promise<unknown>,
  times: number,
): Promise<InterferingProxy> {
  let writes = 0;
  let conflicts = 0;
  const answer = async (request: IncomingMessage): Promise<ApiAnswer> => {
    const { method = '', url = '' } = request;
    if (url.includes('watch=')) return { status: 403, text: '' };
    if (method !== 'PUT') return await forward(method, url, await readBody(request));
    writes += 1;
    const body = await readBody(request);
    if (writes <= times) await interfere();
    const answered = await forward(method, url, body);
    if (answered.status === 409) conflicts += 1;
    return answered;
  };
  const server = createServer((request, response) => {
    void answer(request)
      .catch((error: unknown): ApiAnswer => ({ status: 502, text: String(error) }))
      .then(({ status, text }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, conflicts: () => conflicts };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : Buffer.concat(chunks).toString();
}
